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
      : list_(list), known_(list.types.size()), real_(list.types.size()), gain_(list.types.size(), 1) {
    for (std::size_t k = 0; k < list.inputs.size() && k < known.size(); ++k) known_[k] = known[k];
    for (std::size_t k = 0; k < list.constants.size(); ++k)
      if (list.constants[k].is_array()) known_[list.inputs.size() + k] = list.constants[k].array();
    for (const OpList::Line& line : list.lines) {
      if (line.op->name == "mul") times_ = line.op;
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
  // What integers stand for: number = integer * unit.
  struct Real {
    ValueId value;  // here
    double unit = 1;
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
      here_[line.out[0].index()] = times(real->value, 1 / real->unit, line);
      gain_[line.out[0].index()] = 1 / real->unit;
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
      gain_[line.out[0].index()] = gain_of(line);
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

  // Floats become bytes: these are integers of a unit that undoes what they were multiplied by on the way here.
  void begin(const OpList::Line& line) {
    const double gain = gain_[line.in[0].index()];
    Real real{
        as(here_[line.out[0].index()], concrete(list_.type(line.out[0])), precision(line.out[0]), Precision::f32, line),
        1};
    if (std::isfinite(1 / gain) && gain > 0) real.unit = 1 / gain;
    real.value = times(real.value, real.unit, line);
    real_[line.out[0].index()] = real;
  }

  // By what a float was multiplied since the last layer.
  double gain_of(const OpList::Line& line) const {
    std::optional<ValueId> from;
    double factor = 1;
    for (const ValueId in : line.in) {
      const std::optional<Array>& number = known_[in.index()];
      if (!number) {
        if (from) return 1;
        from = in;
      } else if (number->elements() != 1) {
        return 1;
      } else if (line.op->name == "mul") {
        factor = number->number(0);
      } else if (line.op->name == "div") {
        if (!from) return 1;
        factor = 1 / number->number(0);
      }
    }
    const bool passes =
        from && list_.type(*from).dims == list_.type(line.out[0]).dims && line.op->fusion == Fusion::pointwise;
    return passes ? gain_[from->index()] * factor : 1;
  }

  std::optional<Real> of_integers(const OpList::Line& line) {
    if (line.out.size() != 1) return std::nullopt;
    const std::optional<Real> first = real_[line.in[0].index()];
    if (line.op->name == "cast") {
      if (!first || is_byte(precision(line.out[0]))) return std::nullopt;  // what is cut there stays as it is
      found_ = true;
      return first;
    }
    if (keeps_units(*line.op) && line.in.size() == 1 && first) {
      const Real real{repeated(line, {first->value}), first->unit};
      return is_byte(precision(line.out[0])) ? in_bytes(real, line) : real;
    }
    if (is_product(*line.op) && first && known_from(line, 1)) {
      std::vector<ValueId> in{first->value, number(line, 1, 1)};
      if (line.in.size() > 2) in.push_back(number(line, 2, first->unit));
      return Real{repeated(line, in), first->unit};
    }
    if (is_sum(*line.op) && line.in.size() == 2) {
      const std::optional<Real> second = real_[line.in[1].index()];
      if (first && second && first->unit == second->unit)
        return Real{repeated(line, {first->value, second->value}), first->unit};
      if (first && known_from(line, 1))
        return Real{repeated(line, {first->value, number(line, 1, first->unit)}), first->unit};
    }
    return std::nullopt;
  }
  // Bytes still, with the scale that they have: behind a relu or a pool it is what counts.
  Real in_bytes(const Real& real, const OpList::Line& line) {
    const ArrayType type = concrete(list_.type(line.out[0]));
    const ValueId bytes = as(times(real.value, 1 / real.unit, line), type, Precision::f32, type.precision, line);
    return {times(as(bytes, type, type.precision, Precision::f32, line), real.unit, line), real.unit};
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
  std::vector<double> gain_;                 // by value
  const OpDef* times_ = nullptr;
  const OpList::Line* cast_ = nullptr;
  bool found_ = false;  // some integers become others
};

}  // namespace

OpList as_real_numbers(const OpList& list, const std::vector<std::optional<Array>>& known) {
  if (std::ranges::any_of(list.types, &Type::has_symbols)) return list;  // no lowering takes it
  return IntegerChains(list, known).run();
}

}  // namespace taskspec
