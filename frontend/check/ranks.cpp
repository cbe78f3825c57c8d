#include "frontend/check/ranks.hpp"

#include <algorithm>
#include <utility>

#include "frontend/check/declare.hpp"

namespace taskspec::checking {

bool is_of_any_rank(const World& world, FunctionId task, std::size_t parameter) {
  const ast::TaskDecl* decl = world.infos[task.index()].task;
  if (!decl || parameter >= decl->params.size()) return false;
  auto* named = std::get_if<ast::NamedType>(&decl->params[parameter].type.node);
  if (!named || named->dims.size() != 1) return false;
  auto* extent = std::get_if<ast::NameExpr>(&named->dims[0].node);
  return extent && extent->name.text == "_";
}

FunctionId task_of_ranks(Body& body, FunctionId task, const std::vector<std::uint8_t>& ranks, Span call) {
  if (std::ranges::all_of(ranks, [](std::uint8_t rank) { return rank <= 1; })) return task;
  World& world = body.world;
  // An entry of a prompt that failed took its tasks with it, and others have their numbers.
  auto known = world.info(task).by_ranks.find(ranks);
  if (known != world.info(task).by_ranks.end() && known->second.index() < world.infos.size()) {
    const FunctionInfo& made = world.info(known->second);
    if (made.task == world.info(task).task && made.ranks == ranks) return known->second;
  }
  const Function& written = world.program[task];
  Function function;
  function.kind = written.kind;
  function.name = written.name;
  function.agent = written.agent;
  function.module = written.module;
  function.span = written.span;
  const FunctionId made = world.add_function(std::move(function));
  FunctionInfo& info = world.info(made);
  info.task = world.info(task).task;
  info.ranks = ranks;
  info.of_ranks_in = call;
  info.written = task;
  world.info(task).by_ranks[ranks] = made;
  resolve_signature(world, made);
  world.file(body.function().module).pending.push_back(made);
  return made;
}

void check_for_ranks(World& world, FunctionId task) {
  const FunctionInfo& info = world.info(task);
  Diags before = std::exchange(world.diags, Diags());
  check_function(world, task);
  const Diags found = std::exchange(world.diags, std::move(before));
  if (world.info(info.written).failed) return;
  for (Diag diag : found.items()) {
    if (diag.severity == Severity::error) diag.label(info.of_ranks_in, "checked for the ranks of this call");
    world.diags.add(std::move(diag));
  }
}

}  // namespace taskspec::checking
