// Texts of the diagnostics that more than one part of the checker gives. Each adds the diagnostic and returns it,
// so that labels can follow.
//
//   unknown_name(diags, name, candidates).note("...");
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/ast.hpp"
#include "ir/base/diag.hpp"
#include "ir/types/type.hpp"

namespace taskspec::checking {

// "a var", "an output"
std::string with_article(std::string_view noun);

// ---- names ----
Diag& unknown_name(Diags& diags, const ast::Name& name, const std::vector<std::string>& candidates);
Diag& unknown_type(Diags& diags, const ast::Name& name);
void wildcard_as_name(Diags& diags, Span span);
// The error is at the later one of the two places.
void defined_twice(Diags& diags, std::string_view name, Span first, Span second);
// `whose` is "task 'energy'" or "f32[4]"; `members` is what it has, `kind` their name: "output".
Diag& no_member(Diags& diags, const ast::Name& name, const std::string& whose, std::string_view kind,
                const std::vector<std::string>& members);
// `part` names what has to be built first: "regions", "training".
Diag& not_built(Diags& diags, Span span, const std::string& construct, std::string_view part);

// ---- types ----
Diag& wrong_type(Diags& diags, Span span, const std::string& what, const Type& wanted, const Type& given);
Diag& wrong_type(Diags& diags, Span span, std::string message);

// ---- what cannot be changed ----
Diag& final_name(Diags& diags, Span span, std::string_view name, std::string_view what, Span declared);
Diag& read_only(Diags& diags, Span span, std::string_view name, const std::string& function, Span declared);
Diag& top_level_var(Diags& diags, const ast::Name& name, Span declared);

// ---- control ----
// `text` is the expression as written, `type` what it is.
Diag& graph_value(Diags& diags, Span span, const std::string& text, const Type& type);
Diag& not_set_yet(Diags& diags, const ast::Name& name);

}  // namespace taskspec::checking
