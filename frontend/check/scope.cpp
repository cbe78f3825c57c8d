#include "frontend/check/scope.hpp"

namespace taskspec::checking {

std::vector<std::string_view> names_set_by(const ast::Stmt& statement) {
  std::vector<std::string_view> names;
  if (auto* let = std::get_if<ast::Let>(&statement.node))
    for (const ast::Name& name : let->pattern.names) names.push_back(name.text);
  if (auto* assign = std::get_if<ast::Assign>(&statement.node))
    if (auto* name = std::get_if<ast::NameExpr>(&assign->target->node); name && assign->op.text == "=")
      names.push_back(name->name.text);
  return names;
}

const std::unordered_map<std::string_view, std::size_t>& Scope::setters() {
  if (!sets) {
    sets.emplace();
    for (std::size_t i = 0; i < statements.size(); ++i)
      for (std::string_view name : names_set_by(*statements[i])) sets->emplace(name, i);
  }
  return *sets;
}

}  // namespace taskspec::checking
