#include "interp/shards/collectives/tree.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include "interp/host/fold.hpp"
#include "interp/shards/contents_differ.hpp"

namespace taskspec {
namespace {

void whole_in(Run node, std::span<const Run> own, std::vector<Run>& into) {
  const auto meets = std::partition_point(own.begin(), own.end(), [&](Run run) { return run.hi <= node.lo; });
  if (meets == own.end() || meets->lo >= node.hi) return;
  if (meets->lo <= node.lo && node.hi <= meets->hi) return into.push_back(node);
  const std::int64_t middle = node.lo + left_leaves(node.size());
  whole_in({node.lo, middle}, own, into);
  whole_in({middle, node.hi}, own, into);
}

// One slice of the elements of every point: [first, first + count).
struct Slice {
  std::size_t first, count;
};

Slice slice_of(std::size_t elements, std::size_t shard, std::size_t shards) {
  const std::size_t first = elements * shard / shards;
  return {first, elements * (shard + 1) / shards - first};
}

// The values of subtrees as a message, and as what the tree is finished with.
void put_nodes(Bytes& into, const MapShape& shape, Slice slice, std::span<const Run> nodes,
               const std::vector<Bytes>& values) {
  const std::size_t size = info(reduced_precision(shape.precision, shape.op)).bytes;
  ByteWriter out(into);
  for (std::size_t i = 0; i < nodes.size(); ++i)
    out.put(nodes[i].lo).put(nodes[i].hi).raw(ByteView(values[i]).subspan(slice.first * size, slice.count * size));
}

class Tree {
 public:
  Tree(const MapShape& shape, std::size_t elements)
      : shape_(shape),
        fold_(fold_of(reduced_precision(shape.precision, shape.op), shape.op)),
        elements_(elements),
        bytes_(elements * info(reduced_precision(shape.precision, shape.op)).bytes) {}

  void add(ByteView nodes) {
    ByteReader in(nodes);
    while (in.left() > 0) {
      const auto lo = in.get<std::int64_t>(), hi = in.get<std::int64_t>();
      known_[{lo, hi}] = in.raw(bytes_);
    }
    if (!in.ok()) throw ContentsDiffer{"the nodes of a reduction cannot be read"};
  }
  Bytes value(Run node) const {
    if (node.size() == 0) {
      Bytes made(bytes_);
      reduce_rows(shape_.precision, shape_.op, nullptr, 0, elements_, made.data());  // of nothing: the host's
      return made;
    }
    if (const auto known = known_.find({node.lo, node.hi}); known != known_.end())
      return {known->second.begin(), known->second.end()};
    if (node.size() == 1) throw ContentsDiffer{"no shard has point " + std::to_string(node.lo) + " of a map"};
    const std::int64_t middle = node.lo + left_leaves(node.size());
    Bytes made = value({node.lo, middle});
    const Bytes right = value({middle, node.hi});
    fold_.into(made.data(), right.data(), elements_);
    return made;
  }

 private:
  MapShape shape_;
  Fold fold_;
  std::size_t elements_, bytes_;
  std::map<std::pair<std::int64_t, std::int64_t>, ByteView> known_;
};

Bytes finished(const MapShape& shape, std::size_t elements, const std::vector<Bytes>& nodes_of_shards) {
  Tree tree(shape, elements);
  for (const Bytes& nodes : nodes_of_shards) tree.add(nodes);
  return tree.value({0, shape.points});
}

}  // namespace

std::vector<Run> whole_subtrees(std::int64_t points, std::span<const Run> own) {
  std::vector<Run> found;
  if (points > 0) whole_in({0, points}, own, found);
  return found;
}

void reduce_map(Collectives& collectives, CollectiveKey key, const MapShape& shape, std::span<const Run> own,
                ByteView rows, Collectives::Got got, const CallStamp& stamp) {
  const std::size_t row_bytes = shape.elements * info(shape.precision).bytes;
  const std::size_t value_bytes = shape.elements * info(reduced_precision(shape.precision, shape.op)).bytes;
  const std::vector<Run> nodes = whole_subtrees(shape.points, own);
  std::vector<Bytes> values;
  std::int64_t before = 0;  // own points before the node
  for (const Run& node : nodes) {
    Bytes& value = values.emplace_back(value_bytes);
    reduce_rows(shape.precision, shape.op, rows.data() + static_cast<std::size_t>(before) * row_bytes,
                static_cast<std::size_t>(node.size()), shape.elements, value.data());
    before += node.size();
  }
  if (value_bytes <= largest_gathered_value || collectives.shards() == 1) {
    Bytes bytes;
    put_nodes(bytes, shape, {0, shape.elements}, nodes, values);
    collectives.all_gather(
        key, std::move(bytes),
        [shape, got = std::move(got)](const std::vector<Bytes>& all) { got(finished(shape, shape.elements, all)); },
        stamp);
    return;
  }
  const std::size_t shards = collectives.shards();
  std::vector<Bytes> slices(shards);
  for (std::size_t shard = 0; shard < shards; ++shard)
    put_nodes(slices[shard], shape, slice_of(shape.elements, shard, shards), nodes, values);
  auto fold_own = [&collectives, key, shape, stamp, got = std::move(got)](const std::vector<Bytes>& all) {
    const Slice own_slice = slice_of(shape.elements, collectives.self().index(), collectives.shards());
    collectives.all_gather(
        {key.purpose, key.number, static_cast<std::uint8_t>(key.part + 1)}, finished(shape, own_slice.count, all),
        [got](const std::vector<Bytes>& parts) {
          Bytes whole;
          for (const Bytes& part : parts) whole.insert(whole.end(), part.begin(), part.end());
          got(std::move(whole));
        },
        stamp);
  };
  collectives.exchange(key, std::move(slices), std::move(fold_own), stamp);
}

void gather_map(Collectives& collectives, CollectiveKey key, const MapShape& shape, std::span<const Run> own,
                ByteView rows, Collectives::Got got, const CallStamp& stamp) {
  const std::size_t row_bytes = shape.elements * info(shape.precision).bytes;
  Bytes bytes;
  ByteWriter out(bytes);
  for (const Run& run : own) {
    const ByteView values = rows.first(static_cast<std::size_t>(run.size()) * row_bytes);
    out.put(run.lo).put(run.hi).raw(values);
    rows = rows.subspan(values.size());
  }
  auto place = [shape, row_bytes, got = std::move(got)](const std::vector<Bytes>& all) {
    Bytes whole(static_cast<std::size_t>(shape.points) * row_bytes);
    for (const Bytes& of_shard : all) {
      ByteReader in(of_shard);
      while (in.left() > 0) {
        const auto lo = in.get<std::int64_t>(), hi = in.get<std::int64_t>();
        const ByteView values = in.raw(static_cast<std::size_t>(hi - lo) * row_bytes);
        std::copy(values.begin(), values.end(), whole.begin() + lo * static_cast<std::int64_t>(row_bytes));
      }
    }
    got(std::move(whole));
  };
  collectives.all_gather(key, std::move(bytes), std::move(place), stamp);
}

}  // namespace taskspec
