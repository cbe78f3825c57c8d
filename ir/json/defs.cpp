#include "ir/json/defs.hpp"

#include "ir/json/recorded.hpp"
#include "ir/program/top_level.hpp"

namespace taskspec {

namespace {

constexpr std::uint32_t unlisted = UINT32_MAX;

// Gives calls and variables their positions, in the order in which the file lists them.
FunctionNumbers numbered(const Function& function) {
  FunctionNumbers numbers;
  numbers.calls.assign(function.calls.size(), unlisted);
  numbers.variables.assign(function.variables.size(), unlisted);
  auto variable = [&](VariableId id) {
    if (!id.valid() || numbers.variables[id.index()] != unlisted) return;
    numbers.variables[id.index()] = static_cast<std::uint32_t>(numbers.variable_order.size());
    numbers.variable_order.push_back(id);
  };
  auto call = [&](CallId id) {
    numbers.calls[id.index()] = static_cast<std::uint32_t>(numbers.call_order.size());
    numbers.call_order.push_back(id);
    if (function[id].form != Form::global) variable(function[id].variable);
    for (const Place& place : function[id].places) variable(place.variable);
  };
  for (const Parameter& parameter : function.parameters) variable(parameter.variable);
  for (const Output& output : function.outputs) variable(output.variable);
  for (const Parameter& parameter : function.parameters) each_call(function, parameter.default_block, call);
  each_call(function, function.body, call);
  return numbers;
}

void add_types(SymbolNames& names, const Value& value) {
  if (value.is_type()) names.add(value.type());
  const List* items = value.is_list() ? &value.list() : value.is_tuple() ? &value.tuple().items : nullptr;
  if (items)
    for (const Value& item : *items) add_types(names, item);
}

void collect_symbols(const Function& function, FunctionNumbers& numbers) {
  SymbolNames& names = numbers.symbols;
  for (const Symbol& symbol : function.dimensions) names.add(symbol);
  for (const Parameter& parameter : function.parameters) names.add(parameter.type);
  for (const Output& output : function.outputs) names.add(output.type);
  names.add(function.result);
  for (VariableId id : numbers.variable_order) names.add(function.variables[id.index()].type);
  for (CallId id : numbers.call_order) {
    const Call& call = function[id];
    names.add(call.type);
    if (call.symbol) names.add(call.symbol);
    add_types(names, call.value);
    for (const Guard& guard : call.guards) {
      names.add(guard.left);
      names.add(guard.right);
    }
  }
}

}  // namespace

Defs::Defs(const Program& program, FunctionId function, const TaskGraph& graph) : program_(program) {
  reach_nodes(graph);
  if (function.valid()) reach(function);
  for (FunctionId inside : embedded_functions(graph)) reach(inside);
  for (const Scope& scope : graph.scopes())
    if (scope.function.valid()) reach(scope.function);
  for (const AgentInstance& agent : graph.agents()) reach(agent.definition);
  reach_bodies();
  reach_modules();
  number_functions();
}

Defs::Defs(const Program& program, const std::vector<Def>& roots, IsForeign is_foreign, bool canonical)
    : program_(program), is_foreign_(std::move(is_foreign)), canonical_(canonical) {
  for (const Def& root : roots)
    if (root.kind == Def::Kind::agent)
      reach(root.agent);
    else
      reach(root.function);
  reach_bodies();
  refs_.resize(all_.size());
  number_functions();
}

std::string Defs::text(const Type& type, FunctionId in) const {
  return type_text(type, numbers(in).symbols,
                   {[this](AgentId id) { return of(id); }, [this](FieldsId id) { return of(id); }});
}

// ---- what is reached ------------------------------------------------------------------------------

void Defs::reach_nodes(const TaskGraph& graph) {
  of_node_.assign(graph.definitions().size(), SIZE_MAX);
  for (std::size_t i = 0; i < graph.size(); ++i) {
    DefinitionId id = graph[NodeId(i)].definition;
    std::size_t& def = of_node_[id.index()];
    if (def != SIZE_MAX) continue;
    const Definition& definition = graph.definitions()[id.index()];
    if (definition.op) {
      reach(*definition.op);
      def = of(*definition.op);
    } else if (definition.function.valid()) {
      reach(definition.function);
      def = of(definition.function);
      if (definition.structured()) reach_inside(definition);
    } else {
      def = all_.size();
      all_.push_back({.kind = Def::Kind::native, .native = id});
    }
  }
}

// The ops that the graphs of its bodies name.
void Defs::reach_inside(const Definition& definition) {
  const Function& function = program_[definition.function];
  auto visit = [&](CallId id) {
    if (function[id].op) reach(*function[id].op);
  };
  if (!definition.call.valid()) return each_call(function, function.body, visit);
  for (const Block& block : function[definition.call].blocks) each_call(function, block, visit);
}

void Defs::reach(const OpDef& op) {
  if (ops_.emplace(&op, all_.size()).second) all_.push_back({.kind = Def::Kind::op, .op = &op});
}

void Defs::reach(FunctionId id) {
  auto [place, added] = functions_.emplace(id, all_.size());
  if (added) all_.push_back({.kind = Def::Kind::function, .function = id});
  refer(place->second);
}

void Defs::reach(AgentId id) {
  auto [place, added] = agents_.emplace(id, all_.size());
  if (added) all_.push_back({.kind = Def::Kind::agent, .agent = id});
  refer(place->second);
}

// Roots are named by nobody.
void Defs::refer(std::size_t to) {
  if (of_library() && !refs_.empty() && referred_.insert(to).second) refs_.back().push_back(to);
}

void Defs::reach(FieldsId id) {
  auto [place, added] = tables_.emplace(id, all_.size());
  if (added) all_.push_back({.kind = Def::Kind::fields, .fields = id});
  refer(place->second);
}

void Defs::reach(const Type& type) {
  if (type.is(Type::Kind::agent)) reach(type.agent);
  if (type.fields.valid()) reach(type.fields);
  for (const Type& part : type.parts) reach(part);
}

void Defs::reach_bodies() {
  for (; walked_ < all_.size(); ++walked_) {
    const Def def = all_[walked_];
    if (of_library()) refs_.emplace_back();
    referred_.clear();
    if (foreign(def)) continue;
    if (def.kind == Def::Kind::agent) reach_agent(program_[def.agent]);
    if (def.kind != Def::Kind::function) continue;
    const Function& function = program_[def.function];
    if (function.agent.valid()) reach(function.agent);
    for (const Parameter& parameter : function.parameters) reach(parameter.type);
    for (const Output& output : function.outputs) reach(output.type);
    reach(function.result);
    const FunctionNumbers& numbers = numbers_.emplace(def.function, numbered(function)).first->second;
    for (VariableId id : numbers.variable_order) reach(function.variables[id.index()].type);
    auto visit = [&](CallId id) { reach_call(function[id]); };
    for (const Parameter& parameter : function.parameters) each_call(function, parameter.default_block, visit);
    each_call(function, function.body, visit);
  }
}

void Defs::reach_agent(const AgentDef& agent) {
  for (const Parameter& parameter : agent.parameters) reach(parameter.type);
  for (const Slot& slot : agent.slots)
    if (slot.initial.valid()) reach(slot.initial);
}

void Defs::reach_call(const Call& call) {
  if (of_library() && call.form == Form::global) reach(program_.modules[call.module.index()].top_level);
  if (call.callee.valid()) reach(call.callee);
  if (call.agent.valid()) reach(call.agent);
  reach(call.type);
}

// Last, in their order: imports before importers.
void Defs::reach_modules() {
  for (const Module& module : program_.modules)
    each_call(program_[module.top_level], program_[module.top_level].body,
              [&](CallId id) { reach_call(program_[module.top_level][id]); });
  reach_bodies();
  for (const Module& module : program_.modules)
    if (!program_[module.top_level].body.calls.empty()) reach(module.top_level);
  reach_bodies();
}

void Defs::number_functions() {
  for (const auto& [id, position] : functions_) {
    if (!numbers_.contains(id)) continue;  // a foreign one
    const Function& function = program_[id];
    FunctionNumbers& numbers = numbers_.at(id);
    collect_symbols(function, numbers);
    numbers.symbols.choose();
  }
  rank_symbols();
}

// By what the file lists first, so that declarations which the graph does not reach leave no trace. A symbol that two
// functions mention could turn the order inside one of them around: then as the checker met them.
void Defs::rank_symbols() {
  bool keeps_order = true;
  std::size_t next = 0;
  for (const Def& def : all_) {
    if (def.kind != Def::Kind::function || !numbers_.contains(def.function)) continue;
    std::size_t last = 0;
    for (const auto& [symbol, info] : numbers_.at(def.function).symbols.symbols()) {
      auto [rank, fresh] = ranks_.emplace(symbol, next);
      next += fresh;
      keeps_order = keeps_order && rank->second >= last;
      last = rank->second;
    }
  }
  next = 0;
  if (!keeps_order)
    for (auto& [symbol, rank] : ranks_) rank = next++;
}

}  // namespace taskspec
