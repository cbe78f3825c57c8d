#include "interp/host/fused_code.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <mutex>
#include <numeric>
#include <utility>

namespace taskspec {

struct FusedCode::RunState {
  std::byte* const* operands;
  TaskContext& context;
  std::span<const char> dead;
  bool lives(const FusedOp& op) const { return dead.empty() || !dead[op.task]; }
};

namespace {

std::vector<std::vector<std::uint32_t>> reads_of(const FusedBody& body) {
  std::vector<std::vector<std::uint32_t>> reads(body.tasks);
  std::vector<std::uint32_t> task_of(body.values.size(), UINT32_MAX);
  for (const FusedOp& op : body.ops) {
    for (std::uint32_t v : op.in)
      if (task_of[v] != UINT32_MAX && task_of[v] != op.task) reads[op.task].push_back(task_of[v]);
    for (std::uint32_t v : op.out) task_of[v] = op.task;
  }
  return reads;
}

std::vector<std::uint32_t> index_in_tasks(const FusedBody& body) {
  std::vector<std::uint32_t> index, next(body.tasks);
  for (const FusedOp& op : body.ops) index.push_back(next[op.task]++);
  return index;
}

std::size_t rounded(std::size_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

FusedCode::FusedCode(FusedBody body, std::vector<std::shared_ptr<const Kernel>> kernels)
    : TaskCode(body.inputs.size(), body.outputs.size(), body.tasks),
      body_(std::move(body)),
      kernels_(std::move(kernels)),
      layout_(lay_out(body_, kernels_)),
      reads_(reads_of(body_)),
      index_(index_in_tasks(body_)) {
  std::size_t kernel_scratch = 0;
  for (const FusedPass& pass : layout_.passes) {
    if (pass.strips) continue;
    const FusedOp& op = body_.ops[pass.ops[0]];
    kernel_scratch = std::max(kernel_scratch, kernels_[pass.ops[0]]->scratch_bytes());
    pointers_ = std::max(pointers_, op.in.size() + op.out.size());
  }
  kernel_scratch_at_ = rounded(layout_.scratch_bytes);
  pointers_at_ = kernel_scratch_at_ + rounded(kernel_scratch);
}

Work FusedCode::work() const {
  Work all;
  for (const FusedOp& op : body_.ops)
    if (!op.number) all.operations += op.instance.op->work(op.instance).operations;
  for (const std::vector<FusedOperand>* operands : {&body_.inputs, &body_.outputs})
    for (const FusedOperand& operand : *operands) all.bytes += static_cast<double>(body_.values[operand.value].bytes());
  return all;
}

std::vector<CodeOp> FusedCode::ops() const {
  std::vector<CodeOp> ops;
  for (const FusedOp& op : body_.ops)
    ops.push_back({.task = op.task, .instance = op.instance, .name = "number", .span = op.span, .in_task = op.in_task});
  for (const FusedPass& pass : layout_.passes)
    for (std::uint32_t position : pass.ops) ops[position].fused = pass.strips;
  return ops;
}

bool FusedCode::run(std::byte* const* operands, TaskContext& context, OpTimes* times) const {
  try {
    return run_passes(operands, context, times);
  } catch (...) {  // nobody knows how far it came
    for (std::uint32_t task = 0; task < tasks; ++task) keep_thrown(context, task);
    return false;
  }
}

bool FusedCode::run_passes(std::byte* const* operands, TaskContext& context, OpTimes* times) const {
  RunState state{operands, context, context.dead};
  std::vector<char> dead;  // grows only when something fails
  std::size_t before = context.faults.size();
  for (const FusedCopy& c : layout_.before) copy(c, state);
  for (const FusedPass& pass : layout_.passes) {
    if (context.flags && context.flags->is_interrupted()) return interrupt(context), false;
    if (run_pass(pass, state, times)) continue;
    dead = spread(context.dead, std::span(context.faults).subspan(before));
    state.dead = dead;
  }
  for (const FusedCopy& c : layout_.after) copy(c, state);
  return context.faults.size() == before;
}

bool FusedCode::run_pass(const FusedPass& pass, RunState& state, OpTimes* times) const {
  if (times) return run_timed(pass, state, *times);
  return pass.strips ? run_strips(pass, state) : run_kernel(pass, state);
}

// A chain of long ops does not make Ctrl-C wait for its end. All its tasks fail: what is finished may still lie
// elsewhere than where it belongs.
void FusedCode::interrupt(TaskContext& context) const {
  std::vector<char> done(context.dead.begin(), context.dead.end());
  done.resize(tasks);
  for (const TaskFault& fault : context.faults) done[fault.task] = 1;
  for (std::uint32_t task = 0; task < tasks; ++task)
    if (!done[task]) context.faults.push_back({task, {"E5009", "interrupted"}});
  std::ranges::sort(context.faults, {}, &TaskFault::task);
}

// A task that failed is dead, and so is who reads what a dead one made.
std::vector<char> FusedCode::spread(std::span<const char> given, std::span<const TaskFault> faults) const {
  std::vector<char> dead(given.begin(), given.end());
  dead.resize(tasks);
  for (const TaskFault& fault : faults) dead[fault.task] = 1;
  for (std::size_t task = 0; task < dead.size(); ++task)
    for (std::uint32_t earlier : reads_[task]) dead[task] |= dead[earlier];
  return dead;
}

std::byte* FusedCode::address(const BytesAt& place, const RunState& state) const {
  switch (place.kind) {
    case BytesAt::Kind::operand:
      return state.operands[place.at];
    case BytesAt::Kind::constant:
      return const_cast<std::byte*>(body_.constants[place.at].second.raw());
    case BytesAt::Kind::scratch:
      return state.context.scratch + place.at;
    case BytesAt::Kind::strip:
      break;
  }
  bug("a value that lives in strips was used outside its pass");
}

void FusedCode::copy(const FusedCopy& copy, const RunState& state) const {
  std::byte *from = address(copy.from, state), *to = address(copy.to, state);
  if (from != to) std::memcpy(to, from, copy.bytes);
}

bool FusedCode::run_kernel(const FusedPass& pass, RunState& state) const {
  const FusedOp& op = body_.ops[pass.ops[0]];
  if (!state.lives(op)) return true;
  auto** pointers = reinterpret_cast<std::byte**>(state.context.scratch + pointers_at_);
  std::byte** out = pointers;
  for (std::uint32_t v : op.in) *out++ = address(layout_.places[v], state);
  for (std::size_t i = 0; i < op.out.size(); ++i) out[i] = address(layout_.places[op.out[i]], state);
  try {
    auto fault = kernels_[pass.ops[0]]->run({{pointers, op.in.size()},
                                             {out, op.out.size()},
                                             state.context.scratch + kernel_scratch_at_,
                                             *state.context.parallel});
    if (!fault) return true;
    state.context.faults.push_back({op.task, *std::move(fault)});
  } catch (...) {
    keep_thrown(state.context, op.task);
  }
  return false;
}

// Ops of one pass run by turns, strip by strip: each has its share of the time that the pass took.
bool FusedCode::run_timed(const FusedPass& pass, RunState& state, OpTimes& times) const {
  std::array<std::int64_t, StripLimits::ops> spent{};
  const OpTimes::Clock::time_point begin = OpTimes::Clock::now();
  const bool ran = pass.strips ? run_strips(pass, state, spent.data()) : run_kernel(pass, state);
  const OpTimes::Clock::duration time = OpTimes::Clock::now() - begin;
  const double all = static_cast<double>(std::accumulate(spent.begin(), spent.end(), std::int64_t{0}));
  for (std::size_t k = 0; k < pass.ops.size(); ++k) {
    const FusedOp& op = body_.ops[pass.ops[k]];
    if (!state.lives(op)) continue;
    const double share = all > 0 ? static_cast<double>(spent[k]) / all : 1.0 / static_cast<double>(pass.ops.size());
    times.add(op.task, index_[pass.ops[k]], std::chrono::duration_cast<OpTimes::Clock::duration>(time * share));
  }
  return ran;
}

namespace {

// What the strips of one part of the work take, by op.
class StripClock {
 public:
  explicit StripClock(bool runs) {
    if (runs) last_ = OpTimes::Clock::now();
  }
  void lap(std::size_t op) {
    const OpTimes::Clock::time_point now = OpTimes::Clock::now();
    spent_[op] += (now - std::exchange(last_, now)).count();
  }
  void add_to(std::int64_t* all, std::size_t ops) const {
    for (std::size_t k = 0; k < ops; ++k) std::atomic_ref(all[k]).fetch_add(spent_[k], std::memory_order_relaxed);
  }

 private:
  OpTimes::Clock::time_point last_;
  std::array<std::int64_t, StripLimits::ops> spent_{};
};

// Where an operand of a strip pass begins, and how far it moves per element; strips stay where they are.
struct Stream {
  std::byte* begin = nullptr;
  std::size_t step = 0;
};

struct StripOp {
  const Kernel* kernel = nullptr;
  std::uint32_t position = 0, task = 0, of_pass = 0;  // in the body; in the pass
  std::size_t inputs = 0;
  std::array<Stream, StripLimits::inputs + 1> streams;  // the output is the last
  std::size_t out_width = 0;

  std::optional<Fault> run(std::int64_t first, std::int64_t count) const {
    std::array<const std::byte*, StripLimits::inputs> in{};
    for (std::size_t i = 0; i < inputs; ++i)
      in[i] = streams[i].begin + streams[i].step * static_cast<std::size_t>(first);
    std::byte* out = streams[inputs].begin + streams[inputs].step * static_cast<std::size_t>(first);
    auto fault = kernel->run_strip({in.data(), inputs}, {&out, 1}, count);
    // Who reads this is poisoned too, but runs through the rest of the strip: on zeros.
    if (fault) std::memset(out, 0, out_width * static_cast<std::size_t>(count));
    return fault;
  }
};

// The faults of a pass: per task the first by op, then by place in the data, whatever the threads did.
class StripFaults {
 public:
  void add(const StripOp& op, std::int64_t first, Fault fault) {
    std::lock_guard lock(mutex_);
    items_.push_back({op.position, op.task, first, std::move(fault)});
  }
  bool give_to(std::vector<TaskFault>& faults) {
    std::sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) {
      return std::tuple(a.task, a.position, a.first) < std::tuple(b.task, b.position, b.first);
    });
    for (std::size_t i = 0; i < items_.size(); ++i)
      if (i == 0 || items_[i].task != items_[i - 1].task)
        faults.push_back({items_[i].task, std::move(items_[i].fault)});
    return items_.empty();
  }

 private:
  struct Item {
    std::uint32_t position, task;
    std::int64_t first;
    Fault fault;
  };
  std::mutex mutex_;
  std::vector<Item> items_;
};

}  // namespace

bool FusedCode::run_strips(const FusedPass& pass, RunState& state, std::int64_t* spent) const {
  std::array<StripOp, StripLimits::ops> ops;
  std::size_t used = 0;
  for (std::uint32_t k = 0; k < pass.ops.size(); ++k) {
    const std::uint32_t position = pass.ops[k];
    const FusedOp& op = body_.ops[position];
    if (!state.lives(op)) continue;
    StripOp& s = ops[used++];
    s.kernel = kernels_[position].get();
    s.position = position;
    s.of_pass = k;
    s.task = op.task;
    s.inputs = op.in.size();
    s.out_width = info(body_.values[op.out[0]].precision).bytes;
    auto stream = [&](std::uint32_t value, std::size_t step) {
      const BytesAt& place = layout_.places[value];
      if (place.kind != BytesAt::Kind::strip) return Stream{address(place, state), step};
      return Stream{nullptr, place.at};  // the slot; each part of the work has its own strips
    };
    for (std::size_t i = 0; i < op.in.size(); ++i) s.streams[i] = stream(op.in[i], s.kernel->strip_steps()[i]);
    s.streams[s.inputs] = stream(op.out[0], s.out_width);
  }
  StripFaults faults;
  // Kernels split large work into parts of about this size, too.
  std::int64_t grain = std::max<std::int64_t>(32768 / pass.strip_elements, 1) * pass.strip_elements;
  state.context.parallel->for_each(pass.elements, grain, [&](std::int64_t begin, std::int64_t end) {
    alignas(64) std::byte strips[StripLimits::memory];
    std::array<StripOp, StripLimits::ops> mine = ops;
    for (StripOp& op : std::span(mine).first(used))
      for (Stream& s : op.streams)
        if (!s.begin) s = {strips + s.step * pass.slot_bytes, 0};
    StripClock clock(spent != nullptr);
    for (std::int64_t first = begin; first < end; first += pass.strip_elements)
      for (const StripOp& op : std::span(mine).first(used)) {
        if (auto fault = op.run(first, std::min(pass.strip_elements, end - first)))
          faults.add(op, first, *std::move(fault));
        if (spent) clock.lap(op.of_pass);
      }
    if (spent) clock.add_to(spent, pass.ops.size());
  });
  return faults.give_to(state.context.faults);
}

}  // namespace taskspec
