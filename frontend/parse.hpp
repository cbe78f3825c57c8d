// Text -> syntax tree.
//
//   Result<Ast> ast = parse(sources, id);      // agent Scale(k: float) { ... }  ->  AgentDecl{Scale, [k: float], ...}
//   if (!ast) return ast.diags();              // E0001..E0006, E1004; at most one per statement
//
// Only the files named in grammar/README.md know that ANTLR does the work.
#pragma once
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/ast.hpp"
#include "ir/base/result.hpp"

namespace taskspec {

Result<Ast> parse(const Sources& sources, SourceId source);

// One expression and nothing after it: the value of `-D name=value`.
Result<ast::Expr> parse_expression(const Sources& sources, SourceId source);

// For a prompt: can this text only be the beginning of something? True at an open bracket or block, and after an
// operator or keyword that wants more; not at an open string, which ends on its line.
bool needs_more(std::string_view text);

// The words that the grammar keeps for itself, sorted.
std::vector<std::string> keywords();

// How hard the parser had to think. The grammar is kept so that no text gives an ambiguity or a full context: then
// the fast mode (SLL) decides as the full one (LL), and parsing is linear.
struct ParseReport {
  struct Mode {
    std::size_t ambiguities = 0;
    std::size_t full_contexts = 0;
    std::size_t errors = 0;
    std::size_t lookahead = 0;  // tokens looked at to decide, all decisions together
  };
  Mode sll, ll;
};
ParseReport parse_report(const Sources& sources, SourceId source);

}  // namespace taskspec
