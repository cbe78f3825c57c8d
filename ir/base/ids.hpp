// Distinct integer ids: a position in one table can never be used as a position in another.
//
//   struct NodeTag;  using NodeId = Id<NodeTag>;
//   nodes[id.index()]
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace taskspec {

template <class Tag>
struct Id {
  static constexpr std::uint32_t none = UINT32_MAX;
  std::uint32_t value = none;

  constexpr Id() = default;
  constexpr explicit Id(std::size_t position) : value(static_cast<std::uint32_t>(position)) {}
  constexpr bool valid() const { return value != none; }
  constexpr std::size_t index() const { return value; }
  friend constexpr auto operator<=>(Id, Id) = default;
};

}  // namespace taskspec

template <class Tag>
struct std::hash<taskspec::Id<Tag>> {
  std::size_t operator()(taskspec::Id<Tag> id) const noexcept { return id.value; }
};
