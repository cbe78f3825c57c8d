#include "frontend/check/later.hpp"

#include <algorithm>
#include <array>

namespace taskspec::checking {

namespace {

struct Part {
  std::string_view name;
  std::string_view part;
};

constexpr std::array parts{
    Part{"parallelise", "shards"},
};

constexpr bool before(const Part& a, const Part& b) { return a.name < b.name; }
static_assert(std::is_sorted(parts.begin(), parts.end(), before));

}  // namespace

std::string_view part_of_name(std::string_view name) {
  auto found = std::lower_bound(parts.begin(), parts.end(), Part{name, {}}, before);
  return found != parts.end() && found->name == name ? found->part : std::string_view();
}

}  // namespace taskspec::checking
