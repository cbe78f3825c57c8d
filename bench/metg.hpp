// The granularity of tasks at which two threads do half of what they could: METG(50%) of Task Bench's patterns, from a
// text, beside the same loops in oneTBB and OpenMP.
#pragma once
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/bench.hpp"

namespace taskspec::bench {

// Two columns, some hundred steps; step t of a column reads the stamps of step t - 1 that it depends on.
struct MetgCase {
  const char* name;                              // of the pattern
  std::vector<std::vector<std::int64_t>> reads;  // by column: columns of the step before; empty: none
};
inline constexpr std::size_t metg_columns = 2, metg_steps = 1000;
inline constexpr double metg_bar = 0.5;  // microseconds
inline constexpr double metg_mpi =
    0.53;  // what nonblocking MPI by hand (metg_mpi.cpp) takes on the machine of that bar
const std::vector<MetgCase>& metg_cases();  // stencil_1d, fft, trivial

struct MetgCell {  // 16 bytes, what a task makes
  double value = 0;
  std::int64_t stamp = -1;  // step and column
};

// `iterations` of eight products and sums that wait for one another.
double metg_kernel(std::int64_t iterations, double start);

// Seconds of one step of all columns, each the least of several runs of metg_steps.
struct MetgTime {
  Sample run;    // of what runs alone, where that can be told from the rest
  Sample whole;  // with all that makes it known to who runs it
};
MetgTime metg_time(const Repeats& run, const Repeats& whole);

MetgTime metg_text_native(const MetgCase& what, std::int64_t iterations, int repeats);  // bodies are metg_kernel
MetgTime metg_text(const MetgCase& what, std::int64_t iterations, int repeats);         // bodies of the language, too
MetgTime metg_tbb(const MetgCase& what, std::int64_t iterations, int repeats);
MetgTime metg_openmp(const MetgCase& what, std::int64_t iterations, int repeats);

// The text: fields and tasks; and statements that make the columns and launch `rounds` times metg_steps steps,
// `after_round` behind each. Stamps that are wrong are counted in columns.wrong.
std::string metg_definitions(const MetgCase& what, bool native);
std::string metg_statements(const MetgCase& what, std::int64_t iterations, int rounds,
                            const std::string& after_round = "");

// Of one contender, at one size of tasks: seconds of a task, and what part of them it works.
struct MetgPoint {
  double granularity = 0, efficiency = 0;
};
// Where efficiency comes to a half, on the way down, between two sizes by their logarithms; none: it never does, or
// never was beyond it.
std::optional<double> metg_crossing(const std::vector<MetgPoint>& points);
std::string micro(std::optional<double> seconds);  // in us; "-": none

// The table, of rows that have `part` in their names; false beyond the bar. `taskspec bench regions:metg` prints it
// alone, `regions:metgoneTBB` one contender of it.
bool metg(const Settings& settings, const std::string& part);

}  // namespace taskspec::bench
