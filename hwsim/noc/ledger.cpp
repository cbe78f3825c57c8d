#include "hwsim/noc/ledger.hpp"

#include <tuple>

#include "ir/base/diag.hpp"

namespace taskspec {

std::uint32_t NocLedger::add(const NocRoutes& routes, const NocFlow& flow) {
  if (flow.begin < 0 || flow.span < 0 || flow.packets < 1) bug("a flow of the network has no packets, or no time");
  const std::uint32_t id = static_cast<std::uint32_t>(first_leg_.size());
  first_leg_.push_back(static_cast<std::uint32_t>(legs_.size()));
  departures_.emplace_back().left = flow.packets;
  auto add_leg = [&](int target) {
    legs_.push_back({routes.endpoint(target), {.left = flow.packets, .times = Count{}.times}});
  };
  add_leg(flow.target);
  for (const int copy : flow.copies) add_leg(copy);
  for (std::size_t leg = first_leg_.back(); leg + 1 < legs_.size(); ++leg)
    if (routes.is_host(legs_[leg].target)) bug("the host copies no packets");
  return id;
}

int NocLedger::legs(std::uint32_t flow) const {
  const std::size_t end = flow + 1 < first_leg_.size() ? first_leg_[flow + 1] : legs_.size();
  return static_cast<int>(end - first_leg_[flow]);
}

bool NocLedger::Later::operator()(const NocEvent& a, const NocEvent& b) const {
  return std::tuple(a.at(), a.flow, a.kind, a.leg) > std::tuple(b.at(), b.flow, b.kind, b.leg);
}

void NocLedger::complete(const Count& count, std::uint32_t flow, int leg) {
  if (count.left < 0) bug("more packets of a flow arrive than were sent");
  if (!tells_) return;
  NocEvent event{.flow = static_cast<int>(flow), .leg = std::max(leg, 0), .times = count.times};
  event.kind = leg < 0 ? NocEvent::Kind::sent : NocEvent::Kind::arrived;
  events_.push(event);
}

std::int64_t NocLedger::next_event() const {
  return events_.empty() ? std::numeric_limits<std::int64_t>::max() : events_.top().at();
}

NocEvent NocLedger::take_event() {
  const NocEvent event = events_.top();
  events_.pop();
  return event;
}

void NocLedger::write(NocResult& result) const {
  result.departures.clear(), result.arrivals.clear(), result.copies.clear();
  for (std::uint32_t flow = 0; flow < first_leg_.size(); ++flow) {
    if (departures_[flow].left > 0) bug("packets of a flow were never sent");
    result.departures.push_back(departures_[flow].times);
    for (int i = 0; i < legs(flow); ++i) {
      const Count& arrival = legs_[first_leg_[flow] + static_cast<std::size_t>(i)].arrival;
      if (arrival.left > 0) bug("packets of a flow were lost");
      (i == 0 ? result.arrivals : result.copies).push_back(arrival.times);
    }
  }
}

}  // namespace taskspec
