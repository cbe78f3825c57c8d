#include "interp/mpi/replicas.hpp"

#include "interp/host/start_thread.hpp"

namespace taskspec {

namespace {

Error program_ended(Span span) { return failure("E5009", span, "the program has ended"); }

}  // namespace

Replicas::~Replicas() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    for (auto& [number, run] : runs_)
      if (!run.report) run.group->fail(program_ended({}).diags());
    changed_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
}

Replicas::Part Replicas::join(std::size_t replica, std::size_t shards, Span span) {
  const std::lock_guard lock(mutex_);
  if (ended_) throw program_ended(span);
  const std::size_t number = joined_[replica]++;
  Run& run = runs_[number];
  if (!run.group) run.group = std::make_shared<ShardGroup>(shards);
  if (replica >= shards) return {number, std::make_shared<ShardGroup>(1), ShardId(0), true};
  while (replica == 0 && joined_.size() < shards) {
    joined_.push_back(0);
    threads_.push_back(start_thread([this, other = joined_.size() - 1] { start_(other); }));
  }
  return {number, run.group, ShardId(static_cast<std::uint32_t>(replica))};
}

void Replicas::publish(std::size_t run, std::vector<Value> report) {
  const std::lock_guard lock(mutex_);
  runs_[run].report = std::move(report);
  changed_.notify_all();
}

std::vector<Value> Replicas::report_of(std::size_t number) {
  std::unique_lock lock(mutex_);
  const Run& run = runs_[number];
  changed_.wait(lock, [&] { return run.report || ended_; });
  if (!run.report) throw program_ended({});
  return *run.report;
}

}  // namespace taskspec
