#include "interp/shards/data/map_moves.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include "ir/base/diag.hpp"

namespace taskspec {
namespace {

// Own rows behind one another, from where they lie in the whole map.
Bytes own_rows(const std::vector<Run>& own, const std::byte* rows, std::size_t row_bytes) {
  Bytes made;
  for (const Run& run : own) {
    const std::byte* from = rows + static_cast<std::size_t>(run.lo) * row_bytes;
    made.insert(made.end(), from, from + static_cast<std::size_t>(run.size()) * row_bytes);
  }
  return made;
}

// What a collective tells all shards. It may outlive the wait, where `meanwhile` throws.
template <class Start>
Bytes told(DataPort& port, FunctionRef<void()> meanwhile, std::size_t bytes, Start start) {
  const auto value = std::make_shared<std::optional<Bytes>>();
  start(port.next_collective(), [value](Bytes come) { *value = std::move(come); });
  port.wait_until([&] { return value->has_value(); }, meanwhile);
  if ((*value)->size() != bytes) throw ContentsDiffer{"elements of a map have another length than is waited for"};
  return std::move(**value);
}

}  // namespace

std::vector<Run> runs_of(const OwnPoints& own) {
  std::vector<Run> runs;
  for (std::int64_t i = 0; i < own.count(); ++i) {
    const std::int64_t point = own[i];
    if (!runs.empty() && runs.back().hi == point)
      ++runs.back().hi;
    else
      runs.push_back({point, point + 1});
  }
  return runs;
}

void gather_elements(DataPort& port, const MapShape& shape, const OwnPoints& own, std::byte* rows,
                     FunctionRef<void()> meanwhile) {
  const std::size_t row_bytes = shape.elements * info(shape.precision).bytes;
  const std::vector<Run> runs = runs_of(own);
  const Bytes all = told(port, meanwhile, static_cast<std::size_t>(shape.points) * row_bytes,
                         [&](CollectiveKey key, Collectives::Got got) {
                           gather_map(port.collectives(), key, shape, runs, own_rows(runs, rows, row_bytes), got);
                         });
  std::copy(all.begin(), all.end(), rows);
}

void reduce_elements(DataPort& port, const MapShape& shape, const OwnPoints& own, const std::byte* rows,
                     std::byte* into, FunctionRef<void()> meanwhile) {
  const std::size_t row_bytes = shape.elements * info(shape.precision).bytes;
  const std::size_t bytes = shape.elements * info(reduced_precision(shape.precision, shape.op)).bytes;
  const std::vector<Run> runs = runs_of(own);
  const Bytes value = told(port, meanwhile, bytes, [&](CollectiveKey key, Collectives::Got got) {
    reduce_map(port.collectives(), key, shape, runs, own_rows(runs, rows, row_bytes), got);
  });
  std::copy(value.begin(), value.end(), into);
}

void share_element(DataPort& port, ShardId owner, std::byte* row, std::size_t bytes, FunctionRef<void()> meanwhile) {
  const Bytes value = told(port, meanwhile, bytes, [&](CollectiveKey key, Collectives::Got got) {
    Bytes own;
    if (port.self() == owner) own.assign(row, row + bytes);
    port.collectives().broadcast(key, owner, std::move(own), got);
  });
  std::copy(value.begin(), value.end(), row);
}

}  // namespace taskspec
