#include "interp/exact/blocks_op.hpp"

#include <fmt/format.h>

#include "ir/blocks/cost.hpp"
#include "ir/blocks/value.hpp"
#include "ir/records/rules.hpp"

namespace taskspec {

namespace {

constexpr Operand operands[] = {{.name = "graph", .kind = OperandKind::value}, {.name = "tensors", .variadic = true}};
constexpr std::string_view outputs[] = {"outputs"};  // the graph says which

// ---- type -----------------------------------------------------------------------------------------

void require_contents(RuleContext& c, const TaskBlock& block, std::size_t operand) {
  const Type& given = tensor_operand(c, "blocks", operand);
  const Type wanted = value_type(block).type();
  const std::string text = fmt::format("'{}' is {}, this is {}", block.name, wanted.text(), given.text());
  if (given.precision != wanted.precision) refuse(c, "E2002", text, static_cast<int>(operand));
  require_same_dims(c, text, wanted.dims, given.dims);
}

Type type(RuleContext& c) {
  if (already_reported(c)) return Type::Kind::error;
  const Value* value = c.constant(0);
  const auto* known = value ? value->as<BlockGraphValue>() : nullptr;
  if (!known) refuse(c, "E1004", "'blocks' runs a graph of Task IR blocks", 0);
  const BlockGraph& graph = *known->graph;
  const BlockCallBlocks call = call_blocks(graph);
  std::size_t operand = 1;
  const std::size_t wanted = call.inputs.size() + call.given.size();
  if (c.count() != wanted + 1)
    refuse(c, "E1003", fmt::format("'{}' takes {} tensors, not {}", graph.name, wanted, c.count() - 1));
  for (const auto* list : {&call.inputs, &call.given})
    for (BlockId id : *list) require_contents(c, graph[id], operand++);
  Type made(Type::Kind::invocation);
  for (const auto* list : {&call.outputs, &call.written})
    for (BlockId id : *list) {
      made.parts.push_back(value_type(graph[id]).type());
      made.names.push_back(graph[id].name);
    }
  return made;
}

std::unique_ptr<Kernel> block_kernel(const OpInstance&) { throw failure("E1009", {}, "no engine"); }

Work work(const OpInstance& call) {
  const BlockGraph& graph = *call.attributes[0].as<BlockGraphValue>()->graph;
  Work work;
  for (const TaskBlock& block : graph.blocks) {
    work.operations += 2.0 * static_cast<double>(multiply_adds(block)) + static_cast<double>(operations(block));
    work.bytes += static_cast<double>(stored_bytes(block));
  }
  return work;
}

}  // namespace

extern constinit const OpDef op_blocks = OpFields{
    .name = "blocks",
    .serves = Serves::blocks,
    .operands = operands,
    .outputs = outputs,
    .doc =
        "Runs a graph of Task IR blocks, bit for bit as a chip does: sums saturate after each addition. Called by the "
        "name of an `ir` declaration, which is its first operand; the inputs come next, in the order of the declaration, "
        "each with the shape (y, x, f) and the precision of its block (E2001, E2002).",
    .example =
        "ir half {\n"
        "  x : SI i32 [f: 4]\n"
        "  cut : CCMPB i8 [f: 4] (shift: 2, cmp: -128)\n"
        "  y : SO i8 [f: 4]\n"
        "  x -> cut\n"
        "  cut -> y\n"
        "}\n"
        "print(half([7, -7, 1000, 4] as i32[4]).y.array)\n"
        "// expect: [1, -2, 127, 1]\n",
    .type = type,
    .kernel = block_kernel,
    .gradient = Gradient::none("Task IR blocks compute in integers"),
    .lower = Lowering::none("it is made of blocks already"),
    .sharding = Sharding::none("its blocks lie on one chip"),
    .work = work};

}  // namespace taskspec
