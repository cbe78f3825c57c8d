#include "bench/metg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace taskspec::bench {

double metg_kernel(std::int64_t iterations, double start) {
  std::array<double, 8> x{};
  for (std::size_t k = 0; k < x.size(); ++k) x[k] = start + 0.01 * static_cast<double>(k);
  for (std::int64_t i = 0; i < iterations; ++i) {
    for (double& v : x) v = v * 0.999999 + 1e-6;
    // Each iteration takes its time: none is done together with the next.
    asm volatile("" : "+m"(x));
  }
  return x[0] + x[7];
}

MetgTime metg_time(const Repeats& run, const Repeats& whole) {
  return {{run.min_wall() / metg_steps, run.min_cpu() / metg_steps},
          {whole.min_wall() / metg_steps, whole.min_cpu() / metg_steps}};
}

std::optional<double> metg_crossing(const std::vector<MetgPoint>& points) {
  for (std::size_t i = 1; i < points.size(); ++i) {
    const MetgPoint &above = points[i - 1], &below = points[i];
    if (above.efficiency < 0.5 || below.efficiency >= 0.5) continue;
    const double part = (above.efficiency - 0.5) / (above.efficiency - below.efficiency);
    return std::exp(std::log(above.granularity) + part * (std::log(below.granularity) - std::log(above.granularity)));
  }
  return std::nullopt;
}

std::string micro(std::optional<double> seconds) { return seconds ? fmt::format("{:.2f}", 1e6 * *seconds) : "-"; }

const std::vector<MetgCase>& metg_cases() {
  static const std::vector<MetgCase> cases = {
      {"stencil_1d", {{0, 1}, {0, 1}}}, {"fft", {{0, 1}, {1, 0}}}, {"trivial", {{}, {}}}};
  return cases;
}

namespace {

struct Row {
  std::string name;
  MetgTime (*time)(const MetgCase&, std::int64_t, int);
  bool native = true;     // its tasks are metg_kernel
  std::int64_t part = 1;  // of iterations: those of others take so much longer
  std::vector<std::pair<std::int64_t, MetgTime>> times = {};

  // CPU seconds of an iteration, from tasks of many.
  double iteration() const {
    double least = 1e9;
    for (const auto& [iterations, time] : times)
      if (iterations * part >= 1024)
        least =
            std::min(least, time.run.cpu / static_cast<double>(metg_columns * static_cast<std::size_t>(iterations)));
    return least;
  }
  // By the clock: two threads do two tasks in a step. By CPU time: nobody waits for a core that others have.
  std::vector<MetgPoint> points(Sample MetgTime::*of, double each, bool by_cpu) const {
    std::vector<MetgPoint> made;
    for (const auto& [iterations, time] : times) {
      const Sample& step = time.*of;
      const double granularity = by_cpu ? step.cpu / metg_columns : step.wall;
      made.push_back({granularity, each * static_cast<double>(iterations) / granularity});
    }
    return made;
  }
};

double kernel_iteration() {
  constexpr std::int64_t many = 20'000;
  Repeats times;
  volatile double sink = 0;
  for (int i = 0; i < 20; ++i) times.add(measure([&] { sink = sink + metg_kernel(many, 1); }));
  return times.min_cpu() / many;
}

}  // namespace

bool metg(const Settings& settings, const std::string& part) {
  const int repeats = settings.repeats > 0 ? std::max(settings.repeats, 2) : 12;  // fewer rounds are no batches
  bool fine = true;
  Table table({"us", "run, wall", "of the bar", "all, wall", "run, CPU", "of the bar", "all, CPU", "empty task, run",
               "all of it"});
  const double kernel = kernel_iteration();
  for (const MetgCase& what : metg_cases()) {
    std::vector<Row> rows = {{"text, bodies of C++", metg_text_native},
                             {"text, bodies of the language", metg_text, false, 16},
                             {"oneTBB, graph run again; made and run", metg_tbb},
                             {"OpenMP, made while run", metg_openmp}};
    std::erase_if(rows, [&](const Row& row) { return row.name.find(part) == std::string::npos; });
    for (std::int64_t size = 16384; size > 0; size /= 2)
      for (Row& row : rows) {
        const std::int64_t iterations = size / row.part;
        if (iterations == 0) continue;
        const MetgTime time = row.time(what, iterations, size > 2048 ? 2 : repeats);
        if (time.whole.wall > 0) row.times.emplace_back(iterations, time);
      }
    for (const Row& row : rows) {
      if (row.times.empty()) continue;
      const double each = row.native ? kernel : row.iteration();
      auto metg = [&](Sample MetgTime::*of, bool by_cpu) { return metg_crossing(row.points(of, each, by_cpu)); };
      const std::optional<double> wall = metg(&MetgTime::run, false), cpu = metg(&MetgTime::run, true);
      auto of_bar = [](std::optional<double> time) {
        return time ? fmt::format("{:.2f}", 1e6 * *time / metg_bar) : "-";
      };
      if (row.time == metg_text_native) fine &= (wall ? *wall : cpu.value_or(1)) <= 1e-6 * metg_bar;
      const MetgTime& least = row.times.back().second;
      table.add({fmt::format("{}: {}", what.name, row.name), micro(wall), of_bar(wall),
                 micro(metg(&MetgTime::whole, false)), micro(cpu), of_bar(cpu), micro(metg(&MetgTime::whole, true)),
                 micro(least.run.cpu / metg_columns), micro(least.whole.cpu / metg_columns)});
    }
  }
  fmt::print(
      "METG(50%), width 2, 1000 steps, two threads: the granularity at which half of the time is work; by the\n"
      "clock, which needs two cores that nobody else has (-: it was never above), and by CPU time. The last two\n"
      "columns: CPU of an empty task, of which what is not the run is the interpreter and its session\n{}\n",
      table.text());
  return fine;
}

}  // namespace taskspec::bench
