// The network cycle by cycle, a program of its own that shares no rule of time with events.cpp and batch.cpp: routers
// with buffered inputs, virtual channels, credits, and separable input-first round-robin allocation. A packet is one
// flit, because a link takes one per link_clk; so whatever a wormhole holds together holds trivially.
//
// In one tick: credits and flits arrive; injection ports fill the channels of their router's input; every input chooses
// one of its channels whose flit could leave, every output one of the inputs that chose it; those flits leave, and are
// at the next router hop ticks later. What found no partner tries once more. Decisions see only what was there when the
// tick began, so the order of routers is of no matter. Borders between chips choose among the rows that won an output
// to them.
#include <algorithm>
#include <bit>
#include <tuple>

#include "hwsim/noc/engine.hpp"
#include "hwsim/noc/tick_queue.hpp"
#include "ir/base/diag.hpp"

namespace taskspec {

namespace {

constexpr int sides = 4;  // before the ports of the cores, in and out
// Of allocation in one tick. With one, inputs that chose an output in vain stay idle: a mesh of 4 x 4 that is loaded to
// 70 % then takes up to a tenth longer than its links must.
constexpr int rounds = 2;

struct Flit {
  std::uint32_t flow = 0;
  std::int32_t leg = 0;
  std::int32_t to = 0;   // endpoint
  std::int32_t out = 0;  // of the router where it is: chosen ahead, by the router before
};

// A channel's place for flits: a ring.
struct FlitRing {
  std::uint32_t first = 0, count = 0;
};

// One input of a router, and what its sender knows of it.
struct FlitInput {
  std::uint32_t filled = 0;     // channels with a flit, a bit each
  std::uint32_t next = 0;       // channel that is asked first
  std::int64_t busy = 0;        // until then it hands on a flit
  std::uint32_t can_send = 0;   // channels with credit, a bit each
  std::uint32_t next_send = 0;  // channel that is filled first
};

struct FlitOutput {
  std::int64_t busy = 0;
  std::uint32_t next = 0;   // input that is asked first
  std::int32_t input = -1;  // of the next router, over all; -1 into a core or the host
  std::int32_t border = -1;
  std::int32_t endpoint = -1;  // that it ejects to
  std::uint32_t link = NocHop::no_link;
  std::uint32_t server = 0;
  std::int64_t hop = 0;
};

struct FlitBorder {
  std::int64_t busy = 0;
  std::int64_t service = 1;
  std::uint32_t next = 0;  // router that is asked first
};

struct FlitLanding {
  std::int32_t input, channel;
  Flit flit;
};
struct FlitCredit {
  std::int32_t input, channel;
};

// A choice: what would leave.
struct FlitGrant {
  std::int32_t router, input, channel, output;
};

struct FlitWaiting {
  std::int64_t ready = 0;
  std::uint32_t flow = 0;
  std::int32_t leg = 0;
  static bool later(const FlitWaiting& a, const FlitWaiting& b) {
    return std::tie(a.ready, a.flow, a.leg) > std::tie(b.ready, b.flow, b.leg);
  }
};

// What waits outside of an injection port, without limit.
struct FlitSource {
  std::vector<FlitWaiting> waiting;  // a heap
  std::int64_t busy = 0;
  bool awake = false;
  std::int32_t input = 0;
};

class FlitEngine final : public NocRun::Engine {
 public:
  FlitEngine(const NocFigures& figures, bool tells)
      : Engine(figures, tells),
        vcs_(figures.vcs),
        depth_(static_cast<std::uint32_t>(figures.vc_depth)),
        link_clk_(figures.link_clk),
        ports_(sides + figures.cores_per_router) {
    if (ports_ > 32) bug("a router has more cores than flits can choose from");
    const std::size_t routers = static_cast<std::size_t>(routes.routers_x() * routes.routers_y());
    const std::uint32_t all = vcs_ == 32 ? ~0U : (1U << vcs_) - 1;
    inputs_.assign(routers * static_cast<std::size_t>(ports_), {.can_send = all});
    outputs_.resize(inputs_.size());
    rings_.resize(inputs_.size() * static_cast<std::size_t>(vcs_));
    flits_.resize(rings_.size() * depth_);
    used_.assign(rings_.size(), 0);
    held_.assign(routers, 0);
    chosen_.assign(static_cast<std::size_t>(ports_), -1);
    sources_.resize(static_cast<std::size_t>(routes.endpoints()));
    join_routers();
    for (int i = 0; i < figures.chips_x * figures.chips_y * sides; ++i)
      borders_.push_back({.service = routes.server(routes.border(0, NocSide::east)).service});
  }

  std::uint32_t inject(const NocFlow& flow) override {
    const std::uint32_t id = ledger.add(routes, flow);
    flows_.push_back({flow.begin, flow.span, flow.packets, 0});
    if (flows_.back().ready() <= now_) bug("a flow of the network begins in its past");
    wait_at(routes.endpoint(flow.source), {.ready = flows_.back().ready(), .flow = id});
    return id;
  }

  std::int64_t next() const override {
    if (!active_.empty() || !awake_.empty()) return now_ + 1;
    return std::min({landings_.next(), credits_.next(), wakes_.next()});
  }

  void step() override {
    now_ = next();
    if (credits_.next() == now_)
      for (const FlitCredit& credit : credits_.take(now_)) give_credit(credit);
    if (landings_.next() == now_)
      for (const FlitLanding& landing : landings_.take(now_)) put(landing.input, landing.channel, landing.flit);
    if (wakes_.next() == now_)
      for (const int endpoint : wakes_.take(now_)) {
        FlitSource& source = sources_[static_cast<std::size_t>(endpoint)];
        if (source.awake) continue;
        source.awake = true;
        awake_.push_back(endpoint);
      }
    std::erase_if(awake_,
                  [&](int endpoint) { return !(sources_[static_cast<std::size_t>(endpoint)].awake = send(endpoint)); });
    for (const int router : active_) allocate(router);
    for (const FlitGrant& grant : to_borders_) cross_border(grant);
    to_borders_.clear();
    std::erase_if(active_, [&](int router) { return held_[static_cast<std::size_t>(router)] == 0; });
  }

 private:
  struct Departing {
    std::int64_t begin, span, packets, gone;
    std::int64_t ready() const { return begin + ((gone + 1) * span + packets - 1) / packets; }
  };

  std::int32_t port(int x, int y, int i) const { return (y * routes.routers_x() + x) * ports_ + i; }
  static int side(NocSide s) { return static_cast<int>(s); }

  void join_routers() {
    const NocFigures& f = routes.figures();
    for (int y = 0; y < routes.routers_y(); ++y)
      for (int x = 0; x < routes.routers_x(); ++x)
        for (int s = 0; s < sides; ++s) {
          const int next_x = x + (s == side(NocSide::east)) - (s == side(NocSide::west));
          const int next_y = y + (s == side(NocSide::south)) - (s == side(NocSide::north));
          if (next_x < 0 || next_x >= routes.routers_x() || next_y < 0 || next_y >= routes.routers_y()) continue;
          FlitOutput& out = outputs_[static_cast<std::size_t>(port(x, y, s))];
          out.input = port(next_x, next_y, side(opposite(static_cast<NocSide>(s))));
          out.link = static_cast<std::uint32_t>((y * routes.routers_x() + x) * sides + s);
          out.server = routes.server_of_link(out.link);
          out.hop = s < 2 ? f.hop_x : f.hop_y;
          if (out.server == out.link) continue;
          out.border = static_cast<std::int32_t>(out.server - routes.border(0, NocSide::east));
          out.hop = s < 2 ? f.chip_hop_x : f.chip_hop_y;
        }
    for (int endpoint = 0; endpoint < routes.endpoints(); ++endpoint) {
      // The host uses what is free at the west of column 0.
      const int i = routes.is_host(endpoint) ? side(NocSide::west) : local(endpoint);
      const std::int32_t place = port(routes.x(endpoint), routes.y(endpoint), i);
      FlitOutput& out = outputs_[static_cast<std::size_t>(place)];
      out.endpoint = endpoint;
      out.server = routes.ejection(endpoint);
      out.hop = routes.is_host(endpoint) ? f.hop_x : 0;
      sources_[static_cast<std::size_t>(endpoint)].input = place;
    }
  }

  int local(int core) const { return sides + core % routes.figures().cores_per_router; }

  // Look-ahead: the output at router (x, y) of a packet to that endpoint.
  int output_at(int x, int y, int to) const {
    const int tx = routes.x(to), ty = routes.y(to);
    const int along_x = tx > x ? side(NocSide::east) : side(NocSide::west);
    const int along_y = ty > y ? side(NocSide::south) : side(NocSide::north);
    if (routes.figures().order == NocOrder::x_first) {
      if (tx != x) return along_x;
      if (ty != y) return along_y;
    } else {
      if (ty != y) return along_y;
      if (tx != x) return along_x;
    }
    return routes.is_host(to) ? side(NocSide::west) : local(to);
  }

  std::size_t ring(int input, int channel) const { return static_cast<std::size_t>(input * vcs_ + channel); }

  void put(int input, int channel, const Flit& flit) {
    FlitRing& r = rings_[ring(input, channel)];
    if (r.count == depth_) bug("a flit came without credit");
    flits_[ring(input, channel) * depth_ + (r.first + r.count) % depth_] = flit;
    ++r.count;
    inputs_[static_cast<std::size_t>(input)].filled |= 1U << channel;
    const int router = input / ports_;
    if (held_[static_cast<std::size_t>(router)]++ == 0) active_.push_back(router);
  }

  // The sender's side of a channel: how many flits it has there that it has not got back.
  void give_credit(const FlitCredit& credit) {
    --used_[ring(credit.input, credit.channel)];
    inputs_[static_cast<std::size_t>(credit.input)].can_send |= 1U << credit.channel;
  }
  int take_credit(int input) {
    FlitInput& in = inputs_[static_cast<std::size_t>(input)];
    const int channel = round_robin(in.can_send, in.next_send);
    in.next_send = static_cast<std::uint32_t>(channel + 1) % static_cast<std::uint32_t>(vcs_);
    if (++used_[ring(input, channel)] == depth_) in.can_send &= ~(1U << channel);
    return channel;
  }

  // The first set bit from `first` on, around the end; there is one.
  static int round_robin(std::uint32_t bits, std::uint32_t first) {
    const std::uint32_t behind = bits >> first << first;
    return std::countr_zero(behind != 0 ? behind : bits);
  }

  // ---- injection ----------------------------------------------------------------------------------------------------

  void wait_at(int endpoint, const FlitWaiting& waiting) {
    FlitSource& source = sources_[static_cast<std::size_t>(endpoint)];
    source.waiting.push_back(waiting);
    std::push_heap(source.waiting.begin(), source.waiting.end(), FlitWaiting::later);
    if (!source.awake) wakes_.push(std::max(source.busy, source.waiting.front().ready), endpoint);
  }

  // Whether it must be asked again at the next tick.
  bool send(int endpoint) {
    FlitSource& source = sources_[static_cast<std::size_t>(endpoint)];
    if (source.waiting.empty()) return false;
    const std::int64_t at = std::max(source.busy, source.waiting.front().ready);
    if (at > now_) {
      wakes_.push(at, endpoint);
      return false;
    }
    if (inputs_[static_cast<std::size_t>(source.input)].can_send == 0) return true;
    std::pop_heap(source.waiting.begin(), source.waiting.end(), FlitWaiting::later);
    const FlitWaiting next = source.waiting.back();
    source.waiting.pop_back();
    if (next.leg == 0) {
      Departing& flow = flows_[next.flow];
      if (++flow.gone < flow.packets) {
        source.waiting.push_back({.ready = flow.ready(), .flow = next.flow});
        std::push_heap(source.waiting.begin(), source.waiting.end(), FlitWaiting::later);
      }
      ledger.sent(next.flow, {.first = now_});
    }
    ++counts.injected[static_cast<std::size_t>(endpoint)];
    source.busy = now_ + link_clk_;
    Flit flit{.flow = next.flow, .leg = next.leg, .to = ledger.target(next.flow, next.leg)};
    flit.out = output_at(routes.x(endpoint), routes.y(endpoint), flit.to);
    const int channel = take_credit(source.input);
    const std::int64_t entry = routes.entry(endpoint);
    if (entry > 0)
      landings_.push(now_ + entry, {source.input, channel, flit});
    else
      put(source.input, channel, flit);
    return true;
  }

  // ---- a router -----------------------------------------------------------------------------------------------------

  bool could_leave(const FlitOutput& out) const {
    if (out.busy > now_) return false;
    if (out.border >= 0 && borders_[static_cast<std::size_t>(out.border)].busy > now_) return false;
    return out.input < 0 || inputs_[static_cast<std::size_t>(out.input)].can_send != 0;
  }

  void allocate(int router) {
    const int base = router * ports_;
    std::uint64_t open = 0;  // outputs
    for (int i = 0; i < ports_; ++i)
      if (could_leave(outputs_[static_cast<std::size_t>(base + i)])) open |= std::uint64_t{1} << i;
    std::uint64_t idle = 0;  // inputs
    for (int i = 0; i < ports_; ++i)
      if (inputs_[static_cast<std::size_t>(base + i)].busy <= now_) idle |= std::uint64_t{1} << i;
    for (int round = 0; round < rounds && choose(base, idle, open); ++round) grant(router, idle, open);
  }

  // Inputs first: every idle one chooses a channel whose flit wants an open output. False: none did.
  bool choose(int base, std::uint64_t idle, std::uint64_t open) {
    bool any = false;
    asked_.assign(static_cast<std::size_t>(ports_), 0);
    for (; idle != 0; idle &= idle - 1) {
      const int i = std::countr_zero(idle);
      const FlitInput& in = inputs_[static_cast<std::size_t>(base + i)];
      for (std::uint32_t left = in.filled; left != 0;) {
        const int channel = round_robin(left, in.next), out = front(base + i, channel).out;
        if (open >> out & 1) {
          chosen_[static_cast<std::size_t>(i)] = channel;
          asked_[static_cast<std::size_t>(out)] |= 1U << i;
          any = true;
          break;
        }
        left &= ~(1U << channel);
      }
    }
    return any;
  }

  // Then outputs: each takes one of the inputs that chose it.
  void grant(int router, std::uint64_t& idle, std::uint64_t& open) {
    const int base = router * ports_;
    for (int out = 0; out < ports_; ++out) {
      const std::uint32_t inputs = asked_[static_cast<std::size_t>(out)];
      if (inputs == 0) continue;
      const FlitOutput& output = outputs_[static_cast<std::size_t>(base + out)];
      const int input = round_robin(inputs, output.next);
      idle &= ~(std::uint64_t{1} << input), open &= ~(std::uint64_t{1} << out);
      const FlitGrant grant{router, base + input, chosen_[static_cast<std::size_t>(input)], base + out};
      if (output.border >= 0)
        to_borders_.push_back(grant);
      else
        leave(grant);
    }
  }

  Flit& front(int input, int channel) {
    const std::size_t r = ring(input, channel);
    return flits_[r * depth_ + rings_[r].first];
  }

  // Of the routers along a border the first from its pointer on; each is asked once, with all that want the border.
  void cross_border(const FlitGrant& grant) {
    const std::int32_t wanted = outputs_[static_cast<std::size_t>(grant.output)].border;
    FlitBorder& border = borders_[static_cast<std::size_t>(wanted)];
    if (border.busy > now_) return;
    const FlitGrant* first = nullptr;
    auto distance = [&](const FlitGrant& g) { return static_cast<std::uint32_t>(g.router) - border.next; };  // wraps
    for (const FlitGrant& other : to_borders_)
      if (outputs_[static_cast<std::size_t>(other.output)].border == wanted)
        if (!first || distance(other) < distance(*first)) first = &other;
    border.busy = now_ + border.service;
    border.next = static_cast<std::uint32_t>(first->router) + 1;
    leave(*first);
  }

  void leave(const FlitGrant& grant) {
    FlitInput& in = inputs_[static_cast<std::size_t>(grant.input)];
    FlitOutput& out = outputs_[static_cast<std::size_t>(grant.output)];
    FlitRing& r = rings_[ring(grant.input, grant.channel)];
    Flit flit = front(grant.input, grant.channel);
    r.first = (r.first + 1) % depth_;
    if (--r.count == 0) in.filled &= ~(1U << grant.channel);
    --held_[static_cast<std::size_t>(grant.router)];
    in.busy = out.busy = now_ + link_clk_;
    in.next = static_cast<std::uint32_t>(grant.channel + 1) % static_cast<std::uint32_t>(vcs_);
    out.next = static_cast<std::uint32_t>(grant.input % ports_ + 1) % static_cast<std::uint32_t>(ports_);
    credits_.push(now_ + 1, {grant.input, grant.channel});
    ++counts.servers[out.server];
    if (out.endpoint >= 0) {
      ledger.arrived(flit.flow, flit.leg, {.first = now_ + out.hop});
      if (flit.leg + 1 < ledger.legs(flit.flow))
        wait_at(flit.to, {.ready = now_ + out.hop + 1, .flow = flit.flow, .leg = flit.leg + 1});
      return;
    }
    ++counts.links[out.link];
    const int next = out.input / ports_;
    flit.out = output_at(next % routes.routers_x(), next / routes.routers_x(), flit.to);
    landings_.push(now_ + out.hop, {out.input, take_credit(out.input), flit});
  }

  int vcs_;
  std::uint32_t depth_;
  std::int64_t link_clk_, now_ = -1;
  int ports_;  // of a router: sides, then its cores
  std::vector<FlitInput> inputs_;
  std::vector<FlitOutput> outputs_;
  std::vector<FlitBorder> borders_;
  std::vector<FlitRing> rings_;      // of each input and channel
  std::vector<Flit> flits_;          // of each ring
  std::vector<std::uint32_t> used_;  // of each ring: credits taken
  std::vector<std::uint32_t> held_;  // flits in each router
  std::vector<int> active_;          // routers with flits
  std::vector<FlitSource> sources_;
  std::vector<int> awake_;  // of sources_
  std::vector<Departing> flows_;
  std::vector<FlitGrant> to_borders_;
  std::vector<int> chosen_;           // by input of a router
  std::vector<std::uint32_t> asked_;  // by output
  TickQueue<FlitLanding> landings_;
  TickQueue<FlitCredit> credits_;
  TickQueue<int> wakes_;
};

}  // namespace

std::unique_ptr<NocRun::Engine> noc_flit_engine(const NocFigures& figures, bool tells) {
  return std::make_unique<FlitEngine>(figures, tells);
}

}  // namespace taskspec
