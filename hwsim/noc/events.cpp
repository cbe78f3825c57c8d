// `ideal` and `contended` by a queue of events: traffic that is not known beforehand, copies, buses and trees.
#include <algorithm>
#include <tuple>

#include "hwsim/noc/engine.hpp"
#include "hwsim/noc/injection.hpp"
#include "hwsim/noc/tick_queue.hpp"
#include "ir/base/diag.hpp"

namespace taskspec {

namespace {

// Packets of one head in a row, on their way.
struct NocSegment {
  std::uint32_t flow = 0;
  std::int32_t leg = 0;
  std::int32_t from = 0, to = 0;  // endpoints of this leg
  std::uint32_t sequence = 0;     // of the source
  std::int32_t packets = 0, hop = 0;
};

struct NocArriving {
  std::uint64_t order;  // port, source, sequence
  std::uint32_t server, segment;
  friend bool operator<(const NocArriving& a, const NocArriving& b) {
    return a.server != b.server ? a.server < b.server : a.order < b.order;
  }
};

// What waits before an injection port: a flow with its next packets, or copies that came in.
struct NocWaiting {
  std::int64_t ready = 0;
  std::uint32_t flow = 0;
  std::int32_t leg = 0;
  std::int64_t packets = 0;  // of copies
  static bool later(const NocWaiting& a, const NocWaiting& b) {
    return std::tie(a.ready, a.flow, a.leg) > std::tie(b.ready, b.flow, b.leg);
  }
};

struct NocInjector {
  std::vector<NocWaiting> waiting;  // a heap, the next one in front
  std::int64_t free = 0;
  std::int64_t wakes = TickQueue<int>::never;  // the tick for which it is queued; earlier entries are stale
  std::uint32_t sequence = 0;

  void add(const NocWaiting& item) {
    waiting.push_back(item);
    std::push_heap(waiting.begin(), waiting.end(), NocWaiting::later);
  }
  NocWaiting take() {
    std::pop_heap(waiting.begin(), waiting.end(), NocWaiting::later);
    const NocWaiting first = waiting.back();
    waiting.pop_back();
    return first;
  }
};

class EventEngine final : public NocRun::Engine {
 public:
  EventEngine(const NocFigures& figures, bool ideal, bool tells)
      : Engine(figures, tells),
        ideal_(ideal),
        link_clk_(figures.link_clk),
        burst_(figures.burst),
        free_(routes.servers()),
        injectors_(static_cast<std::size_t>(routes.endpoints())) {}

  std::uint32_t inject(const NocFlow& flow) override {
    const std::uint32_t id = ledger.add(routes, flow);
    departures_.emplace_back(flow);
    if (departures_.back().ready() < now_) bug("a flow of the network begins in its past");
    wait_at(routes.endpoint(flow.source), {.ready = departures_.back().ready(), .flow = id});
    return id;
  }

  std::int64_t next() const override { return std::min(wakes_.next(), arriving_.next()); }

  void step() override {
    now_ = next();
    // First what leaves now, because it may be at its first link at once.
    if (wakes_.next() == now_)
      for (const int endpoint : wakes_.take(now_)) leave(endpoint);
    if (arriving_.next() != now_) return;
    std::vector<NocArriving>& arriving = arriving_.take(now_);
    std::sort(arriving.begin(), arriving.end());
    for (const NocArriving& one : arriving) serve(one);
  }

 private:
  // An endpoint of cores and hosts.
  NocInjector& injector(int endpoint) { return injectors_[static_cast<std::size_t>(endpoint)]; }

  void wait_at(int endpoint, const NocWaiting& waiting) {
    injector(endpoint).add(waiting);
    wake(endpoint);
  }

  void wake(int endpoint) {
    NocInjector& port = injector(endpoint);
    if (port.waiting.empty()) return;
    const std::int64_t at = std::max(port.free, port.waiting.front().ready);
    if (at >= port.wakes) return;
    port.wakes = at;
    wakes_.push(at, endpoint);
  }

  void leave(int endpoint) {
    NocInjector& port = injector(endpoint);
    if (port.wakes != now_) return;
    port.wakes = TickQueue<int>::never;
    NocWaiting next = port.take();
    std::int64_t packets = next.packets;
    if (next.leg == 0) {
      NocDepartures& flow = departures_[next.flow];
      packets = flow.take(now_, link_clk_, burst_);
      if (flow.left() > 0) port.add({.ready = flow.ready(), .flow = next.flow});
      ledger.sent(next.flow, {now_, packets, link_clk_});
    }
    port.free = now_ + packets * link_clk_;
    counts.injected[static_cast<std::size_t>(endpoint)] += packets;
    NocSegment segment{.flow = next.flow, .leg = next.leg, .from = endpoint, .sequence = port.sequence++};
    segment.to = ledger.target(next.flow, next.leg);
    segment.packets = static_cast<std::int32_t>(packets);
    if (ideal_)
      cross(segment, now_);
    else
      arrive(now_ + routes.entry(endpoint), add_segment(segment));
    wake(endpoint);
  }

  std::uint32_t add_segment(const NocSegment& segment) {
    if (unused_.empty()) {
      segments_.push_back(segment);
      return static_cast<std::uint32_t>(segments_.size() - 1);
    }
    const std::uint32_t id = unused_.back();
    unused_.pop_back();
    segments_[id] = segment;
    return id;
  }

  void arrive(std::int64_t at, std::uint32_t id) {
    const NocSegment& segment = segments_[id];
    const NocHop hop = routes.hop(segment.from, segment.to, segment.hop);
    if (hop.link != NocHop::no_link) counts.links[hop.link] += segment.packets;
    const std::uint64_t order = std::uint64_t{static_cast<std::uint8_t>(hop.port)} << 56 |
                                std::uint64_t{static_cast<std::uint32_t>(segment.from)} << 32 | segment.sequence;
    arriving_.push(at, {order, hop.server, id});
  }

  void serve(const NocArriving& one) {
    NocSegment& segment = segments_[one.segment];
    const NocServer& server = routes.server(one.server);
    const std::int64_t start = std::max(now_, free_[one.server]), n = segment.packets;
    free_[one.server] = start + n * server.service;
    counts.servers[one.server] += n;
    const std::int64_t out = start + server.latency;
    if (one.server >= routes.ejection(0)) {
      const NocSegment gone = segment;
      unused_.push_back(one.segment);
      arrived(gone, {out, n, link_clk_});
      return;
    }
    ++segment.hop;
    if (n == 1 || server.service == link_clk_) return arrive(out, one.segment);
    // A border spreads them: from here on each packet goes by itself.
    NocSegment single = segment;
    single.packets = 1;
    segment.packets = 1;
    arrive(out, one.segment);
    for (std::int64_t i = 1; i < n; ++i) arrive(out + i * server.service, add_segment(single));
  }

  void arrived(const NocSegment& segment, const NocPart& part) {
    ledger.arrived(segment.flow, segment.leg, part);
    if (segment.leg + 1 < ledger.legs(segment.flow))
      wait_at(segment.to,
              {.ready = part.first + 1, .flow = segment.flow, .leg = segment.leg + 1, .packets = part.packets});
  }

  // The ideal network: a latency for each leg, and copies that leave when they come.
  void cross(const NocSegment& segment, std::int64_t at) {
    int from = segment.from;
    for (int leg = 0; leg < ledger.legs(segment.flow); ++leg) {
      const int to = ledger.target(segment.flow, leg);
      if (leg > 0) {
        ++at;
        counts.injected[static_cast<std::size_t>(from)] += segment.packets;
      }
      for (int i = 0; i <= routes.hops(from, to); ++i) {
        const NocHop hop = routes.hop(from, to, i);
        if (hop.link != NocHop::no_link) counts.links[hop.link] += segment.packets;
        counts.servers[hop.server] += segment.packets;
      }
      at += routes.latency(from, to);
      ledger.arrived(segment.flow, leg, {at, segment.packets, link_clk_});
      from = to;
    }
  }

  bool ideal_;
  std::int64_t link_clk_, burst_, now_ = 0;
  std::vector<std::int64_t> free_;  // of each server
  std::vector<NocInjector> injectors_;
  std::vector<NocDepartures> departures_;  // of each flow
  std::vector<NocSegment> segments_;
  std::vector<std::uint32_t> unused_;  // of segments_
  TickQueue<int> wakes_;
  TickQueue<NocArriving> arriving_;
};

}  // namespace

std::unique_ptr<NocRun::Engine> noc_event_engine(const NocFigures& figures, bool ideal, bool tells) {
  return std::make_unique<EventEngine>(figures, ideal, tells);
}

}  // namespace taskspec
