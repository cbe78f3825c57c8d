#include "frontend/check/messages.hpp"

#include <fmt/format.h>

#include "frontend/check/foreign.hpp"
#include "ir/base/text.hpp"
#include "ir/types/precision.hpp"

namespace taskspec::checking {

std::string with_article(std::string_view noun) {
  bool vowel = std::string_view("aeiou").find(noun.front()) != std::string_view::npos;
  return fmt::format("{} {}", vowel ? "an" : "a", noun);
}

namespace {

void suggest(Diag& diag, std::string_view name, const std::vector<std::string>& candidates) {
  if (std::optional<std::string> best = nearest(name, candidates)) diag.help(fmt::format("did you mean '{}'?", *best));
}

}  // namespace

// ---- names ----------------------------------------------------------------------------------------

Diag& unknown_name(Diags& diags, const ast::Name& name, const std::vector<std::string>& candidates) {
  Diag& diag = diags.error("E1001", name.span, fmt::format("unknown name '{}'", name.text));
  if (const std::string_view known = foreign_name(name.text); !known.empty())
    diag.help(std::string(known));
  else
    suggest(diag, name.text, candidates);
  return diag;
}

Diag& unknown_type(Diags& diags, const ast::Name& name) {
  Diag& diag = diags.error("E1001", name.span, fmt::format("unknown type '{}'", name.text));
  std::vector<std::string> candidates{"int", "float", "bool", "string", "range", "sharding"};
  for (const PrecisionInfo& precision : all_precisions()) candidates.emplace_back(precision.name);
  if (const std::string_view known = foreign_type(name.text); !known.empty())
    diag.help(std::string(known));
  else
    suggest(diag, name.text, candidates);
  return diag;
}

void wildcard_as_name(Diags& diags, Span span) {
  diags.error("E1001", span, "'_' stands for any extent and is only a name in types");
}

void defined_twice(Diags& diags, std::string_view name, Span first, Span second) {
  bool in_order = !first.valid() || first.source != second.source || first.begin < second.begin;
  Diag& diag = diags.error("E1005", in_order ? second : first, fmt::format("'{}' is defined twice", name));
  if (first.valid()) diag.label(in_order ? first : second, "first defined here");
}

Diag& no_member(Diags& diags, const ast::Name& name, const std::string& whose, std::string_view kind,
                const std::vector<std::string>& members) {
  std::string list = members.empty() ? "" : fmt::format("; {}s: {}", kind, joined(members, ", "));
  Diag& diag = diags.error("E1002", name.span, fmt::format("{} has no {} '{}'{}", whose, kind, name.text, list));
  suggest(diag, name.text, members);
  return diag;
}

Diag& not_built(Diags& diags, Span span, const std::string& construct, std::string_view part) {
  return diags.error("E1009", span, fmt::format("{} needs a part that is not built yet: {}", construct, part));
}

// ---- types ----------------------------------------------------------------------------------------

Diag& wrong_type(Diags& diags, Span span, const std::string& what, const Type& wanted, const Type& given) {
  Diag& diag = diags.error("E1004", span, fmt::format("{} is {}, this is {}", what, wanted.text(), given.text()));
  bool host_source = given.is(Type::Kind::list) || given.is_number() || given.is(Type::Kind::boolean);
  const std::string written =
      wanted.is_tensor() && wanted.rank() == 0 ? std::string(info(wanted.precision).name) : wanted.text();
  if (wanted.is_tensor() && host_source) diag.help(fmt::format("make it a tensor: as {}", written));
  if (given.is_tensor() && wanted.is_host() && !wanted.is(Type::Kind::string))
    diag.help(wanted.is(Type::Kind::list) ? "receive its contents with .array" : "receive its value with .scalar");
  if (wanted.is(Type::Kind::integer) && given.is(Type::Kind::real)) diag.help("round it: as int");
  if (wanted.fields.valid() && given.fields.valid() && wanted.fields != given.fields &&
      wanted.names[0] == given.names[0])
    diag.help(
        fmt::format("there are two declarations of fields '{}': after the second one enter again what takes such "
                    "regions, and make the regions again",
                    wanted.names[0]));
  return diag;
}

Diag& wrong_type(Diags& diags, Span span, std::string message) {
  return diags.error("E1004", span, std::move(message));
}

// ---- what cannot be changed -----------------------------------------------------------------------

Diag& final_name(Diags& diags, Span span, std::string_view name, std::string_view what, Span declared) {
  Diag& diag = diags.error("E1007", span, fmt::format("'{}' is {} and cannot be changed", name, with_article(what)));
  if (declared.valid()) diag.label(declared, "defined here");
  if (what == "let") diag.help("define it with var");
  if (what == "parameter") diag.help(fmt::format("copy it into a var of its own"));
  return diag;
}

Diag& read_only(Diags& diags, Span span, std::string_view name, const std::string& function, Span declared) {
  Diag& diag = diags.error("E1401", span, fmt::format("'{}' is read-only in {}", name, function));
  if (declared.valid()) diag.label(declared, "declared here");
  return diag;
}

Diag& top_level_var(Diags& diags, const ast::Name& name, Span declared) {
  return diags.error("E1010", name.span, fmt::format("'{}' is a top-level var; functions see only lets", name.text))
      .label(declared, "defined here")
      .help("pass it as an argument");
}

// ---- control --------------------------------------------------------------------------------------

Diag& graph_value(Diags& diags, Span span, const std::string& text, const Type& type) {
  const bool simple = text.find_first_of(" +-*/%@<>=!&|") == std::string::npos;
  const std::string tensor = simple ? text : "(" + text + ")";
  const bool many = type.is_tensor() && same(type.elements(), Dim(1)) == Same::no && type.elements().is_constant();
  Diag& diag = diags.error("E1301", span,
                           fmt::format("'{}' is a graph value; host control needs an explicit receive: {}{}", text,
                                       tensor, many ? ".array" : ".scalar"));
  if (many)
    diag.help(fmt::format("{}.array is a list of all elements; to test one number, reduce them first: {}.max().scalar",
                          tensor, tensor));
  return diag;
}

Diag& not_set_yet(Diags& diags, const ast::Name& name) {
  return diags.error("E1006", name.span, fmt::format("'{}' is not set yet", name.text));
}

}  // namespace taskspec::checking
