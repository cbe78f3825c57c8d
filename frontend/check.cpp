#include "frontend/check.hpp"

#include <algorithm>

#include "frontend/check/effects.hpp"
#include "frontend/check/growth.hpp"
#include "frontend/check/modules.hpp"
#include "frontend/parse.hpp"

namespace taskspec {

namespace {

Result<Program> checked(Sources& sources, SourceId main, std::optional<Ast> tree, const CheckOptions& options) {
  checking::World world(sources, options);
  try {
    checking::check_program(world, main, std::move(tree));
    checking::infer_effects(world);
  } catch (const Error& error) {
    world.report(error, {main, 0, 0});
  }
  Diags sorted;
  for (Diag& diag : world.diags.sorted()) sorted.add(std::move(diag));
  if (sorted.has_errors()) return sorted;
  world.program.sources = sources;
  return {std::move(world.program), std::move(sorted)};
}

}  // namespace

Result<Program> check(Sources& sources, SourceId main, const CheckOptions& options) {
  return checked(sources, main, std::nullopt, options);
}

Result<Program> check(Sources& sources, Ast tree, const CheckOptions& options) {
  SourceId main = tree.source;
  return checked(sources, main, std::move(tree), options);
}

Checker::Checker(const CheckOptions& options) : growth_(std::make_unique<checking::Growth>(options)) {}
Checker::~Checker() = default;
Sources& Checker::sources() { return growth_->world().sources; }

Result<Checker::Entry> Checker::add(SourceId source) {
  Result<Ast> tree = parse(growth_->world().sources, source);
  if (!tree) return tree.diags();
  return add(std::move(*tree));
}

Result<Checker::Entry> Checker::add(Ast tree) { return growth_->add(std::move(tree)); }
Result<Type> Checker::type_of(SourceId source) {
  Result<Ast> tree = parse(growth_->world().sources, source);
  if (!tree) return tree.diags();
  return growth_->type_of(std::move(*tree));
}
Result<Type> Checker::type_of(Ast tree) { return growth_->type_of(std::move(tree)); }
Checker::Work Checker::work() const { return growth_->work(); }
void Checker::take_back() { growth_->take_back(); }
std::vector<std::pair<VariableId, CallId>> Checker::forgotten() const { return growth_->forgotten(); }
std::vector<Checker::Known> Checker::names() const { return growth_->names(program().main_module); }
std::vector<Checker::Known> Checker::names(ModuleId module) const {
  std::vector<Known> list = growth_->names(module);
  std::erase_if(list, [](const Known& known) { return known.name.starts_with("_"); });
  return list;
}
const Program& Checker::program() const { return growth_->world().program; }

bool takes_define(const Program& program, std::string_view name) {
  const Module& main = program.main();
  for (const Variable& variable : program[main.top_level].variables)
    if (!variable.is_mutable && variable.name == name && name != "_") return true;  // `_` holds a guarded value
  for (const Function& function : program.functions) {
    bool is_main = function.kind == FunctionKind::fn && function.name == "main" && !function.agent.valid() &&
                   &program.modules[function.module.index()] == &main;
    auto named = [&](const Parameter& p) { return p.name == name; };
    if (is_main && std::any_of(function.parameters.begin(), function.parameters.end(), named)) return true;
  }
  return false;
}

}  // namespace taskspec
