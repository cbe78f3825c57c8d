#include "frontend/check/free_names.hpp"

#include <algorithm>

#include "frontend/check/mentions.hpp"

namespace taskspec::checking {

namespace {

class FreeNames {
 public:
  explicit FreeNames(FunctionRef<void(const ast::Name&)> visit) : visit_(visit) {}

  void operator()(const ast::Item& item) {
    std::visit([&](const auto& node) { read(node); }, item.node);
  }

 private:
  template <class Node>
  void read(const Node&) {}  // binds nothing and names nothing

  // ---- expressions and types ----

  void read(const ast::Expr& expr) {
    const std::size_t outside = bound_.size();
    if (auto* name = std::get_if<ast::NameExpr>(&expr.node)) mention(name->name);
    if (auto* lambda = std::get_if<ast::Lambda>(&expr.node)) bind(lambda->params);
    if (auto* launch = std::get_if<ast::Launch>(&expr.node)) bind(launch->point);
    for (const ast::Expr* part : parts_of(expr)) read(*part);
    if (auto* cast = std::get_if<ast::Cast>(&expr.node)) read(*cast->type);
    bound_.resize(outside);
  }

  void read(const ast::ExprPtr& expr) {
    if (expr) read(*expr);
  }

  void read(const ast::TypeExpr& type) {
    std::visit([&](const auto& node) { read_type(node); }, type.node);
  }
  void read(const ast::TypePtr& type) {
    if (type) read(*type);
  }
  void read_type(const ast::NamedType& type) {
    mention(type.name);
    for (const ast::Expr& dim : type.dims) read(dim);
  }
  void read_type(const ast::ListType& type) { read(type.element); }
  void read_type(const ast::TupleType& type) {
    for (const ast::TypeExpr& part : type.parts) read(part);
  }
  void read_type(const ast::FnType& type) {
    for (const ast::TypeExpr& parameter : type.params) read(parameter);
    read(type.result);
  }

  // ---- statements ----

  void read(const ast::Stmt& statement) {
    std::visit([&](const auto& node) { read(node); }, statement.node);
  }

  void read(const ast::Block& block) {
    const std::size_t outside = bound_.size();
    for (const ast::Stmt& statement : block.stmts) {
      read(statement);
      if (auto* let = std::get_if<ast::Let>(&statement.node)) bind(let->pattern);
    }
    bound_.resize(outside);
  }

  void read(const ast::Let& let) { read(let.type), read(let.value); }
  void read(const ast::If& branch) {
    for (const ast::IfArm& arm : branch.arms) read(arm.condition), read(arm.body);
    if (branch.otherwise) read(*branch.otherwise);
  }
  void read(const ast::For& loop) {
    read(loop.domain);
    const std::size_t outside = bound_.size();
    bind(loop.pattern);
    read(loop.body);
    bound_.resize(outside);
  }
  void read(const ast::While& loop) { read(loop.condition), read(loop.body); }
  void read(const ast::Trace& trace) { read(trace.body); }
  void read(const ast::Return& node) { read(node.value); }
  void read(const ast::Assign& assign) { read(assign.target), read(assign.value); }
  void read(const ast::ExprStmt& statement) { read(statement.value); }

  // ---- declarations ----

  void read(const std::vector<ast::Param>& params) {
    for (const ast::Param& param : params) bound_.push_back(param.name.text);
    for (const ast::Param& param : params) read(param.type), read(param.default_value);
  }

  void read(const ast::Results& results) {
    if (results.unnamed) bound_.emplace_back("value");
    for (const ast::Field& field : results.named) bound_.push_back(field.name.text);
    read(results.unnamed);
    for (const ast::Field& field : results.named) read(field.type);
  }

  void read(const ast::TaskDecl& task) {
    const std::size_t outside = bound_.size();
    read(task.params), read(task.results);
    if (task.body) read(*task.body);
    bound_.resize(outside);
  }
  void read(const ast::FnDecl& fn) {
    const std::size_t outside = bound_.size();
    read(fn.params), read(fn.results), read(fn.body);
    bound_.resize(outside);
  }

  void read(const ast::Slot& slot) {
    if (slot.type) read(*slot.type);
    read(slot.init);
  }

  void read(const ast::AgentDecl& agent) {
    const std::size_t outside = bound_.size();
    for (const ast::AgentMember& member : agent.members)
      std::visit([&](const auto& node) { bound_.push_back(node.name.text); }, member.node);
    read(agent.params);
    for (const ast::AgentMember& member : agent.members) std::visit([&](const auto& node) { read(node); }, member.node);
    bound_.resize(outside);
  }

  // ---- names ----

  void bind(const ast::Pattern& pattern) {
    for (const ast::Name& name : pattern.names) bound_.push_back(name.text);
  }
  void mention(const ast::Name& name) {
    if (std::ranges::find(bound_, name.text) == bound_.end()) visit_(name);
  }

  FunctionRef<void(const ast::Name&)> visit_;
  std::vector<std::string_view> bound_;  // the innermost last
};

}  // namespace

void each_free_name(const ast::Item& item, FunctionRef<void(const ast::Name&)> visit) { FreeNames{visit}(item); }

}  // namespace taskspec::checking
