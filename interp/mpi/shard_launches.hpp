// How a shard records what happens to regions: of each launch its own points, and before and behind them what must
// move. Decided from what all shards know alike, so nobody is asked; the analysis is told of every operation, and says
// when it may run.
#pragma once
#include <optional>
#include <unordered_map>

#include "interp/control/record.hpp"
#include "interp/mpi/launch_loop.hpp"
#include "interp/mpi/named_data.hpp"

namespace taskspec {

class ShardLaunches final : public LaunchDivider {
 public:
  ShardLaunches(ShardRun& run, RecordTarget& target, const Interpreter& interpreter)
      : run_(run),
        target_(target),
        interpreter_(interpreter),
        data_(run, target.recorder()),
        loop_(run, target, [this](LaunchLoop::Made made) { record(std::move(made)); }) {}
  using Launched = RecordTarget::Launched;
  using Outputs = std::vector<Value>;
  Outputs launched(RecordTarget& target, Launched launch) override;
  LaunchBatch* batch() override;
  void taken() override { loop_.taken(); }
  void receiving(const Tensor& tensor, Span span) override;
  std::shared_ptr<const Intervals> held(const Space& space, std::uint32_t field) override;
  void begin_trace(Span place) override;
  void end_trace(Span place) override;
  void note_new();  // regions and partitions that the program has made since

 private:
  Outputs points(Launched launch);
  Outputs looped(Launched launch);
  Outputs single(Launched launch);
  Outputs fill(Launched launch);
  Outputs read(Launched launch);
  Outputs total(Launched launch);
  Outputs files(Launched launch);
  void check(const Launched& launch);
  Outputs of_map(Launched launch);

  // Of a map of a launch: the shard of each element is that of its point.
  struct Home final : MapHome {
    PointSharding sharding;
    CallFuture future;
    bool is_shared = false;  // all elements are here already
  };
  struct Site {
    Span span;
    ScopeId scope;
  };
  PointSharding sharding_of(const Value& value, Span span);
  CallFuture future_of(const Value& value) const;
  Outputs made_by(CallFuture first, Outputs outputs);
  Operation operation(const Launched& launch, CallKind kind, const PointSharding& sharding);
  CallKind kind_of(const Launched& launch) const;
  // What a trace tells calls apart by, other than the pieces that they take and what made the futures.
  static std::uint64_t work_of(const Launch& what);
  void bring(const Operation& op, const Launch& launch, const Site& site);
  void bring_all(const Launch& launch, std::size_t point, const Site& site, std::optional<ShardId> to = {});
  std::optional<LaunchLoop::Exchange> exchange(const LaunchUse& use, std::vector<FieldExchange::Field> fields);
  std::vector<LaunchLoop::Exchange> exchanges(const Operation& op, const Launch& launch);
  void record(LaunchLoop::Exchange exchange, const Site& site);
  void record(LaunchLoop::Made made);
  using OwnNumbers = std::shared_ptr<const std::vector<std::uint32_t>>;
  std::shared_ptr<const LaunchMessages> contributions(const Operation& op, const Launch& launch, OwnNumbers own,
                                                      const Site& site);
  void wrote(const Operation& op);
  void wrote_everywhere(const Launch& launch);
  void fill_in(const LaunchUse& use, const Space& space, const Site& site);
  // What this shard touches of regions; before it is recorded.
  void touch(const Operation& op, const Launch& launch, const PointSharding& sharding);
  void touch(const Space& space);
  void touch(RegionId root, const Movement* fills);
  void touch(RegionId root, const FoldMovement* contributions);
  void touch(RegionId root, const TotalShare& share);
  Outputs recorded(Launched launch);
  void share_maps(const Launched& launch, const PointSharding* sharding);
  Outputs shared(Outputs values, const std::vector<Type>& types, const std::vector<std::string>& names,
                 const Site& site);
  static const PointSharding* sharding_of_map(const Value& value);
  OwnNumbers own(const PointSharding& sharding, const Rect& domain);
  std::size_t width(const LaunchUse& use, std::uint32_t field) const;
  const RegionForest& forest() const { return target_.recorder().graph.regions; }

  ShardRun& run_;
  RecordTarget& target_;
  const Interpreter& interpreter_;
  NamedData data_;
  LaunchLoop loop_;
  std::map<std::string, PointSharding> shardings_;
  struct MadeTensor {
    std::weak_ptr<const Object> tensor;
    CallFuture future;
    bool is_part = false;  // of a field, as much as this shard holds
  };
  std::unordered_map<const Object*, MadeTensor> tensors_;  // by calls, as long as the program holds them
  std::size_t most_tensors_ = 1024;
  std::map<std::string, OwnNumbers> own_;
};

}  // namespace taskspec
