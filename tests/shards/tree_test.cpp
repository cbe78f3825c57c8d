// Reductions over shards: bitwise what the host's tree gives, whoever owns which point.
#include "interp/shards/collectives/tree.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <random>

#include "interp/host/fold.hpp"
#include "tests/shards/networks.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::tree_test {

namespace {

// Numbers whose sum depends on the order of adding.
Bytes random_rows(Precision precision, std::size_t numbers, std::mt19937_64& random) {
  Bytes rows;
  ByteWriter out(rows);
  for (std::size_t i = 0; i < numbers; ++i) {
    const double number = static_cast<double>(between(random, -1'000'000, 1'000'000)) *
                          std::pow(2.0, static_cast<double>(between(random, -40, 40)));
    if (precision == Precision::f64)
      out.put(number);
    else if (precision == Precision::f32)
      out.put(static_cast<float>(number));
    else if (precision == Precision::i64)
      out.put(static_cast<std::int64_t>(random()));
    else if (precision == Precision::i32)
      out.put(static_cast<std::int32_t>(random()));
    else
      out.put(static_cast<std::int8_t>(random()));
  }
  return rows;
}

// Whose point each is: blocks, in turns, all of one, at random.
std::vector<std::size_t> random_owners(std::size_t points, std::size_t shards, std::mt19937_64& random) {
  std::vector<std::size_t> owners(points);
  const auto way = between(random, 0, 3);
  const std::size_t one = random() % shards;
  for (std::size_t i = 0; i < points; ++i)
    owners[i] = way == 0 ? i * shards / points : way == 1 ? i % shards : way == 2 ? one : random() % shards;
  return owners;
}

std::vector<Run> runs_of(const std::vector<std::size_t>& owners, std::size_t shard) {
  std::vector<Run> runs;
  for (std::size_t i = 0; i < owners.size(); ++i)
    if (owners[i] == shard) {
      const auto at = static_cast<std::int64_t>(i);
      if (!runs.empty() && runs.back().hi == at)
        ++runs.back().hi;
      else
        runs.push_back({at, at + 1});
    }
  return runs;
}

Bytes rows_of(const Bytes& rows, std::size_t row_bytes, const std::vector<Run>& own) {
  Bytes made;
  for (const Run& run : own)
    made.insert(made.end(), rows.begin() + run.lo * static_cast<std::int64_t>(row_bytes),
                rows.begin() + run.hi * static_cast<std::int64_t>(row_bytes));
  return made;
}

}  // namespace

TEST_CASE("[collectives] the tree has the bits of the host's fold for every number of shards and every sharding") {
  std::size_t other_bits_in_order = 0;
  for (const std::uint64_t seed : random_seeds(400, 10'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const Precision precisions[] = {Precision::f64, Precision::f32, Precision::i64, Precision::i32, Precision::i8};
    MapShape shape{precisions[random() % 5], static_cast<ReduceOp>(random() % 4), between(random, 0, 70), 0};
    shape.elements = seed % 50 == 0 ? 9000 : random() % 6;  // above and below what is gathered
    const std::size_t shards = 1 + random() % 16, points = static_cast<std::size_t>(shape.points);
    const std::size_t row_bytes = shape.elements * info(shape.precision).bytes;
    const Bytes rows = random_rows(shape.precision, points * shape.elements, random);
    Bytes wanted(shape.elements * info(reduced_precision(shape.precision, shape.op)).bytes);
    reduce_rows(shape.precision, shape.op, rows.data(), points, shape.elements, wanted.data());
    const std::vector<std::size_t> owners = random_owners(points, shards, random);
    TurnNetwork network(shards, seed);
    std::vector<Bytes> reduced(shards), gathered(shards);
    std::size_t ended = 0;
    for (std::size_t shard = 0; shard < shards; ++shard) {
      const std::vector<Run> own = runs_of(owners, shard);
      const Bytes own_rows = rows_of(rows, row_bytes, own);
      reduce_map(network.at(shard), {Purpose::value, 1}, shape, own, own_rows,
                 [&, shard](Bytes value) { reduced[shard] = value, ++ended; });
      gather_map(network.at(shard), {Purpose::value, 2}, shape, own, own_rows,
                 [&, shard](Bytes value) { gathered[shard] = value, ++ended; });
    }
    REQUIRE(network.run_until([&] { return ended == 2 * shards; }));
    for (std::size_t shard = 0; shard < shards; ++shard) {
      CHECK(reduced[shard] == wanted);
      CHECK(gathered[shard] == rows);
    }
    if (shape.precision == Precision::f64 && shape.op == ReduceOp::sum && points > 3 && shape.elements > 0) {
      double in_order = 0, tree = 0;
      for (std::size_t i = 0; i < points; ++i) {
        double number;
        std::memcpy(&number, rows.data() + i * row_bytes, sizeof number);
        in_order += number;
      }
      std::memcpy(&tree, wanted.data(), sizeof tree);
      other_bits_in_order += in_order != tree;
    }
  }
  CHECK(other_bits_in_order > 3);  // the numbers do tell one order from another
}

TEST_CASE("[collectives] blocks send few nodes of the tree") {
  for (const std::int64_t points : {1, 2, 3, 64, 1000, 1'000'000})
    for (const std::int64_t shards : {1, 2, 3, 7, 16}) {
      std::int64_t depth = 1;
      while ((std::int64_t{1} << depth) < points) ++depth;
      for (std::int64_t shard = 0; shard < shards; ++shard) {
        const Run own{points * shard / shards, points * (shard + 1) / shards};
        const auto nodes = whole_subtrees(points, {&own, own.size() > 0 ? std::size_t{1} : 0});
        CHECK(nodes.size() <= static_cast<std::size_t>(2 * depth));
        std::int64_t sum = 0;
        for (const Run& node : nodes) sum += node.size();
        CHECK(sum == own.size());
      }
    }
}

}  // namespace taskspec::tree_test
