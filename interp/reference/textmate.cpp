#include "interp/reference/textmate.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/parse.hpp"
#include "ir/base/ascii.hpp"
#include "ir/base/text.hpp"
#include "ir/program/program.hpp"
#include "ir/types/precision.hpp"

namespace taskspec {

namespace {

bool is_name(std::string_view name) { return std::all_of(name.begin(), name.end(), is_word); }

std::string any_of_words(const std::vector<std::string>& words) { return "\\\\b(?:" + joined(words, "|") + ")\\\\b"; }

std::string rule(std::string_view name, const std::string& pattern) {
  return fmt::format("    {{ \"name\": \"{}\", \"match\": \"{}\" }}", name, pattern);
}

}  // namespace

std::string textmate_grammar(const Toolbox& tools) {
  std::vector<std::string> declarations, control, constants, types, functions;
  for (const std::string& word : keywords()) {
    if (word == "true" || word == "false")
      constants.push_back(word);
    else if (word == "agent" || word == "task" || word == "graph" || word == "fn" || word == "let" || word == "var" ||
             word == "fields" || word == "ir" || word == "region" || word == "import")
      declarations.push_back(word);
    else
      control.push_back(word);
  }
  for (const PrecisionInfo& precision : all_precisions()) types.emplace_back(precision.name);
  for (const char* host : {"float", "int", "range", "sharding", "string"}) types.emplace_back(host);
  for (const OpDef* op : tools.ops.all())
    if (is_name(op->name)) functions.emplace_back(op->name);
  for (const Builtin* builtin : tools.builtins.all()) functions.emplace_back(builtin->name);
  std::sort(functions.begin(), functions.end());
  functions.erase(std::unique(functions.begin(), functions.end()), functions.end());

  const std::vector<std::string> rules = {
      rule("comment.line.double-slash.task", "//.*$"),
      "    { \"name\": \"string.quoted.double.task\", \"begin\": \"\\\"\", \"end\": \"\\\"|$\", \"patterns\": [\n"
      "      { \"name\": \"constant.character.escape.task\", \"match\": "
      "\"\\\\\\\\(?:[ntr0\\\\\\\\\\\"]|u\\\\{[0-9a-fA-F]+\\\\})\" }\n"
      "    ] }",
      rule("constant.numeric.task",
           "\\\\b(?:0x[0-9a-fA-F_]+|[0-9][0-9_]*(?:\\\\.[0-9][0-9_]*)?(?:[eE][+-]?[0-9]+)?)\\\\b"),
      rule("storage.type.task", any_of_words(declarations)),
      rule("keyword.control.task", any_of_words(control)),
      rule("constant.language.task", any_of_words(constants)),
      rule("support.type.task", any_of_words(types)),
      rule("storage.modifier.task",
           any_of_words({slot_kind_words.begin(), slot_kind_words.end()}) + "(?=\\\\s+[A-Za-z_])"),
      rule("support.function.task", any_of_words(functions) + "(?=\\\\s*\\\\()"),
      rule("keyword.operator.task", "->|=>|>>|&&|\\\\|\\\\||[-+*/%@&|<>=!]=?|\\\\.\\\\."),
  };
  return "{\n  \"name\": \"taskspec\",\n  \"scopeName\": \"source.task\",\n  \"fileTypes\": [\"task\"],\n  "
         "\"patterns\": [\n" +
         joined(rules, ",\n") + "\n  ]\n}\n";
}

}  // namespace taskspec
