#include "interp/mpi/replicas.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "interp/host/start_thread.hpp"

namespace taskspec {

namespace {

Error program_ended(Span span) { return failure("E5009", span, "the program has ended"); }

}  // namespace

std::shared_ptr<ShardGroup> ShardGroup::open(std::size_t shards, Span span, ShardPatience patience) {
  auto made = std::make_shared<ShardGroup>();
  Result<std::unique_ptr<RankGroup>> group = RankGroup::open(shards, std::nullopt);
  if (!group) {
    Diag diag = group.diags().items().front();
    diag.primary.span = span;
    throw Error(std::move(diag));
  }
  made->group_ = *std::move(group);
  for (const ShardId shard : made->here()) made->waits.add(shard);
  if (made->shards() == 1 && patience.computing == 0) return made;
  Watchdog::Options options;
  options.seconds = patience.silence;
  options.state = [group = made.get()] {
    Watchdog::State state;
    state.steps = group->waits.steps();
    state.is_running = group->waits.is_running();
    return state;
  };
  options.waits = [group = made.get()] { return group->waits.text(); };
  if (patience.computing > 0) {
    options.pause = std::min(1.0, patience.computing / 8);
    options.overdue = [group = made.get(), seconds = patience.computing] { return group->overdue(seconds); };
  }
  made->watchdog_ = std::make_unique<Watchdog>(*made->group_, std::move(options));
  return made;
}

std::optional<Diags> ShardGroup::overdue(double seconds) const {
  const std::optional<ShardWaits::Silence> silence = waits.longest();
  if (!silence || std::chrono::duration<double>(silence->time).count() < seconds) return std::nullopt;
  std::string text =
      fmt::format("shard {} has computed for {} s without coming to another call", silence->shard.index(), seconds);
  if (silence->last_call > 0) {
    text += fmt::format("; last call seen {}", silence->last_call);
    const Sources* known = sources.load();
    if (known && silence->last_place.valid()) text += " (" + known->place(silence->last_place) + ")";
  }
  Diags diags;
  diags.error("E6003", {}, std::move(text))
      .help("see whether the task comes to an end, or give it more time: --task-timeout");
  return diags;
}

std::shared_ptr<ShardGroup> ShardGroup::alone() {
  auto made = std::make_shared<ShardGroup>();
  made->alone_ = std::make_unique<RankNetwork>(RankLayout{1, 1, 0}, nullptr);
  made->waits.add(ShardId(0));
  return made;
}

void ShardGroup::ended(ShardId shard) {
  waits.of(shard).ended();
  if (++ended_ != here().size() || !group_) return;
  group_->close();
  watchdog_.reset();  // until then others look for its beats
  is_closed_ = true;
}

// It failed, as all did, and has met the others since: they come to their ends by themselves.
bool Replicas::has_parted(std::size_t replica, const Run& run) {
  return run.group->waits.of(run.group->here()[replica]).has_ended();
}

Replicas::~Replicas() {
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
    for (auto& [number, run] : runs_)
      if (!run.report && run.group && !has_parted(0, run)) run.group->give_up(program_ended({}).diags());
    changed_.notify_all();
  }
  for (std::thread& thread : threads_) thread.join();
}

Replicas::Part Replicas::join(std::size_t replica, std::size_t shards, Span span, ShardPatience patience) {
  std::unique_lock lock(mutex_);
  if (ended_) throw program_ended(span);
  const std::size_t number = joined_[replica]++;
  Run& run = runs_[number];
  // A replica that has no part in a run comes to the next one early, and ranks join one network after the other; but
  // those that this run stands inside of go on.
  const auto is_clear = [&] {
    return run.group || ended_ || std::ranges::all_of(runs_, [&](const auto& known) {
             const auto& [earlier, other] = known;
             return !other.group || other.group->is_over() || (earlier < number && !other.finished.contains(replica));
           });
  };
  while (!is_clear()) changed_.wait_for(lock, std::chrono::milliseconds(1));
  if (ended_) throw program_ended(span);
  if (!run.group) run.group = ShardGroup::open(shards, span, patience);
  const std::vector<ShardId> here = run.group->here();
  if (replica >= here.size()) return {number, ShardGroup::alone(), ShardId(0), run.group->shards(), true};
  while (replica == 0 && joined_.size() < here.size()) {
    joined_.push_back(0);
    threads_.push_back(start_thread([this, other = joined_.size() - 1] {
      start_(other);
      left(other);
    }));
  }
  for (const std::size_t gone : left_) fail_without(gone, run);
  set_inside(replica, number, true);
  return {number, run.group, here[replica], run.group->shards()};
}

void Replicas::finished(std::size_t replica, std::size_t run) {
  const std::lock_guard lock(mutex_);
  runs_[run].finished.insert(replica);
}

void Replicas::came_out(std::size_t replica, std::size_t run) {
  const std::lock_guard lock(mutex_);
  set_inside(replica, run, false);
}

// Nothing is heard in a run of a shard that has come to a further one inside of it.
void Replicas::set_inside(std::size_t replica, std::size_t number, bool inside) {
  for (std::size_t around = number; around-- > 0;) {
    Run& run = runs_[around];
    if (!run.group || run.finished.contains(replica)) continue;
    const std::vector<ShardId> here = run.group->here();
    if (replica < here.size()) run.group->waits.of(here[replica]).set_elsewhere(inside);
    return;
  }
}

void Replicas::left(std::size_t replica) {
  const std::lock_guard lock(mutex_);
  left_.insert(replica);
  for (auto& [number, run] : runs_) fail_without(replica, run);
}

void Replicas::fail_without(std::size_t replica, Run& run) {
  if (!run.group) return;  // which could not be opened
  const std::vector<ShardId> here = run.group->here();
  if (replica >= here.size() || run.finished.contains(replica)) return;
  if (has_parted(replica, run)) return;
  run.group->give_up(
      failure("E5009", {}, "shard " + std::to_string(here[replica].index()) + " has ended before the others").diags());
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

const Hash128& Replicas::program_hash(const Sources& sources) {
  const std::lock_guard lock(mutex_);
  if (program_hash_) return *program_hash_;
  Hasher hash;
  for (std::size_t k = 0; k < sources.size(); ++k) {
    const Source& source = sources[SourceId(k)];
    if (!is_define(source)) hash.add(source.text());  // not where it lies: that may differ from machine to machine
  }
  return program_hash_.emplace(hash.digest());
}

}  // namespace taskspec
