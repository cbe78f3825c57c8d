#include "interp/exact/fill.hpp"

#include <algorithm>
#include <cstring>

#include "ir/blocks/pack.hpp"

namespace taskspec {

namespace {

std::span<const std::byte> bytes_of(const std::byte* data, const ArrayType& type) { return {data, type.bytes()}; }

// Contents of a part, from `from`, which lies like the part, into the array it is a part of.
void insert_part(const std::byte* from, const Box& part, const ArrayType& whole_type, std::byte* to) {
  const std::size_t element = info(whole_type.precision).bytes, rank = part.size.size();
  const std::int64_t line = rank == 0 ? 1 : part.size[rank - 1];
  std::int64_t lines = 1;
  for (std::size_t i = 0; i + 1 < rank; ++i) lines *= part.size[i];
  for (std::int64_t n = 0; n < lines; ++n) {
    std::int64_t left = n, place = rank == 0 ? 0 : part.position[rank - 1], stride = 1;
    for (std::size_t i = rank; i-- > 1;) {
      stride *= whole_type.extents[i];
      place += (part.position[i - 1] + left % part.size[i - 1]) * stride;
      left /= part.size[i - 1];
    }
    std::memcpy(to + static_cast<std::size_t>(place) * element, from + static_cast<std::size_t>(n * line) * element,
                static_cast<std::size_t>(line) * element);
  }
}

// From one precision to another, saturated.
std::int64_t convert_values(const std::byte* from, Precision precision, const Extents& extents, Precision to,
                            std::byte* out) {
  Array source = Array::make({precision, extents});
  std::memcpy(source.raw(), from, source.bytes());
  std::int64_t cuts = 0;
  const Array made = converted(source, to, &cuts);
  std::memcpy(out, made.raw(), made.bytes());
  return cuts;
}

std::int64_t bring(ExactPlan& plan, const ExactFeed& feed, const ArrayType& type, std::int64_t step, std::byte* to) {
  const ExactBlock& block = plan.blocks[feed.source.index()];
  const Array* kept = feed.delay > 0 ? &feed.kept[static_cast<std::size_t>(step % feed.delay)] : nullptr;
  const std::span<const std::byte> source =
      kept ? bytes_of(kept->raw(), kept->type()) : bytes_of(block.bytes + feed.offset, block.type);
  const std::size_t element = info(feed.precision).bytes;
  const bool is_same = feed.precision == type.precision;
  if (is_same && feed.is_whole) {
    feed.map.gather(source, {to, type.bytes()}, element);
    return 0;
  }
  feed.map.gather(source, {plan.gathered.data(), feed.bytes}, element);
  if (is_same) {
    insert_part(plan.gathered.data(), feed.part, type, to);
    return 0;
  }
  Array made = Array::make({type.precision, feed.part.size});
  const std::int64_t cuts =
      convert_values(plan.gathered.data(), feed.precision, feed.part.size, type.precision, made.raw());
  insert_part(made.raw(), feed.part, type, to);
  return cuts;
}

}  // namespace

void fill_exactly(ExactPlan& plan, ExactCluster& cluster, std::int64_t step) {
  for (const ExactFeed& feed : cluster.feeds) {
    plan.gathered.resize(std::max(plan.gathered.size(), feed.bytes));
    bring(plan, feed, cluster.type, step, cluster.values.raw());
  }
}

std::int64_t fill_exactly(ExactPlan& plan, ExactBlock& block, std::int64_t step) {
  const ArrayType& type = block.values.type();
  std::int64_t cuts = 0;
  for (const ExactFeed& feed : block.in[0].feeds) cuts += bring(plan, feed, type, step, block.values.raw());
  return cuts;
}

namespace {

// For the step that comes `delay` steps behind.
void keep(const ExactPlan& plan, ExactFeed& feed, std::int64_t step) {
  Array& kept = feed.kept[static_cast<std::size_t>(step % feed.delay)];
  const ExactBlock& source = plan.blocks[feed.source.index()];
  feed.kept_map.gather(bytes_of(source.bytes + feed.offset, source.type), {kept.raw(), kept.bytes()},
                       info(feed.precision).bytes);
}

}  // namespace

void end_step(ExactPlan& plan, std::int64_t step) {
  for (ExactBlock& block : plan.blocks)
    for (ExactCluster& cluster : block.in)
      for (ExactFeed& feed : cluster.feeds)
        if (feed.delay > 0) keep(plan, feed, step);
  for (ExactTrigger& trigger : plan.triggers)
    for (ExactFeed& feed : trigger.cluster.feeds) {
      if (feed.delay == 0) continue;
      keep(plan, feed, step);
      // What a block made once fires once.
      Array& kept = feed.kept[static_cast<std::size_t>(step % feed.delay)];
      if (!plan.blocks[feed.source.index()].ran) std::memset(kept.raw(), 0, kept.bytes());
    }
  for (ExactBlock& block : plan.blocks)
    for (ExactState& state : block.states) {
      if (!block.ran) continue;  // it stood still
      Array& storage = plan.blocks[state.storage.index()].values;
      state.back.gather(bytes_of(state.made.raw(), state.made.type()), {storage.raw(), storage.bytes()},
                        info(storage.precision()).bytes);
    }
}

}  // namespace taskspec
