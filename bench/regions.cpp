#include "bench/regions.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "interp/control/record.hpp"
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

// Two launches by turns: each writes one field and reads what the other one has written of the neighbours.
class Stencil {
 public:
  Stencil(std::size_t columns, const SessionOptions& options)
      : columns_(static_cast<std::int64_t>(columns)),
        backend_(make_host_backend({.threads = 1})),
        session_(*backend_, bodies_, options),
        target_(program_, session_) {
    const Rect extents = Rect::of({4 * columns_});
    region_ = target_.make_region(
        {"Cell", "cells", extents, {{"a", Precision::f64}, {"b", Precision::f64}, {"c", Precision::f64}}}, {});
    own_ = blocks(target_.regions(), {region_->region}, Point::of(columns_));
    ghost_ = halo(target_.regions(), own_, 1, HaloShape::box);
  }

  void launch(std::uint32_t turn) {
    const std::uint32_t written = turn % 2, read = 1 - written;
    RecordTarget::Launched launched;
    launched.what.work = Launch::Work::native;
    launched.what.symbol = "step";
    launched.what.domain = Rect::of({columns_});
    auto use = [&](PartitionId partition, std::uint32_t field, Privilege privilege) {
      launched.what.uses.push_back({{region_->region},
                                    partition,
                                    Projection::identity(1),
                                    FieldMask::of({field}),
                                    privilege,
                                    ReduceOp::sum,
                                    "cells"});
    };
    use(own_, written, Privilege::inout);
    use(ghost_, read, Privilege::in);
    use(own_, 2, Privilege::in);
    launched.named.name = written ? "even" : "odd";
    launched.span = Span{SourceId(0), written ? 10U : 0U, written ? 11U : 1U};
    target_.launched(std::move(launched));
  }
  void run() { session_.run_pending(); }
  Session& session() { return session_; }

 private:
  const std::int64_t columns_;
  Program program_;
  EmptyBodies bodies_;
  std::unique_ptr<PlanBackend> backend_;
  Session session_;
  RecordTarget target_;
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

bool many_launches(const Settings& settings) {
  constexpr std::size_t columns = 100;
  const std::size_t launches = std::max<std::size_t>(100, settings.tasks / 10);
  Stencil stencil(columns, {.window = 4096, .forget = true});
  Table table({"launches", "CPU, s", "us per point", "resident, MB"});
  std::vector<double> seconds, resident;
  for (std::size_t tenth = 0; tenth < 10; ++tenth) {
    const Sample sample = measure([&] {
      for (std::size_t t = 0; t < launches / 10; ++t) stencil.launch(static_cast<std::uint32_t>(t));
    });
    seconds.push_back(sample.cpu);
    resident.push_back(static_cast<double>(resident_bytes()) / 1e6);
    table.add({std::to_string((tenth + 1) * launches / 10), fmt::format("{:.2f}", sample.cpu),
               micro(sample.cpu, static_cast<double>(launches / 10 * columns)),
               fmt::format("{:.1f}", resident.back())});
  }
  stencil.run();
  std::vector<double> sorted(seconds.begin() + 1, seconds.end());
  std::ranges::sort(sorted);
  const double ratio = sorted.back() / sorted.front(), growth = resident.back() - resident[1];
  fmt::print("{} launches of {} points, given back as they are done\n{}", launches, columns, table.text());
  fmt::print("slowest tenth of the fastest: {:.2f}; memory grew by {:.1f} MB from the second to the last\n", ratio,
             growth);
  return growth < 4;
}

}  // namespace

int regions(const Settings& settings) {
  const bool quick = points_of_a_launch(settings);
  const bool flat = many_launches(settings);
  return quick && flat ? 0 : 1;
}

#ifndef TASKSPEC_STARPU
StarpuTime starpu_stencil(std::size_t, std::size_t) { return {}; }
#endif

}  // namespace taskspec::bench
