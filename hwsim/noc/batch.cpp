// `contended` on a mesh whose traffic is all known: links, in an order in which none waits for a later one, each
// merging the sorted streams of its inputs. No queue of events; the same times.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <new>
#include <tuple>

#include "hwsim/noc/engine.hpp"
#include "hwsim/noc/segments.hpp"

namespace taskspec {

namespace {

// Packets of one head in a row, where they are now. Small, because nearly all the time goes into moving these.
struct NocPiece {
  std::uint64_t when = 0;  // the tick at which the first arrives, how many there are, and whether the host gets them
  std::uint32_t id = 0;    // BatchSolver::flow_of
  std::uint16_t x = 0, y = 0;  // of the target's router

  static constexpr unsigned packet_bits = 16, low_bits = packet_bits + 1;
  static constexpr std::uint64_t never = ~std::uint64_t{0};
  static std::uint64_t word(std::int64_t at, std::int64_t packets, bool to_host) {
    return static_cast<std::uint64_t>(at) << low_bits | static_cast<std::uint64_t>(packets) << 1 | (to_host ? 1U : 0U);
  }
  std::int64_t at() const { return static_cast<std::int64_t>(when >> low_bits); }
  std::int64_t packets() const { return static_cast<std::int64_t>(when >> 1 & ((1U << packet_bits) - 1)); }
  bool to_host() const { return (when & 1) != 0; }
};
static_assert(noc_batch_ticks <= std::int64_t{1} << (63 - NocPiece::low_bits));

// A list that is written to its end and read from its begin. Places are no objects before something is written there.
class NocPieces {
 public:
  NocPieces() = default;
  NocPieces(NocPieces&& other) noexcept { swap(other); }
  NocPieces& operator=(NocPieces&& other) noexcept {
    swap(other);
    return *this;
  }
  NocPieces(const NocPieces&) = delete;
  NocPieces& operator=(const NocPieces&) = delete;
  ~NocPieces() { std::free(begin_); }

  void swap(NocPieces& other) noexcept {
    std::swap(begin_, other.begin_), std::swap(end_, other.end_), std::swap(room_, other.room_);
  }
  NocPiece* begin() const { return begin_; }
  NocPiece* end() const { return end_; }
  std::size_t size() const { return static_cast<std::size_t>(end_ - begin_); }
  std::size_t room() const { return static_cast<std::size_t>(room_ - begin_); }
  void clear() { end_ = begin_; }
  void push(const NocPiece& piece) {
    if (end_ == room_) [[unlikely]]
      grow();
    *end_++ = piece;
  }

 private:
  [[gnu::noinline]] void grow() {
    const std::size_t count = size(), more = std::max<std::size_t>(16, 2 * count);
    auto* moved = static_cast<NocPiece*>(std::realloc(begin_, more * sizeof(NocPiece)));
    if (!moved) throw std::bad_alloc();
    begin_ = moved, end_ = moved + count, room_ = moved + more;
  }

  NocPiece *begin_ = nullptr, *end_ = nullptr, *room_ = nullptr;
};

constexpr std::size_t eject = 4;  // beside the four sides
constexpr std::size_t ways = 5;   // in and out
using NocHeads = std::array<const NocPiece*, ways>;
constexpr std::size_t far_enough = 8;  // that what is fetched now is there when it is needed

class BatchSolver {
 public:
  BatchSolver(const NocRoutes& routes, std::span<const NocFlow> flows, NocResult& result)
      : routes_(routes),
        flows_(flows),
        result_(result),
        counts_(routes),
        columns_(routes.routers_x()),
        rows_(routes.routers_y()),
        x_first_(routes.figures().order == NocOrder::x_first),
        turns_(turns(x_first_)),
        has_ties_(routes.figures().cores_per_router > 1 || routes.figures().chips_x * routes.figures().chips_y > 1),
        queues_(static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows_) * ways * ways) {}

  void run() {
    const NocTimes none{std::numeric_limits<std::int64_t>::max(), 0};
    result_.arrivals.assign(flows_.size(), none);
    inject();
    if (x_first_) solve_rows();
    solve_columns();
    if (!x_first_) solve_rows();
    for (int y = 0; y < rows_; ++y)
      for (int x = 0; x < columns_; ++x) solve_ejection(x, y);
    result_.traffic = counts_.traffic(routes_);
  }

 private:
  std::size_t router(int x, int y) const {
    return static_cast<std::size_t>(y) * static_cast<std::size_t>(columns_) + static_cast<std::size_t>(x);
  }
  std::uint32_t flow_of(const NocPiece& piece) const { return has_ties_ ? flow_of_segment_[piece.id] : piece.id; }

  // What comes in at a port of a router and wants out there.
  NocPieces& queue(int x, int y, NocPort in, std::size_t out) {
    return queues_[(router(x, y) * ways + out) * ways + static_cast<std::size_t>(in)];
  }

  // Out of a table, because nobody foresees where the next one turns.
  std::size_t out_at(int x, int y, const NocPiece& piece) const {
    const int along_x = 1 + (piece.x > x) - (piece.x < x), along_y = 1 + (piece.y > y) - (piece.y < y);
    return turns_[static_cast<std::size_t>(along_x * 3 + along_y)];
  }
  static constexpr std::array<std::uint8_t, 9> turns(bool x_first) {
    constexpr std::uint8_t e = 0, w = 1, n = 2, s = 3, here = eject;
    if (x_first) return {w, w, w, n, here, s, e, e, e};
    return {n, w, s, n, here, s, n, e, s};
  }

  void inject() {
    NocPorts ports(routes_, flows_, result_.departures);
    for (int endpoint = 0; endpoint < routes_.endpoints(); ++endpoint) {
      const int x = routes_.x(endpoint), y = routes_.y(endpoint);
      const NocPort in = routes_.is_host(endpoint) ? NocPort::west : NocPort::local;
      const std::int64_t entry = routes_.entry(endpoint);
      std::int64_t& injected = counts_.injected[static_cast<std::size_t>(endpoint)];
      ports.run(endpoint, [&](std::uint32_t flow, int target, std::int64_t now, std::int64_t packets) {
        NocPiece piece{.when = NocPiece::word(now + entry, packets, routes_.is_host(target)), .id = flow};
        if (has_ties_) {
          piece.id = static_cast<std::uint32_t>(flow_of_segment_.size());
          flow_of_segment_.push_back(flow);
        }
        piece.x = static_cast<std::uint16_t>(routes_.x(target));
        piece.y = static_cast<std::uint16_t>(routes_.y(target));
        injected += packets;
        queue(x, y, in, out_at(x, y, piece)).push(piece);
      });
      if (routes_.figures().cores_per_router > 1 && in == NocPort::local) sort_local(x, y);
    }
  }

  // Cores of one router share its queues.
  void sort_local(int x, int y) {
    for (std::size_t out = 0; out < ways; ++out) {
      NocPieces& pieces = queue(x, y, NocPort::local, out);
      std::sort(pieces.begin(), pieces.end(),
                [&](const NocPiece& a, const NocPiece& b) { return a.at() != b.at() ? a.at() < b.at() : a.id < b.id; });
    }
  }

  static void widen(NocTimes& times, std::int64_t first, std::int64_t last) {
    times.first = std::min(times.first, first);
    times.last = std::max(times.last, last);
  }

  // One column after the other, because a border joins all rows of a chip.
  void solve_rows() {
    for (int x = 0; x + 1 < columns_; ++x)
      for (int y = 0; y < rows_; ++y) solve_link(x, y, NocSide::east);
    for (int x = columns_ - 1; x > 0; --x)
      for (int y = 0; y < rows_; ++y) solve_link(x, y, NocSide::west);
  }
  void solve_columns() {
    for (int y = 0; y + 1 < rows_; ++y)
      for (int x = 0; x < columns_; ++x) solve_link(x, y, NocSide::south);
    for (int y = rows_ - 1; y > 0; --y)
      for (int x = 0; x < columns_; ++x) solve_link(x, y, NocSide::north);
  }

  void solve_link(int x, int y, NocSide side) {
    const std::size_t out = static_cast<std::size_t>(side), link = router(x, y) * 4 + out;
    const std::uint32_t server = routes_.server_of_link(link);
    if (server != link) return collect_for_border(x, y, side, link, server);
    const int next_x = x + (side == NocSide::east) - (side == NocSide::west);
    const int next_y = y + (side == NocSide::south) - (side == NocSide::north);
    std::array<NocPieces, ways> next;  // here, so that each push is a store beside the others
    for (std::size_t i = 0; i < ways; ++i) next[i].swap(queue(next_x, next_y, port_behind(side), i));
    if (!spare_.empty()) {  // most go straight on
      next[out].swap(spare_.back());
      spare_.pop_back();
    }
    const std::int64_t service = routes_.server(server).service, latency = routes_.server(server).latency;
    std::int64_t free = 0, all = 0;
    merge(x, y, out, [&](NocPiece piece) {
      const std::int64_t start = std::max(piece.at(), free), packets = piece.packets();
      free = start + packets * service;
      all += packets;
      piece.when = NocPiece::word(start + latency, packets, piece.to_host());
      next[out_at(next_x, next_y, piece)].push(piece);
    });
    for (std::size_t i = 0; i < ways; ++i) next[i].swap(queue(next_x, next_y, port_behind(side), i));
    counts_.links[link] = counts_.servers[server] = all;
  }

  // Calls `serve` with each piece, ascending by time, then by port. Behind each, up to twice `far_enough` places on,
  // another one can be read. The queues are empty afterwards.
  template <class Serve>
  void merge(int x, int y, std::size_t out, const Serve& serve) {
    NocHeads heads;
    std::size_t count = 0, pieces = 0;
    for (std::size_t in = 0; in < ways; ++in) {
      NocPieces& one = queue(x, y, static_cast<NocPort>(in), out);
      if (one.size() == 0) continue;
      pieces += one.size();
      for (std::size_t i = 0; i <= 2 * far_enough; ++i) one.push({.when = NocPiece::never});
      heads[count++] = one.begin();
    }
    switch (count) {
      case 0:
        return;
      case 1:
        merge_heads<1>(heads, pieces, serve);
        break;
      case 2:
        merge_heads<2>(heads, pieces, serve);
        break;
      case 3:
        merge_heads<3>(heads, pieces, serve);
        break;
      case 4:
        merge_heads<4>(heads, pieces, serve);
        break;
      default:
        merge_heads<ways>(heads, pieces, serve);
    }
    for (std::size_t in = 0; in < ways; ++in) give_back(queue(x, y, static_cast<NocPort>(in), out));
  }

  void give_back(NocPieces& pieces) {
    if (pieces.room() > 1024) {
      pieces.clear();
      spare_.push_back(std::move(pieces));
    }
    NocPieces().swap(pieces);
  }

  // Without branches, because nobody foresees which head is next. Each list ends in pieces that never come.
  template <std::size_t count, class Serve>
  static void merge_heads(const NocHeads& all, std::size_t pieces, const Serve& serve) {
    std::array<const NocPiece*, count> heads;
    for (std::size_t i = 0; i < count; ++i) heads[i] = all[i];
    for (; pieces > 0; --pieces) {
      const NocPiece* first = heads[0];
      std::int64_t least = first->at();
      for (std::size_t i = 1; i < count; ++i) {
        const std::int64_t at = heads[i]->at();
        first = at < least ? heads[i] : first;
        least = at < least ? at : least;
      }
      serve(*first);
      for (std::size_t i = 0; i < count; ++i) heads[i] += heads[i] == first;
    }
  }

  // ---- borders between chips ----------------------------------------------------------------------------------------

  struct Crossing {
    NocPiece piece;
    int x, y;  // the router behind the border
    NocPort in;
    friend bool operator<(const Crossing& a, const Crossing& b) {
      return std::tuple(a.piece.at(), a.in, a.piece.id) < std::tuple(b.piece.at(), b.in, b.piece.id);
    }
  };

  void collect_for_border(int x, int y, NocSide side, std::size_t link, std::uint32_t server) {
    const int next_x = x + (side == NocSide::east) - (side == NocSide::west);
    const int next_y = y + (side == NocSide::south) - (side == NocSide::north);
    for (std::size_t in = 0; in < ways; ++in) {
      NocPieces& pieces = queue(x, y, static_cast<NocPort>(in), static_cast<std::size_t>(side));
      for (const NocPiece& piece : pieces) {
        crossings_.push_back({piece, next_x, next_y, static_cast<NocPort>(in)});
        counts_.links[link] += piece.packets();
      }
      NocPieces().swap(pieces);
    }
    const NocFigures& figures = routes_.figures();
    const bool horizontal = side == NocSide::east || side == NocSide::west;
    const int across = horizontal ? y : x,
              length = horizontal ? figures.cores_y : routes_.routers_x() / figures.chips_x;
    if (across % length == length - 1) solve_border(side, server);
  }

  void solve_border(NocSide side, std::uint32_t server) {
    std::sort(crossings_.begin(), crossings_.end());
    const std::int64_t service = routes_.server(server).service, latency = routes_.server(server).latency;
    std::int64_t free = 0;
    for (const Crossing& crossing : crossings_) {
      NocPiece piece = crossing.piece;
      const std::int64_t start = std::max(piece.at(), free), packets = piece.packets();
      free = start + packets * service;
      counts_.servers[server] += packets;
      const std::int64_t parts = service == routes_.figures().link_clk ? 1 : packets;  // else each by itself
      NocPieces& next = queue(crossing.x, crossing.y, port_behind(side), out_at(crossing.x, crossing.y, piece));
      for (std::int64_t i = 0; i < parts; ++i) {
        piece.when = NocPiece::word(start + latency + i * service, packets / parts, piece.to_host());
        next.push(piece);
      }
    }
    crossings_.clear();
  }

  void solve_ejection(int x, int y) {
    const std::int64_t service = routes_.figures().link_clk;
    if (free_.empty()) free_.assign(static_cast<std::size_t>(routes_.endpoints()), 0);
    const bool has_neighbours = routes_.figures().cores_per_router > 1;
    const int first_core = static_cast<int>(router(x, y)) * routes_.figures().cores_per_router;
    merge(x, y, eject, [&](const NocPiece& piece) {
      if (has_ties_) __builtin_prefetch(&flow_of_segment_[(&piece)[2 * far_enough].id]);
      __builtin_prefetch(&result_.arrivals[flow_of((&piece)[far_enough])], 1);
      const std::uint32_t flow = flow_of(piece);
      const int core = has_neighbours ? routes_.endpoint(flows_[flow].target) : first_core;
      const int endpoint = piece.to_host() ? routes_.cores() + y : core;
      std::int64_t& free = free_[static_cast<std::size_t>(endpoint)];
      const std::int64_t start = std::max(piece.at(), free), packets = piece.packets();
      free = start + packets * service;
      counts_.servers[routes_.ejection(endpoint)] += packets;
      const std::int64_t first = start + routes_.entry(endpoint);
      widen(result_.arrivals[flow], first, first + (packets - 1) * service);
    });
  }

  const NocRoutes& routes_;
  std::span<const NocFlow> flows_;
  NocResult& result_;
  NocCounts counts_;
  int columns_, rows_;
  bool x_first_;
  std::array<std::uint8_t, 9> turns_;  // by where the target lies: west, here, east; then north, here, south
  // Whether pieces come at once by one port, as behind borders and from the cores of one router: then the id of a piece
  // is its segment, ascending by source, then by sequence, else its flow.
  bool has_ties_;
  std::vector<std::uint32_t> flow_of_segment_;
  std::vector<NocPieces> queues_;
  std::vector<NocPieces> spare_;  // empty, with room
  std::vector<Crossing> crossings_;
  std::vector<std::int64_t> free_;  // ejection ports, by endpoint
};

}  // namespace

void solve_noc_batch(const NocRoutes& routes, std::span<const NocFlow> flows, NocResult& result) {
  BatchSolver(routes, flows, result).run();
}

}  // namespace taskspec
