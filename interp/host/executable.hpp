// A plan prepared for the host: its code, the addresses of its operands, and the lists by which its steps
// set one another free. Made once, run many times; a run changes only counters, cells and addresses.
#pragma once
#include "interp/host/bound_calls.hpp"
#include "interp/host/code_maker.hpp"
#include "interp/host/memory.hpp"

namespace taskspec {

// One code of a step and where its operands are: in the table of addresses, or in the scratch of a worker.
struct CodeCall {
  const TaskCode* code = nullptr;
  std::uint32_t first_operand = 0;
  std::uint32_t task : 30 = 0;          // the first of its tasks in the plan
  std::uint32_t in_scratch : 1 = 0;     // some operand lies in the worker's scratch
  std::uint32_t needs_scratch : 1 = 0;  // for that, or for itself: others run where there is no memory for scratch
};

// Who follows whom, as the scheduler wants it. Step s makes targets[starts[s]..starts[s + 1]) ready; behind
// them stand the steps that wait for nothing, and last the virtual step `end`, which waits for all steps
// that make nothing else ready.
struct StepLinks {
  static constexpr std::uint32_t only = 1U << 31;  // flag in targets: it waits for nobody else
  std::vector<std::uint32_t> targets;
  std::uint32_t first_root = 0;      // in targets
  std::vector<std::uint32_t> waits;  // by step, then `end`: for how many others
  std::uint32_t end() const { return static_cast<std::uint32_t>(waits.size() - 1); }
  std::uint32_t end_position() const { return static_cast<std::uint32_t>(targets.size() - 1); }
};

// Where a result of the graph comes from.
struct ResultSource {
  BufferId buffer;
  BufferId location;     // the first buffer of its row of takeovers
  bool written = false;  // in memory of its own, made before the run; else copied after it, but if
  static constexpr std::uint32_t none = UINT32_MAX;
  std::uint32_t takes = none;  // the input whose location becomes that of the result
};

// What one worker needs in a run; kept between runs, so that nothing is allocated.
struct alignas(64) Lane {
  TaskContext context;
  MemoryBlock scratch;
  std::vector<std::byte*> operands;
  BoundCalls bound;
  std::uint64_t tasks = 0, dispatches = 0;
  std::vector<char> dead;  // of this and what follows only runs that fail or record make use
  std::vector<Poison> failed;
  std::vector<DispatchRecord> records;
  OpTimes times;
};

class HostExecutable {
 public:
  HostExecutable(std::shared_ptr<const Plan> plan, Bodies& bodies, std::uint32_t workers,
                 std::shared_ptr<ViewBodies> views = std::make_shared<ViewBodies>());

  Work work(StepId step) const;
  std::vector<OpSite> ops() const;
  std::span<const CodeCall> calls(std::uint32_t step) const {
    return {calls_.data() + call_starts_[step], calls_.data() + call_starts_[step + 1]};
  }
  std::byte* const* operands(const CodeCall& call, Lane& lane) const {
    return call.in_scratch ? gather(call, lane) : addresses_.data() + call.first_operand;
  }
  // Null: it is not bound on this lane.
  BoundCode* bound_code(const CodeCall& call, Lane& lane) const {
    return call.in_scratch ? nullptr
                           : lane.bound.of(static_cast<std::size_t>(&call - calls_.data()), *call.code,
                                           addresses_.data() + call.first_operand, lane.context, lane.scratch.data());
  }
  // Of all calls in order, if none of them has an output; empty: not all are bound.
  std::span<BoundCode* const> bound_codes(const Lane& lane) const {
    return has_outputs_ ? std::span<BoundCode* const>() : lane.bound.all();
  }
  // The step that so many calls lead to, or into.
  std::uint32_t step_at(std::size_t calls) const {
    return static_cast<std::uint32_t>(std::ranges::upper_bound(call_starts_, calls) - call_starts_.begin() - 1);
  }
  void unbind() { ++moves_; }  // nothing that is bound to operands is as it was, though they may lie where they did
  void begin_run(Lane& lane) const { lane.bound.begin_run(moves_, calls_.size()); }
  std::span<const BufferId> inputs(std::size_t task) const {
    const PlanTask& t = plan->tasks[task];
    return {plan->operands.data() + t.first_in, plan->operands.data() + t.first_out};
  }
  std::span<const BufferId> outputs(std::size_t task) const {
    std::size_t end = task + 1 < plan->tasks.size() ? plan->tasks[task + 1].first_in : plan->operands.size();
    return {plan->operands.data() + plan->tasks[task].first_out, plan->operands.data() + end};
  }
  std::size_t scratch_bytes() const { return code_scratch_at_ + codes_.scratch_bytes; }
  std::size_t code_scratch_at() const { return code_scratch_at_; }  // before it is what the plan keeps there

  void bind_arena(std::byte* arena);  // costs nothing when it is the same as last time
  void bind_input(std::size_t input, std::byte* bytes) { bind(input_starts_[input], bytes); }
  void bind_result(const ResultSource& result, std::byte* bytes) { bind(start_of(result.location), bytes); }
  // Of what is neither an input nor a result.
  const std::byte* address(const Buffer& buffer) const;
  const std::vector<char>& needed();  // by step: for the results, or for what it does (pull)
  std::size_t bytes() const;          // memory of what is made here, for reports

  const std::shared_ptr<const Plan> plan;
  Bodies& bodies;
  const std::shared_ptr<ViewBodies> views;
  LookupTable table;
  StepLinks links;
  std::vector<std::uint32_t> counters;  // by step: for how many it still waits; atomic in a run
  std::vector<Lane> lanes;              // by worker
  std::vector<ResultSource> results;
  std::vector<ArrayType> input_types;
  std::vector<char> overwritten;  // by input: some task writes into its bytes
  bool running = false;
  bool has_rooms = false;  // some elements of a region may have no memory: where others lie changes with its location
  struct Bound {
    std::uint64_t changes = 0;  // Locations::changes() then; 0: not yet
    std::vector<Location> inputs;
  } bound;  // what the last run has bound

 private:
  void make_calls(CodeMaker maker);
  void make_links();
  void find_results(std::span<const CellPlace> places);
  void find_addresses(std::span<const CellPlace> places);
  Array constant(std::size_t id) const;  // as an array, also if it is a host number
  std::uint32_t start_of(BufferId first) const;
  void bind(std::size_t start, std::byte* bytes);
  std::byte* const* gather(const CodeCall& call, Lane& lane) const;

  CodeSet codes_;
  std::vector<CodeCall> calls_;
  bool has_outputs_ = false;  // some call
  std::vector<std::uint32_t> call_starts_;
  std::vector<BufferId> operand_buffers_;                    // first ones of their rows of takeovers
  std::vector<std::byte*> addresses_;                        // by operand; odd: an offset in the worker's scratch
  std::uint64_t moves_ = 1;                                  // of operands, so far
  std::vector<std::pair<BufferId, std::uint32_t>> outside_;  // sorted: buffers of inputs and results, their operands
  std::vector<std::uint32_t> input_starts_;                  // by input of the graph: of its operands in outside_
  std::vector<Array> constants_;                             // by constant of the graph, those that somebody reads
  std::byte* arena_ = nullptr;
  std::size_t code_scratch_at_ = 0;
  std::vector<char> needed_;
};

}  // namespace taskspec
