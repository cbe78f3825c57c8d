// One node: its attributes, what it takes, and what its errors say.
#include <fmt/format.h>

#include <algorithm>

#include "interp/import/onnx/conversion.hpp"

namespace taskspec::onnx {

namespace {

constexpr std::int64_t longest = 1 << 20;  // extent that lists in the text may be made of

// "QuantizeLinear" as "quantize_linear": what its lines are called.
std::string in_lower_case(std::string_view op) {
  std::string name;
  bool after_capital = true;
  for (const char c : op) {
    const bool capital = c >= 'A' && c <= 'Z';
    if (capital && !after_capital) name += '_';
    name += capital ? static_cast<char>(c - 'A' + 'a') : c;
    after_capital = capital;
  }
  return name;
}

}  // namespace

bool Call::gives(std::size_t output) const {
  return output < node.outputs.size() && !node.outputs[output].empty() && all.needed(node.outputs[output]);
}

const Term& Call::at(std::size_t input) const {
  if (!has(input)) fail(fmt::format("its input {} is missing", input));
  return *all.find(node.inputs[input]);
}

Term Call::x(std::size_t input) const {
  at(input);
  return all.written(node.inputs[input]);
}

Term Call::beside(std::size_t input, const Term& other) const {
  const Term& own = at(input);
  const bool one = own.text.empty() && own.constant && own.constant->elements() == 1 && own.rank() <= other.rank();
  if (one && !other.text.empty()) return named(literal(own.constant->number(0), own.precision), own.precision, {});
  if (own.text.empty() && own.extents && own.extents->size() == 1 && own.rank() <= other.rank()) {
    const Dim& only = own.extents->front();
    return named(only.is_constant() ? only.text() : "(" + only.text() + ")", own.precision, {});
  }
  return x(input);
}

// ---- attributes -----------------------------------------------------------------------------------

std::int64_t Call::integer(std::string_view name, std::int64_t standard) const {
  const Attribute* found = node.attribute(name);
  return found ? found->integer.value_or(standard) : standard;
}

double Call::real(std::string_view name, double standard) const {
  const Attribute* found = node.attribute(name);
  return found ? found->real.value_or(standard) : standard;
}

std::string Call::text(std::string_view name, std::string_view standard) const {
  const Attribute* found = node.attribute(name);
  return std::string(found ? std::string_view(found->text ? *found->text : std::string_view(standard)) : standard);
}

std::optional<Numbers> Call::integers(std::string_view name) const {
  const Attribute* found = node.attribute(name);
  if (!found) return std::nullopt;
  return found->integers;
}

Numbers Call::integers(std::string_view name, Numbers standard) const {
  return integers(name).value_or(std::move(standard));
}

// ---- known values ---------------------------------------------------------------------------------

std::optional<Numbers> Call::if_known(std::size_t input) const {
  const Term& term = at(input);
  if (term.extents) return onnx::numbers(*term.extents);
  if (!term.constant || term.is_real()) return std::nullopt;
  Numbers all;
  for (std::int64_t i = 0; i < term.constant->elements(); ++i) all.push_back(term.constant->integer(i));
  return all;
}

Numbers Call::numbers(std::size_t input) const {
  if (const std::optional<Numbers> known = if_known(input)) return *known;
  open("the numbers in its input", node.inputs[input]);
}

Dims Call::extents(std::size_t input) const {
  if (const Term& term = at(input); term.extents) return *term.extents;
  const Numbers all = numbers(input);
  return {all.begin(), all.end()};
}

double Call::number(std::size_t input) const {
  const Array value = array(input);
  if (value.elements() != 1) fail(fmt::format("its input {} is not one number", input));
  return value.number(0);
}

Array Call::array(std::size_t input) const {
  const Term& term = at(input);
  if (term.constant) return *term.constant;
  if (const std::optional<Numbers> all = if_known(input)) {
    const std::optional<Numbers> shape = onnx::numbers(term.dims);
    Array made = Array::make({term.precision, *shape});
    for (std::size_t i = 0; i < all->size(); ++i) made.set_integer(static_cast<std::int64_t>(i), (*all)[i]);
    return made;
  }
  open("the numbers in its input", node.inputs[input]);
}

std::optional<Numbers> Call::axes(std::size_t input, std::size_t rank) const {
  std::optional<Numbers> found = integers("axes");
  if (!found && has(input)) found = numbers(input);
  if (!found) return std::nullopt;
  for (std::int64_t& axis : *found) {
    if (axis < 0) axis += static_cast<std::int64_t>(rank);
    if (axis < 0 || axis >= static_cast<std::int64_t>(rank)) fail("an axis lies outside of the shape");
  }
  std::ranges::sort(*found);
  if (std::ranges::adjacent_find(*found) != found->end()) fail("it names an axis twice");
  return found;
}

std::int64_t Call::extent(const Term& x, std::size_t axis) const {
  if (axis >= x.rank()) fail("an axis lies outside of the shape");
  if (const auto known = x.dims[axis].constant()) {
    if (*known > longest) fail("the extent " + x.dims[axis].text() + " is out of all bounds");
    return *known;
  }
  open("the extent " + x.dims[axis].text());
}

std::vector<std::int64_t> Call::shape(const Term& x) const {
  Numbers all;
  for (std::size_t i = 0; i < x.rank(); ++i) all.push_back(extent(x, i));
  return all;
}

// ---- results --------------------------------------------------------------------------------------

void Call::give(std::size_t output, Term term) {
  if (output >= node.outputs.size() || node.outputs[output].empty()) return;
  all.give(node.outputs[output], std::move(term), in_lower_case(node.op));
}

Term Call::let(Term term) const { return all.let(std::move(term), in_lower_case(node.op)); }

Term Call::slot(const Array& array, std::string_view what) const {
  return all.slot(array, fmt::format("{}_{}", node.shown(), what));
}

Term Call::picked(const Term& x, const Numbers& index, std::int64_t axis) const {
  if (index.size() <= longest_list) return onnx::picked(x, index, axis);
  Array table = Array::make({Precision::i64, {static_cast<std::int64_t>(index.size())}});
  std::ranges::copy(index, table.data<std::int64_t>().begin());
  return gathered(x, slot(table, "places"), axis);
}

void Call::fail(const std::string& why) const {
  throw failure("E7003", {},
                fmt::format("'{}': {} node '{}' cannot be read: {}", all.path(), node.op, node.shown(), why));
}

void Call::open(const std::string& what, const std::string& name) const {
  Diag diag("E7008", Severity::error, {},
            fmt::format("'{}': {} node '{}' needs {}{} at import", all.path(), node.op, node.shown(), what,
                        name.empty() ? "" : fmt::format(" '{}'", name)));
  diag.help(fmt::format("give numbers to what decides about it: -D {}=...", name.empty() ? "NAME" : name));
  if (name.empty()) throw Error(std::move(diag));
  all.ask_for(name, std::move(diag));
}

}  // namespace taskspec::onnx
