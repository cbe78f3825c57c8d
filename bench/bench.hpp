// What the benchmarks share: clocks, statistics of repeats, memory, and a table.
//
//   Sample s = measure([&] { aggregate(graph); });        // s.wall, s.cpu in seconds
//   Repeats r;  r.add(s);  ...  r.min_wall(), r.median_wall()
//   Table table({"stage", "ns/task"});  table.add({"build", "71"});  fmt::print("{}", table.text());
#pragma once
#include <cstddef>
#include <string>
#include <vector>

namespace taskspec::bench {

struct Settings {
  std::size_t tasks = 1'000'000;
  int repeats = 0;  // 0: what the benchmark thinks enough
  std::vector<int> threads = {1, 2};
  std::vector<int> shards = {1, 2};
  std::string tool;  // path of taskspec
  std::string file;  // what stands behind a colon in the name of the benchmark: an input
};

// Seconds since some moment.
double wall_clock();
double cpu_clock();  // of the whole process, all threads

struct Sample {
  double wall = 0, cpu = 0;
};

template <class F>
Sample measure(F&& f) {
  double wall = wall_clock(), cpu = cpu_clock();
  f();
  return {wall_clock() - wall, cpu_clock() - cpu};
}

// The same thing measured several times: the minimum tells what the machine can do, the median what it did.
class Repeats {
 public:
  void add(const Sample& sample) { samples_.push_back(sample); }
  double min_wall() const { return least(&Sample::wall); }
  double median_wall() const { return middle(&Sample::wall); }
  double min_cpu() const { return least(&Sample::cpu); }
  double median_cpu() const { return middle(&Sample::cpu); }

 private:
  double least(double Sample::*part) const;
  double middle(double Sample::*part) const;
  std::vector<Sample> samples_;
};

// Resident memory of the process. `forget_peak` hands freed memory back and starts a new peak.
std::size_t resident_bytes();
std::size_t peak_resident_bytes();  // since forget_peak(); 0 where the system does not tell
void forget_peak();

// Columns of equal width, numbers to the right, the first column to the left.
class Table {
 public:
  explicit Table(std::vector<std::string> head) : rows_{std::move(head)} {}
  void add(std::vector<std::string> row) { rows_.push_back(std::move(row)); }
  std::string text() const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

}  // namespace taskspec::bench
