#include "bench/analysis.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <cmath>

#include "bench/regions.hpp"
#include "interp/shards/analysis/engine.hpp"
#include "interp/shards/control/control_watch.hpp"
#include "interp/shards/transport/ranks.hpp"
#include "ir/region/operators.hpp"

namespace taskspec::bench {

namespace {

using Level = ControlWatch::Level;

// Reads all that it is told, as one that runs points would.
class Reader final : public Executor {
 public:
  void found(const Operation&, const FineResult& result, std::uint64_t) override {
    points += result.own.size();
    for (const PointEdge& edge : result.edges) sum += edge.from.op + static_cast<std::uint64_t>(edge.from.point);
  }
  void replayed(const Operation&, const TemplateCall& call) override {
    points += call.own.size();
    for (const TemplateEdge& edge : call.edges) {
      const LaunchPoint from = call.from(edge);
      sum += from.op + static_cast<std::uint64_t>(from.point);
    }
  }
  std::uint64_t points = 0, sum = 0;
};

// Two launches by turns: each writes one field, reads what the other one has written of the neighbours, and a third
// field.
class Shard {
 public:
  explicit Shard(std::int64_t columns, AnalysisEngine::Options options = {}, Level level = Level::off)
      : domain_(Rect::of({columns})),
        log_(level == Level::off ? CallLog::Hashes::none : CallLog::Hashes::chained),
        watch_(collectives_, log_, {.level = level}) {
    const RegionId cells = forest_.add({"Cell",
                                        "cells",
                                        Rect::of({4 * columns}),
                                        {{"a", Precision::f64}, {"b", Precision::f64}, {"c", Precision::f64}}});
    const PartitionId own = blocks(forest_, {cells}, Point::of(columns)), ghost = halo(forest_, own, 1, HaloShape::box);
    for (const std::uint32_t written : {0u, 1u}) {
      auto use = [&](PartitionId of, std::uint32_t field, Privilege privilege) {
        return LaunchUse{{cells}, of, Projection::identity(1), FieldMask::of({field}), privilege, ReduceOp::sum, "p"};
      };
      uses_[written] = {use(own, written, Privilege::inout), use(ghost, 1 - written, Privilege::in),
                        use(own, 2, Privilege::in)};
    }
    engine_.emplace(forest_, collectives_, reader, std::move(options));
  }

  Operation operation() {
    const std::uint64_t number = ++number_;
    return {.number = number, .domain = domain_, .uses = uses_[number % 2], .what = number % 2};
  }
  // As a call of the program: logged, hashed as the level says, analysed.
  void call(const Operation& op) {
    arguments_.clear();
    arguments_.argument("task").created(Created::task, op.what).argument("domain").domain(op.domain);
    arguments_.argument("sharding").sharding(op.sharding);
    for (const LaunchUse& use : op.uses)
      arguments_.argument("partition").created(Created::partition, use.partition.value);
    (void)log_.record(CallKind::launch, "step", arguments_, {});
    watch_.called();
  }
  void launch() {
    Operation op = operation();
    call(op);
    engine_->issue(std::move(op));
    while (!engine_->is_idle()) (void)engine_->turn();
  }
  AnalysisEngine& engine() { return *engine_; }
  const RegionForest& forest() const { return forest_; }

  Reader reader;

 private:
  RegionForest forest_;
  Rect domain_;
  std::vector<LaunchUse> uses_[2];
  std::uint64_t number_ = 0;
  RankNetwork network_{{.shards = 1}, nullptr};
  Collectives collectives_{network_.at(ShardId(0))};
  CallLog log_;
  ControlWatch watch_;
  CallArguments arguments_;
  std::optional<AnalysisEngine> engine_;
};

// On the core where it is; false: the system does not do so.
bool pin() {
  cpu_set_t one;
  CPU_ZERO(&one);
  const int core = sched_getcpu();
  if (core < 0) return false;
  CPU_SET(static_cast<std::size_t>(core), &one);
  return sched_setaffinity(0, sizeof one, &one) == 0;
}

std::string micro(double seconds) { return fmt::format("{:.4f}", 1e6 * seconds); }
std::string of_bar(double seconds, double bar) { return fmt::format("{:.2f}", 1e6 * seconds / bar); }

constexpr double untraced_bar = 1, replayed_bar = 0.1, coarse_bar = 0.5;  // microseconds of CPU
constexpr double recorded_bar = 10'000;                                   // for 10^4 points

bool points(const Settings& settings, int repeats) {
  constexpr std::int64_t columns = 1000;
  const std::size_t launches = std::max<std::size_t>(40, settings.tasks / columns / 4);
  Repeats untraced, replayed, peer;
  Shard plain(columns, {.traces = false}), traced(columns);
  for (int t = 0; t < 12; ++t) plain.launch(), traced.launch();
  const auto per_point = [&](Sample sample) {
    const double count = static_cast<double>(launches) * columns;
    return Sample{sample.wall / count, sample.cpu / count};
  };
  for (int i = 0; i < repeats; ++i) {
    auto turn = [&](Shard& shard) {
      return per_point(measure([&] {
        for (std::size_t t = 0; t < launches; ++t) shard.launch();
      }));
    };
    untraced.add(turn(plain));
    replayed.add(turn(traced));
    const StarpuTime time = starpu_stencil(columns, launches);
    if (time.there) peer.add(per_point({time.wall, time.cpu}));
  }
  if (traced.engine().traces().records != 1) bug("a steady loop has been recorded several times");
  Table table({"CPU per point, us", "min", "median", "bar", "median of the bar"});
  table.add({"untraced", micro(untraced.min_cpu()), micro(untraced.median_cpu()), "1",
             of_bar(untraced.median_cpu(), untraced_bar)});
  table.add({"replayed", micro(replayed.min_cpu()), micro(replayed.median_cpu()), "0.1",
             of_bar(replayed.median_cpu(), replayed_bar)});
  if (peer.median_cpu() > 0)
    table.add({"StarPU, one worker", micro(peer.min_cpu()), micro(peer.median_cpu()), "",
               fmt::format("untraced is {:.3f} of it", untraced.median_cpu() / peer.median_cpu())});
  else
    fmt::print("StarPU is not built in: libstarpu-dev is not installed\n");
  fmt::print("{} launches of {} points with three requirements, one shard\n{}", launches, columns, table.text());
  fmt::print(
      "StarPU runs its empty tasks, too; Legion is quoted with 33 us of CPU per task traced, 114 to 188 not\n\n");
  return 1e6 * untraced.median_cpu() <= untraced_bar && 1e6 * replayed.median_cpu() <= replayed_bar;
}

bool coarse_stage(int repeats) {
  constexpr int logs[] = {4, 8, 12, 16, 20};
  constexpr std::size_t operations = 20'000;
  struct Row {
    std::unique_ptr<Shard> shard;
    std::unique_ptr<KeyTable> keys;
    std::unique_ptr<CoarseStage> stage;
    Repeats times;
  };
  std::vector<Row> rows;
  for (const int log : logs) {
    Row row{std::make_unique<Shard>(std::int64_t{1} << log), std::make_unique<KeyTable>(), {}, {}};
    row.stage = std::make_unique<CoarseStage>(row.shard->forest(), *row.keys);
    rows.push_back(std::move(row));
  }
  std::vector<Operation> ops;
  for (int i = 0; i < repeats; ++i)
    for (Row& row : rows) {
      ops.clear();
      for (std::size_t t = 0; t < operations; ++t) ops.push_back(row.shard->operation());
      const Sample sample = measure([&] {
        for (const Operation& op : ops) (void)row.stage->analyse(op);
      });
      row.times.add({sample.wall / operations, sample.cpu / operations});
    }
  Table table({"coarse stage: points", "CPU per operation, us: min", "median", "min of the bar 0.5", "of 2^4"});
  double least = 1, most = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const double cpu = rows[i].times.min_cpu();
    least = std::min(least, cpu), most = std::max(most, cpu);
    table.add({fmt::format("2^{}", logs[i]), micro(cpu), micro(rows[i].times.median_cpu()), of_bar(cpu, coarse_bar),
               fmt::format("{:.2f}", cpu / rows[0].times.min_cpu())});
  }
  fmt::print("{}greatest of the least: {:.3f} (bar 1.10)\n\n", table.text(), most / least);
  return 1e6 * most <= coarse_bar && most / least <= 1.1;
}

// Of a straight line through the points, by least squares.
struct Fit {
  double base = 0, slope = 0, r2 = 0;
};
Fit fit(const std::vector<std::pair<double, double>>& of) {
  double x = 0, y = 0, xx = 0, xy = 0, yy = 0;
  const auto n = static_cast<double>(of.size());
  for (const auto& [a, b] : of) x += a, y += b, xx += a * a, xy += a * b, yy += b * b;
  const double slope = (n * xy - x * y) / (n * xx - x * x), spread = yy - y * y / n;
  const double explained = slope * (xy - x * y / n);
  return {(y - slope * x) / n, slope, spread > 0 ? explained / spread : 1};
}

bool fine_stage(int repeats) {
  std::vector<std::unique_ptr<Shard>> shards;
  std::vector<Repeats> times;
  std::vector<std::int64_t> sizes;
  for (std::int64_t own = 64; own <= 16384; own *= 2) sizes.push_back(own);
  for (const std::int64_t own : sizes) {
    shards.push_back(std::make_unique<Shard>(own, AnalysisEngine::Options{.traces = false}));
    for (int t = 0; t < 4; ++t) shards.back()->launch();
  }
  times.resize(sizes.size());
  constexpr int launches = 20;
  for (int i = 0; i < repeats; ++i)
    for (std::size_t k = 0; k < sizes.size(); ++k) {
      const Sample sample = measure([&] {
        for (int t = 0; t < launches; ++t) shards[k]->launch();
      });
      times[k].add({sample.wall / launches, sample.cpu / launches});
    }
  std::vector<std::pair<double, double>> line;
  Table table({"fine stage: own points", "CPU per launch, us: min", "per point"});
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    const double cpu = times[k].min_cpu(), own = static_cast<double>(sizes[k]);
    line.emplace_back(own, 1e6 * cpu);
    table.add({std::to_string(sizes[k]), fmt::format("{:.2f}", 1e6 * cpu), micro(cpu / own)});
  }
  const Fit found = fit(line);
  fmt::print("{}CPU = {:.2f} us + {:.4f} us x own points, R^2 {:.5f} (bar 0.99)\n\n", table.text(), found.base,
             found.slope, found.r2);
  return found.r2 > 0.99;
}

// The call alone, as its cost does not depend on what follows, beside the least that follows.
bool call_hashes(int repeats) {
  constexpr std::int64_t columns = 64;
  constexpr int launches = 2000;
  constexpr std::pair<Level, const char*> levels[] = {
      {Level::off, "off"}, {Level::batch, "batch"}, {Level::every, "every"}};
  std::vector<std::unique_ptr<Shard>> shards;
  for (const auto& [level, name] : levels)
    shards.push_back(std::make_unique<Shard>(columns, AnalysisEngine::Options{}, level));
  Shard untraced(columns, {.traces = false}), replayed(columns);
  std::vector<Repeats> times(std::size(levels) + 2);
  for (int i = 0; i < repeats + 4; ++i) {
    auto take = [&](Repeats& into, auto what) {
      const Sample sample = measure([&] {
        for (int t = 0; t < launches; ++t) what();
      });
      if (i > 0) into.add({sample.wall / launches, sample.cpu / launches});
    };
    for (std::size_t k = 0; k < shards.size(); ++k) take(times[k], [&] { shards[k]->call(shards[k]->operation()); });
    take(times[3], [&] { untraced.launch(); });
    take(times[4], [&] { replayed.launch(); });
  }
  Table table({"hash of calls", "CPU per call, us: min", "median", "added to a launch untraced", "replayed"});
  bool within = true;
  for (std::size_t k = 0; k < shards.size(); ++k) {
    const double added = times[k].min_cpu() - times[0].min_cpu();
    const double of_untraced = added / times[3].min_cpu(), of_replayed = added / times[4].min_cpu();
    table.add({levels[k].second, micro(times[k].min_cpu()), micro(times[k].median_cpu()),
               fmt::format("{:.1f} %", 100 * of_untraced), fmt::format("{:.1f} %", 100 * of_replayed)});
    within = within && of_untraced <= 0.05;
  }
  fmt::print("{}one shard, so that checks send nothing; a launch of {} points takes {} us, replayed {}; bar 5 %\n\n",
             table.text(), columns, micro(times[3].min_cpu()), micro(times[4].min_cpu()));
  return within;
}

bool recording(int repeats) {
  constexpr std::int64_t columns = 1000;
  constexpr int launches = 10;
  Repeats times;
  Shard shard(columns);
  for (int i = 0; i < repeats + 1; ++i) {
    // Another place each time, so that it is another trace.
    const Sample sample = measure([&] {
      shard.engine().begin_trace(static_cast<std::uint64_t>(i));
      for (int t = 0; t < launches; ++t) shard.launch();
      shard.engine().end_trace(static_cast<std::uint64_t>(i));
    });
    if (i > 0) times.add(sample);
  }
  fmt::print("recording {} points in {} launches: CPU {:.2f} ms min, {:.2f} median (bar 10 ms)\n", columns * launches,
             launches, 1e3 * times.min_cpu(), 1e3 * times.median_cpu());
  return 1e6 * times.median_cpu() <= recorded_bar;
}

}  // namespace

int analysis(const Settings& settings) {
  const int repeats = settings.repeats > 0 ? settings.repeats : 7;
  cpu_set_t before;
  const bool has_mask = sched_getaffinity(0, sizeof before, &before) == 0;
  fmt::print("{}\n", has_mask && pin() ? "pinned to one core; CPU times" : "not pinned: the system does not do so");
  const bool per_point = points(settings, repeats);
  const bool flat = coarse_stage(repeats);
  const bool linear = fine_stage(repeats);
  const bool hashes = call_hashes(repeats);
  const bool recorded = recording(repeats);
  if (has_mask) (void)sched_setaffinity(0, sizeof before, &before);
  return per_point && flat && linear && hashes && recorded ? 0 : 1;
}

}  // namespace taskspec::bench
