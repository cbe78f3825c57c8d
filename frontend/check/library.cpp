#include "frontend/check/library.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/check/body.hpp"
#include "frontend/parse.hpp"

namespace taskspec::checking {

LinkedLibrary::LinkedLibrary(World& world, std::unique_ptr<Library> library, ModuleId module,
                             std::map<std::string, ModuleId> modules, Span import, std::string cure)
    : world_(world),
      library_(std::move(library)),
      module_(module),
      modules_(std::move(modules)),
      import_(import),
      cure_(std::move(cure)),
      source_(world.program.modules[module.index()].source),
      first_symbol_(world.reserve_symbols(library_->symbols())) {
  world_.program.proven = false;  // its extents were proven elsewhere: the run asks the rules again
  if (library_->has_lets()) {
    Library::Linked linked = library_->link_lets(host());
    settle(linked);
    define_lets();
    verify(linked);
  }
  if (library_->stored_hash() == library_->actual_hash()) return;
  link_all();  // names the declaration that was changed
  throw stale(fmt::format("library '{}' was changed after it was built", library_->name()), library_->stored_hash(),
              library_->actual_hash());
}

Library::Host LinkedLibrary::host() {
  return {world_.program,
          world_.options.ops,
          world_.options.builtins,
          world_.options.blocks,
          module_,
          source_,
          first_symbol_,
          [this](Function function) {
            FunctionId id = world_.add_function(std::move(function));
            world_.info(id).stage = FunctionInfo::Stage::checked;
            functions_end_ = world_.program.functions.size();
            return id;
          },
          [this](AgentDef agent) {
            AgentId id(world_.program.agents.size());
            world_.program.agents.push_back(std::move(agent));
            world_.agents.emplace_back();
            agents_end_ = world_.program.agents.size();
            return id;
          },
          [this](const std::string& module, const std::string& name) { return foreign(module, name); }};
}

// ---- names ----------------------------------------------------------------------------------------

void LinkedLibrary::define_lets() {
  FileScope& file = world_.file(module_);
  const Function& top = world_.program[world_.program.modules[module_.index()].top_level];
  for (CallId id : top.body.calls) {
    const Call& write = top[id];
    if (write.form != Form::write) continue;
    const Variable& variable = top.variables[write.variable.index()];
    Binding binding{.kind = Binding::Kind::global, .what = "let", .span = variable.span};
    binding.call = write.in[0];
    binding.variable = write.variable;
    binding.module = module_;
    file.lets.add(write.in[0].value, write.variable);
    file.values.add(write.variable.value, write.in[0]);
    file.names.put(variable.name, binding);
  }
}

std::optional<Binding> LinkedLibrary::find(std::string_view name) {
  const Library::Entry* entry = library_->find(name);
  if (!entry || name.find('.') != std::string_view::npos) return std::nullopt;
  return own_names().add(entry->name, link(*entry)).first->second;
}

std::optional<Binding> LinkedLibrary::member(AgentId agent, std::string_view name) {
  const std::string whole = world_.program[agent].name + "." + std::string(name);
  const Library::Entry* entry = library_->find(whole);
  if (!entry) return std::nullopt;
  Binding binding = link(*entry);
  if (binding.kind == Binding::Kind::function) binding.agent = agent;
  std::string_view own = std::string_view(entry->name).substr(entry->name.size() - name.size());
  return world_.info(agent).names.emplace(own, binding).first->second;
}

Binding LinkedLibrary::link(const Library::Entry& entry) {
  Binding binding{.what = entry.kind};
  if (broken_) return binding;
  try {
    Library::Linked linked = library_->link(entry.def, host());
    settle(linked);
    verify(linked);
  } catch (const Error& error) {
    world_.report(error, import_);
    broken_ = true;
    return binding;
  }
  Declared what = library_->at(entry.def);
  binding.kind = what.agent.valid() ? Binding::Kind::agent : Binding::Kind::function;
  binding.function = what.function;
  binding.agent = what.agent;
  binding.span = what.agent.valid() ? world_.program[what.agent].span : world_.program[what.function].span;
  return binding;
}

void LinkedLibrary::link_all() {
  for (const Library::Entry& entry : library_->entries()) {
    Library::Linked linked = library_->link(entry.def, host());
    settle(linked);
    verify(linked);
  }
}

std::vector<std::string> LinkedLibrary::names() const {
  std::vector<std::string> names;
  for (const Library::Entry& entry : library_->entries())
    if (entry.name.find('.') == std::string::npos) names.push_back(entry.name);
  return names;
}

std::vector<std::string> LinkedLibrary::members(AgentId agent) const {
  const std::string prefix = world_.program[agent].name + ".";
  std::vector<std::string> names;
  for (const Library::Entry& entry : library_->entries())
    if (entry.name.starts_with(prefix)) names.push_back(entry.name.substr(prefix.size()));
  return names;
}

Declared LinkedLibrary::foreign(const std::string& module, const std::string& name) {
  auto found = modules_.find(module);
  if (found == modules_.end())
    throw failure("E7003", import_, fmt::format("'{}' uses '{}' without importing it", library_->path(), module));
  if (name.empty()) return {.function = world_.program.modules[found->second.index()].top_level};
  std::size_t dot = name.find('.');
  std::optional<Binding> binding = world_.find(found->second, std::string_view(name).substr(0, dot));
  if (binding && binding->kind == Binding::Kind::agent && dot != std::string::npos)
    binding = world_.find(binding->agent, std::string_view(name).substr(dot + 1));
  if (binding && binding->kind == Binding::Kind::agent) return {.agent = binding->agent};
  if (binding && binding->kind == Binding::Kind::function) return {.function = binding->function};
  throw stale(fmt::format("library '{}' uses '{}.{}', which is not there any more", library_->name(), module, name));
}

// ---- what the checker knows of functions that it checked itself -----------------------------------

void LinkedLibrary::settle(const Library::Linked& linked) {
  for (auto [symbol, owner] : linked.symbols) world_.set_owner(symbol, owner);
  for (const auto& [what, def] : linked.defs)
    if (what.agent.valid())
      settle(what.agent);
    else
      settle(what.function);
}

namespace {

void collect(const Type& type, std::map<std::uint32_t, Symbol>& symbols) {
  for (const Dim& dim : type.dims)
    for (const Symbol& symbol : dim.symbols()) symbols.emplace(symbol->id, symbol);
  for (const Type& part : type.parts) collect(part, symbols);
}

// Where the int symbols of a signature come from: see SymbolSource.
std::map<std::uint32_t, SymbolSource> symbol_sources(const Function& function, std::size_t of_agent) {
  std::map<std::uint32_t, Symbol> symbols;
  std::size_t first = 0;  // declared parameter
  for (const Parameter& parameter : function.parameters) {
    collect(parameter.type, symbols);
    first += parameter.role == Role::declared ? 0 : 1;
  }
  for (const Output& output : function.outputs) collect(output.type, symbols);
  collect(function.result, symbols);
  std::map<std::uint32_t, SymbolSource> sources;
  for (const auto& [id, symbol] : symbols) {
    if (!symbol->host || symbol->call >= function.calls.size()) continue;
    const Call& call = function.calls[symbol->call];
    if (call.form == Form::global) sources[id] = {UINT32_MAX, call.module, call.variable};
    if (call.form != Form::parameter) continue;
    const bool declared = function.parameters[call.index].role == Role::declared;
    // Signatures count the parameters of the agent and the declared ones; captures and slots are not among them.
    std::size_t captures = 0;
    for (const Parameter& p : function.parameters) captures += p.role == Role::capture ? 1 : 0;
    std::size_t plain = declared ? call.index - first + of_agent : call.index - captures;
    sources[id] = {static_cast<std::uint32_t>(plain), {}, {}};
  }
  return sources;
}

}  // namespace

void LinkedLibrary::settle(FunctionId id) {
  const Function& function = world_.program[id];
  FunctionInfo& info = world_.info(id);
  const std::size_t of_agent = function.agent.valid() ? world_.program[function.agent].parameters.size() : 0;
  info.stage = FunctionInfo::Stage::checked;
  info.symbols = symbol_sources(function, of_agent);
  std::size_t plain = of_agent;
  for (const Parameter& parameter : function.parameters) {
    if (parameter.role != Role::declared) continue;
    info.defaults.resize(++plain);
    if (!parameter.default_value.valid()) continue;
    const Call& value = function[parameter.default_value];
    const bool known = value.form == Form::constant || value.form == Form::global;
    if (known && !value.value.is_none()) info.defaults.back() = value.value;
  }
  EffectNotes& effects = info.effects;
  if (function.effects.host) effects.host.push_back({world_.name_of(id), function.span});
  effects.graph = function.effects.graph;
  for (const Parameter& parameter : function.parameters)
    effects.writes = effects.writes || (parameter.privilege == Privilege::inout);
  for (const Call& call : function.calls) {
    effects.writes = effects.writes || !call.places.empty();
    effects.invokes = effects.invokes || call.form == Form::invoke;
    if (call.callee.valid()) effects.callees.push_back({call.callee, call.span, call.form == Form::invoke});
  }
}

// What A(args) reads of the syntax: names of the parameters, and their defaults.
void LinkedLibrary::settle(AgentId id) {
  const AgentDef& agent = world_.program[id];
  Ast& tree = world_.trees.emplace_back();
  tree.source = source_;
  ast::AgentDecl decl;
  decl.name = {agent.name, agent.span};
  for (const Parameter& parameter : agent.parameters) {
    ast::Param param;
    param.span = parameter.span;
    param.name = {parameter.name, parameter.span};
    param.type.span = parameter.span;
    if (std::string text = default_text(world_.sources, parameter); !text.empty()) {
      std::string name = fmt::format("{}: default of '{}'", library_->path(), parameter.name);
      Result<ast::Expr> value = parse_expression(world_.sources, world_.sources.add(std::move(name), std::move(text)));
      if (!value) throw Error(value.diags());
      param.default_value = std::make_unique<ast::Expr>(std::move(*value));
    }
    decl.params.push_back(std::move(param));
  }
  tree.items.push_back({agent.span, std::move(decl)});
  AgentInfo& info = world_.info(id);
  info.decl = &std::get<ast::AgentDecl>(tree.items.back().node);
  info.resolved = true;
}

// ---- hashes ---------------------------------------------------------------------------------------

Error LinkedLibrary::stale(std::string message, const std::string& stored, const std::string& found) const {
  Diag diag;
  diag.code = "E7006";
  diag.message = std::move(message);
  diag.primary.span = import_;
  if (!stored.empty()) diag.note(fmt::format("stored hash {}, found {}", stored, found));
  diag.help(cure_);
  return Error(std::move(diag));
}

void LinkedLibrary::verify(const Library::Linked& linked) {
  ContentHashes hashes(world_.program, world_.sources);
  for (const Library::Foreign& used : linked.foreign) {
    std::string found = hashes.of(used.what).text();
    if (found == used.hash) continue;
    throw stale(fmt::format("library '{}' was built with another '{}'", library_->name(), used.name), used.hash, found);
  }
  for (const auto& [what, def] : linked.defs) {
    const Library::Entry* entry = library_->entry_of(def);
    if (!entry) continue;
    std::string found = hashes.of(what).text();
    if (found == entry->hash) continue;
    throw stale(
        fmt::format("{} '{}' of library '{}' is not what was built", entry->kind, entry->name, library_->name()),
        entry->hash, found);
  }
}

void LinkedLibrary::forget() {
  const std::size_t functions = world_.program.functions.size(), agents = world_.program.agents.size();
  broken_ = false;
  if (functions >= functions_end_ && agents >= agents_end_) return;  // they were not of this library
  functions_end_ = std::min(functions_end_, functions);
  agents_end_ = std::min(agents_end_, agents);
  library_->forget(functions, agents);
  auto is_gone = [&](const auto& named) {
    const Binding& b = named.second;
    return (b.function.valid() && b.function.index() >= functions) || (b.agent.valid() && b.agent.index() >= agents);
  };
  std::vector<std::string_view> gone;
  for (const auto& named : own_names())
    if (is_gone(named)) gone.push_back(named.first);
  for (std::string_view name : gone) own_names().remove(name);
  for (std::size_t i = 0; i < agents; ++i) {
    AgentDef& agent = world_.program.agents[i];
    if (agent.module != module_) continue;
    std::erase_if(world_.agents[i].names, is_gone);
    std::erase_if(agent.members, [&](FunctionId member) { return member.index() >= functions; });
  }
}

}  // namespace taskspec::checking
