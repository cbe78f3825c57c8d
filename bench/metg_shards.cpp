#include "bench/metg_shards.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <sstream>
#include <thread>

#include "bench/child.hpp"
#include "bench/metg.hpp"
#include "ir/files/files.hpp"

namespace taskspec::bench {

namespace {

// Times that are told; the first one records what is repeated. Short ones are told more often: the best quarter of them
// counts, one behind the other.
constexpr int times_of(std::int64_t iterations) { return iterations > 2048 ? 8 : 24; }

// How often a size is run: the least time counts. Those near the ones that are looked for decide, so they are run most
// often: what slows a machine down lasts for seconds.
int sweeps_of(const Settings& settings, std::int64_t iterations) {
  if (iterations > 1024) return 2;  // one alone may meet a slow moment, and look like half of the work
  if (settings.repeats > 0) return settings.repeats;
  return iterations >= 64 ? 6 : 2;
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

// Seconds of a step of all columns, in the best quarter of the times; none: it failed.
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
  const std::size_t many = times.size() / 4;
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

// Loops over MPI by hand: bench/metg_mpi, started by mpirun on two ranks. It runs several times, among the others: what
// two processors take to hand something over may be another time a minute later. The least counts.
class MpiLoops {
 public:
  MpiLoops(const Settings& settings, const Folder& folder)
      : folder_(folder), program_(std::filesystem::path(settings.tool).parent_path() / "../../bench/metg_mpi") {}

  void run() {
    std::error_code none;
    if (!std::filesystem::exists(program_, none)) return;
    const std::string printed = folder_.file("mpi.txt");
    int status = 0;
    process({"sh", "-c",
             "root=; [ $(id -u) = 0 ] && root=--allow-run-as-root; exec mpirun $root --oversubscribe -np 2 \"$0\"",
             program_.string()},
            &status, printed);
    if (status != 0) return;
    std::istringstream text(read_text(printed));
    std::getline(text, title_);
    std::string pattern, mpi, bulk, nonblocking;
    for (double of_bulk = 0, of_nonblocking = 0;
         text >> pattern >> mpi >> bulk >> of_bulk >> mpi >> nonblocking >> of_nonblocking;)
      for (const auto& [way, time] : {std::pair(bulk, of_bulk), std::pair(nonblocking, of_nonblocking)}) {
        const auto known = ways_[pattern].emplace(way, time).first;
        known->second = std::min(known->second, time);
      }
  }
  std::optional<double> nonblocking(const std::string& pattern) const {  // METG in us
    const auto found = ways_.find(pattern);
    return found == ways_.end() ? std::nullopt : std::optional(found->second.at("nonblocking"));
  }
  std::string text() const {
    if (ways_.empty()) return "no mpirun here, or built without MPI\n";
    std::string text = title_ + "\n";
    for (const auto& [pattern, ways] : ways_) {
      text += fmt::format("{:<10}", pattern);
      for (const auto& [way, time] : ways) text += fmt::format("  mpi {} {:.3f}", way, time);
      text += '\n';
    }
    return text;
  }

 private:
  const Folder& folder_;
  const std::filesystem::path program_;
  std::string title_;
  std::map<std::string, std::map<std::string, double>> ways_;  // by pattern and way: the least METG, us
};

// What came of a row, for one pattern.
struct Found {
  std::string pattern, name, failure;
  bool sends = false;
  std::optional<double> metg;  // seconds
  double task = 0, step = 0;   // likewise, of as good as no kernel
};

Found found(const MetgCase& what, const ShardRow& row) {
  Found made{what.name,
             fmt::format("{}: {}", what.name, row.name),
             row.failure,
             row.rounds > 1 && row.workers > 1 && !what.reads[0].empty(),
             {}};
  if (!row.failure.empty()) return made;
  const double each = iteration_time(row);
  std::vector<MetgPoint> points;
  for (const auto& [iterations, step] : row.times) {
    const double granularity = step * row.workers / static_cast<double>(metg_columns);
    points.push_back({granularity, each * static_cast<double>(iterations) / granularity});
  }
  made.metg = metg_crossing(points);
  made.step = row.times.back().second;
  made.task = made.step * row.workers / static_cast<double>(metg_columns);
  return made;
}

std::string ratio(std::optional<double> a, std::optional<double> b) {
  return a && b ? fmt::format("{:.2f}", *a / *b) : "-";
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
  for (ShardRow& row : contenders)
    for (std::int64_t iterations = largest; iterations > 0; iterations /= 2)
      row.times.emplace_back(iterations, std::numeric_limits<double>::infinity());
  // A sweep goes through all patterns: what slows the machine down for some seconds spoils no pattern in all of them.
  std::vector<std::vector<ShardRow>> rows(metg_cases().size(), contenders);  // by pattern
  MpiLoops mpi(settings, folder);
  mpi.run();
  for (int sweep = 0; sweep < sweeps_of(settings, 1024); ++sweep) {
    for (std::size_t at = 0; at < rows.size(); ++at)
      for (std::size_t size = 0; size < contenders.front().times.size(); ++size)
        for (ShardRow& row : rows[at]) {
          auto& [iterations, least] = row.times[size];
          const bool is_decided = row.rounds == 1 && sweep > 1;  // one analysis for all: its sizes are larger ones
          if (!row.failure.empty() || is_decided || sweep >= sweeps_of(settings, iterations)) continue;
          if (const auto step = step_time(settings, folder, metg_cases()[at], row, iterations))
            least = std::min(least, *step);
          else
            row.failure = "does not run here";
        }
    mpi.run();
  }
  std::vector<Found> all;
  for (std::size_t at = 0; at < rows.size(); ++at)
    for (const ShardRow& row : rows[at]) all.push_back(found(metg_cases()[at], row));
  Table table({"us", "METG(50%)", "of the bar", "of nonblocking MPI", "empty task", "of a step"});
  for (const Found& one : all) {
    if (!one.failure.empty()) {
      table.add({one.name, one.failure, "", "", "", ""});
      continue;
    }
    const std::optional<double> us = one.metg ? std::optional(1e6 * *one.metg) : std::nullopt;
    table.add({one.name, micro(one.metg), ratio(us, metg_bar), one.sends ? ratio(us, mpi.nonblocking(one.pattern)) : "",
               micro(one.task), micro(one.step)});
  }
  fmt::print(
      "measured: METG(50%) by the clock, the least of some sweeps, width {}, {} steps or more, from the text:\n"
      "interpreter, analysis or replay, copies and all; bodies of the language. Bars: {} us where nonblocking MPI\n"
      "takes {}, so {:.2f} of it, and 1.5 of it between ranks. A task of as good as no kernel, and a step of {} such\n"
      "ones\n{}",
      metg_columns, metg_steps, metg_bar, metg_mpi, metg_bar / metg_mpi, metg_columns, table.text());
  fmt::print("\nby hand, the least of {} runs among the others, over MPI:\n{}", metg_cases().size() + 1, mpi.text());
  return 0;
}

}  // namespace taskspec::bench
