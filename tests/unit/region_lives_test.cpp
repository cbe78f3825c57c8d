// Regions and partitions that come and go: ids are given again, equal partitions are one, and a session that runs for
// hours keeps no more than it can name.
#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "interp/control/build_graph.hpp"
#include "interp/control/record.hpp"
#include "interp/control/region_values.hpp"
#include "interp/host/executable.hpp"
#include "interp/host/host_backend.hpp"
#include "interp/session/session.hpp"
#include "ir/plan/plan.hpp"
#include "ir/region/operators.hpp"
#include "ir/region/users.hpp"
#include "tests/unit/errors.hpp"

namespace taskspec::region_lives_test {

namespace {

Region cells(std::int64_t points) {
  return {"Cell", "cells", Rect::of({points}), {{"a", Precision::f64}, {"b", Precision::f64}}};
}

// Every point counts, and nothing else.
class CountingBodies final : public Bodies {
 public:
  Result<OpList> list(const TaskGraph&, NodeId) override { return failure("E3005", {}, "there are no bodies").diags(); }
  std::vector<Array> run(const TaskGraph&, NodeId, std::vector<Array>) override { bug("there are no bodies"); }
  PointTask point_task(const std::string&) override {
    return {[](void* count, std::span<const PointView>, std::span<const std::byte* const>, std::span<std::byte* const>,
               const Point&) { ++*static_cast<std::size_t*>(count); },
            &points};
  }
  std::size_t points = 0;
};

LaunchUse use(RegionId region, PartitionId partition, std::uint32_t field, Privilege privilege) {
  return {{region}, partition, Projection::identity(1), FieldMask::of({field}), privilege, ReduceOp::sum, "cells"};
}

void launch(RecordTarget& target, std::int64_t points, std::vector<LaunchUse> uses) {
  RecordTarget::Launched launched;
  launched.what.work = Launch::Work::native;
  launched.what.symbol = "count";
  launched.what.domain = Rect::of({points});
  launched.what.uses = std::move(uses);
  launched.named.name = "count";
  launched.span = Span{SourceId(0), 1, 2};
  target.launched(std::move(launched));
}

// What a point of a launch of one use was handed.
struct Handed {
  std::int64_t extent = 0, lo = 0, hi = 0, point = 0;
  std::size_t field = 0;
  auto operator<=>(const Handed&) const = default;
};

// Every point tells what it was handed.
class TellingBodies final : public Bodies {
 public:
  Result<OpList> list(const TaskGraph&, NodeId) override { return failure("E3005", {}, "there are no bodies").diags(); }
  std::vector<Array> run(const TaskGraph&, NodeId, std::vector<Array>) override { bug("there are no bodies"); }
  PointTask point_task(const std::string&) override {
    return {
        [](void* told, std::span<const PointView> views, std::span<const std::byte* const>, std::span<std::byte* const>,
           const Point& point) {
          const PointView& view = views[0];
          const auto field = std::ranges::find_if(view.fields, [](const std::byte* base) { return base != nullptr; });
          const Rect& piece = view.points->rect();
          static_cast<std::vector<Handed>*>(told)->push_back({view.root->extent(0), piece.lo[0], piece.hi[0], point[0],
                                                              static_cast<std::size_t>(field - view.fields.begin())});
        },
        &told};
  }
  std::vector<Handed> told;
};

template <class Told = CountingBodies>
struct RunsOf {
  Told bodies;
  std::unique_ptr<Backend> backend = make_host_backend({.threads = 1});
  Program program;
  Session session{*backend, bodies, {.window = 64, .forget = true, .sweep = 256}};
  RecordTarget target{program, session};
  RegionForest& forest = session.graph.regions;
};
using Runs = RunsOf<>;

// All that was recorded, as one batch.
BatchGraph whole(const TaskGraph& graph) {
  std::vector<NodeId> nodes;
  for (std::size_t node = 0; node < graph.size(); ++node) nodes.push_back(NodeId(node));
  const Batch batch = batch_of(
      graph, nodes, {}, [](NodeId, std::size_t) { return false; }, [](Ref) { return false; });
  FieldUsers users;
  return graph_of(batch, graph, {}, users);
}

}  // namespace

TEST_CASE("[regions] equal partitions are one") {
  RegionForest forest;
  const RegionId line = forest.add(cells(64)), other = forest.add(cells(64));
  const PartitionId own = blocks(forest, {line}, Point::of(4));
  CHECK(blocks(forest, {line}, Point::of(4)) == own);
  CHECK(halo(forest, own, 1, HaloShape::box) == halo(forest, own, 1, HaloShape::box));
  CHECK(cover(forest, {line}, {{{0, 3}}, {{2, 9}}}) == cover(forest, {line}, {{{0, 2}, {2, 3}}, {{2, 9}}}));
  CHECK(subtract(forest, own, shrink(forest, {line}, 2)) == subtract(forest, own, shrink(forest, {line}, 2)));
  CHECK(cross(forest, own, own) == cross(forest, own, own));
  // Nothing else is.
  for (const PartitionId p :
       {blocks(forest, {line}, Point::of(5)), blocks(forest, {other}, Point::of(4)),
        blocks(forest, piece(forest, own, 1), Point::of(4)), halo(forest, own, 1, HaloShape::box),
        unite(forest, own, shrink(forest, {line}, 2)), by_weight(forest, {line}, std::vector{1.0, 1.0, 1.0, 1.0})})
    CHECK(p != own);
  CHECK(halo(forest, own, 1, HaloShape::box) != halo(forest, own, 2, HaloShape::box));
  CHECK(cover(forest, {line}, {{{0, 3}}, {{2, 9}}}) != cover(forest, {line}, {{{0, 3}}, {{2, 8}}}));
  CHECK(blocks(forest, piece(forest, own, 1), Point::of(4)) != blocks(forest, piece(forest, own, 2), Point::of(4)));
  // Their contents are the same on another region of the same extents.
  CHECK(forest[blocks(forest, {other}, Point::of(4))].content == forest[own].content);
}

TEST_CASE("[regions] a partition goes with the last that holds it, and those that it was made of") {
  RegionForest forest;
  const RegionId line = forest.add(cells(64));
  std::vector<PartitionId> gone;
  const auto note = [&](PartitionId id) { gone.push_back(id); };
  const PartitionId own = blocks(forest, {line}, Point::of(4)), ghost = halo(forest, own, 1, HaloShape::box);
  const PartitionId never_named = blocks(forest, {line}, Point::of(7));
  forest.retain(own);
  forest.retain(ghost);
  forest.release(own, note);
  CHECK(gone.empty());  // its halo asks it
  forest.hold(ghost);   // a task
  forest.release(ghost, note);
  CHECK(gone.empty());
  const std::uint64_t serial = forest[ghost].serial;
  forest.release(ghost, note);
  CHECK(gone == std::vector<PartitionId>{ghost, own});
  CHECK(forest[never_named].colours.size() == 7);
  // Ids are given again, serials are not.
  const PartitionId next = blocks(forest, {line}, Point::of(3)), after = blocks(forest, {line}, Point::of(2));
  CHECK(std::set<PartitionId>{next, after} == std::set<PartitionId>{own, ghost});
  CHECK(forest[next].serial > serial);
  forest.remove(line);
  const RegionId again = forest.add(cells(8));
  CHECK(again == line);
  CHECK(forest.points(piece(forest, blocks(forest, {again}, Point::of(2)), 1)).rect() == Rect{{4}, {8}, 1});
  CHECK(forest.partitions() == 3);
}

TEST_CASE("[regions] a chain of 10^5 partitions goes at once") {
  RegionForest forest;
  const RegionId line = forest.add(cells(64));
  PartitionId last = blocks(forest, {line}, Point::of(4));
  forest.retain(last);
  for (int k = 0; k < 100'000; ++k) {
    const PartitionId next = halo(forest, last, k % 7, HaloShape::box);
    forest.retain(next);
    forest.release(last, [](PartitionId) { FAIL("the next one is made of it"); });
    last = next;
  }
  std::size_t gone = 0;
  forest.release(last, [&](PartitionId) { ++gone; });
  CHECK(gone == 100'001);
}

TEST_CASE("[regions] a region of each turn's own, its partition and a launch keep no memory, and share a plan") {
  Runs runs;
  constexpr std::size_t turns = 4000;
  std::size_t held = 0, bytes = 0;
  for (std::size_t turn = 0; turn < turns; ++turn) {
    const std::shared_ptr<RegionHandle> region = runs.target.make_region(cells(64), {});
    const PartitionValue own(region, blocks(runs.forest, {region->region}, Point::of(8)));
    const PartitionValue ghost(region, halo(runs.forest, own.id, 1, HaloShape::box));
    launch(runs.target, 8,
           {use(region->region, own.id, 0, Privilege::inout), use(region->region, ghost.id, 1, Privilege::in)});
    if (turn == turns / 2) {
      held = runs.session.report().held;
      bytes = runs.forest.bytes();
    }
  }
  runs.session.finish();
  CHECK(runs.bodies.points == 8 * turns);
  CHECK(runs.session.report().plans <= 3);  // of a window, and of what is left
  CHECK(runs.forest.regions() <= 64);       // as many as wait for a window
  CHECK(runs.forest.partitions() <= 128);
  CHECK(runs.forest.bytes() <= 2 * bytes);
  CHECK(runs.session.report().held <= 2 * held + 1024);
  CHECK(runs.backend->memory().live_bytes == 0);
}

TEST_CASE("[regions] partitions of each turn's own of one region keep no memory") {
  Runs runs;
  const std::shared_ptr<RegionHandle> region = runs.target.make_region(cells(4096), {});
  std::size_t bytes = 0;
  constexpr std::int64_t turns = 2000;
  for (std::int64_t turn = 0; turn < turns; ++turn) {
    // Another one each time: a plan of its own, which is a cost of its time only.
    const std::int64_t cut = 1 + turn * 37 % 4095;
    const PartitionValue halves(region, cover(runs.forest, {region->region}, {{{0, cut}}, {{cut, 4096}}}));
    launch(runs.target, 2, {use(region->region, halves.id, 0, Privilege::inout)});
    if (turn == turns / 2) bytes = runs.forest.bytes();
  }
  runs.session.finish();
  CHECK(runs.bodies.points == 2 * turns);
  CHECK(runs.forest.partitions() <= 64);
  CHECK(runs.forest.bytes() <= 2 * bytes);
}

TEST_CASE("[regions] what is known of users keeps no pieces of partitions that are gone") {
  RegionForest forest;
  const RegionId line = forest.add(cells(1 << 20));
  FieldUsers users;
  std::vector<FieldUsers::Edge> before;
  std::size_t bytes = 0;
  for (std::int64_t turn = 0; turn < 4000; ++turn) {
    users.forget();
    const PartitionId own = blocks(forest, {line}, Point::of(2 + turn % 50));
    forest.retain(own);
    for (std::int64_t i = 0; i < forest[own].colours.size(); ++i) {
      before.clear();
      users.add(forest, static_cast<std::uint32_t>(i), {piece(forest, own, i), FieldMask::of({0}), Privilege::inout},
                before);
      CHECK(before.empty());
    }
    forest.release(own, [&](PartitionId id) { users.forget(line, id); });
    if (turn == 400) bytes = users.bytes();
  }
  CHECK(users.bytes() <= 2 * bytes);
}

TEST_CASE("[regions] many-to-many launches have edges for the sum of their points") {
  constexpr std::int64_t points = 500;
  Program program;
  GraphView view;
  RecordTarget target(program, view);
  const std::shared_ptr<RegionHandle> region = target.make_region(cells(points), {});
  const PartitionId own = blocks(target.regions(), {region->region}, Point::of(points));
  for (int turn = 0; turn < 2; ++turn) {
    launch(target, points, {use(region->region, own, 0, Privilege::inout)});
    launch(target, points, {use(region->region, {}, 0, Privilege::in)});
  }
  const BatchGraph made = whole(view.graph);
  CHECK(made.graph->size() == 4 * points + 3);
  CHECK(made.graph->edges().size() == 6 * points);
  std::size_t joins = 0;
  for (const PointGroup& group : made.graph->point_groups()) joins += is_join(group);
  CHECK(joins == 3);
}

TEST_CASE("[regions] a launch of many points that all read what many wrote runs each of them once") {
  Runs runs;
  constexpr std::int64_t points = 300;
  const std::shared_ptr<RegionHandle> region = runs.target.make_region(cells(points), {});
  const PartitionId own = blocks(runs.forest, {region->region}, Point::of(points));
  for (int turn = 0; turn < 4; ++turn) {
    launch(runs.target, points, {use(region->region, own, 0, Privilege::inout)});
    launch(runs.target, points,
           {use(region->region, {}, 0, Privilege::in), use(region->region, own, 1, Privilege::inout)});
  }
  runs.session.finish();
  CHECK(runs.bodies.points == 8 * points);
}

TEST_CASE("[regions] the launches of a loop are one code in a plan, and nothing that differs is") {
  Program program;
  GraphView view;
  RecordTarget target(program, view);
  const std::shared_ptr<RegionHandle> line = target.make_region(cells(64), {}),
                                      other = target.make_region(cells(64), {});
  const PartitionId own = blocks(target.regions(), {line->region}, Point::of(4));
  const PartitionId same = blocks(target.regions(), {other->region}, Point::of(4));
  const PartitionId ghost = halo(target.regions(), own, 1, HaloShape::box);
  LaunchUse turned = use(line->region, own, 0, Privilege::inout);
  turned.projection = Projection::affine(1, 1, {{{-1}}}, {3});
  const std::vector<LaunchUse> different = {use(line->region, own, 0, Privilege::inout),
                                            use(line->region, own, 1, Privilege::inout),
                                            use(line->region, own, 0, Privilege::in),
                                            use(line->region, ghost, 0, Privilege::in),
                                            use(line->region, {}, 0, Privilege::in),
                                            use(other->region, same, 0, Privilege::inout),
                                            turned};
  constexpr int turns = 5;
  for (int turn = 0; turn < turns; ++turn)
    for (const LaunchUse& one : different) launch(target, 4, {one});
  const BatchGraph made = whole(view.graph);
  const std::shared_ptr<const Plan> plan = make_plan(made.graph, aggregate(*made.graph));
  CountingBodies bodies;
  const HostExecutable executable(plan, bodies, 1);
  std::set<const TaskCode*> codes;
  std::size_t points = 0;
  for (std::uint32_t step = 0; step < plan->steps(); ++step)
    for (const CodeCall& call : executable.calls(step)) {
      const PointGroup& group = *made.graph->points(plan->tasks[call.task].node);
      if (is_join(group)) continue;
      ++points;
      codes.insert(call.code);
    }
  CHECK(points == 4 * different.size() * turns);
  CHECK(codes.size() == 4 * different.size());
}

TEST_CASE("[regions] points are handed their pieces, whatever else has their ids and shapes in plan and window") {
  RunsOf<TellingBodies> runs;
  std::vector<Handed> wanted;
  const std::shared_ptr<RegionHandle> line = runs.target.make_region(cells(64), {});
  const PartitionValue quarters(line, blocks(runs.forest, {line->region}, Point::of(4)));
  for (std::int64_t turn = 0; turn < 300; ++turn) {
    // Of two sizes in turns, each made where the one before went.
    const std::int64_t size = turn % 2 ? 8 : 16;
    const std::shared_ptr<RegionHandle> region = runs.target.make_region(cells(size), {});
    const PartitionValue own(region, blocks(runs.forest, {region->region}, Point::of(2)));
    launch(runs.target, 2, {use(region->region, own.id, turn % 3 == 0, Privilege::inout)});
    for (std::int64_t i = 0; i < 2; ++i)
      wanted.push_back({size, i * size / 2, (i + 1) * size / 2, i, static_cast<std::size_t>(turn % 3 == 0)});
    // The same partition of one region, and one that is made again elsewhere.
    launch(runs.target, 4, {use(line->region, quarters.id, 0, Privilege::inout)});
    for (std::int64_t i = 0; i < 4; ++i) wanted.push_back({64, 16 * i, 16 * (i + 1), i, 0});
    LaunchUse turned = use(line->region, quarters.id, 0, Privilege::inout);
    turned.projection = Projection::affine(1, 1, {{{-1}}}, {3});
    launch(runs.target, 4, {turned});
    for (std::int64_t i = 0; i < 4; ++i) wanted.push_back({64, 16 * (3 - i), 16 * (4 - i), i, 0});
    const std::int64_t cut = 1 + turn % 3;
    const PartitionValue halves(line, cover(runs.forest, {line->region}, {{{0, cut}}, {{cut, 64}}}));
    launch(runs.target, 2, {use(line->region, halves.id, 1, Privilege::inout)});
    wanted.push_back({64, 0, cut, 0, 1});
    wanted.push_back({64, cut, 64, 1, 1});
  }
  runs.session.finish();
  std::ranges::sort(wanted);
  std::ranges::sort(runs.bodies.told);
  CHECK(runs.bodies.told == wanted);
}

}  // namespace taskspec::region_lives_test
