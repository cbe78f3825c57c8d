#include "bench/noc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "hwsim/noc/noc.hpp"

namespace taskspec::bench {

namespace {

constexpr double bar = 5e6;  // messages/s of `contended`

// A phase of traffic, in times from its start.
struct NocPhase {
  std::vector<NocFlow> flows;
};

struct NocModelRow {
  const char* name;
  NocModel model;
  bool is_slow;  // a run takes longer than all others together: few repeats
};
constexpr NocModelRow rows[] = {{"ideal", NocModel::ideal, false},
                                {"contended", NocModel::contended, false},
                                {"contended, by events", NocModel::events, true},
                                {"flit", NocModel::flit_all, true}};

// Times and ports of a chip with 16 x 10 cores, one packet per link and tick.
NocFigures figures_16_by_10() {
  NocFigures figures;
  figures.cores_x = 16, figures.cores_y = 10;
  figures.burst = 16, figures.vcs = 4, figures.vc_depth = 8;
  figures.chip_packet_clk = 4, figures.chip_hop_x = figures.chip_hop_y = 32;
  return figures;
}

// Of one packet each, ascending in time, in a window in which the busiest link is held for half of it.
std::vector<NocPhase> uniform_messages(const NocFigures& figures, std::size_t count) {
  std::mt19937_64 random(1);
  std::vector<NocPhase> phases(1);
  std::vector<NocFlow>& flows = phases[0].flows;
  auto core = [&] { return static_cast<int>(random() % static_cast<std::uint64_t>(figures.cores())); };
  for (std::size_t i = 0; i < count; ++i) flows.push_back({.source = core(), .target = core()});
  const std::int64_t window = 2 * solve_noc(figures, flows, NocModel::ideal).traffic.busiest;
  std::vector<std::int64_t> begins;
  for (std::size_t i = 0; i < count; ++i)
    begins.push_back(static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(window)));
  std::sort(begins.begin(), begins.end());
  for (std::size_t i = 0; i < count; ++i) flows[i].begin = begins[i];
  return phases;
}

struct NocSubject {
  NocModelRow row;
  Repeats times = {};
  std::int64_t ticks = 0, hops = 0;
};

void solve_all(const NocFigures& figures, const std::vector<NocPhase>& phases, NocSubject& subject) {
  subject.ticks = subject.hops = 0;
  for (const NocPhase& phase : phases) {
    const NocResult result = solve_noc(figures, phase.flows, subject.row.model);
    subject.ticks += result.makespan();
    subject.hops += result.traffic.hops_x + result.traffic.hops_y;
  }
}

int print_rates(const NocFigures& figures, const std::vector<NocPhase>& phases, std::int64_t messages, int repeats) {
  std::vector<NocSubject> subjects;
  for (const NocModelRow& row : rows) subjects.push_back({.row = row});
  for (int i = 0; i < repeats; ++i)
    for (NocSubject& subject : subjects)
      if (!subject.row.is_slow || i < (repeats + 4) / 5)
        subject.times.add(measure([&] { solve_all(figures, phases, subject); }));
  const double peer = subjects.back().times.min_cpu(), count = static_cast<double>(messages);
  Table table({"model", "min ms", "median ms", "M messages/s", "M hops/s", "times flit", "ticks", "bar"});
  for (const NocSubject& subject : subjects) {
    const double seconds = subject.times.min_cpu();
    const bool has_bar = subject.row.model == NocModel::contended;
    table.add({subject.row.name, fmt::format("{:.1f}", subject.times.min_wall() * 1e3),
               fmt::format("{:.1f}", subject.times.median_wall() * 1e3), fmt::format("{:.2f}", count / seconds / 1e6),
               fmt::format("{:.1f}", static_cast<double>(subject.hops) / seconds / 1e6),
               fmt::format("{:.1f}", peer / seconds), fmt::format("{}", subject.ticks),
               !has_bar                 ? ""
               : count / seconds >= bar ? "5 M: held"
                                        : "5 M: MISSED"});
  }
  fmt::print("{}", table.text());
  const std::int64_t contended = subjects[1].ticks, flits = subjects[3].ticks;
  fmt::print("both ways of contended agree: {}; contended takes {:+.2f} % of the ticks of flit\n",
             contended == subjects[2].ticks,
             flits > 0 ? 100.0 * static_cast<double>(contended - flits) / static_cast<double>(flits) : 0);
  return 0;
}

}  // namespace

int noc(const Settings& settings) {
  const int repeats = settings.repeats > 0 ? settings.repeats : 10;
  const NocFigures figures = figures_16_by_10();
  fmt::print(
      "network on the chip, one thread: {} uniform messages of a packet on 16 x 10 cores, busiest link held for "
      "half of the time;\nrates by CPU time, at the minimum of {} turns\n",
      settings.tasks, repeats);
  return print_rates(figures, uniform_messages(figures, settings.tasks), static_cast<std::int64_t>(settings.tasks),
                     repeats);
}

}  // namespace taskspec::bench
