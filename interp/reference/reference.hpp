// The reference manual out of the records: what `taskspec doc`, `?name` of the prompt and the manual pages show.
//
//   record_text(tools, "sum")     // "sum(x, axis?)\n\nThe sum of ..."
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "interp/toolbox.hpp"

namespace taskspec {

// "clamp(x, lo, hi)": with defaults; a `?` where an operand may be left out without one. What several outputs are
// called stands behind: "topk(x, k, axis) -> (values, indices)".
std::string signature_text(const OpDef& op);
std::string signature_text(const Builtin& builtin);
std::string call_text(std::string_view name, std::span<const Operand> operands);

// A command of the prompt, which knows them itself: ":why", "[NAME]", "which rules end ...".
struct PromptCommand {
  std::string_view name, argument, help;
};

// What the language says of a word, sign or member; signature, doc and example of an op, builtin, module function or
// type; the long text of an error code. Nothing when there is none of this name. What is asked of a value goes by its
// name alone as well: "profile". No line end.
std::optional<std::string> record_text(const Toolbox& tools, std::string_view name);

// All names that have a record, and the nearest one to a word.
std::vector<std::string> record_names(const Toolbox& tools);

// One line per record, grouped.
std::string overview_text(const Toolbox& tools);

// The whole manual: the language and its tour, ops, builtins, modules, types, errors. HTML is one file without network
// requests.
std::string manual_markdown(const Toolbox& tools, std::span<const PromptCommand> commands = {});
std::string manual_html(const Toolbox& tools, std::span<const PromptCommand> commands = {});

}  // namespace taskspec
