#include "frontend/check/cycle.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/check/mentions.hpp"
#include "frontend/check/messages.hpp"
#include "ir/base/text.hpp"

namespace taskspec::checking {

namespace {

constexpr std::size_t enough_errors = 40;  // looking for the way around costs a walk over the statements

// A name that one statement mentions, and the expressions around the mention.
struct Use {
  std::size_t statement;  // that mentions it
  std::string_view name;
  std::vector<const ast::Expr*> around;
};

// ---- how a call is named --------------------------------------------------------------------------

class CallNames {
 public:
  CallNames(Body& body, const std::vector<const ast::Stmt*>& statements) : body_(body), statements_(statements) {}

  // The task, graph or fn that this expression calls.
  FunctionId callee(const ast::Expr& expr) {
    auto* call = std::get_if<ast::Call>(&expr.node);
    if (!call) return {};
    if (auto* name = std::get_if<ast::NameExpr>(&call->callee->node)) return function(body_.find(name->name.text));
    auto* member = std::get_if<ast::Member>(&call->callee->node);
    auto* made = member ? std::get_if<ast::Call>(&member->base->node) : nullptr;
    auto* agent = made ? std::get_if<ast::NameExpr>(&made->callee->node) : nullptr;
    std::optional<Binding> binding = agent ? body_.find(agent->name.text) : std::nullopt;
    if (!binding || binding->kind != Binding::Kind::agent) return {};
    return function(body_.world.find(binding->agent, member->name.text));
  }

  // "f#1": the second call of f here.
  std::string label(const ast::Expr& call) {
    FunctionId id = callee(call);
    std::size_t before = 0;
    bool reached = false;
    each_expression(statements_, [&](const ast::Expr& expr) {
      reached = reached || &expr == &call;
      if (!reached && callee(expr) == id) ++before;
    });
    return fmt::format("{}#{}", body_.world.name_of(id), before);
  }

  // ".x" for the parameter that takes the argument with `inner` in it.
  std::string input(const ast::Expr& expr, const ast::Expr& inner) {
    const auto& call = std::get<ast::Call>(expr.node);
    FunctionInfo& info = body_.world.info(callee(expr));
    const std::vector<ast::Param>& params = info.task ? info.task->params : info.fn->params;
    auto argument = std::find_if(call.args.begin(), call.args.end(),
                                 [&](const ast::Arg& arg) { return arg.value.get() == &inner; });
    if (argument == call.args.end()) return "";
    for (std::size_t i = 0; i < params.size(); ++i) {
      const std::string& name = params[i].name.text;
      bool here = argument->name ? argument->name->text == name
                                 : call.args.begin() + static_cast<std::ptrdiff_t>(i) == argument;
      if (here) return "." + name;
    }
    return "";
  }

  // ".y" for the output that `user`, the expression around the call or its name, takes.
  std::string output(const ast::Expr& expr, const ast::Expr* user) {
    FunctionInfo& info = body_.world.info(callee(expr));
    const ast::Results& results = info.task ? info.task->results : info.fn->results;
    auto* member = user ? std::get_if<ast::Member>(&user->node) : nullptr;
    for (const ast::Field& field : results.named)
      if (results.named.size() == 1 || (member && member->name.text == field.name.text)) return "." + field.name.text;
    return results.unnamed ? ".value" : "";
  }

 private:
  static FunctionId function(const std::optional<Binding>& binding) {
    return binding && binding->kind == Binding::Kind::function ? binding->function : FunctionId();
  }

  Body& body_;
  const std::vector<const ast::Stmt*>& statements_;
};

// ---- the way around -------------------------------------------------------------------------------

class Cycle {
 public:
  Cycle(Body& body, Scope& scope) : scope_(scope), calls_(body, outermost(body)) {}

  // The text of the cycle through the statement being checked, which mentions `name`; empty if there is none.
  std::string through(const ast::Name& name) {
    const std::vector<const ast::Stmt*>& all = scope_.statements;
    if (names_set_by(*all[scope_.position]).empty()) return "";
    std::vector<Use> uses = mentions(scope_.position);
    auto first = std::find_if(uses.begin(), uses.end(), [&](const Use& use) {
      return std::get<ast::NameExpr>(use.around.back()->node).name.span == name.span;
    });
    if (first == uses.end()) return "";
    std::vector<Use> path{*first};
    if (!find_back(path)) return "";
    scope_.in_cycle.resize(all.size(), false);
    for (const Use& use : path) scope_.in_cycle[use.statement] = true;
    return text(path);
  }

 private:
  static const std::vector<const ast::Stmt*>& outermost(Body& body) {
    for (Scope& scope : body.scopes)
      if (!scope.statements.empty()) return scope.statements;
    return body.scopes.back().statements;
  }

  std::vector<Use> mentions(std::size_t statement) {
    std::vector<Use> uses;
    for (const ast::Expr* value : values_of(*scope_.statements[statement]))
      each_mention(*value, [&](const ast::Name& name, const std::vector<const ast::Expr*>& around) {
        if (scope_.setters().contains(name.text)) uses.push_back({statement, name.text, around});
      });
    return uses;
  }

  // Depth first from the setter of the last use, until the statement being checked is needed. Iterative: chains
  // of lets may be long.
  bool find_back(std::vector<Use>& path) {
    std::vector<bool> seen(scope_.statements.size(), false);
    struct Open {
      std::vector<Use> uses;
      std::size_t next = 0;
    };
    std::size_t start = scope_.setters().at(path[0].name);
    if (start == scope_.position) return true;
    std::vector<Open> open{{mentions(start)}};
    seen[start] = true;
    while (!open.empty()) {
      Open& top = open.back();
      if (top.next == top.uses.size()) {
        open.pop_back();
        path.pop_back();
        continue;
      }
      path.push_back(top.uses[top.next++]);
      std::size_t needed = scope_.setters().at(path.back().name);
      if (needed == scope_.position) return true;
      if (needed < scope_.position || seen[needed]) {
        path.pop_back();
        continue;
      }
      seen[needed] = true;
      open.push_back({mentions(needed)});
    }
    return false;
  }

  // path[0] is the use in the statement being checked, path[k + 1] the one in the setter of path[k].
  std::string text(const std::vector<Use>& path) {
    std::vector<std::string> hops{out_of(path.front(), path.back())};
    for (std::size_t k = path.size(); k-- > 1;) {
      into(path[k], hops);
      hops.push_back(out_of(path[k], path[k - 1]));
    }
    into(path.front(), hops);
    if (hops.back() != hops.front() && hops.back().find('#') == std::string::npos) hops.push_back(hops.front());
    hops.erase(std::unique(hops.begin(), hops.end()), hops.end());
    return joined(hops, " -> ");
  }

  std::vector<std::size_t> named_calls(const Use& use) {
    std::vector<std::size_t> calls;
    for (std::size_t i = 0; i < use.around.size(); ++i)
      if (calls_.callee(*use.around[i]).valid()) calls.push_back(i);
    return calls;
  }

  // The value of the statement of `use`, as `consumer` takes it: "f#0.y", or the name when no task makes it.
  std::string out_of(const Use& use, const Use& consumer) {
    std::vector<std::size_t> calls = named_calls(use);
    if (calls.empty()) return std::string(consumer.name);
    const ast::Expr& outer = *use.around[calls[0]];
    const ast::Expr* user = calls[0] > 0                 ? use.around[calls[0] - 1]
                            : consumer.around.size() > 1 ? consumer.around[consumer.around.size() - 2]
                                                         : nullptr;
    return calls_.label(outer) + calls_.output(outer, user);
  }

  // From the mention outwards: "f#0.x", "f#0.y", "g#0.x".
  void into(const Use& use, std::vector<std::string>& hops) {
    std::vector<std::size_t> calls = named_calls(use);
    for (std::size_t k = calls.size(); k-- > 0;) {
      std::size_t i = calls[k];
      const ast::Expr& call = *use.around[i];
      hops.push_back(calls_.label(call) + calls_.input(call, *use.around[i + 1]));
      if (k > 0) hops.push_back(calls_.label(call) + calls_.output(call, i > 0 ? use.around[i - 1] : nullptr));
    }
  }

  Scope& scope_;
  CallNames calls_;
};

bool report_cycle(Body& body, Scope& scope, const ast::Name& name) {
  if (body.world.diags.size() > enough_errors || scope.statements.empty()) return false;
  std::string way = Cycle(body, scope).through(name);
  if (way.empty()) return false;
  const ast::Stmt& setter = *scope.statements[scope.setters().at(name.text)];
  Diag& diag = body.world.diags.error("E3001", name.span, "cycle: " + way);
  if (&setter != scope.statements[scope.position])
    diag.label(setter.span,
               fmt::format("'{}' needs '{}'", name.text, names_set_by(*scope.statements[scope.position])[0]));
  return true;
}

}  // namespace

void report_used_before_set(Body& body, Scope& scope, const ast::Name& name) {
  // The other values of a cycle need one another as well: it is said once.
  auto reported = [&](std::size_t statement) { return statement < scope.in_cycle.size() && scope.in_cycle[statement]; };
  if (reported(scope.position) && reported(scope.setters().at(name.text))) return;
  bool here = std::any_of(body.scopes.begin(), body.scopes.end(), [&](const Scope& s) { return &s == &scope; });
  if (here && report_cycle(body, scope, name)) return;
  const ast::Stmt& setter = *scope.statements[scope.setters().at(name.text)];
  not_set_yet(body.world.diags, name).label(setter.span, "set here, further down");
}

void report_output_before_set(Body& body, const ast::Name& name) {
  for (auto scope = body.scopes.rbegin(); scope != body.scopes.rend(); ++scope)
    if (scope->setters().contains(name.text)) return report_used_before_set(body, *scope, name);
  not_set_yet(body.world.diags, name);
}

}  // namespace taskspec::checking
