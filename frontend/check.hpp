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
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "frontend/ast.hpp"
#include "frontend/imported_model.hpp"
#include "ir/base/result.hpp"
#include "ir/blocks/block.hpp"
#include "ir/program/program.hpp"

namespace taskspec {

struct CheckOptions {
  const OpTable& ops;
  const BuiltinTable& builtins;
  BlockTable blocks = {};                                         // of Task IR
  std::vector<std::string> search_path = {};                      // folders after that of the importing file
  std::vector<std::string> prelude = {};                          // and of the modules that come with taskspec
  std::vector<std::pair<std::string, std::string>> defines = {};  // -D name=value
  bool at_prompt = false;                                         // names may be defined again
  // The text of a file; E7001 where there is none. Without it no file can be imported.
  std::function<std::string(const std::string& path)> read = {};
  // A model file as a module. Without it `import "net.onnx"` is not built.
  ImportModel import_model = {};
  std::optional<std::int64_t> time_steps = {};  // of every backend that has the option, whatever the text says
};

// Imported files are parsed on the way and added to `sources`, so that their diagnostics can be shown.
Result<Program> check(Sources& sources, SourceId main, const CheckOptions& options);

// A tree that was made otherwise than from a text; its `source` is where messages without a place belong.
Result<Program> check(Sources& sources, Ast tree, const CheckOptions& options);

namespace checking {
class Growth;
}

// A program that grows entry by entry: what a prompt and the C++ door use. An entry is checked as if it stood next in
// one file, but its names may be there already; what uses such a name is then checked again.
//
//   Checker checker(options);
//   Result<Checker::Entry> entry = checker.add(checker.sources().add("<1>", text));
//   if (entry) interpreter.advance(checker.program().main());
//
// All or nothing: after an error the program is what it was. Functions and agents never move, so values made by
// earlier entries keep what they were made of.
class Checker {
 public:
  explicit Checker(const CheckOptions& options);
  ~Checker();
  Sources& sources();  // of its program

  struct Broken {
    std::string name;
    std::string why;  // "'Scale' is defined again"
    Diags diags;      // what is wrong with it now; empty when it only uses something broken
  };
  struct Entry {
    std::vector<std::string> again;  // declarations checked again, as they use a name that is defined again
    std::vector<Broken> broken;      // likewise, but not valid any more: their names are gone
    VariableId value;                // of the expression at its end, also called `_`; invalid without one
  };
  Result<Entry> add(SourceId source);
  Result<Entry> add(Ast tree);

  // The type of an expression that stands next; nothing is added.
  Result<Type> type_of(SourceId source);
  Result<Type> type_of(Ast tree);

  // After an entry whose run failed: all names stand for what they stood for before it.
  void take_back();
  // What the last entry took: functions that were looked at, and changes of names and what they stand for.
  struct Work {
    std::size_t functions = 0, changes = 0;
  };
  Work work() const;
  // Lets that the last entry replaced and nothing can name any more, with the calls that made them.
  std::vector<std::pair<VariableId, CallId>> forgotten() const;

  // One name of the main file as a person sees it.
  struct Known {
    std::string name;
    std::string what;  // "let", "var", "task", "graph", "fn", "agent", "module"
    FunctionId function;
    AgentId agent;
    ModuleId module;
    VariableId variable;
    Span span;
  };
  std::vector<Known> names() const;                 // by name
  std::vector<Known> names(ModuleId module) const;  // of an imported file; private ones are left out
  const Program& program() const;

 private:
  std::unique_ptr<checking::Growth> growth_;
};

// True if `-D name=...` means something in this program: a top-level let of the main file, or a parameter of
// its `fn main`.
bool takes_define(const Program& program, std::string_view name);

}  // namespace taskspec
