// The backend of one shard: a host with workers of its own, whose batches run once the analysis has come so far. What
// its messages use belongs to one of them after the other, as they come one after the other. A failure of a point ends
// the run on all shards.
//
//   ShardBackend backend({.shards = 4});
//   backend.join(replica, target, interpreter, span);
#pragma once
#include <functional>
#include <mutex>
#include <optional>

#include "interp/control/replica.hpp"
#include "interp/control/run_picture.hpp"
#include "interp/host/plan_backend.hpp"
#include "interp/mpi/shard_launches.hpp"
#include "ir/records/backend_record.hpp"

namespace taskspec {

struct ShardSettings {
  std::size_t shards = 0;     // 0: as many as there are ranks, or 4
  std::uint32_t threads = 0;  // of each shard; 0: the cores that are here, divided among the shards that are here
  ShardPatience patience;
  ShardOptions options;
};

class ShardBackend final : public Backend, public ReplicatedBackend, public PicturedBackend {
 public:
  // `report_fields`: of its report, in their order; they outlive it.
  explicit ShardBackend(ShardSettings settings, std::span<const ReportField> report_fields = {});
  ~ShardBackend() override;

  void join(const std::shared_ptr<Replica>& replica, RecordTarget& target, const Interpreter& interpreter,
            Span span) override;
  void finish() override;
  void fail(const Diags& why) override;
  void keep_pictures() override { settings_.options.record = true; }  // before it joins
  RunPictures pictures() const override;

  std::string name() const override { return "mpi"; }
  bool runs_launches() const override { return true; }
  Location allocate(const ArrayType& type) override { return host_->allocate(type); }
  Location allocate_zeros(const ArrayType& type) override { return host_->allocate_zeros(type); }
  Location allocate_part(const ArrayType& type, std::int64_t elements) override {
    return host_->allocate_part(type, elements);
  }
  void write(Location location, const Array& array) override { host_->write(location, array); }
  void write_numbers(std::span<const Location> locations, std::span<const std::uint64_t> bits) override {
    host_->write_numbers(locations, bits);
  }
  Array read(Location location) const override;
  Location copy(Location location) override { return host_->copy(location); }
  void free(Location location) override { host_->free(location); }
  void move_elements(Location from, Location to, std::span<const Moved> moved) override {
    host_->move_elements(from, to, moved);
  }
  Prepared prepare(std::shared_ptr<const TaskGraph> graph, const Chains& chains, const PrepareOptions& options,
                   Bodies& bodies) override {
    return host_->prepare(std::move(graph), chains, options, bodies);
  }
  Outcome execute(Executable& executable, std::span<const Location> inputs, const RunOptions& options) override;
  Memory memory() const override { return host_->memory(); }
  std::vector<Value> report() const override;
  double hz() const override { return host_->hz(); }
  void interrupt() override;

 private:
  void take(Replicas::Part part);
  void call_start(const Interpreter& interpreter, Span span);
  void leave();
  void refuse_injection(Span span) const;
  void raise_injection() const;

  ShardSettings settings_;
  const std::span<const ReportField> report_fields_;
  std::mutex mutex_;  // of the two that `take` changes and `interrupt`, which any thread may call, reads
  std::unique_ptr<PlanBackend> host_;  // of one worker, until it has joined
  std::shared_ptr<Replica> replica_;
  struct Outside {  // of this run, for the program behind it
    std::int64_t shards = 1;
    std::function<void()> meet;
  };
  std::optional<Outside> outside_;
  Replicas* replicas_ = nullptr;  // they end with the first replica
  Replicas::Part part_;
  std::unique_ptr<ShardRun> run_;
  std::optional<Diags> heard_;  // in a batch: what it says must not be said once more
  std::unique_ptr<ShardLaunches> launches_;
  RecordTarget* target_ = nullptr;
};

}  // namespace taskspec
