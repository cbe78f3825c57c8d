// The bodies of tasks, graphs and fns: statements, and what must be true at their end.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "frontend/check/blocks.hpp"
#include "frontend/check/declare.hpp"
#include "frontend/check/messages.hpp"
#include "frontend/check/ranks.hpp"
#include "frontend/check/statements.hpp"
#include "frontend/check/view_body.hpp"
#include "frontend/check/views.hpp"

namespace taskspec::checking {

namespace {

void require_outputs(Body& body, Span span) {
  const std::vector<Output> outputs = body.function().outputs;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (body.is_set[i] || body.info().broken) continue;
    bool never = body.missed[i].empty();
    Diag& diag =
        body.world.diags.error("E1006", outputs[i].span,
                               fmt::format("output '{}' of {} is {}", outputs[i].name, body.world.described(body.id),
                                           never ? "never set" : "not set on every path"));
    for (const Label& label : body.missed[i]) diag.label(label.span, label.text);
    if (never) diag.label({span.source, span.end - 1, span.end}, "the body ends here");
  }
}

void require_return(Body& body, const ast::Block& block) {
  const Type& result = body.function().result;
  if (result.is(Type::Kind::none) || body.info().broken || always_returns(block.stmts)) return;
  body.world.diags
      .error("E1006", body.function().span,
             fmt::format("{} may end without returning its {}", body.world.described(body.id), result.text()))
      .label({block.span.source, block.span.end - 1, block.span.end}, "it ends here");
}

}  // namespace

void check_function(World& world, FunctionId function) {
  FunctionInfo& info = world.info(function);
  if (info.stage != FunctionInfo::Stage::resolved) return;
  info.stage = FunctionInfo::Stage::checked;
  Body& body = *info.body;
  const std::optional<ast::Name>& external = info.fn ? info.fn->external : info.task->external;
  if (external) body.function().extern_symbol = external->text;
  // What a function of the host program does in C++ nobody knows.
  if (external && info.fn) info.effects.host.push_back({external->text, external->span});
  if (external && info.fn) body.function().extern_local = info.fn->local;
  const ast::Block* block = external          ? nullptr
                            : info.fn         ? &info.fn->body
                            : info.task->body ? &*info.task->body
                                              : nullptr;
  if (info.blocks) check_blocks_body(body);
  if (block) {
    const std::size_t told = world.diags.items().size();
    statements(body, block->stmts);
    if (body.function().kind == FunctionKind::fn)
      require_return(body, *block);
    else
      require_outputs(body, block->span);
    // What is wrong in the body may be why it does not write them.
    const auto& diags = world.diags.items();
    if (std::none_of(diags.begin() + static_cast<std::ptrdiff_t>(told), diags.end(),
                     [](const Diag& diag) { return diag.severity == Severity::error; }))
      require_views_written(body);
    info.failed = std::any_of(diags.begin() + static_cast<std::ptrdiff_t>(told), diags.end(),
                              [](const Diag& diag) { return diag.severity == Severity::error; });
  }
  body.finish();
  info.body.reset();
}

// What is checked may ask for tasks of other ranks, which are then pending.
void check_pending(World& world, ModuleId module) {
  std::vector<FunctionId> all;
  do {
    const std::vector<FunctionId> pending = std::exchange(world.file(module).pending, {});
    for (AgentId agent : std::exchange(world.file(module).pending_agents, {})) resolve_agent(world, agent);
    for (FunctionId function : pending) resolve_signature(world, function);
    for (FunctionId function : pending)
      world.info(function).written.valid() ? check_for_ranks(world, function) : check_function(world, function);
    all.insert(all.end(), pending.begin(), pending.end());
  } while (!world.file(module).pending.empty());
  for (FunctionId function : all) check_view_body(world, function);
}

}  // namespace taskspec::checking
