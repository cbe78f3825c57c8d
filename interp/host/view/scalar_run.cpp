#include "interp/host/view/scalar_run.hpp"

#include <algorithm>
#include <utility>

namespace taskspec {

ScalarRun::ScalarRun(const ScalarCode& code, LaneMachine& machine)
    : code_(code), machine_(machine), loops_(machine.program_.loops.size()) {
  const LaneProgram& program = machine.program_;
  for (std::uint32_t a = 0; a < program.accesses.size(); ++a) accesses_.push_back(access(a));
  // What registers say where elements lie is asked anew whenever the loop is entered.
  for (std::uint32_t l = 0; l < loops_.size(); ++l) {
    const bool stays =
        std::ranges::all_of(program.loops[l].aligned, [&](std::uint32_t a) { return program.accesses[a].is_constant; });
    loops_[l].is_settled = stays && settle(l);
  }
  frame_ = {.scratch = machine.scratch_,
            .loops = loops_.data(),
            .accesses = accesses_.data(),
            .turns_left = ScalarCode::turns_per_look,
            .instruction = &instruction,
            .enter = &enter,
            .look = &look,
            .owner = this};
}

void ScalarRun::run() {
  if (!code_.run(frame_)) std::rethrow_exception(std::exchange(thrown_, nullptr));
}

// Of one axis as LaneMachine::index_one has it.
ScalarFrame::Access ScalarRun::access(std::uint32_t a) const {
  const LaneAccess& access = machine_.program_.accesses[a];
  const IndexSpace& points = *machine_.view(access.view).points;
  const PieceMemory& memory = machine_.access_[a].memory;
  ScalarFrame::Access made{.from = machine_.base(access)};
  if (!points.is_rect() || !memory.is_box() || access.index.size() != 1) return made;
  made.lo = points.rect().lo[0];
  made.extent = points.rect().hi[0] - made.lo;
  made.shift = made.lo - memory.box->lo[0];
  return made;
}

// False where elements do not lie one behind the other, or somebody must look whether they are there.
bool ScalarRun::settle(std::uint32_t l) {
  const LaneLoop& loop = machine_.program_.loops[l];
  const ViewMemory& over = machine_.view(loop.view);
  if (over.root->rank != 1 || !over.points->is_rect()) return false;
  machine_.enter(loop);
  for (std::uint32_t a : loop.aligned) {
    const LaneMachine::AccessState& state = machine_.access_[a];
    if (!state.follows || !state.inside) return false;
    accesses_[a].from = state.from;
  }
  const std::int64_t lo = over.root->lo[0];
  loops_[l].first = over.points->rect().lo[0] - lo;
  loops_[l].end = over.points->rect().hi[0] - lo;
  loops_[l].to_point = lo;
  return true;
}

// ---- what the code calls --------------------------------------------------------------------------

template <class Do>
bool ScalarRun::keeps_thrown(ScalarFrame* frame, Do&& what) {
  auto& run = *static_cast<ScalarRun*>(frame->owner);
  try {
    what(run);
    return false;
  } catch (...) {
    run.thrown_ = std::current_exception();
    return true;
  }
}

std::int32_t ScalarRun::instruction(ScalarFrame* frame, std::uint32_t loop, std::uint32_t position, std::int64_t at) {
  return keeps_thrown(frame, [&](ScalarRun& run) {
    LaneMachine& machine = run.machine_;
    if (loop == ScalarCode::top) return machine.instruction(machine.program_.code[position], {});
    const LaneLoop& of = machine.program_.loops[loop];
    const LaneMachine::Segment point{0, 1, {at, 1, 0, Point::of(at + frame->loops[loop].to_point)}};
    machine.instruction(of.code[position], {&of, 1, {&point, 1}, false});
  });
}

ScalarFrame::Entered ScalarRun::enter(ScalarFrame* frame, std::uint32_t loop) {
  bool is_settled = false;
  const bool failed = keeps_thrown(frame, [&](ScalarRun& run) {
    is_settled = run.settle(loop);
    if (!is_settled) run.machine_.loop(run.machine_.program_.loops[loop]);
  });
  using Entered = ScalarFrame::Entered;
  return failed ? Entered::failed : is_settled ? Entered::settled : Entered::done;
}

std::int32_t ScalarRun::look(ScalarFrame* frame) {
  return keeps_thrown(frame, [](ScalarRun& run) { run.machine_.look_for_interrupt(); });
}

}  // namespace taskspec
