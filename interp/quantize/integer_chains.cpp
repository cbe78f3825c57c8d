#include "interp/quantize/integer_chains.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "ir/graph/op_list_builder.hpp"
#include "ir/lowering/evaluate.hpp"

namespace taskspec {

namespace {

bool is_byte(Precision precision) { return precision == Precision::i8 || precision == Precision::u8; }

// f(u x) = u f(x) for u > 0, of one tensor.
bool keeps_units(const OpDef& op) {
  constexpr std::array names = {"relu", "max_pool", "neg", "max", "min", "sum"};
  return op.fusion == Fusion::movement || std::ranges::find(names, op.name) != names.end();
}
// A product of what has a unit and of a factor that is known; its third operand has the unit again.
bool is_product(const OpDef& op) {
  constexpr std::array names = {"conv2d", "conv1d", "matmul", "linear", "mul"};
  return std::ranges::find(names, op.name) != names.end();
}
bool is_sum(const OpDef& op) { return op.name == "add" || op.name == "sub"; }

class IntegerChains {
 public:
  IntegerChains(const OpList& list, const std::vector<std::optional<Array>>& known)
      : list_(list),
        known_(list.types.size()),
        real_(list.types.size()),
        gain_(list.types.size(), 1),
        offset_(list.types.size()) {
    for (std::size_t k = 0; k < list.inputs.size() && k < known.size(); ++k) known_[k] = known[k];
    for (std::size_t k = 0; k < list.constants.size(); ++k)
      if (list.constants[k].is_array()) known_[list.inputs.size() + k] = list.constants[k].array();
    for (const OpList::Line& line : list.lines) {
      if (line.op->name == "mul") times_ = line.op;
      if (line.op->name == "add") plus_ = line.op;
      if (line.op->name == "cast") cast_ = &line;
    }
  }

  OpList run() {
    if (!times_ || !cast_) return list_;
    for (std::size_t k = 0; k < list_.inputs.size(); ++k) here_.push_back(made_.input(list_.inputs[k], list_.types[k]));
    for (const Value& constant : list_.constants) here_.push_back(made_.constant(constant, list_.types[here_.size()]));
    here_.resize(list_.types.size());
    for (const OpList::Line& line : list_.lines) take(line);
    if (!found_) return list_;
    std::vector<OpListBuilder::Output> outputs;
    for (const OpList::Output& output : list_.outputs)
      outputs.push_back({output.name, here_[output.value.index()], output.version});
    return std::move(made_).finish(list_.task, list_.name, outputs);
  }

 private:
  // What integers stand for: number = (integer - zero) * unit.
  struct Real {
    ValueId value;  // here
    double unit = 1, zero = 0;
  };

  Precision precision(ValueId value) const { return list_.type(value).precision; }
  static OpListBuilder::Origin origin(const OpList::Line& line) {
    return {line.function, line.call, line.span, line.site, line.task};
  }
  ValueId times(ValueId value, double factor, const OpList::Line& line) {
    if (factor == 1) return value;
    const OpListBuilder::Operand operands[] = {value, Value(factor)};
    return made_.emit(*times_, operands, origin(line))[0];
  }
  ValueId plus(ValueId value, double more, const OpList::Line& line) {
    if (more == 0) return value;
    const OpListBuilder::Operand operands[] = {value, Value(more)};
    return made_.emit(*plus_, operands, origin(line))[0];
  }
  ValueId as(ValueId value, ArrayType type, Precision from, Precision to, const OpList::Line& line) {
    OpInstance call = instance(list_, *cast_);
    type.precision = from;
    call.in = {type};
    type.precision = to;
    call.out = {type};
    return made_.append(call, std::span(&value, 1), origin(line))[0];
  }

  void take(const OpList::Line& line) {
    fold(line);
    const bool is_real = std::ranges::any_of(line.in, [&](ValueId in) { return real_[in.index()].has_value(); });
    const std::optional<Real> real = is_real ? of_integers(line) : std::nullopt;
    if (real && is_float(precision(line.out[0]))) {  // integers become floats: so many units
      here_[line.out[0].index()] = plus(times(real->value, 1 / real->unit, line), real->zero, line);
      gain_[line.out[0].index()] = 1 / real->unit, offset_[line.out[0].index()] = real->zero;
      return;
    }
    if (real) real_[line.out[0].index()] = real;
    std::vector<ValueId> in;
    for (const ValueId value : line.in) in.push_back(here_[value.index()]);
    const std::vector<ValueId> out = made_.append(instance(list_, line), in, origin(line));
    for (std::size_t slot = 0; slot < out.size(); ++slot) here_[line.out[slot].index()] = out[slot];
    if (line.op->name == "cast" && is_float(precision(line.in[0])) && is_byte(precision(line.out[0])))
      begin(line);
    else if (line.out.size() == 1 && is_float(precision(line.out[0])))
      note_gain(line);
  }

  // Integers that are known before any run: weights less their zero points.
  void fold(const OpList::Line& line) {
    std::vector<Array> in;
    for (const ValueId value : line.in) {
      if (!known_[value.index()] || is_float(precision(value))) return;
      in.push_back(*known_[value.index()]);
    }
    if (in.empty() || line.out.size() != 1 || is_float(precision(line.out[0]))) return;
    known_[line.out[0].index()] = evaluate(instance(list_, line), in)[0];
  }

  // Floats become bytes: these are integers of a unit and a zero that undo what was done to them on the way here.
  void begin(const OpList::Line& line) {
    const ValueId from = line.in[0];
    const double gain = gain_[from.index()];
    Real real{as(here_[line.out[0].index()], concrete(list_.type(line.out[0])), precision(line.out[0]), Precision::f32,
                 line)};
    if (std::isfinite(1 / gain) && gain > 0) real.unit = 1 / gain;
    if (plus_) real.zero = offset_[from.index()];
    real.value = times(plus(real.value, -real.zero, line), real.unit, line);
    real_[line.out[0].index()] = real;
  }

  // What a float was multiplied by since the last layer, and what was added to it: of numbers, element by element.
  void note_gain(const OpList::Line& line) {
    std::optional<ValueId> from;
    double number = 0;
    const bool is_step = line.op->fusion == Fusion::pointwise && line.in.size() <= 2;
    for (std::size_t i = 0; i < line.in.size() && is_step; ++i) {
      const std::optional<Array>& known = known_[line.in[i].index()];
      if ((known && known->elements() != 1) || (!known && from)) return;
      if (known)
        number = known->number(0);
      else
        from = line.in[i];
    }
    if (!from || list_.type(*from).dims != list_.type(line.out[0]).dims) return;
    const bool is_first = *from == line.in[0];
    double gain = gain_[from->index()], offset = offset_[from->index()];
    if (line.op->name == "mul") gain *= number, offset *= number;
    if (line.op->name == "div" && is_first) gain /= number, offset /= number;
    if (line.op->name == "add") offset += number;
    if (line.op->name == "sub" && is_first) offset -= number;
    if (!is_first && (line.op->name == "div" || line.op->name == "sub")) return;
    gain_[line.out[0].index()] = gain, offset_[line.out[0].index()] = offset;
  }

  std::optional<Real> of_integers(const OpList::Line& line) {
    if (line.out.size() != 1) return std::nullopt;
    const std::optional<Real> first = real_[line.in[0].index()];
    if (line.op->name == "cast") {
      if (!first || is_byte(precision(line.out[0]))) return std::nullopt;  // what is cut there stays as it is
      found_ = true;
      return first;
    }
    // Largest and rearranged ones are what they are from any zero on; a relu is one from 0 on.
    const bool is_movement = line.op->fusion == Fusion::movement || line.op->name == "max_pool";
    if (keeps_units(*line.op) && line.in.size() == 1 && first && (first->zero == 0 || is_movement)) {
      const Real real{repeated(line, {first->value}), first->unit, first->zero};
      return is_byte(precision(line.out[0])) ? in_bytes(real, line) : real;
    }
    if (is_product(*line.op) && first && first->zero == 0 && known_from(line, 1)) {
      std::vector<ValueId> in{first->value, number(line, 1, 1)};
      if (line.in.size() > 2) in.push_back(number(line, 2, first->unit));
      return Real{repeated(line, in), first->unit};
    }
    if (is_sum(*line.op) && line.in.size() == 2) {
      const std::optional<Real> second = real_[line.in[1].index()];
      const std::optional<Array>& known = known_[line.in[1].index()];
      const double sign = line.op->name == "add" ? 1 : -1;
      if (first && known && known->elements() == 1)
        return Real{first->value, first->unit, first->zero + sign * known->number(0)};
      if (first && second && first->unit == second->unit)
        return Real{repeated(line, {first->value, second->value}), first->unit, first->zero + sign * second->zero};
      if (first && known_from(line, 1))
        return Real{repeated(line, {first->value, number(line, 1, first->unit)}), first->unit, first->zero};
    }
    return std::nullopt;
  }
  // Bytes still, with the scale that they have: behind a relu or a pool it is what counts.
  Real in_bytes(const Real& real, const OpList::Line& line) {
    const ArrayType type = concrete(list_.type(line.out[0]));
    const ValueId bytes =
        as(plus(times(real.value, 1 / real.unit, line), real.zero, line), type, Precision::f32, type.precision, line);
    const ValueId again = plus(as(bytes, type, type.precision, Precision::f32, line), -real.zero, line);
    return {times(again, real.unit, line), real.unit, real.zero};
  }
  bool known_from(const OpList::Line& line, std::size_t operand) const {
    return std::all_of(line.in.begin() + static_cast<std::ptrdiff_t>(operand), line.in.end(),
                       [&](ValueId in) { return known_[in.index()].has_value(); });
  }
  // Known integers as floats, so many times.
  ValueId number(const OpList::Line& line, std::size_t operand, double times) {
    const Array& integers = *known_[line.in[operand].index()];
    Array floats = Array::make({Precision::f32, integers.extents()});
    for (std::int64_t i = 0; i < integers.elements(); ++i) floats.set_number(i, integers.number(i) * times);
    const Type type = floats.type().type();
    return made_.constant(Value(std::move(floats)), type);
  }
  ValueId repeated(const OpList::Line& line, const std::vector<ValueId>& in) {
    OpInstance call = instance(list_, line);
    for (ArrayType& type : call.in) type.precision = Precision::f32;
    for (ArrayType& type : call.out) type.precision = Precision::f32;
    return made_.append(call, in, origin(line))[0];
  }

  const OpList& list_;
  OpListBuilder made_;
  std::vector<ValueId> here_;                // by value of the list
  std::vector<std::optional<Array>> known_;  // by value
  std::vector<std::optional<Real>> real_;    // by value
  std::vector<double> gain_, offset_;        // by value
  const OpDef *times_ = nullptr, *plus_ = nullptr;
  const OpList::Line* cast_ = nullptr;
  bool found_ = false;  // some integers become others
};

}  // namespace

OpList as_real_numbers(const OpList& list, const std::vector<std::optional<Array>>& known) {
  if (std::ranges::any_of(list.types, &Type::has_symbols)) return list;  // no lowering takes it
  return IntegerChains(list, known).run();
}

}  // namespace taskspec
