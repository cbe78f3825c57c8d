// Runs host programs: executes the compact programs (compact.hpp) that the blocks of functions are made into, control
// flow and host values, and hands tensor operations to a Target.
//
//   Interpreter run(program, &host);
//   run.set_target(target);
//   run.module(program.main());
#pragma once
#include <atomic>
#include <functional>
#include <map>

#include "interp/control/facts.hpp"
#include "interp/control/letters.hpp"
#include "interp/control/target.hpp"

namespace taskspec {

struct TakenOf;  // ir/region/independence.hpp

struct AgentName;
class HostContext;
class LayerNames;
class StepRecording;
class Natives;

// Of a step of training: what ops and layers ask that work otherwise there.
struct StepContext {
  Value number;               // of the step, from 0: a tensor i64[] of the target
  std::string name;           // what calls of random numbers are named by
  std::uint32_t streams = 0;  // given out so far
};

// The other one of two programs that run beside each other (ir/cut/cut_program.hpp), as one of them sees it.
class Partner {
 public:
  virtual ~Partner() = default;
  virtual void enqueue(Interpreter& interpreter, Frame& frame, const Call& call) = 0;
  virtual Value dequeue(Interpreter& interpreter, Frame& frame, const Call& call) = 0;
  // The part of a function value that this program calls; invalid: nothing is left of it here.
  virtual FunctionId part(FunctionId whole) const = 0;
  virtual FunctionId whole(FunctionId part) const = 0;
};

// `exit(code)` unwinds through this.
struct ExitRequest {
  int code;
};

// Where a call stands, and the frame that makes it.
struct CallSite {
  Span span;
  Frame* caller = nullptr;
};

// What a call leaves: its value (of a fn) or an Invocation, and the new versions of its inout arguments.
struct CallResult {
  Value value;
  std::vector<std::pair<std::uint32_t, Value>> versions;  // position among the declared parameters
};

class Interpreter {
 public:
  Interpreter(const Program& program, HostContext* host);
  void set_target(Target& target) { target_ = &target; }  // before anything runs
  void set_partner(Partner& partner) { partner_ = &partner; }
  void forget_partner() { partner_ = nullptr; }  // functions run whole from here on

  Frame& module(const Module& module);                 // runs its top level, once
  void module(const Module& module, FunctionId part);  // a part of it; an invalid one leaves all names unset
  // To be called first on a thread that did not make it, and after an exception that left it in the middle.
  void begin();
  // A variable of the top level; none when it has no value yet.
  Value global(const Module& module, VariableId variable) const;
  // What code that names it gets: of a tensor the contents, where they were received. Throws Error E1006.
  Value read_global(ModuleId module, VariableId variable, Span span) const;
  void each_global(FunctionRef<void(const Value&)> visit) const;
  // Of those in `uses`, and those that functions inside of `values` and of such variables read: all that hold agents
  // with slots.
  void each_agent_global(std::span<const GlobalUse> uses, std::span<const Value> values,
                         FunctionRef<void(GlobalUse, const Value&)> visit) const;
  // Runs what its top level has grown by since the last time. After an exception the rest of that never runs.
  Frame& advance(const Module& module);
  void skip(const Module& module);  // that never runs
  // A let of such a top level that nothing can name any more.
  void forget(const Module& module, VariableId variable, CallId value);
  void forget_modules();
  // Calls any function with its captures and declared arguments; none = the default.
  CallResult call(FunctionId function, const Value& agent, std::vector<Value> arguments, const CallSite& site);
  CallResult apply(const Value& callable, std::vector<Value> arguments, const CallSite& site);
  // What tells a function apart that makes numbers of its arguments, and does nothing else: code, captures, and what it
  // reads of the top level. Empty: it may do more.
  std::string computed_by(const Value& callable, const CallSite& site) const;
  Value make_agent(AgentId agent, std::vector<Value> arguments, const CallSite& site);
  // The slots of an agent as they were when it was made; its layers are agents of their own, and stay.
  std::vector<Value> first_values(const Agent& agent);
  // An agent for the members of a definition that has no parameters; nothing for a function without agent.
  Value agent_for(FunctionId member);
  // The body of a graph in the outermost scope, as when the graph is looked at or run by itself.
  std::vector<Value> outputs_of(FunctionId graph, const Value& agent, std::vector<Value> arguments);
  // The body of a task, run here (targets that do not make nodes). Arguments as in TaskCall.
  TaskResult inline_task(const TaskCall& call);

  // Runs a block in a frame; what ended it early, if something did.
  Flow block(Frame& frame, const Block& block);
  Value value_of(Frame& frame, const Block& block);  // of blocks with a result
  Flow step(Frame& frame, CallId id);

  const Program& program() const { return program_; }
  Facts& facts() const { return *facts_; }
  Target& target() { return *target_; }
  HostContext* host() { return host_; }
  const HostContext* host() const { return host_; }
  const Natives* natives() const { return natives_; }  // behind `extern` tasks
  // The contents of the top-level tensors that a body names, before it runs: a body cannot force anything.
  void receive_globals(FunctionId function, Span span);
  void receive_globals(std::span<const GlobalUse> uses, Span span);
  // A body of a node has its own copies of top-level agents: it reads this one instead.
  void take_global(GlobalUse use, Value value);
  // Runs with another target from here on, e.g. that of a nested session; returns the previous one.
  Interpreter nested(Target& target) const;
  // From here on host effects are impossible: the interpreter runs a body on behalf of a backend.
  void leave_host();
  // But first values of slots may still come out of files: the agents of a graph that is looked at are made here.
  void leave_host_but_for_slots();
  // From here on types of tensors go by what the rules of ops say of those that come, and not by what the text says.
  void go_by_rules() { by_rules_ = true; }
  // What a call of a fn gives, by the arguments that it has here: extents that the text leaves open are known from
  // them.
  Type call_type(Frame& frame, const Call& call);
  // What it runs belongs to a step of training; none: it does not.
  void set_step(StepContext* step) { step_ = step; }
  StepContext* step() const { return step_; }

 private:
  Frame& grow(const Module& module, Block& block);
  // How calls run, form by form (form_steps.cpp).
  friend const FormStep& step_of(Form form, std::span<const FormStep> more);
  // How compact programs run (compact_run.cpp).
  friend struct Machine;
  friend class StepRecording;
  Flow execute(Frame& frame, const Compact& code);
  void call_planned(Frame& frame, const PlannedCall& planned, const Instruction& at);
  Flow form_step(Frame& frame, CallId id) { return frame.facts.steps[id.index()]->run(*this, frame, id); }
  static Flow run_code(Interpreter& run, Frame& frame, CallId id);
  static std::span<const FormStep> standard_steps();
  template <Value (Interpreter::*give)(Frame&, const Call&)>
  static Flow gives(Interpreter& run, Frame& frame, CallId id);
  static Flow run_op(Interpreter& run, Frame& frame, CallId id);
  static Flow run_builtin(Interpreter& run, Frame& frame, CallId id);
  static Flow run_call(Interpreter& run, Frame& frame, CallId id);
  static Flow run_write(Interpreter& run, Frame& frame, CallId id);
  static Flow run_store(Interpreter& run, Frame& frame, CallId id);
  static Flow run_enqueue(Interpreter& run, Frame& frame, CallId id);
  static Flow run_dequeue(Interpreter& run, Frame& frame, CallId id);
  static Flow run_view(Interpreter& run, Frame& frame, CallId id);
  Value operand(Frame& frame, const Call& call, std::size_t i) { return frame[call.in[i]]; }
  void check_guards(Frame& frame, const Call& call);
  Value op(Frame& frame, const Call& call);
  void settled_op(Frame& frame, CallId id);
  Value scalar_op(Frame& frame, const Call& call, std::span<const Value> operands);
  Type type_by_rule(Frame& frame, const Call& call, std::span<const Value> operands);
  Value outputs(Frame& frame, const Call& call, const Type& type, List values);
  Type type_here(const Value& value, const Type& written) const;
  Value builtin(Frame& frame, const Call& call);
  Value builtin_without_host(Frame& frame, const Call& call);
  Value read_variable(Frame& frame, const Call& call);
  Value read_global(Frame& frame, const Call& call);
  void write(Frame& frame, VariableId variable, Value value);
  static bool appends(Frame& frame, CallId id);
  Value append(Frame& frame, const Call& call);
  void store(Frame& frame, const Call& call);
  Value element(Frame& frame, const Call& call);
  Value item(Frame& frame, const Call& call);
  Value items(Frame& frame, const Call& call);
  Value field(Frame& frame, const Call& call);
  Value receive(Frame& frame, const Call& call);
  Value make_agent(Frame& frame, const Call& call);
  Value first_value(const Slot& slot, const Value& agent, const AgentName& name, const CallSite& site);
  Value make_callable(Frame& frame, const Call& call);
  Value compose(Frame& frame, const Call& call);
  FunctionId applied(const Callable& callable, const CallSite& site) const;
  CallResult apply_composed(const ComposedTask& composed, std::vector<Value> arguments, const CallSite& site);
  Value apply_value(Frame& frame, const Call& call);
  Value call_function(Frame& frame, const Call& call);
  Value run_on(Frame& frame, const Call& call);
  Value make_region(Frame& frame, const Call& call);
  Value piece(Frame& frame, const Call& call);
  Value projection(Frame& frame, const Call& call);
  static Flow run_projection(Interpreter& run, Frame& frame, CallId id);
  static Flow run_launch(Interpreter& run, Frame& frame, CallId id);
  Value region_field(Frame& frame, const Call& call);
  Value field_value(Frame& frame, const Call& call);
  Value map_item(Frame& frame, const Call& call);
  Value launch(Frame& frame, const Call& call);
  bool launches_again(Frame& frame, const Call& call);
  std::vector<ExpectedLaunch::Argument> arguments_of(const ExpectedLaunch& expected) const;
  Projection tabulated(const Value& function, const Rect& domain, const TakenOf& of, const CallSite& site);
  void take_value(Frame& frame, const LaunchCall& launch, const Value& value, LaunchArgument& argument);
  void take_piece(Frame& frame, const LaunchCall& launch, const Value& value, LaunchArgument& argument);
  Value time_step(Frame& frame, const Call& call);
  static void forget(Frame& frame, const Block& block);
  bool truth(const Value& value, Span span);
  void call_native(Frame& frame, Span span);
  Value enter(Frame& frame, const CallSite& site);
  void bind(Frame& frame, const Value& agent, std::vector<Value> arguments, Span span);
  void set_parameter(Frame& frame, std::size_t parameter, Span span);
  void begin_activation(Frame& frame);
  void poll(Span span);
  // Before a call where something may be in its way; `is_deep` may be.
  void enter_far(Span span);
  bool is_deep() const {
    return depth_ == deepest || reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) < stack_limit_;
  }
  [[noreturn]] static void no_memory(Span span);
  // A turn of a loop at which `poll` has nothing to do but count.
  bool goes_on() {
    if (must_poll()) return false;
    ++polls_;
    return true;
  }
  bool must_poll() const { return interrupted_->load(std::memory_order_relaxed) || (polls_ + 1) % long_way == 0; }

  const Program& program_;
  Target* target_ = nullptr;
  Partner* partner_ = nullptr;  // of parts
  HostContext* host_;
  HostContext* host_of_slots_ = nullptr;  // where there is no other
  const std::atomic<bool>* interrupted_;
  const Natives* natives_ = nullptr;
  std::shared_ptr<Facts> facts_;
  std::vector<std::shared_ptr<Frame>> modules_;  // top-level frames, by module
  using Contents = std::unordered_map<std::uint64_t, Value>;
  Contents taken_;                                                    // instead of them
  std::shared_ptr<Contents> globals_ = std::make_shared<Contents>();  // received, by module and variable
  std::shared_ptr<std::vector<std::uint64_t>> activations_ =
      std::make_shared<std::vector<std::uint64_t>>();  // of parts
  LayerNames* layer_ = nullptr;                        // whose agents are made now
  RegisterStack stack_;
  std::map<std::string, Projection> tables_;  // of projections that are functions, by function and domain
  List made_;                                 // by an op: nothing, but room for the next one
  Letters letters_;
  std::uint32_t launched_again_ = 0;  // launches that were expected, since one that was not, or a turn of a loop
  LaunchBatch* launches_ = nullptr;   // in a turn that needs their numbers alone
  Value nothing_launched_;            // what a launch without outputs gives
  Value console_;                     // what ops of the graph side print to; none where nothing runs
  static constexpr std::uint32_t long_way = 1 << 14;  // turns: some milliseconds
  static constexpr std::uint32_t deepest = 1'000'000;
  std::uint32_t depth_ = 0;
  std::uint32_t polls_ = 0;
  std::uint32_t unknown_extents_ = 0;
  bool by_rules_ = false;
  StepContext* step_ = nullptr;
  StepRecording* recording_ = nullptr;  // of what a run repeats
  std::uintptr_t stack_limit_ = 0;
};

}  // namespace taskspec
