#include "bench/bench.hpp"

#include <fmt/format.h>
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <fstream>
#include <sstream>

namespace taskspec::bench {

double wall_clock() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double cpu_clock() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

double Repeats::least(double Sample::*part) const {
  if (samples_.empty()) return 0;
  return (*std::min_element(samples_.begin(), samples_.end(), [&](auto& a, auto& b) { return a.*part < b.*part; })).*
         part;
}

double Repeats::middle(double Sample::*part) const {
  std::vector<double> values;
  for (const Sample& sample : samples_) values.push_back(sample.*part);
  std::sort(values.begin(), values.end());
  std::size_t half = values.size() / 2;
  if (values.empty()) return 0;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

namespace {

// A line such as "VmHWM:     1234 kB".
std::size_t status_bytes(const std::string& name) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.rfind(name + ":", 0) != 0) continue;
    std::size_t kilobytes = 0;
    std::istringstream(line.substr(name.size() + 1)) >> kilobytes;
    return kilobytes * 1024;
  }
  return 0;
}

}  // namespace

std::size_t resident_bytes() { return status_bytes("VmRSS"); }
std::size_t peak_resident_bytes() { return status_bytes("VmHWM"); }

void forget_peak() {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";
}

std::string Table::text() const {
  std::vector<std::size_t> widths;
  for (const auto& row : rows_)
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (widths.size() <= k) widths.push_back(0);
      widths[k] = std::max(widths[k], row[k].size());
    }
  std::string text;
  for (const auto& row : rows_) {
    for (std::size_t k = 0; k < row.size(); ++k)
      text += k == 0 ? fmt::format("{:<{}}", row[k], widths[k]) : fmt::format("  {:>{}}", row[k], widths[k]);
    text += "\n";
  }
  return text;
}

}  // namespace taskspec::bench
