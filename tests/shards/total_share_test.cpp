// The total of a field whose elements are dealt to shards in any way, beside the tree of one memory.
#include "interp/shards/data/total_share.hpp"

#include <doctest/doctest.h>

#include "interp/host/root_tree.hpp"
#include "tests/shards/networks.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::total_share_test {

namespace {

// The points of a field, and who answers for which: in runs of a few elements, or of several blocks.
struct Dealt {
  Dealt(std::mt19937_64& random, std::size_t shards) : own(shards) {
    const std::int64_t elements = between(random, 0, random() % 4 ? 400 : 6000);
    const std::int64_t longest = random() % 2 ? 10 : 700;
    std::vector<Run> all;
    std::vector<std::vector<Run>> runs(shards);
    const bool has_gaps = random() % 2;
    for (std::int64_t at = 0; at < elements;) {
      const Run run{at, std::min(elements, at + between(random, 1, longest))};
      at = run.hi;
      if (has_gaps && random() % 3 == 0) continue;
      all.push_back(run);
      runs[random() % shards].push_back(run);
    }
    points = Intervals::of(all);
    for (std::size_t shard = 0; shard < shards; ++shard) own[shard] = Intervals::of(runs[shard]);
    end = elements;
  }
  Intervals points;
  std::vector<Intervals> own;
  std::int64_t end = 0;
};

}  // namespace

TEST_CASE("[data] the total of a field is that of one memory, bit for bit, whoever has which elements") {
  std::size_t nodes = 0, parts = 0;
  for (const std::uint64_t seed : random_seeds(300, 10'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const std::size_t shards = 1 + random() % 8;
    const Dealt dealt(random, shards);
    constexpr Precision precisions[] = {Precision::f64, Precision::f32, Precision::i8, Precision::u64};
    const Precision precision = precisions[random() % 4];
    const auto op = static_cast<ReduceOp>(random() % 4);
    const std::size_t width = info(precision).bytes;
    Bytes field(static_cast<std::size_t>(dealt.end) * width);
    for (std::int64_t i = 0; i < dealt.end; ++i) {
      std::byte* at = field.data() + static_cast<std::size_t>(i) * width;
      const double number = std::ldexp(static_cast<double>(between(random, -1'000'000, 1'000'000)),
                                       static_cast<int>(between(random, -30, 1)));
      const auto single = static_cast<float>(number);
      const std::uint64_t bits = random();
      if (precision == Precision::f64)
        std::memcpy(at, &number, width);
      else if (precision == Precision::f32)
        std::memcpy(at, &single, width);
      else
        std::memcpy(at, &bits, width);
    }
    const Precision made = reduced_precision(precision, op);
    Bytes wanted(info(made).bytes);
    RootTree tree(op, precision);
    for (const Run& run : dealt.points.runs())
      tree.add(run.lo, field.data() + static_cast<std::size_t>(run.lo) * width, run.size());
    tree.finish(made, wanted.data());
    const std::vector<Bytes> told = run_hostile(shards, seed, [&](Transport& transport) {
      Collectives collectives(transport);
      DataPort port(collectives);
      const Intervals& own = dealt.own[port.self().index()];
      Bytes mine(field.size(), std::byte{0x7F}), total(wanted.size());  // what others have is not looked at
      std::optional<PackedPlaces> packed;
      if (seed % 2 == 0 && !own.empty()) {
        packed.emplace(own);
        mine.resize(static_cast<std::size_t>(own.size()) * width);
      }
      const PackedPlaces* places = packed ? &*packed : nullptr;
      for (const Run& run : own.runs())
        std::copy_n(field.begin() + run.lo * static_cast<std::int64_t>(width),
                    static_cast<std::size_t>(run.size()) * width,
                    mine.begin() + place_in(places, run.lo) * static_cast<std::int64_t>(width));
      add_up(port, TotalShare(dealt.points, own), op, precision, mine.data(), places, total.data(), [] {});
      return total;
    });
    for (const Bytes& total : told) CHECK(total == wanted);
    for (const Intervals& own : dealt.own) {
      const TotalShare share(dealt.points, own);
      nodes += share.nodes().size();
      parts += share.parts().runs().size();
    }
  }
  CHECK(nodes > 300);
  CHECK(parts > 1000);
}

TEST_CASE("[data] a shard of many whole blocks tells few numbers") {
  const Intervals points = Intervals::of({{0, 64 << 14}});
  for (const std::int64_t shards : {2, 3, 7}) {
    const std::int64_t share = (64 << 14) / shards;
    const TotalShare own(points, Intervals::of({{share, 2 * share}}));
    CHECK(own.nodes().size() <= 2 * 14);
    CHECK(own.parts().size() < 128);
  }
}

}  // namespace taskspec::total_share_test
