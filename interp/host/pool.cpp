#include "interp/host/pool.hpp"

#include <algorithm>
#include <deque>

namespace taskspec {

namespace {
constexpr int search_rounds = 200;  // some microseconds
}

Pool::Pool(std::uint32_t threads) {
  for (std::uint32_t i = 0; i < std::max(threads, 1U); ++i) workers_.emplace_back(*this, i);
  idle_.reserve(workers_.size());
  for (std::uint32_t i = 1; i < workers_.size(); ++i) threads_.emplace_back([this, i] { live(workers_[i]); });
}

Pool::~Pool() {
  quit_.store(true, std::memory_order_seq_cst);
  while (sleepers_.load(std::memory_order_seq_cst) != 0) wake_one();
  for (std::thread& thread : threads_) thread.join();
}

Pool::Entry::Entry(Pool& pool) : pool_(pool), lock_(pool.entrance_) {
  pool_.caller_.store(std::this_thread::get_id(), std::memory_order_relaxed);
}

Pool::Entry::~Entry() { pool_.caller_.store({}, std::memory_order_relaxed); }

Worker* Pool::here() {
  std::thread::id id = std::this_thread::get_id();
  if (caller_.load(std::memory_order_relaxed) == id) return &workers_[0];
  for (std::size_t i = 0; i < threads_.size(); ++i)
    if (threads_[i].get_id() == id) return &workers_[i + 1];
  return nullptr;
}

void Pool::run(Worker& caller, Work& work, Range first) {
  work_.store(&work, std::memory_order_relaxed);
  finished_.store(false, std::memory_order_relaxed);
  caller.push(first);
  live(caller);
}

// The caller lives until the run is finished, the others until the pool ends.
bool Pool::over(const Worker& self) const {
  return self.index == 0 ? finished_.load(std::memory_order_seq_cst) : quit_.load(std::memory_order_seq_cst);
}

void Pool::live(Worker& self) {
  for (Range range; !over(self);)
    if (self.deque_.pop(range) || find(self, range)) work_.load(std::memory_order_relaxed)->process(self, range);
}

bool Pool::find(Worker& self, Range& range) {
  searchers_.fetch_add(1, std::memory_order_seq_cst);
  for (int round = 0; round < search_rounds && !over(self); ++round) {
    if (take_from(self, range)) return true;
    if (searchers_.load(std::memory_order_relaxed) == 0) return false;
    relax();
  }
  searchers_.fetch_sub(1, std::memory_order_seq_cst);
  if (!over(self)) sleep(self);
  return false;
}

}  // namespace taskspec
