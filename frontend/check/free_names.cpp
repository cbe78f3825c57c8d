#include "frontend/check/free_names.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace taskspec::checking {

namespace {

// The names that an expression or statement binds, by where they are known.
class Bound final : private ast::Parts {
 public:
  template <class Node>
  explicit Bound(const Node& node) {
    node.describe(*this);
  }
  std::vector<std::string_view>& in(ast::KnownIn part) { return names_[static_cast<std::size_t>(part)]; }

 private:
  void bind(const ast::Pattern& pattern, ast::KnownIn part) override {
    for (const ast::Name& name : pattern.names) in(part).push_back(name.text);
  }

  std::array<std::vector<std::string_view>, 3> names_;
};

class FreeNames final : private ast::Parts {
 public:
  explicit FreeNames(FunctionRef<void(const ast::Name&)> visit) : visit_(visit) {}

  void operator()(const ast::Item& item) {
    std::visit([&](const auto& node) { read(node); }, item.node);
  }

 private:
  using KnownIn = ast::KnownIn;

  // ---- expressions, types and statements ----

  void mention(const ast::Name& name) override {
    if (std::ranges::find(bound_, name.text) == bound_.end()) visit_(name);
  }
  void value(const ast::Expr& expr) override { read(expr); }
  void target(const ast::Expr& expr) override { read(expr); }
  void type(const ast::TypeExpr& type) override { type.describe(*this); }

  void block(const ast::Block& block) override {
    const std::size_t outside = bound_.size();
    const std::vector<std::string_view> around = std::exchange(in_blocks_, {});
    bind(around);
    for (const ast::Stmt& statement : block.stmts) read(statement);
    in_blocks_ = around;
    bound_.resize(outside);
  }

  template <class Node>
  void read(const Node& node) {
    const std::size_t outside = bound_.size();
    Bound names(node);
    bind(names.in(KnownIn::node));
    std::swap(in_blocks_, names.in(KnownIn::blocks));
    node.describe(*this);
    std::swap(in_blocks_, names.in(KnownIn::blocks));
    bound_.resize(outside);
    bind(names.in(KnownIn::rest));
  }

  // ---- declarations ----

  void read(const ast::ImportDecl&) {}
  void read(const ast::FieldsDecl&) {}
  void read(const ast::IrDecl& blocks) {
    for (const ast::IrLine& line : blocks.lines)
      if (auto* block = std::get_if<ast::IrBlock>(&line.node)) {
        for (const auto* list : {&block->dims, &block->attributes})
          for (const ast::Arg& argument : *list) *this << argument.value;
        if (block->init) *this << *block->init;
      }
  }

  void read(const std::vector<ast::Param>& params) {
    for (const ast::Param& param : params) bound_.push_back(param.name.text);
    for (const ast::Param& param : params) *this << param.type << param.default_value;
  }

  void read(const ast::Results& results) {
    if (results.unnamed) bound_.emplace_back("value");
    for (const ast::Field& field : results.named) bound_.push_back(field.name.text);
    *this << results.unnamed;
    for (const ast::Field& field : results.named) *this << field.type;
  }

  void read(const ast::TaskDecl& task) {
    const std::size_t outside = bound_.size();
    read(task.params), read(task.results);
    if (task.body) *this << *task.body;
    bound_.resize(outside);
  }
  void read(const ast::FnDecl& fn) {
    const std::size_t outside = bound_.size();
    read(fn.params), read(fn.results);
    *this << fn.body;
    bound_.resize(outside);
  }

  void read(const ast::Slot& slot) {
    if (slot.type) *this << *slot.type;
    if (slot.init) *this << *slot.init;
  }

  void read(const ast::AgentDecl& agent) {
    const std::size_t outside = bound_.size();
    for (const ast::AgentMember& member : agent.members)
      std::visit([&](const auto& node) { bound_.push_back(node.name.text); }, member.node);
    read(agent.params);
    for (const ast::AgentMember& member : agent.members) std::visit([&](const auto& node) { read(node); }, member.node);
    bound_.resize(outside);
  }

  void bind(const std::vector<std::string_view>& names) { bound_.insert(bound_.end(), names.begin(), names.end()); }

  FunctionRef<void(const ast::Name&)> visit_;
  std::vector<std::string_view> bound_;      // the innermost last
  std::vector<std::string_view> in_blocks_;  // what the statement that is read binds in its blocks
};

}  // namespace

void each_free_name(const ast::Item& item, FunctionRef<void(const ast::Name&)> visit) { FreeNames{visit}(item); }

}  // namespace taskspec::checking
