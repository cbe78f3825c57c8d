// What a lane has made of calls that come again and again: codes bound to where their operands lie.
//
//   bound.begin_run(moves, calls);
//   for (BoundCode* code : bound.all()) code->run(context);      // or, where not all are bound, one by one:
//   if (BoundCode* code = bound.of(number, call_code, operands, context, scratch)) code->run(context);
#pragma once
#include <algorithm>
#include <span>
#include <vector>

#include "interp/host/task_code.hpp"

namespace taskspec {

class BoundCalls {
 public:
  // `moves`: another number where operands lie elsewhere than in the last run. The sooner they have moved again, the
  // longer it waits until it binds them.
  void begin_run(std::uint64_t moves, std::size_t calls) {
    if (moves_ != moves) {
      moves_ = moves;
      if (!slots_.empty()) wait_ = runs_ < worth * wait_ ? std::min(2 * wait_, longest_wait) : few_runs;
      slots_.clear();
      all_.clear();
      runs_ = 0;
    } else if (++runs_ == wait_ && calls <= most_calls) {
      slots_.resize(calls);
    } else if (runs_ == wait_ + 1) {
      put_together();
    }
  }
  // Of all calls, in order. Empty: not all of them are bound, or some need the scratch of the lane.
  std::span<BoundCode* const> all() const { return all_; }
  // Null: it is not bound, or not without the scratch of the lane, which has none yet.
  BoundCode* of(std::size_t call, const TaskCode& code, std::byte* const* operands, TaskContext& context,
                const std::byte* scratch) {
    if (slots_.empty()) return nullptr;
    Slot& slot = slots_[call];
    if (slot.code && (!slot.scratch || slot.scratch == scratch)) return slot.code.get();
    if (slot.bindings == most_bindings || (!scratch && code.scratch_bytes() > 0)) return nullptr;
    slot.code = code.bind(operands, context);
    slot.scratch = slot.code && slot.code->needs_scratch() ? scratch : nullptr;
    slot.bindings = slot.code ? slot.bindings + 1 : most_bindings;
    return slot.code.get();
  }

 private:
  // Of a plan with more calls it would be more memory than it is worth.
  static constexpr std::size_t most_calls = 4096;
  static constexpr std::uint32_t most_bindings = 8;
  static constexpr std::uint64_t few_runs = 4, longest_wait = 1 << 20, worth = 16;
  struct Slot {
    std::unique_ptr<BoundCode> code;     // null: not bound
    const std::byte* scratch = nullptr;  // which it needs; null: none
    std::uint32_t bindings = 0;          // so far; as many as there may be: nothing is gained by another one
  };

  // In the run before, each has been asked for.
  void put_together() {
    all_.reserve(slots_.size());
    for (const Slot& slot : slots_) {
      if (!slot.code || slot.scratch) return all_.clear();
      all_.push_back(slot.code.get());
    }
  }

  std::vector<BoundCode*> all_;
  std::vector<Slot> slots_;  // by call; empty: they have not come often enough
  std::uint64_t moves_ = 0;
  std::uint64_t runs_ = 0, wait_ = few_runs;  // since they moved
};

}  // namespace taskspec
