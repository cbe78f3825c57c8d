// Loads of the directed links between routers, and the largest of them. Internal to hwsim/place.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "hwsim/place/place.hpp"

namespace taskspec {

struct RouterAt {
  std::int32_t x = 0, y = 0;
};

// Routers by core.
class RouterMap {
 public:
  explicit RouterMap(const PlaceProblem& problem)
      : width_((problem.width + problem.router_width - 1) / problem.router_width), height_(problem.height) {
    routers_.reserve(static_cast<std::size_t>(problem.width) * static_cast<std::size_t>(problem.height));
    for (std::int32_t y = 0; y < problem.height; ++y)
      for (std::int32_t x = 0; x < problem.width; ++x) routers_.push_back({x / problem.router_width, y});
  }
  std::int32_t width() const { return width_; }
  std::int32_t height() const { return height_; }
  RouterAt at(std::int32_t core) const { return routers_[static_cast<std::size_t>(core)]; }
  std::int64_t hops(std::int32_t from, std::int32_t to) const {
    const RouterAt a = at(from), b = at(to);
    return std::abs(a.x - b.x) + std::abs(a.y - b.y);
  }
  std::int64_t host_hops(std::int32_t core) const { return at(core).x; }

 private:
  std::int32_t width_, height_;
  std::vector<RouterAt> routers_;
};

// Links of a row lie side by side for each direction, and so do those of a column: a route is two runs of them.
class LinkLoads {
 public:
  LinkLoads(const RouterMap& routers, bool y_first)
      : routers_(&routers),
        y_first_(y_first),
        plane_(static_cast<std::size_t>(routers.width()) * static_cast<std::size_t>(routers.height())),
        loads_(4 * plane_),
        largest_((loads_.size() + block - 1) / block),
        stale_(largest_.size()) {}

  // `packets` may be negative: they are taken away.
  void add(std::int32_t from, std::int32_t to, std::int64_t packets) {
    const RouterAt a = routers_->at(from), b = routers_->at(to);
    along_row(y_first_ ? b.y : a.y, a.x, b.x, packets);
    along_column(y_first_ ? a.x : b.x, a.y, b.y, packets);
  }

  void add(std::int32_t core, HostPackets packets, std::int64_t sign) {
    const RouterAt at = routers_->at(core);
    along_row(at.y, 0, at.x, sign * packets.in);
    along_row(at.y, at.x, 0, sign * packets.out);
  }

  std::int64_t busiest() {
    std::int64_t most = 0;
    for (std::size_t i = 0; i < largest_.size(); ++i) {
      if (stale_[i]) {
        const auto begin = loads_.begin() + static_cast<std::ptrdiff_t>(i * block);
        const auto end = loads_.begin() + static_cast<std::ptrdiff_t>(std::min(loads_.size(), (i + 1) * block));
        largest_[i] = *std::max_element(begin, end);
        stale_[i] = 0;
      }
      most = std::max(most, largest_[i]);
    }
    return most;
  }

 private:
  static constexpr std::size_t block = 64;

  // East: the link from x to x + 1 has the place of x; west: the link from x + 1 to x.
  void along_row(std::int32_t y, std::int32_t from, std::int32_t to, std::int64_t packets) {
    const std::size_t row = static_cast<std::size_t>(y) * static_cast<std::size_t>(routers_->width());
    run((from <= to ? 0 : plane_) + row, std::min(from, to), std::max(from, to), packets);
  }
  void along_column(std::int32_t x, std::int32_t from, std::int32_t to, std::int64_t packets) {
    const std::size_t column = static_cast<std::size_t>(x) * static_cast<std::size_t>(routers_->height());
    run((from <= to ? 2 : 3) * plane_ + column, std::min(from, to), std::max(from, to), packets);
  }
  void run(std::size_t first, std::int32_t begin, std::int32_t end, std::int64_t packets) {
    for (std::size_t i = first + static_cast<std::size_t>(begin); i < first + static_cast<std::size_t>(end); ++i) {
      const std::int64_t before = loads_[i];
      loads_[i] += packets;
      if (packets > 0)
        largest_[i / block] = std::max(largest_[i / block], loads_[i]);
      else if (before == largest_[i / block])
        stale_[i / block] = 1;
    }
  }

  const RouterMap* routers_;
  bool y_first_;
  std::size_t plane_;
  std::vector<std::int64_t> loads_, largest_;
  std::vector<char> stale_;
};

// The edges at each vertex, both directions, without loops and empty ones; parallel ones are one.
struct PlaceNet {
  explicit PlaceNet(const PlaceProblem& problem);
  std::vector<PlaceEdge> edges;
  std::vector<std::int32_t> begin;  // by vertex, and one more: into `at`
  std::vector<std::int32_t> at;     // edges
};

// Where vertices are fixed, else by recursive bisection. Cores that may be taken suffice.
std::vector<std::int32_t> bisect(const PlaceProblem& problem, const PlaceNet& net);
// Makes it better; never worse.
void anneal(const PlaceProblem& problem, const PlaceNet& net, Placement& placement);

std::vector<std::int32_t> cores_to_take(const PlaceProblem& problem);
std::int32_t fixed_core(const PlaceProblem& problem, std::int32_t vertex);  // -1: it is free
HostPackets host_packets(const PlaceProblem& problem, std::int32_t vertex);

}  // namespace taskspec
