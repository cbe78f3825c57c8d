// Everything about the program in the making that does not belong to one body: its functions and agents with
// what their syntax says, the files' names, the diagnostics. It only grows, so a prompt can go on adding to it.
//
//   World world(sources, options);
//   ModuleId main = check_file(world, std::move(ast), "hello");     // modules.hpp
#pragma once
#include <deque>
#include <map>
#include <memory>
#include <set>

#include "frontend/check.hpp"
#include "frontend/check/local_values.hpp"
#include "frontend/check/scope.hpp"
#include "frontend/check/undo_map.hpp"

namespace taskspec {

struct BlockGraph;

namespace checking {

class Body;
class LinkedLibrary;

// What a function does that its callers or its kind may forbid; the sites are listed by E1302.
struct EffectNotes {
  struct Site {
    std::string name;
    Span span;
  };
  struct CallSite {
    FunctionId callee;
    Span span;
    bool invoked = false;  // called as a task, not only mentioned
  };
  std::vector<Site> host;         // direct calls of host builtins, receives, sessions
  std::vector<CallSite> callees;  // functions called or mentioned
  bool graph = false;
  bool writes = false;   // changes a place that outlives the call
  bool invokes = false;  // calls a task or graph

  // How far they have come, to go back to. Sites are only ever added.
  struct Mark {
    std::size_t host = 0, callees = 0;
    bool graph = false, writes = false, invokes = false;
  };
  Mark mark() const { return {host.size(), callees.size(), graph, writes, invokes}; }
  void back_to(const Mark& mark);
};

// The same in a word, with what all that it calls does.
struct EffectFlags {
  bool host = false, graph = false, writes = false, invokes = false;
  friend bool operator==(const EffectFlags&, const EffectFlags&) = default;
  friend EffectFlags operator|(const EffectFlags& a, const EffectFlags& b) {
    return {a.host || b.host, a.graph || b.graph, a.writes || b.writes, a.invokes || b.invokes};
  }
};

// Where a host symbol of a signature gets its value from, seen from a caller.
struct SymbolSource {
  std::uint32_t parameter = UINT32_MAX;  // an int parameter, or
  ModuleId module;                       // a top-level let
  VariableId variable;
};

// Calls of a function by what they give a value to; found as far as `seen`.
struct Givers {
  std::size_t seen = 0;
  std::vector<std::vector<CallId>> variables;  // writes and stores
  std::vector<CallId> returns;
  void find(const Function& function);
  void cut(const Function& function, std::size_t calls);  // before its calls from there on go
};

// What an `ir` declaration stands for (blocks.hpp): the syntax of an agent, which no text has.
struct BlockDeclaration {
  std::shared_ptr<const BlockGraph> graph;
  ast::AgentDecl agent;
};

struct FunctionInfo {
  FunctionInfo();
  ~FunctionInfo();
  const ast::TaskDecl* task = nullptr;  // both null: module body, closure, slot initialiser
  const ast::FnDecl* fn = nullptr;
  const BlockDeclaration* blocks = nullptr;  // the task of an `ir` declaration
  enum class Stage : std::uint8_t { declared, resolving, resolved, checked } stage = Stage::declared;
  std::unique_ptr<Body> body;                     // lives from the signature to the end of the body
  std::map<std::uint32_t, SymbolSource> symbols;  // by symbol id
  std::vector<std::optional<Value>> defaults;     // by parameter: the default, where it is known now
  EffectNotes effects;
  EffectFlags found;                  // by infer_effects, as is what follows
  std::vector<bool> handed;           // by parameter: a task or graph may call what is given
  std::map<std::string, bool> slots;  // of its agent that it uses, and whether it writes them
  LocalSummary local;
  Givers givers;
  // Of a task with views of any rank (ranks.hpp): those of a call, the task that is written, and the call; and back.
  std::vector<std::uint8_t> ranks;
  FunctionId written;
  Span of_ranks_in;
  std::map<std::vector<std::uint8_t>, FunctionId> by_ranks;
  bool failed = false;  // its body has errors
  bool broken = false;  // something in it is not built or not understood: what would follow is not reported
};

struct AgentInfo {
  const ast::AgentDecl* decl = nullptr;
  std::vector<const ast::Slot*> slots;
  Names names;  // slots and members
  bool resolved = false;
  bool holds_itself = false;  // which was reported
};

struct FileScope {
  FileScope();
  ~FileScope();
  UndoMap<Names> names;
  UndoMap<std::unordered_map<std::uint32_t, VariableId>> lets;  // value of a top-level let -> its variable
  UndoMap<std::unordered_map<std::uint32_t, CallId>> values;    // and back
  std::unique_ptr<Body> top_level;
  LocalBooks local;                        // of its top level
  std::unique_ptr<LinkedLibrary> library;  // of a module without text: brings names when they are asked for
  std::vector<FunctionId> pending;         // functions whose bodies are not checked yet
  std::vector<AgentId> pending_agents;     // agents whose parameters are not
};

// `x(...)` dropped as a statement: a warning if it turns out to be pure.
struct DroppedCall {
  FunctionId callee;
  Span span;
};

class World {
 public:
  World(Sources& sources, const CheckOptions& options);
  explicit World(const CheckOptions& options);  // whose program holds the sources
  ~World();

  Sources& sources;
  const CheckOptions& options;
  Program program;
  Diags diags;
  std::deque<Ast> trees;         // own all syntax that the infos point into
  std::deque<ast::Expr> values;  // likewise, of -D
  std::deque<BlockDeclaration> block_declarations;
  std::deque<ast::Name> bound;             // likewise, of model files that go by their own names
  std::map<SourceId, std::string> beside;  // of texts made of model files: where the files are that they name
  std::deque<FileScope> files;             // by ModuleId
  std::deque<FunctionInfo> infos;          // by FunctionId
  std::deque<AgentInfo> agents;            // by AgentId
  std::vector<DroppedCall> dropped;
  bool has_local = false;                                                 // some value may differ between shards
  std::vector<std::pair<AgentId, const ast::Slot*>> slots_in_the_making;  // outer ones first
  SourceId main;                                                          // the file that was asked for
  UndoMap<std::map<std::string, ModuleId>> loaded;                        // imported files, by canonical path
  // Of a program that grows (growth.hpp): names that stand for nothing any more, and what changed below them.
  UndoMap<std::map<std::string, std::string, std::less<>>> stale;
  std::vector<const ast::Item*> again;  // declarations to check along with the entry, as they use names that it defines
  std::set<std::string, std::less<>> entered;  // names that the entry has defined so far
  VariableId entry_value;                      // of the expression at the end of the entry: `_`

  FunctionId add_function(Function function);
  FunctionInfo& info(FunctionId id) { return infos[id.index()]; }
  AgentInfo& info(AgentId id) { return agents[id.index()]; }
  FileScope& file(ModuleId id) { return files[id.index()]; }
  std::string name_of(FunctionId id) const { return program.display_name(id); }
  std::string described(FunctionId id) const;  // "task 'Scale.apply'"

  // A name of a file or a member of an agent, and all that can be found.
  std::optional<Binding> find(ModuleId module, std::string_view name);
  std::optional<Binding> find(AgentId agent, std::string_view name);
  std::vector<std::string> names(ModuleId module) const;
  std::vector<std::string> members(AgentId agent) const;

  Symbol symbol(std::string name, bool host, CallId call, FunctionId owner);
  FunctionId owner(const Symbol& symbol) const;  // the function in which it was made
  // Ids for symbols that a library brings; whose they are is said when they come. Gives the first.
  std::uint32_t reserve_symbols(std::uint32_t count);
  void set_owner(std::uint32_t symbol, FunctionId owner);  // does nothing the second time

  // Adds the diagnostics of an exception; places that it does not know are taken to be `span`.
  void report(const Error& error, Span span);

 private:
  std::vector<FunctionId> owners_;  // by symbol id
};

}  // namespace checking

}  // namespace taskspec
