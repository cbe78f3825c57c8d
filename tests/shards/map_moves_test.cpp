// Elements of a map between shards, from inside of operations, beside contents that are on their way.
#include "interp/shards/data/map_moves.hpp"

#include <doctest/doctest.h>

#include <atomic>

#include "interp/host/fold.hpp"
#include "tests/shards/networks.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::map_moves_test {

namespace {

PointSharding some_sharding(std::mt19937_64& random) {
  switch (random() % 4) {
    case 0:
      return PointSharding::block();
    case 1:
      return PointSharding::cyclic();
    case 2:
      return PointSharding::owner(ShardId(0));
    default:
      return PointSharding::of([](std::int64_t point, std::int64_t, std::int64_t shards) { return point / 3 % shards; },
                               {3, 3});
  }
}

}  // namespace

TEST_CASE("[data] elements of a map are gathered, reduced and shared from inside of an operation") {
  for (const std::uint64_t seed : random_seeds(100, 3'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const PointSharding sharding = some_sharding(random);
    MapShape shape{random() % 2 ? Precision::f32 : Precision::i8, static_cast<ReduceOp>(random() % 4),
                   seed % 10 ? between(random, 0, 40) : 0, 1 + random() % 5};
    if (seed % 25 == 0) shape.elements = 20'000;  // above what one message tells
    const std::size_t shards = 1 + random() % 8, row_bytes = shape.elements * info(shape.precision).bytes;
    Bytes rows(static_cast<std::size_t>(shape.points) * row_bytes);
    for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::byte>(random() % 100);
    Bytes wanted(shape.elements * info(reduced_precision(shape.precision, shape.op)).bytes);
    reduce_rows(shape.precision, shape.op, rows.data(), static_cast<std::size_t>(shape.points), shape.elements,
                wanted.data());
    const std::int64_t shared = shape.points ? between(random, 0, shape.points - 1) : 0;
    const ShardId owner = shape.points ? sharding.shard(shared, shape.points, shards) : ShardId(0);
    const std::vector<Bytes> told = run_hostile(shards, seed, [&](Transport& transport) {
      Collectives collectives(transport);
      DataPort port(collectives);
      const OwnPoints own = own_points(sharding, shape.points, shards, port.self());
      Bytes mine(rows.size()), one(row_bytes), all;
      for (const Run& run : runs_of(own))
        std::copy(rows.begin() + run.lo * static_cast<std::int64_t>(row_bytes),
                  rows.begin() + run.hi * static_cast<std::int64_t>(row_bytes),
                  mine.begin() + run.lo * static_cast<std::int64_t>(row_bytes));
      const ShardId next((port.self().index() + 1) % shards), before((port.self().index() + shards - 1) % shards);
      if (shards > 1) port.send(next, {std::byte{7}});
      ByteWriter out(all);
      Bytes reduced(wanted.size());
      std::size_t turns = 0;
      reduce_elements(port, shape, own, mine.data(), reduced.data(), [&] { ++turns; });
      if (shape.points && owner == port.self())
        std::copy_n(mine.begin() + shared * static_cast<std::int64_t>(row_bytes), row_bytes, one.begin());
      if (shape.points) share_element(port, owner, one.data(), row_bytes, [&] { ++turns; });
      gather_elements(port, shape, own, mine.data(), [&] { ++turns; });
      if (shards > 1) {
        const Bytes come = port.wait(before, [&] { ++turns; });
        out.raw(come);
        out.put(turns > 0);
      }
      out.raw(reduced).raw(one).raw(mine);
      return all;
    });
    Bytes all;
    ByteWriter out(all);
    if (shards > 1) out.put(std::uint8_t{7}).put(true);
    out.raw(wanted);
    out.raw(shape.points ? ByteView(rows).subspan(static_cast<std::size_t>(shared) * row_bytes, row_bytes)
                         : ByteView(Bytes(row_bytes)));
    out.raw(rows);
    for (const Bytes& of_shard : told) CHECK(of_shard == all);
  }
}

}  // namespace taskspec::map_moves_test
