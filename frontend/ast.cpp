#include "frontend/ast.hpp"

namespace taskspec {

Ast::Ast(SourceId from) : source(from) {}
Ast::Ast(SourceId from, std::vector<ast::Item> of) : source(from), items(std::move(of)) {}
Ast::Ast(Ast&&) noexcept = default;
Ast& Ast::operator=(Ast&&) noexcept = default;
Ast::~Ast() = default;

}  // namespace taskspec
