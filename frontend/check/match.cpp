#include "frontend/check/match.hpp"

#include <fmt/format.h>

#include "frontend/check/extents.hpp"
#include "frontend/check/messages.hpp"

namespace taskspec::checking {

bool Match::is_variable(const Symbol& symbol) const {
  return !symbol->host && (variables_ == all || body_.world.owner(symbol) != body_.id);
}

// A lone variable that is not bound yet takes the extent; what does not fit is found by `require`.
void Match::bind(const Type& wanted, const Type& given, Span from) {
  if (wanted.kind != given.kind) return;
  for (std::size_t i = 0; i < wanted.dims.size() && i < given.dims.size(); ++i) {
    std::vector<Symbol> symbols = wanted.dims[i].symbols();
    if (symbols.size() == 1 && is_variable(symbols[0]) && wanted.dims[i] == Dim(symbols[0]))
      bound_.emplace(symbols[0]->id, Bound{given.dims[i], from});
  }
  for (std::size_t i = 0; i < wanted.parts.size() && i < given.parts.size(); ++i)
    bind(wanted.parts[i], given.parts[i], from);
}

Type Match::substitute(const Type& type) const {
  return type.substitute([&](const Symbol& symbol) -> std::optional<Dim> {
    auto found = bound_.find(symbol->id);
    return found == bound_.end() ? std::nullopt : std::optional(found->second.dim);
  });
}

Type Match::result(const Type& type) {
  return type.substitute([&](const Symbol& symbol) -> std::optional<Dim> {
    if (auto found = bound_.find(symbol->id); found != bound_.end()) return found->second.dim;
    FunctionId owner = body_.world.owner(symbol);
    bool theirs = variables_ == all || (owner.valid() && owner != body_.id);
    if (!theirs) return std::nullopt;
    return bound_.emplace(symbol->id, Bound{unknown_extent(body_, symbol->name), {}}).first->second.dim;
  });
}

bool Match::require(const Type& wanted, const Term& value, const Expected& expected) {
  Type now = substitute(wanted), given = body_.type(value);
  std::optional<Difference> difference = compare(now, given, &value);
  if (difference) report(*difference, now, value, expected);
  return !difference;
}

std::optional<Match::Difference> Match::compare(const Type& wanted, const Type& given, const Term* value) {
  using Kind = Type::Kind;
  if (wanted.is(Kind::error) || given.is(Kind::error)) return std::nullopt;
  if (wanted.kind != given.kind) return Difference{Difference::type};
  if (wanted.is_tensor()) {
    if (wanted.precision != given.precision) return Difference{Difference::precision};
    if (wanted.rank() != given.rank()) return Difference{Difference::rank};
    return compare_extents(wanted, given, value);
  }
  bool same_names = wanted.is(Kind::function) || wanted.names == given.names;
  bool fits = wanted.parts.size() == given.parts.size() && wanted.inputs == given.inputs &&
              wanted.places == given.places && wanted.agent == given.agent && same_names;
  return fits ? compare_parts(wanted, given) : Difference{Difference::type};
}

std::optional<Match::Difference> Match::compare_extents(const Type& wanted, const Type& given, const Term* value) {
  for (std::size_t i = 0; i < wanted.rank(); ++i) {
    Same is_same = same(wanted.dims[i], given.dims[i]);
    if (is_same == Same::no) return Difference{Difference::extent, i};
    if (is_same == Same::yes) continue;
    if (!value) continue;  // inside a list or tuple: looked at again where it is used
    Dim right = reachable(body_, given.dims[i], {*value});
    guards.push_back({right, wanted.dims[i], fmt::format("dimension {} of '{}'", i, body_.text(value->span))});
  }
  return std::nullopt;
}

std::optional<Match::Difference> Match::compare_parts(const Type& wanted, const Type& given) {
  for (std::size_t i = 0; i < wanted.parts.size(); ++i)
    if (compare(wanted.parts[i], given.parts[i], nullptr)) return Difference{Difference::type};
  return std::nullopt;
}

void Match::report(const Difference& difference, const Type& wanted, const Term& value, const Expected& expected) {
  Type given = body_.type(value);
  Diags& diags = body_.world.diags;
  Diag* diag = nullptr;
  if (difference.kind == Difference::type) {
    diag = &wrong_type(diags, value.span, expected.what, wanted, given);
  } else if (difference.kind == Difference::precision) {
    diag = &diags.error("E2002", value.span,
                        fmt::format("precision differs: {} is {}, this is {}; convert it with 'as'", expected.what,
                                    info(wanted.precision).name, info(given.precision).name));
  } else {
    std::size_t i = difference.axis;
    std::string where =
        difference.kind == Difference::rank
            ? fmt::format("rank {} against {}", wanted.rank(), given.rank())
            : fmt::format("dimension {} is {} against {}", i, wanted.dims[i].text(), given.dims[i].text());
    diag = &diags.error(
        "E2001", value.span,
        fmt::format("shapes differ: {} is {}, this is {}; {}", expected.what, wanted.text(), given.text(), where));
  }
  diag->at(given.text());
  if (expected.declared.valid()) diag->label(expected.declared, "declared here");
  // The argument that decided the extent which this one does not have.
  if (difference.kind != Difference::extent) return;
  for (const auto& [id, bound] : bound_)
    if (bound.from.valid() && !(bound.from == value.span) && bound.dim == wanted.dims[difference.axis]) {
      diag->label(bound.from, "this made it " + bound.dim.text());
      return;
    }
}

Dim reachable(Body& body, const Dim& dim, const std::vector<Term>& tensors) {
  bool known = true;
  for (const Symbol& symbol : dim.symbols()) known = known && (!symbol->host || symbol->call != UINT32_MAX);
  if (known) return dim;
  for (const Term& tensor : tensors)
    for (std::size_t axis = 0; tensor.valid() && axis < body.type(tensor).rank(); ++axis)
      if (body.type(tensor).dims[axis] == dim)
        return extent_of(body, extent_operand(body, tensor, axis).id, dim.text());
  return dim;
}

void emit_guards(Body& body, std::vector<Guard> guards, Span span) {
  if (guards.empty()) return;
  Term carrier = body.constant(Value(true), Type::Kind::boolean, span);
  body[carrier.id].guards = std::move(guards);
}

}  // namespace taskspec::checking
