#include "bench/metg_shards.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <sstream>
#include <thread>

#include "bench/child.hpp"
#include "bench/metg.hpp"
#include "ir/files/files.hpp"

namespace taskspec::bench {

namespace {

// Times that are told; the first one records what is repeated. Short ones are run more often: the best half of them
// counts.
constexpr int times_of(std::int64_t iterations) { return iterations > 2048 ? 4 : 12; }

// Sizes near the one that is looked for are run several times, one way after the other: the least time counts.
int sweeps_of(const Settings& settings, std::int64_t iterations) {
  return iterations > 1024 ? 1 : settings.repeats > 0 ? settings.repeats : 3;
}

// A way to run the text, and how many of its tasks run at one time.
struct ShardRow {
  std::string name, on;
  std::vector<std::string> words;
  int workers = 1;
  int rounds = 1;  // of metg_steps steps, of which one time is told where tasks are short
  std::vector<std::pair<std::int64_t, double>> times = {};  // iterations, seconds of a step
  std::string failure = {};
};

// Who prints is another thread than who launches: a time must be much longer than one is kept from a core.
int rounds_of(const ShardRow& row, std::int64_t iterations) { return iterations > 1024 ? 1 : row.rounds; }

// Prints a line for each time, when all is there: how many stamps were wrong, and the clock.
std::string program_text(const MetgCase& what, const ShardRow& row, std::int64_t iterations) {
  const int rounds = rounds_of(row, iterations);
  return metg_definitions(what, false) + "fn work() {\n" +
         metg_statements(what, iterations, times_of(iterations) * rounds,
                         fmt::format("  if round % {} == {} {{ print(columns.wrong.sum(0).scalar, clock()) }}\n",
                                     rounds, rounds - 1)) +
         "}\nrun work() on " + row.on + "\n";
}

// Seconds of a step of all columns, in the best half of the times; none: it failed.
std::optional<double> step_time(const Settings& settings, const Folder& folder, const MetgCase& what,
                                const ShardRow& row, std::int64_t iterations) {
  std::vector<std::string> words{settings.tool, "run", folder.file("metg.task", program_text(what, row, iterations))};
  words.insert(words.end(), row.words.begin(), row.words.end());
  const std::string printed = folder.file("printed.txt");
  int status = 0;
  process(std::move(words), &status, printed);
  if (status != 0) return std::nullopt;
  std::istringstream lines(read_text(printed));
  std::vector<double> times;
  std::int64_t wrong = 0;
  for (double at = 0; lines >> wrong >> at; times.push_back(at))
    if (wrong != 0) return std::nullopt;
  if (times.size() != static_cast<std::size_t>(times_of(iterations))) return std::nullopt;
  // Who prints may come late, where the shards have all cores, and sees two of them at once: so of many together.
  const std::size_t many = times.size() / 2;
  double least = 1e9;
  for (std::size_t begin = 0; begin + many < times.size(); ++begin)
    least = std::min(least, (times[begin + many] - times[begin]) / static_cast<double>(many));
  return least / static_cast<double>(metg_steps) / rounds_of(row, iterations);
}

// Seconds of an iteration of the kernel, from tasks that are hardly anything else, on as many workers; 0: there are
// none.
double iteration_time(const ShardRow& row) {
  double least = 0;
  for (const auto& [iterations, step] : row.times)
    if (iterations >= 4096)
      if (const double one = step * row.workers / static_cast<double>(metg_columns) / static_cast<double>(iterations);
          least == 0 || one < least)
        least = one;
  return least;
}

// What bench/metg_mpi prints, started by mpirun on two ranks; empty: there is none.
std::string mpi_loops(const Settings& settings, const Folder& folder) {
  const std::filesystem::path beside = std::filesystem::path(settings.tool).parent_path() / "../../bench/metg_mpi";
  std::error_code none;
  if (!std::filesystem::exists(beside, none)) return "";
  const std::string printed = folder.file("mpi.txt");
  int status = 0;
  process({"sh", "-c",
           "root=; [ $(id -u) = 0 ] && root=--allow-run-as-root; exec mpirun $root --oversubscribe -np 2 \"$0\"",
           beside.string()},
          &status, printed);
  return status == 0 ? read_text(printed) : "";
}

}  // namespace

int metg_shards(const Settings& settings) {
  const Folder folder;
  const std::int64_t largest = std::min<std::int64_t>(16384, static_cast<std::int64_t>(settings.tasks));
  const int cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  std::vector<ShardRow> contenders{{"host(threads: 2), one analysis", "host(threads: 2)", {}, 2}};
  for (const int shards : settings.shards) {
    if (shards > cores || shards > static_cast<int>(metg_columns)) {
      fmt::print("{} shards are not timed: there are {} cores, and {} columns\n", shards, cores, metg_columns);
      continue;
    }
    contenders.push_back({fmt::format("mpi(shards: {}), threads", shards),
                          fmt::format("mpi(shards: {}, threads: 1)", shards),
                          {},
                          shards,
                          16});
    if (shards > 1)
      contenders.push_back({fmt::format("mpi(shards: {0}), {0} ranks", shards),
                            fmt::format("mpi(shards: {}, threads: 1)", shards),
                            {"--ranks", std::to_string(shards)},
                            shards,
                            16});
  }
  Table table({"us", "METG(50%)", "of the bar", "empty task", "of a step"});
  for (const MetgCase& what : metg_cases()) {
    std::vector<ShardRow> rows = contenders;
    for (std::int64_t iterations = largest; iterations > 0; iterations /= 2) {
      for (ShardRow& row : rows) row.times.emplace_back(iterations, std::numeric_limits<double>::infinity());
      for (int sweep = 0; sweep < sweeps_of(settings, iterations); ++sweep)
        for (ShardRow& row : rows) {
          if (!row.failure.empty()) continue;
          if (const auto step = step_time(settings, folder, what, row, iterations))
            row.times.back().second = std::min(row.times.back().second, *step);
          else
            row.failure = "does not run here";
        }
    }
    for (const ShardRow& row : rows) {
      const std::string name = fmt::format("{}: {}", what.name, row.name);
      if (!row.failure.empty()) {
        table.add({name, row.failure, "", "", ""});
        continue;
      }
      const double each = iteration_time(row);
      std::vector<MetgPoint> points;
      for (const auto& [iterations, step] : row.times) {
        const double granularity = step * row.workers / static_cast<double>(metg_columns);
        points.push_back({granularity, each * static_cast<double>(iterations) / granularity});
      }
      const std::optional<double> metg = metg_crossing(points);
      const double step = row.times.back().second;
      table.add({name, micro(metg), metg ? fmt::format("{:.1f}", 1e6 * *metg / metg_bar) : "-",
                 micro(step * row.workers / static_cast<double>(metg_columns)), micro(step)});
    }
  }
  fmt::print(
      "measured: METG(50%) by the clock, the least of some sweeps, width {}, {} steps or more, from the text: "
      "interpreter,\n"
      "analysis or replay, copies and all; bodies of the language; bar 0.5 us. A task of as good as no kernel, and\n"
      "a step of {} such ones\n{}",
      metg_columns, metg_steps, metg_columns, table.text());
  const std::string peers = mpi_loops(settings, folder);
  fmt::print("\nby hand, over MPI:\n{}", peers.empty() ? "no mpirun here, or built without MPI\n" : peers);
  return 0;
}

}  // namespace taskspec::bench
