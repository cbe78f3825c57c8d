#include "bench/noc.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "hwsim/chip/traffic.hpp"
#include "hwsim/noc/noc.hpp"
#include "hwsim/time/clock.hpp"
#include "ir/files/files.hpp"

namespace taskspec::bench {

namespace {

constexpr double uniform_bar = 5e6;  // messages/s of `contended`, a message of one packet each

// A phase of traffic, in times from its start.
struct NocPhase {
  std::vector<NocFlow> flows;
};

struct NocModelRow {
  const char* name;
  NocModel model;
  bool is_slow;  // a run takes longer than all others together: few repeats
};
constexpr NocModelRow model_rows[] = {{"ideal", NocModel::ideal, false},
                                      {"contended", NocModel::contended, false},
                                      {"contended, by events", NocModel::events, true},
                                      {"flit", NocModel::flit_all, true}};

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

// What a mapper of others wrote; its file must outlive the phases. The packets of a core leave in order of the file,
// spread over soma 1 behind the axon, or one per tick where soma 1 takes no time.
std::vector<NocPhase> phases_of(const TrafficFile& file) {
  std::vector<NocPhase> phases;
  for (const TrafficPhase& phase : file.phases) {
    std::map<std::int32_t, TrafficCore> cores;
    std::map<std::int32_t, std::int64_t> packets, before;  // of a core: all, and those of the flows so far
    for (const TrafficGroup& group : phase.groups) {
      for (const TrafficCore& core : group.cores) cores[core.core] = core;
      for (const TrafficFlow& flow : group.flows) packets[flow.source] += flow.packets;
    }
    phases.emplace_back();
    for (const TrafficGroup& group : phase.groups)
      for (const TrafficFlow& flow : group.flows) {
        if (flow.packets == 0) continue;
        const TrafficCore& core = cores[flow.source];
        std::int64_t& gone = before[flow.source];
        const std::int64_t all = packets[flow.source], span = core.soma1_clk > 0 ? core.soma1_clk : all;
        auto made = [&](std::int64_t n) { return span / all * n + span % all * n / all; };
        const std::int64_t begin = made(gone), end = made(gone += flow.packets);
        phases.back().flows.push_back({.source = flow.source,
                                       .target = flow.target,
                                       .begin = core.axon_clk + begin,
                                       .span = end - begin,
                                       .packets = flow.packets,
                                       .copies = flow.copies});
      }
  }
  return phases;
}

// `bar`: messages/s of `contended`; 0: none.
int print_rates(const NocFigures& figures, const std::vector<NocPhase>& phases, std::int64_t messages, int repeats,
                double bar) {
  std::vector<NocSubject> subjects;
  for (const NocModelRow& row : model_rows) subjects.push_back({.row = row});
  for (int i = 0; i < repeats; ++i)
    for (NocSubject& subject : subjects)
      if (!subject.row.is_slow || i < (repeats + 4) / 5)
        subject.times.add(measure([&] { solve_all(figures, phases, subject); }));
  const double peer = subjects.back().times.min_cpu(), count = static_cast<double>(messages);
  Table table({"model", "min ms", "median ms", "M messages/s", "M hops/s", "times flit", "ticks", "bar"});
  for (const NocSubject& subject : subjects) {
    const double seconds = subject.times.min_cpu();
    const bool has_bar = bar > 0 && subject.row.model == NocModel::contended;
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

int print_file(const Chip& chip, const std::string& path, int repeats) {
  const Result<TrafficFile> file = read_traffic(read_text(path), path);
  if (!file) throw Error(file.diags());
  NocFigures figures = noc_figures(chip, file->chips);
  figures.cores_x = static_cast<int>(file->cores.x), figures.cores_y = static_cast<int>(file->cores.y);
  const std::vector<NocPhase> phases = phases_of(*file);
  std::int64_t messages = 0, packets = 0;  // segments; a copy is one more
  for (const NocPhase& phase : phases)
    for (const NocFlow& flow : phase.flows) {
      const std::int64_t legs = static_cast<std::int64_t>(1 + flow.copies.size());
      messages += (flow.packets + figures.burst - 1) / figures.burst * legs;
      packets += flow.packets * legs;
    }
  fmt::print(
      "network on the chip, one thread: '{}', {} phases, {} packets in {} segments on {} x {} cores;\n"
      "rates by CPU time, at the minimum of {} turns\n",
      path, phases.size(), packets, messages, figures.width(), figures.height(), repeats);
  return print_rates(figures, phases, messages, repeats, 0);
}

}  // namespace

int noc(const Settings& settings) {
  const int repeats = settings.repeats > 0 ? settings.repeats : 10;
  try {
    const Chip chip = load_chip("tianjicx").value_or_throw();
    if (!settings.file.empty()) return print_file(chip, settings.file, repeats);
    const NocFigures figures = noc_figures(chip, {1, 1});
    const std::int64_t messages = static_cast<std::int64_t>(settings.tasks);
    fmt::print(
        "network on the chip, one thread: {} uniform messages of a packet on {} x {} cores, busiest link held for "
        "half of the time;\nrates by CPU time, at the minimum of {} turns\n",
        messages, figures.width(), figures.height(), repeats);
    return print_rates(figures, uniform_messages(figures, settings.tasks), messages, repeats, uniform_bar);
  } catch (const Error& error) {
    fmt::print(stderr, "taskspec: {}\n", error.what());
    return 1;
  }
}

}  // namespace taskspec::bench
