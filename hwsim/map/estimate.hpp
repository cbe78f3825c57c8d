// What a mapping costs, without a run of the clock: sums by unit, by core and by link. What a change touches is marked
// and worked out anew, and nothing else; so an estimate after many changes is that of the last decisions alone.
//
//   MapEstimator estimator(net, chip, chips, there);
//   if (std::optional<Diag> fault = estimator.set(decisions)) ...      a limit; then all is as it was
//   estimator.estimate().interval
//
// Cycles of pieces, bytes of cores and packets are those of the mapped program, to the last one. A phase takes as long
// as its slowest core needs for computing, sending and receiving, and then for moving; queues of the network are not
// looked at, but no link carries more in a step than it has time for.
#pragma once
#include <map>

#include "hwsim/energy/energy.hpp"
#include "hwsim/map/decisions.hpp"
#include "hwsim/noc/places.hpp"
#include "hwsim/time/clock.hpp"

namespace taskspec {

struct MapEstimate {
  std::int64_t latency = 0;   // clk from the first packet of a step to its last, along the longest way
  std::int64_t interval = 0;  // clk between steps
  std::int64_t energy = 0;    // of a step, 1e-4 pJ, idle cores included
  std::int64_t memory = 0;    // bytes of the fullest core
  std::int64_t cores = 0;
  std::int64_t packets = 0, packet_hops = 0, busiest_link = 0;  // of a step; the last in clk
  friend bool operator==(const MapEstimate&, const MapEstimate&) = default;
  std::string text() const;  // one line
};

// One piece of a unit on its core; of a stream in all of its phases.
struct PieceLoad {
  std::int64_t axon = 0, soma = 0, move = 0;  // clk; move: of its inputs, in the phase before
  std::int64_t computed = 0;                  // axon and soma, one behind the other or row by row
  std::int64_t out = 0, in = 0;               // packets
  std::int64_t work() const { return std::max(computed, axon + out); }
};

class MapEstimator {
 public:
  MapEstimator(ChipNet net, std::shared_ptr<const Chip> chip, ChipExtent chips, std::int32_t there);

  // By parts: what changes is laid out, each core and each unit by itself. By program: all of it, which is for
  // comparison, and for nets whose rows stream, where all units depend on one another.
  enum class By : std::uint8_t { parts, program };
  // Errors: E4002, E4041, E4043, E4048, E4049.
  std::optional<Diag> set(const MapDecisions& next, By by = By::parts);

  const MapEstimate& estimate() const { return estimate_; }
  const MapDecisions& decisions() const { return now_; }
  const std::vector<std::size_t>& order() const { return order_; }
  const ChipNet& net() const { return scratch_.net; }
  const UnitNet& units() const { return units_; }
  const Chip& chip() const { return *scratch_.chip; }
  const std::shared_ptr<const Chip>& shared_chip() const { return scratch_.chip; }
  ChipExtent chips() const { return scratch_.chips; }
  const MapPlaces& places() const { return places_; }

  // For tables and explanations.
  PieceLoad load(std::size_t unit, std::size_t piece) const;
  std::int64_t bytes_of(std::int32_t core) const { return cores_.at(core).cost->bytes; }
  std::int64_t packets_of(std::size_t unit) const;
  PerEvent counts() const;  // of a step: what its energy is made of, idle cores included
  std::int64_t step_of(std::int32_t group) const { return steps_[static_cast<std::size_t>(group)]; }  // clk
  const std::vector<std::int64_t>& steps() const { return steps_; }
  NocPlace busiest_place() const;            // where packets hold a server for MapEstimate::busiest_link
  ChipCore core(std::int32_t number) const;  // with all its buffers
  bool saves_by_sharing(std::size_t a, std::size_t b) const;

 private:
  // Between two pieces, or with the host (unit SIZE_MAX).
  struct Edge {
    std::size_t from = SIZE_MAX, from_piece = 0, to = SIZE_MAX, to_piece = 0;
    std::int64_t packets = 0, heads = 0;
    std::size_t input = SIZE_MAX;  // of the reader: clusters of the axon, then those of the soma; none: not known
    friend bool operator==(const Edge&, const Edge&) = default;
  };
  struct Edges {
    std::vector<Edge> list;
    std::optional<Diag> fault;
  };
  struct Part {  // of a unit on a core, in a phase
    std::size_t unit = 0, piece = 0;
    std::int32_t phase = 0;
    std::int64_t axon = 0, soma = 0, computed = 0, move = 0;
    std::int64_t of = 1;  // phases in which the piece computes
  };
  struct CoreCost {
    std::int64_t bytes = 0, busy = 0;
    PerEvent counts;
    std::vector<Part> parts;
    std::optional<Diag> fault;
  };
  struct CoreSum {
    std::int32_t group = 0;
    std::shared_ptr<const CoreCost> cost;
  };
  struct Flow {
    std::int32_t from = 0, to = 0;  // of the network: cores and hosts
    Edge edge;
    friend bool operator==(const Flow&, const Flow&) = default;
  };
  struct UnitSum {
    std::shared_ptr<const Edges> edges;
    std::vector<Flow> flows;            // that bring what it reads, and take what leaves the chip
    std::vector<std::int64_t> out, in;  // packets by piece
  };

  std::shared_ptr<const std::vector<UnitPiece>> pieces(std::size_t unit, const PieceGrid& grid,
                                                       std::optional<Diag>& fault) const;
  std::shared_ptr<const Edges> edges(std::size_t unit, const MapDecisions& of);
  std::shared_ptr<const CoreCost> cost(std::int32_t core, const MapDecisions& of);
  struct WholeProgram {
    std::map<std::int32_t, std::shared_ptr<const CoreCost>> costs;
    std::vector<std::shared_ptr<const Edges>> edges;
  };
  std::optional<Diag> lay_out_all(const MapDecisions& of, const std::vector<std::size_t>& order, WholeProgram& made);
  std::size_t unit_of_buffer(const ChipCore& core, const ChipBuffer& buffer) const;
  void tell_parts(const ChipCore& laid, const std::map<std::size_t, std::size_t>& pieces, CoreCost& made) const;
  ChipPlan core_plan(std::int32_t core, const MapDecisions& of, std::vector<Part>& parts) const;
  ChipPlan unit_plan(std::size_t unit, const MapDecisions& of, std::vector<std::pair<std::size_t, std::size_t>>& who);
  std::vector<Flow> flows(const MapDecisions& of, const Edges& edges) const;
  std::size_t input_of(std::size_t unit, const ChipMessage& message) const;
  bool comes_already(const MapDecisions& of, const Edge& edge) const;  // shared with a unit of an earlier phase
  void carry(const std::vector<Flow>& flows, std::int64_t sign);
  void sum_up();
  std::int64_t latency() const;
  std::int32_t host_of(std::int32_t core) const { return noc_host(core / places_.width); }

  mutable ChipProgram scratch_;  // chip and net; all else is of the last part that was laid out
  UnitNet units_;
  std::vector<std::size_t> unit_of_block_;  // SIZE_MAX: of none
  MapPlaces places_;
  NocRoutes routes_;

  MapDecisions now_;
  std::vector<std::size_t> order_;
  std::vector<UnitSum> sums_;
  std::map<std::int32_t, CoreSum> cores_;
  std::vector<std::int64_t> steps_;  // by group
  PerEvent counts_;                  // of all cores and flows
  std::int64_t busy_ = 0;            // clk of all cores
  std::vector<std::int64_t> servers_;
  std::map<std::int64_t, std::int64_t> held_;  // clk for which servers are held: how many servers
  MapEstimate estimate_;

  mutable std::map<std::pair<std::size_t, std::string>, std::shared_ptr<const std::vector<UnitPiece>>> known_pieces_;
  std::map<std::string, std::shared_ptr<const Edges>> known_edges_;
  std::map<std::string, std::shared_ptr<const CoreCost>> known_costs_;
};

}  // namespace taskspec
