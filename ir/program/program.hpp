// The typed program: what the checker makes of a text and the C++ builder of calls. Every function is one
// arena of typed calls; a Block lists the calls that run in order, and `if`, `for`, `while` hold nested
// blocks. Operands are calls of the same function, so this is the op list that graphs export as `body`.
//
//   y = k * x      ->   %0 parameter k : float   %1 parameter x : f32[N]   %2 op mul(%0, %1) : f32[N]   write y %2
//
// Nothing optional inside: names are resolved, defaults filled in, types and extents known up to symbols.
#pragma once
#include <array>
#include <deque>
#include <string>
#include <vector>

#include "ir/base/source.hpp"
#include "ir/program/form.hpp"
#include "ir/records/builtin.hpp"
#include "ir/records/op.hpp"
#include "ir/types/type.hpp"
#include "ir/types/value.hpp"

namespace taskspec {

struct CallTag;
struct VariableTag;
struct ModuleTag;
using CallId = Id<CallTag>;          // in Function::calls
using VariableId = Id<VariableTag>;  // in Function::variables
using ModuleId = Id<ModuleTag>;      // in Program::modules

enum class Receive : std::uint8_t { scalar, array, iter, handle };
inline constexpr std::array<std::string_view, 4> receive_words{"scalar", "array", "iter", "handle"};

struct Block {
  std::vector<CallId> calls;
  CallId result;  // of blocks that give a value
};

// Equality of two extents that only the run can decide: checked before the call, error E5004.
struct Guard {
  Dim left, right;
  std::string what;  // "dimension 0 of x"
};

// An argument that names a place: after the call `variable` holds the new version of it.
struct Place {
  std::uint32_t operand;  // position in Call::in
  VariableId variable;
};

// Which of the members below `blocks` a call uses, its form says (ir/program/form.hpp, Payload).
struct Call {
  Form form = Form::constant;
  Type type;
  Span span;
  std::vector<CallId> in;
  std::vector<Span> in_spans;  // as written, for labels; may be shorter than `in` (defaults have none)
  std::vector<Block> blocks;
  Value value;
  const OpDef* op = nullptr;
  const Builtin* builtin = nullptr;
  FunctionId callee;
  AgentId agent;
  ModuleId module;
  VariableId variable;
  Symbol symbol;
  std::uint32_t index = 0;
  std::string name;
  std::vector<Guard> guards;
  std::vector<Place> places;  // call, invoke, apply, op
  bool folded = false;        // every operand is known before the program runs: leaves no node

  Call() = default;
  // Copies and destructors are made once, in the source: they are long, and every user of the header would make them.
  Call(const Call&);
  Call(Call&&) noexcept;
  Call& operator=(const Call&);
  Call& operator=(Call&&) noexcept;
  ~Call();
};

// What decides whether or how often the blocks of a call run: an operand, or the result of a block.
CallId decision_of(const Call& call);

enum class Role : std::uint8_t { declared, agent_parameter, slot, capture };

struct Parameter {
  std::string name;
  Type type;
  Privilege privilege = Privilege::in;
  Role role = Role::declared;
  VariableId variable;   // inout tensors and slots: the place inside this function
  CallId default_value;  // valid if there is one; evaluated in the callee's frame by running default_block
  Block default_block;
  Span span;
  ReduceOp reduce = ReduceOp::sum;  // of the privilege reduce
};

struct Output {
  std::string name;  // "value" for the unnamed one
  Type type;
  VariableId variable;  // where the body leaves it
  Span span;
};

struct Variable {
  std::string name;
  Type type;
  bool is_mutable = false;
  Span span;
};

enum class FunctionKind : std::uint8_t { fn, task, graph, module };

// A fn or module that is cut in two has one part in the host program and one in the graph program.
enum class Part : std::uint8_t { whole, host, graph };

struct Effects {
  bool host = false;   // prints, reads or writes files, ...
  bool graph = false;  // makes tensors or invokes tasks
};

struct Function {
  FunctionKind kind = FunctionKind::fn;
  std::string name;  // "apply", "<module>", "<closure>"
  AgentId agent;     // of a member; its parameters and slots come first in `parameters`
  ModuleId module;
  std::vector<Parameter> parameters;
  std::vector<Output> outputs;     // task, graph
  Type result;                     // fn
  std::vector<Symbol> dimensions;  // variables that the signature introduces, bound from argument shapes
  std::vector<Call> calls;
  std::vector<Variable> variables;
  Block body;
  Effects effects;
  Part part = Part::whole;
  std::string extern_symbol;  // task with an extern body, fn with one in C++
  bool extern_local = false;  // of such a fn: what it gives may differ between shards
  Span span;

  Function() = default;
  Function(const Function&);
  Function(Function&&) noexcept;
  Function& operator=(const Function&);
  Function& operator=(Function&&) noexcept;
  ~Function();

  const Call& operator[](CallId id) const { return calls[id.index()]; }
  Call& operator[](CallId id) { return calls[id.index()]; }
};

enum class SlotKind : std::uint8_t { weight, state, table, layer };
inline constexpr std::array<std::string_view, 4> slot_kind_words{"weight", "state", "table", "layer"};

struct Slot {
  SlotKind kind = SlotKind::state;
  std::string name;
  Type type;           // a tensor; of a layer an agent, or a list of agents of one kind
  FunctionId initial;  // fn of the agent's parameters that makes the first value
  Span span;
};

struct AgentDef {
  std::string name;
  ModuleId module;
  std::vector<Parameter> parameters;  // as in its members
  std::vector<Slot> slots;
  std::vector<FunctionId> members;
  Span span;
};

// `fields Cell { state: f64, flux: f64 }`: what each point of a region of that name has.
struct FieldsTable {
  static constexpr std::size_t most = 64;
  struct Field {
    std::string name;
    Precision precision;
  };
  std::string name;
  ModuleId module;
  std::vector<Field> fields;
  Span span;
};

struct Module {
  std::string name;  // "hello"
  std::string path;
  SourceId source;
  FunctionId top_level;  // kind module; its variables are the module's lets and vars
};

struct Program {
  Sources sources;
  std::vector<Module> modules;     // imports before importers
  std::deque<Function> functions;  // in order of first appearance; a program may grow while it runs, none moves then
  std::deque<AgentDef> agents;
  std::deque<FieldsTable> fields_tables;  // by FieldsId
  ModuleId main_module;
  std::vector<std::pair<std::string, ModuleId>> served;  // modules that builtins use (Builtin::module)
  std::uint32_t symbols = 0;                             // how many Symbols were given out
  bool proven = true;  // the checker proved the extents of types; false for what is read from a file

  Program() = default;
  Program(const Program&);
  Program(Program&&) noexcept;
  Program& operator=(const Program&);
  Program& operator=(Program&&) noexcept;
  ~Program();

  const Function& operator[](FunctionId id) const { return functions[id.index()]; }
  Function& operator[](FunctionId id) { return functions[id.index()]; }
  const AgentDef& operator[](AgentId id) const { return agents[id.index()]; }
  const FieldsTable& operator[](FieldsId id) const { return fields_tables[id.index()]; }
  const Module& main() const { return modules[main_module.index()]; }
  std::string display_name(FunctionId id) const;  // "Scale.apply", "energy"
};

// "weight w: f32[n]", "layer c1: Conv2D", "layer blocks: [Block]"
std::string slot_text(const Program& program, const Slot& slot);

}  // namespace taskspec
