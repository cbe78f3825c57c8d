#include "ir/records/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "ir/base/ascii.hpp"

namespace taskspec {

void refuse(RuleContext& c, Code code, std::string message, int operand, std::string help) {
  c.fail(code, std::move(message), operand, std::move(help));
  bug("RuleContext::fail returned");
}

// ---- operands -------------------------------------------------------------------------------------

bool already_reported(const RuleContext& c) {
  for (std::size_t i = 0; i < c.count(); ++i)
    if (c.type(i).is(Type::Kind::error)) return true;
  return false;
}

bool all_host(const RuleContext& c) {
  for (std::size_t i = 0; i < c.count(); ++i)
    if (c.type(i).is_tensor()) return false;
  return true;
}

namespace {

// "a + b", "-a" or "name(a, b)".
std::string written(std::string_view symbol, std::span<const std::string> operands) {
  bool is_operator = !is_letter(symbol[0]) || symbol == "as";
  std::string name(symbol);
  if (is_operator && operands.size() == 1) return name + operands[0];
  if (is_operator && operands.size() == 2) return operands[0] + " " + name + " " + operands[1];
  std::string out = name + "(";
  for (std::size_t i = 0; i < operands.size(); ++i) out += (i ? ", " : "") + operands[i];
  return out + ")";
}

std::string precision_text(const Type& type) {
  return type.is_tensor() ? std::string(info(type.precision).name) : type.text();
}

bool takes_precision(Takes takes, Precision p) {
  if (takes == Takes::any) return true;
  if (info(p).storage_only) return false;
  switch (takes) {
    case Takes::numbers:
      return p != Precision::boolean;
    case Takes::floats:
      return is_float(p);
    case Takes::integers:
      return is_integer(p);
    case Takes::bits:
      return !is_float(p);
    default:
      return true;
  }
}

std::string_view taken_text(Takes takes) {
  switch (takes) {
    case Takes::any:
      return "tensors";
    case Takes::ordered:
      return "bool, integer and float tensors";
    case Takes::numbers:
      return "integer and float tensors";
    case Takes::floats:
      return "float tensors";
    case Takes::integers:
      return "integer tensors";
    case Takes::bits:
      return "bool and integer tensors";
  }
  return "";
}

void require_taken(RuleContext& c, std::string_view symbol, std::size_t operand, Precision p, Takes takes) {
  if (takes_precision(takes, p)) return;
  std::string why = info(p).storage_only ? ", which only stores" : "";
  refuse(c, "E2002", fmt::format("'{}' takes {}, not {}{}", symbol, taken_text(takes), info(p).name, why),
         static_cast<int>(operand), "convert it with 'as'");
}

bool is_scalar(const Type& type) { return type.is_number() || type.is(Type::Kind::boolean); }

[[noreturn]] void fail_types(RuleContext& c, std::string_view symbol, std::string_view takes) {
  auto any = [&](Type::Kind kind) {
    for (std::size_t i = 0; i < c.count(); ++i)
      if (c.type(i).is(kind)) return true;
    return false;
  };
  std::string help;
  const bool is_sign = !symbol.empty() && !is_word(symbol.front());
  if (symbol == "+" && any(Type::Kind::string))
    help = "format(\"{} {}\", a, b) makes a text of values";
  else if (symbol == "*" && (any(Type::Kind::string) || any(Type::Kind::list)))
    help = "map(range(0, n), i => x) is a list of n items, join(l, \"\") a text of such; fill(f32[n], x) a tensor";
  else if (!is_sign && any(Type::Kind::list))
    help = fmt::format("of each item: map(l, x => {}(x)); a list becomes a tensor by l as f32[n]", symbol);
  refuse(c, "E1004", fmt::format("'{}' takes {}; here it is {}", symbol, takes, call_text(c, symbol)), -1,
         std::move(help));
}

[[noreturn]] void fail_not_tensor(RuleContext& c, std::string_view symbol, std::size_t operand) {
  const Type& type = c.type(operand);
  std::string help = type.is(Type::Kind::list) || is_scalar(type) ? "make it a tensor with 'as'" : "";
  if (type.is(Type::Kind::string) && symbol == "+")
    help = "receive the number with .scalar: format(\"sum is {}\", x.sum().scalar)";
  refuse(c, "E1004", fmt::format("'{}' takes a tensor here, not {}", symbol, type.text()), static_cast<int>(operand),
         help);
}

}  // namespace

std::string call_text(const RuleContext& c, std::string_view symbol) {
  std::vector<std::string> operands;
  for (std::size_t i = 0; i < c.count(); ++i)
    if (!c.type(i).is(Type::Kind::none)) operands.push_back(c.type(i).text());
  return written(symbol, operands);
}

const Type& tensor_operand(RuleContext& c, std::string_view symbol, std::size_t operand, Takes takes) {
  const Type& type = c.type(operand);
  if (!type.is_tensor()) fail_not_tensor(c, symbol, operand);
  require_taken(c, symbol, operand, type.precision, takes);
  return type;
}

Precision common_precision(RuleContext& c, std::string_view symbol, std::span<const std::size_t> operands,
                           Takes takes) {
  const Type* first = nullptr;
  std::vector<std::string> texts;
  for (std::size_t i : operands) {
    const Type& type = c.type(i);
    if (!type.is_tensor() && !is_scalar(type)) fail_not_tensor(c, symbol, i);
    if (type.is_tensor() && !first) first = &type;
    texts.push_back(precision_text(type));
  }
  if (!first) fail_not_tensor(c, symbol, operands[0]);
  for (std::size_t i : operands)
    if (c.type(i).is_tensor() && c.type(i).precision != first->precision)
      refuse(c, "E2002", "precision differs: " + written(symbol, texts) + "; convert one side with 'as'");
  for (std::size_t i : operands) {
    if (c.type(i).is_tensor())
      require_taken(c, symbol, i, first->precision, takes);
    else
      require_fit(c, symbol, i, first->precision);
  }
  return first->precision;
}

void require_fit(RuleContext& c, std::string_view symbol, std::size_t operand, Precision precision) {
  const Type& type = c.type(operand);
  bool fits_kind = type.is(Type::Kind::integer) || (type.is(Type::Kind::real) && is_float(precision)) ||
                   (type.is(Type::Kind::boolean) && precision == Precision::boolean);
  if (!fits_kind) {
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < c.count(); ++i)
      if (!c.type(i).is(Type::Kind::none))
        texts.push_back(precision_text(c.type(i).is(Type::Kind::type) ? c.type(i).parts[0] : c.type(i)));
    refuse(c, "E2002", "precision differs: " + written(symbol, texts) + "; convert one side with 'as'",
           static_cast<int>(operand));
  }
  const Value* value = c.constant(operand);
  if (!value || !value->is_integer()) return;
  if (std::optional<std::string> misfit = misfit_text(value->integer(), precision))
    refuse(c, "E2003", *misfit, static_cast<int>(operand));
}

std::optional<std::string> misfit_text(std::int64_t value, Precision precision) {
  const PrecisionInfo& p = info(precision);
  if (!p.is_float) {
    if (value >= p.minimum && value <= p.maximum) return std::nullopt;
    return fmt::format("{} does not fit {} ({}..{})", value, p.name, p.minimum, p.maximum);
  }
  // Exact when the bits between the first and the last 1 fit the significand and the exponent is in range.
  auto magnitude = value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
  int digits = precision == Precision::f64 ? 53 : precision == Precision::f32 ? 24 : 11;
  if (magnitude == 0) return std::nullopt;
  bool in_range = precision != Precision::f16 || magnitude <= 65504;
  if (in_range && static_cast<int>(std::bit_width(magnitude)) - std::countr_zero(magnitude) <= digits)
    return std::nullopt;
  return fmt::format("{} does not fit {} exactly", value, p.name);
}

Precision scalar_precision(std::span<const Type> operands, std::size_t operand) {
  if (operands[operand].is(Type::Kind::boolean)) return Precision::boolean;
  Precision found = Precision::boolean;
  for (const Type& type : operands)
    if (type.is_tensor() && type.precision != Precision::boolean) found = type.precision;
  return found;
}

// ---- shapes ---------------------------------------------------------------------------------------

namespace {

// The extent that two operands agree on in one dimension. An open extent against 4 becomes a guard, against
// 1 it stays: the one stretches whatever it is.
Dim agreed(RuleContext& c, const Dim& a, const Dim& b, const auto& what) {
  if (a == b || b == Dim(1)) return a;
  if (a == Dim(1)) return b;
  c.require_same(a, b, what());
  return b.has_host_symbol() ? a : b;
}

}  // namespace

std::vector<Dim> broadcast_dims(RuleContext& c, std::string_view symbol, std::span<const std::size_t> operands) {
  std::size_t rank = 0;
  for (std::size_t i : operands) rank = std::max(rank, c.type(i).rank());
  std::vector<Dim> result(rank, Dim(1));
  for (std::size_t i : operands) {
    const std::vector<Dim>& dims = c.type(i).dims;
    std::size_t missing = rank - dims.size();
    for (std::size_t d = missing; d < rank; ++d) {
      const Dim& extent = dims[d - missing];
      result[d] = agreed(c, result[d], extent, [&] {
        return fmt::format("shapes differ: {}; dimension {} is {} against {}", call_text(c, symbol), d,
                           result[d].text(), extent.text());
      });
    }
  }
  return result;
}

void require_same_dims(RuleContext& c, const std::string& text, std::span<const Dim> a, std::span<const Dim> b) {
  if (a.size() != b.size())
    refuse(c, "E2001", fmt::format("shapes differ: {}; rank {} against {}", text, a.size(), b.size()));
  for (std::size_t d = 0; d < a.size(); ++d)
    if (!(a[d] == b[d]))
      c.require_same(
          a[d], b[d],
          fmt::format("shapes differ: {}; dimension {} is {} against {}", text, d, a[d].text(), b[d].text()));
}

void require_extents(RuleContext& c, std::span<const Dim> dims, int operand) {
  for (const Dim& dim : dims)
    if (dim.constant().value_or(0) < 0) refuse(c, "E2004", "an extent cannot be negative: " + dim.text(), operand);
}

// ---- whole rules ----------------------------------------------------------------------------------

namespace {

std::vector<std::size_t> first_operands(std::size_t count) {
  std::vector<std::size_t> operands(count);
  std::iota(operands.begin(), operands.end(), std::size_t{0});
  return operands;
}

Type boolean_result(Type type) {
  if (!type.is_tensor()) return Type::Kind::boolean;
  type.precision = Precision::boolean;
  return type;
}

bool both(const RuleContext& c, Type::Kind kind) { return c.type(0).is(kind) && c.type(1).is(kind); }
bool both_numbers(const RuleContext& c) { return c.type(0).is_number() && c.type(1).is_number(); }

// Int and float compare by value; containers by their parts; an empty list with every list.
bool comparable(const Type& a, const Type& b) {
  if (a.is(Type::Kind::error) || b.is(Type::Kind::error)) return true;
  if (a.is_number() && b.is_number()) return true;
  if (a.kind != b.kind || a.parts.size() != b.parts.size()) return false;
  if (a.is(Type::Kind::list) || a.is(Type::Kind::tuple))
    return std::equal(a.parts.begin(), a.parts.end(), b.parts.begin(), comparable);
  return a.is(Type::Kind::boolean) || a.is(Type::Kind::string) || a.is(Type::Kind::range) || a.is(Type::Kind::type);
}

// The kind in `type`, or in what it contains, of which no two values are compared; none if there is none.
Type::Kind never_compared(const Type& type) {
  if (comparable(type, type)) return Type::Kind::none;
  if (!type.is(Type::Kind::list) && !type.is(Type::Kind::tuple)) return type.kind;
  return never_compared(*std::ranges::find_if(type.parts, [](const Type& part) { return !comparable(part, part); }));
}

[[noreturn]] void fail_comparison(RuleContext& c, std::string_view symbol) {
  const Type::Kind kind = never_compared(c.type(0));
  if (kind == Type::Kind::none || kind != never_compared(c.type(1))) fail_types(c, symbol, "two values of one type");
  const bool tensor = kind == Type::Kind::tensor, call = kind == Type::Kind::invocation;
  refuse(c, "E1004",
         fmt::format("'{}' does not compare {}; here it is {}", symbol,
                     tensor ? "lists of tensors"
                     : call ? "calls with several outputs"
                            : "such values",
                     call_text(c, symbol)),
         -1,
         tensor ? "compare the tensors: a[0] == b[0]"
         : call ? "name the output: a.y == b.y"
                : "");
}

// The type of a + b for lists: that of the parts, where an empty list literal takes the type of the other.
std::optional<Type> joined_list(const Type& a, const Type& b) {
  if (a.is(Type::Kind::error)) return b;
  if (b.is(Type::Kind::error) || a == b) return a;
  if (!a.is(Type::Kind::list) || !b.is(Type::Kind::list)) return std::nullopt;
  std::optional<Type> element = joined_list(a.parts[0], b.parts[0]);
  return element ? std::optional(Type::list(std::move(*element))) : std::nullopt;
}

Type number_of(const Type& a, const Type& b) {
  return a.is(Type::Kind::integer) && b.is(Type::Kind::integer) ? Type::Kind::integer : Type::Kind::real;
}

}  // namespace

Type elementwise(RuleContext& c, std::string_view symbol, Takes takes, std::size_t operands) {
  std::vector<std::size_t> all = first_operands(operands);
  Precision precision = common_precision(c, symbol, all, takes);
  return Type::tensor(precision, broadcast_dims(c, symbol, all));
}

Type arithmetic(RuleContext& c, std::string_view symbol) {
  if (already_reported(c)) return Type::Kind::error;
  if (!all_host(c)) return elementwise(c, symbol, Takes::numbers, 2);
  if (both_numbers(c)) return number_of(c.type(0), c.type(1));
  if (symbol != "+") fail_types(c, symbol, "numbers or tensors");
  if (both(c, Type::Kind::string)) return Type::Kind::string;
  if (both(c, Type::Kind::list))
    if (std::optional<Type> list = joined_list(c.type(0), c.type(1))) return *list;
  fail_types(c, symbol, "two numbers, strings, tensors or lists of one type");
}

Type ordering(RuleContext& c, std::string_view symbol) {
  if (already_reported(c)) return Type::Kind::error;
  if (!all_host(c)) return boolean_result(elementwise(c, symbol, Takes::any, 2));
  if (both_numbers(c) || both(c, Type::Kind::string)) return Type::Kind::boolean;
  fail_types(c, symbol, "two numbers, strings or tensors");
}

Type equality(RuleContext& c, std::string_view symbol) {
  if (already_reported(c)) return Type::Kind::error;
  if (!all_host(c)) return boolean_result(elementwise(c, symbol, Takes::any, 2));
  if (comparable(c.type(0), c.type(1))) return Type::Kind::boolean;
  fail_comparison(c, symbol);
}

Type bitwise(RuleContext& c, std::string_view symbol) {
  if (already_reported(c)) return Type::Kind::error;
  if (!all_host(c)) return elementwise(c, symbol, Takes::bits, 2);
  if (both(c, Type::Kind::integer)) return Type::Kind::integer;
  if (both(c, Type::Kind::boolean)) return Type::Kind::boolean;
  fail_types(c, symbol, "two bools, ints or tensors of them");
}

Type numeric(RuleContext& c, std::string_view symbol, Takes takes, std::size_t operands, bool keeps_int) {
  if (already_reported(c)) return Type::Kind::error;
  if (!all_host(c)) return elementwise(c, symbol, takes, operands);
  Type result = keeps_int ? Type::Kind::integer : Type::Kind::real;
  for (std::size_t i = 0; i < operands; ++i) {
    if (!c.type(i).is_number()) fail_types(c, symbol, "numbers or tensors");
    result = number_of(result, c.type(i));
  }
  return result;
}

}  // namespace taskspec
