// The network on the chip: when packets arrive, and what each link carried. Times are ticks.
//
//   NocFigures figures{...};                                   // from the chip file; nothing here knows a number of a
//   chip NocResult all = solve_noc(figures, flows, NocModel::contended);       // departures known beforehand: one
//   batch all.arrivals[3].last                                                  // of flow 3, at its target
//
//   NocRun run(figures, NocModel::contended);                             // departures depend on arrivals
//   const int flow = run.inject({.source = 3, .target = 7, .begin = now, .span = 20, .packets = 20});
//   while (std::optional<NocEvent> event = run.next(until)) ...           // in order of time
//
// Both give the same times. The rules, and which of them are ours: README.md.
#pragma once
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "ir/base/large_vector.hpp"

namespace taskspec {

enum class NocShape : std::uint8_t { mesh, bus, fattree };
enum class NocOrder : std::uint8_t { x_first, y_first };

struct NocFigures {
  NocShape shape = NocShape::mesh;
  NocOrder order = NocOrder::x_first;
  int cores_x = 1, cores_y = 1;  // of one chip
  int chips_x = 1, chips_y = 1;
  int cores_per_router = 1;   // neighbours in a row: the router of core (x, y) is (x / cores_per_router, y)
  std::int64_t link_clk = 1;  // that a packet holds a link, an injection or an ejection port
  std::int64_t hop_x = 1;     // from router to router in a row, at least 1; bus: for its one hop; fat tree: per level
  std::int64_t hop_y = 1;     // in a column
  std::int64_t burst = 1;     // packets of a segment, at most
  int vcs = 1, vc_depth = 1;  // of `flit`: virtual channels of an input, flits in each
  std::int64_t chip_packet_clk = 1;             // that a packet holds the border of a chip
  std::int64_t chip_hop_x = 1, chip_hop_y = 1;  // across a border, in place of hop_x and hop_y

  int width() const { return cores_x * chips_x; }  // of the whole grid, in cores
  int height() const { return cores_y * chips_y; }
  int cores() const { return width() * height(); }
  int routers_x() const { return width() / cores_per_router; }
};

enum class NocModel : std::uint8_t {
  ideal,      // nothing waits for another but in its injection port
  contended,  // links and ports are servers with queues: solved link by link where nothing forbids it
  events,     // the same times out of a queue of events, always
  flit,       // flits_all where `contended` finds a link, border or port busy for more than half of the time
  flit_all,   // cycle by cycle, flits in virtual channels
};

// Sources and targets that are no core: the host, beside the first core of a row of the grid, at the west border.
constexpr int noc_host(int row) { return -1 - row; }

// Packets of one head run. The k-th, from 0, is ready at begin + ceil((k + 1) * span / packets).
struct NocFlow {
  int source = 0, target = 0;  // y * width + x, or noc_host(row)
  std::int64_t begin = 0;      // >= 0
  std::int64_t span = 0;       // >= 0; as many as packets: one per tick
  std::int64_t packets = 1;    // >= 1
  std::span<const int> copies =
      {};  // cores that get a copy each, the first from the target, each other from the one before
};

struct NocTimes {
  std::int64_t first = 0, last = 0;  // packet
};

// Packets by place.
struct NocTraffic {
  // Of a mesh: [(router_y * routers_x + router_x) * 4 + direction], by the router they leave; E W N S, north is y - 1.
  // Those across a border between chips count here, too. A bus: [chip]. A fat tree: its servers, see README.md.
  std::vector<std::int64_t> links;
  std::vector<std::int64_t> borders;             // [chip * 4 + side], by the chip they leave
  std::vector<std::int64_t> injected, ejected;   // [core]
  std::vector<std::int64_t> from_host, to_host;  // [row]
  std::int64_t packets = 0;                      // arrived; a copy counts as one
  std::int64_t hops_x = 0, hops_y = 0;           // packets * links, with those across borders and to the host
  std::int64_t crossings = 0;                    // of borders between chips
  std::int64_t busiest = 0;                      // ticks for which the busiest link, border or ejection port is held
};

struct NocResult {
  NocModel model = NocModel::contended;  // that was used in the end: ideal, contended, events or flit_all
  LargeVector<NocTimes> departures;      // of each flow from its source: when its packets left the injection port
  LargeVector<NocTimes> arrivals;        // of each flow at its target
  LargeVector<NocTimes> copies;          // at each of its copies, flow after flow
  std::int64_t begin = 0;                // the first departure; 0 without flows
  std::int64_t end = 0;                  // the last arrival
  NocTraffic traffic;
  // From the first departure to the last arrival, both counted.
  std::int64_t makespan() const { return arrivals.empty() ? 0 : end - begin + 1; }
  // Is the busiest server held for more than half of it? Then `flit` works cycle by cycle.
  bool is_loaded() const { return traffic.busiest * 2 > makespan(); }
};

// Cores, rows, packets and figures out of range are bugs of the caller.
NocResult solve_noc(const NocFigures& figures, std::span<const NocFlow> flows, NocModel model);

struct NocEvent {
  enum class Kind : std::uint8_t { sent, arrived };
  Kind kind = Kind::sent;
  int flow = 0;
  int leg = 0;     // of arrived: 0 at the target, k at the k-th copy
  NocTimes times;  // of its first and last packet
  std::int64_t at() const { return times.last; }
};

// The same network for traffic that is not known beforehand. `contended` is solved as `events`. Under `flit` the caller
// says of each flow how it goes: two networks of the same shape run beside one another, one of segments and one of
// flits, so flows that meet at a server or an injection port have to go the same way.
class NocRun {
 public:
  NocRun(const NocFigures& figures, NocModel model);
  ~NocRun();
  NocRun(NocRun&&) noexcept;
  NocRun& operator=(NocRun&&) noexcept;

  // Its number, from 0 in order of injection. No packet may be ready before or at the time of the last event that was
  // handed out, nor before or at an `until` of the past: what comes of its begin, now, has span >= 1.
  // `by_flits` is for `flit` on a mesh; elsewhere the model says it.
  int inject(const NocFlow& flow, bool by_flits = false);
  // The next event, if it comes at or before `until`: the last packet of a flow left its source, or arrived. Ascending
  // in time; at one time by flow, sent before arrived, then by leg.
  std::optional<NocEvent> next(std::int64_t until = std::numeric_limits<std::int64_t>::max());
  NocTraffic traffic() const;  // up to now

  struct Engine;

 private:
  // A network, and which numbers its flows have among all.
  struct Network {
    std::unique_ptr<Engine> engine;
    std::vector<int> flows;
  };
  std::vector<Network> networks_;  // under `flit` that of the flits is the second
  int flows_ = 0;
};

}  // namespace taskspec
