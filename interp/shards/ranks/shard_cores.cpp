#include "interp/shards/ranks/shard_cores.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>

#include "interp/shards/ranks/rank_process.hpp"

namespace taskspec {

std::uint32_t shard_cores(const RankLayout& layout) {
  const std::size_t all = static_cast<std::size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
  cpu_set_t allowed;
  const std::size_t usable =
      sched_getaffinity(0, sizeof allowed, &allowed) == 0 ? static_cast<std::size_t>(CPU_COUNT(&allowed)) : all;
  std::size_t shards = layout.here().size();
  if (layout.ranks > 1 && usable == all)
    shards *= number_in_environment(ranks_of_machine_variable).value_or(layout.ranks);
  return static_cast<std::uint32_t>(std::max<std::size_t>(1, usable / std::max<std::size_t>(1, shards)));
}

}  // namespace taskspec
