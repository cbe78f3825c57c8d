// `taskspec graph --stage ops`: what the tasks of a file compute, op by op.
#include <algorithm>

#include "interp/cli/stages.hpp"
#include "interp/cli/terminal.hpp"
#include "interp/control/op_lists.hpp"

namespace taskspec::cli {

namespace {

std::string why_none(const Program& program, FunctionId task, const Diags& diags) {
  const Diag& diag = diags.items().front();
  const Span at = diag.primary.span.valid() ? diag.primary.span : program[task].span;
  return program.display_name(task) + ": no op list, " + program.sources.place(at) + ": " + diag.code.text() + ": " +
         diag.message + "\n";
}

bool is_shown(const Program& program, FunctionId id, const std::string& name) {
  const Function& function = program[id];
  return function.kind == FunctionKind::task && function.module == program.main_module &&
         (name.empty() || program.display_name(id) == name);
}

}  // namespace

std::vector<FunctionId> tasks_of(const Program& program, const std::string& name) {
  std::vector<FunctionId> tasks;
  for (std::size_t i = 0; i < program.functions.size(); ++i)
    if (is_shown(program, FunctionId(i), name)) tasks.emplace_back(i);
  std::ranges::stable_sort(tasks, {}, [&](FunctionId task) { return program[task].span.begin; });
  return tasks;
}

std::string ops_stage(const GraphFile& file, const Options& options, const Toolbox& tools) {
  const Program& program = file.program;
  std::string text;
  for (FunctionId task : tasks_of(program, options.graph)) {
    if (!text.empty()) text += "\n";
    Result<OpList> list = op_list(program, task, tools.ops, &interrupted());
    if (interrupted()) throw Error(list.diags());
    text += list ? op_list_text(program, *list) : why_none(program, task, list.diags());
  }
  return text;
}

}  // namespace taskspec::cli
