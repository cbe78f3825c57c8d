#include "interp/quantize/integer_chains.hpp"

#include <algorithm>
#include <cmath>

#include "ir/graph/op_list_builder.hpp"
#include "ir/lowering/evaluate.hpp"

namespace taskspec {

namespace {

bool is_byte(Precision precision) { return precision == Precision::i8 || precision == Precision::u8; }

// What an op does is seen from what it makes of some numbers, not from its name.
Array numbers(const ArrayType& type, double times, double more) {
  Array array = Array::make(type);
  for (std::int64_t i = 0; i < array.elements(); ++i)
    array.set_number(i, static_cast<double>((i * 7 + 3) % 19 - 9) * times + more);
  return array;
}

// Operands that are known, and nothing where a signal comes in.
using Operands = std::vector<std::optional<Array>>;

Array made_of(const OpInstance& call, const Operands& known, double times, double more, std::size_t scaled_from) {
  std::vector<Array> in;
  for (std::size_t k = 0; k < known.size(); ++k) {
    if (!known[k]) {
      in.push_back(numbers(call.in[k], times, more));
      continue;
    }
    Array array = Array::make(call.in[k]);
    for (std::int64_t i = 0; i < array.elements(); ++i)
      array.set_number(i, known[k]->number(i) * (k >= scaled_from ? times : 1));
    in.push_back(std::move(array));
  }
  return evaluate(call, in)[0];
}

// Whether b = a * times + more, element by element.
bool are_related(const Array& a, const Array& b, double times, double more) {
  double most = 1;
  for (std::int64_t i = 0; i < b.elements(); ++i) most = std::max(most, std::abs(b.number(i)));
  for (std::int64_t i = 0; i < b.elements(); ++i)
    if (!(std::abs(b.number(i) - a.number(i) * times - more) <= 1e-5 * most)) return false;
  return true;
}

// f(2 x, w, 2 b) = 2 f(x, w, b), where operands from a number on are doubled, too.
bool keeps_units(const OpInstance& call, const Operands& known, std::size_t scaled_from) {
  return are_related(made_of(call, known, 1, 0, scaled_from), made_of(call, known, 2, 0, scaled_from), 2, 0);
}
// f(x + 1) = f(x) + 1: rearranged, or the largest.
bool keeps_zeros(const OpInstance& call, const Operands& known) {
  return are_related(made_of(call, known, 1, 0, known.size()), made_of(call, known, 1, 1, known.size()), 1, 1);
}
// What it adds to each number alike; none: it does more.
std::optional<double> added_by(const OpInstance& call, const Operands& known) {
  if (call.in[0].extents != call.out[0].extents) return std::nullopt;
  const Array before = numbers(call.in[0], 1, 0), after = made_of(call, known, 1, 0, known.size());
  const double more = after.elements() > 0 ? after.number(0) - before.number(0) : 0;
  return are_related(before, after, 1, more) ? std::optional(more) : std::nullopt;
}

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
      if (line.op->symbol == "*") times_ = line.op;
      if (line.op->symbol == "+") plus_ = line.op;
      if (line.op->symbol == "as") cast_ = &line;
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
    if (line.op->symbol == "as" && is_float(precision(line.in[0])) && is_byte(precision(line.out[0])))
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

  // What a float was multiplied by since the last layer, and what was added to it: at 1, 2 and 3, where rounding does
  // nothing.
  void note_gain(const OpList::Line& line) {
    const OpInstance call = instance(list_, line);
    std::optional<ValueId> from;
    for (const ValueId in : line.in) {
      const std::optional<Array>& known = known_[in.index()];
      if ((known && known->elements() != 1) || (!known && from)) return;
      if (!known) from = in;
    }
    if (!from || line.op->fusion != Fusion::pointwise || !is_float(precision(*from)) ||
        list_.type(*from).dims != list_.type(line.out[0]).dims)
      return;
    double at[3];
    for (int n = 0; n < 3; ++n) {
      std::vector<Array> in;
      for (std::size_t k = 0; k < line.in.size(); ++k)
        in.push_back(line.in[k] == *from ? numbers(call.in[k], 0, n + 1) : *known_[line.in[k].index()]);
      const Array made = evaluate(call, in)[0];
      if (made.elements() == 0) return;
      at[n] = made.number(0);
    }
    const double slope = at[1] - at[0], first = at[0] - slope;
    if (!(std::abs(at[2] - at[1] - slope) <= 1e-5 * std::max(1.0, std::abs(slope))) || slope == 0) return;
    gain_[line.out[0].index()] = gain_[from->index()] * slope;
    offset_[line.out[0].index()] = offset_[from->index()] * slope + first;
  }

  std::optional<Real> of_integers(const OpList::Line& line) {
    const std::optional<Real> first = real_[line.in[0].index()];
    if (line.out.size() != 1 || !first) return std::nullopt;
    if (line.op->symbol == "as") {
      if (is_byte(precision(line.out[0]))) return std::nullopt;  // what is cut there stays as it is
      return first;
    }
    const OpInstance call = as_floats(line);
    Operands known;
    bool other_signals = false;
    for (std::size_t k = 0; k < line.in.size(); ++k) {
      const bool is_signal = real_[line.in[k].index()].has_value();
      known.push_back(is_signal ? std::nullopt : known_[line.in[k].index()]);
      if (!is_signal && !known.back()) return std::nullopt;
      other_signals = other_signals || (is_signal && k > 0);
    }
    if (other_signals) return of_signals(line, call, known);
    if (const std::optional<double> more = line.in.size() > 1 ? added_by(call, known) : std::nullopt)
      return Real{first->value, first->unit, first->zero + *more};
    if (first->zero != 0 && !keeps_zeros(call, known)) return std::nullopt;
    // Of a product the second operand has no unit.
    for (const std::size_t scaled_from : {std::size_t{2}, std::size_t{1}}) {
      if (!keeps_units(call, known, scaled_from)) continue;
      found_ = found_ || !keeps_zeros(call, known);
      std::vector<ValueId> in{first->value};
      for (std::size_t k = 1; k < line.in.size(); ++k)
        in.push_back(number(line, k, k >= scaled_from ? first->unit : 1));
      const Real real{made_.append(call, in, origin(line))[0], first->unit, first->zero};
      return is_byte(precision(line.out[0])) ? in_bytes(real, line) : real;
    }
    return std::nullopt;
  }
  // Sums of several, of one unit and from 0 on.
  std::optional<Real> of_signals(const OpList::Line& line, const OpInstance& call, const Operands& known) {
    std::vector<ValueId> in;
    for (const ValueId value : line.in) {
      const std::optional<Real>& real = real_[value.index()];
      if (!real || real->zero != 0 || real->unit != real_[line.in[0].index()]->unit) return std::nullopt;
      in.push_back(real->value);
    }
    if (!keeps_units(call, known, known.size())) return std::nullopt;
    found_ = true;
    return Real{made_.append(call, in, origin(line))[0], real_[line.in[0].index()]->unit};
  }
  // Bytes still, with the scale that they have: behind a relu or a pool it is what counts.
  Real in_bytes(const Real& real, const OpList::Line& line) {
    const ArrayType type = concrete(list_.type(line.out[0]));
    const ValueId bytes =
        as(plus(times(real.value, 1 / real.unit, line), real.zero, line), type, Precision::f32, type.precision, line);
    const ValueId again = plus(as(bytes, type, type.precision, Precision::f32, line), -real.zero, line);
    return {times(again, real.unit, line), real.unit, real.zero};
  }
  // Known integers as floats, so many times.
  ValueId number(const OpList::Line& line, std::size_t operand, double times) {
    const Array& integers = *known_[line.in[operand].index()];
    Array floats = Array::make({Precision::f32, integers.extents()});
    for (std::int64_t i = 0; i < integers.elements(); ++i) floats.set_number(i, integers.number(i) * times);
    const Type type = floats.type().type();
    return made_.constant(Value(std::move(floats)), type);
  }
  OpInstance as_floats(const OpList::Line& line) const {
    OpInstance call = instance(list_, line);
    for (ArrayType& type : call.in) type.precision = Precision::f32;
    for (ArrayType& type : call.out) type.precision = Precision::f32;
    return call;
  }

  const OpList& list_;
  OpListBuilder made_;
  std::vector<ValueId> here_;                // by value of the list
  std::vector<std::optional<Array>> known_;  // by value
  std::vector<std::optional<Real>> real_;    // by value
  std::vector<double> gain_, offset_;        // by value
  const OpDef *times_ = nullptr, *plus_ = nullptr;
  const OpList::Line* cast_ = nullptr;
  bool found_ = false;  // a layer of integers, not bytes alone that become floats again
};

}  // namespace

OpList as_real_numbers(const OpList& list, const std::vector<std::optional<Array>>& known) {
  if (std::ranges::any_of(list.types, &Type::has_symbols)) return list;  // no lowering takes it
  return IntegerChains(list, known).run();
}

}  // namespace taskspec
