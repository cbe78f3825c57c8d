#include "frontend/check/compose.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/check/expressions.hpp"
#include "frontend/check/match.hpp"
#include "frontend/check/messages.hpp"
#include "ir/base/text.hpp"

namespace taskspec::checking {

using Kind = Type::Kind;

namespace {

// One side of a composition: its inputs and outputs by name.
struct Side {
  Term term;
  Type type;
  std::size_t outputs() const { return type.parts.size() - type.inputs; }
  const std::string& output_name(std::size_t i) const { return type.names[type.inputs + i]; }
  const Type& output(std::size_t i) const { return type.parts[type.inputs + i]; }
  std::vector<std::string> input_names() const { return {type.names.begin(), type.names.begin() + type.inputs}; }
  std::vector<std::string> output_names() const { return {type.names.begin() + type.inputs, type.names.end()}; }
};

class Composition {
 public:
  Composition(Body& body, const ast::Binary& binary, Span span) : body_(body), binary_(binary), span_(span) {}

  Term run() {
    std::optional<Side> first = side(*binary_.left), second = side(*binary_.right);
    if (!first || !second) return body_.error(span_);
    second->type = renamed_apart(second->type);
    std::vector<std::optional<std::size_t>> wiring = wire(*first, *second);
    if (wiring.empty()) return body_.error(span_);
    Match match(body_, Match::foreign);
    if (!unify(match, *first, *second, wiring)) return body_.error(span_);
    Type type = composed(match, *first, *second, wiring);
    return body_.make(Form::compose, std::move(type), span_, {first->term, second->term});
  }

 private:
  std::optional<Side> side(const ast::Expr& expr) {
    Side side{expression(body_, expr), {}};
    side.type = body_.type(side.term);
    if (side.type.is(Kind::error)) return std::nullopt;
    if (side.type.is(Kind::task)) {
      if (!has_places(side.term)) return side;
      not_built(body_.world.diags, expr.span, "composing a task with inout parameters", "places in composites");
      return std::nullopt;
    }
    wrong_type(body_.world.diags, expr.span,
               fmt::format("'>>' composes tasks and graphs, this is {}", side.type.text()));
    return std::nullopt;
  }

  bool has_places(const Term& term) {
    const Call& call = body_[term.id];
    if (call.form != Form::function && call.form != Form::member) return false;
    const std::vector<Parameter>& parameters = body_.world.program[call.callee].parameters;
    return std::any_of(parameters.begin(), parameters.end(),
                       [](const Parameter& p) { return p.role == Role::declared && p.privilege == Privilege::inout; });
  }

  // The dimension variables of both sides are different ones, also when both are the same task.
  Type renamed_apart(const Type& type) {
    std::unordered_map<std::uint32_t, Dim> fresh;
    return type.substitute([&](const Symbol& symbol) -> std::optional<Dim> {
      if (symbol->host || body_.world.owner(symbol) == body_.id) return std::nullopt;
      auto [entry, added] = fresh.try_emplace(symbol->id);
      if (added) entry->second = Dim(body_.world.symbol(symbol->name, false, CallId(), body_.world.owner(symbol)));
      return entry->second;
    });
  }

  // For each input of the second the output of the first that goes there; empty if there is no way to compose.
  std::vector<std::optional<std::size_t>> wire(const Side& first, const Side& second) {
    std::vector<std::optional<std::size_t>> wiring(second.type.inputs);
    bool matched = false;
    for (std::size_t i = 0; i < wiring.size(); ++i)
      for (std::size_t o = 0; o < first.outputs(); ++o)
        if (first.output_name(o) == second.type.names[i]) wiring[i] = o, matched = true;
    if (!matched && first.outputs() == 1 && !wiring.empty()) wiring[0] = 0, matched = true;
    if (matched) return wiring;
    Diag& diag = body_.world.diags.error(
        "E3004", binary_.op.span,
        "nothing to compose: no output of the left side has the name of an input of the right side");
    diag.label(first.term.span, "outputs: " + joined(first.output_names(), ", "));
    diag.label(second.term.span, "inputs: " + joined(second.input_names(), ", "));
    return {};
  }

  // The variables of both sides take what the other side has.
  bool unify(Match& match, const Side& first, const Side& second,
             const std::vector<std::optional<std::size_t>>& wiring) {
    for (std::size_t i = 0; i < wiring.size(); ++i)
      if (wiring[i]) match.bind(second.type.parts[i], first.output(*wiring[i]));
    for (std::size_t i = 0; i < wiring.size(); ++i)
      if (wiring[i]) match.bind(first.output(*wiring[i]), match.substitute(second.type.parts[i]));
    for (std::size_t i = 0; i < wiring.size(); ++i) {
      if (!wiring[i]) continue;
      Type given = match.substitute(match.substitute(first.output(*wiring[i])));
      Type wanted = match.substitute(match.substitute(second.type.parts[i]));
      if (match.fits(wanted, given)) continue;
      Code code = wanted.kind != given.kind             ? Code("E1004")
                  : wanted.precision != given.precision ? Code("E2002")
                                                        : Code("E2001");
      body_.world.diags
          .error(code, binary_.op.span,
                 fmt::format("output '{}' of the left side is {}, input '{}' of the right side is {}",
                             first.output_name(*wiring[i]), given.text(), second.type.names[i], wanted.text()))
          .label(first.term.span, given.text())
          .label(second.term.span, wanted.text());
      return false;
    }
    return true;
  }

  Type composed(const Match& match, const Side& first, const Side& second,
                const std::vector<std::optional<std::size_t>>& wiring) {
    std::vector<Type> parts;
    std::vector<std::string> names;
    auto add = [&](const Type& part, const std::string& name) {
      parts.push_back(match.substitute(match.substitute(part)));
      names.push_back(name);
    };
    std::vector<bool> used(first.outputs(), false);
    for (std::size_t i = 0; i < first.type.inputs; ++i) add(first.type.parts[i], first.type.names[i]);
    std::size_t of_second = names.size();
    for (std::size_t i = 0; i < wiring.size(); ++i) {
      if (wiring[i])
        used[*wiring[i]] = true;
      else
        add(second.type.parts[i], second.type.names[i]);
    }
    rename_equal(names, 0, of_second);
    std::size_t inputs = names.size();
    for (std::size_t o = 0; o < first.outputs(); ++o)
      if (!used[o]) add(first.output(o), first.output_name(o));
    of_second = names.size();
    for (std::size_t o = 0; o < second.outputs(); ++o) add(second.output(o), second.output_name(o));
    rename_equal(names, inputs, of_second);
    Type type(Kind::task);
    type.parts = std::move(parts);
    type.names = std::move(names);
    type.inputs = static_cast<std::uint32_t>(inputs);
    return type;
  }

  // Names that both sides have become T1.x and T2.x.
  static void rename_equal(std::vector<std::string>& names, std::size_t begin, std::size_t of_second) {
    for (std::size_t i = begin; i < of_second; ++i)
      for (std::size_t k = of_second; k < names.size(); ++k)
        if (names[i] == names[k]) {
          names[k] = "T2." + names[k];
          names[i] = "T1." + names[i];
          break;
        }
  }

  Body& body_;
  const ast::Binary& binary_;
  Span span_;
};

}  // namespace

Term compose_expression(Body& body, const ast::Binary& binary, Span span) {
  return Composition(body, binary, span).run();
}

}  // namespace taskspec::checking
