// Who holds the contents, beside brute force over points.
#include "interp/shards/analysis/write_stack.hpp"

#include <doctest/doctest.h>

#include <map>
#include <optional>

#include "tests/shards/operations.hpp"
#include "tests/unit/random_cases.hpp"
#include "tests/unit/random_regions.hpp"

using namespace taskspec;

namespace {

using Writer = std::pair<std::uint64_t, std::int64_t>;  // operation, point; of zero: 0, 0

// The first entry, newest first, one of whose points takes the element.
std::optional<Writer> writer(const RegionForest& forest, const KeyTable& keys, const WriteStack& stack, RegionId root,
                             std::int64_t element) {
  for (const WriteStack::Entry& entry : stack.entries()) {
    if (!entry.key.valid()) return Writer{0, 0};
    const UseKey& key = keys[entry.key];
    if (key.use.space.root != root) continue;
    for (std::int64_t point = 0; point < key.domain.size(); ++point) {
      const Space space = key.use.at(key.domain.point(point));
      if (forest.points(space).contains(forest.root(space), element)) return Writer{entry.op, point};
    }
  }
  return std::nullopt;
}

}  // namespace

TEST_CASE("[write-stack] the newest entry that has a point is the one that wrote it last") {
  std::size_t pruned = 0, kept = 0;
  for (const std::uint64_t seed : random_seeds(200, 3'000)) {
    CAPTURE(seed);
    GrownForest grown(seed);
    for (int i = 0; i < 6; ++i) grown.grow();
    if (grown.nodes.empty()) continue;
    const RegionId root = grown.forest[grown.nodes[0].id].parent.root;
    KeyTable keys;
    WriteStack stack;
    std::map<std::int64_t, Writer> last;
    std::uint64_t writes = 0;
    for (std::uint64_t number = 1; number <= 20; ++number) {
      const GrownPartition& node = grown.nodes[grown.pick(grown.nodes.size())];
      if (grown.forest[node.id].parent.root != root) continue;
      Operation op{.number = number, .domain = grown.forest[node.id].colours};
      op.uses = {grown.number(0, 5) ? use(grown.forest, node.id, {0}, Privilege::out) : use(root, {0}, Privilege::out)};
      if (!op.uses[0].partition.valid()) op.domain = Rect::of({1});
      if (conflict(grown.forest, op.domain, op.uses)) continue;
      const KeyId key = keys.of(op, op.uses[0]);
      stack.write(grown.forest, keys, key, number);
      ++writes;
      for (std::int64_t point = 0; point < op.domain.size(); ++point)
        for (const std::int64_t element :
             as_set(grown.forest.points(op.uses[0].at(op.domain.point(point))), grown.forest.root({root})))
          last[element] = {number, point};
      for (std::int64_t element = 0; element < grown.forest[root].extents.size(); ++element) {
        const auto known = last.find(element);
        CHECK(writer(grown.forest, keys, stack, root, element) ==
              std::optional(known == last.end() ? Writer{0, 0} : known->second));
      }
    }
    kept += stack.entries().size() - 1;
    pruned += writes + 1 - stack.entries().size();
  }
  CHECK(pruned > 100);
  CHECK(kept > 100);
}

TEST_CASE("[write-stack] who has fetched once need not fetch again until something is written") {
  RegionForest forest;
  const RegionId r = forest.add({"R", "r", Rect::of({8}), {{"a", Precision::f64}}});
  const PartitionId p = blocks(forest, {r}, Point::of(4));
  KeyTable keys;
  const Operation read{.number = 1, .domain = Rect::of({4}), .uses = {use(forest, p, {0}, Privilege::in)}};
  const KeyId key = keys.of(read, read.uses[0]);
  WriteStack stack;
  CHECK(stack.fetch(key));
  CHECK_FALSE(stack.fetch(key));
  stack.write(forest, keys, key, 2);
  CHECK(stack.fetch(key));
  stack.contribute(key, ReduceOp::sum, 3);
  CHECK(stack.pending().size() == 1);
  stack.applied();
  CHECK(stack.pending().empty());
  CHECK(stack.fetch(key));
}
