#include "interp/host/executable.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace taskspec {

HostExecutable::HostExecutable(std::shared_ptr<const Plan> p, Bodies& b, std::uint32_t workers,
                               std::shared_ptr<ViewBodies> v)
    : plan(std::move(p)), bodies(b), views(std::move(v)), table(*plan), lanes(workers) {
  make_calls(CodeMaker(plan, bodies, *views));
  make_links();
  std::vector<CellPlace> places = places_of(*plan);
  find_addresses(places);
  find_results(places);
  for (Lane& lane : lanes) lane.operands.resize(codes_.most_operands);
}

// Of a step with a part that nobody knows the work of nothing is known.
Work HostExecutable::work(StepId step) const {
  Work all;
  for (const CodeCall& call : calls(step.value)) {
    const Work one = call.code->work();
    if (one.bytes == 0) return {};
    all.operations += one.operations;
    all.bytes += one.bytes;
  }
  return all;
}

std::vector<OpSite> HostExecutable::ops() const {
  std::vector<OpSite> sites;
  std::vector<std::uint32_t> next(plan->graph->size());  // by node: ops of it so far
  for (const CodeCall& call : calls_)
    for (CodeOp& op : call.code->ops()) {
      const NodeId node = plan->tasks[call.task + op.task].node;
      sites.push_back({.node = node,
                       .index = next[node.index()]++,
                       .instance = std::move(op.instance),
                       .name = op.name,
                       .span = op.span,
                       .task = std::move(op.in_task),
                       .fused = op.fused});
    }
  return sites;
}

void HostExecutable::make_calls(CodeMaker maker) {
  calls_.reserve(plan->steps());
  call_starts_.reserve(plan->steps() + 1);
  call_starts_.push_back(0);
  for (std::size_t step = 0; step < plan->steps(); ++step) {
    std::size_t end = plan->step_starts[step + 1];
    for (std::size_t task = plan->step_starts[step]; task < end;) {
      CodeCall call;
      call.first_operand = static_cast<std::uint32_t>(operand_buffers_.size());
      call.task = static_cast<std::uint32_t>(task) & ~StepLinks::only;
      call.code = &maker.make(task, end, operand_buffers_);
      calls_.push_back(call);
      has_outputs_ |= call.code->outputs > 0;
      if (const PointGroup* group = plan->graph->points(plan->tasks[task].node))
        has_rooms |= std::ranges::any_of(group->regions, [](const auto& region) { return region.room != nullptr; });
      task += call.code->tasks;
    }
    call_starts_.push_back(static_cast<std::uint32_t>(calls_.size()));
  }
  codes_ = std::move(maker).finish();
}

void HostExecutable::make_links() {
  std::size_t steps = plan->steps();
  links.waits.reserve(steps + 1);
  links.waits.assign(plan->predecessors.begin(), plan->predecessors.end());
  links.waits.push_back(0);
  for (std::size_t s = 0; s < steps; ++s)
    if (plan->successor_starts[s] == plan->successor_starts[s + 1]) ++links.waits.back();
  links.first_root = static_cast<std::uint32_t>(plan->successors.size());
  std::size_t roots = static_cast<std::size_t>(std::ranges::count(plan->predecessors, 0U));
  links.targets.reserve(plan->successors.size() + roots + 1);
  auto target = [this](std::uint32_t s) { return s | (links.waits[s] == 1 ? StepLinks::only : 0); };
  for (std::uint32_t s : plan->successors) links.targets.push_back(target(s));
  for (std::uint32_t s = 0; s < steps; ++s)
    if (plan->predecessors[s] == 0) links.targets.push_back(s);
  links.targets.push_back(target(links.end()));
  counters.resize(links.waits.size());
}

// ---- addresses ------------------------------------------------------------------------------------

namespace {

alignas(64) std::byte nowhere[64];  // where values without bytes lie

// An offset in the scratch of a worker, in the table of addresses: odd, as no address of a value is.
std::byte* in_scratch(std::uint64_t offset) { return reinterpret_cast<std::byte*>(offset << 1 | 1); }

// Operands stand in order already, and buffers are few numbers: counted, not compared.
void order_by_buffer(std::vector<std::pair<BufferId, std::uint32_t>>& operands, std::size_t buffers) {
  std::vector<std::uint32_t> next(buffers + 1);
  for (const auto& [buffer, operand] : operands) ++next[buffer.index() + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<std::pair<BufferId, std::uint32_t>> ordered(operands.size());
  for (const auto& operand : operands) ordered[next[operand.first.index()]++] = operand;
  operands = std::move(ordered);
}

}  // namespace

void HostExecutable::find_addresses(std::span<const CellPlace> places) {
  using Home = Buffer::Home;
  std::vector<BufferId> input_buffers(plan->graph->inputs().size());  // none where nobody reads it
  overwritten.resize(input_buffers.size());
  for (const GraphInput& input : plan->graph->inputs()) input_types.push_back(concrete(input.type));
  constants_.resize(plan->graph->constant_count());
  for (std::size_t i = 0; i < plan->buffers.size(); ++i) {
    BufferId first = places[i].location;
    const Buffer& home = plan->buffers[first.index()];
    if (home.home == Home::input) {
      input_buffers[home.index] = first;
      overwritten[home.index] = static_cast<char>(overwritten[home.index] | (first != BufferId(i)));
    }
    if (home.home == Home::constant && !constants_[home.index].valid()) constants_[home.index] = constant(home.index);
  }
  addresses_.resize(operand_buffers_.size());
  for (CodeCall& call : calls_)
    for (std::uint32_t k = call.first_operand, end = k + call.code->inputs + call.code->outputs; k < end; ++k) {
      BufferId first = operand_buffers_[k] = places[operand_buffers_[k].index()].location;
      const Buffer& home = plan->buffers[first.index()];
      if (home.home == Home::constant) addresses_[k] = constants_[home.index].raw();
      if (home.home == Home::input || home.home == Home::result) outside_.emplace_back(first, k);
      if (home.home != Home::scratch) continue;
      if (home.type->bytes() == 0) {
        addresses_[k] = nowhere;
        continue;
      }
      addresses_[k] = in_scratch(home.offset);
      call.in_scratch = 1;
      code_scratch_at_ = (plan->scratch_bytes + 63) / 64 * 64;
    }
  for (CodeCall& call : calls_) call.needs_scratch = call.in_scratch || call.code->scratch_bytes() > 0;
  order_by_buffer(outside_, plan->buffers.size());
  for (BufferId first : input_buffers)
    input_starts_.push_back(first.valid() ? start_of(first) : static_cast<std::uint32_t>(outside_.size()));
}

// Of the operands of a buffer in outside_; its end where there are none.
std::uint32_t HostExecutable::start_of(BufferId first) const {
  const auto at = std::ranges::lower_bound(outside_, std::pair(first, 0U));
  const bool found = at != outside_.end() && at->first == first;
  return static_cast<std::uint32_t>((found ? at : outside_.end()) - outside_.begin());
}

Array HostExecutable::constant(std::size_t id) const {
  const Value& value = plan->graph->constant(id);
  if (value.is_array()) return value.array();
  Array array = Array::make(concrete(plan->graph->constant_type(id)));
  if (value.is_real() || is_float(array.precision()))
    array.set_number(0, value.real());
  else
    array.set_integer(0, value.is_bool() ? value.boolean() : value.integer());
  return array;
}

void HostExecutable::bind(std::size_t start, std::byte* bytes) {
  for (std::size_t at = start; at < outside_.size(); ++at) {
    const auto& [buffer, operand] = outside_[at];
    if (buffer != outside_[start].first || addresses_[operand] == bytes) return;
    addresses_[operand] = bytes;
    ++moves_;
  }
}

void HostExecutable::bind_arena(std::byte* arena) {
  if (arena == arena_) return;
  arena_ = arena;
  ++moves_;
  for (std::size_t k = 0; k < addresses_.size(); ++k) {
    const Buffer& buffer = plan->buffers[operand_buffers_[k].index()];
    if (buffer.home == Buffer::Home::arena) addresses_[k] = arena + buffer.offset;
  }
}

const std::byte* HostExecutable::address(const Buffer& buffer) const {
  if (buffer.home == Buffer::Home::constant) return constants_[buffer.index].raw();
  if (buffer.home == Buffer::Home::arena) return arena_ + buffer.offset;
  bug("a result that lies in the scratch of a worker");
}

std::byte* const* HostExecutable::gather(const CodeCall& call, Lane& lane) const {
  std::size_t count = call.code->inputs + call.code->outputs;
  for (std::size_t i = 0; i < count; ++i) {
    std::byte* address = addresses_[call.first_operand + i];
    auto bits = reinterpret_cast<std::uintptr_t>(address);
    lane.operands[i] = bits & 1 ? lane.scratch.data() + (bits >> 1) : address;
  }
  return lane.operands.data();
}

// ---- results --------------------------------------------------------------------------------------

void HostExecutable::find_results(std::span<const CellPlace> places) {
  std::vector<char> given(plan->buffers.size());  // memory that is a result already
  const std::vector<std::uint32_t> taken = taken_inputs(*plan);
  for (BufferId buffer : plan->results) {
    BufferId first = places[buffer.index()].location;
    bool own = plan->buffers[first.index()].home == Buffer::Home::result && !std::exchange(given[first.index()], 1);
    results.push_back({buffer, first, own, taken[results.size()]});
  }
}

const std::vector<char>& HostExecutable::needed() {
  if (!needed_.empty()) return needed_;
  needed_.resize(plan->steps());
  const TaskGraph& graph = *plan->graph;
  std::vector<char> wanted(plan->buffers.size());
  for (const ResultSource& source : results) wanted[source.buffer.index()] = 1;
  for (std::size_t step = plan->steps(); step-- > 0;) {
    for (std::size_t task = plan->step_starts[step]; task < plan->step_starts[step + 1]; ++task) {
      const bool effect = graph[plan->tasks[task].node].effect || outputs(task).empty();
      for (BufferId buffer : outputs(task)) needed_[step] |= wanted[buffer.index()];
      needed_[step] = static_cast<char>(needed_[step] | effect);
    }
    if (!needed_[step]) continue;
    for (std::size_t task = plan->step_starts[step]; task < plan->step_starts[step + 1]; ++task)
      for (BufferId buffer : inputs(task)) wanted[buffer.index()] = 1;
  }
  return needed_;
}

std::size_t HostExecutable::bytes() const {
  auto of = [](const auto& list) { return list.capacity() * sizeof(list[0]); };
  return of(calls_) + of(call_starts_) + of(operand_buffers_) + of(addresses_) + of(outside_) + of(links.targets) +
         of(links.waits) + of(counters) + of(lanes);
}

}  // namespace taskspec
