#include "ir/records/scalar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ir/base/diag.hpp"
#include "ir/records/rules.hpp"

namespace taskspec {

namespace scalar {

namespace {

[[noreturn]] void overflow(const std::string& what) { throw failure("E5001", {}, what + " overflows int"); }

[[noreturn]] void overflow(Operands v, const char* symbol) {
  overflow(fmt::format("{} {} {}", v[0].integer(), symbol, v[1].integer()));
}

bool ints(Operands v) {
  return std::all_of(v.begin(), v.end(), [](const Value& value) { return value.is_integer(); });
}

void require_divisor(Operands v, const char* symbol) {
  if (v[1].integer() == 0) throw failure("E5002", {}, fmt::format("division by zero: {} {} 0", v[0].integer(), symbol));
}

// A receive may give a list as the array it came from.
List list_of(const Value& value) { return value.is_array() ? nested_lists(value.array()).list() : value.list(); }

Value joined(const Value& a, const Value& b) {
  List result = list_of(a), more = list_of(b);
  result.insert(result.end(), more.begin(), more.end());
  return result;
}

bool less(const Value& a, const Value& b) {
  if (a.is_string()) return a.string() < b.string();
  if (a.is_integer() && b.is_integer()) return a.integer() < b.integer();
  return a.real() < b.real();
}

bool is_nan(const Value& value) { return value.is_real() && std::isnan(value.real()); }

// The operand that wins, as a float when one of the two is a float.
Value chosen(Operands v, bool first) {
  const Value& value = v[first ? 0 : 1];
  return ints(v) ? value : Value(value.real());
}

Value best_of(const Value& list, const char* name, bool largest) {
  List items = list_of(list);
  if (items.empty()) throw failure("E5003", {}, fmt::format("{} of an empty list", name));
  Value best = items[0];
  for (const Value& item : items)
    if (is_nan(item) || (!is_nan(best) && (largest ? less(best, item) : less(item, best)))) best = item;
  return best;
}

std::int64_t power(Operands v) {
  std::int64_t base = v[0].integer(), exponent = v[1].integer(), result = 1;
  if (exponent < 0)
    throw failure("E5003", {}, fmt::format("pow({}, {}): an int has no negative power", base, exponent));
  if (exponent > 64) {  // only these do not overflow
    if (base == -1) return exponent % 2 == 0 ? 1 : -1;
    if (base == 0 || base == 1) return base;
    exponent = 64;
  }
  for (; exponent > 0; --exponent)
    if (__builtin_mul_overflow(result, base, &result))
      overflow(fmt::format("pow({}, {})", v[0].integer(), v[1].integer()));
  return result;
}

}  // namespace

// ---- arithmetic

Value add(Operands v) {
  if (v[0].is_string()) return v[0].string() + v[1].string();
  if (!v[0].is_number()) return joined(v[0], v[1]);
  if (!ints(v)) return v[0].real() + v[1].real();
  std::int64_t result;
  if (__builtin_add_overflow(v[0].integer(), v[1].integer(), &result)) overflow(v, "+");
  return result;
}

Value sub(Operands v) {
  if (!ints(v)) return v[0].real() - v[1].real();
  std::int64_t result;
  if (__builtin_sub_overflow(v[0].integer(), v[1].integer(), &result)) overflow(v, "-");
  return result;
}

Value mul(Operands v) {
  if (!ints(v)) return v[0].real() * v[1].real();
  std::int64_t result;
  if (__builtin_mul_overflow(v[0].integer(), v[1].integer(), &result)) overflow(v, "*");
  return result;
}

Value div(Operands v) {
  if (!ints(v)) return v[0].real() / v[1].real();
  require_divisor(v, "/");
  if (v[0].integer() == INT64_MIN && v[1].integer() == -1) overflow(v, "/");
  return v[0].integer() / v[1].integer();
}

Value mod(Operands v) {
  if (!ints(v)) return std::fmod(v[0].real(), v[1].real());
  require_divisor(v, "%");
  if (v[1].integer() == -1) return std::int64_t{0};  // the processor would trap on the smallest int
  return v[0].integer() % v[1].integer();
}

Value pow(Operands v) {
  if (!ints(v)) return std::pow(v[0].real(), v[1].real());
  return power(v);
}

Value neg(Operands v) {
  if (!ints(v)) return -v[0].real();
  if (v[0].integer() == INT64_MIN) overflow(fmt::format("-({})", INT64_MIN));
  return -v[0].integer();
}

// ---- comparison

Value lt(Operands v) { return less(v[0], v[1]); }
Value gt(Operands v) { return less(v[1], v[0]); }
Value le(Operands v) { return !is_nan(v[0]) && !is_nan(v[1]) && !less(v[1], v[0]); }
Value ge(Operands v) { return !is_nan(v[0]) && !is_nan(v[1]) && !less(v[0], v[1]); }
Value ne(Operands v) { return !equal(v[0], v[1]); }

Value eq(Operands v) {
  if (v[0].is_array() != v[1].is_array()) {  // a received list against a written one
    auto as_lists = [](const Value& value) { return value.is_array() ? nested_lists(value.array()) : value; };
    return equal(as_lists(v[0]), as_lists(v[1]));
  }
  return equal(v[0], v[1]);
}

// ---- bits

Value bit_and(Operands v) {
  if (v[0].is_bool()) return v[0].boolean() && v[1].boolean();
  return v[0].integer() & v[1].integer();
}

Value bit_or(Operands v) {
  if (v[0].is_bool()) return v[0].boolean() || v[1].boolean();
  return v[0].integer() | v[1].integer();
}

Value bit_not(Operands v) {
  if (v[0].is_bool()) return !v[0].boolean();
  return ~v[0].integer();
}

// ---- functions

Value minimum(Operands v) { return chosen(v, is_nan(v[0]) || (!is_nan(v[1]) && !less(v[1], v[0]))); }
Value maximum(Operands v) { return chosen(v, is_nan(v[0]) || (!is_nan(v[1]) && !less(v[0], v[1]))); }

Value abs(Operands v) {
  if (!ints(v)) return std::fabs(v[0].real());
  if (v[0].integer() == INT64_MIN) overflow(fmt::format("abs({})", INT64_MIN));
  return std::abs(v[0].integer());
}

Value sign(Operands v) {
  if (v[0].is_integer()) return std::int64_t{(v[0].integer() > 0) - (v[0].integer() < 0)};
  double x = v[0].real();
  return x > 0 ? 1.0 : x < 0 ? -1.0 : x;  // zero and nan stay
}

Value convert(Operands v) { return convert_scalar(v[0], v[1].type().kind); }

Value sum(Operands v) {
  Value total(std::int64_t{0});
  for (const Value& item : list_of(v[0])) total = add(std::array{total, item});
  return total;
}

Value min(Operands v) { return best_of(v[0], "min", false); }
Value max(Operands v) { return best_of(v[0], "max", true); }

}  // namespace scalar

std::int64_t saturated(double value, std::int64_t minimum, std::int64_t maximum) {
  if (std::isnan(value)) return 0;
  double rounded = std::nearbyint(value);
  if (rounded <= static_cast<double>(minimum)) return minimum;
  if (rounded >= static_cast<double>(maximum)) return maximum;
  return static_cast<std::int64_t>(rounded);
}

Value convert_scalar(const Value& value, Type::Kind kind) {
  double real = value.is_bool() ? value.boolean() : value.real();
  switch (kind) {
    case Type::Kind::boolean:
      return real != 0;
    case Type::Kind::integer:
      return value.is_integer() ? value.integer() : saturated(real, INT64_MIN, INT64_MAX);
    case Type::Kind::real:
      return real;
    default:
      bug("convert_scalar to " + Type(kind).text());
  }
}

Array scalar_array(const Value& value, Precision precision) {
  Array array = Array::make({precision, {}});
  put_scalar(value, array);
  return array;
}

void put_scalar(const Value& value, Array& array) {
  const Precision precision = array.precision();
  if (value.is_real()) {
    if (!is_float(precision))
      throw failure("E2002", {},
                    fmt::format("precision differs: {} and float; convert one side with 'as'", info(precision).name));
    return array.set_number(0, value.real());
  }
  std::int64_t number = value.is_bool() ? value.boolean() : value.integer();
  if (std::optional<std::string> misfit = misfit_text(number, precision)) throw failure("E5001", {}, *misfit);
  array.set_integer(0, number);
}

}  // namespace taskspec
