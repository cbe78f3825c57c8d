#include "ir/gradient/reverse.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <unordered_map>

#include "ir/graph/op_list_builder.hpp"

namespace taskspec {

namespace {

// The forward list in stretches of about as many lines as there are stretches.
class Stretches {
 public:
  Stretches(const OpList& list, Recompute recompute) : stays_(list.types.size(), true) {
    if (recompute == Recompute::none) return;
    const auto length = static_cast<std::size_t>(std::ceil(std::sqrt(static_cast<double>(list.lines.size()))));
    made_by_.resize(list.types.size());
    for (std::size_t k = 0; k < list.lines.size(); ++k)
      for (ValueId value : list.lines[k].out) {
        made_by_[value.index()] = k;
        stays_[value.index()] = false;
      }
    for (std::size_t k = 0; k < list.lines.size(); ++k)
      for (ValueId value : list.lines[k].in)
        if (k / length != made_by_[value.index()] / length) stays_[value.index()] = true;
    for (const OpList::Output& output : list.outputs) stays_[output.value.index()] = true;
  }
  // The line that makes the value once more; none: it stays.
  std::optional<std::size_t> repeated(ValueId value) const {
    if (stays_[value.index()]) return std::nullopt;
    return made_by_[value.index()];
  }

 private:
  std::vector<std::size_t> made_by_;  // by value: the line
  std::vector<bool> stays_;           // by value
};

class Reverser final : public GradientBuilder {
 public:
  Reverser(const OpList& forward, const ReverseOptions& options, const OpTable& ops)
      : forward_(forward),
        add_(*ops.find_operator("+", 2)),
        stretches_(forward, options.recompute),
        parts_(forward.types.size()),
        sums_(forward.types.size()),
        read_(forward.types.size()) {
    active_ = depending_on(options.wanted);
    for (std::size_t k = 0; k < forward.outputs.size(); ++k) {
      const ValueId value = forward.outputs[k].value;
      if (!options.upstream[k] || !active_[value.index()]) continue;
      const ValueId given = made_.input({"d_" + forward.outputs[k].name, Privilege::in, {}}, forward.type(value));
      parts_[value.index()].push_back({forward.lines.size(), k, given});
      upstream_.push_back(k);
    }
  }

  void run() {
    for (line_ = forward_.lines.size(); line_-- > 0;) {
      const OpList::Line& line = forward_.lines[line_];
      if (std::ranges::none_of(line.out, [&](ValueId v) { return has_gradient(v); })) continue;
      call_ = instance(forward_, line);
      if (line.op->gradient.build)
        line.op->gradient.build(*this);
      else
        ends_.push_back(line_);
    }
  }

  Reverse finish(const std::vector<bool>& wanted) && {
    Reverse reverse;
    std::vector<OpListBuilder::Output> outputs;
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (!wanted[i] || parts_[i].empty()) continue;
      line_ = 0;  // sums of gradients of inputs stand nowhere else
      outputs.push_back({"d_" + forward_.inputs[i].name, gradient(ValueId(i)), false});
      reverse.inputs.push_back(i);
    }
    for (std::size_t line : ends_)
      for (std::size_t input = 0; input < wanted.size(); ++input)
        if (wanted[input] && reaches(input, line)) reverse.ends.push_back({line, input});
    reverse.upstream = std::move(upstream_);
    reverse.reads = std::move(reads_);
    reverse.list = std::move(made_).finish(forward_.task, forward_.name + ".backward", outputs);
    return reverse;
  }

  // ---- what a record asks of one call ----
  const OpInstance& call() const override { return call_; }
  Var input(std::size_t i) override { return read(line().in[i]).value; }
  Var output(std::size_t i) override { return read(line().out[i]).value; }
  bool has_upstream(std::size_t i) const override { return has_gradient(line().out[i]); }
  Var upstream(std::size_t i) override {
    const ValueId value = line().out[i];
    return (has_gradient(value) ? gradient(value) : zeros(value)).value;
  }
  Var emit(const OpDef& op, const std::vector<std::variant<Var, Value>>& operands) override {
    std::vector<OpListBuilder::Operand> given;
    for (const auto& operand : operands) {
      if (const Var* var = std::get_if<Var>(&operand))
        given.emplace_back(ValueId(*var));
      else
        given.emplace_back(std::get<Value>(operand));
    }
    return made_.emit(op, given, origin())[0].value;
  }
  const ArrayType& type(Var v) override {
    auto [known, fresh] = types_.try_emplace(v);
    if (fresh) known->second = concrete(made_.type(ValueId(v)));
    return known->second;
  }
  void add(std::size_t input, Var gradient) override {
    const ValueId value = line().in[input];
    if (active_[value.index()]) parts_[value.index()].push_back({line_, input, ValueId(gradient)});
  }

 private:
  struct Part {  // of a gradient: what one reader contributes
    std::size_t line, slot;
    ValueId value;
  };

  const OpList::Line& line() const { return forward_.lines[line_]; }
  OpListBuilder::Origin origin() const { return {line().function, line().call, line().span, line().site, line().task}; }
  bool has_gradient(ValueId value) const { return active_[value.index()] && !parts_[value.index()].empty(); }

  // By value: a float that depends on one of these inputs.
  std::vector<bool> depending_on(const std::vector<bool>& inputs) const {
    auto is_float = [&](ValueId value) { return taskspec::is_float(forward_.type(value).precision); };
    std::vector<bool> depends(forward_.types.size());
    for (std::size_t i = 0; i < inputs.size(); ++i) depends[i] = inputs[i] && is_float(ValueId(i));
    for (const OpList::Line& line : forward_.lines)
      if (std::ranges::any_of(line.in, [&](ValueId v) { return depends[v.index()]; }))
        for (ValueId value : line.out) depends[value.index()] = is_float(value);
    return depends;
  }
  bool reaches(std::size_t input, std::size_t line) const {
    std::vector<bool> only(forward_.inputs.size());
    only[input] = true;
    const std::vector<bool> depends = depending_on(only);
    return std::ranges::any_of(forward_.lines[line].in, [&](ValueId v) { return depends[v.index()]; });
  }

  // All readers of the value have been reversed.
  ValueId gradient(ValueId value) {
    ValueId& sum = sums_[value.index()];
    if (sum.valid()) return sum;
    std::vector<Part>& parts = parts_[value.index()];
    std::ranges::stable_sort(parts, {}, [](const Part& p) { return std::pair(p.line, p.slot); });
    sum = parts[0].value;
    for (std::size_t i = 1; i < parts.size(); ++i)
      sum = made_.emit(add_, std::array<OpListBuilder::Operand, 2>{sum, parts[i].value}, origin())[0];
    return sum;
  }

  ValueId zeros(ValueId value) {
    Array zero = Array::make(concrete(forward_.type(value)));
    return made_.constant(Value(std::move(zero)), forward_.type(value));
  }

  // A value of the forward list: its constants are known here as well, and lines of a stretch may be repeated.
  ValueId read(ValueId value) {
    ValueId& known = read_[value.index()];
    if (known.valid()) return known;
    const std::size_t inputs = forward_.inputs.size();
    if (value.index() >= inputs && value.index() < forward_.first_made()) {
      const Value constant =
          made_.number(forward_.constants[value.index() - inputs], [&](std::uint32_t i) { return read(ValueId(i)); });
      return known = made_.constant(constant, forward_.type(value));
    }
    if (const std::optional<std::size_t> made_by = stretches_.repeated(value)) {
      repeat(*made_by);
      return read_[value.index()];
    }
    reads_.push_back(value);
    const std::string name =
        value.index() < inputs ? forward_.inputs[value.index()].name : fmt::format("v{}", value.value);
    return known = made_.input({name, Privilege::in, {}}, forward_.type(value));
  }

  // A line of the forward list once more, and those of its stretch that it needs.
  void repeat(std::size_t k) {
    const OpList::Line& line = forward_.lines[k];
    std::vector<ValueId> in;
    for (ValueId value : line.in) in.push_back(read(value));
    const std::vector<ValueId> out =
        made_.append(instance(forward_, line), in, {line.function, line.call, line.span, line.site, line.task});
    for (std::size_t slot = 0; slot < out.size(); ++slot)
      if (stretches_.repeated(line.out[slot])) read_[line.out[slot].index()] = out[slot];
  }

  const OpList& forward_;
  const OpDef& add_;
  const Stretches stretches_;
  std::vector<bool> active_;              // by value of the forward list
  std::vector<std::vector<Part>> parts_;  // of its gradient
  std::vector<ValueId> sums_, read_;      // in the list that is made
  std::vector<std::size_t> upstream_, ends_;
  std::vector<ValueId> reads_;
  std::unordered_map<Var, ArrayType> types_;
  OpListBuilder made_;
  OpInstance call_;
  std::size_t line_ = 0;
};

}  // namespace

Reverse reverse(const OpList& forward, const ReverseOptions& options, const OpTable& ops) {
  Reverser reverser(forward, options, ops);
  reverser.run();
  return std::move(reverser).finish(options.wanted);
}

}  // namespace taskspec
