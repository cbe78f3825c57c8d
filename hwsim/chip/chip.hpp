// A chip as its file says it: plain typed values for mapper and simulators, and every figure with its source, for
// reports. Nobody else knows a number of a chip.
//
//   Result<Chip> chip = load_chip("tianjicx");            chip->grid.cores.x == 16, chip->energy[EnergyEvent::alu] ==
//   600 Result<Chip> mine = read_chip(text, "mine.json");     every fault at once, each as E7003 with file, JSON
//   pointer
//
// Times are ticks of 1/hz, energies 1e-4 pJ, both whole numbers. The format: hwsim/chips/README.md.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/base/result.hpp"
#include "ir/blocks/cost.hpp"
#include "ir/types/precision.hpp"

namespace taskspec {

enum class ChipKind : std::uint8_t { primitive, crossbar, synaptic };
enum class SyncMode : std::uint8_t { adaptive, fixed, tick };
enum class NocTopology : std::uint8_t { mesh, bus, fattree };
enum class RouteOrder : std::uint8_t { x_first, y_first };
enum class SpikePackets : std::uint8_t { dense, event };  // arrays sent whole, or a packet per spike and target core
enum class NeuronModel : std::uint8_t { clif, loihi, truenorth };
enum class BankRole : std::uint8_t { input, weight, bias, table, state, output, receive, send, program };
inline constexpr std::size_t bank_roles = 9;

struct ChipExtent {
  std::int64_t x = 1, y = 1;
  std::int64_t area() const { return x * y; }
  friend bool operator==(const ChipExtent&, const ChipExtent&) = default;
};

struct ChipGrid {
  ChipExtent cores;                   // of one chip
  std::int64_t cores_per_router = 1;  // neighbours in a row: the router of core (x, y) is (x / cores_per_router, y)
  ChipExtent chips, max_chips;        // that are taken if nobody asks, that can be joined
};

// The chips with so many cores, the fewest; of these the fewest rows. None: so many cannot be joined.
std::optional<ChipExtent> fewest_chips(const ChipGrid& grid, std::int64_t cores);

struct ChipSync {
  SyncMode mode = SyncMode::adaptive;
  std::int64_t phase_clk = 0;                                  // of `fixed`
  std::int64_t phase_clk_overhead = 0;                         // added to each phase of `adaptive`
  std::int64_t tick_clk = 0;                                   // of `tick`, the least; 0: as fast as it can
  std::vector<std::pair<std::int64_t, std::int64_t>> barrier;  // (tiles in use, ticks), tiles ascending
  // Linear between entries, rounded down; beyond them as the first and the last. None: 0.
  std::int64_t barrier_clk(std::int64_t tiles) const;
};

struct ChipBank {
  std::string name;
  std::int64_t base = 0, bytes = 0;
  std::uint16_t roles = 0;  // a bit each
  bool holds(BankRole role) const { return (roles >> static_cast<int>(role) & 1) != 0; }
  std::int64_t end() const { return base + bytes; }
};

// Of kind primitive.
struct ChipMac {
  std::int64_t pixels = 0, outputs = 0;                // side by side; their product is the bound of MAC/clk
  std::vector<std::pair<Precision, Precision>> pairs;  // activation, weight
  Precision accumulator = Precision::i32;              // saturates
  std::int64_t cut_unit_bits = 0;
  bool takes(Precision activation, Precision weight) const;
};

// What is absent does not exist.
struct ChipLimits {
  std::optional<std::int64_t> phases, phase_groups, step_groups;
  std::optional<std::int64_t> receive_bytes, head_packets;  // the receive area; packets of one head
  std::optional<std::int64_t> offset_min, offset_max;       // of dx and dy in a head
  std::optional<std::int64_t> fan_in, fan_out, neurons;     // of a core: axons in, destinations out (of a neuron on
                                                            // a crossbar chip), neurons
  std::optional<std::int64_t> synapse_bits, weight_bits, state_bits, delay_max;
  std::optional<std::int64_t> axon_types;               // of the sources; a neuron has one weight for each
  std::optional<std::int64_t> soft_phases, soft_bytes;  // what the mapper aims at
};

struct ChipNoc {
  NocTopology topology = NocTopology::mesh;
  RouteOrder order = RouteOrder::x_first;
  std::int64_t packet_bytes = 0, payload_bytes = 0;
  std::int64_t link_clk = 1;                  // that a packet holds a link
  std::int64_t hop_clk_x = 1, hop_clk_y = 1;  // from router to router
  std::int64_t burst = 1;                     // packets of a segment
  std::int64_t vcs = 1, vc_depth = 1;         // virtual channels, flits in each
  // Of a chip border; 0 where chips cannot be joined.
  std::int64_t chip_packet_clk = 0, chip_hop_clk_x = 0, chip_hop_clk_y = 0;
  SpikePackets snn_packets = SpikePackets::event;
  bool multicast = false;
};

// Ticks, of kinds synaptic and crossbar.
struct ChipTime {
  std::int64_t message_in = 0, message_out = 0;
  std::int64_t synapse_dense = 0, synapse_sparse = 0, synapse_conv = 0;
  std::int64_t access = 0, update = 0, spike = 0;
};

// What is counted, and has a price.
enum class EnergyEvent : std::uint8_t {
  mac_i8,     // multiply-adds whose weights are bytes
  mac_tern,   // whose weights are ternary
  alu,        // other operations on elements
  rd,         // bytes read at memory ports
  wr,         // bytes written
  out,        // packets sent
  in,         // packets received
  hop_x,      // packet and link of a row
  hop_y,      // packet and link of a column
  chip,       // packet and border between chips
  core_clk,   // clk in which some stage of a core works
  idle_clk,   // the other clk of a core of a chip in use
  syn_dense,  // synaptic events
  syn_sparse,
  syn_conv,
  access,  // neurons looked at
  update,  // neurons updated
  spike,
  msg,  // messages of spikes that left a core
};
inline constexpr std::size_t energy_events = 19;
std::string_view name_of(EnergyEvent event);  // as in a file

// One number for each: counts, or prices in 1e-4 pJ.
struct PerEvent {
  std::array<std::int64_t, energy_events> at{};
  std::int64_t& operator[](EnergyEvent event) { return at[static_cast<std::size_t>(event)]; }
  std::int64_t operator[](EnergyEvent event) const { return at[static_cast<std::size_t>(event)]; }
  friend bool operator==(const PerEvent&, const PerEvent&) = default;
};

// A number of the file that has a source.
struct ChipFigure {
  std::string pointer;  // "/limits/phases/v" without the v: "/limits/phases"
  std::string value;    // "32", "0.18", "mesh"
  std::string unit;     // "Hz", "clk", "B", "B/clk", "bit", "s", "pJ", "1": a count; "" of words
  std::string source;   // a key of sources, "assumed", or "derived: ..."
  bool is_assumed() const { return source == "assumed"; }
  bool is_derived() const { return source.starts_with("derived:"); }
};

struct ChipSource {
  std::string key, title, where, kind;  // kind: primary, secondary, repository
};

// Another published figure, and what it means.
struct ChipAlternative {
  std::string of;  // "syn_dense"
  std::string definition;
  ChipFigure figure;
};

struct Chip {
  std::string name, about, file;
  ChipKind kind = ChipKind::primitive;
  bool runs_ann = false, runs_snn = false;
  ChipGrid grid;
  std::int64_t hz = 0;
  ChipSync sync;
  NeuronModel neuron = NeuronModel::clif;
  std::vector<ChipBank> banks;  // bases ascend, none overlaps
  ChipMac mac;                  // of kind primitive, as are the cycles
  CycleFigures cycles;          // pixels and outputs are those of mac
  ChipLimits limits;
  ChipNoc noc;
  ChipTime time;
  bool lumped = false;  // one figure of the whole chip is spread over its events: parts cannot be told apart
  PerEvent energy;      // 1e-4 pJ
  std::vector<ChipAlternative> alternatives;
  std::vector<ChipSource> sources;
  std::vector<ChipFigure> figures;  // all, in order of the file's fields

  std::int64_t memory_bytes() const;                 // of a core
  const ChipBank* bank_at(std::int64_t byte) const;  // that an address lies in; null: none
  std::vector<const ChipFigure*> assumed() const;
  const ChipFigure* figure(std::string_view pointer) const;
};

std::string_view name_of(ChipKind kind);
std::string_view name_of(SyncMode mode);
std::string_view name_of(NocTopology topology);
std::string_view name_of(BankRole role);
std::string_view name_of(NeuronModel model);

// `file` is for messages.
Result<Chip> read_chip(std::string_view json, std::string file);

struct ChipText {
  std::string path, text;
};
// Names that `find_chip` knows, in alphabetical order.
std::vector<std::string> chip_presets();
// The name of a preset, or a path: with a slash, or with the ending .json. E7003 for an unknown name, E7001 for a file
// that is not there.
Result<ChipText> find_chip(std::string_view name_or_path);
Result<Chip> load_chip(std::string_view name_or_path);

}  // namespace taskspec
