#include "frontend/check/match.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/check/extents.hpp"
#include "frontend/check/messages.hpp"
#include "ir/program/alone.hpp"
#include "ir/types/solve.hpp"

namespace taskspec::checking {

bool Match::is_variable(const Symbol& symbol) const {
  return !symbol->host && (variables_ == all || body_.world.owner(symbol) != body_.id);
}

void Match::bind(const Type& wanted, const Term& value) {
  if (wanted.is_tensor() && body_.type(value).is_tensor()) tensors_.push_back(value);
  bind(wanted, body_.type(value), value.span);
}

// Of a function that is not this one: it says nothing here.
bool Match::has_foreign(const Dim& dim) const {
  std::vector<Symbol> symbols = dim.symbols();
  return std::any_of(symbols.begin(), symbols.end(), [&](const Symbol& symbol) {
    FunctionId owner = body_.world.owner(symbol);
    return owner.valid() && owner != body_.id;
  });
}

// The type of a function value for these parameters: `fn id(x: f32[N]) -> f32[N]` as fn(f32[4]) -> f32[4].
Type Match::as_used(const Type& wanted, const Type& given) const {
  bool function = given.is(Type::Kind::function);
  if (!(function || given.is(Type::Kind::task)) || wanted.kind != given.kind) return given;
  if (wanted.parts.size() != given.parts.size() || wanted.inputs != given.inputs) return given;
  Match own(body_, foreign);
  for (std::size_t i = 0; i < (function ? given.parts.size() - 1 : given.inputs); ++i)
    if (given.parts[i].is_tensor()) own.bind(given.parts[i], wanted.parts[i], Span());
  return own.substitute(given);
}

namespace {

// The one variable in an extent that nothing says, if no parameter has it alone: H of f32[2 * H].
Symbol unknown_in(const Dim& wanted, const Match& match, const Body& body, Match::Variables variables) {
  Symbol unknown;
  for (const Symbol& symbol : wanted.symbols()) {
    const FunctionId owner = body.world.owner(symbol);
    if (match.is_set(symbol->id) || (variables == Match::foreign && owner == body.id)) continue;
    if (unknown || symbol->host || !owner.valid() || has_alone(body.world.program[owner], symbol)) return nullptr;
    unknown = symbol;
  }
  return unknown;
}

// Nothing where it cannot be: `require` tells so.
std::optional<Dim> solved(const Symbol& unknown, const Dim& extent, const Dim& given) {
  try {
    return solved_for(unknown, extent, given);
  } catch (const Error&) {
    return std::nullopt;
  }
}

// Why nothing that it could be makes a multiple of it the extent that is given; empty: it is not about that.
std::string unsolved(const Symbol& unknown, const Dim& extent, const Dim& given) {
  try {
    if (unknown) (void)solved_for(unknown, extent, given);
  } catch (const Error& error) {
    const Diag& first = error.diags().items().front();
    if (first.code == Code("E5004")) return first.message;
  }
  return "";
}

}  // namespace

// A lone variable that is not bound yet takes the extent, one of which a multiple stands there its part; what does not
// fit is found by `require`.
void Match::bind(const Type& wanted, const Type& value, Span from) {
  if (wanted.kind != value.kind) return;
  const auto substitute_in = [&](const Dim& dim) {
    return dim.substitute([&](const Symbol& symbol) -> std::optional<Dim> {
      auto found = bound_.find(symbol->id);
      return found == bound_.end() ? std::nullopt : std::optional(found->second.dim);
    });
  };
  for (std::size_t i = 0; i < wanted.dims.size() && i < value.dims.size(); ++i) {
    std::vector<Symbol> symbols = wanted.dims[i].symbols();
    bool variable = symbols.size() == 1 && is_variable(symbols[0]) && wanted.dims[i] == Dim(symbols[0]);
    if (variables_ == all && has_foreign(value.dims[i])) continue;
    if (variable)
      bound_.emplace(symbols[0]->id, Bound{value.dims[i], from});
    else if (const Symbol unknown = unknown_in(wanted.dims[i], *this, body_, variables_))
      if (std::optional<Dim> dim = solved(unknown, substitute_in(wanted.dims[i]), value.dims[i]))
        bound_.emplace(unknown->id, Bound{*std::move(dim), from});
  }
  Type given = wanted.parts.empty() ? Type() : as_used(substitute(wanted), value);
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
    bool theirs = owner.valid() && (variables_ == all || owner != body_.id);
    if (!theirs) return std::nullopt;
    return bound_.emplace(symbol->id, Bound{unknown_extent(body_, symbol->name), {}}).first->second.dim;
  });
}

bool Match::is_open(const Type& type) const {
  for (const Dim& dim : type.dims)
    for (const Symbol& symbol : dim.symbols())
      if (!is_set(symbol->id)) return true;
  return std::any_of(type.parts.begin(), type.parts.end(), [&](const Type& part) { return is_open(part); });
}

bool Match::require(const Type& wanted, const Term& value, const Expected& expected, bool argument) {
  Type now = substitute(wanted), given = body_.type(value);
  std::optional<Difference> difference = compare(now, given, argument ? Open::checked : Open::guarded, &value);
  if (difference) report(*difference, now, value, expected);
  return !difference;
}

std::optional<Match::Difference> Match::compare(const Type& wanted, const Type& given, Open open, const Term* value) {
  using Kind = Type::Kind;
  if (wanted.is(Kind::error) || given.is(Kind::error)) return std::nullopt;
  if (wanted.kind != given.kind) return Difference{Difference::type};
  if (wanted.is_tensor()) {
    if (wanted.precision != given.precision) return Difference{Difference::precision};
    if (wanted.rank() != given.rank()) return Difference{Difference::rank};
    return compare_extents(wanted, given, open, value);
  }
  if (wanted.fields.valid() && (wanted.fields != given.fields || wanted.rank() != given.rank()))
    return Difference{Difference::type};
  if (wanted.is(Kind::region)) return compare_extents(wanted, given, Open::checked, value);
  bool same_names = wanted.is(Kind::function) || wanted.names == given.names;
  bool fits = wanted.parts.size() == given.parts.size() && wanted.inputs == given.inputs &&
              wanted.places == given.places && wanted.agent == given.agent && same_names;
  return fits ? compare_parts(wanted, as_used(wanted, given)) : Difference{Difference::type};
}

std::optional<Match::Difference> Match::compare_extents(const Type& wanted, const Type& given, Open open,
                                                        const Term* value) {
  for (std::size_t i = 0; i < wanted.rank(); ++i) {
    if (is_any(body_.world, wanted.dims[i])) continue;  // what is done with it is typed when the program runs
    Same is_same = is_any(body_.world, given.dims[i]) ? Same::open : same(wanted.dims[i], given.dims[i]);
    if (is_same == Same::no) return Difference{Difference::extent, i};
    if (is_same == Same::yes) continue;
    bool guarded = open != Open::refused && value && guard(wanted.dims[i], given.dims[i], *value, i);
    if (!guarded && open != Open::checked) return Difference{Difference::open, i};
  }
  return std::nullopt;
}

bool Match::guard(const Dim& wanted, const Dim& given, const Term& value, std::size_t axis) {
  std::vector<Term> tensors{value};
  tensors.insert(tensors.end(), tensors_.begin(), tensors_.end());
  Dim left = reachable(body_, given, tensors), right = reachable(body_, wanted, tensors);
  if (!is_reachable(body_, left) || !is_reachable(body_, right)) return false;
  const std::string text = body_.text(value.span);  // empty: written in C++
  guards.push_back(
      {left, right, fmt::format("dimension {} of {}", axis, text.empty() ? "this value" : fmt::format("'{}'", text))});
  return true;
}

std::optional<Match::Difference> Match::compare_parts(const Type& wanted, const Type& given) {
  // Parameters of a function value are looked at when it is called, its results are not.
  std::size_t checked = wanted.is(Type::Kind::function) ? wanted.parts.size() - 1
                        : wanted.is(Type::Kind::task)   ? wanted.inputs
                                                        : 0;
  for (std::size_t i = 0; i < wanted.parts.size(); ++i) {
    Open open = i < checked && wanted.parts[i].is_tensor() ? Open::checked : Open::refused;
    std::optional<Difference> difference = compare(wanted.parts[i], given.parts[i], open);
    if (difference) return Difference{difference->kind == Difference::open ? Difference::open : Difference::type};
  }
  return std::nullopt;
}

void Match::report(const Difference& difference, const Type& wanted, const Term& value, const Expected& expected) {
  Type given = body_.type(value);
  Diags& diags = body_.world.diags;
  Diag* diag = nullptr;
  std::string why;
  if (difference.kind == Difference::extent) {
    const Dim& extent = wanted.dims[difference.axis];
    why = unsolved(unknown_in(extent, *this, body_, variables_), extent, given.dims[difference.axis]);
  }
  if (difference.kind == Difference::type) {
    diag = &wrong_type(diags, value.span, expected.what, wanted, given);
  } else if (difference.kind == Difference::open) {
    diag = &diags.error("E1004", value.span,
                        fmt::format("{} is {}, this is {}, and whether they agree is not known before the run",
                                    expected.what, wanted.text(), given.text()));
    diag->help("fix the shape of each tensor first: x as f32[4]");
  } else if (difference.kind == Difference::precision) {
    diag = &diags.error("E2002", value.span,
                        fmt::format("precision differs: {} is {}, this is {}; convert it with 'as'", expected.what,
                                    info(wanted.precision).name, info(given.precision).name));
  } else if (!why.empty()) {
    diag = &diags.error("E5004", value.span,
                        fmt::format("{} is {}, this is {}; {}", expected.what, wanted.text(), given.text(), why));
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
  if (difference.kind == Difference::extent && wanted.dims[difference.axis].text() == "_")
    diag->help("each _ is an extent of its own; extents that are equal have one name: [n]");
  const bool one_element = difference.kind == Difference::rank && wanted.rank() + given.rank() == 1 &&
                           (wanted.rank() == 0 ? given : wanted).dims[0] == Dim(1);
  if (one_element && given.rank() == 0)
    diag->help("a reduction along an axis keeps it with extent 1: x.mean(0); x.reshape(1) makes rank 1 of rank 0");
  else if (one_element)
    diag->help("x[0] is the element with rank 0, and a reduction without an axis has rank 0: x.mean()");
  // The argument that decided the extent which this one does not have.
  if (difference.kind != Difference::extent) return;
  diag->help(chosen_by_callers(body_, wanted.dims[difference.axis], given.dims[difference.axis]));
  for (const auto& [id, bound] : bound_)
    if (bound.from.valid() && !(bound.from == value.span) && bound.dim == wanted.dims[difference.axis]) {
      diag->label(bound.from, "this made it " + bound.dim.text());
      return;
    }
}

}  // namespace taskspec::checking
