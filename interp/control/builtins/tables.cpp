// lut: the values of a function as the table of a neuron's look-up, as in Task IR.
#include <algorithm>
#include <cmath>

#include "interp/control/builtins/builtins.hpp"
#include "interp/control/interpreter.hpp"
#include "ir/records/scalar.hpp"

namespace taskspec {

namespace {

constexpr Operand table_operands[] = {{.name = "T", .kind = OperandKind::type},
                                      {.name = "f", .kind = OperandKind::function}};

bool is_table(const Type& type) {
  if (!type.is_tensor() || type.rank() != 1) return false;
  if (type.precision != Precision::i8 && type.precision != Precision::i32) return false;
  std::optional<std::int64_t> length = type.dims[0].constant();
  return !length || *length == 16 || *length == 256 || *length == 4096 || *length == 65536;
}

Type lut_type(RuleContext& c) {
  builtins::want(c, 0, Type::Kind::type, "a tensor type such as i8[256]");
  if (c.type(0).is(Type::Kind::error)) return c.type(0);
  const Type written = c.type(0).parts[0];
  if (!is_table(written))
    c.fail("E2001", "a table is i8[n] or i32[n] with n = 16, 256, 4096 or 65536, not " + written.text(), 0, "");
  Type value = c.closure(1, {Type::Kind::integer});
  if (!value.is_number() && !value.is(Type::Kind::error))
    c.fail("E1004", "lut wants a function of an int that gives a number; this one gives " + value.text(), 1, "");
  return written;
}

// Ints saturate; floats are rounded down first.
std::int64_t entry(const Value& value, const PrecisionInfo& to) {
  if (value.is_integer()) return std::clamp(value.integer(), to.minimum, to.maximum);
  return saturated(std::floor(value.real()), to.minimum, to.maximum);
}

Value run_lut(HostContext& host, std::span<const Value> values) {
  const Type& type = values[0].type();
  if (!is_table(type)) throw failure("E5004", host.span, "a table is not " + type.text());
  Array table = Array::make(concrete(type));
  const std::int64_t length = table.elements();
  for (std::int64_t x = -length / 2; x < length / 2; ++x) {
    Value value = host.interpreter->apply(values[1], {Value(x)}, {host.span, host.frame}).value;
    table.set_integer(x < 0 ? x + length : x, entry(value, info(type.precision)));
  }
  return host.interpreter->target().constant(std::move(table));
}

}  // namespace

constinit const Builtin builtin_lut = BuiltinFields{
    .name = "lut",
    .operands = table_operands,
    .doc =
        "A table of the function f, i8 or i32 of 2^W elements with W 4, 8, 12 or 16: f(x) for every int x from "
        "-2^(W-1) "
        "to 2^(W-1) - 1, negative ones at the end. An int saturates, a float is rounded down and then saturates. As "
        "the "
        "first value of a slot it is written without T. `lookup` reads it.",
    .example =
        "let t = lut(i8[16], x => x * x - 10)\nprint(t.lookup([0, 3, -4] as i32[3]).array)\n// expect: [-10, -1, 6]",
    .type = lut_type,
    .run = run_lut,
    .runs_in = RunsIn::graph};

}  // namespace taskspec
