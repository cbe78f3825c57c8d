// Nets of tests, lowered to blocks and run beside the host.
//
//   NetOf net;
//   ValueId x = net.input({Precision::i8, {1, 3, 8, 8}}), w = net.weight(random_array(...));
//   net.give(net.emit("conv2d", {x, w}));
//   Result<LoweredGraph> made = net.lowered();       run_blocks(*made, {image}) == net.run({image})
#pragma once
#include <map>
#include <optional>

#include "interp/exact/engine.hpp"
#include "ir/blocks/check.hpp"
#include "ir/lowering/lower.hpp"
#include "stdlib/blocks.hpp"
#include "tests/unit/op_list_cases.hpp"

namespace taskspec {

class NetOf {
 public:
  ValueId input(const ArrayType& type) {
    known.emplace_back();
    inputs_.push_back(type);
    return list_.input({"x" + std::to_string(inputs_.size()), Privilege::in, {}}, type.type());
  }
  ValueId weight(Array contents) {
    known.emplace_back(contents);
    return list_.input({"w" + std::to_string(known.size()), Privilege::in, SlotKind::weight}, contents.type().type());
  }
  ValueId emit(const char* op, const std::vector<OpListBuilder::Operand>& operands, std::uint32_t line = 0) {
    const Span span{SourceId(0), line * 10, line * 10 + 5};
    return list_.emit(op_named(op), operands, {FunctionId(0), CallId(0), span})[0];
  }
  ValueId concat(const std::vector<ValueId>& parts, std::int64_t axis) {
    OpInstance call{&op_named("concat"), {}, {Value(), Value(axis)}, {type(parts[0])}};
    call.out[0].extents[static_cast<std::size_t>(axis)] = 0;
    for (ValueId part : parts)
      call.out[0].extents[static_cast<std::size_t>(axis)] += type(part).extents[static_cast<std::size_t>(axis)];
    return append(call, parts);
  }
  ValueId append(const OpInstance& call, const std::vector<ValueId>& in) {
    return list_.append(call, in, {FunctionId(0), CallId(0), {}})[0];
  }
  ValueId cast(ValueId x, Precision to) {
    return emit("cast", {x, Value(Type::of(Type::tensor(to, list_.type(x).dims)))});
  }
  void give(ValueId y) { outputs_.push_back({"y" + std::to_string(outputs_.size() + 1), y, false}); }
  ArrayType type(ValueId value) const { return concrete(list_.type(value)); }

  const OpList& finished() {
    if (!done_) done_ = std::move(list_).finish(FunctionId(0), "net", outputs_);
    return *done_;
  }
  Result<LoweredGraph> lowered(Scales* scales = nullptr) {
    static const BlockTable blocks = standard_blocks();
    return lower(finished(), {.blocks = blocks, .known = known, .scales = scales});
  }
  // All outputs, on the host.
  std::vector<Array> run(const std::vector<Array>& given) {
    std::vector<Array> in;
    std::size_t next = 0;
    for (const std::optional<Array>& contents : known) in.push_back(contents ? *contents : given[next++]);
    const std::vector<Array> values = run_list(finished(), in);
    std::vector<Array> out;
    for (const OpList::Output& output : done_->outputs) out.push_back(values[output.value.index()]);
    return out;
  }
  std::vector<ArrayType> inputs() const { return inputs_; }

  std::vector<std::optional<Array>> known;

 private:
  OpListBuilder list_;
  std::optional<OpList> done_;
  std::vector<ArrayType> inputs_;
  std::vector<OpListBuilder::Output> outputs_;
};

// All outputs of one step, as tensors.
inline std::vector<Array> run_blocks(const LoweredGraph& made, const std::vector<Array>& given, std::size_t steps = 1) {
  const auto graph = std::make_shared<const BlockGraph>(made.graph);
  if (Diags diags = check_blocks(*graph, standard_blocks()); diags.has_errors()) throw Error(std::move(diags));
  ExactEngine engine = ExactEngine::make(graph, {}).value_or_throw();
  const std::vector<BlockId> order = graph->inputs();
  std::vector<Array> in(order.size());
  for (std::size_t k = 0; k < made.inputs.size(); ++k)
    in[static_cast<std::size_t>(std::find(order.begin(), order.end(), made.inputs[k].block) - order.begin())] =
        to_block(made.inputs[k], given[k]);
  std::vector<Array> out;
  for (std::size_t step = 0; step < steps; ++step) out = engine.run(in);
  for (std::size_t k = 0; k < out.size(); ++k) out[k] = from_block(made.outputs[k], out[k]);
  return out;
}

inline bool same_contents(const Array& a, const Array& b) {
  return a.type() == b.type() && std::equal(a.raw(), a.raw() + a.bytes(), b.raw());
}

inline std::map<std::string, int> blocks_by_type(const BlockGraph& graph) {
  std::map<std::string, int> counts;
  for (const TaskBlock& block : graph.blocks) ++counts[std::string(block.def->name)];
  return counts;
}

// Integers of a range.
inline Array random_integers(const ArrayType& type, std::mt19937_64& random, std::int64_t least, std::int64_t most) {
  Array array = Array::make(type);
  for (std::int64_t k = 0; k < array.elements(); ++k)
    array.set_integer(k, least + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most - least + 1)));
  return array;
}

inline Array random_floats(const ArrayType& type, std::mt19937_64& random, double size) {
  Array array = Array::make(type);
  for (std::int64_t k = 0; k < array.elements(); ++k) {
    double sum = 0;  // nearly normal
    for (int n = 0; n < 6; ++n) sum += static_cast<double>(random() % 2001) / 1000 - 1;
    array.set_number(k, size * sum / 1.414);
  }
  return array;
}

}  // namespace taskspec
