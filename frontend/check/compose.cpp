#include "frontend/check/compose.hpp"

#include <fmt/format.h>

#include "frontend/check/expressions.hpp"
#include "frontend/check/match.hpp"
#include "frontend/check/messages.hpp"
#include "ir/base/text.hpp"
#include "ir/program/wiring.hpp"

namespace taskspec::checking {

using Kind = Type::Kind;

namespace {

// One side of a composition.
struct Side {
  Term term;
  Type type;
  std::vector<std::string> input_names() const { return {type.names.begin(), type.names.begin() + type.inputs}; }
  std::vector<std::string> output_names() const { return {type.names.begin() + type.inputs, type.names.end()}; }
};

// An input of the second and what of the first goes there.
struct Joint {
  const Type &given, &wanted;
  std::string from, to;  // "output 'y'", "input 'x'"
};

class Composition {
 public:
  Composition(Body& body, const ast::Binary& binary, Span span) : body_(body), binary_(binary), span_(span) {}

  Term run() {
    std::optional<Side> first = side(*binary_.left), second = side(*binary_.right);
    if (!first || !second) return body_.error(span_);
    second->type = renamed_apart(second->type);
    std::optional<Wiring> wiring = wire(first->type, second->type);
    if (!wiring) return nothing_to_join(*first, *second);
    if (!places_stay_places(*first, *second, *wiring)) return body_.error(span_);
    Match match(body_, Match::foreign);
    if (!unify(match, *first, *second, *wiring)) return body_.error(span_);
    Type type = match.substitute(match.substitute(composite(first->type, second->type, *wiring)));
    return body_.make(Form::compose, std::move(type), span_, {first->term, second->term});
  }

 private:
  std::optional<Side> side(const ast::Expr& expr) {
    Side side{expression(body_, expr), {}};
    side.type = body_.type(side.term);
    if (side.type.is(Kind::task)) return side;
    if (!side.type.is(Kind::error))
      wrong_type(body_.world.diags, expr.span,
                 fmt::format("'>>' composes tasks and graphs, this is {}", side.type.text()))
          .help(side.type.is(Kind::integer) ? "an int is divided: x / 2; shift_right(x, n) shifts those of a tensor"
                                            : "");
    return std::nullopt;
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

  Term nothing_to_join(const Side& first, const Side& second) {
    Diag& diag = body_.world.diags.error(
        "E3004", binary_.op.span,
        "nothing to compose: no output of the left side has the name of an input of the right side");
    diag.label(first.term.span, "outputs: " + joined(first.output_names(), ", "));
    diag.label(second.term.span, "inputs: " + joined(second.input_names(), ", "));
    return body_.error(span_);
  }

  // What the second changes must be a place: a value has no later version that anybody could see.
  bool places_stay_places(const Side& first, const Side& second, const Wiring& wiring) {
    for (std::uint32_t input : second.type.places) {
      if (wiring.inputs[input].from != Wiring::Source::From::output) continue;
      body_.world.diags
          .error("E1007", binary_.op.span,
                 fmt::format("the right side changes its inout input '{}', and an output is no place",
                             second.type.names[input]))
          .label(first.term.span,
                 fmt::format("gives '{}' as an output", first.output_names()[wiring.inputs[input].index]));
      return false;
    }
    return true;
  }

  static std::vector<Joint> joints(const Side& first, const Side& second, const Wiring& wiring) {
    std::vector<Joint> joints;
    for (std::uint32_t i = 0; i < second.type.inputs; ++i) {
      auto [from, index] = wiring.inputs[i];
      if (from == Wiring::Source::From::outside) continue;
      bool place = from == Wiring::Source::From::place;
      std::uint32_t part = place ? index : first.type.inputs + index;
      joints.push_back({first.type.parts[part], second.type.parts[i],
                        fmt::format("{} '{}'", place ? "place" : "output", first.type.names[part]),
                        fmt::format("input '{}'", second.type.names[i])});
    }
    return joints;
  }

  // The variables of both sides take what the other side has.
  bool unify(Match& match, const Side& first, const Side& second, const Wiring& wiring) {
    std::vector<Joint> all = joints(first, second, wiring);
    for (const Joint& joint : all) match.bind(joint.wanted, joint.given);
    for (const Joint& joint : all) match.bind(joint.given, match.substitute(joint.wanted));
    for (const Joint& joint : all) {
      Type given = match.substitute(match.substitute(joint.given));
      Type wanted = match.substitute(match.substitute(joint.wanted));
      if (match.fits(wanted, given)) continue;
      Code code = wanted.kind != given.kind             ? Code("E1004")
                  : wanted.precision != given.precision ? Code("E2002")
                                                        : Code("E2001");
      body_.world.diags
          .error(code, binary_.op.span,
                 fmt::format("{} of the left side is {}, {} of the right side is {}", joint.from, given.text(),
                             joint.to, wanted.text()))
          .label(first.term.span, given.text())
          .label(second.term.span, wanted.text());
      return false;
    }
    return true;
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
