// if, for and while: nested blocks, and which outputs are set on which path.
#include <fmt/format.h>

#include "frontend/check/convert.hpp"
#include "frontend/check/expressions.hpp"
#include "frontend/check/extents.hpp"
#include "frontend/check/messages.hpp"
#include "frontend/check/record_call.hpp"
#include "frontend/check/statements.hpp"
#include "frontend/check/views.hpp"

namespace taskspec::checking {

using Kind = Type::Kind;

namespace {

constexpr std::size_t most_arms = 1000;  // `else if` nests in the program

// A host bool; in a task or graph also a tensor of one bool.
Term condition(Body& body, const ast::Expr& expr) {
  Term value = output_of(body, expression(body, expr));
  const Type type = body.type(value);
  Diags& diags = body.world.diags;
  if (type.is(Kind::boolean) || type.is(Kind::error)) return value;
  if (!type.is_tensor()) {
    wrong_type(diags, value.span, fmt::format("a condition is a bool, this is {}", type.text()));
  } else if (!body.in_graph()) {
    const Term part = graph_part(body, value);
    graph_value(diags, part.span, body.text(part.span), body.type(part));
  } else if (type.precision != Precision::boolean || same(type.elements(), Dim(1)) == Same::no) {
    wrong_type(diags, value.span,
               fmt::format("a condition is a bool or a tensor of one bool, this is {}", type.text()));
  } else {
    return value;
  }
  return body.error(value.span);
}

Block nested(Body& body, const std::vector<ast::Stmt>& list) {
  body.open_block();
  body.scopes.emplace_back();
  statements(body, list);
  body.scopes.pop_back();
  return body.close_block();
}

std::vector<std::size_t> labels_so_far(const Body& body) {
  std::vector<std::size_t> counts;
  for (const std::vector<Label>& labels : body.missed) counts.push_back(labels.size());
  return counts;
}

// What is set after either of two paths: what both set. The one that misses an output is remembered.
void join_paths(Body& body, const std::vector<bool>& first, Span first_span, const std::vector<bool>& second,
                const Label& second_misses, const std::vector<std::size_t>& said) {
  for (std::size_t i = 0; i < first.size(); ++i) {
    body.is_set[i] = first[i] && second[i];
    if (first[i] == second[i]) continue;
    if (!first[i]) body.missed[i].push_back({first_span, "not set here"});
    // A branch inside of the second path may have said where already.
    else if (body.missed[i].size() == said[i])
      body.missed[i].push_back(second_misses);
  }
}

class If {
 public:
  If(Body& body, const ast::If& node, Span span) : body_(body), node_(node), span_(span) {}

  // Whether control leaves on every path through the arms from `k` on.
  bool from(std::size_t k) {
    const ast::IfArm& arm = node_.arms[k];
    Term test = condition(body_, *arm.condition);
    std::vector<bool> before = body_.is_set;
    Block then = nested(body_, arm.body.stmts);
    std::vector<bool> after_then = body_.is_set;
    body_.is_set = before;
    Label misses{arm.condition->span, "not set when this is false"};
    std::vector<std::size_t> said = labels_so_far(body_);
    bool rest_leaves = false;
    Block otherwise = rest(k, misses, rest_leaves);
    bool then_leaves = always_leaves(arm.body.stmts);
    if (rest_leaves)
      body_.is_set = after_then;
    else if (!then_leaves)
      join_paths(body_, after_then, arm.span, std::vector<bool>(body_.is_set), misses, said);
    Term made = body_.make(Form::if_, Kind::none, k == 0 ? span_ : arm.span, {test});
    body_[made.id].blocks.push_back(std::move(then));
    body_[made.id].blocks.push_back(std::move(otherwise));
    return then_leaves && rest_leaves;
  }

 private:
  Block rest(std::size_t k, Label& misses, bool& leaves) {
    if (k + 1 < node_.arms.size()) {
      misses = {node_.arms[k + 1].span, "not set on this path"};
      body_.open_block();
      leaves = from(k + 1);
      return body_.close_block();
    }
    if (!node_.otherwise) return {};
    leaves = always_leaves(node_.otherwise->stmts);
    misses = {node_.otherwise->span, "not set here"};
    return nested(body_, node_.otherwise->stmts);
  }

  Body& body_;
  const ast::If& node_;
  Span span_;
};

// The body of a loop may not run at all.
class LoopPaths {
 public:
  LoopPaths(Body& body, Span header) : body_(body), header_(header), before_(body.is_set) { ++body.loops; }
  void close() {
    --body_.loops;
    std::vector<bool> inside = body_.is_set;
    join_paths(body_, inside, header_, before_, {header_, "this loop may run no turn"}, labels_so_far(body_));
  }

 private:
  Body& body_;
  Span header_;
  std::vector<bool> before_;
};

// What one turn of a loop over this sees.
Type element_type(Body& body, const Term& domain) {
  const Type type = body.type(domain);
  if (type.is(Kind::range)) return Kind::integer;
  if (type.is(Kind::list)) return item_type(body, type.parts[0]);
  if (type.is(Kind::error)) return type;
  if (type.is(Kind::view)) return point_of(type);
  Diag& diag = wrong_type(body.world.diags, domain.span,
                          fmt::format("a for loop runs over a range or a list, this is {}", type.text()));
  if (type.is(Kind::partition))
    diag.help(fmt::format("count its pieces, and let them run side by side: launch t({}[i]) for i in 0..{}",
                          body.text(domain.span), fmt::format("len({})", body.text(domain.span))));
  if (type.is_tensor()) diag.help("receive its elements with .iter");
  if (type.is(Kind::integer)) diag.help(fmt::format("count up to it: 0..{}", body.text(domain.span)));
  return Kind::error;
}

}  // namespace

void check_statement(Body& body, const ast::If& node, Span span) {
  if (node.arms.size() > most_arms) {
    body.world.diags.error("E0005", span, fmt::format("more than {} branches of one if", most_arms));
    return;
  }
  If(body, node, span).from(0);
}

void check_statement(Body& body, const ast::For& node, Span span) {
  Term domain = typed(body, output_of(body, expression(body, *node.domain)));
  if (body.type(domain).is(Kind::region))  // the host goes through a list of its points
    domain = call_with(body, find_builtin(body.world, "region.points"), {{domain}}, domain.span);
  Type element = element_type(body, domain);
  LoopPaths paths(body, join(node.pattern.span, node.domain->span));
  body.open_block();
  body.scopes.emplace_back();
  Term turn =
      element.is(Kind::error) ? body.error(node.pattern.span) : body.make(Form::loop, element, node.pattern.span, {});
  define_pattern(body, node.pattern, turn, "loop variable");
  statements(body, node.body.stmts);
  body.scopes.pop_back();
  Block block = body.close_block();
  paths.close();
  Term made = body.make(Form::for_, Kind::none, span, {domain});
  body[made.id].blocks.push_back(std::move(block));
}

void check_statement(Body& body, const ast::While& node, Span span) {
  body.open_block();
  Term test = condition(body, *node.condition);
  Block before = body.close_block();
  before.result = test.id;
  LoopPaths paths(body, node.condition->span);
  Block turn = nested(body, node.body.stmts);
  paths.close();
  Term made = body.make(Form::while_, Kind::none, span, {});
  body[made.id].blocks.push_back(std::move(before));
  body[made.id].blocks.push_back(std::move(turn));
}

}  // namespace taskspec::checking
