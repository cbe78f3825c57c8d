// Regions by hand: huge ones by formula, what bad input is told, the table of privileges, what a loop of launches
// costs.
#include <doctest/doctest.h>

#include "ir/region/independence.hpp"
#include "ir/region/operators.hpp"
#include "ir/region/users.hpp"
#include "tests/unit/errors.hpp"

namespace taskspec::region_test {

namespace {

RegionId cells(RegionForest& forest, std::initializer_list<std::int64_t> extents) {
  return forest.add({"Cell", "cells", Rect::of(extents), {{"state", Precision::f64}, {"flux", Precision::f64}}});
}

IndexValues values(const std::vector<std::int64_t>& numbers) {
  return {reinterpret_cast<const std::byte*>(numbers.data()), Precision::i64, "wires.a"};
}

LaunchUse use(PartitionId p, Privilege privilege, std::uint32_t field, std::string name,
              Projection projection = Projection::identity(1)) {
  return {{RegionId(0)}, p, std::move(projection), FieldMask::of({field}), privilege, ReduceOp::sum, std::move(name)};
}

std::string told(const RegionForest& forest, const Rect& domain, const std::vector<LaunchUse>& uses) {
  const auto found = conflict(forest, domain, uses);
  return found ? diagnostic(forest, uses, *found, {}).message : "";
}

}  // namespace

TEST_CASE("[regions] 10^12 points in 10^12 pieces take no memory") {
  RegionForest forest;
  const std::int64_t huge = 1'000'000'000'000;
  const RegionId line = cells(forest, {huge}), plane = cells(forest, {1'000'000, 1'000'000});
  const PartitionId owned = blocks(forest, {line}, Point::of(huge));
  const PartitionId interior = intersect(forest, owned, shrink(forest, {line}, 1));
  const PartitionId ghost = halo(forest, owned, 1, HaloShape::box);
  const PartitionId tiles = blocks(forest, {plane}, Point::of(1'000, 1'000));
  const PartitionId star = halo(forest, tiles, 1, HaloShape::star);
  CHECK(forest.points(piece(forest, ghost, 7)).rect() == Rect{{6}, {9}, 1});
  CHECK(forest.points(piece(forest, interior, 0)).empty());
  CHECK(forest.points({plane, star, Point::of(1, 1)}).size() == 1'000'000 + 4 * 1'000);
  CHECK(forest.text(owned) == "<partition Cell[1000000000000], 1000000000000 pieces, disjoint, complete>");
  CHECK(forest.text(interior) == "<partition Cell[1000000000000], 1000000000000 pieces, disjoint, incomplete>");
  CHECK(forest.text(ghost) == "<partition Cell[1000000000000], 1000000000000 pieces, aliased, complete>");
  CHECK(forest.text(star) == "<partition Cell[1000000, 1000000], 1000000 pieces, aliased, complete>");
  CHECK(forest.bytes() < 10'000);
  // A launch over all of them is independent by formula.
  CHECK(told(forest, Rect::of({huge}),
             {use(owned, Privilege::inout, 0, "owned"), use(ghost, Privilege::in, 1, "ghost")}) == "");
  // Users of some pieces keep what those need.
  FieldUsers users;
  std::vector<FieldUsers::Edge> before;
  users.add(forest, 0, {piece(forest, owned, huge / 3), FieldMask::of({0}), Privilege::inout}, before);
  users.add(forest, 1, {piece(forest, ghost, huge / 3 + 1), FieldMask::of({0}), Privilege::in}, before);
  CHECK(before == std::vector<FieldUsers::Edge>{{0, Hazard::raw}});
  CHECK(users.bytes() < 100'000);
}

TEST_CASE("[privileges] which privileges need an order, and why") {
  constexpr Privilege in = Privilege::in, out = Privilege::out, inout = Privilege::inout, reduce = Privilege::reduce;
  constexpr Privilege all[] = {in, out, inout, reduce};
  const Hazard none = Hazard::none, raw = Hazard::raw, waw = Hazard::waw, war = Hazard::war;
  // Rows: the earlier one. A contribution is added to what is there, so it comes after a write by RAW.
  const Hazard table[4][4] = {{none, war, war, war}, {raw, waw, raw, raw}, {raw, waw, raw, raw}, {raw, waw, raw, none}};
  for (std::size_t a = 0; a < 4; ++a)
    for (std::size_t b = 0; b < 4; ++b) {
      CAPTURE(a);
      CAPTURE(b);
      CHECK(hazard(all[a], ReduceOp::sum, all[b], ReduceOp::sum) == table[a][b]);
    }
  CHECK(hazard(reduce, ReduceOp::sum, reduce, ReduceOp::max) == raw);
}

TEST_CASE("[privileges] many readers, then a writer") {
  RegionForest forest;
  const RegionId all = cells(forest, {1'000});
  const PartitionId owned = blocks(forest, {all}, Point::of(100));
  FieldUsers users;
  std::vector<FieldUsers::Edge> before;
  for (std::uint32_t user = 0; user < 100; ++user)
    users.add(forest, user, {piece(forest, owned, user), FieldMask::of({0}), Privilege::out}, before);
  CHECK(before.empty());
  for (std::uint32_t user = 100; user < 200; ++user) {
    before.clear();
    users.add(forest, user, {{all}, FieldMask::of({0}), Privilege::in}, before);
    CHECK(before.size() == 100);
  }
  before.clear();
  users.add(forest, 200, {piece(forest, owned, 7), FieldMask::of({0}), Privilege::inout}, before);
  REQUIRE(before.size() == 100);  // the readers: through them also the writer
  CHECK(before.front() == FieldUsers::Edge{100, Hazard::war});
  // What another access of the same user adds comes behind, and nobody comes twice.
  users.add(forest, 200, {piece(forest, owned, 8), FieldMask::of({0}), Privilege::inout}, before);
  CHECK(before.size() == 100);
  users.add(forest, 50, {piece(forest, owned, 8), FieldMask::of({1}), Privilege::out}, before);
  users.add(forest, 200, {{all}, FieldMask::of({1}), Privilege::in}, before);
  REQUIRE(before.size() == 101);
  CHECK(before.back() == FieldUsers::Edge{50, Hazard::raw});
}

// What a point pays for is what its pieces have of atoms, whatever the number of steps.
TEST_CASE("[privileges] a loop of launches makes its atoms once") {
  RegionForest forest;
  const RegionId all = cells(forest, {64'000});
  const PartitionId owned = blocks(forest, {all}, Point::of(1'000)), ghost = halo(forest, owned, 1, HaloShape::box);
  const PartitionId interior = intersect(forest, owned, shrink(forest, {all}, 1));
  FieldUsers users;
  std::vector<FieldUsers::Edge> before;
  std::uint32_t user = 0;
  std::size_t atoms = 0, bytes = 0;
  for (int step = 0; step < 6; ++step) {
    for (std::int64_t i = 0; i < 1'000; ++i)
      users.add(forest, user++, {piece(forest, owned, i), FieldMask::of({0}), Privilege::inout}, before);
    for (std::int64_t i = 0; i < 1'000; ++i, ++user) {
      before.clear();
      users.add(forest, user, {piece(forest, interior, i), FieldMask::of({1}), Privilege::inout}, before);
      users.add(forest, user, {piece(forest, ghost, i), FieldMask::of({0}), Privilege::in}, before);
      const std::size_t neighbours = i == 0 || i == 999 ? 2 : 3;
      CHECK(before.size() == neighbours + (step > 0));
    }
    if (step == 2) atoms = users.atoms(), bytes = users.bytes();
  }
  CHECK(atoms == 2'998 + 1'001);  // state: the ends of each piece apart; flux: a piece each, and what is not interior
  CHECK(users.atoms() == atoms);
  CHECK(users.bytes() == bytes);
}

TEST_CASE("[partitions] bad input is told in words") {
  RegionForest forest;
  auto message = [](auto call) { return error_of(call); };
  CHECK(message([&] { cells(forest, {-3}); }) == "E1003 a region cannot have -3 points along axis 0");
  CHECK(message([&] { cells(forest, {1, 1, 1, 1, 1}); }).starts_with("E1003 a region has 1 to 4 axes"));
  CHECK(message([&] { cells(forest, {1 << 30, 1 << 30, 1 << 30}); }).starts_with("E5008 a region Cell["));
  const RegionId line = cells(forest, {16}), plane = cells(forest, {4, 4}), nothing = cells(forest, {0});
  const PartitionId p = blocks(forest, {line}, Point::of(4)), q = blocks(forest, {plane}, Point::of(2, 2));
  CHECK(forest.text(blocks(forest, {nothing}, Point::of(3))) == "<partition Cell[0], 3 pieces, disjoint, complete>");
  CHECK(message([&] { blocks(forest, {line}, Point::of(0)); }) == "E1003 blocks wants at least one piece, not 0");
  CHECK(message([&] { blocks(forest, {line}, Point::of(2, 2)); }) ==
        "E1003 blocks wants one number of pieces, or one for each axis: 2 are given for Cell[16]");
  CHECK(message([&] { forest.piece(p, Point::of(4)); }) ==
        "E5003 colour 4 is beyond the partition: its colours are 0..4");
  CHECK(message([&] { forest.piece(q, Point::of(1)); }) ==
        "E1003 the partition has colours of rank 2, and 1 has rank 1");
  CHECK(message([&] { halo(forest, p, -1, HaloShape::box); }) == "E1003 halo wants a distance from 0 on, not -1");
  CHECK(message([&] { intersect(forest, p, q); }) ==
        "E1003 both sides must belong to one region; these are of Cell[16] 'cells' and Cell[4, 4] 'cells'");
  CHECK(message([&] { unite(forest, p, blocks(forest, {line}, Point::of(3))); }) ==
        "E1003 partitions are combined piece by piece and must have the same colours; these have 0..4 and 0..3");
  CHECK(message([&] { by_weight(forest, {line}, std::vector<double>{0, 0}); }).starts_with("E1003 weights must have"));
  CHECK(message([&] {
          cover(forest, {line}, {{}, {{3, 17}}});
        }) == "E5003 piece 1 of cover names the points 3..17, and Cell[16] has 0..16");
  CHECK(
      message([&] { by_field(forest, {line}, values({}), std::int64_t{1} << 40); }).starts_with("E5008 1099511627776"));
  std::vector<std::int64_t> numbers(16, 3);
  numbers[5] = 16;
  CHECK(message([&] { image(forest, {line}, p, values(numbers)); }) ==
        "E5003 wires.a[5] is 16, which names no point of Cell[16]");
  CHECK(forest.points(piece(forest, preimage(forest, p, {line}, values(numbers)), 0)).size() == 15);  // all but 5
  IndexValues floats = values(numbers);
  floats.precision = Precision::f64;
  CHECK(message([&] { by_field(forest, {line}, floats, 2); }) ==
        "E1003 an index field holds integers, and 'wires.a' is f64");
}

TEST_CASE("[partitions] a false claim is refuted with its point and two colours") {
  RegionForest forest;
  const RegionId line = cells(forest, {16});
  const PartitionId p = blocks(forest, {line}, Point::of(4)), ghost = halo(forest, p, 1, HaloShape::box);
  const PartitionId inner = intersect(forest, p, shrink(forest, {line}, 1));
  CHECK(error_of([&] { forest.claim(ghost, Claim::disjoint, true); }) ==
        "E3102 the partition is not disjoint: point 3 is in the pieces of colours 0 and 1");
  CHECK(error_of([&] { forest.claim(inner, Claim::complete, true); }) ==
        "E3102 the partition is not complete: point 0 is in no piece");
  forest.claim(p, Claim::disjoint, true);
  CHECK_FALSE(forest.disjoint(ghost));
  forest.claim(ghost, Claim::disjoint, false);  // unchecked: it is believed
  CHECK(forest.disjoint(ghost));
}

TEST_CASE("[partitions] where fields have no contents a partition has its operator, and no pieces") {
  RegionForest forest;
  const RegionId line = cells(forest, {16});
  IndexValues unknown{nullptr, Precision::i64, "cells.state", {line, 1}};
  unknown.known = false;
  const PartitionId p = blocks(forest, {line}, Point::of(4)), own = by_field(forest, {line}, unknown, 4);
  const PartitionId image_of = image(forest, {line}, p, unknown), ghost = subtract(forest, image_of, own);
  const PartitionId wide = halo(forest, own, 2, HaloShape::star), pairs = cross(forest, own, p);
  CHECK(image_of != image(forest, {line}, p, unknown));  // the field may hold something else by now
  auto origin = [&](PartitionId id) { return forest[id].form->origin(); };
  CHECK(origin(own).op == "by_field");
  CHECK(origin(own).fields[0].field == 1);
  CHECK(origin(image_of).of == std::vector{p});
  CHECK(origin(ghost).op == "-");
  CHECK(origin(ghost).of == std::vector{image_of, own});
  CHECK(origin(wide).distance == 2);
  CHECK(origin(wide).shape == "star");
  CHECK(origin(preimage(forest, own, {line}, unknown)).of == std::vector{own});
  CHECK(origin(intersect(forest, p, p)).op == "&");
  CHECK(origin(blocks(forest, {line}, Point::of(4))).counts == std::vector<std::int64_t>{4});
  CHECK(forest[pairs].colours.size() == 16);
  CHECK(forest.disjoint(own));
  CHECK(forest.disjoint(pairs));
  CHECK_FALSE(forest.disjoint(image_of));
  for (const PartitionId open : {own, image_of, ghost, wide, pairs}) {
    CHECK(forest[open].form->is_open());
    CHECK(error_of([&] {
            forest.points({line, open, forest[open].colours.point(0)});
          }).starts_with("E1009 which points the pieces have that '" + std::string(origin(open).op) + "' makes"));
  }
  // What they have in common is seen when the graph runs.
  forest.claim(image_of, Claim::complete, true);
  CHECK(told(forest, Rect::of({4}), {use(image_of, Privilege::inout, 0, "r"), use(p, Privilege::in, 0, "p")}) == "");
  CHECK(error_of([&] { by_field(forest, {line}, unknown, 0); }) == "E1003 by_field wants at least one piece, not 0");
}

TEST_CASE("[groups] what a launch that is not independent is told") {
  RegionForest forest;
  const RegionId line = cells(forest, {64});
  const PartitionId p = blocks(forest, {line}, Point::of(4)), ghost = halo(forest, p, 1, HaloShape::box);
  const Rect domain = Rect::of({4});
  auto half = Projection::of(
      1, 1, [](const Point& i) { return Point::of(i[0] / 2); }, 7);
  CHECK(told(forest, domain, {use(p, Privilege::out, 0, "p", half)}) ==
        "points 0 and 1 both write p[0]; a group must be independent");
  CHECK(told(forest, domain, {use(p, Privilege::reduce, 0, "p", half)}) == "");
  CHECK(told(forest, domain, {use(p, Privilege::inout, 0, "own"), use(ghost, Privilege::in, 0, "gh")}) ==
        "point 0 takes own[0] and gh[0], which share point 0, and writes own[0]");
  CHECK(told(forest, domain, {use(ghost, Privilege::inout, 0, "gh")}) ==
        "point 0 writes gh[0] and point 1 writes gh[1], which share point 15; a group must be independent");
  CHECK(told(forest, domain, {use(p, Privilege::inout, 0, "own"), use(ghost, Privilege::in, 1, "gh")}) == "");
  LaunchUse whole = use({}, Privilege::inout, 0, "cells");
  whole.space = {line};
  CHECK(told(forest, domain, {whole}) == "points 0 and 1 both write cells; a group must be independent");
  CHECK(told(forest, Rect::of({1}), {whole}) == "");
  CHECK(error_of([&] { told(forest, Rect::of({6}), {use(p, Privilege::in, 0, "p")}); }) ==
        "E5003 point 4 of the launch takes p[4], which is beyond the partition: its colours are 0..4");
  CHECK(error_of([&] {
          told(forest, Rect::of({2, 2}), {use(p, Privilege::in, 0, "p")});
        }).starts_with("E1003 points of"));
  // Even and odd pieces never meet; that takes a look at the points.
  const auto even = Projection::affine(1, 1, {{{2}}}, {0}), odd = Projection::affine(1, 1, {{{2}}}, {1});
  CHECK(told(forest, Rect::of({2}), {use(p, Privilege::inout, 0, "p", even), use(p, Privilege::in, 0, "p", odd)}) ==
        "");
}

}  // namespace taskspec::region_test
