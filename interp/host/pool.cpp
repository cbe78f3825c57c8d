#include "interp/host/pool.hpp"

#include <algorithm>
#include <system_error>

namespace taskspec {

namespace {
constexpr int search_rounds = 200;  // some microseconds
}

Pool::Pool(std::uint32_t threads, PoolHooks hooks) : hooks_(std::move(hooks)) {
  for (std::uint32_t i = 0; i < std::max(threads, 1U); ++i) workers_.emplace_back(*this, i);
  idle_.reserve(workers_.size());
  threads_.reserve(workers_.size());
}

// A worker whose thread cannot be started has nothing to do, and nobody waits for it.
std::uint32_t Pool::start() {
  if (!started_.load(std::memory_order_relaxed)) {
    try {
      for (std::uint32_t i = 1; i < workers_.size(); ++i) {
        std::function<void()> work = [this, i] { live(workers_[i]); };
        threads_.push_back(hooks_.start ? hooks_.start(std::move(work)) : std::thread(std::move(work)));
      }
    } catch (const std::system_error&) {
    } catch (const std::bad_alloc&) {
    }
    started_.store(true, std::memory_order_release);
  }
  return static_cast<std::uint32_t>(threads_.size()) + 1;
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
  if (!started_.load(std::memory_order_acquire)) return nullptr;
  for (std::size_t i = 0; i < threads_.size(); ++i)
    if (threads_[i].get_id() == id) return &workers_[i + 1];
  return nullptr;
}

void Pool::run(Worker& caller, Job& job, StepRange first) {
  start();
  job_.store(&job, std::memory_order_relaxed);
  finished_.store(false, std::memory_order_relaxed);
  job.process(caller, first);
  live(caller);
}

// The caller lives until the run is finished, the others until the pool ends.
bool Pool::over(const Worker& self) const {
  return self.index == 0 ? finished_.load(std::memory_order_seq_cst) : quit_.load(std::memory_order_seq_cst);
}

void Pool::live(Worker& self) {
  for (StepRange range; !over(self);)
    if (self.deque_.pop(range) || find(self, range)) job_.load(std::memory_order_relaxed)->process(self, range);
}

bool Pool::find(Worker& self, StepRange& range) {
  searchers_.fetch_add(1, std::memory_order_seq_cst);
  for (int round = 0; round < search_rounds && !over(self); ++round) {
    for (std::uint32_t i = 1; i < size(); ++i) {
      Worker& other = workers_[(self.index + i) % size()];
      if (other.deque_.steal(range)) {
        found();
        return true;
      }
      if (other.team_.wants_help()) {
        found();
        other.team_.help();
        return false;
      }
    }
    relax();
  }
  searchers_.fetch_sub(1, std::memory_order_seq_cst);
  if (!over(self)) sleep(self);
  return false;
}

// Whoever makes work while somebody searches wakes nobody. So the last searcher, when it is none any more, looks
// whether there is something left: either it sees the new work, or its maker saw that nobody searches.
void Pool::found() {
  if (hooks_.found) hooks_.found();
  if (searchers_.fetch_sub(1, std::memory_order_seq_cst) != 1) return;
  if (sleepers_.load(std::memory_order_seq_cst) != 0 && something_to_do()) wake_if_useful();
}

bool Pool::something_to_do() const {
  return std::any_of(workers_.begin(), workers_.end(),
                     [](const Worker& w) { return !w.deque_.empty() || w.team_.wants_help(); });
}

// First on the list, then one more look: whoever makes work does it the other way round, so that one of
// the two sees the other.
void Pool::sleep(Worker& self) {
  {
    std::lock_guard lock(idle_mutex_);
    idle_.push_back(self.index);
    sleepers_.store(static_cast<std::uint32_t>(idle_.size()), std::memory_order_seq_cst);
  }
  if ((something_to_do() || over(self)) && strike_off(self.index)) return;
  self.permit_.wait(0, std::memory_order_acquire);
  self.permit_.store(0, std::memory_order_relaxed);
}

// False when somebody was faster: then a permit is there, or on its way.
bool Pool::strike_off(std::uint32_t index) {
  std::lock_guard lock(idle_mutex_);
  auto found = std::find(idle_.begin(), idle_.end(), index);
  if (found == idle_.end()) return false;
  idle_.erase(found);
  sleepers_.store(static_cast<std::uint32_t>(idle_.size()), std::memory_order_seq_cst);
  return true;
}

// notify_one first looks whether anybody waits, and makes no call of the system if nobody does. That look must not come
// before the store: a worker that went to sleep in between would find no permit, and nobody would wake it.
void Pool::wake(Worker& worker) {
  worker.permit_.store(1, std::memory_order_seq_cst);
  worker.permit_.notify_one();
}

void Pool::wake_one() {
  std::uint32_t index;
  {
    std::lock_guard lock(idle_mutex_);
    if (idle_.empty()) return;
    index = idle_.back();  // slept least, its cache is warm
    idle_.pop_back();
    sleepers_.store(static_cast<std::uint32_t>(idle_.size()), std::memory_order_seq_cst);
  }
  wake(workers_[index]);
}

void Pool::finish() {
  finished_.store(true, std::memory_order_seq_cst);
  if (sleepers_.load(std::memory_order_seq_cst) != 0 && strike_off(0)) wake(workers_[0]);
}

}  // namespace taskspec
