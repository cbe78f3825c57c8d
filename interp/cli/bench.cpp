// `taskspec bench`: measurements beside their peers.
#include "interp/cli/commands.hpp"

#include "bench/bench.hpp"

namespace taskspec::cli {

int bench(const Options& options) {
  bench::Settings settings;
  if (options.count > 0) settings.tasks = static_cast<std::size_t>(options.count);
  return usage("no benchmark is called '" + options.topic + "'");
}

}  // namespace taskspec::cli
