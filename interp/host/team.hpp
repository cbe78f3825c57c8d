// A data-parallel loop that idle workers join: the Parallel that a worker hands to the kernels it runs.
// The parts are fixed by count and grain; who takes which is not, so results never depend on it.
#pragma once
#include <atomic>
#include <exception>
#include <mutex>
#include <utility>

#include "ir/base/relax.hpp"
#include "ir/records/op.hpp"

namespace taskspec {

class Pool;

class Team final : public Parallel {
 public:
  explicit Team(Pool& pool) : pool_(pool) {}
  // By the owner; the owner works too and returns when all parts are done. A loop inside a part of another
  // one runs on its own thread only.
  void run(std::int64_t count, std::int64_t grain, Body body, void* context) override;

  // By other workers. Joining an already finished loop does no harm.
  bool wants_help() const { return open_.load(std::memory_order_seq_cst) && parts_left() > 0; }
  std::int64_t parts_left() const {
    return parts_.load(std::memory_order_relaxed) - next_.load(std::memory_order_relaxed);
  }
  void help();

 private:
  void take_parts();
  void do_part(std::int64_t part);
  void close();

  Pool& pool_;
  std::atomic<bool> busy_{false};
  std::atomic<bool> open_{false};
  std::atomic<std::uint32_t> helpers_{0};
  std::atomic<std::int64_t> parts_{0}, next_{0};
  // Written before `open_` is set, read only by those who saw it set.
  std::int64_t count_ = 0, grain_ = 1, claim_ = 1;  // parts taken at a time
  Body body_ = nullptr;
  void* context_ = nullptr;
  std::mutex error_mutex_;
  std::exception_ptr error_;
};

}  // namespace taskspec
