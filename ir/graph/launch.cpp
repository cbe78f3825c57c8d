#include "ir/graph/launch.hpp"

#include <algorithm>

#include "ir/base/key.hpp"

namespace taskspec {

namespace {

void put_signed(std::string& key, std::int64_t number) {
  put_number(key, (static_cast<std::uint64_t>(number) << 1) ^ static_cast<std::uint64_t>(number >> 63));
}

void put_point(std::string& key, const Point& point) {
  put_number(key, point.rank);
  for (std::size_t axis = 0; axis < point.rank; ++axis) put_signed(key, point.at[axis]);
}

void put_rect(std::string& key, const Rect& rect) {
  put_number(key, rect.rank);
  for (std::size_t axis = 0; axis < rect.rank; ++axis) {
    put_signed(key, rect.lo[axis]);
    put_signed(key, rect.hi[axis]);
  }
}

void put_projection(std::string& key, const Projection& projection) {
  put_number(key, static_cast<std::uint64_t>(projection.kind));
  put_number(key, projection.in);
  put_number(key, projection.out);
  if (projection.kind == Projection::Kind::function) put_number(key, projection.hash);
  if (projection.kind != Projection::Kind::affine) return;
  for (std::size_t row = 0; row < projection.out; ++row) {
    for (std::size_t axis = 0; axis < projection.in; ++axis) put_signed(key, projection.factors[row][axis]);
    put_signed(key, projection.offsets[row]);
  }
}

}  // namespace

bool is_launch(const TaskGraph& graph, NodeId node) {
  return graph.definition(node).kind == Definition::Kind::launch;
}

bool Launch::writes() const {
  return std::ranges::any_of(uses, [](const LaunchUse& use) { return use.privilege != Privilege::in; });
}

bool Launch::reduces() const {
  return std::ranges::any_of(uses, [](const LaunchUse& use) { return use.privilege == Privilege::reduce; });
}

std::string Launch::key() const {
  std::string key;
  put_number(key, static_cast<std::uint64_t>(work));
  put_number(key, task.value);
  put_text(key, symbol);
  put_rect(key, domain);
  put_number(key, single);
  for (const LaunchUse& use : uses) {
    put_number(key, use.space.root.value);
    put_number(key, use.space.partition.value);
    put_point(key, use.space.colour);
    put_number(key, use.partition.value);
    if (use.partition.valid()) put_projection(key, use.projection);
    use.fields.each([&](std::uint32_t field) { put_number(key, field); });
    key += ':';
    put_number(key, static_cast<std::uint64_t>(use.privilege) * 4 + static_cast<std::uint64_t>(use.op));
  }
  key += '|';
  for (bool own : each) key += own ? 'e' : 'w';
  put_number(key, static_cast<std::uint64_t>(op));
  put_signed(key, position);
  return key;
}

}  // namespace taskspec
