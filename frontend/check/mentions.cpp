#include "frontend/check/mentions.hpp"

namespace taskspec::checking {

namespace {

struct Parts {
  std::vector<const ast::Expr*> list;

  void add(const ast::ExprPtr& expr) {
    if (expr) list.push_back(expr.get());
  }
  void add(const std::vector<ast::Expr>& exprs) {
    for (const ast::Expr& expr : exprs) list.push_back(&expr);
  }

  template <class Literal>
  void operator()(const Literal&) {}
  void operator()(const ast::TupleExpr& node) { add(node.parts); }
  void operator()(const ast::ListExpr& node) { add(node.parts); }
  void operator()(const ast::Member& node) { add(node.base); }
  void operator()(const ast::Call& node) {
    add(node.callee);
    for (const ast::Arg& arg : node.args) add(arg.value);
  }
  void operator()(const ast::Index& node) {
    add(node.base);
    for (const ast::IndexItem& item : node.items) add(item.at), add(item.low), add(item.high);
  }
  void operator()(const ast::Unary& node) { add(node.operand); }
  void operator()(const ast::Binary& node) { add(node.left), add(node.right); }
  void operator()(const ast::RangeExpr& node) { add(node.low), add(node.high); }
  void operator()(const ast::Cast& node) { add(node.value); }
  void operator()(const ast::Lambda& node) { add(node.body); }
  void operator()(const ast::Launch& node) { add(node.call), add(node.domain), add(node.sharding); }
  void operator()(const ast::Run& node) { add(node.backend), add(node.call); }
};

void walk(const ast::Expr& expr, const Mention& visit, std::vector<const ast::Expr*>& around) {
  around.push_back(&expr);
  if (auto* name = std::get_if<ast::NameExpr>(&expr.node)) visit(name->name, around);
  for (const ast::Expr* part : parts_of(expr)) walk(*part, visit, around);
  around.pop_back();
}

void walk(const ast::Expr& expr, FunctionRef<void(const ast::Expr&)> visit) {
  for (const ast::Expr* part : parts_of(expr)) walk(*part, visit);
  visit(expr);
}

std::vector<const ast::Block*> blocks_of(const ast::Stmt& statement) {
  std::vector<const ast::Block*> blocks;
  if (auto* node = std::get_if<ast::If>(&statement.node)) {
    for (const ast::IfArm& arm : node->arms) blocks.push_back(&arm.body);
    if (node->otherwise) blocks.push_back(&*node->otherwise);
  }
  if (auto* node = std::get_if<ast::For>(&statement.node)) blocks.push_back(&node->body);
  if (auto* node = std::get_if<ast::While>(&statement.node)) blocks.push_back(&node->body);
  return blocks;
}

}  // namespace

std::vector<const ast::Expr*> parts_of(const ast::Expr& expr) {
  Parts parts;
  std::visit(parts, expr.node);
  return parts.list;
}

void each_mention(const ast::Expr& expr, const Mention& visit) {
  std::vector<const ast::Expr*> around;
  walk(expr, visit, around);
}

std::vector<const ast::Expr*> values_of(const ast::Stmt& statement) {
  Parts parts;
  if (auto* node = std::get_if<ast::Let>(&statement.node)) parts.add(node->value);
  if (auto* node = std::get_if<ast::Assign>(&statement.node)) parts.add(node->value);
  if (auto* node = std::get_if<ast::ExprStmt>(&statement.node)) parts.add(node->value);
  if (auto* node = std::get_if<ast::Return>(&statement.node)) parts.add(node->value);
  if (auto* node = std::get_if<ast::For>(&statement.node)) parts.add(node->domain);
  if (auto* node = std::get_if<ast::While>(&statement.node)) parts.add(node->condition);
  if (auto* node = std::get_if<ast::If>(&statement.node))
    for (const ast::IfArm& arm : node->arms) parts.add(arm.condition);
  return parts.list;
}

void each_expression(const std::vector<const ast::Stmt*>& statements, FunctionRef<void(const ast::Expr&)> visit) {
  for (const ast::Stmt* statement : statements) {
    for (const ast::Expr* value : values_of(*statement)) walk(*value, visit);
    for (const ast::Block* block : blocks_of(*statement)) {
      std::vector<const ast::Stmt*> inner;
      for (const ast::Stmt& stmt : block->stmts) inner.push_back(&stmt);
      each_expression(inner, visit);
    }
  }
}

}  // namespace taskspec::checking
