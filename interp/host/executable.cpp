#include "interp/host/executable.hpp"

#include <algorithm>
#include <utility>

namespace taskspec {

HostExecutable::HostExecutable(std::shared_ptr<const Plan> p, Bodies& b, std::uint32_t workers)
    : plan(std::move(p)), bodies(b), table(*plan), lanes(workers), store_(plan, b, true) {
  make_calls();
  make_links();
  find_addresses();
  find_results();
  for (Lane& lane : lanes) lane.operands.resize(store_.most_operands());
}

std::span<const BufferId> HostExecutable::inputs(std::size_t task) const {
  const PlanTask& t = plan->tasks[task];
  return std::span(plan->operands).subspan(t.first_in, t.first_out - t.first_in);
}

std::span<const BufferId> HostExecutable::outputs(std::size_t task) const {
  std::size_t end = task + 1 < plan->tasks.size() ? plan->tasks[task + 1].first_in : plan->operands.size();
  return std::span(plan->operands).subspan(plan->tasks[task].first_out, end - plan->tasks[task].first_out);
}

void HostExecutable::make_calls() {
  calls_.reserve(plan->steps());
  call_starts_.reserve(plan->steps() + 1);
  call_starts_.push_back(0);
  for (std::size_t step = 0; step < plan->steps(); ++step) {
    std::size_t end = plan->step_starts[step + 1];
    for (std::size_t task = plan->step_starts[step]; task < end;) {
      CodeCall call;
      call.first_operand = static_cast<std::uint32_t>(operand_buffers_.size());
      call.task = static_cast<std::uint32_t>(task) & ~StepLinks::only;
      call.code = &store_.make(task, end, operand_buffers_);
      calls_.push_back(call);
      task += call.code->tasks;
    }
    call_starts_.push_back(static_cast<std::uint32_t>(calls_.size()));
  }
}

void HostExecutable::make_links() {
  std::size_t steps = plan->steps();
  links.waits.reserve(steps + 1);
  links.waits = plan->predecessors;
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

void HostExecutable::find_addresses() {
  using Home = Buffer::Home;
  input_buffers_.resize(plan->graph->inputs().size());
  overwritten.resize(input_buffers_.size());
  buffer_addresses_.resize(plan->buffers.size());
  for (std::size_t i = 0; i < plan->buffers.size(); ++i) {
    BufferId first = table.place(BufferId(i)).location;
    const Buffer& home = plan->buffers[first.index()];
    bool takes_over = first != BufferId(i);
    if (home.home == Home::input) {
      input_buffers_[home.index] = first;
      overwritten[home.index] = static_cast<char>(overwritten[home.index] | takes_over);
    }
    if (home.home == Home::constant) {
      if (takes_over) bug("a plan that overwrites a constant");
      constants_.push_back(constant(home.index));
      buffer_addresses_[i] = constants_.back().raw();
    }
  }
  addresses_.resize(operand_buffers_.size());
  for (CodeCall& call : calls_)
    for (std::uint32_t k = call.first_operand, end = k + call.code->inputs + call.code->outputs; k < end; ++k) {
      BufferId first = operand_buffers_[k] = table.place(operand_buffers_[k]).location;
      Home home = plan->buffers[first.index()].home;
      if (home == Home::constant) addresses_[k] = buffer_addresses_[first.index()];
      if (home == Home::input || home == Home::result) outside_.emplace_back(first, k);
      if (home == Home::scratch) {
        call.in_scratch = 1;
        code_scratch_at_ = (plan->scratch_bytes + 63) / 64 * 64;
      }
    }
  std::ranges::sort(outside_);
}

Array HostExecutable::constant(std::size_t id) const {
  const Value& value = plan->graph->constant(id);
  if (value.is_array()) return value.array();
  Array array = Array::make(concrete(plan->graph->constant_type(id)));
  if (value.is_real() || is_float(array.precision())) array.set_number(0, value.real());
  else array.set_integer(0, value.is_bool() ? value.boolean() : value.integer());
  return array;
}

void HostExecutable::bind(BufferId first, std::byte* bytes) {
  if (buffer_addresses_[first.index()] == bytes) return;
  buffer_addresses_[first.index()] = bytes;
  for (auto at = std::ranges::lower_bound(outside_, std::pair(first, 0U)); at != outside_.end() && at->first == first; ++at)
    addresses_[at->second] = bytes;
}

void HostExecutable::bind_input(std::size_t input, std::byte* bytes) {
  if (input_buffers_[input].valid()) bind(input_buffers_[input], bytes);
}

void HostExecutable::bind_arena(std::byte* arena) {
  if (arena == arena_) return;
  arena_ = arena;
  for (std::size_t i = 0; i < plan->buffers.size(); ++i)
    if (plan->buffers[i].home == Buffer::Home::arena) buffer_addresses_[i] = arena + plan->buffers[i].offset;
  for (std::size_t k = 0; k < addresses_.size(); ++k)
    if (plan->buffers[operand_buffers_[k].index()].home == Buffer::Home::arena)
      addresses_[k] = buffer_addresses_[operand_buffers_[k].index()];
}

std::byte* const* HostExecutable::gather(const CodeCall& call, Lane& lane) const {
  std::size_t count = call.code->inputs + call.code->outputs;
  for (std::size_t i = 0; i < count; ++i) {
    const Buffer& buffer = plan->buffers[operand_buffers_[call.first_operand + i].index()];
    bool here = buffer.home == Buffer::Home::scratch;
    lane.operands[i] = here ? lane.scratch.data() + buffer.offset : addresses_[call.first_operand + i];
  }
  return lane.operands.data();
}

// ---- results --------------------------------------------------------------------------------------

void HostExecutable::find_results() {
  using Kind = ResultSource::Kind;
  std::vector<char> given(plan->buffers.size());  // memory that is a result already
  for (BufferId buffer : plan->results) {
    BufferId first = table.place(buffer).location;
    const Buffer& home = plan->buffers[first.index()];
    Kind kind = Kind::copied;
    if (home.home == Buffer::Home::result) kind = Kind::written;
    if (home.home == Buffer::Home::input && first != buffer) kind = Kind::taken_over;
    if (std::exchange(given[first.index()], 1)) kind = Kind::copied;
    results.push_back({kind, buffer, home.index});
  }
}

const std::vector<char>& HostExecutable::needed() {
  if (!needed_.empty()) return needed_;
  needed_.resize(plan->steps());
  std::vector<char> wanted(plan->buffers.size());
  for (const ResultSource& source : results) wanted[source.buffer.index()] = 1;
  for (std::size_t step = plan->steps(); step-- > 0;) {
    for (std::size_t task = plan->step_starts[step]; task < plan->step_starts[step + 1]; ++task) {
      bool effect = outputs(task).empty();  // then it is there for what it does
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
  return of(calls_) + of(call_starts_) + of(operand_buffers_) + of(addresses_) + of(buffer_addresses_) + of(outside_) +
         of(links.targets) + of(links.waits) + of(counters) + of(lanes);
}

}  // namespace taskspec
