// What the two simulators in time share: flows and their events, and counts of packets. No rule of time is here.
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "hwsim/noc/ledger.hpp"
#include "hwsim/noc/routes.hpp"

namespace taskspec {

// Packets by place.
struct NocCounts {
  explicit NocCounts(const NocRoutes& routes)
      : links(routes.links()), servers(routes.servers()), injected(static_cast<std::size_t>(routes.endpoints())) {}
  std::vector<std::int64_t> links, servers, injected;  // by link, by server, by endpoint
  void add(const NocCounts& other);  // of a network of the same shape
  NocTraffic traffic(const NocRoutes& routes) const;
};

struct NocRun::Engine {
  Engine(const NocFigures& figures, bool tells) : routes(figures), ledger(tells), counts(routes) {}
  virtual ~Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  virtual std::uint32_t inject(const NocFlow& flow) = 0;
  virtual std::int64_t next() const = 0;  // the next tick at which something happens
  virtual void step() = 0;                // that tick

  NocRoutes routes;
  NocLedger ledger;
  NocCounts counts;
};

std::unique_ptr<NocRun::Engine> noc_event_engine(const NocFigures& figures, bool ideal, bool tells);
std::unique_ptr<NocRun::Engine> noc_flit_engine(const NocFigures& figures, bool tells);
// Meshes without copies, link by link; the same times as those of the engine. Nothing may come at that tick or later.
constexpr std::int64_t noc_batch_ticks = std::int64_t{1} << 46;
void solve_noc_batch(const NocRoutes& routes, std::span<const NocFlow> flows, NocResult& result);
// Any shape, without copies.
void solve_noc_ideal(const NocRoutes& routes, std::span<const NocFlow> flows, NocResult& result);

}  // namespace taskspec
