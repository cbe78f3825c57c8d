#include "ir/graph/launch.hpp"

#include <algorithm>

#include "ir/base/key.hpp"
#include "ir/region/region_key.hpp"

namespace taskspec {

bool is_launch(const TaskGraph& graph, NodeId node) { return graph.definition(node).kind == Definition::Kind::launch; }

bool Launch::writes() const {
  return std::ranges::any_of(uses, [](const LaunchUse& use) { return use.privilege != Privilege::in; });
}

bool Launch::reduces() const {
  return std::ranges::any_of(uses, [](const LaunchUse& use) { return use.privilege == Privilege::reduce; });
}

std::uint32_t Launch::element(std::size_t argument, std::uint32_t position) const {
  if (argument >= taken.size() || !taken[argument]) return number(position);
  const Taken& one = *taken[argument];
  return static_cast<std::uint32_t>(one.points.linear(one.at(point(position))));
}

void Launch::put_rest(std::string& key) const {
  put_number(key, static_cast<std::uint64_t>(work));
  put_number(key, task.value);
  put_text(key, symbol);
  put_rect(key, domain);
  put_number(key, single);
  if (own) {
    key += 'o';
    put_number(key, own->size());
    put_hash(key, hash128(std::as_bytes(std::span(*own))));
  }
  if (messages) put_text(key, messages->key());
  if (held) {
    key += 'h';
    put_hash(key, hash128(std::as_bytes(held->runs())));
  }
  key += '|';
  for (std::size_t k = 0; k < each.size(); ++k) {
    const bool of_another = k < taken.size() && taken[k];
    key += of_another ? 't' : each[k] ? 'e' : 'w';
    if (!of_another) continue;
    put_rect(key, taken[k]->points);
    put_projection(key, taken[k]->at);
  }
  for (const std::optional<Projection>& number : numbers) {
    key += number ? 'n' : '.';
    if (number) put_projection(key, *number);
  }
  put_number(key, static_cast<std::uint64_t>(op));
  put_signed(key, position);
  if (files) put_text(key, files->key());
}

void Launch::put_use(std::string& key, const LaunchUse& use) {
  put_point(key, use.space.colour);
  if (use.partition.valid()) put_projection(key, use.projection);
  use.fields.each([&](std::uint32_t field) { put_number(key, field); });
  key += ':';
  put_number(key, static_cast<std::uint64_t>(use.privilege) * 4 + static_cast<std::uint64_t>(use.op));
}

std::string Launch::key() const {
  std::string key;
  for (const LaunchUse& use : uses) {
    put_number(key, use.space.root.value);
    put_number(key, use.space.partition.value);
    put_number(key, use.partition.value);
    put_use(key, use);
  }
  put_rest(key);
  return key;
}

std::string Launch::shape(const RegionForest& forest) const {
  std::string key = shape_of_uses(forest);
  put_rest(key);
  return key;
}

std::string Launch::shape_of_uses(const RegionForest& forest) const {
  std::string key;
  put_rect(key, domain);
  for (const LaunchUse& use : uses) {
    const auto same = std::ranges::find_if(uses, [&](const LaunchUse& u) { return u.space.root == use.space.root; });
    put_number(key, static_cast<std::uint64_t>(same - uses.begin()));
    const Region& region = forest[use.space.root];
    put_rect(key, region.extents);
    for (const RegionField& field : region.fields) put_number(key, static_cast<std::uint64_t>(field.precision));
    key += ':';
    for (const PartitionId partition : {use.space.partition, use.partition}) {
      put_number(key, partition.valid());
      if (partition.valid()) put_hash(key, forest[partition].content);
    }
    put_use(key, use);
  }
  return key;
}

}  // namespace taskspec
