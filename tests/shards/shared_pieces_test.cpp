// Tables of pieces that shards share out: what each of them finds is what one that keeps everything finds, whoever asks
// whom and when; and nobody keeps all.
#include "interp/shards/data/shared_pieces.hpp"

#include <algorithm>
#include <map>

#include "ir/base/diag.hpp"
#include "ir/region/forms/shared_table.hpp"
#include "ir/region/operators.hpp"
#include "ir/region/piece_form.hpp"
#include "tests/shards/member.hpp"
#include "tests/shards/networks.hpp"
#include "tests/unit/random_regions.hpp"

namespace taskspec::shared_pieces_test {
namespace {

std::uint64_t all_of(const std::vector<Bytes>& results) {
  std::uint64_t sum = 0;
  for (const Bytes& one : results) sum += ByteReader(one).get<std::uint64_t>();
  return sum;
}

// Random operators; each shard looks at pieces in an order of its own, with sets of points of its own.
Bytes grows(Transport& transport, std::uint64_t seed) {
  Member member(transport);
  GrownForest grown(seed);
  grown.forest.share(member.pieces);
  for (int i = 0; i < 14; ++i) grown.grow();
  std::mt19937_64 random(seed * 97 + member.self());
  std::uint64_t faults = 0;
  for (int i = 0; i < 60 && !grown.nodes.empty(); ++i) {
    const GrownPartition& node = grown.nodes[random() % grown.nodes.size()];
    const Partition& partition = grown.forest[node.id];
    const Rect& root = grown.forest.root(node.id);
    if (node.pieces.empty() || root.empty()) continue;
    const std::size_t number = random() % node.pieces.size();
    const Point colour = partition.colours.point(static_cast<std::int64_t>(number));
    if (as_set(partition.form->piece(grown.forest, colour), root) != node.pieces[number]) ++faults;
    // Points here and there, or together.
    std::vector<Run> runs;
    for (std::size_t k = 1 + random() % 3; k > 0; --k) {
      const auto lo = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(root.size()));
      runs.push_back({lo, std::min(root.size(), lo + 1 + static_cast<std::int64_t>(random() % 6))});
    }
    const IndexSpace points(root, Intervals::of(std::move(runs)));
    const PointSet wanted = as_set(points, root);
    std::map<std::int64_t, PointSet> met, expected;
    partition.form->meeting(grown.forest, partition, points, [&](const Point& at, const IndexSpace& part) {
      if (!met.emplace(partition.colours.linear(at), as_set(part, root)).second) ++faults;
    });
    for (std::size_t c = 0; c < node.pieces.size(); ++c)
      if (PointSet part = both(node.pieces[c], wanted); !part.empty())
        expected.emplace(static_cast<std::int64_t>(c), std::move(part));
    if (met != expected) ++faults;
    std::set<std::int64_t> near;
    partition.form->touching(grown.forest, points, [&](const Rect& colours) {
      return each_point(intersect(colours, partition.colours), [&](const Point& at) {
        near.insert(partition.colours.linear(at));
        return true;
      });
    });
    for (const auto& [c, part] : expected)
      if (!near.contains(c)) ++faults;
  }
  for (const GrownPartition& node : grown.nodes) {
    PointSet all;
    std::size_t elements = 0;
    for (const PointSet& piece : node.pieces) {
      all = either(all, piece);
      elements += piece.size();
    }
    if (grown.forest.disjoint(node.id) != (elements == all.size())) ++faults;
    if (grown.forest.complete(node.id) != (all == node.parent)) ++faults;
  }
  member.meet();
  return numbers_of({faults});
}

TEST_CASE("[partitions] shards that share the pieces of tables out find those that one finds by itself") {
  std::uint64_t faults = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    CAPTURE(seed);
    auto run = [&](Transport& transport) { return grows(transport, seed); };
    faults += all_of(run_in_threads(2 + seed % 6, run));
    if (seed % 5 == 0) faults += all_of(run_hostile(2 + seed % 4, seed, run));
    if (seed % 50 == 0) faults += all_of(run_processes(3, seed, run));
    REQUIRE(faults == 0);
  }
}

// Elements of a field are held by whom chance will have it, and come one behind the other.
struct HeldField {
  HeldField(const std::vector<std::int64_t>& all, const SharedPieces& sharing, std::mt19937_64& random) {
    std::vector<Run> runs;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (random() % sharing.members() != sharing.self()) continue;
      const auto at = static_cast<std::int64_t>(i);
      runs.push_back({at, at + 1});
      numbers.push_back(all[i]);
    }
    held = Intervals::of(std::move(runs));
  }
  IndexValues values(const std::string& name) const {
    return {reinterpret_cast<const std::byte*>(numbers.data()), Precision::i64, name, {}, true, &held};
  }
  std::vector<std::int64_t> numbers;
  Intervals held;
};

IndexValues whole(const std::vector<std::int64_t>& numbers, const std::string& name) {
  return {reinterpret_cast<const std::byte*>(numbers.data()), Precision::i64, name};
}

bool are_equal(const RegionForest& a, PartitionId p, const RegionForest& b, PartitionId q) {
  bool equal = a[p].colours == b[q].colours && a.disjoint(p) == b.disjoint(q) && a.complete(p) == b.complete(q);
  each_point(a[p].colours, [&](const Point& colour) {
    const Rect& root = a.root(p);
    return equal = equal && as_set(a[p].form->piece(a, colour), root) == as_set(b[q].form->piece(b, colour), root);
  });
  return equal;
}

std::string error_of(const std::function<void()>& run) {
  try {
    run();
  } catch (const Error& error) {
    const Diag& diag = error.diags().items().front();
    return diag.code.text() + " " + diag.message;
  }
  return "";
}

Bytes takes_apart(Transport& transport, std::uint64_t seed) {
  Member member(transport);
  std::mt19937_64 random(seed);  // the same on all shards
  const auto nodes = static_cast<std::int64_t>(1 + random() % 60), wires = static_cast<std::int64_t>(1 + random() % 80);
  const auto colours = static_cast<std::int64_t>(1 + random() % 9);
  auto numbers = [&](std::int64_t count, std::int64_t lo, std::int64_t hi) {
    std::vector<std::int64_t> made(static_cast<std::size_t>(count));
    for (std::int64_t& one : made) one = lo + static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(hi - lo));
    return made;
  };
  const auto owner = numbers(nodes, -1, colours + 1), tail = numbers(wires, 0, nodes),
             head = numbers(wires, 0, nodes + 1);
  auto astray = tail;
  for (int k = 0; k < 3; ++k) astray[random() % astray.size()] = random() % 2 ? nodes : -3;

  RegionForest shared, alone;
  shared.share(member.pieces);
  auto make = [&](RegionForest& forest) {
    return std::pair{forest.add({"Node", "nodes", Rect::of({nodes}), {{"n", Precision::i64}}}),
                     forest.add({"Wire", "wires", Rect::of({wires}), {{"w", Precision::i64}}})};
  };
  const auto [n, w] = make(shared);
  const auto [n1, w1] = make(alone);
  const HeldField owners(owner, *member.pieces, random), tails(tail, *member.pieces, random),
      heads(head, *member.pieces, random), strays(astray, *member.pieces, random);
  std::uint64_t faults = 0;
  auto same = [&](PartitionId p, PartitionId q) {
    if (!are_equal(shared, p, alone, q)) ++faults;
  };
  const PartitionId pn = by_field(shared, {n}, owners.values("o"), colours),
                    pn1 = by_field(alone, {n1}, whole(owner, "o"), colours);
  same(pn, pn1);
  const PartitionId pw = preimage(shared, pn, {w}, tails.values("t")),
                    pw1 = preimage(alone, pn1, {w1}, whole(tail, "t"));
  same(pw, pw1);
  const PartitionId in = image(shared, {n}, pw, tails.values("t")), in1 = image(alone, {n1}, pw1, whole(tail, "t"));
  same(in, in1);
  same(image(shared, {n}, pw, tails.values("t"), heads.values("h")),
       image(alone, {n1}, pw1, whole(tail, "t"), whole(head, "h")));
  const PartitionId ghost = subtract(shared, in, pn), ghost1 = subtract(alone, in1, pn1);
  same(ghost, ghost1);
  same(halo(shared, ghost, 1, HaloShape::box), halo(alone, ghost1, 1, HaloShape::box));
  // Of a formula as well; and the same pieces are the same partition however they were found.
  const PartitionId half = blocks(shared, {n}, Point::of(2));
  same(preimage(shared, half, {w}, tails.values("t")),
       preimage(alone, blocks(alone, {n1}, Point::of(2)), {w1}, whole(tail, "t")));
  if (preimage(shared, pn, {w}, tails.values("t")) != pw) ++faults;
  // All shards tell of the same value, which is the one that one shard alone tells of.
  const std::string told = error_of([&] { image(shared, {n}, pw, strays.values("s")); });
  if (told != error_of([&] { image(alone, {n1}, pw1, whole(astray, "s")); })) ++faults;
  member.meet();
  return numbers_of({faults});
}

TEST_CASE("[partitions] partitions by the contents of fields that shards hold parts of") {
  std::uint64_t faults = 0;
  for (std::uint64_t seed = 0; seed < 120; ++seed) {
    CAPTURE(seed);
    auto run = [&](Transport& transport) { return takes_apart(transport, seed); };
    faults += all_of(seed % 4 == 0 ? run_hostile(2 + seed % 5, seed, run) : run_in_threads(2 + seed % 7, run));
    REQUIRE(faults == 0);
  }
}

// Ranges that a function says; of every third seed some that are refused.
Bytes covers(Transport& transport, std::uint64_t seed) {
  Member member(transport);
  std::mt19937_64 random(seed);  // the same on all shards
  auto below = [&](std::int64_t end) { return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(end)); };
  const std::int64_t points = 1 + below(90), pieces = below(24), most = seed % 3 == 0 ? points + 4 : points;
  std::vector<std::vector<Run>> said(static_cast<std::size_t>(pieces));
  for (std::vector<Run>& runs : said)
    for (std::int64_t k = below(4); k > 0; --k) {
      const std::int64_t lo = below(points);
      runs.push_back({lo, std::max(lo, std::min(most, lo + below(9)))});
    }
  std::int64_t asked = 0;
  const auto ask = [&](std::int64_t colour) {
    ++asked;
    return said[static_cast<std::size_t>(colour)];
  };
  RegionForest shared, alone;
  shared.share(member.pieces);
  PartitionId p, q;
  auto told_by = [&](RegionForest& forest, PartitionId& made) {
    const RegionId line = forest.add({"Cell", "cells", Rect::of({points}), {{"f", Precision::f64}}});
    return error_of([&] { made = cover(forest, {line}, pieces, ask, {}, "ranges"); });
  };
  const std::string told = told_by(shared, p);
  const std::int64_t asked_here = std::exchange(asked, 0);
  std::uint64_t faults = told != told_by(alone, q);
  if (told.empty()) {
    if (!are_equal(shared, p, alone, q)) ++faults;
    if (asked_here != share_of(pieces, *member.pieces).size()) ++faults;
  }
  member.meet();
  return numbers_of({faults, !told.empty()});
}

TEST_CASE("[partitions] each shard asks for ranges of its own pieces, and all say what the first one is refused for") {
  std::uint64_t refused = 0;
  for (std::uint64_t seed = 0; seed < 150; ++seed) {
    CAPTURE(seed);
    auto run = [&](Transport& transport) { return covers(transport, seed); };
    const auto results = seed % 4 == 0 ? run_hostile(1 + seed % 5, seed, run) : run_in_threads(1 + seed % 7, run);
    REQUIRE(all_of(results) == 0);
    ByteReader first(results[0]);
    first.get<std::uint64_t>();
    refused += first.get<std::uint64_t>();
  }
  CHECK(refused > 20);
}

TEST_CASE("[partitions] shards that ask different functions make different partitions, each its own") {
  const std::vector<Bytes> results = run_in_threads(3, [](Transport& transport) {
    Member member(transport);
    RegionForest forest;
    forest.share(member.pieces);
    const RegionId line = forest.add({"Cell", "cells", Rect::of({12}), {{"f", Precision::f64}}});
    const auto ranges = [](std::int64_t colour) { return std::vector<Run>{{2 * colour, 2 * colour + 2}}; };
    const PartitionId p = cover(forest, {line}, 6, ranges, {}, member.self() == 1 ? "another" : "one");
    const Hash128 made_of = forest[p].form->made_of();
    member.meet();
    return numbers_of({made_of.low, made_of.high});
  });
  CHECK(results[0] == results[2]);
  CHECK(results[0] != results[1]);
}

// A ring of points, so many for each shard, whose owners stand in a field; each shard asks for what its own points
// need.
struct Kept {
  std::uint64_t shared = 0, alone = 0, asked = 0;
};

std::vector<Kept> kept_by(std::size_t shards) {
  constexpr std::int64_t colours_each = 8, points_each = 512;
  const std::vector<Bytes> results = run_in_threads(shards, [&](Transport& transport) {
    Member member(transport);
    const auto members = static_cast<std::int64_t>(shards);
    const std::int64_t points = members * points_each, colours = members * colours_each;
    std::vector<std::int64_t> owner, next;
    for (std::int64_t i = 0; i < points; ++i) {
      owner.push_back((i / 4 * 5 % (points_each / 4) + i / points_each * (points_each / 4)) * colours * 4 / points);
      next.push_back((i + 9) % points);
    }
    RegionForest shared, alone;
    shared.share(member.pieces);
    std::uint64_t met = 0;
    auto take_apart = [&](RegionForest& forest) {
      const RegionId ring = forest.add({"Ring", "ring", Rect::of({points}), {{"n", Precision::i64}}});
      const PartitionId own = by_field(forest, {ring}, whole(owner, "o"), colours);
      const PartitionId ghost = subtract(forest, image(forest, {ring}, own, whole(next, "n")), own);
      const auto first = static_cast<std::int64_t>(member.self()) * colours_each;
      for (std::int64_t c = first; c < first + colours_each; ++c) {
        forest[own].form->meeting(forest, forest[own], forest[ghost].form->piece(forest, Point::of(c)),
                                  [&](const Point&, const IndexSpace&) { ++met; });
        forest[ghost].form->meeting(forest, forest[ghost], forest[own].form->piece(forest, Point::of(c)),
                                    [&](const Point&, const IndexSpace&) { ++met; });
      }
      return forest.bytes();
    };
    Bytes bytes;
    ByteWriter(bytes).put(std::uint64_t{take_apart(shared)}).put(std::uint64_t{take_apart(alone)});
    ByteWriter(bytes).put(member.pieces->counts().asked);
    member.meet();
    if (met == 0) bug("pieces that have neighbours");
    return bytes;
  });
  std::vector<Kept> kept;
  for (const Bytes& one : results) {
    ByteReader in(one);
    Kept& of = kept.emplace_back();
    of.shared = in.get<std::uint64_t>();
    of.alone = in.get<std::uint64_t>();
    of.asked = in.get<std::uint64_t>();
  }
  return kept;
}

TEST_CASE("[shard-memory] what a shard keeps of tables of pieces is flat in the number of shards") {
  auto most = [](const std::vector<Kept>& kept, std::uint64_t Kept::*of) { return std::ranges::max(kept, {}, of).*of; };
  const auto few = kept_by(2);
  for (const std::size_t shards : {4, 8, 16, 32}) {
    CAPTURE(shards);
    const auto kept = kept_by(shards);
    CHECK(most(kept, &Kept::shared) * 4 <= most(few, &Kept::shared) * 5);
    CHECK(most(kept, &Kept::asked) <= most(few, &Kept::asked) + 8);
    CHECK(most(kept, &Kept::alone) * 3 >= most(few, &Kept::alone) * shards);  // who keeps all of them has more and more
  }
}

TEST_CASE("[partitions] what was withdrawn is answered until all have come to where it was, and then goes") {
  const std::vector<Bytes> results = run_in_threads(3, [](Transport& transport) {
    Member member(transport);
    std::uint64_t faults = 0;
    {
      RegionForest forest;
      forest.share(member.pieces);
      const RegionId line = forest.add({"Cell", "cells", Rect::of({30}), {{"f", Precision::f64}}});
      const std::vector<double> weights = {1, 2, 3, 1, 2, 3};
      const PartitionId p = by_weight(forest, {line}, weights);
      // Two have let theirs go when the third one asks.
      constexpr std::int64_t sizes[] = {2, 5, 8, 2, 5, 8};
      for (std::int64_t c = 0; c < 6 && member.self() == 1; ++c)
        if (forest.points({line, p, Point::of(c)}).size() != sizes[c]) ++faults;
    }
    member.meet();
    if (member.pieces->tables() != 1) ++faults;
    member.pieces->all_have_come();
    if (member.pieces->tables() != 0) ++faults;
    member.pieces->close();
    return numbers_of({faults});
  });
  CHECK(all_of(results) == 0);
}

}  // namespace
}  // namespace taskspec::shared_pieces_test
