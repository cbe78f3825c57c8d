// The loop over an op list: what is known is computed, the rest becomes blocks by the rules of the records.
#include "ir/lowering/lower.hpp"

#include <fmt/format.h>

#include "ir/lowering/evaluate.hpp"
#include "ir/lowering/state.hpp"

namespace taskspec {

BlockBuilder::BlockBuilder(State& state, const OpList& list, const OpList::Line& line)
    : state_(state), list_(list), line_(line), call_(instance(list, line)) {}
BlockBuilder::~BlockBuilder() = default;

bool BlockBuilder::in_integers() const { return !state_.scales(); }

bool BlockBuilder::is_fixed(std::size_t input) const {
  return state_.values[line_.in[input].index()].kind == LoweredValue::Kind::fixed;
}

Array BlockBuilder::fixed(std::size_t input) const { return state_.values[line_.in[input].index()].contents; }

void BlockBuilder::refuse(std::string reason, std::string help) const {
  throw Refused{"E4011", std::move(reason), std::move(help)};
}

void BlockBuilder::keeps(std::size_t output, std::size_t input) {
  LoweredValue& value = state_.value(line_.out[output]);
  value = state_.value(line_.in[input]);
  value.id = line_.out[output];
}

// Behind the last blocks the host goes on: the graph ends in front of the op.
void BlockBuilder::leave_to_host(std::string_view why_not_here) {
  const bool is_last =
      state_.readers[line_.out[0].index()] == 1 &&
      std::ranges::any_of(list_.outputs, [&](const OpList::Output& o) { return o.value == line_.out[0]; });
  if (!state_.options.leaves_last) refuse(std::string(why_not_here), "hw(partial: true) runs it on the host");
  if (!is_last || is_fixed(0))
    refuse(std::string(why_not_here), "it runs on the host where it is the last op of the graph");
  LoweredValue value = state_.value(line_.in[0]);
  if (value.kind == LoweredValue::Kind::missing) throw MissingValue{};
  if (state_.readers[line_.in[0].index()] > 1 || !value.sum) value = state_.ready(line_.in[0]);
  state_.made.notes.push_back(fmt::format("{} is left to the host", call_.op->name));
  state_.value(line_.out[0]) = std::move(value);
}

namespace {

class ListLowering {
 public:
  ListLowering(const OpList& list, const LowerOptions& options) : list_(list), state_(list, options) {}

  Result<LoweredGraph> run() {
    state_.made.graph.name = state_.options.name.empty() ? list_.name : state_.options.name;
    for (std::size_t k = 0; k < list_.inputs.size(); ++k) take_input(k);
    state_.made.inputs.resize(open_inputs_);
    for (std::size_t k = 0; k < list_.constants.size(); ++k) take_constant(k);
    for (const OpList::Line& line : list_.lines)
      guarded(line.span, std::string(line.op->name), [&] { lower_line(line); });
    for (const OpList::Output& output : list_.outputs)
      if (!output.version) guarded({}, output.name, [&] { give(output); });
    if (diags_.has_errors()) return diags_;
    place_what_nobody_reads();
    return std::move(state_.made);
  }

 private:
  template <class F>
  void guarded(Span span, const std::string& what, F&& f) {
    try {
      f();
    } catch (const Refused& refused) {
      Diag& diag =
          diags_.error(refused.code, span, fmt::format("'{}' cannot be made of blocks: {}", what, refused.message));
      if (!refused.help.empty()) diag.help(refused.help);
    } catch (const MissingValue&) {
      // Its cause was said where the value should have been made.
    } catch (const Error& error) {
      diags_.append(error.diags());
    }
  }

  void take_input(std::size_t k) {
    LoweredValue& value = state_.values[k];
    value.id = ValueId(k);
    value.name = list_.inputs[k].name;
    const auto& known = state_.options.known;
    if (k < known.size() && known[k]) {
      value.kind = LoweredValue::Kind::fixed;
      value.contents = *known[k];
      return;
    }
    value.kind = LoweredValue::Kind::input;
    ++open_inputs_;
  }

  void take_constant(std::size_t k) {
    const std::size_t at = list_.inputs.size() + k;
    if (!list_.constants[k].is_array()) return;  // a number of each run
    state_.values[at].id = ValueId(at);
    state_.values[at].kind = LoweredValue::Kind::fixed;
    state_.values[at].contents = list_.constants[k].array();
  }

  bool is_known(const OpList::Line& line) const {
    return std::ranges::all_of(line.in,
                               [&](ValueId in) { return state_.values[in.index()].kind == LoweredValue::Kind::fixed; });
  }

  void compute(const OpList::Line& line) {
    std::vector<Array> in;
    for (ValueId value : line.in) in.push_back(state_.value(value).contents);
    const std::vector<Array> made = evaluate(instance(list_, line), in);
    for (std::size_t slot = 0; slot < made.size(); ++slot) keep_known(line.out[slot], made[slot]);
  }

  void keep_known(ValueId id, const Array& contents) {
    LoweredValue& value = state_.value(id);
    value.id = id;
    value.kind = LoweredValue::Kind::fixed;
    value.contents = contents;
  }

  void lower_line(const OpList::Line& line) {
    for (ValueId in : line.in) {
      const bool is_constant = in.index() >= list_.inputs.size() && in.index() < list_.first_made();
      if (state_.value(in).kind != LoweredValue::Kind::missing) continue;
      if (is_given_by_blocks(in))
        throw Refused{"E4011", "it stands behind a graph of blocks", "hw(partial: true) runs it on the host"};
      if (!is_constant) throw MissingValue{};
      throw Refused{"E4011", "it reads a number that may be another one in each run",
                    "a number that is known: a constant"};
    }
    if (is_known(line)) return compute(line);
    state_.span = line.span;
    std::string& name = state_.line_name;
    const int number = ++counts_[std::string(line.op->name)];
    name = number == 1 ? std::string(line.op->name) : fmt::format("{}_{}", line.op->name, number);
    const Lowering& rule = line.op->lower;
    if (!rule.build)
      throw Refused{"E4011", std::string(rule.why_none),
                    "the host can run it: cut the graph in front of it, or let hw(partial: true) do that"};
    BlockBuilder builder(state_, list_, line);
    rule.build(builder, builder.call());
  }

  // Of the net, in its numbers.
  bool is_given_by_blocks(ValueId value) const {
    return std::ranges::find(state_.made.outputs, value, &LoweredPort::value) != state_.made.outputs.end();
  }

  void give(const OpList::Output& output) {
    LoweredValue& value = state_.value(output.value);
    if (is_given_by_blocks(output.value)) return;
    if (value.kind == LoweredValue::Kind::missing) throw MissingValue{};
    if (value.kind == LoweredValue::Kind::fixed && state_.options.gives_known) {
      state_.made.known.emplace_back(output.value, value.contents);
      return;
    }
    if (value.kind == LoweredValue::Kind::fixed)
      throw Refused{"E4011", "it is known before the graph runs", "print it on the host"};
    state_.span = {};
    state_.line_name = output.name;
    const bool is_shared = state_.readers[output.value.index()] > 1;
    LoweredValue& ready = is_shared ? state_.ready(value.id) : state_.ready_as_output(value.id);
    // What comes from outside goes through storage, also where nothing is done to it.
    const bool is_computed = std::ranges::all_of(ready.gather.sources(), [&](const BlockGather::Source& source) {
      return state_.block(source.block).def->computes();
    });
    BlockGather gather = ready.gather;
    if (!is_computed)
      gather = BlockGather::of(state_.stored(gather, ready.precision, "SI", output.name + "_kept"), gather.extents());
    const BlockId id = state_.add("OUTPUT", output.name, ready.precision, shape_of(gather.extents()));
    state_.fill(id, gather, ready.precision);
    LoweredPort port = state_.port_of(ready, state_.block(id).name);
    port.block = id;
    state_.made.outputs.push_back(std::move(port));
  }

  // A call gives all inputs, so each has its block.
  void place_what_nobody_reads() {
    for (std::size_t k = 0; k < list_.inputs.size(); ++k)
      if (state_.values[k].kind == LoweredValue::Kind::input) state_.ready(ValueId(k));
  }

  const OpList& list_;
  BlockBuilder::State state_;
  std::size_t open_inputs_ = 0;
  std::map<std::string, int> counts_;
  Diags diags_;
};

}  // namespace

Result<LoweredGraph> lower(const OpList& list, const LowerOptions& options) {
  Diags diags;
  for (const Type& type : list.types)
    if (!type.is_tensor() || type.has_symbols()) {
      diags.error("E4011", {}, "a graph is lowered for known extents; this has " + type.text())
          .help("call it with tensors, or bind its extents");
      return diags;
    }
  return ListLowering(list, options).run();
}

// ---- borders --------------------------------------------------------------------------------------

namespace {

BlockLayout layout_of(const LoweredPort& port) {
  BlockLayout layout;
  for (std::size_t k = 0; k < port.axes.size(); ++k) {
    if (port.axes[k] == SIZE_MAX) continue;
    const bool is_f = port.extents.size() == 1 || port.axes[k] == 2;
    (is_f ? layout.f : port.axes[k] == 0 ? layout.y : layout.x) = k;
  }
  return layout;
}

}  // namespace

PortCrossing::PortCrossing(const LoweredPort& port)
    : tensor_(port.tensor),
      precision_(port.precision),
      extents_(port.extents),
      scale_(port.scale),
      places_(tensor_places(port.tensor.extents, layout_of(port))) {}

void PortCrossing::in(const Array& tensor, Array& integers) const {
  const PrecisionInfo& limits = info(precision_);
  const double least = static_cast<double>(limits.minimum), most = static_cast<double>(limits.maximum);
  const bool is_scaled = is_float(tensor.precision());
  for (std::size_t k = 0; k < places_.size(); ++k) {
    const auto to = static_cast<std::int64_t>(k);
    if (!is_scaled) {
      integers.set_integer(to, std::clamp(tensor.integer(places_[k]), limits.minimum, limits.maximum));
      continue;
    }
    const double scaled = std::floor(tensor.number(places_[k]) * scale_ + 0.5);
    integers.set_integer(to, std::isnan(scaled) ? 0 : static_cast<std::int64_t>(std::clamp(scaled, least, most)));
  }
}

void PortCrossing::out(const Array& integers, Array& tensor) const {
  for (std::size_t k = 0; k < places_.size(); ++k) {
    const std::int64_t number = integers.integer(static_cast<std::int64_t>(k));
    if (is_float(tensor.precision()))
      tensor.set_number(places_[k], static_cast<double>(number) / scale_);
    else
      tensor.set_integer(places_[k], number);
  }
}

Array to_block(const LoweredPort& port, const Array& tensor) {
  Array made = Array::make({port.precision, port.extents});
  PortCrossing(port).in(tensor, made);
  return made;
}

Array from_block(const LoweredPort& port, const Array& integers) {
  Array made = Array::make(port.tensor);
  PortCrossing(port).out(integers, made);
  return made;
}

std::vector<double> in_block_order(const LoweredPort& port, const Array& tensor) {
  std::vector<double> numbers;
  for (const std::int64_t place : tensor_places(port.tensor.extents, layout_of(port)))
    numbers.push_back(tensor.number(place));
  return numbers;
}

}  // namespace taskspec
