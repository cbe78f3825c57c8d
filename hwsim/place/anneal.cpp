// Annealing: a vertex goes to another core of its chip, or changes places with the one there. Half of the moves try a
// core beside one that the vertex talks to. A move is refused before its routes are looked at where the hops alone say
// so. Everything that decides is a whole number or a double made by + and *, so that it is the same on every machine.
#include <bit>

#include "hwsim/place/links.hpp"
#include "ir/base/random.hpp"

namespace taskspec {

namespace {

constexpr std::int64_t moves_per_core = 200, most_moves = 2'000'000;

class Annealing {
 public:
  Annealing(const PlaceProblem& problem, const PlaceNet& net, Placement& placed)
      : problem_(problem), net_(net), placed_(placed), routers_(problem), loads_(routers_, problem.y_first) {
    chip_width_ = problem.chip_width > 0 ? problem.chip_width : problem.width;
    chip_height_ = problem.chip_height > 0 ? problem.chip_height : problem.height;
    chips_across_ = (problem.width + chip_width_ - 1) / chip_width_;
    const std::int32_t chips = chips_across_ * ((problem.height + chip_height_ - 1) / chip_height_);
    cores_of_chip_.resize(static_cast<std::size_t>(chips));
    at_.assign(static_cast<std::size_t>(problem.width) * static_cast<std::size_t>(problem.height), taken);
    for (const std::int32_t core : cores_to_take(problem)) at_[static_cast<std::size_t>(core)] = nobody;
    for (std::int32_t v = 0; v < problem.vertices; ++v) {
      const bool is_fixed = fixed_core(problem, v) >= 0;
      at_[static_cast<std::size_t>(core_of(v))] = is_fixed ? taken : v;
      if (!is_fixed) movable_.push_back(v);
    }
    for (std::size_t core = 0; core < at_.size(); ++core)
      if (at_[core] != taken)
        cores_of_chip_[chip_of(static_cast<std::int32_t>(core))].push_back(static_cast<std::int32_t>(core));
    for (const PlaceEdge& edge : net.edges) loads_.add(core_of(edge.from), core_of(edge.to), edge.packets);
    for (std::int32_t v = 0; v < problem.vertices; ++v) loads_.add(core_of(v), host_packets(problem, v), 1);
  }

  void run() {
    const std::int64_t cores = static_cast<std::int64_t>(cores_to_take(problem_).size());
    const std::int64_t moves = problem_.moves >= 0 ? problem_.moves : std::min(most_moves, moves_per_core * cores);
    if (movable_.empty() || (net_.edges.empty() && problem_.host.empty())) return;
    const double typical = typical_change();
    best_ = placed_.cost;
    // First hot, which finds the best of few cores; then from the best so far on, cooler, which mends a good placement
    // of many without giving it up.
    const std::int64_t hot = moves / 3;
    cool(0, hot, typical, 6);
    cool(hot, moves, typical / 8, 10);
    placed_.moves = moves;
  }

 private:
  static constexpr std::int32_t nobody = -1, taken = -2;

  // From a temperature on, which is halved so often; ends with the best there was.
  void cool(std::int64_t begin, std::int64_t end, double hottest, int halvings) {
    for (std::int64_t move = begin; move < end; ++move) {
      const double cooled =
          static_cast<double>(halvings) * static_cast<double>(move - begin) / static_cast<double>(end - begin);
      const int whole = static_cast<int>(cooled);
      const double left = 1 - (cooled - whole) / 2;  // between two powers of two a line: no function of a library
      try_move(move, hottest * left / static_cast<double>(std::int64_t{1} << whole));
    }
    while (!since_best_.empty()) {
      const auto [vertex, core] = since_best_.back();
      since_best_.pop_back();
      exchange(vertex, core);
    }
    placed_.cost = best_;
  }

  std::int32_t core_of(std::int32_t vertex) const { return placed_.core_of[static_cast<std::size_t>(vertex)]; }
  std::size_t chip_of(std::int32_t core) const {
    const std::int32_t x = core % problem_.width / chip_width_, y = core / problem_.width / chip_height_;
    return static_cast<std::size_t>(y * chips_across_ + x);
  }
  static std::size_t below(std::uint32_t word, std::size_t count) {
    return static_cast<std::size_t>(std::uint64_t{word} * count >> 32);
  }
  PhiloxBlock words(std::int64_t move, std::uint32_t use) const {
    return philox({static_cast<std::uint32_t>(move), static_cast<std::uint32_t>(move >> 32), use, 0},
                  philox_key(problem_.seed));
  }

  struct Proposal {
    std::int32_t vertex = 0, core = 0, other = nobody;
  };
  // `core` is where the vertex is: no move.
  Proposal proposal(const PhiloxBlock& word) const {
    const std::int32_t vertex = movable_[below(word[0], movable_.size())];
    const std::int32_t here = core_of(vertex);
    const auto v = static_cast<std::size_t>(vertex);
    const auto degree = static_cast<std::size_t>(net_.begin[v + 1] - net_.begin[v]);
    std::int32_t core = here;
    if (word[1] % 2 == 0 && degree > 0) {
      const std::size_t k = static_cast<std::size_t>(net_.begin[v]) + below(word[1], degree);
      const PlaceEdge& edge = net_.edges[static_cast<std::size_t>(net_.at[k])];
      const std::int32_t friend_core = core_of(edge.from == vertex ? edge.to : edge.from);
      const auto step = static_cast<std::int32_t>(below(word[2], 9));
      const std::int32_t x = friend_core % problem_.width + step % 3 - 1,
                         y = friend_core / problem_.width + step / 3 - 1;
      if (x >= 0 && x < problem_.width && y >= 0 && y < problem_.height) core = y * problem_.width + x;
    } else {
      const std::vector<std::int32_t>& cores = cores_of_chip_[chip_of(here)];
      core = cores[below(word[2], cores.size())];
    }
    const std::int32_t other = at_[static_cast<std::size_t>(core)];
    if (other == taken || core == here || chip_of(core) != chip_of(here)) return {vertex, here, nobody};
    return {vertex, core, other};
  }

  // Visits each edge at one of the two once.
  template <class Visit>
  void each_edge(std::int32_t vertex, std::int32_t other, Visit visit) const {
    for (const std::int32_t end : {vertex, other}) {
      if (end < 0) continue;
      const auto v = static_cast<std::size_t>(end);
      for (std::int32_t k = net_.begin[v]; k < net_.begin[v + 1]; ++k) {
        const PlaceEdge& edge = net_.edges[static_cast<std::size_t>(net_.at[static_cast<std::size_t>(k)])];
        if (end == other && (edge.from == vertex || edge.to == vertex)) continue;
        visit(edge);
      }
    }
  }

  struct Change {
    std::int64_t hops = 0, packets = 0;
  };
  Change change(const Proposal& p) const {
    Change sum;
    const std::int32_t here = core_of(p.vertex);
    const auto after = [&](std::int32_t v) { return v == p.vertex ? p.core : v == p.other ? here : core_of(v); };
    each_edge(p.vertex, p.other, [&](const PlaceEdge& edge) {
      const std::int64_t before = routers_.hops(core_of(edge.from), core_of(edge.to));
      sum.hops += edge.packets * (routers_.hops(after(edge.from), after(edge.to)) - before);
      sum.packets += edge.packets;
    });
    for (const std::int32_t vertex : {p.vertex, p.other}) {
      if (vertex < 0) continue;
      const HostPackets host = host_packets(problem_, vertex);
      sum.hops += (host.in + host.out) * (routers_.host_hops(after(vertex)) - routers_.host_hops(core_of(vertex)));
      sum.packets += host.in + host.out;
    }
    return sum;
  }

  // Of the hops, by a move at random.
  double typical_change() const {
    std::int64_t sum = 0, count = 0;
    for (std::int64_t i = 0; i < 256; ++i) {
      const Proposal p = proposal(words(i, 1));
      if (p.core == core_of(p.vertex)) continue;
      sum += std::abs(change(p).hops);
      ++count;
    }
    return count == 0 ? 1 : std::max(1.0, static_cast<double>(sum) / static_cast<double>(count));
  }

  // About -ln u of a random u, by the place of its first bit and a line between powers of two.
  static double exponential(std::uint32_t word) {
    const int zeros = std::countl_zero(word | 1);
    const double fraction = static_cast<double>((word | 1) << zeros) * 0x1p-31 - 1;
    return 0.6931471805599453 * (zeros + 1 - fraction);
  }

  void try_move(std::int64_t move, double temperature) {
    const PhiloxBlock word = words(move, 0);
    const Proposal p = proposal(word);
    const std::int32_t here = core_of(p.vertex);
    if (p.core == here) return;
    const Change expected = change(p);
    const auto most = static_cast<std::int64_t>(temperature * exponential(word[3]));
    const std::int64_t busiest = placed_.cost.busiest;
    if (expected.hops - 4 * std::min(busiest, expected.packets) > most) return;
    exchange(p.vertex, p.core);
    const PlaceCost cost{placed_.cost.packet_hops + expected.hops, loads_.busiest()};
    if (cost.total() - placed_.cost.total() > most) return exchange(p.vertex, here);
    placed_.cost = cost;
    ++placed_.accepted;
    if (cost.total() < best_.total()) {
      best_ = cost;
      since_best_.clear();
    } else {
      since_best_.emplace_back(p.vertex, here);
    }
  }

  // The vertex goes to the core, and who is there to where it was.
  void exchange(std::int32_t vertex, std::int32_t core) {
    const std::int32_t here = core_of(vertex), other = at_[static_cast<std::size_t>(core)];
    const auto route = [&](std::int64_t sign) {
      each_edge(vertex, other,
                [&](const PlaceEdge& edge) { loads_.add(core_of(edge.from), core_of(edge.to), sign * edge.packets); });
      for (const std::int32_t end : {vertex, other})
        if (end >= 0) loads_.add(core_of(end), host_packets(problem_, end), sign);
    };
    route(-1);
    placed_.core_of[static_cast<std::size_t>(vertex)] = core;
    if (other >= 0) placed_.core_of[static_cast<std::size_t>(other)] = here;
    at_[static_cast<std::size_t>(core)] = vertex;
    at_[static_cast<std::size_t>(here)] = other;
    route(1);
  }

  const PlaceProblem& problem_;
  const PlaceNet& net_;
  Placement& placed_;
  RouterMap routers_;
  LinkLoads loads_;
  std::int32_t chip_width_ = 0, chip_height_ = 0, chips_across_ = 1;
  std::vector<std::int32_t> at_;  // by core: its vertex
  std::vector<std::int32_t> movable_;
  std::vector<std::vector<std::int32_t>> cores_of_chip_;
  PlaceCost best_;
  std::vector<std::pair<std::int32_t, std::int32_t>> since_best_;  // vertex, where it was
};

}  // namespace

void anneal(const PlaceProblem& problem, const PlaceNet& net, Placement& placed) {
  Annealing(problem, net, placed).run();
}

}  // namespace taskspec
