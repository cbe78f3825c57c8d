// Syntax trees -> the typed program: names, modules, types with symbolic extents, effects, privileges.
//
//   Result<Program> program = check(sources, main, {.ops = ops, .builtins = builtins});
//   if (!program) render(program.diags(), sources);
//
//   y = k * x      ->      %0 parameter k : float   %1 parameter x : f32[N]   %2 op mul %0 %1 : f32[N]   write y %2
//
// Several errors per run, at most one per cause: whatever is wrong gets the type `error`, which agrees with all.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/ast.hpp"
#include "ir/base/result.hpp"
#include "ir/program.hpp"

namespace taskspec {

struct CheckOptions {
  const OpTable& ops;
  const BuiltinTable& builtins;
  std::vector<std::string> search_path = {};                      // folders after that of the importing file
  std::vector<std::pair<std::string, std::string>> defines = {};  // -D name=value
  bool at_prompt = false;                                         // names may be defined again
  // The text of a file; E7001 where there is none. Without it no file can be imported.
  std::function<std::string(const std::string& path)> read = {};
};

// Imported files are parsed on the way and added to `sources`, so that their diagnostics can be shown.
Result<Program> check(Sources& sources, SourceId main, const CheckOptions& options);

// A tree that was made otherwise than from a text; its `source` is where messages without a place belong.
Result<Program> check(Sources& sources, Ast tree, const CheckOptions& options);

// True if `-D name=...` means something in this program: a top-level let of the main file, or a parameter of
// its `fn main`.
bool takes_define(const Program& program, std::string_view name);

}  // namespace taskspec
