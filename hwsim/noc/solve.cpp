// The choice among the models, and what they have in common.
#include <algorithm>

#include "hwsim/noc/engine.hpp"
#include "ir/base/diag.hpp"

namespace taskspec {

void NocCounts::add(const NocCounts& other) {
  auto add_to = [](std::vector<std::int64_t>& sums, const std::vector<std::int64_t>& counts) {
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += counts[i];
  };
  add_to(links, other.links), add_to(servers, other.servers), add_to(injected, other.injected);
}

NocTraffic NocCounts::traffic(const NocRoutes& routes) const {
  NocTraffic all;
  const NocFigures& figures = routes.figures();
  const std::size_t cores = static_cast<std::size_t>(routes.cores());
  const std::size_t first_ejection = routes.ejection(0);
  all.links = links;
  all.injected.assign(injected.begin(), injected.begin() + static_cast<std::ptrdiff_t>(cores));
  all.from_host.assign(injected.begin() + static_cast<std::ptrdiff_t>(cores), injected.end());
  for (std::size_t server = 0; server < servers.size(); ++server) {
    const std::int64_t count = servers[server];
    all.busiest = std::max(all.busiest, count * routes.server(server).service);
    if (routes.is_border(server)) {
      all.borders.push_back(count);
      all.crossings += count;
      if (figures.shape != NocShape::mesh) ((server - routes.links()) % 4 < 2 ? all.hops_x : all.hops_y) += count;
    } else if (server >= first_ejection) {
      (server - first_ejection < cores ? all.ejected : all.to_host).push_back(count);
      all.packets += count;
    }
  }
  for (std::size_t link = 0; link < links.size(); ++link)
    (figures.shape != NocShape::mesh || link % 4 < 2 ? all.hops_x : all.hops_y) += links[link];
  for (const auto* hosts : {&all.from_host, &all.to_host})
    for (const std::int64_t count : *hosts) all.hops_x += count;
  return all;
}

namespace {

void solve_by_engine(NocRun::Engine& engine, std::span<const NocFlow> flows, NocResult& result) {
  for (const NocFlow& flow : flows) engine.inject(flow);
  while (engine.next() != std::numeric_limits<std::int64_t>::max()) engine.step();
  engine.ledger.write(result);
  result.traffic = engine.counts.traffic(engine.routes);
}

void find_ends(NocResult& result) {
  if (result.arrivals.empty()) return;
  result.begin = std::numeric_limits<std::int64_t>::max();
  for (const NocTimes& times : result.departures) result.begin = std::min(result.begin, times.first);
  for (const LargeVector<NocTimes>* all : {&result.arrivals, &result.copies})
    for (const NocTimes& times : *all) result.end = std::max(result.end, times.last);
}

// What the choice of a model asks of the flows.
struct FlowSums {
  bool copies = false;
  double latest = 0, packets = 0;  // when the last packet is ready, and how many there are
};

FlowSums sums_of(std::span<const NocFlow> flows) {
  FlowSums sums;
  std::int64_t copies = 0;
  for (const NocFlow& flow : flows) {
    copies += static_cast<std::int64_t>(flow.copies.size());
    sums.latest = std::max(sums.latest, static_cast<double>(flow.begin) + static_cast<double>(flow.span));
    sums.packets += static_cast<double>(flow.packets);
  }
  sums.copies = copies > 0;
  return sums;
}

// Nothing comes later than if all packets were served one after the other at each server of the longest way.
bool fits_batch(const NocFigures& figures, const FlowSums& sums) {
  const double servers = figures.width() + figures.height() + 2;
  const std::int64_t service = std::max(figures.link_clk, figures.chip_packet_clk);
  const std::int64_t hop = std::max({figures.hop_x, figures.hop_y, figures.chip_hop_x, figures.chip_hop_y});
  return sums.latest + servers * (sums.packets * static_cast<double>(service) + static_cast<double>(hop)) <
         static_cast<double>(noc_batch_ticks);
}

}  // namespace

NocResult solve_noc(const NocFigures& figures, std::span<const NocFlow> flows, NocModel model) {
  if (flows.size() > 0x7fff'ffff) bug("more flows than the network can number");
  const bool mesh = figures.shape == NocShape::mesh;
  const FlowSums sums = sums_of(flows);
  NocResult result;
  if (model == NocModel::flit || model == NocModel::flit_all) {
    if (model == NocModel::flit || !mesh) {
      result = solve_noc(figures, flows, NocModel::contended);
      if (!mesh || !result.is_loaded()) return result;
    }
    result = NocResult();
    result.model = NocModel::flit_all;
    solve_by_engine(*noc_flit_engine(figures, false), flows, result);
  } else {
    const bool batch = mesh && !sums.copies && fits_batch(figures, sums);
    result.model = model == NocModel::contended && !batch ? NocModel::events : model;
    if (result.model == NocModel::contended)
      solve_noc_batch(NocRoutes(figures), flows, result);
    else if (result.model == NocModel::ideal && !sums.copies)
      solve_noc_ideal(NocRoutes(figures), flows, result);
    else
      solve_by_engine(*noc_event_engine(figures, model == NocModel::ideal, false), flows, result);
  }
  find_ends(result);
  return result;
}

// ---- step by step
// ----------------------------------------------------------------------------------------------------

NocRun::NocRun(const NocFigures& figures, NocModel model) {
  const bool knows_flits = figures.shape == NocShape::mesh;
  if (model != NocModel::flit_all || !knows_flits)
    networks_.push_back({noc_event_engine(figures, model == NocModel::ideal, true), {}});
  if ((model == NocModel::flit_all || model == NocModel::flit) && knows_flits)
    networks_.push_back({noc_flit_engine(figures, true), {}});
}
NocRun::~NocRun() = default;
NocRun::NocRun(NocRun&&) noexcept = default;
NocRun& NocRun::operator=(NocRun&&) noexcept = default;

int NocRun::inject(const NocFlow& flow, bool by_flits) {
  Network& network = by_flits ? networks_.back() : networks_.front();
  network.engine->inject(flow);
  network.flows.push_back(flows_);
  return flows_++;
}

std::optional<NocEvent> NocRun::next(std::int64_t until) {
  constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();
  while (true) {
    Network *steps = nullptr, *tells = nullptr;  // which of them is the next to do so
    std::int64_t tick = never, event = never;
    int flow = 0;  // of the event
    for (Network& network : networks_) {
      if (const std::int64_t at = network.engine->next(); at < tick) steps = &network, tick = at;
      const std::int64_t told = network.engine->ledger.next_event();
      if (told > event || told == never) continue;
      const int number = network.flows[static_cast<std::size_t>(network.engine->ledger.next_flow())];
      if (tells && told == event && number > flow) continue;
      tells = &network, event = told, flow = number;
    }
    // What happens at the tick of the event may bring another of that tick.
    if (steps && tick <= std::min(event, until)) {
      steps->engine->step();
    } else if (tells && event <= until) {
      NocEvent next = tells->engine->ledger.take_event();
      next.flow = flow;
      return next;
    } else {
      return std::nullopt;
    }
  }
}

NocTraffic NocRun::traffic() const {
  NocCounts all = networks_[0].engine->counts;
  for (std::size_t i = 1; i < networks_.size(); ++i) all.add(networks_[i].engine->counts);
  return all.traffic(networks_[0].engine->routes);
}

}  // namespace taskspec
