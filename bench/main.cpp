// The program of the benchmarks, which `taskspec bench` starts. It takes what that has read from its command line:
//
//   taskspec-bench TOOL NAME TASKS REPEATS THREADS SHARDS      // "" all but `build`; 0 what it thinks right; "1,2"
//
// A name may have an input behind it: chip:traffic.json.
#include <cstdio>
#include <cstdlib>
#include <sstream>

#include "bench/analysis.hpp"
#include "bench/build.hpp"
#include "bench/chains.hpp"
#include "bench/channels.hpp"
#include "bench/chip.hpp"
#include "bench/exact.hpp"
#include "bench/front.hpp"
#include "bench/loops.hpp"
#include "bench/metg_shards.hpp"
#include "bench/ops.hpp"
#include "bench/regions.hpp"
#include "bench/replay.hpp"
#include "bench/snn.hpp"
#include "bench/strips.hpp"
#include "bench/train.hpp"
#include "bench/validation.hpp"

namespace {

using namespace taskspec::bench;

struct Benchmark {
  const char* name;
  int (*run)(const Settings&);
};

constexpr Benchmark benchmarks[] = {
    {"analysis", analysis}, {"build", build},   {"chains", chains},   {"channels", channels},
    {"chip", chip},         {"exact", exact},   {"front", front},     {"loops", loops},
    {"metg", metg_shards},  {"ops", ops},       {"regions", regions}, {"replay", replay},
    {"snn", snn},           {"strips", strips}, {"train", train},     {"validation", validation}};

int usage(const std::string& message) {
  std::fprintf(stderr, "taskspec: %s\n", message.c_str());
  return 2;
}

// False when an item is no number of threads or shards.
bool read_numbers(const std::string& list, std::vector<int>& numbers) {
  if (list.empty()) return true;
  numbers.clear();
  std::istringstream items(list);
  for (std::string item; std::getline(items, item, ',');) {
    numbers.push_back(std::atoi(item.c_str()));
    if (numbers.back() < 1 || numbers.back() > 1024) return false;
  }
  return true;
}

}  // namespace

int main(int count, char** words) {
  if (count != 7) return usage("the benchmarks are started by 'taskspec bench'");
  const std::string wanted = words[2], threads = words[5], shards = words[6];
  const std::string name = wanted.substr(0, wanted.find(':'));
  Settings settings;
  if (name.size() < wanted.size()) settings.file = wanted.substr(name.size() + 1);
  settings.tool = words[1];
  if (const long long tasks = std::atoll(words[3]); tasks > 0) settings.tasks = static_cast<std::size_t>(tasks);
  settings.repeats = std::atoi(words[4]);
  if (!read_numbers(threads, settings.threads))
    return usage("--threads wants numbers such as 1,2, not '" + threads + "'");
  if (!read_numbers(shards, settings.shards)) return usage("--shards wants numbers such as 1,2, not '" + shards + "'");
  bool found = false;
  int worst = 0;
  for (const Benchmark& benchmark : benchmarks) {
    // It takes minutes, and is no measure of what is built.
    if (name.empty() ? benchmark.run == build : name != benchmark.name) continue;
    found = true;
    worst = std::max(worst, benchmark.run(settings));
  }
  return found ? worst : usage("no benchmark is called '" + name + "'");
}
