// What the interpreter asks about functions again and again, worked out once per program: which variables
// are places, what a nested block uses of its surroundings, which tensors of the top level a body reads.
#pragma once
#include <span>
#include <vector>

#include "interp/control/compact.hpp"
#include "interp/control/registers.hpp"
#include "ir/base/once_table.hpp"
#include "ir/program/program.hpp"

namespace taskspec {

class CompactBuilder;
class Interpreter;
struct Frame;

// What ended a block early, if something did.
enum class Flow : std::uint8_t { next, break_, continue_, return_ };

// What a call is in a loop whose turns are launches and numbers (launch_turns.hpp), where it is neither number nor
// name.
enum class InTurn : std::uint8_t {
  other,  // nothing that such a turn may have
  still,  // made of its operands, and the same each time where they are
  launch,
};

// How a call of a form runs: one row for each form of the language (form_steps.cpp); a host may have more.
struct FormStep {
  using Run = Flow (*)(Interpreter& interpreter, Frame& frame, CallId call);
  using Emit = void (*)(CompactBuilder& code, CallId call);
  Form form;
  Run run;
  Emit emit = nullptr;  // its instructions in compact programs; none: one that says `run`
  InTurn in_turn = InTurn::other;
};

const FormStep& step_of(Form form, std::span<const FormStep> more);

struct FunctionFacts {
  std::vector<const FormStep*> steps;  // by CallId
  Registers registers;
  std::vector<bool> places;   // by VariableId: holds versions of a place
  std::vector<bool> appends;  // by CallId: variable + list, which the variable becomes
  std::vector<bool> settled;  // by CallId: an op that makes one tensor, of a type that the checker left nothing open of
  // The values that nobody reads after this call has run. A frame lets go of them, so that lists change in place
  // and a future that cannot be named any more is not kept.
  std::span<const CallId> last_read_by(CallId call) const {
    return std::span(last_reads)
        .subspan(last_read_starts[call.index()], last_read_starts[call.index() + 1] - last_read_starts[call.index()]);
  }
  std::vector<std::uint32_t> last_read_starts;
  std::vector<CallId> last_reads;
  bool talks = false;      // with the other program
  bool divides = false;    // there are quotients in its signature
  std::size_t listed = 0;  // of a top level that grows: calls of its body so far
};

// True if the checker left nothing open about `type`, the result of this op.
bool is_settled(const Function& function, const Call& call, const Type& type);

// What a top level has grown by.
struct Added {
  std::vector<CallId> calls;       // of its body, in order
  std::vector<VariableId> places;  // variables that are places from now on
};

// A variable of the top level of a module.
struct GlobalUse {
  ModuleId module;
  VariableId variable;
};

// What the blocks of a structured call read and change outside of themselves.
struct FreeUse {
  std::vector<CallId> values;             // in order of first use
  std::vector<std::uint32_t> parameters;  // read inside, ascending
  std::vector<VariableId> read;           // variables read or changed, ascending
  std::vector<VariableId> written;        // changed, and visible outside
  std::vector<GlobalUse> globals;         // read inside, and by what is called there
  bool graph = false;                     // does something with tensors
  bool agents = false;                    // makes some
  bool self = false;                      // names the agent itself
  bool slots = false;                     // calls something that uses slots of an agent
  bool data = false;                      // uses regions, or calls something that does
};

bool may_hold_agents(const Type& type);  // values of it: function values are bound to agents

class Facts {
 public:
  explicit Facts(const Program& program, std::span<const FormStep> more = {});
  ~Facts();
  const FunctionFacts& function(FunctionId id);
  // Of a top level that goes on growing: its facts are brought up to date, where frames hold on to them. What a let
  // names is kept for what comes.
  Added grow(FunctionId id);
  const FreeUse& free_use(FunctionId id, CallId structured);
  const std::vector<GlobalUse>& globals(FunctionId id);  // of its body and of all that it calls
  bool uses_slots(FunctionId id);                        // it or something that it calls
  bool uses_data(FunctionId id);                         // regions: the same
  // It makes numbers of numbers, and so does all that it calls: nobody sees how often it is asked.
  bool only_computes(FunctionId id);
  // The compact program of a block that is not empty, or of one call with its blocks.
  const Compact& compact(FunctionId id, const Block& block, bool in_graph);
  const Compact& compact(FunctionId id, CallId call, bool in_graph);
  Compact compact(FunctionId id, std::span<const CallId> calls);  // one that runs once

 private:
  struct Known;
  Known& known(FunctionId id);

  const Program& program_;
  const std::span<const FormStep> more_;  // forms
  OnceTable<Known> functions_;            // bodies ask on several threads, for every call
  OnceTable<std::vector<GlobalUse>> globals_;
  OnceTable<bool> uses_slots_, uses_data_, only_computes_;
};

}  // namespace taskspec
