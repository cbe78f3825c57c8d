// Random programs over regions on the host: the same bits as every point run in program order, for any number of
// threads, schedule and window, while bodies take random times.
#include <doctest/doctest.h>

#include <cstring>
#include <thread>

#include "interp/control/record.hpp"
#include "interp/host/fold.hpp"
#include "interp/host/host_backend.hpp"
#include "interp/session/session.hpp"
#include "ir/region/operators.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::regions_run_prop_test {

namespace {

using Bytes = std::span<std::byte* const>;
using ConstBytes = std::span<const std::byte* const>;

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) {
  a = (a ^ b) * 0x9E3779B97F4A7C15u;
  return a ^ (a >> 29);
}

// What a launch does, in the session and in the reference.
struct Step {
  enum class Kind { launch, fill, read, member } kind = Kind::launch;
  std::uint64_t seed = 0;
  Launch what;
  std::vector<std::size_t> maps;  // launches before it whose maps are arguments
  MapMember member = MapMember::sum;
};

// Fields are f64 and i64 by turns.
Precision precision_of(std::uint32_t field) { return field % 2 ? Precision::i64 : Precision::f64; }

// Reads all that it may, and writes what depends on that and on the place.
void body(const Step& step, std::span<const PointView> views, ConstBytes in, Bytes out, const Point& point) {
  std::uint64_t seen = mixed(step.seed, static_cast<std::uint64_t>(point[0] * 17 + point[1]));
  for (const std::byte* value : in) {
    std::uint64_t bits[2];
    std::memcpy(bits, value, sizeof bits);
    seen = mixed(mixed(seen, bits[0]), bits[1]);
  }
  auto each = [&](std::size_t u, auto visit) {
    step.what.uses[u].fields.each([&](std::uint32_t f) {
      views[u].points->runs(*views[u].root, [&](Run run) {
        for (std::int64_t i = run.lo; i < run.hi; ++i)
          visit(views[u].fields[f] + 8 * views[u].memory.place(*views[u].root, views[u].root->point(i)), f,
                static_cast<std::uint64_t>(i));
      });
    });
  };
  for (std::size_t u = 0; u < views.size(); ++u) {
    const Privilege privilege = step.what.uses[u].privilege;
    if (privilege == Privilege::in || privilege == Privilege::inout)
      each(u, [&](std::byte* at, std::uint32_t, std::uint64_t) {
        std::uint64_t bits;
        std::memcpy(&bits, at, 8);
        seen = mixed(seen, bits);
      });
  }
  auto value = [](std::uint64_t bits, std::uint32_t field, std::byte* at) {
    const double real = static_cast<double>(bits % 1'000'003) / 7.0;
    if (field % 2)
      std::memcpy(at, &bits, 8);
    else
      std::memcpy(at, &real, 8);
  };
  for (std::size_t u = 0; u < views.size(); ++u) {
    const LaunchUse& use = step.what.uses[u];
    if (use.privilege == Privilege::in) continue;
    each(u, [&](std::byte* at, std::uint32_t f, std::uint64_t i) {
      std::byte fresh[8];
      value(mixed(seen, i + 1000 * u), f, fresh);
      if (use.privilege == Privilege::reduce && i % 3 != 0)
        fold_of(precision_of(f), use.op).into(at, fresh, 1);
      else if (use.privilege != Privilege::reduce)
        std::memcpy(at, fresh, 8);
    });
  }
  for (std::byte* made : out) {
    value(seen, 0, made);
    value(mixed(seen, 5), 0, made + 8);
  }
}

class RandomBodies final : public Bodies {
 public:
  explicit RandomBodies(bool delays) : delays_(delays) {}
  Result<OpList> list(const TaskGraph&, NodeId) override { return failure("E3005", {}, "none").diags(); }
  std::vector<Array> run(const TaskGraph&, NodeId, std::vector<Array>) override { bug("no bodies"); }
  PointTask point_task(const std::string& symbol) override {
    contexts_.push_back({steps_[std::stoul(symbol)], delays_});
    return {[](void* context, std::span<const PointView> views, ConstBytes in, Bytes out, const Point& point) {
              auto& [step, delays] = *static_cast<std::pair<const Step*, bool>*>(context);
              const std::uint64_t delay = mixed(step->seed, static_cast<std::uint64_t>(point[0])) % 7;
              if (delays && delay == 0) std::this_thread::sleep_for(std::chrono::microseconds(50));
              body(*step, views, in, out, point);
              if (delays && delay == 1) std::this_thread::yield();
            },
            &contexts_.back()};
  }
  void add(const Step& step) { steps_.push_back(&step); }

 private:
  std::vector<const Step*> steps_;
  std::deque<std::pair<const Step*, bool>> contexts_;
  const bool delays_;
};

struct Program1 {
  RegionForest forest;
  std::vector<Region> regions;
  std::deque<Step> steps;
};

// Makes regions and partitions, the same in each forest that it is asked for.
class Maker {
 public:
  explicit Maker(std::uint64_t seed) : random_(seed) {}

  void make_regions(std::vector<Region>& regions) {
    for (std::int64_t r = pick(1, 2); r > 0; --r) {
      Region region{"Cell", "r", pick(0, 2) ? Rect::of({pick(1, 24)}) : Rect::of({pick(1, 6), pick(1, 5)}), {}};
      for (std::int64_t f = 0, fields = pick(1, 3); f < fields; ++f)
        region.fields.push_back({"f" + std::to_string(f), precision_of(static_cast<std::uint32_t>(f))});
      regions.push_back(region);
    }
  }
  std::vector<PartitionId> make_partitions(RegionForest& forest, RegionId id) {
    const Space whole{id};
    const Rect extents = forest[id].extents;
    std::vector<PartitionId> made{extents.rank == 1 ? blocks(forest, whole, Point::of(pick(1, 5)))
                                                    : blocks(forest, whole, Point::of(pick(1, 3), pick(1, 3)))};
    for (std::int64_t k = pick(1, 3); k > 0; --k) {
      const PartitionId last = made[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(made.size()) - 1))];
      switch (pick(0, 3)) {
        case 0:
          made.push_back(halo(forest, last, pick(0, 2), pick(0, 1) ? HaloShape::box : HaloShape::star));
          break;
        case 1:
          made.push_back(intersect(forest, last, shrink(forest, whole, 1)));
          break;
        default: {
          std::vector<std::vector<Run>> pieces(static_cast<std::size_t>(pick(1, 5)));
          for (auto& piece : pieces)
            for (std::int64_t n = pick(0, 3); n > 0; --n) {
              const std::int64_t lo = pick(0, extents.size() - 1);
              piece.push_back({lo, std::min(lo + pick(0, 4), extents.size())});
            }
          made.push_back(cover(forest, whole, pieces));
        }
      }
    }
    return made;
  }
  void make_step(RegionForest& forest, const std::vector<std::vector<PartitionId>>& partitions,
                 std::deque<Step>& steps) {
    Step step;
    step.seed = random_();
    Launch& what = step.what;
    const std::int64_t kind = pick(0, 9);
    std::vector<std::size_t> mapped;
    for (std::size_t s = 0; s < steps.size(); ++s)
      if (steps[s].kind == Step::Kind::launch) mapped.push_back(s);
    if (kind == 0 || kind == 1) {
      step.kind = kind == 0 ? Step::Kind::fill : Step::Kind::read;
      const RegionId region(static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(partitions.size()) - 1)));
      what.uses.push_back({pick(0, 1) ? Space{region} : piece_of(forest, partitions[region.index()]),
                           {},
                           {},
                           FieldMask::of({field_of(forest, region)}),
                           Privilege::in,
                           {},
                           "r"});
    } else if (kind == 2 && !mapped.empty()) {
      step.kind = Step::Kind::member;
      step.maps = {mapped[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(mapped.size()) - 1))]};
      step.member = static_cast<MapMember>(pick(0, 4));
    } else {
      what.work = Launch::Work::native;
      what.domain = Rect::of({pick(0, 5)});
      for (std::int64_t u = pick(1, 3); u > 0; --u) add_use(forest, partitions, what);
      for (std::size_t s : mapped) {
        if (steps[s].what.domain == what.domain && pick(0, 2) == 0) {
          step.maps.push_back(s);
          what.taken.emplace_back();
        }
        if (!steps[s].what.domain.empty() && pick(0, 3) == 0) {
          step.maps.push_back(s);
          what.taken.push_back(another_of(steps[s].what.domain));
        }
      }
      try {
        if (conflict(forest, what.domain, what.uses)) return;
      } catch (const Error&) {
        return;
      }
    }
    steps.push_back(std::move(step));
  }
  std::int64_t pick(std::int64_t low, std::int64_t high) { return between(random_, low, high); }

 private:
  std::uint32_t field_of(const RegionForest& forest, RegionId region) {
    return static_cast<std::uint32_t>(pick(0, static_cast<std::int64_t>(forest[region].fields.size()) - 1));
  }
  Space piece_of(const RegionForest& forest, const std::vector<PartitionId>& partitions) {
    const PartitionId id =
        partitions[static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(partitions.size()) - 1))];
    const Rect& colours = forest[id].colours;
    return forest.piece(id, colours.point(pick(0, colours.size() - 1)));
  }
  void add_use(const RegionForest& forest, const std::vector<std::vector<PartitionId>>& partitions, Launch& what) {
    const auto r = static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(partitions.size()) - 1));
    LaunchUse use;
    use.space = {RegionId(r)};
    use.name = "p";
    use.fields.add(field_of(forest, RegionId(r)));
    if (pick(0, 2) == 0) use.fields.add(field_of(forest, RegionId(r)));
    use.privilege = static_cast<Privilege>(pick(0, 3));
    use.op = static_cast<ReduceOp>(pick(0, 3));
    if (pick(0, 9) > 0) {
      use.partition =
          partitions[r][static_cast<std::size_t>(pick(0, static_cast<std::int64_t>(partitions[r].size()) - 1))];
      const Rect colours = forest[use.partition].colours;
      const std::int64_t shift = pick(0, 3), factor = pick(1, 3);
      if (colours.rank == 1 && pick(0, 1) && colours.size() >= what.domain.size())
        use.projection = Projection::identity(1);
      else
        use.projection = Projection::of(
            1, colours.rank, [=](const Point& p) { return colours.point((p[0] * factor + shift) % colours.size()); },
            mixed(mixed(static_cast<std::uint64_t>(factor), static_cast<std::uint64_t>(shift)),
                  static_cast<std::uint64_t>(colours.size() * 10 + colours.rank)));
    }
    what.uses.push_back(use);
  }
  // An output of another point, of a launch over other points.
  Launch::Taken another_of(const Rect& points) {
    const std::int64_t shift = pick(0, 3), factor = pick(0, 3), count = points.size();
    const auto which = [=](const Point& p) { return Point::of((p[0] * factor + shift) % count); };
    const std::uint64_t hash =
        mixed(static_cast<std::uint64_t>(factor), static_cast<std::uint64_t>(100 * count + shift));
    if (pick(0, 1)) return {points, Projection::constant(1, Point::of(shift % count))};
    return {points, Projection::of(1, 1, which, hash)};
  }
  std::mt19937_64 random_;
};

// ---- every point in program order -----------------------------------------------------------------

using Contents = std::vector<std::vector<std::vector<std::byte>>>;  // by region and field

class Reference {
 public:
  explicit Reference(const RegionForest& forest) : forest_(forest) {
    for (std::size_t r = 0; r < forest.regions(); ++r) {
      fields.emplace_back();
      for (std::size_t f = 0; f < forest[RegionId(r)].fields.size(); ++f)
        fields.back().emplace_back(static_cast<std::size_t>(forest[RegionId(r)].extents.size()) * 8);
    }
  }

  void run(const std::deque<Step>& steps) {
    for (const Step& step : steps) {
      maps_.emplace_back();
      results.emplace_back();
      if (step.kind == Step::Kind::launch)
        launch(step);
      else if (step.kind == Step::Kind::fill)
        each(step, [&](std::byte* at) { std::memset(at, 0, 8), at[1] = std::byte(step.seed % 100); });
      else if (step.kind == Step::Kind::read)
        each(step, [&](std::byte* at) { results.back().insert(results.back().end(), at, at + 8); });
      else
        member(step);
    }
  }
  Contents fields;
  std::vector<std::vector<std::byte>> results;  // by step

 private:
  template <class Visit>
  void each(const Step& step, Visit visit) {
    const LaunchUse& use = step.what.uses[0];
    use.fields.each([&](std::uint32_t f) {
      forest_.points(use.space).runs(forest_.root(use.space), [&](Run run) {
        for (std::int64_t i = run.lo; i < run.hi; ++i) visit(fields[use.space.root.index()][f].data() + 8 * i);
      });
    });
  }

  void launch(const Step& step) {
    maps_.back().resize(step.what.points() * 16);
    std::size_t position = 0;
    each_point(step.what.domain, [&](const Point& point) {
      run_point(step, point, position++);
      return true;
    });
  }

  void run_point(const Step& step, const Point& point, std::size_t position) {
    std::vector<IndexSpace> pieces;
    std::vector<std::vector<std::byte*>> bases;
    std::vector<std::vector<std::vector<std::byte>>> buffers;
    for (const LaunchUse& use : step.what.uses) {
      const std::size_t r = use.space.root.index();
      pieces.push_back(forest_.points(use.at(point)));
      bases.emplace_back(fields[r].size());
      buffers.emplace_back(fields[r].size());
      use.fields.each([&](std::uint32_t f) {
        bases.back()[f] = fields[r][f].data();
        if (use.privilege != Privilege::reduce) return;
        buffers.back()[f].resize(fields[r][f].size());
        bases.back()[f] = buffers.back()[f].data();
        fold_of(precision_of(f), use.op).clear(bases.back()[f], fields[r][f].size() / 8);
      });
    }
    std::vector<PointView> views;
    for (std::size_t u = 0; u < pieces.size(); ++u)
      views.push_back({&pieces[u], &forest_[step.what.uses[u].space.root].extents, bases[u],
                       PieceMemory::inside(forest_[step.what.uses[u].space.root].extents)});
    std::vector<const std::byte*> in;
    for (std::size_t k = 0; k < step.maps.size(); ++k)
      in.push_back(maps_[step.maps[k]].data() + 16 * step.what.element(k, static_cast<std::uint32_t>(position)));
    std::byte* out = maps_.back().data() + 16 * position;
    body(step, views, in, {&out, 1}, point);
    for (std::size_t u = 0; u < pieces.size(); ++u) {
      const LaunchUse& use = step.what.uses[u];
      if (use.privilege != Privilege::reduce) continue;
      use.fields.each([&](std::uint32_t f) {
        pieces[u].runs(*views[u].root, [&](Run run) {
          fold_of(precision_of(f), use.op)
              .into(fields[use.space.root.index()][f].data() + 8 * run.lo, buffers[u][f].data() + 8 * run.lo,
                    static_cast<std::size_t>(run.size()));
        });
      });
    }
  }

  // The tree of two halves, the left one a power of two.
  std::vector<double> folded(const double* rows, std::size_t count, ReduceOp op) {
    std::vector<double> value(2);
    if (count == 0) {  // a sum of nothing is 0, and not the -0 to which contributions are added
      if (op != ReduceOp::sum) fold_of(Precision::f64, op).clear(reinterpret_cast<std::byte*>(value.data()), 2);
    } else if (count == 1) {
      value = {rows[0], rows[1]};
    } else {
      std::size_t left = 1;
      while (2 * left < count) left *= 2;
      value = folded(rows, left, op);
      const std::vector<double> right = folded(rows + 2 * left, count - left, op);
      for (std::size_t i = 0; i < 2; ++i)
        value[i] = op == ReduceOp::sum    ? value[i] + right[i]
                   : op == ReduceOp::prod ? value[i] * right[i]
                   : op == ReduceOp::min  ? std::min(value[i], right[i])
                                          : std::max(value[i], right[i]);
    }
    return value;
  }
  void member(const Step& step) {
    const std::vector<std::byte>& map = maps_[step.maps[0]];
    results.back() = map;
    if (step.member == MapMember::gather) return;
    const std::vector<double> value = folded(reinterpret_cast<const double*>(map.data()), map.size() / 16,
                                             static_cast<ReduceOp>(static_cast<int>(step.member)));
    results.back().assign(reinterpret_cast<const std::byte*>(value.data()),
                          reinterpret_cast<const std::byte*>(value.data() + 2));
  }

  const RegionForest& forest_;
  std::vector<std::vector<std::byte>> maps_;  // by step
};

// ---- in a session ---------------------------------------------------------------------------------

std::vector<std::byte> bytes_of(const Array& array) { return {array.raw(), array.raw() + array.bytes()}; }

struct Ran {
  Contents fields;
  std::vector<std::vector<std::byte>> results;
};

Ran run_in_session(std::uint64_t seed, const std::deque<Step>& steps, const SessionOptions& options,
                   std::uint32_t threads) {
  const std::unique_ptr<Backend> backend = make_host_backend({.threads = threads, .adaptive = false});
  RandomBodies bodies(threads > 1);
  for (const Step& step : steps) bodies.add(step);
  Ran ran;
  {
    Program program;
    Session session(*backend, bodies, options);
    RecordTarget target(program, session);
    Maker maker(seed);
    std::vector<Region> regions;
    maker.make_regions(regions);
    std::vector<std::shared_ptr<RegionHandle>> handles;
    for (Region& region : regions) handles.push_back(target.make_region(region, {}));
    for (std::size_t r = 0; r < regions.size(); ++r) maker.make_partitions(target.regions(), RegionId(r));
    std::vector<Value> maps, tensors;
    for (std::size_t s = 0; s < steps.size(); ++s) {
      const Step& step = steps[s];
      maps.emplace_back();
      tensors.emplace_back();
      const LaunchUse* use = step.what.uses.empty() ? nullptr : &step.what.uses[0];
      if (step.kind == Step::Kind::launch) {
        RecordTarget::Launched launched;
        launched.what = step.what;
        launched.what.symbol = std::to_string(s);
        launched.named.name = "step";
        for (std::size_t map : step.maps) launched.values.push_back(maps[map]);
        launched.named.inputs.assign(step.maps.size(), "m");
        launched.named.outputs = {"y"};
        launched.outputs = {Type::tensor(Precision::f64, {2})};
        maps.back() = target.launched(std::move(launched))[0];
      } else if (step.kind == Step::Kind::member) {
        tensors.back() = target.map_member(*maps[step.maps[0]].as<LaunchMap>(), step.member, {});
      } else {
        std::uint32_t field = 0;
        use->fields.each([&](std::uint32_t f) { field = f; });
        if (step.kind == Step::Kind::read) {
          tensors.back() = target.field_value(use->space, field, {});
        } else {
          Array contents = Array::make({precision_of(field), {}});
          contents.raw()[1] = std::byte(step.seed % 100);
          target.fill(use->space, field, Value(contents), {});
        }
      }
    }
    for (const Value& tensor : tensors)
      ran.results.push_back(tensor.is_none() ? std::vector<std::byte>() : bytes_of(target.receive(tensor, {})));
    for (std::size_t r = 0; r < regions.size(); ++r) {
      ran.fields.emplace_back();
      for (std::uint32_t f = 0; f < regions[r].fields.size(); ++f)
        ran.fields.back().push_back(bytes_of(target.receive(target.field_value({RegionId(r)}, f, {}), {})));
    }
  }
  CHECK(backend->memory().live_bytes == 0);
  return ran;
}

}  // namespace

TEST_CASE("random programs over regions have the bits of every point run in program order [region-run]") {
  for (std::uint64_t seed : random_seeds(150, 10'000)) {
    CAPTURE(seed);
    Maker maker(seed);
    RegionForest forest;
    std::vector<Region> regions;
    maker.make_regions(regions);
    for (const Region& region : regions) forest.add(region);
    std::vector<std::vector<PartitionId>> partitions;
    for (std::size_t r = 0; r < regions.size(); ++r) partitions.push_back(maker.make_partitions(forest, RegionId(r)));
    std::deque<Step> steps;
    for (int k = 0; k < 16; ++k) maker.make_step(forest, partitions, steps);
    Reference reference(forest);
    reference.run(steps);
    struct Way {
      Schedule schedule;
      std::uint32_t threads;
      std::size_t window;
    };
    for (const Way& way : {Way{Schedule::push, 1, 0}, Way{Schedule::push, 2, 0}, Way{Schedule::push, 3, 8},
                           Way{Schedule::pull, 2, 0}, Way{Schedule::eager, 1, 0}}) {
      CAPTURE(way.threads);
      CAPTURE(static_cast<int>(way.schedule));
      const Ran ran = run_in_session(
          seed, steps, {.schedule = way.schedule, .window = way.window, .forget = way.window > 0, .sweep = 16},
          way.threads);
      REQUIRE(ran.results == reference.results);
      REQUIRE(ran.fields == reference.fields);
    }
  }
}

}  // namespace taskspec::regions_run_prop_test
