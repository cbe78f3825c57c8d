// The target that records: every tensor operation becomes a node of the recorder's taskGraph. Used by
// sessions and, with symbolic inputs, for looking at a graph.
#pragma once
#include <map>
#include <optional>
#include <unordered_map>
#include <unordered_set>

#include "interp/control/facts.hpp"
#include "interp/control/recorder.hpp"
#include "interp/control/target.hpp"
#include "ir/graph/launch.hpp"

namespace taskspec {

class Rebuilding;
class LaunchDivider;

class RecordTarget final : public Target {
 public:
  RecordTarget(const Program& program, Recorder& recorder);

  bool records() const override { return true; }
  bool is_tensor(const Value& value) const override;
  Type type_of(const Value& tensor) const override;
  void op(const Frame& frame, const Call& call, std::span<Value> operands, const Type& type, List& made) override;
  TaskResult task(Interpreter& interpreter, const TaskCall& call) override;
  void begin_slot() override { ++slots_; }
  void end_slot() override { --slots_; }
  Value place(const std::string& name, const Value& initial) override;
  bool decide(const Value& tensor, Span span) override;
  Array receive(const Value& tensor, Span span) override;
  Value constant(Array array) override;
  void begin_trace(Span place) override;
  void end_trace(Span place) override;
  void run_pending() override { recorder_.run_pending(); }
  bool due() const override { return recorder_.due(); }
  void run_prints() override { recorder_.run_prints(); }
  void run_effects() override { recorder_.run_effects(); }
  bool structured(Interpreter& interpreter, Frame& frame, CallId id) override;
  ScopeId open_scope(ScopeId outer, std::string_view callee, FunctionId function, Span site) override;
  void close_scope(ScopeId scope) override { recorder_.closed(scope); }
  Value renamed(const Value& tensor, ScopeId scope, const std::string& output, bool structured) override;
  std::string scope_path(ScopeId scope) const override;
  std::shared_ptr<const void> home() const override { return home_; }
  InstanceId instance(const Agent& agent) override;
  void layers(const Agent& agent) override;

  bool has_regions() const override { return true; }
  RegionForest& regions() override { return recorder_.graph.regions; }
  std::shared_ptr<RegionHandle> make_region(Region region, Span span) override;
  Value launch(Interpreter& interpreter, const LaunchCall& call) override;
  LaunchBatch* launch_batch() override;
  void launches_taken() override;
  void fill(const Space& space, std::uint32_t field, const Value& contents, const DataSite& site) override;
  void transfer(const FileCall& call, Span span) override;
  Value field_value(const Space& space, std::uint32_t field, const DataSite& site) override;
  HeldElements held_elements(const Space& space, std::uint32_t field, const DataSite& site) override;
  Value field_total(const Space& space, std::uint32_t field, ReduceOp op, bool keeps_axes,
                    const DataSite& site) override;
  Value map_member(const LaunchMap& map, MapMember member, const DataSite& site) override;
  Value map_element(const LaunchMap& map, const Point& point, const DataSite& site) override;

  // A launch with everything bound: what `launch` and all other work on regions become.
  struct Launched {
    Launch what;       // `each` is found from the values
    Definition named;  // name, function, names of inputs and outputs
    std::vector<Value> values;
    std::vector<Type> outputs;  // of one point
    ScopeId scope = ScopeId(0);
    Agent* agent = nullptr;
    Span span;
    Value sharding = {};  // none: of no launch of the program, or `block`
  };
  std::vector<Value> launched(Launched launch);  // by output a map; of a single one a tensor
  std::vector<Value> recorded(Launched launch);  // whatever a divider thinks of it
  // Launches and receives go through it from here on, as long as there is one.
  void set_divider(LaunchDivider* divider) { divider_ = divider; }

  // A node of an op list that stands in no text, or of a task of another graph.
  struct Listed {
    std::shared_ptr<const OpList> list;
    std::shared_ptr<const EmbeddedTask> embedded = {};  // in place of a list
    std::string name, suffix;                           // "Net.forward", ".backward"
    std::vector<Value> inputs;
    std::vector<std::size_t> writes;  // by output: the input whose place it is the new version of, or none
    ScopeId scope = ScopeId(0);
    Span span;
    bool begins = true;                  // what was recorded before may run by itself: a window of tasks may end here
    std::uint32_t ordinal = UINT32_MAX;  // of the node that it is called after
    static constexpr std::size_t none = SIZE_MAX;
  };
  struct ListedNode {
    std::vector<Value> outputs;
    std::uint32_t ordinal = 0;
  };
  ListedNode listed(Listed node);
  // What is listed from here on belongs to this part of a step.
  void begin_pass(TrainingPass pass) { pass_ = pass; }

  // `if`, loops and calls of fns in graphs are carried out where they stand, unless tensors decide about them.
  void unroll() { unrolls_ = true; }
  // What makes agents is carried out, too: they keep their states when the recorded graph runs again.
  void keep_agents() { keeps_agents_ = true; }

  Recorder& recorder() { return recorder_; }
  std::size_t kept_handles() const;  // of constants, for calls to come: nobody else knows them

 private:
  // The inputs of one new node: references, and which of them read or write places.
  struct Inputs {
    std::vector<Ref> refs;
    std::vector<Requirement> requirements;
    std::vector<std::shared_ptr<Tensor>> alive;  // handles, until the node holds the references
  };
  // What the recording of an op fills in, kept from one to the next: most ops of a loop need as much.
  struct Scratch {
    Inputs inputs;
    std::vector<TypeId> out;
    std::vector<PlaceId> places;  // by output
    TaskGraph::NewNode node;      // with its arguments
    void clear() {
      inputs.refs.clear();
      inputs.requirements.clear();
      inputs.alive.clear();
      out.clear();
      places.clear();
      node.arguments.clear();
    }
  };
  // One that stands beside tensors, at one place of the text, when the recorder forgets.
  struct Number {
    Value written;
    Value handle;         // of the constant that it is
    bool varies = false;  // it was another one at another time
  };
  // An op where it stands in the text, and what is the same each time that it is recorded.
  struct Site {
    const OpDef* op = nullptr;
    DefinitionId definition;             // where all calls of the op have the same
    std::optional<std::size_t> console;  // the operand
    TypeId out;                          // of its only output, the last time
    std::vector<Number> numbers;         // by operand
  };
  std::shared_ptr<Launch> interned(Launch launch, Span span);
  void require_independence(const Launch& launch, Span span);  // throws ConflictError
  void add_values(Launched& launch, Inputs& inputs);
  void add_fields(const Launch& launch, Inputs& inputs, Definition& named);
  static Value launch_value(const Value& value);
  static void write_place(Inputs& inputs, PlaceId place, std::size_t slot);
  void add_input(Inputs& inputs, const Value& tensor, Span span);
  void add_input(Inputs& inputs, const Tensor& own);  // which somebody else keeps until the node is there
  std::shared_ptr<Tensor> own(const Value& tensor, Span span);
  std::shared_ptr<Tensor> constant_of(const Value& contents, const Type& type);
  NodeId add(DefinitionId definition, TaskGraph::NewNode&& node, const Inputs& inputs);
  Site& site_of(const Frame& frame, const Call& call);
  void define_listed(Definition& definition, std::shared_ptr<const OpList> list, std::vector<TypeId>& out);
  void define_embedded(Definition& definition, std::shared_ptr<const EmbeddedTask> embedded, std::vector<TypeId>& out);
  DefinitionId define(Site& site, const Type& type, std::span<const Value> operands);
  bool is_number_as_tensor(const Call& call, std::span<const Value> operands, const Type& type) const;
  void folded(const Call& call, std::span<const Value> operands, const Type& type, List& made);
  void add_operands(Site& site, const Call& call, std::span<const Value> operands, const Type& type, Scratch& scratch);
  void add_number(Number& known, const Value& value, FunctionRef<Array()> made, Inputs& inputs, Span span);
  void write_places(Site& site, const Call& call, std::span<const Value> operands, const Type& type, Scratch& scratch);
  struct Task {
    DefinitionId definition;
    std::vector<bool> at_run;     // by parameter: a number that is an input of its nodes
    std::vector<Number> numbers;  // by parameter
  };
  Task& define(Interpreter& interpreter, const TaskCall& call);
  InstanceId instance_of(Agent* agent);
  InstanceId new_instance(const Agent& agent);
  void note_layers(const Agent& agent, InstanceId instance);
  PlaceId console();
  PlaceId place_of(const Value& value) const;  // of a version made here, else none
  Value version(NodeId node, std::size_t slot, PlaceId place);
  // What bodies will read of the top level: `uses`, and what every function value in `values` reads.
  void receive_globals(Interpreter& interpreter, std::span<const GlobalUse> uses, std::span<const Value> values,
                       Span span);
  struct ChangedSlot {
    Agent* agent;
    std::size_t index;
    std::string name;
  };
  std::vector<ChangedSlot> take_agents(Interpreter& interpreter, std::span<const GlobalUse> uses, Rebuilding& taken,
                                       std::vector<Value>& arguments);
  void add_slots(const std::vector<ChangedSlot>& changed, Inputs& inputs, Definition& definition,
                 std::vector<TypeId>& out);
  void give_places(Agent& agent);
  void leave_slots(const std::vector<ChangedSlot>& changed, NodeId node, std::size_t first, Frame& frame);
  // What a node leaves in its frame besides tensors.
  struct Counted {
    std::vector<std::pair<VariableId, Value>> values;
    AgentCounts agents;
  };
  static constexpr std::uint32_t unknown_turns = 1 << 20;
  // Gives `copy`, a frame without values, what the call leaves there; false: tensors decide about that.
  bool rehearse(Interpreter& interpreter, const Frame& frame, CallId id, Frame& copy);
  bool makes_agents(const Frame& frame, CallId id) const;
  bool tensors_decide(Interpreter& interpreter, const Frame& frame, CallId id);
  Counted count(Interpreter& interpreter, const Frame& frame, CallId id);
  AgentCounts most_agents(const Frame& frame, const Call& call) const;
  bool structured_call(Interpreter& interpreter, Frame& frame, CallId id);
  bool structured_block(Interpreter& interpreter, Frame& frame, CallId id);

  const Program& program_;
  Recorder& recorder_;
  std::unordered_map<std::uint64_t, Site> sites_;  // by function and call
  std::unordered_map<const OpDef*, DefinitionId> ops_;
  std::unordered_map<std::uint32_t, Task> tasks_;
  std::unordered_map<std::string, std::shared_ptr<Launch>> launches_;  // by key
  std::unordered_set<std::string> independent_;                        // shapes of launches whose points are
  LaunchDivider* divider_ = nullptr;
  PlaceId console_;
  std::pair<const Frame*, CallId> rehearsed_;  // which is executed here, and no node
  std::unique_ptr<Scratch> scratch_;           // none while an op is recorded
  TrainingPass pass_ = TrainingPass::none;
  bool unrolls_ = false;
  bool keeps_agents_ = false;
  int slots_ = 0;  // whose first values are being computed, one for the other
  const std::shared_ptr<const void> home_ = std::make_shared<char>();
  std::map<std::pair<std::shared_ptr<const void>, std::uint32_t>, InstanceId>
      foreign_agents_;  // by home and instance there
};

// One of several shards, which record the same program: sees to it that a launch is recorded with the points of this
// one alone, and with what must be said to others before and behind it.
class LaunchDivider {
 public:
  virtual ~LaunchDivider() = default;
  virtual std::vector<Value> launched(RecordTarget& target, RecordTarget::Launched launch) = 0;
  virtual LaunchBatch* batch() = 0;  // Target says what these are
  virtual void taken() = 0;
  virtual void receiving(const Tensor& tensor, Span span) = 0;  // before the program has the contents
  // The elements of a field that this one answers for; null: all of them.
  virtual std::shared_ptr<const Intervals> held(const Space& space, std::uint32_t field) = 0;
  virtual void begin_trace(Span place) = 0;
  virtual void end_trace(Span place) = 0;
};

}  // namespace taskspec
