#include "bench/regions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "bench/metg.hpp"
#include "interp/control/record.hpp"
#include "interp/control/region_values.hpp"
#include "interp/host/host_backend.hpp"
#include "interp/session/session.hpp"
#include "ir/region/operators.hpp"

namespace taskspec::bench {

namespace {

class EmptyBodies final : public Bodies {
 public:
  Result<OpList> list(const TaskGraph&, NodeId) override { return failure("E3005", {}, "there are no bodies").diags(); }
  std::vector<Array> run(const TaskGraph&, NodeId, std::vector<Array>) override { bug("a benchmark has no bodies"); }
  PointTask point_task(const std::string&) override {
    return {[](void*, std::span<const PointView>, std::span<const std::byte* const>, std::span<std::byte* const>,
               const Point&) {},
            nullptr};
  }
};

// Launches of bodies that do nothing, in a session with one worker.
class Launches {
 public:
  struct Use {
    PartitionId partition;  // by the point; none: all of the region
    std::uint32_t field = 0;
    Privilege privilege = Privilege::in;
    RegionId region;
  };

  explicit Launches(const SessionOptions& options)
      : backend_(make_host_backend({.threads = 1})),
        session_(*backend_, bodies_, options),
        target_(program_, session_) {}

  void launch(const char* name, std::int64_t points, std::initializer_list<Use> uses, Span span) {
    RecordTarget::Launched launched;
    launched.what.work = Launch::Work::native;
    launched.what.symbol = "step";
    launched.what.domain = Rect::of({points});
    for (const Use& use : uses)
      launched.what.uses.push_back({{use.region},
                                    use.partition,
                                    Projection::identity(1),
                                    FieldMask::of({use.field}),
                                    use.privilege,
                                    ReduceOp::sum,
                                    "cells"});
    launched.named.name = name;
    launched.span = span;
    target_.launched(std::move(launched));
  }
  void run() { session_.run_pending(); }
  Session& session() { return session_; }
  RecordTarget& target() { return target_; }

 private:
  Program program_;
  EmptyBodies bodies_;
  std::unique_ptr<PlanBackend> backend_;
  Session session_;
  RecordTarget target_;
};

// Two launches by turns: each writes one field and reads what the other one has written of the neighbours.
class Stencil {
 public:
  Stencil(std::size_t columns, const SessionOptions& options)
      : columns_(static_cast<std::int64_t>(columns)), launches_(options) {
    RecordTarget& target = launches_.target();
    const Rect extents = Rect::of({4 * columns_});
    region_ = target.make_region(
        {"Cell", "cells", extents, {{"a", Precision::f64}, {"b", Precision::f64}, {"c", Precision::f64}}}, {});
    own_ = blocks(target.regions(), {region_->region}, Point::of(columns_));
    ghost_ = halo(target.regions(), own_, 1, HaloShape::box);
  }

  void launch(std::uint32_t turn) {
    const std::uint32_t written = turn % 2, read = 1 - written;
    const RegionId region = region_->region;
    launches_.launch(written ? "even" : "odd", columns_,
                     {{own_, written, Privilege::inout, region},
                      {ghost_, read, Privilege::in, region},
                      {own_, 2, Privilege::in, region}},
                     Span{SourceId(0), written ? 10U : 0U, written ? 11U : 1U});
  }
  void run() { launches_.run(); }
  Session& session() { return launches_.session(); }

 private:
  const std::int64_t columns_;
  Launches launches_;
  std::shared_ptr<RegionHandle> region_;
  PartitionId own_, ghost_;
};

constexpr double untraced_bar = 1, replayed_bar = 0.1;  // microseconds of CPU per point

std::string micro(double seconds, double points) { return fmt::format("{:.3f}", 1e6 * seconds / points); }

bool points_of_a_launch(const Settings& settings) {
  constexpr std::size_t columns = 1000;
  const std::size_t launches = std::max<std::size_t>(2, settings.tasks / columns / 10);
  const auto points = static_cast<double>(columns * launches);
  const int repeats = settings.repeats > 0 ? settings.repeats : 5;
  Repeats untraced, replayed;
  double bytes = 0;
  for (int i = 0; i < repeats; ++i) {
    forget_peak();
    const std::size_t before = resident_bytes();
    Stencil stencil(columns, {});
    auto turn = [&] {
      for (std::uint32_t t = 0; t < launches; ++t) stencil.launch(t);
      stencil.run();
    };
    untraced.add(measure(turn));
    bytes = static_cast<double>(resident_bytes() - before) / points;
    for (int again = 0; again < 3; ++again) replayed.add(measure(turn));
    if (stencil.session().report().plans != 1) bug("equal launches have made several plans");
  }
  Table table({"CPU per point, us", "min", "median", "bar", "median of the bar"});
  auto row = [&](const char* name, const Repeats& r, double bar) {
    table.add({name, micro(r.min_cpu(), points), micro(r.median_cpu(), points), fmt::format("{}", bar),
               fmt::format("{:.2f}", 1e6 * r.median_cpu() / points / bar)});
  };
  row("untraced", untraced, untraced_bar);
  row("replayed", replayed, replayed_bar);
  Repeats peer, wall;
  for (int i = 0; i < repeats; ++i) {
    const StarpuTime time = starpu_stencil(columns, launches);
    if (time.there) peer.add({time.wall, time.cpu});
  }
  if (peer.median_cpu() > 0)
    table.add({"StarPU, one worker", micro(peer.min_cpu(), points), micro(peer.median_cpu(), points), "",
               fmt::format("ours is {:.3f} of it", untraced.median_cpu() / peer.median_cpu())});
  else
    fmt::print("StarPU is not built in: libstarpu-dev is not installed\n");
  fmt::print("{} launches of {} points with three requirements, bodies that do nothing, one worker\n{}", launches,
             columns, table.text());
  fmt::print("bytes per point of a plan: {:.0f}; Legion is quoted with 114 to 188 us of CPU per task\n\n", bytes);
  return 1e6 * untraced.median_cpu() / points <= untraced_bar && 1e6 * replayed.median_cpu() / points <= replayed_bar;
}

// Tenths of a long run: CPU and memory of each. Whether the memory stays.
bool flat_tenths(const char* what, std::size_t turns, std::size_t points, FunctionRef<void(std::size_t turn)> turn) {
  Table table({what, "CPU, s", "us per point", "resident, MB"});
  std::vector<double> seconds, resident;
  for (std::size_t tenth = 0; tenth < 10; ++tenth) {
    const Sample sample = measure([&] {
      for (std::size_t t = 0; t < turns / 10; ++t) turn(t);
    });
    seconds.push_back(sample.cpu);
    resident.push_back(static_cast<double>(resident_bytes()) / 1e6);
    table.add({std::to_string((tenth + 1) * turns / 10), fmt::format("{:.2f}", sample.cpu),
               micro(sample.cpu, static_cast<double>(turns / 10 * points)), fmt::format("{:.1f}", resident.back())});
  }
  std::sort(seconds.begin() + 1, seconds.end());
  const double growth = resident.back() - resident[1];
  fmt::print("{}slowest tenth of the fastest: {:.2f}; memory grew by {:.1f} MB from the second to the last\n\n",
             table.text(), seconds.back() / seconds[1], growth);
  return growth < 4;
}

bool many_launches(const Settings& settings) {
  constexpr std::size_t columns = 100;
  const std::size_t launches = std::max<std::size_t>(100, settings.tasks / 10);
  Stencil stencil(columns, {.window = 4096, .forget = true});
  fmt::print("{} launches of {} points, given back as they are done\n", launches, columns);
  const bool flat = flat_tenths("launches", launches, columns,
                                [&](std::size_t turn) { stencil.launch(static_cast<std::uint32_t>(turn)); });
  stencil.run();
  return flat;
}

// Each turn has a region of its own, with two partitions, and a launch of four points; or partitions of its own of one.
bool come_and_go(const Settings& settings, bool regions_too) {
  constexpr std::int64_t points = 4;
  const std::size_t turns = std::max<std::size_t>(1000, settings.tasks / 5);
  Launches launches({.window = 4096, .forget = true});
  RecordTarget& target = launches.target();
  const Region cells{"Cell", "cells", Rect::of({64}), {{"a", Precision::f64}, {"b", Precision::f64}}};
  std::shared_ptr<RegionHandle> region = target.make_region(cells, {});
  fmt::print("{} turns that make {}two partitions and a launch of {} points\n", turns, regions_too ? "a region, " : "",
             points);
  const bool flat = flat_tenths("turns", turns, points, [&](std::size_t) {
    if (regions_too) region = target.make_region(cells, {});
    const PartitionValue own(region, blocks(target.regions(), {region->region}, Point::of(points)));
    const PartitionValue ghost(region, halo(target.regions(), own.id, 1, HaloShape::box));
    launches.launch("step", points,
                    {{own.id, 0, Privilege::inout, region->region}, {ghost.id, 1, Privilege::in, region->region}},
                    Span{SourceId(0), 20, 21});
  });
  launches.run();
  fmt::print("plans made: {}\n\n", launches.session().report().plans);
  return flat;
}

// All points of one launch read what all those of another one wrote: their edges are as many as the points.
bool all_to_all(const Settings& settings) {
  Table table({"points each", "CPU per point, us", "bytes per point"});
  double first = 0, last = 0;
  for (std::size_t points = 1000; points <= std::max<std::size_t>(1000, settings.tasks / 16); points *= 4) {
    forget_peak();
    const std::size_t before = resident_bytes();
    Launches launches({});
    RecordTarget& target = launches.target();
    const auto count = static_cast<std::int64_t>(points);
    const std::shared_ptr<RegionHandle> region =
        target.make_region({"Cell", "cells", Rect::of({count}), {{"a", Precision::f64}, {"b", Precision::f64}}}, {});
    const PartitionId own = blocks(target.regions(), {region->region}, Point::of(count));
    const Sample sample = measure([&] {
      for (std::uint32_t turn = 0; turn < 4; ++turn) {
        const std::uint32_t written = turn % 2, read = 1 - written;
        launches.launch("step", count,
                        {{own, written, Privilege::inout, region->region}, {{}, read, Privilege::in, region->region}},
                        Span{SourceId(0), 30, 31});
      }
      launches.run();
    });
    last = 1e6 * sample.cpu / (4.0 * static_cast<double>(points));
    if (first == 0) first = last;
    table.add(
        {std::to_string(points), fmt::format("{:.2f}", last),
         fmt::format("{:.0f}", static_cast<double>(resident_bytes() - before) / (4.0 * static_cast<double>(points)))});
  }
  fmt::print("four launches, of which each reads all that the one before it wrote, planned and run\n{}\n",
             table.text());
  return last < 4 * first;
}

}  // namespace

int regions(const Settings& settings) {
  constexpr std::string_view alone = "metg";
  if (settings.file.starts_with(alone)) return metg(settings, settings.file.substr(alone.size())) ? 0 : 1;
  const bool quick = points_of_a_launch(settings);
  const bool flat = many_launches(settings);
  const bool regions_flat = come_and_go(settings, true);
  const bool partitions_flat = come_and_go(settings, false);
  const bool linear = all_to_all(settings);
  const bool fine = metg(settings, "");
  return quick && flat && regions_flat && partitions_flat && linear && fine ? 0 : 1;
}

#ifndef TASKSPEC_STARPU
StarpuTime starpu_stencil(std::size_t, std::size_t) { return {}; }
#endif

}  // namespace taskspec::bench
