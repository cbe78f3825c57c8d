// The taskGraph: nodes are tasks (calls of ops, of task definitions, or structured calls), edges are futures
// (data) and orders (hazards of places). It is only ever appended to, in program order, so a node's
// predecessors have smaller ids and it cannot close a cycle.
//
//   TaskGraph g;
//   NodeId a = g.add(scale, {.in = {{constant, 0}}, .out = {f32_4}});
//   NodeId b = g.add(energy, {.in = {Ref::future(a, 0)}, .out = {f32_1}});
//   boost::topological_sort(boost_graph(g), ...);      // of ir/graph/boost_graph.hpp
//
// A graph never holds an address or a computed value: constants and inputs are positions in tables that a
// session binds.
//
// The graph of a program that runs for hours is swept: retire() gives back all that is not told to stay. Ids never
// change their meaning; what stays lies in maps from then on, and a read of what is gone is a bug().
#pragma once
#include <deque>
#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "ir/base/function_ref.hpp"
#include "ir/base/large_vector.hpp"
#include "ir/base/retiring_table.hpp"
#include "ir/graph/requirement.hpp"
#include "ir/program/program.hpp"
#include "ir/region/forest.hpp"
#include "ir/region/packed_places.hpp"

namespace taskspec {

struct OpList;        // ir/graph/op_list.hpp
struct EmbeddedTask;  // ir/graph/embedded_task.hpp
struct Launch;        // ir/graph/launch.hpp
struct NodeTag;
struct DefinitionTag;
struct ScopeTag;
struct InstanceTag;
struct TypeTag;
using NodeId = Id<NodeTag>;
using DefinitionId = Id<DefinitionTag>;
using ScopeId = Id<ScopeTag>;
using InstanceId = Id<InstanceTag>;  // an agent instance
using TypeId = Id<TypeTag>;

// Which part of a step of training a node belongs to.
enum class TrainingPass : std::uint8_t { none, forward, backward, update };
std::string_view text(TrainingPass pass);  // "forward"; none: ""

// What a node does, shared by all nodes that do it.
struct Definition {
  enum class Kind : std::uint8_t {
    op,        // one op of the table
    task,      // a task definition of the program
    call,      // a fn, as one structured node
    branch,    // if
    loop,      // for, while
    native,    // a C++ function that works on bytes, known by its symbol: tests and benchmarks of backends
    listed,    // an op list that stands in no text: reverses of tasks, updates of weights
    embedded,  // a node of another graph, or its reverse
    launch,    // of a task over regions, or what the runtime does with fields and maps
  };
  Kind kind = Kind::op;
  std::string name;    // "add", "Scale.apply", "for"
  std::string suffix;  // ".backward": its nodes are called after others, "Net.forward#0.backward"
  const OpDef* op = nullptr;
  FunctionId function;                 // task, call, launch: the definition; branch, loop: the function it stands in
  CallId call;                         // branch, loop
  std::string symbol;                  // native: Bodies::native knows the function
  std::shared_ptr<const OpList> list;  // listed
  std::shared_ptr<const EmbeddedTask> embedded;  // embedded
  TrainingPass pass = TrainingPass::none;
  std::vector<std::string> inputs;   // slot names
  std::vector<std::string> outputs;  // slot names; the hidden ones of inout places follow, named as the parameter

  std::string title() const { return name + suffix; }
  bool structured() const { return kind == Kind::call || kind == Kind::branch || kind == Kind::loop; }
};

// Where a node's input comes from.
struct Ref {
  enum class Kind : std::uint8_t { constant, input, future, field };
  std::uint32_t id = 0;    // constant: in constants; input: in inputs; future: node; field: region
  std::uint16_t slot = 0;  // future: output of that node; field: which one of the region
  Kind kind = Kind::constant;
  bool through_place = false;  // read as a version of a place: order edges instead of a future edge

  static Ref constant(std::size_t id) { return {static_cast<std::uint32_t>(id), 0, Kind::constant, false}; }
  static Ref input(std::size_t id) { return {static_cast<std::uint32_t>(id), 0, Kind::input, false}; }
  static Ref future(NodeId node, std::size_t slot) {
    return {node.value, static_cast<std::uint16_t>(slot), Kind::future, false};
  }
  static Ref field(RegionId region, std::size_t field) {
    return {region.value, static_cast<std::uint16_t>(field), Kind::field, false};
  }
  bool is_future() const { return kind == Kind::future; }
  NodeId node() const { return NodeId(id); }
  friend bool operator==(const Ref&, const Ref&) = default;
};

struct TaskNode {
  DefinitionId definition;
  ScopeId scope;
  InstanceId agent;                                           // the agent it belongs to, if any
  std::uint32_t ordinal = 0;                                  // k of "name#k"
  std::uint32_t first_in = 0, first_out = 0, first_edge = 0;  // in the flat tables; the end is the next node's begin
  std::uint32_t arguments = 0;                                // in argument_lists
  Span span;
  bool first_value = false;  // of a slot, or on the way to one: it runs before the tasks that read it
  bool effect = false;       // it writes a place: it runs, also where nobody asks for its outputs
  bool maps = false;         // a launch: each output has those of its points along a first axis
};

// The points of a launch that is about to run, as tasks that follow one another; or what brings the contributions of
// such points into the fields, one task for each.
struct PointGroup {
  NodeId first;
  std::uint32_t count = 0;
  std::shared_ptr<const Launch> launch;
  bool folds = false;
  struct Whole {
    Rect extents;
    std::uint32_t fields = 0;
    std::shared_ptr<const FieldRoom> room = {};  // null: its arrays have room for all elements
    const PackedPlaces* packed() const { return room ? room->packed.get() : nullptr; }
  };
  std::vector<Whole> regions;             // by use
  std::vector<const IndexSpace*> pieces;  // by point and use; the graph keeps them
  std::span<const IndexSpace* const> of(NodeId point) const {
    return std::span(pieces).subspan((point.value - first.value) * regions.size(), regions.size());
  }
};

enum class EdgeKind : std::uint8_t { future, order };

struct TaskEdge {
  NodeId from, to;
  std::uint16_t slot_from = 0, slot_to = 0;  // future edges
  EdgeKind kind = EdgeKind::future;
  Hazard why = Hazard::none;
  PlaceId place;  // order edges
};

// The call of a graph or fn: names of nodes are counted in it, viewers collapse it.
struct Scope {
  ScopeId parent;
  std::string name;  // "pipeline#0"; empty for the outermost
  FunctionId function;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> counts = {};  // calls in it so far, by name: few names
};

struct AgentInstance {
  AgentId definition;
  std::string path;  // "Net"; "Net.c1" where another agent holds it
  std::vector<Value> arguments;
  std::vector<std::pair<std::string, InstanceId>> layers;  // agents that it holds: "c1", "blocks[0]"
};

struct GraphInput {
  std::string name;
  Type type;
  Privilege privilege = Privilege::in;
};

struct GraphResult {
  std::string name;
  Type type;
  Ref ref;
};

// A host scalar of a graph or op list that is not known yet: an input, or arithmetic on such.
struct GraphScalar final : Object {
  std::string written;  // "n", "mul(n, 2)"
  Type type;
  Dim dim;                           // of an int: its value as an extent
  std::uint32_t input = UINT32_MAX;  // position in inputs, or
  const OpDef* op = nullptr;         // an op on operands; none: the one operand as a float, or a range of two
  std::vector<Value> operands;
  std::uint32_t ops = 0;  // all that it takes
  std::string text() const override;
  // As host code works it out, from the values of the inputs. Throws Error, as that does.
  Value value(FunctionRef<Value(std::uint32_t)> input_at) const;
};

// What a sweep leaves in a graph, besides the scopes, agents and arguments of nodes that stay.
struct Staying {
  std::unordered_set<std::uint32_t> nodes;  // their names and the types of their outputs
  std::unordered_set<std::uint32_t> whole;  // of these: with inputs, edges, arguments
  std::unordered_set<std::uint32_t> scopes, places, constants;
};

class TaskGraph {
 public:
  struct NewNode {
    std::span<const Ref> in;
    std::span<const TypeId> out;
    ScopeId scope = ScopeId(0);
    InstanceId agent = {};
    std::vector<Value> arguments = {};  // host operands: one entry per operand or parameter, none for tensors
    Span span = {};
    bool first_value = false;
    std::uint32_t ordinal = UINT32_MAX;    // of the node that it is called after; none: it is counted
    std::span<const TaskEdge> after = {};  // order edges into it that no requirement tells of
    bool effect = false, maps = false;     // as in a TaskNode; effect: also without a requirement
  };

  TaskGraph();
  TaskGraph(TaskGraph&&) = default;
  TaskGraph& operator=(TaskGraph&&) = default;
  DefinitionId define(Definition definition);  // equal ones are found again
  TypeId intern(const Type& type);
  ScopeId open_scope(ScopeId parent, std::string_view callee, FunctionId function);  // counts: "pipeline#0"
  InstanceId add_agent(AgentInstance instance);
  void add_layer(InstanceId outer, std::string name, InstanceId inner);
  std::size_t add_constant(Type type, Value value);
  void forget_constant(std::size_t id);  // that nothing reads; its type stays
  std::size_t add_input(GraphInput input);
  PlaceId add_place(std::string name, Ref initial);
  void add_result(GraphResult result);
  RegionId add_region(Region region, Span span = {});  // with a place for each field
  void remove_region(RegionId id);  // nobody names it, and no task that is not done; its places go with a sweep
  PlaceId place(RegionId region, std::size_t field) const { return region_places_[region.index()][field]; }
  // `recorded` hears of the node when only its places are not brought up to date yet. Without memory for the node, or
  // where `recorded` throws, nothing has changed.
  NodeId add(DefinitionId definition, const NewNode& node, std::span<const Requirement> requirements = {},
             FunctionRef<void(NodeId)> recorded = {});

  // The nodes that are added next are its points.
  void begin_points(PointGroup group);
  const IndexSpace* add_piece(IndexSpace piece);
  const PointGroup* points(NodeId id) const;  // null: it is no point
  const std::vector<PointGroup>& point_groups() const { return groups_; }

  // Between additions only; an id that goes must not be used again. Takes time for what is there, not for what was.
  void retire(const Staying& staying);
  bool contains(NodeId id) const { return id.value >= first_ ? id.index() < size() : old_.count(id.value) > 0; }
  std::size_t young() const;  // entries of all tables that came since the last sweep
  std::size_t held() const;   // and all that are there

  std::size_t size() const { return first_ + nodes_.size(); }
  bool has_first_values() const { return has_first_values_; }
  const TaskNode& operator[](NodeId id) const { return id.value >= first_ ? nodes_[id.value - first_] : old(id).node; }
  const Definition& definition(NodeId id) const { return definitions_[(*this)[id].definition.index()]; }
  std::span<const Ref> in(NodeId id) const;
  std::span<const TypeId> out(NodeId id) const;
  std::span<const TaskEdge> edges_into(NodeId id) const;  // sorted by (from, slot); retired tasks may be among those
  std::span<const TaskEdge> edges() const { return edges_; }  // of a graph that was never swept
  const Type& type(TypeId id) const { return types_[id.index()]; }
  const Type& type(Ref ref) const;
  const Launch& launch(NodeId id) const;  // of a definition of that kind
  const std::vector<Value>& arguments(NodeId id) const { return argument_lists_[(*this)[id].arguments]; }
  const std::vector<Definition>& definitions() const { return definitions_; }
  const RetiringTable<Scope>& scopes() const { return scopes_; }
  const RetiringTable<AgentInstance>& agents() const { return agents_; }
  const std::vector<GraphInput>& inputs() const { return inputs_; }
  const std::vector<GraphResult>& results() const { return results_; }
  std::vector<GraphResult>& results() { return results_; }
  const Value& constant(std::size_t id) const;
  const Type& constant_type(std::size_t id) const;
  std::size_t constant_count() const;
  bool holds_constant(std::size_t id) const;  // not forgotten yet
  std::size_t argument_list_count() const { return argument_lists_.size(); }
  Ref current(PlaceId place) const;  // its newest version
  bool contains(PlaceId place) const;
  const std::string& place_name(PlaceId place) const;

  RegionForest regions;
  std::string name;                                        // of the graph
  std::string label(NodeId id) const;                      // "energy#0"; of a point "stencil#3[2]"
  std::string path(NodeId id) const;                       // "pipeline#0/energy#0"
  std::string slot_in(NodeId id, std::size_t slot) const;  // "x"; "parts[1]" for the second of a list
  std::string slot_out(NodeId id, std::size_t slot) const;
  std::string text(const TaskEdge& edge) const;  // "bump#0 -> peek#0 (RAW r)", "src#0.y -> inc#0.x"

  // The same graph as Boost.Graph knows it: boost_graph() of ir/graph/boost_graph.hpp, which costs its readers seconds.
  struct Boost;
  const Boost& boost() const;
  std::size_t bytes() const;  // memory held, for reports

 private:
  struct PlaceState {
    std::string name;
    Ref newest;
    NodeId writer;                // none while version 0
    std::vector<NodeId> readers;  // since the last write
  };
  struct OldNode {  // that stayed at a sweep
    TaskNode node;
    std::vector<Ref> in;
    std::vector<TypeId> out;
    std::vector<TaskEdge> edges;
    void leave_name_and_types();
  };
  std::uint32_t first_ = 0;  // id of the first node of nodes_; the four tables are what came since the last sweep
  LargeVector<TaskNode> nodes_;
  LargeVector<Ref> ins_;
  LargeVector<TypeId> outs_;
  LargeVector<TaskEdge> edges_;
  std::unordered_map<std::uint32_t, OldNode> old_;
  std::vector<Definition> definitions_;
  std::vector<Type> types_;
  std::unordered_multimap<std::uint64_t, TypeId> type_ids_;  // by hash of the structure
  std::unordered_map<std::string, DefinitionId> definition_ids_;
  std::unordered_map<std::string, std::uint32_t> name_ids_;  // of definitions and callees
  std::vector<std::uint32_t> definition_names_;              // definition -> name id
  std::vector<std::uint32_t> outermost_counts_;              // name id -> calls so far in no call
  RetiringTable<Scope> scopes_;
  RetiringTable<AgentInstance> agents_;
  std::vector<std::vector<Value>> argument_lists_;                      // [0] is the empty one; no two are identical
  std::unordered_multimap<std::uint64_t, std::uint32_t> argument_ids_;  // by hash
  std::vector<std::uint32_t> free_arguments_;                           // positions that no node uses any more
  RetiringTable<std::pair<Type, Value>> constants_;
  std::vector<GraphInput> inputs_;
  std::vector<GraphResult> results_;
  RetiringTable<PlaceState> places_;
  std::uint32_t count_call(ScopeId scope, std::uint32_t name);
  std::uint32_t name_id(std::string_view text);
  void add_future_edges(NodeId id);
  void add_order_edges(NodeId id, std::span<const Requirement> requirements);
  std::uint32_t intern(const std::vector<Value>& arguments);
  void update_places(NodeId id, std::span<const Requirement> requirements);
  const OldNode& old(NodeId id) const;
  OldNode copied(NodeId id, bool whole) const;
  void retire_nodes(const Staying& staying);
  void retire_scopes(const Staying& staying);
  void retire_agents();
  std::vector<std::vector<Value>> retire_arguments();
  std::vector<std::vector<TypeId>> region_types_;    // by region and field
  std::vector<std::vector<PlaceId>> region_places_;  // the same
  std::vector<PointGroup> groups_;                   // by first node
  std::deque<IndexSpace> pieces_;
  bool has_first_values_ = false;
  mutable std::shared_ptr<const Boost> boost_;
};

}  // namespace taskspec
