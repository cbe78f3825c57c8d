// `taskspec bench`: measurements beside their peers.
#include <sstream>

#include "bench/chains.hpp"
#include "bench/channels.hpp"
#include "bench/front.hpp"
#include "bench/loops.hpp"
#include "bench/ops.hpp"
#include "bench/replay.hpp"
#include "interp/cli/commands.hpp"

namespace taskspec::cli {

namespace {

struct Benchmark {
  const char* name;
  int (*run)(const bench::Settings&);
};

constexpr Benchmark benchmarks[] = {{"chains", bench::chains},
                                    {"channels", bench::channels},
                                    {"front", bench::front},
                                    {"loops", bench::loops},
                                    {"ops", bench::ops},
                                    {"replay", bench::replay}};

}  // namespace

int bench(const Options& options) {
  bench::Settings settings;
  if (options.count > 0) settings.tasks = static_cast<std::size_t>(options.count);
  settings.repeats = options.repeats;
  if (!options.thread_list.empty()) {
    settings.threads.clear();
    std::istringstream list(options.thread_list);
    for (std::string item; std::getline(list, item, ',');) {
      int threads = std::atoi(item.c_str());
      if (threads < 1 || threads > 1024)
        return usage("--threads wants numbers such as 1,2, not '" + options.thread_list + "'");
      settings.threads.push_back(threads);
    }
  }
  bool found = false;
  int worst = 0;
  for (const Benchmark& benchmark : benchmarks) {
    if (!options.topic.empty() && options.topic != benchmark.name) continue;
    found = true;
    worst = std::max(worst, benchmark.run(settings));
  }
  return found ? worst : usage("no benchmark is called '" + options.topic + "'");
}

}  // namespace taskspec::cli
