// What a backend offers: memory behind locations, and the execution of plans. It is the only layer with
// addresses; tables and sessions hold Locations.
#pragma once
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "ir/base/result.hpp"
#include "ir/op_list.hpp"
#include "ir/plan.hpp"

namespace taskspec {

struct LocationTag;
using Location = Id<LocationTag>;  // of memory that one backend owns

// How a backend gets at bodies without knowing the language: implemented by interp/control.
class Bodies {
 public:
  virtual ~Bodies() = default;
  // The ops of `node`, a task, for the types of its inputs; or why it has no such list (E3005).
  virtual Result<OpList> list(const TaskGraph& graph, NodeId node) = 0;
  // Runs any task or structured node on arrays; may be called on several threads at once. Throws Error.
  virtual std::vector<Array> run(const TaskGraph& graph, NodeId node, std::vector<Array> inputs) = 0;
};

enum class Schedule : std::uint8_t {
  push,   // steps run as soon as their inputs are there, on all workers
  pull,   // from the results backwards, what they need, by need
  eager,  // task by task in program order, no aggregation
};

struct Poison {
  NodeId origin;  // in the plan's graph
  Fault fault;
};

struct StepRecord {  // one dispatch, for profiles and traces
  StepId step;
  std::uint32_t worker = 0;
  std::int64_t begin_ns = 0, end_ns = 0;  // since the backend was made
};

struct Outcome {
  std::vector<std::variant<Location, Poison>> results;  // as graph.results
  std::uint64_t tasks_run = 0, dispatches = 0, allocations = 0, frees = 0, peak_bytes = 0;
  std::vector<StepRecord> records;  // when asked for
  std::vector<Poison> failed;       // the tasks that failed themselves, in program order
  bool lost = false;  // tasks ran, and there was no memory to note what came of them: nothing else is known
};

// A plan prepared for one backend: kernels made, arena sized.
class Executable {
 public:
  virtual ~Executable() = default;
};

struct RunOptions {
  Schedule schedule = Schedule::push;
  bool record = false;  // fill Outcome::records
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string name() const = 0;
  virtual Location allocate(const ArrayType& type) = 0;
  virtual void write(Location location, const Array& array) = 0;
  virtual Array read(Location location) const = 0;  // shares the bytes: do not change them
  virtual Location copy(Location location) = 0;
  virtual void free(Location location) = 0;

  virtual std::shared_ptr<Executable> prepare(std::shared_ptr<const Plan> plan, Bodies& bodies) = 0;
  // Runs once: `inputs` as graph.inputs. Not to be called for one Executable on two threads at once. Throws only before
  // the first task has run: then the same may be tried again.
  virtual Outcome execute(Executable& executable, std::span<const Location> inputs, const RunOptions& options) = 0;

  struct Memory {
    std::uint64_t allocations = 0, frees = 0, live_bytes = 0, peak_bytes = 0;
  };
  virtual Memory memory() const = 0;
  // Asks a running execute() to stop soon; its unfinished results are poisoned with E5009.
  virtual void interrupt() = 0;
};

}  // namespace taskspec
