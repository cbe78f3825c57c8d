#include "interp/exact/blocks_op.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "interp/exact/engine.hpp"
#include "interp/exact/ready_pool.hpp"
#include "ir/base/hash.hpp"
#include "ir/blocks/cost.hpp"
#include "ir/blocks/value.hpp"
#include "ir/lowering/block_builder.hpp"
#include "ir/records/rules.hpp"

namespace taskspec {

namespace {

constexpr Operand operands[] = {{.name = "graph", .kind = OperandKind::value}, {.name = "tensors", .variadic = true}};
constexpr std::string_view outputs[] = {"outputs"};  // the graph says which

// ---- type -----------------------------------------------------------------------------------------

void require_contents(RuleContext& c, std::string_view name, const Type& wanted, std::size_t operand) {
  const Type& given = tensor_operand(c, "blocks", operand);
  const std::string text = fmt::format("'{}' is {}, this is {}", name, wanted.text(), given.text());
  if (given.precision != wanted.precision) refuse(c, "E2002", text, static_cast<int>(operand));
  require_same_dims(c, text, wanted.dims, given.dims);
}

Type type(RuleContext& c) {
  if (already_reported(c)) return Type::Kind::error;
  const Value* value = c.constant(0);
  const auto* known = value ? value->as<BlockGraphValue>() : nullptr;
  if (!known) refuse(c, "E1004", "'blocks' runs a graph of Task IR blocks", 0);
  const BlockGraph& graph = *known->graph;
  const BlockCall call = call_of(graph);
  std::size_t operand = 1;
  const bool remembers = call.memory > 0;
  const Type memory = ArrayType{Precision::u8, {call.memory}}.type();
  const std::size_t wanted = call.inputs.size() + call.given.size() + (remembers ? 1 : 0);
  if (c.count() != wanted + 1)
    refuse(c, "E1003", fmt::format("'{}' takes {} tensors, not {}", graph.name, wanted, c.count() - 1));
  for (const auto* list : {&call.inputs, &call.given})
    for (BlockId id : *list) require_contents(c, graph[id].name, value_type(graph[id]).type(), operand++);
  if (remembers) require_contents(c, memory_name, memory, operand);
  Type made(Type::Kind::invocation);
  for (const auto* list : {&call.outputs, &call.written})
    for (BlockId id : *list) {
      made.parts.push_back(value_type(graph[id]).type());
      made.names.push_back(graph[id].name);
    }
  if (remembers) {
    made.parts.push_back(memory);
    made.names.emplace_back(memory_name);
  }
  return made;
}

// ---- kernel ---------------------------------------------------------------------------------------

// Engines are ready for certain contents: weights are packed and proofs made when these are seen for the first time.
class BlockKernel final : public Kernel {
 public:
  explicit BlockKernel(const OpInstance& call)
      : keeps_(call.attributes[0]),
        graph_(keeps_.as<BlockGraphValue>()->graph),
        call_(call_of(*graph_)),
        in_(call.in),
        out_(call.out) {}

  std::optional<Fault> run(const KernelArgs& args) const override {
    return faults_of([&] {
      const Hash128 contents = contents_hash(args);
      std::unique_ptr<Ready> ready = pool_.take([&](const Ready& r) { return r.contents == contents; });
      if (!ready) ready = make(args, contents);
      step(*ready, args);
      pool_.give(std::move(ready));
    });
  }

 private:
  struct Ready {
    Hash128 contents;
    ExactEngine engine;
  };

  bool is_written(BlockId id) const { return std::ranges::find(call_.written, id) != call_.written.end(); }

  // Of what never changes while a program runs, as a rule.
  Hash128 contents_hash(const KernelArgs& args) const {
    Hasher hasher;
    for (std::size_t i = 0; i < call_.given.size(); ++i)
      if (const std::size_t at = call_.inputs.size() + i; !is_written(call_.given[i]))
        hasher.bytes({args.in[at], in_[at].bytes()});
    return hasher.digest();
  }

  std::unique_ptr<Ready> make(const KernelArgs& args, const Hash128& hash) const {
    auto graph = std::make_shared<BlockGraph>(*graph_);
    for (std::size_t i = 0; i < call_.given.size(); ++i) {
      const std::size_t at = call_.inputs.size() + i;
      Array contents = Array::make(in_[at]);
      std::memcpy(contents.raw(), args.in[at], contents.bytes());
      graph->blocks[call_.given[i].index()].data = std::move(contents);
    }
    ExactEngine engine = ExactEngine::make(std::move(graph), {}).value_or_throw();
    return std::make_unique<Ready>(Ready{hash, std::move(engine)});
  }

  void step(Ready& ready, const KernelArgs& args) const {
    const std::size_t given = call_.inputs.size(), outputs = call_.outputs.size();
    for (std::size_t i = 0; i < call_.given.size(); ++i)
      if (is_written(call_.given[i]))
        ready.engine.set_state(call_.given[i], array_on(in_[given + i], args.in[given + i]));
    if (call_.memory > 0) ready.engine.remember({args.in.back(), static_cast<std::size_t>(call_.memory)});
    std::vector<Array> inputs, made;
    for (std::size_t i = 0; i < given; ++i) inputs.push_back(array_on(in_[i], args.in[i]));
    for (std::size_t i = 0; i < outputs; ++i) made.push_back(array_on(out_[i], args.out[i]));
    ready.engine.run(inputs, made);
    for (std::size_t i = 0; i < call_.written.size(); ++i) {
      const Array state = ready.engine.value(call_.written[i]);
      std::memcpy(args.out[outputs + i], state.raw(), state.bytes());
    }
    if (call_.memory > 0) ready.engine.save({args.out.back(), static_cast<std::size_t>(call_.memory)});
  }

  const Value keeps_;
  const std::shared_ptr<const BlockGraph> graph_;
  const BlockCall call_;
  const std::vector<ArrayType> in_, out_;
  mutable ReadyPool<Ready> pool_;
};

std::unique_ptr<Kernel> block_kernel(const OpInstance& call) { return std::make_unique<BlockKernel>(call); }

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
        "name of an `ir` declaration, which is its first operand; the inputs come next, in the order of the "
        "declaration, "
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
    .lower =
        +[](BlockBuilder& b, const OpInstance& call) { b.splice(*call.attributes[0].as<BlockGraphValue>()->graph); },
    .sharding = Sharding::none("its blocks lie on one chip"),
    .work = work};

}  // namespace taskspec
