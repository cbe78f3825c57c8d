// Recursive bisection: a rectangle of cores is cut in two, at a border of chips while it has one inside, and so are the
// vertices in it, with passes of single moves (Fiduccia, Mattheyses). A cut edge costs its packets times the distance
// of the halves; an edge to a vertex outside the rectangle draws towards where that one is by now.
#include <algorithm>
#include <deque>
#include <set>

#include "hwsim/place/links.hpp"

namespace taskspec {

namespace {

constexpr int most_passes = 8;

struct CoreRect {
  std::int32_t x0 = 0, y0 = 0, x1 = 0, y1 = 0;  // ends excluded
  std::int32_t width() const { return x1 - x0; }
  std::int32_t height() const { return y1 - y0; }
  // Twice the middle, so that it is whole.
  std::int64_t distance(std::int64_t twice_x, std::int64_t twice_y) const {
    return std::abs(x0 + x1 - twice_x) + std::abs(y0 + y1 - twice_y);
  }
};

struct RectOfVertices {
  CoreRect rect;
  std::vector<std::int32_t> vertices;  // free ones, ascending
};

class Bisection {
 public:
  Bisection(const PlaceProblem& problem, const PlaceNet& net)
      : problem_(problem),
        net_(net),
        free_(static_cast<std::size_t>(problem.width) * static_cast<std::size_t>(problem.height)) {
    for (const std::int32_t core : cores_to_take(problem)) free_[static_cast<std::size_t>(core)] = 1;
    const auto vertices = static_cast<std::size_t>(problem.vertices);
    core_of_.assign(vertices, -1);
    inside_.assign(vertices, -1);
    where_.assign(vertices, {0, 0, problem.width, problem.height});
    for (std::int32_t v = 0; v < problem.vertices; ++v) {
      const std::int32_t core = fixed_core(problem, v);
      if (core >= 0) settle(v, core);
    }
  }

  std::vector<std::int32_t> run() {
    std::deque<RectOfVertices> waiting{{{0, 0, problem_.width, problem_.height}, {}}};
    for (std::int32_t v = 0; v < problem_.vertices; ++v)
      if (core_of_[static_cast<std::size_t>(v)] < 0) waiting.front().vertices.push_back(v);
    while (!waiting.empty()) {
      RectOfVertices part = std::move(waiting.front());
      waiting.pop_front();
      if (part.vertices.empty()) continue;
      if (part.rect.width() * part.rect.height() == 1) {
        settle(part.vertices[0], part.rect.y0 * problem_.width + part.rect.x0);
        continue;
      }
      auto [low, high] = halves(part.rect);
      RectOfVertices first{low, {}}, second{high, {}};
      divide(part.vertices, first, second);
      for (RectOfVertices* half : {&first, &second}) {
        for (const std::int32_t v : half->vertices) where_[static_cast<std::size_t>(v)] = half->rect;
        waiting.push_back(std::move(*half));
      }
    }
    return core_of_;
  }

 private:
  void settle(std::int32_t vertex, std::int32_t core) {
    const std::int32_t x = core % problem_.width, y = core / problem_.width;
    core_of_[static_cast<std::size_t>(vertex)] = core;
    where_[static_cast<std::size_t>(vertex)] = {x, y, x + 1, y + 1};
    free_[static_cast<std::size_t>(core)] = 0;
  }

  std::int64_t room(const CoreRect& rect) const {
    std::int64_t cores = 0;
    for (std::int32_t y = rect.y0; y < rect.y1; ++y)
      for (std::int32_t x = rect.x0; x < rect.x1; ++x) cores += free_[static_cast<std::size_t>(y * problem_.width + x)];
    return cores;
  }

  // Where a side is cut: at a border of chips next to the middle, else in the middle, between routers.
  static std::int32_t cut_of(std::int32_t from, std::int32_t to, std::int32_t chip, std::int32_t router) {
    if (chip > 0) {
      const std::int32_t first = from / chip, last = (to - 1) / chip;
      if (last > first) return (first + (last - first + 1) / 2) * chip;
    }
    const std::int32_t middle = from + (to - from) / 2;
    const std::int32_t aligned = middle / router * router;
    return aligned > from ? aligned : middle;
  }
  std::pair<CoreRect, CoreRect> halves(const CoreRect& rect) const {
    const auto chips = [](std::int32_t from, std::int32_t to, std::int32_t chip) {
      return chip > 0 ? (to - 1) / chip - from / chip : 0;
    };
    const std::int32_t across = chips(rect.x0, rect.x1, problem_.chip_width);
    const std::int32_t down = chips(rect.y0, rect.y1, problem_.chip_height);
    const bool by_x = across != down ? across > down : rect.width() >= rect.height();
    CoreRect low = rect, high = rect;
    if (by_x)
      low.x1 = high.x0 = cut_of(rect.x0, rect.x1, problem_.chip_width, problem_.router_width);
    else
      low.y1 = high.y0 = cut_of(rect.y0, rect.y1, problem_.chip_height, 1);
    return {low, high};
  }

  // ---- one cut ----------------------------------------------------------------------------------

  void divide(const std::vector<std::int32_t>& vertices, RectOfVertices& low, RectOfVertices& high) {
    const auto count = static_cast<std::int64_t>(vertices.size());
    const std::int64_t room_low = room(low.rect), room_high = room(high.rect);
    least_low_ = std::max<std::int64_t>(0, count - room_high);
    most_low_ = std::min(count, room_low);
    span_ = low.rect.distance(high.rect.x0 + high.rect.x1, high.rect.y0 + high.rect.y1);
    for (std::size_t i = 0; i < vertices.size(); ++i)
      inside_[static_cast<std::size_t>(vertices[i])] = static_cast<std::int32_t>(i);
    find_pulls(vertices, low.rect, high.rect);
    const std::int64_t share = count * room_low / (room_low + room_high);
    const std::int64_t in_low = std::clamp(share, least_low_, most_low_);
    begin_with(vertices, in_low, true);
    const std::int64_t cost = refined(vertices);
    std::vector<char> kept = in_high_;
    begin_with(vertices, in_low, false);
    if (refined(vertices) >= cost) in_high_ = std::move(kept);
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      (in_high_[i] ? high : low).vertices.push_back(vertices[i]);
      inside_[static_cast<std::size_t>(vertices[i])] = -1;
    }
  }

  // What it costs a vertex to be in the high half rather than in the low one, by its edges to the outside and what it
  // has to do with the host.
  void find_pulls(const std::vector<std::int32_t>& vertices, const CoreRect& low, const CoreRect& high) {
    pull_.assign(vertices.size(), 0);
    for (std::size_t i = 0; i < vertices.size(); ++i)
      each_edge(vertices[i], [&](std::int32_t other, std::int64_t packets) {
        if (inside_[static_cast<std::size_t>(other)] >= 0) return;
        const CoreRect& there = where_[static_cast<std::size_t>(other)];
        const std::int64_t x = there.x0 + there.x1, y = there.y0 + there.y1;
        pull_[i] += packets * (high.distance(x, y) - low.distance(x, y));
      });
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      const HostPackets packets = host_packets(problem_, vertices[i]);
      pull_[i] += (packets.in + packets.out) * (high.x0 + high.x1 - low.x0 - low.x1);
    }
  }

  template <class Visit>
  void each_edge(std::int32_t vertex, Visit visit) const {
    const auto v = static_cast<std::size_t>(vertex);
    for (std::int32_t k = net_.begin[v]; k < net_.begin[v + 1]; ++k) {
      const PlaceEdge& edge = net_.edges[static_cast<std::size_t>(net_.at[static_cast<std::size_t>(k)])];
      visit(edge.from == vertex ? edge.to : edge.from, edge.packets);
    }
  }

  // In order of vertices, which is that of the network: the first ones low, or high.
  void begin_with(const std::vector<std::int32_t>& vertices, std::int64_t in_low, bool low_first) {
    const auto count = static_cast<std::int64_t>(vertices.size());
    in_high_.assign(vertices.size(), 0);
    for (std::int64_t i = 0; i < count; ++i)
      in_high_[static_cast<std::size_t>(i)] = low_first ? i >= in_low : i < count - in_low;
    low_ = in_low;
  }

  std::int64_t gain(const std::vector<std::int32_t>& vertices, std::size_t i) const {
    std::int64_t gain = in_high_[i] ? pull_[i] : -pull_[i];
    each_edge(vertices[i], [&](std::int32_t other, std::int64_t packets) {
      const std::int32_t there = inside_[static_cast<std::size_t>(other)];
      if (there >= 0)
        gain += in_high_[static_cast<std::size_t>(there)] != in_high_[i] ? packets * span_ : -packets * span_;
    });
    return gain;
  }

  std::int64_t refined(const std::vector<std::int32_t>& vertices) {
    for (int pass = 0; pass < most_passes; ++pass)
      if (!improved(vertices)) break;
    std::int64_t cost = 0;  // each cut edge twice
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      cost += in_high_[i] ? 2 * pull_[i] : 0;
      each_edge(vertices[i], [&](std::int32_t other, std::int64_t packets) {
        const std::int32_t there = inside_[static_cast<std::size_t>(other)];
        if (there >= 0 && in_high_[static_cast<std::size_t>(there)] != in_high_[i]) cost += packets * span_;
      });
    }
    return cost;
  }

  // Every vertex moves once, the best one first; then what came after the best moment is taken back.
  bool improved(const std::vector<std::int32_t>& vertices) {
    using Entry = std::pair<std::int64_t, std::int32_t>;  // minus the gain, place: the first is the best
    std::set<Entry> sides[2];
    std::vector<std::int64_t> gains(vertices.size());
    for (std::size_t i = 0; i < vertices.size(); ++i) {
      gains[i] = gain(vertices, i);
      sides[static_cast<std::size_t>(in_high_[i])].emplace(-gains[i], static_cast<std::int32_t>(i));
    }
    std::vector<std::size_t> moved;
    std::int64_t sum = 0, best = 0;
    std::size_t best_length = 0;
    for (;;) {
      // One more or less than there is room for, for a moment: else nothing moves where all cores are taken.
      const bool from_low = !sides[0].empty() && low_ - 1 >= least_low_ - 1;
      const bool from_high = !sides[1].empty() && low_ + 1 <= most_low_ + 1;
      if (!from_low && !from_high) break;
      const std::size_t side = !from_low ? 1 : !from_high ? 0 : *sides[1].begin() < *sides[0].begin() ? 1 : 0;
      const auto i = static_cast<std::size_t>(sides[side].begin()->second);
      sides[side].erase(sides[side].begin());
      sum += gains[i];
      flip(i);
      moved.push_back(i);
      if (sum > best && low_ >= least_low_ && low_ <= most_low_) best = sum, best_length = moved.size();
      update_neighbours(vertices, i, gains, sides);
    }
    while (moved.size() > best_length) {
      flip(moved.back());
      moved.pop_back();
    }
    return best > 0;
  }
  void flip(std::size_t i) {
    low_ += in_high_[i] ? 1 : -1;
    in_high_[i] = in_high_[i] ? 0 : 1;
  }
  void update_neighbours(const std::vector<std::int32_t>& vertices, std::size_t moved, std::vector<std::int64_t>& gains,
                         std::set<std::pair<std::int64_t, std::int32_t>>* sides) const {
    each_edge(vertices[moved], [&](std::int32_t other, std::int64_t packets) {
      const std::int32_t there = inside_[static_cast<std::size_t>(other)];
      if (there < 0) return;
      const auto j = static_cast<std::size_t>(there);
      auto& side = sides[static_cast<std::size_t>(in_high_[j])];
      const auto entry = side.find({-gains[j], there});
      if (entry == side.end()) return;  // it has moved
      side.erase(entry);
      gains[j] += (in_high_[j] != in_high_[moved] ? 2 : -2) * packets * span_;
      side.emplace(-gains[j], there);
    });
  }

  const PlaceProblem& problem_;
  const PlaceNet& net_;
  std::vector<char> free_;  // by core
  std::vector<std::int32_t> core_of_;
  std::vector<CoreRect> where_;  // by vertex
  // Of the cut at hand.
  std::vector<std::int32_t> inside_;  // by vertex: its place among those that are divided, or -1
  std::vector<std::int64_t> pull_;
  std::vector<char> in_high_;
  std::int64_t least_low_ = 0, most_low_ = 0, low_ = 0, span_ = 0;
};

}  // namespace

std::vector<std::int32_t> bisect(const PlaceProblem& problem, const PlaceNet& net) {
  return Bisection(problem, net).run();
}

}  // namespace taskspec
