#include "frontend/check/world.hpp"

#include <algorithm>

#include "frontend/check/body.hpp"
#include "frontend/check/library.hpp"

namespace taskspec::checking {

FunctionInfo::FunctionInfo() = default;
FunctionInfo::~FunctionInfo() = default;

FileScope::FileScope() = default;
FileScope::~FileScope() = default;

void EffectNotes::back_to(const Mark& mark) {
  host.resize(std::min(host.size(), mark.host));
  callees.resize(std::min(callees.size(), mark.callees));
  graph = mark.graph;
  writes = mark.writes;
  invokes = mark.invokes;
}

void Givers::find(const Function& function) {
  variables.resize(function.variables.size());
  for (; seen < function.calls.size(); ++seen) {
    const Call& call = function.calls[seen];
    if (call.form->writes())
      variables[call.variable.index()].emplace_back(seen);
    else if (call.form->leaves == FormRecord::Leaves::function)
      returns.emplace_back(seen);
  }
}

void Givers::cut(const Function& function, std::size_t calls) {
  for (; seen > calls; --seen) {
    const Call& call = function.calls[seen - 1];
    if (call.form->writes()) variables[call.variable.index()].pop_back();
    if (call.form->leaves == FormRecord::Leaves::function) returns.pop_back();
  }
}

World::World(Sources& s, const CheckOptions& o) : sources(s), options(o) {}
World::World(const CheckOptions& o) : sources(program.sources), options(o) {}
World::~World() = default;

FunctionId World::add_function(Function function) {
  FunctionId id(program.functions.size());
  program.functions.push_back(std::move(function));
  infos.emplace_back();
  return id;
}

std::string World::described(FunctionId id) const {
  static constexpr const char* kinds[] = {"fn", "task", "graph", "module"};
  return std::string(kinds[static_cast<int>(program[id].kind)]) + " '" + name_of(id) + "'";
}

std::optional<Binding> World::find(ModuleId module, std::string_view name) {
  FileScope& scope = file(module);
  if (auto found = scope.names.find(name); found != scope.names.end()) return found->second;
  return scope.library ? scope.library->find(name) : std::nullopt;
}

std::optional<Binding> World::find(AgentId agent, std::string_view name) {
  const Names& own = info(agent).names;
  if (auto found = own.find(name); found != own.end()) return found->second;
  LinkedLibrary* library = file(program[agent].module).library.get();
  return library ? library->member(agent, name) : std::nullopt;
}

std::vector<std::string> World::names(ModuleId module) const {
  const FileScope& scope = files[module.index()];
  std::vector<std::string> list;
  if (scope.library) list = scope.library->names();
  for (const auto& [name, binding] : scope.names)
    if (binding.kind != Binding::Kind::error) list.emplace_back(name);
  std::sort(list.begin(), list.end());
  list.erase(std::unique(list.begin(), list.end()), list.end());
  return list;
}

std::vector<std::string> World::members(AgentId agent) const {
  if (const LinkedLibrary* library = files[program[agent].module.index()].library.get()) return library->members(agent);
  std::vector<std::string> list;
  for (FunctionId member : program[agent].members) list.push_back(program[member].name);
  return list;
}

std::uint32_t World::reserve_symbols(std::uint32_t count) {
  const std::uint32_t first = program.symbols;
  program.symbols += count;
  owners_.resize(program.symbols);
  return first;
}

void World::set_owner(std::uint32_t symbol, FunctionId owner) {
  if (symbol < owners_.size() && !owners_[symbol].valid()) owners_[symbol] = owner;
}

Symbol World::symbol(std::string name, bool host, CallId call, FunctionId owner) {
  std::uint32_t id = program.symbols++;
  owners_.push_back(owner);
  return std::make_shared<const SymbolInfo>(SymbolInfo{std::move(name), id, host, call.value});
}

FunctionId World::owner(const Symbol& symbol) const {
  return symbol->id < owners_.size() ? owners_[symbol->id] : FunctionId();
}

void World::report(const Error& error, Span span) {
  for (Diag diag : error.diags().items()) {
    if (!diag.primary.span.valid()) diag.primary.span = span;
    diags.add(std::move(diag));
  }
}

}  // namespace taskspec::checking
