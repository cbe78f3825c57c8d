#include "frontend/check/mentions.hpp"

namespace taskspec::checking {

namespace {

// What stands directly inside of an expression or statement.
class Inside final : private ast::Parts {
 public:
  template <class Node>
  explicit Inside(const Node& node) {
    node.describe(*this);
    values.insert(values.end(), last_.begin(), last_.end());
  }
  std::vector<const ast::Expr*> values;  // in the order in which they are evaluated
  std::vector<const ast::Block*> blocks;
  const ast::Name* mentioned = nullptr;

 private:
  void value(const ast::Expr& expr) override { values.push_back(&expr); }
  void last_value(const ast::Expr& expr) override { last_.push_back(&expr); }
  void block(const ast::Block& block) override { blocks.push_back(&block); }
  void mention(const ast::Name& name) override { mentioned = &name; }

  std::vector<const ast::Expr*> last_;
};

void walk(const ast::Expr& expr, const Mention& visit, std::vector<const ast::Expr*>& around) {
  const Inside inside(expr);
  around.push_back(&expr);
  if (inside.mentioned) visit(*inside.mentioned, around);
  for (const ast::Expr* part : inside.values) walk(*part, visit, around);
  around.pop_back();
}

void walk(const ast::Expr& expr, FunctionRef<void(const ast::Expr&)> visit) {
  for (const ast::Expr* part : Inside(expr).values) walk(*part, visit);
  visit(expr);
}

}  // namespace

void each_mention(const ast::Expr& expr, const Mention& visit) {
  std::vector<const ast::Expr*> around;
  walk(expr, visit, around);
}

std::vector<const ast::Expr*> values_of(const ast::Stmt& statement) { return Inside(statement).values; }

void each_expression(const std::vector<const ast::Stmt*>& statements, FunctionRef<void(const ast::Expr&)> visit) {
  for (const ast::Stmt* statement : statements) {
    const Inside inside(*statement);
    for (const ast::Expr* value : inside.values) walk(*value, visit);
    for (const ast::Block* block : inside.blocks) {
      std::vector<const ast::Stmt*> inner;
      for (const ast::Stmt& stmt : block->stmts) inner.push_back(&stmt);
      each_expression(inner, visit);
    }
  }
}

}  // namespace taskspec::checking
