// What a backend offers: memory behind locations, and the execution of task graphs. It is the only layer with
// addresses; tables and sessions hold Locations.
//
//   Prepared ready = backend.prepare(graph, aggregate(*graph), {}, bodies);    // an executable, or what it refuses
//   Outcome outcome = backend.execute(*std::get<0>(ready), inputs, {});
#pragma once
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "ir/base/function_ref.hpp"
#include "ir/base/result.hpp"
#include "ir/graph/op_list.hpp"
#include "ir/plan/plan.hpp"
#include "ir/region/piece_memory.hpp"

namespace taskspec {

struct LocationTag;
using Location = Id<LocationTag>;  // of memory that one backend owns

// A C++ function on the bytes of tensors.
struct NativeTask {
  void (*run)(void* context, std::span<const std::byte* const> in, std::span<std::byte* const> out) = nullptr;
  void* context = nullptr;
};

// What one view of one point of a launch stands for, to a C++ function that works on it.
struct PointView {
  const IndexSpace* points = nullptr;
  const Rect* root = nullptr;
  std::span<std::byte* const> fields;  // by field of the region; null: the launch does not use it
  PieceMemory memory;                  // of these: the array of the region, or, of contributions, that of the piece
};

struct PointTask {
  void (*run)(void* context, std::span<const PointView> views, std::span<const std::byte* const> in,
              std::span<std::byte* const> out, const Point& point) = nullptr;
  void* context = nullptr;
};

class BlockTable;  // ir/blocks/block.hpp
class OpTable;     // ir/records/op.hpp

// How a backend gets at bodies without knowing the language: implemented by interp/control.
class Bodies {
 public:
  virtual ~Bodies() = default;
  // The ops of `node`, a task, for the types of its inputs; or why it has no such list (E3005).
  virtual Result<OpList> list(const TaskGraph& graph, NodeId node) = 0;
  // Runs any task or structured node on arrays; may be called on several threads at once. Throws Error.
  virtual std::vector<Array> run(const TaskGraph& graph, NodeId node, std::vector<Array> inputs) = 0;
  // Each op is run by itself, and a nan that it makes of numbers that are none is a fault (E5014).
  virtual bool detects_nan() const { return false; }
  // Of a definition of that kind; empty: there is none.
  virtual NativeTask native(const std::string& /*symbol*/) { return {}; }
  virtual PointTask point_task(const std::string& /*symbol*/) { return {}; }  // of a launch of native work
  // What the top level holds, as bodies read it. Throws Error E1006 where it is not set yet.
  virtual Value global(ModuleId, VariableId) { return {}; }
  // What bodies over views are made of; null: it knows of none.
  virtual const Program* program() const { return nullptr; }
  virtual const OpTable* ops() const { return nullptr; }
  virtual const BlockTable* blocks() const { return nullptr; }  // records of Task IR, for backends of chips
};

enum class Schedule : std::uint8_t {
  push,   // steps run as soon as their inputs are there, on all workers
  pull,   // from the results backwards, what they need, by need
  eager,  // task by task in program order, no aggregation
};

struct Poison {
  NodeId origin;  // in the graph that was prepared
  Fault fault;
};

struct DispatchRecord {  // of one chain, for profiles and traces
  ChainId chain;
  std::uint32_t worker = 0;
  std::int64_t begin = 0, end = 0;  // ticks of the backend's clock
};

// An op of a task as profiles name it: which one it is, and where it stands.
struct OpSite {
  NodeId node;              // the task, in the graph that was prepared
  std::uint32_t index = 0;  // among the ops of the task
  OpInstance instance;      // without an op: it is none of the table, and `name` says what it is
  std::string_view name;    // "number": host code in a task; "body": nobody knows what the task is made of
  Span span;                // where the task comes to it; none: at the place of the task
  std::shared_ptr<const std::string> task;  // as OpList::Line; none: that of the node
  bool fused = false;                       // one pass over the data with its neighbours
};

struct OpRecord {  // of one op in one run, for profiles
  NodeId node;
  std::uint32_t index = 0;  // as in its OpSite
  std::int64_t ticks = 0;   // that it took, of the backend's clock
};

struct Outcome {
  std::vector<std::variant<Location, Poison>> results;  // as graph.results
  std::uint64_t tasks_run = 0, dispatches = 0, allocations = 0, frees = 0, peak_bytes = 0;
  std::vector<DispatchRecord> records;  // when asked for
  std::vector<OpRecord> op_records;     // when asked for; ops that have nothing to do (a changed shape) have none
  std::vector<Poison> failed;           // the tasks that failed themselves, in program order
  // Points of launches that failed or did not run because of others, with the reason, by program order.
  std::vector<std::pair<NodeId, Poison>> dead;
  std::vector<std::uint32_t> taken;  // donated inputs whose location is that of a result now
  bool lost = false;  // tasks ran, and there was no memory to note what came of them: nothing else is known
};

// A graph prepared for one backend: kernels made, memory laid out.
class Executable {
 public:
  virtual ~Executable() = default;
  virtual std::shared_ptr<const Plan> plan() const { return nullptr; }  // of a backend that makes one: for reports
  // Of one dispatch, by the records of its ops; nothing where nobody knows.
  virtual Work work(ChainId) const { return {}; }
  virtual std::vector<OpSite> ops() const { return {}; }  // those that records of ops name; none: it tells of none
};
// Or what it cannot run, and why: tasks of the graph. Those and all that needs them never run; the rest may be prepared
// again without them.
using Prepared = std::variant<std::shared_ptr<Executable>, std::vector<Poison>>;

struct PrepareOptions {
  // Per input of the graph: nobody needs it after a run. It may be written over, and its location may become that of a
  // result (Outcome::taken).
  std::span<const bool> donated = {};
  // Per input of the graph: a constant that came up inside of a call, no argument of it. The contents are mostly the
  // same in all runs, and need not be. None where nobody asks (BackendRecord::keeps_constants).
  std::span<const bool> constants = {};
};

struct RunOptions {
  Schedule schedule = Schedule::push;
  bool record = false;      // fill Outcome::records
  bool record_ops = false;  // fill Outcome::op_records: two looks at the clock for each op, and the same results
  // Points of launches that cannot run because of what failed before; each is its own origin.
  std::span<const Poison> dead = {};
  // Where the call stands that became this task of the plan, which may be that of calls at other places; none: there.
  FunctionRef<Span(NodeId)> place = {};
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string name() const = 0;
  virtual Location allocate(const ArrayType& type) = 0;
  // All zeros, which take memory where they are touched.
  virtual Location allocate_zeros(const ArrayType& type) {
    const Location location = allocate(type);
    write(location, Array::make(type));
    return location;
  }
  // Zeros, of which only so many elements have memory: nobody looks at the location but the points of launches.
  virtual Location allocate_part(const ArrayType& type, std::int64_t /*elements*/) { return allocate_zeros(type); }
  virtual void write(Location location, const Array& array) = 0;
  // Of one element each, by its bits: where batches of launches run again.
  virtual void write_numbers(std::span<const Location> /*locations*/, std::span<const std::uint64_t> /*bits*/) {
    bug("a backend that repeats no batches was given the numbers of one");
  }
  virtual Array read(Location location) const = 0;  // shares the bytes: do not change them
  virtual Location copy(Location location) = 0;
  virtual void free(Location location) = 0;
  // Elements of one location become those of another one that has the same precision.
  struct Moved {
    std::int64_t from = 0, to = 0, count = 0;
  };
  virtual void move_elements(Location /*from*/, Location /*to*/, std::span<const Moved>) {
    bug("a backend without regions was given parts of a field");
  }

  virtual Prepared prepare(std::shared_ptr<const TaskGraph> graph, const Chains& chains, const PrepareOptions& options,
                           Bodies& bodies) = 0;
  // Runs once: `inputs` as graph.inputs. Not to be called for one Executable on two threads at once. Throws only before
  // the first task has run: then the same may be tried again.
  virtual Outcome execute(Executable& executable, std::span<const Location> inputs, const RunOptions& options) = 0;

  struct Memory {
    std::uint64_t allocations = 0, frees = 0, live_bytes = 0, peak_bytes = 0;
  };
  virtual Memory memory() const = 0;
  virtual std::vector<Value> report() const { return {}; }  // of the fields of its record (BackendRecord::report)
  virtual std::string report_text() const { return {}; }    // how print shows its reports; empty: field by field
  // A time step is one program to it, also what is the same in each: it is not computed once, in front of the steps.
  virtual bool keeps_steps_whole() const { return false; }
  virtual bool runs_launches() const { return false; }  // points of tasks over regions
  virtual double hz() const { return 1e9; }  // ticks of its clock in a second, of its own time where that is simulated
  // Asks a running execute() to stop soon; its unfinished results are poisoned with E5009.
  virtual void interrupt() = 0;
};

}  // namespace taskspec
