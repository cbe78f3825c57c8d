// The workers: one per core, each with a deque of ready steps. A worker without work steals, joins a
// data-parallel loop of another, spins for some microseconds and then sleeps; at most one sleeper is woken
// at a time, and who was woken and finds more than it can do wakes the next.
//
//   Pool pool(2);
//   Pool::Entry entry(pool);            // this thread is worker 0 for as long as `entry` lives
//   pool.run(entry.worker(), work, {0, 1});    // work.process(worker, range) until pool.finish()
#pragma once
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "interp/host/deque.hpp"
#include "interp/host/team.hpp"

namespace taskspec {

class Worker;

// What the workers do with a range that was pushed.
class Job {
 public:
  virtual ~Job() = default;
  virtual void process(Worker& worker, StepRange range) = 0;
};

class alignas(64) Worker {
 public:
  Worker(Pool& pool, std::uint32_t index) : index(index), pool_(pool), team_(pool) {}
  const std::uint32_t index;

  bool push(StepRange range);  // by its own thread; false: there is no memory to keep it
  Parallel& parallel() { return team_; }

  static constexpr std::uint32_t none = UINT32_MAX;
  std::uint32_t parked = none;  // of the job that runs, which it processes itself: where its list of these begins

 private:
  friend class Pool;
  Pool& pool_;
  StepDeque deque_;
  Team team_;
  alignas(64) std::atomic<std::uint32_t> permit_{0};  // 1: go on
};

// What tests put in the place of the system, or between two steps that others may come between.
struct PoolHooks {
  std::function<std::thread(std::function<void()>)> start;  // none: std::thread
  std::function<void()> found;  // called by who has found something to do and still counts as searching
};

class Pool {
 public:
  explicit Pool(std::uint32_t threads, PoolHooks hooks = {});  // the caller's thread counts as one
  ~Pool();

  // The threads are started when there is first something to share: many pools never have that. How many there are
  // then, with the caller's: fewer than asked for where the system has no more. By the thread that entered, or the
  // maker.
  std::uint32_t start();

  class Entry {
   public:
    explicit Entry(Pool& pool);
    ~Entry();
    Worker& worker() { return pool_.workers_[0]; }

   private:
    Pool& pool_;
    std::lock_guard<std::mutex> lock_;
  };

  std::uint32_t size() const { return static_cast<std::uint32_t>(workers_.size()); }
  Worker& worker(std::size_t index) { return workers_[index]; }
  Worker* here();  // the worker that runs on this thread, if one does
  void run(Worker& caller, Job& job, StepRange first);
  void finish();  // by whoever processed the last range of a run
  // After something was made that another worker could do.
  void wake_if_useful() {
    if (sleepers_.load(std::memory_order_seq_cst) != 0 && searchers_.load(std::memory_order_seq_cst) == 0) wake_one();
  }

 private:
  friend class Worker;
  bool find(Worker& self, StepRange& range);  // steals, helps, in the end sleeps
  bool something_to_do() const;
  bool over(const Worker& self) const;
  void found();
  void sleep(Worker& self);
  bool strike_off(std::uint32_t index);
  void wake(Worker& worker);
  void wake_one();
  void live(Worker& self);

  const PoolHooks hooks_;
  std::deque<Worker> workers_;
  std::vector<std::thread> threads_;
  std::atomic<bool> started_{false};  // then `threads_` stays as it is
  std::mutex entrance_;               // one run at a time
  std::atomic<std::thread::id> caller_{};
  std::atomic<Job*> job_{nullptr};
  alignas(64) std::atomic<bool> finished_{true};
  std::atomic<bool> quit_{false};
  alignas(64) std::atomic<std::uint32_t> sleepers_{0};  // idle_.size()
  std::atomic<std::uint32_t> searchers_{0};
  std::mutex idle_mutex_;
  std::vector<std::uint32_t> idle_;  // workers that sleep or are about to
};

inline bool Worker::push(StepRange range) {
  if (!deque_.push(range)) return false;
  pool_.wake_if_useful();
  return true;
}

}  // namespace taskspec
