#include "hwsim/map/chains.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "hwsim/noc/routes.hpp"
#include "hwsim/program/batch_turns.hpp"
#include "hwsim/program/fault_place.hpp"
#include "hwsim/time/clock.hpp"

namespace taskspec {

namespace {

bool is_same_run(const ChipMessage::Run& a, const ChipMessage::Run& b) {
  return a.from == b.from && a.to == b.to && a.bytes == b.bytes;
}

class WayFinder {
 public:
  explicit WayFinder(ChipProgram& program)
      : program_(program), chip_(*program.chip), routes_(noc_figures(chip_, program.chips)), turns_(program) {}

  Diags diags;

  void find() {
    forget();
    if (chip_.noc.multicast) find_chains();
    for (std::size_t m = 0; m < program_.messages.size(); ++m) relay(program_.messages[m]);
    for (ChipCore& core : program_.cores)
      for (ChipPhase& phase : core.phases)
        std::erase_if(phase.sends, [&](std::int32_t m) { return message(m).behind != ChipMessage::no_message; });
  }

 private:
  // Ways of other places.
  void forget() {
    for (std::size_t i = 0; i < program_.messages.size(); ++i) {
      ChipMessage& m = program_.messages[i];
      m.relays.clear();
      if (std::exchange(m.behind, ChipMessage::no_message) == ChipMessage::no_message || m.from_core == host_core)
        continue;
      std::vector<std::int32_t>& sends =
          program_.cores[static_cast<std::size_t>(m.from_core)].phases[static_cast<std::size_t>(m.from_phase)].sends;
      sends.insert(std::ranges::lower_bound(sends, static_cast<std::int32_t>(i)), static_cast<std::int32_t>(i));
    }
  }

  ChipMessage& message(std::int32_t number) { return program_.messages[static_cast<std::size_t>(number)]; }
  std::int32_t core_at(std::int32_t position) const { return program_.cores[static_cast<std::size_t>(position)].core; }
  const ChipBuffer& target(const ChipMessage& m) const {
    return program_.cores[static_cast<std::size_t>(m.to_core)].buffers[static_cast<std::size_t>(m.to_buffer)];
  }

  // ---- multicasts ---------------------------------------------------------------------------------
  // One head stands for all: the same bytes to the same addresses.
  bool is_same_packet(std::int32_t first, std::int32_t other) {
    const ChipMessage &a = message(first), &b = message(other);
    if (target(a).slots > 1 && turns_.of(first) != turns_.of(other)) return false;
    return a.packets == b.packets && a.heads == b.heads && a.singles == b.singles &&
           target(a).address == target(b).address && target(a).slots == target(b).slots &&
           std::ranges::equal(a.runs, b.runs, is_same_run);
  }

  void find_chains() {
    std::map<std::array<std::int64_t, 6>, std::vector<std::vector<std::int32_t>>> alike;
    for (std::size_t i = 0; i < program_.messages.size(); ++i) {
      const ChipMessage& m = program_.messages[i];
      if (m.to_core == host_core || m.from_core == m.to_core) continue;
      const auto runs = static_cast<std::int64_t>(m.runs.size());
      auto& lists = alike[{m.from_core, m.from_phase, m.from_buffer, m.delay, m.packets, runs}];
      const auto same = std::ranges::find_if(lists, [&](const std::vector<std::int32_t>& list) {
        return is_same_packet(list[0], static_cast<std::int32_t>(i));
      });
      if (same != lists.end())
        same->push_back(static_cast<std::int32_t>(i));
      else
        lists.push_back({static_cast<std::int32_t>(i)});
    }
    for (auto& [key, lists] : alike)
      for (std::vector<std::int32_t>& list : lists)
        if (list.size() > 1) make_chain(std::move(list));
  }

  std::int64_t hops(std::int32_t from, std::int32_t to) const {
    const int target = core_at(to);
    if (from != host_core) return routes_.hops(routes_.endpoint(core_at(from)), routes_.endpoint(target));
    return 1 + routes_.hops(routes_.endpoint(noc_host(target / program_.width)), routes_.endpoint(target));
  }

  void make_chain(std::vector<std::int32_t> left) {
    std::int32_t at = message(left[0]).from_core;
    std::int64_t unicasts = 0, chain = 0;
    for (const std::int32_t m : left) unicasts += hops(at, message(m).to_core);
    std::vector<std::int32_t> order;
    while (!left.empty()) {
      const auto next = std::ranges::min_element(left, {}, [&](std::int32_t m) {
        return std::pair(hops(at, message(m).to_core), core_at(message(m).to_core));
      });
      chain += hops(at, message(*next).to_core);
      at = message(*next).to_core;
      order.push_back(*next);
      left.erase(next);
    }
    if (chain >= unicasts) return;
    for (std::size_t i = 1; i < order.size(); ++i) message(order[i]).behind = order[i - 1];
  }

  // ---- relays -------------------------------------------------------------------------------------
  // Along the route, so that it becomes no longer.
  void relay(ChipMessage& m) {
    if (m.to_core == host_core) return;
    const std::int32_t from = m.behind == ChipMessage::no_message ? m.from_core : message(m.behind).to_core;
    if (from == host_core) return;  // it stands beside each row
    const std::int64_t low = chip_.limits.offset_min.value_or(INT32_MIN);
    const std::int64_t high = chip_.limits.offset_max.value_or(INT32_MAX);
    const bool y_first = chip_.noc.order == RouteOrder::y_first;
    const std::int32_t end = core_at(m.to_core), width = program_.width;
    std::int32_t at = core_at(from);
    for (;;) {
      const std::int64_t dx = end % width - at % width, dy = end / width - at / width;
      const std::int64_t step_x = std::clamp(dx, low, high), step_y = std::clamp(dy, low, high);
      const bool x_fits = step_x == dx, y_fits = step_y == dy;
      if (x_fits && y_fits) return;
      const std::int64_t x = y_first && !y_fits ? 0 : step_x, y = !y_first && !x_fits ? 0 : step_y;
      if (x == 0 && y == 0) return refuse(m, at, x_fits ? dy : dx, x_fits ? 'y' : 'x', low, high);
      at = static_cast<std::int32_t>(at + x + y * width);
      m.relays.push_back(at);
    }
  }

  void refuse(const ChipMessage& m, std::int32_t at, std::int64_t offset, char axis, std::int64_t low,
              std::int64_t high) {
    if (diags.has_errors()) return;  // one is enough to know the limit
    const auto number = static_cast<std::int32_t>(&m - program_.messages.data());
    const TaskBlock* from = block_at(program_, sender_of(program_, number));
    const TaskBlock* to = block_at(program_, receiver_of(program_, number));
    const std::string what = from ? fmt::format(" what '{}' makes", from->name) : "";
    const std::string whom = to ? fmt::format(", where '{}' reads it", to->name) : "";
    diags
        .error("E4043", from ? from->span : Span(),
               fmt::format("{}: core {} sends{} to core {}{}, {} away along {}, and heads have {} to {}", chip_.name,
                           at, what, core_at(m.to_core), whom, offset, axis, low, high))
        .help(fmt::format("in the chip's file limits/{} of {} suffices: cores on the way send the packets on",
                          offset < 0 ? "offset_min" : "offset_max", offset < 0 ? -1 : 1));
  }

  ChipProgram& program_;
  const Chip& chip_;
  NocRoutes routes_;
  BatchTurns turns_;
};

}  // namespace

Diags find_ways(ChipProgram& program) {
  WayFinder finder(program);
  finder.find();
  return std::move(finder.diags);
}

std::vector<ChipWay> ways_of(const ChipProgram& program) {
  std::vector<std::int32_t> next(program.messages.size(), ChipMessage::no_message);
  for (std::size_t m = 0; m < program.messages.size(); ++m)
    if (const std::int32_t before = program.messages[m].behind; before != ChipMessage::no_message)
      next.at(static_cast<std::size_t>(before)) = static_cast<std::int32_t>(m);
  auto place = [&](std::int32_t position, int other) {
    if (position != host_core) return static_cast<int>(program.cores[static_cast<std::size_t>(position)].core);
    return noc_host(other / program.width);
  };
  std::vector<ChipWay> ways;
  for (std::size_t first = 0; first < program.messages.size(); ++first) {
    const ChipMessage& sent = program.messages[first];
    if (sent.behind != ChipMessage::no_message || (sent.from_core == host_core && sent.to_core == host_core)) continue;
    ChipWay way{.message = static_cast<std::int32_t>(first), .source = 0, .legs = {}};
    for (std::int32_t m = way.message; m != ChipMessage::no_message; m = next[static_cast<std::size_t>(m)]) {
      const ChipMessage& part = program.messages[static_cast<std::size_t>(m)];
      for (const std::int32_t relay : part.relays) way.legs.push_back({.place = relay});
      way.legs.push_back({.place = place(part.to_core, place(part.from_core, 0)), .message = m});
    }
    way.source = place(sent.from_core, way.legs[0].place);
    ways.push_back(std::move(way));
  }
  return ways;
}

ChipFlows flows_of(const ChipProgram& program) {
  ChipFlows made;
  const std::vector<ChipWay> ways = ways_of(program);
  for (const ChipWay& way : ways) {
    made.copies.emplace_back();
    for (std::size_t leg = 1; leg < way.legs.size(); ++leg) made.copies.back().push_back(way.legs[leg].place);
  }
  for (std::size_t i = 0; i < ways.size(); ++i) {
    const ChipMessage& message = program.messages[static_cast<std::size_t>(ways[i].message)];
    NocFlow flow{.source = ways[i].source,
                 .target = ways[i].legs[0].place,
                 .begin = 0,
                 .span = message.packets,
                 .packets = message.packets,
                 .copies = made.copies[i]};
    if (message.from_core != host_core) {
      const ChipPhase& phase = program.cores[static_cast<std::size_t>(message.from_core)]
                                   .phases[static_cast<std::size_t>(message.from_phase)];
      const std::int64_t soma = phase.soma ? phase.soma->cycles : 0;
      flow.begin = computed_at(phase, program.chip->cycles.start) - soma;
      if (phase.soma) flow.span = std::max<std::int64_t>(1, soma);
    }
    made.flows.push_back(flow);
  }
  return made;
}

NocTraffic traffic_of(const ChipProgram& program) {
  return solve_noc(noc_figures(*program.chip, program.chips), flows_of(program).flows, NocModel::ideal).traffic;
}

}  // namespace taskspec
