// A program that is written while it runs: checker, interpreter and session that grow entry by entry. Below the
// workspace of a prompt and the C++ door.
//
//   LiveProgram live(tools, {}, settings);
//   live.enter("<1>", "let x = fill(f32[4], 2.0)");
//   LiveProgram::Step step = live.enter("<2>", "x * 3.0");
//   live.contents(live.value(step.entry->value))          // [6, 6, 6, 6]
#pragma once
#include "frontend/check.hpp"
#include "interp/control/build_graph.hpp"
#include "interp/control/deep_stack.hpp"
#include "interp/control/interpreter.hpp"
#include "interp/load.hpp"
#include "interp/open_session.hpp"
#include "interp/run_settings.hpp"
#include "ir/base/function_ref.hpp"
#include "ir/verify/verify.hpp"

namespace taskspec {

class LiveProgram {
 public:
  LiveProgram(const Toolbox& tools, const LoadOptions& load, RunSettings settings);
  ~LiveProgram();

  struct Step {
    std::optional<Checker::Entry> entry;  // nothing when it is wrong: then nothing has changed
    Diags diags;                          // of the check, or of the run when that failed
    int exit_code = 0;                    // 0, 1 wrong, 3 failed, 130 interrupted
    bool taken_back = false;              // it failed: what it declared is gone, what it did stays done
    std::optional<int> ended;             // exit(code) was called
  };
  // Checks and runs what stands next. `path` names the text in diagnostics.
  Step enter(const std::string& path, std::string text);
  Step enter(Ast tree);

  // Adds the first effect that failed meanwhile and was not told, whichever entry it is of.
  void tell_failed_effects(Step& step);

  // Relative paths that are not found are looked for beside this file, too.
  void read_beside(const std::string& path) { host_.beside = path; }
  // The type of an expression, without running it.
  Result<Type> type_of(const std::string& path, std::string text);
  Result<Type> type_of(Ast tree);
  Value value(VariableId variable) const;  // of the top level; none when it has no value
  // The contents of a tensor; runs what it needs. Throws Error.
  Array contents(const Value& tensor);
  // The graph as it is recorded, symbolic in its inputs; of a member with its agent. Throws Error.
  std::unique_ptr<GraphView> view(FunctionId graph, const Value& agent = {},
                                  ViewContents contents = ViewContents::none);

  // From here on top-level code uses another backend; what was made on the ones before stays there.
  void change_backend(const BackendChoice& choice);

  Sources& sources() { return checker_.sources(); }
  Checker& checker() { return checker_; }
  const Program& program() const { return checker_.program(); }
  Session& session() { return sessions_.back()->session(); }
  const Toolbox& tools() const { return tools_; }

 private:
  Step run(Result<Checker::Entry> checked);
  void advance(Step& step);
  void use(std::unique_ptr<OpenSession> session);
  // Runs on a deep stack; what is thrown comes out.
  void on_stack(FunctionRef<void()> body);

  DeepStack stack_;
  Toolbox tools_;
  RunSettings settings_;
  Checker checker_;
  HostContext host_;
  std::unique_ptr<Interpreter> interpreter_;
  std::vector<std::unique_ptr<OpenSession>> sessions_;  // the last one is in use
  Verified verified_;
  std::size_t modules_run_ = 1;  // the program's own and the imported ones that were run
};

}  // namespace taskspec
