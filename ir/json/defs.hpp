// Which definitions an exported graph carries, and by which ids: those of its nodes in order of first use, the graph
// itself, what their bodies reach, and the top levels that they read; or those of a library. Internal to
// ir/json/ and ir/library/.
//
//   Defs defs(program, graph_function, graph);
//   defs.of_node(definition)      // 0
//   defs.all()[0].kind            // Def::Kind::task
#pragma once
#include <functional>
#include <map>
#include <set>
#include <vector>

#include "ir/graph/task_graph.hpp"
#include "ir/json/types.hpp"

namespace taskspec {

struct Def {
  enum class Kind : std::uint8_t { op, native, function, agent, fields };
  Kind kind = Kind::op;
  const OpDef* op = nullptr;
  DefinitionId native = {};
  FunctionId function = {};
  AgentId agent = {};
  FieldsId fields = {};
  friend bool operator==(const Def&, const Def&) = default;
};

// Calls and variables of one function in the order in which the file lists them: positions are ids there.
struct FunctionNumbers {
  std::vector<std::uint32_t> calls;      // by CallId; UINT32_MAX: not listed
  std::vector<std::uint32_t> variables;  // by VariableId, likewise
  std::vector<CallId> call_order;
  std::vector<VariableId> variable_order;
  SymbolNames symbols;
};

class Defs {
 public:
  // The top levels of the program hold only what is needed (ir/program/top_level.hpp).
  Defs(const Program& program, FunctionId function, const TaskGraph& graph);

  // Of a library: the roots and what they reach. A foreign definition is named, but not looked into.
  using IsForeign = std::function<bool(const Def&)>;
  // Canonical: for a hash, without what follows from the rest.
  Defs(const Program& program, const std::vector<Def>& roots, IsForeign is_foreign, bool canonical = false);
  bool canonical() const { return canonical_; }
  bool of_library() const { return static_cast<bool>(is_foreign_); }
  bool foreign(const Def& def) const { return is_foreign_ && is_foreign_(def); }
  const std::vector<std::size_t>& refs(std::size_t id) const { return refs_[id]; }  // what it names, each once

  const std::vector<Def>& all() const { return all_; }
  std::size_t of_node(DefinitionId id) const { return of_node_[id.index()]; }
  std::size_t of(FunctionId id) const { return functions_.at(id); }
  std::size_t of(AgentId id) const { return agents_.at(id); }
  std::size_t of(FieldsId id) const { return tables_.at(id); }
  std::size_t of(const OpDef& op) const { return ops_.at(&op); }  // of nodes, and of calls inside structured ones
  bool has(FunctionId id) const { return functions_.contains(id); }
  const FunctionNumbers& numbers(FunctionId id) const { return numbers_.at(id); }
  std::size_t rank(std::uint32_t symbol) const { return ranks_.at(symbol); }  // among all symbols of the file
  std::string text(const Type& type, FunctionId in) const;
  std::string text(const Dim& dim, FunctionId in) const { return numbers(in).symbols.text(dim); }

 private:
  void reach_nodes(const TaskGraph& graph);
  void reach(FunctionId id);
  void reach(AgentId id);
  void reach(FieldsId id);
  void reach(const OpDef& op);
  void reach_inside(const Definition& definition);
  void reach(const Type& type);
  void refer(std::size_t to);
  void reach_bodies();
  void reach_agent(const AgentDef& agent);
  void reach_call(const Call& call);
  void reach_modules();
  void number_functions();
  void rank_symbols();

  const Program& program_;
  std::vector<Def> all_;
  std::vector<std::size_t> of_node_;
  std::map<FunctionId, std::size_t> functions_;
  std::map<AgentId, std::size_t> agents_;
  std::map<FieldsId, std::size_t> tables_;
  std::map<const OpDef*, std::size_t> ops_;  // only ever looked up
  std::size_t walked_ = 0;                   // defs before this one have been looked into
  std::map<FunctionId, FunctionNumbers> numbers_;
  std::map<std::uint32_t, std::size_t> ranks_;
  IsForeign is_foreign_;
  bool canonical_ = false;
  std::vector<std::vector<std::size_t>> refs_;  // of a library, by def
  std::set<std::size_t> referred_;              // by the def that is looked into
};

}  // namespace taskspec
