#include "interp/exact/gradients_op.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <mutex>

#include "interp/exact/real.hpp"
#include "ir/blocks/cost.hpp"
#include "ir/blocks/value.hpp"
#include "ir/records/rules.hpp"

namespace taskspec {

namespace {

constexpr Operand gradient_operands[] = {{.name = "graph", .kind = OperandKind::value},
                                         {.name = "tensors", .variadic = true}};
constexpr std::string_view gradient_outputs[] = {"outputs"};  // the graph says which

// d_x has the shape of x, whatever the block is like.
Extents extents_of_gradient(const BlockGraph& graph, BlockId output) {
  const Extents own = value_type(graph[output]).extents;
  const std::string_view name = graph[output].name;
  for (const BlockId input : graph.inputs())
    if (name == "d_" + graph[input].name) return value_type(graph[input]).extents;
  return own;
}

Type gradients_type(RuleContext& c) {
  if (already_reported(c)) return Type::Kind::error;
  const Value* value = c.constant(0);
  const auto* known = value ? value->as<BlockGraphValue>() : nullptr;
  if (!known) refuse(c, "E1004", "'block_gradients' runs the reverse of a graph of Task IR blocks", 0);
  const BlockGraph& graph = *known->graph;
  const std::vector<BlockId> inputs = graph.inputs();
  if (c.count() != inputs.size() + 1)
    refuse(c, "E1003", fmt::format("'{}' takes {} tensors, not {}", graph.name, inputs.size(), c.count() - 1));
  for (std::size_t k = 0; k < inputs.size(); ++k) {
    const Type wanted = value_type(graph[inputs[k]]).type();
    const Type& given = tensor_operand(c, "block_gradients", k + 1);
    require_same_dims(c, fmt::format("'{}' is {}, this is {}", graph[inputs[k]].name, wanted.text(), given.text()),
                      wanted.dims, given.dims);
  }
  Type made(Type::Kind::invocation);
  for (const BlockId id : graph.outputs()) {
    made.parts.push_back(ArrayType{Precision::f32, extents_of_gradient(graph, id)}.type());
    made.names.push_back(graph[id].name);
  }
  return made;
}

// One engine, of which the values are taken before the next run.
class GradientKernel final : public Kernel {
 public:
  explicit GradientKernel(const OpInstance& call)
      : keeps_(call.attributes[0]),
        engine_(RealEngine::make(keeps_.as<BlockGraphValue>()->graph, BlockTable()).value_or_throw()),
        in_(call.in),
        out_(call.out) {}

  std::optional<Fault> run(const KernelArgs& args) const override {
    try {
      std::vector<Array> inputs;
      for (std::size_t k = 0; k < in_.size(); ++k)
        inputs.push_back(Array::wrap(
            in_[k], std::shared_ptr<std::byte>(std::shared_ptr<void>(), const_cast<std::byte*>(args.in[k]))));
      const std::lock_guard lock(mutex_);
      const std::vector<Array> made = engine_.run(inputs);
      for (std::size_t k = 0; k < made.size(); ++k) std::memcpy(args.out[k], made[k].raw(), out_[k].bytes());
      return std::nullopt;
    } catch (const Error& error) {
      const Diag& first = error.diags().items().front();
      return Fault{first.code, first.message};
    }
  }

 private:
  const Value keeps_;
  mutable RealEngine engine_;
  const std::vector<ArrayType> in_, out_;
  mutable std::mutex mutex_;
};

std::unique_ptr<Kernel> gradient_kernel(const OpInstance& call) { return std::make_unique<GradientKernel>(call); }

Work gradient_work(const OpInstance& call) {
  Work work;
  for (const TaskBlock& block : call.attributes[0].as<BlockGraphValue>()->graph->blocks)
    work.operations += 2.0 * static_cast<double>(multiply_adds(block)) + static_cast<double>(operations(block));
  return work;
}

}  // namespace

extern constinit const OpDef op_block_gradients = OpFields{
    .name = "block_gradients",
    .operands = gradient_operands,
    .outputs = gradient_outputs,
    .doc =
        "Runs the reverse of a graph of Task IR blocks, which is a graph of blocks of floats. Called by what `reverse` "
        "gives of an `ir` declaration, whose graph is its first operand; the inputs of the declaration come next, then "
        "the gradients of its outputs, each in its shape (E2001) and of any precision.",
    .example =
        "ir twice {\n"
        "  x : SI i8 [f: 3]\n"
        "  c : CVS i32 [f: 3] (constant_a: 2)\n"
        "  y : SO i32 [f: 3]\n"
        "  x -> c\n"
        "  c -> y\n"
        "}\n"
        "print(reverse(twice)([1, 2, 3] as i8[3], [1.0, 10.0, 0.5] as f32[3]).d_x.array)\n"
        "// expect: [2, 20, 1]\n",
    .type = gradients_type,
    .kernel = gradient_kernel,
    .gradient = Gradient::none("gradients of gradients of blocks are not built"),
    .lower = Lowering::none("gradients of blocks are floats: they run on the host"),
    .sharding = Sharding::none("its blocks are one graph"),
    .work = gradient_work};

}  // namespace taskspec
