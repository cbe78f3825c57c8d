#include "interp/shards/data/home_table.hpp"

namespace taskspec {
namespace {

__extension__ using Wide = __int128;

Intervals whole(std::int64_t elements) { return Intervals::of_sorted({{0, elements}}); }

}  // namespace

Run block_share(std::int64_t elements, std::size_t shards, std::size_t shard) {
  auto begin = [&](std::size_t of) {
    const auto count = static_cast<std::int64_t>(shards);
    return static_cast<std::int64_t>((Wide{static_cast<std::int64_t>(of)} * elements + count - 1) / count);
  };
  return {begin(shard), begin(shard + 1)};
}

std::size_t block_home(std::int64_t element, std::int64_t elements, std::size_t shards) {
  return static_cast<std::size_t>(Wide{element} * static_cast<std::int64_t>(shards) / elements);
}

HomeTable::HomeTable(std::int64_t elements, std::size_t shards)
    : elements_(elements), home_(shards), valid_(shards, whole(elements)) {}

// They are not as a fill has set them.
void HomeTable::change(const Intervals& points) {
  for (Intervals& filled : fills_) filled = filled - points;
  while (!fills_.empty() && fills_.back().empty()) fills_.pop_back();
}

void HomeTable::write(std::span<const Intervals> by_shard) {
  Intervals all;
  for (const Intervals& written : by_shard) all = all | written;
  change(all);
  for (std::size_t shard = 0; shard < shards(); ++shard) {
    home_[shard] = (home_[shard] - all) | by_shard[shard];
    valid_[shard] = (valid_[shard] - all) | by_shard[shard];
  }
}

void HomeTable::fill(const Intervals& points, std::uint32_t number) {
  change(points);
  for (std::size_t shard = 0; shard < shards(); ++shard) {
    home_[shard] = home_[shard] - points;
    valid_[shard] = valid_[shard] - points;
  }
  if (points.empty()) return;
  if (fills_.size() < number) fills_.resize(number);
  fills_[number - 1] = fills_[number - 1] | points;
}

void HomeTable::everywhere(const Intervals& points) {
  change(points);
  for (std::size_t shard = 0; shard < shards(); ++shard) {
    home_[shard] = home_[shard] - points;
    valid_[shard] = valid_[shard] | points;
  }
}

void HomeTable::contribute(const Intervals& points) {
  Intervals free = points;
  for (const Intervals& home : home_) free = free - home;
  for (std::size_t shard = 0; shard < shards(); ++shard) {
    home_[shard] = home_[shard] | (free & Intervals::of_sorted({block_share(elements_, shards(), shard)}));
    valid_[shard] = (valid_[shard] - points) | (home_[shard] & points);
  }
  change(points);
}

std::vector<Intervals> HomeTable::missing(std::size_t to, const Intervals& needs) const {
  const Intervals lacks = needs - valid_[to];
  std::vector<Intervals> by_home(shards());
  if (!lacks.empty())
    for (std::size_t from = 0; from < shards(); ++from)
      if (from != to) by_home[from] = lacks & home_[from];
  return by_home;
}

std::size_t HomeTable::bytes() const {
  std::size_t bytes = sizeof *this;
  for (const std::vector<Intervals>* lists : {&home_, &valid_, &fills_})
    for (const Intervals& runs : *lists)
      bytes += sizeof runs + runs.runs().size() * (sizeof(Run) + sizeof(std::int64_t));
  return bytes;
}

}  // namespace taskspec
