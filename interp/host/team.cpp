#include "interp/host/team.hpp"

#include <algorithm>

#include "interp/host/pool.hpp"

namespace taskspec {

namespace {
constexpr int spins = 200;  // some microseconds; stragglers are part of one part away
}

void Team::run(std::int64_t count, std::int64_t grain, Body body, void* context) {
  if (count <= 0) return;
  grain = std::max<std::int64_t>(grain, 1);
  if (count <= grain || pool_.size() == 1 || busy_.exchange(true, std::memory_order_acquire))
    return Serial().run(count, grain, body, context);
  pool_.start();
  count_ = count;
  grain_ = grain;
  body_ = body;
  context_ = context;
  std::int64_t parts = (count - 1) / grain + 1;
  claim_ = std::max<std::int64_t>(parts / (std::int64_t{32} * pool_.size()), 1);
  parts_.store(parts, std::memory_order_relaxed);
  next_.store(0, std::memory_order_relaxed);
  open_.store(true, std::memory_order_seq_cst);
  pool_.wake_if_useful();
  take_parts();
  close();
  std::exception_ptr error = std::exchange(error_, nullptr);
  busy_.store(false, std::memory_order_release);
  if (error) std::rethrow_exception(error);
}

void Team::take_parts() {
  std::int64_t parts = parts_.load(std::memory_order_relaxed);
  for (std::int64_t first; (first = next_.fetch_add(claim_, std::memory_order_relaxed)) < parts;)
    for (std::int64_t part = first; part < std::min(first + claim_, parts); ++part) do_part(part);
}

void Team::do_part(std::int64_t part) {
  try {
    body_(context_, part * grain_, std::min((part + 1) * grain_, count_));
  } catch (...) {
    std::lock_guard lock(error_mutex_);
    if (!error_) error_ = std::current_exception();
  }
}

// A helper counts itself before it looks at `open_`, we close before we look at the count: either it sees
// that it came too late, or we see it and wait.
void Team::close() {
  open_.store(false, std::memory_order_seq_cst);
  for (int i = 0; i < spins; ++i) {
    if (helpers_.load(std::memory_order_seq_cst) == 0) return;
    relax();
  }
  for (std::uint32_t helpers; (helpers = helpers_.load(std::memory_order_seq_cst)) != 0;) helpers_.wait(helpers);
}

void Team::help() {
  helpers_.fetch_add(1, std::memory_order_seq_cst);
  if (open_.load(std::memory_order_seq_cst)) take_parts();
  if (helpers_.fetch_sub(1, std::memory_order_seq_cst) == 1) helpers_.notify_one();
}

}  // namespace taskspec
