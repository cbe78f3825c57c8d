#include "frontend/check/statements.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/check/convert.hpp"
#include "frontend/check/expressions.hpp"
#include "frontend/check/messages.hpp"

namespace taskspec::checking {

using Kind = Type::Kind;

namespace {

class Statements {
 public:
  Statements(Body& body, Span span) : body_(body), diags_(body.world.diags), span_(span) {}

  template <class Node>
  void operator()(const Node& node) {
    check_statement(body_, node, span_);
  }

  // A task launches nothing: there its statements are all that it means.
  void operator()(const ast::Trace& node) {
    const bool is_task = body_.function().kind == FunctionKind::task;
    if (!is_task) body_.open_block();
    body_.scopes.emplace_back();
    statements(body_, node.body.stmts);
    body_.scopes.pop_back();
    if (is_task) return;
    Block inside = body_.close_block();
    const Term made = body_.make(Form::trace, Kind::none, span_, {});
    body_[made.id].blocks.push_back(std::move(inside));
  }

  void operator()(const ast::Break&) { jump(Form::break_, "break"); }
  void operator()(const ast::Continue&) { jump(Form::continue_, "continue"); }

  void operator()(const ast::Return& node) {
    std::string described = body_.world.described(body_.id);
    if (body_.function().kind != FunctionKind::fn) {
      Diag& diag = diags_.error("E0001", span_, "unexpected 'return': only a fn returns");
      if (body_.in_graph())
        diag.help(fmt::format("set the outputs of {} instead", described));
      else
        diag.help("a program ends with its text; exit(1) ends it earlier, with that code");
      if (node.value) expression(body_, *node.value);
      return;
    }
    const Type wanted = body_.function().result;
    if (!node.value) {
      if (wanted.is(Kind::none) || wanted.is(Kind::error))
        body_.make(Form::return_, Kind::none, span_, {});
      else
        wrong_type(diags_, span_, fmt::format("{} returns {}, this returns nothing", described, wanted.text()));
      return;
    }
    Term value = expression(body_, *node.value, &wanted);
    if (wanted.is(Kind::none) && !body_.is_error(value)) {
      wrong_type(diags_, node.value->span, fmt::format("{} returns nothing", described))
          .label(body_.function().span, "declared here without a result");
      return;
    }
    value = convert(body_, value, wanted, {fmt::format("the result of {}", described), body_.function().span});
    body_.make(Form::return_, Kind::none, span_, {value});
  }

  void operator()(const ast::ExprStmt& node) {
    const auto& value = node.value->node;
    bool acts = std::holds_alternative<ast::Call>(value) || std::holds_alternative<ast::Launch>(value) ||
                std::holds_alternative<ast::Run>(value);
    Term term = expression(body_, *node.value);
    if (body_.is_error(term)) return;
    if (body_.world.options.at_prompt && body_.is_file_scope()) return keep_value(body_, term);
    if (acts) return warn_if_dropped(term);
    diags_.error("E1008", span_, "this statement has no effect: its value is lost")
        .help("name it with let, or print it");
  }

 private:
  void jump(Form form, const char* word) {
    if (body_.loops > 0)
      body_.make(form, Kind::none, span_, {});
    else
      diags_.error("E0001", span_, fmt::format("unexpected '{}': there is no loop around it", word));
  }

  // m.forward(x) is what the next m.backward(y) reads.
  bool acts(const Call& call) const {
    if (call.form != Form::invoke || call.in.empty()) return false;
    const Call& agent = body_[call.in[0]];
    return agent.form == Form::builtin && !agent.in.empty() && body_[agent.in[0]].type.is(Kind::training);
  }

  // A call that does nothing but give a value. Of calls of the program this is known at the end only.
  void warn_if_dropped(const Term& term) {
    const Call& call = body_[term.id];
    if (call.type.is(Kind::none)) return;
    if (call.form == Form::call || call.form == Form::invoke) {
      if (acts(call)) return;
      body_.world.dropped.push_back({call.callee, span_});
      return;
    }
    bool pure = (call.form == Form::op && call.places.empty()) || call.form == Form::agent ||
                call.form == Form::constant || (call.form == Form::builtin && call.builtin->effect == Effect::pure);
    if (pure) diags_.warning("E1008", span_, "the result of this call is not used");
  }

  Body& body_;
  Diags& diags_;
  Span span_;
};

}  // namespace

void statement(Body& body, const ast::Stmt& stmt) {
  Body::Mark mark = body.mark();
  try {
    std::visit(Statements(body, stmt.span), stmt.node);
  } catch (const Error& error) {
    body.world.report(error, stmt.span);
    body.back_to(mark);
  }
}

void statements(Body& body, const std::vector<ast::Stmt>& list) {
  std::size_t scope = body.scopes.size() - 1;
  for (const ast::Stmt& stmt : list) body.scopes[scope].statements.push_back(&stmt);
  for (std::size_t i = 0; i < list.size(); ++i) {
    body.scopes[scope].position = i;
    statement(body, list[i]);
  }
}

namespace {

// A `break` of the loop whose body this is.
bool has_break(const std::vector<ast::Stmt>& list) {
  return std::any_of(list.begin(), list.end(), [](const ast::Stmt& stmt) {
    if (std::holds_alternative<ast::Break>(stmt.node)) return true;
    if (auto* trace = std::get_if<ast::Trace>(&stmt.node)) return has_break(trace->body.stmts);
    auto* branch = std::get_if<ast::If>(&stmt.node);
    if (!branch) return false;
    if (branch->otherwise && has_break(branch->otherwise->stmts)) return true;
    return std::any_of(branch->arms.begin(), branch->arms.end(),
                       [](const ast::IfArm& arm) { return has_break(arm.body.stmts); });
  });
}

bool is_endless(const ast::While& loop) {
  auto* literal = std::get_if<ast::BoolLit>(&loop.condition->node);
  return literal && literal->value && !has_break(loop.body.stmts);
}

bool ends(const std::vector<ast::Stmt>& list, bool jumps_count) {
  return std::any_of(list.begin(), list.end(), [&](const ast::Stmt& stmt) {
    if (std::holds_alternative<ast::Return>(stmt.node)) return true;
    if (std::holds_alternative<ast::Break>(stmt.node) || std::holds_alternative<ast::Continue>(stmt.node))
      return jumps_count;
    if (auto* loop = std::get_if<ast::While>(&stmt.node)) return is_endless(*loop);
    if (auto* trace = std::get_if<ast::Trace>(&stmt.node)) return ends(trace->body.stmts, jumps_count);
    auto* branch = std::get_if<ast::If>(&stmt.node);
    if (!branch || !branch->otherwise || !ends(branch->otherwise->stmts, jumps_count)) return false;
    return std::all_of(branch->arms.begin(), branch->arms.end(),
                       [&](const ast::IfArm& arm) { return ends(arm.body.stmts, jumps_count); });
  });
}

}  // namespace

bool always_returns(const std::vector<ast::Stmt>& list) { return ends(list, false); }
bool always_leaves(const std::vector<ast::Stmt>& list) { return ends(list, true); }

}  // namespace taskspec::checking
