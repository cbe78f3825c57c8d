// The plan: a taskGraph with its chains made ready to run many times. Steps are chains (one dispatch each),
// buffers have lifetimes and offsets in one arena, in-place updates are decided here.
//
//   std::shared_ptr<const Plan> p = make_plan(graph, aggregate(graph), {.host_threads = 2});
//
// It holds no address: `offset` counts from the arena that a backend allocates for each run.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "ir/graph/chains.hpp"
#include "ir/graph/task_graph.hpp"

namespace taskspec {

struct StepTag;
struct BufferTag;
using StepId = Id<StepTag>;
using BufferId = Id<BufferTag>;

// The type of a buffer. A plan of a million buffers has a handful of types: Plan::types keeps them, a buffer points.
class SharedType {
 public:
  SharedType() = default;
  explicit SharedType(const ArrayType* type) : type_(type) {}
  operator const ArrayType&() const { return *type_; }
  const ArrayType& operator*() const { return *type_; }
  const ArrayType* operator->() const { return type_; }

 private:
  const ArrayType* type_ = nullptr;
};

// Where the bytes of a value lie.
struct Buffer {
  enum class Home : std::uint8_t {
    input,     // given by the caller: `index` in graph.inputs; read-only unless donated
    constant,  // of the graph: `index` in its constants
    result,    // kept after the run: `index` in graph.results; allocated when its writer starts
    arena,     // `offset` in the run's arena; lives from its writer to its last reader
    scratch,   // inside one chain: `offset` in the worker's scratch
  };
  SharedType type;
  Home home = Home::arena;
  std::uint32_t index = 0;
  std::uint64_t offset = 0;
  std::uint32_t shares =
      UINT32_MAX;      // position of the buffer whose bytes it takes over, if it does (in place, or same bytes)
  StepId first, last;  // steps between which it is alive: its writer's (given ones: first reader's), last reader's
};

struct PlanTask {
  NodeId node;
  std::uint32_t first_in = 0, first_out = 0;  // in Plan::operands; the outputs follow the inputs
};

struct Plan {
  std::shared_ptr<const TaskGraph> graph;
  LargeVector<PlanTask> tasks;  // in order of steps
  LargeVector<BufferId> operands;
  LargeVector<std::uint32_t> step_starts;                   // CSR: step -> tasks
  LargeVector<std::uint32_t> successor_starts, successors;  // CSR: step -> steps, each once
  LargeVector<std::uint32_t> predecessors;                  // per step: how many must finish before it
  LargeVector<Buffer> buffers;
  std::vector<std::shared_ptr<const ArrayType>> types;  // those that buffers have
  std::vector<BufferId> results;  // per result of the graph. Not always of home `result` with its index: one
                                  // that is an input, a constant or bound twice is to be copied at the end
  std::vector<bool> donated;      // by input, as it was made; may be shorter
  std::uint64_t arena_bytes = 0;
  std::uint64_t scratch_bytes = 0;        // of one worker, for values inside chains
  std::uint64_t peak_bytes = 0;           // bytes alive at once, of values and results, in program order
  std::uint64_t peak_without_chains = 0;  // the same if every inner value had a buffer of its own
  std::size_t steps() const { return step_starts.size() - 1; }
  std::size_t bytes() const;  // memory held without the graph, for reports
};

struct PlanOptions {
  bool in_place = true;
  bool reuse = true;                   // arena bytes are taken over by later values
  std::span<const bool> donated = {};  // per input: nobody needs it after this run
};

// By result: the input whose memory it is in the end, so that it can go on as the result's; UINT32_MAX for others.
std::vector<std::uint32_t> taken_inputs(const Plan& plan);

// True when no type of the graph holds a symbol, so that it can be planned.
bool has_concrete_types(const TaskGraph& graph);

// A step runs its tasks one after another on one worker; steps that are not ordered may run at the same time, and
// no two such steps touch the same bytes. Requires concrete types. Throws Error: E5008 when the arena cannot be had.
std::shared_ptr<const Plan> make_plan(std::shared_ptr<const TaskGraph> graph, const Chains& chains,
                                      const PlanOptions& options = {});

}  // namespace taskspec
