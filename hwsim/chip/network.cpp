// Network, times of events, energies.
#include <fmt/format.h>

#include <cmath>

#include "hwsim/chip/parts.hpp"

namespace taskspec::chip_parts {

namespace {

constexpr WantedNumber event_clk{"clk", 0, 1e9};
constexpr std::int64_t units_per_pj = 10'000;
constexpr double most_pj = 1e6;

// An energy in 1e-4 pJ.
std::int64_t price(ChipReading& reading, const Json& value, const std::string& pointer) {
  const double pj = reading.number(value, pointer, {"pJ", 0, most_pj, false}, false);
  if (std::isnan(pj)) return 0;
  const std::int64_t units = std::llround(pj * static_cast<double>(units_per_pj));
  // The nearest number to so many 1e-4 is what a file with four places is read as.
  if (static_cast<double>(units) / static_cast<double>(units_per_pj) != pj)
    reading.fault(pointer + "/v", fmt::format("expected at most four decimal places, found {}", pj));
  return units;
}

bool is_common(EnergyEvent event) {
  return event == EnergyEvent::in || event == EnergyEvent::hop_x || event == EnergyEvent::hop_y ||
         event == EnergyEvent::chip || event == EnergyEvent::core_clk || event == EnergyEvent::idle_clk;
}
bool is_of_arrays(EnergyEvent event) {
  return event == EnergyEvent::mac_i8 || event == EnergyEvent::mac_tern || event == EnergyEvent::alu ||
         event == EnergyEvent::rd || event == EnergyEvent::wr || event == EnergyEvent::out;
}
// Neurons and synapses; on chips of kind primitive they are counted as what computes them.
bool is_needed(EnergyEvent event, const Chip& chip) {
  if (is_common(event)) return true;
  return is_of_arrays(event) ? chip.runs_ann || chip.kind == ChipKind::primitive
                             : chip.runs_snn && chip.kind != ChipKind::primitive;
}
// What a figure of the whole chip is spread over.
bool carries_a_lump(EnergyEvent event) {
  return event == EnergyEvent::mac_i8 || event == EnergyEvent::mac_tern || event == EnergyEvent::syn_dense ||
         event == EnergyEvent::syn_sparse || event == EnergyEvent::syn_conv;
}

void read_alternatives(ChipFields& fields, Chip& chip) {
  const Json* list = fields.find("alternatives");
  if (!list) return;
  ChipReading& reading = fields.reading();
  if (!list->is_array()) return reading.expected(fields.pointer("alternatives"), "a list", *list);
  for (std::size_t i = 0; i < list->size() && !reading.is_full(); ++i) {
    ChipFields other(reading, &(*list)[i], fmt::format("{}/{}", fields.pointer("alternatives"), i));
    ChipAlternative made{other.text("of"), other.text("definition"), {}};
    const Json* figure = other.need("figure");
    other.finish();
    if (!figure) continue;
    const bool has_unit = figure->is_object() && figure->contains("unit") && (*figure)["unit"].is_string();
    const std::string unit = has_unit ? (*figure)["unit"].get<std::string>() : "pJ";
    const std::size_t before = reading.figures.size();
    reading.number(*figure, other.pointer("figure"), {unit, 0, 1e15, false}, false);
    if (reading.figures.size() > before) made.figure = reading.figures.back();
    chip.alternatives.push_back(std::move(made));
  }
}

}  // namespace

void read_noc(ChipFields fields, Chip& chip) {
  ChipNoc& noc = chip.noc;
  constexpr WantedNumber some{"1", 1, 65535}, channels{"1", 1, 32}, bytes{"B", 1, 65536}, clk{"clk", 1, 1e6};
  noc.topology = fields.word<NocTopology>("topology", {"mesh", "bus", "fattree"});
  noc.order = fields.word<RouteOrder>("order", {"x_first", "y_first"});
  noc.packet_bytes = fields.figure("packet_bytes", bytes);
  noc.payload_bytes = fields.figure("payload_bytes", bytes);
  noc.link_clk = fields.figure("link_clk", clk);
  const ChipExtent hop = fields.pair("hop_clk", clk, false, true);
  noc.hop_clk_x = hop.x;
  noc.hop_clk_y = hop.y;
  noc.burst = fields.figure("burst", some);
  noc.vcs = fields.figure("vcs", channels);
  noc.vc_depth = fields.figure("vc_depth", some);
  if (chip.grid.max_chips.area() > 1) {
    noc.chip_packet_clk = fields.figure("chip_packet_clk", clk);
    const ChipExtent border = fields.pair("chip_hop_clk", clk, false, true);
    noc.chip_hop_clk_x = border.x;
    noc.chip_hop_clk_y = border.y;
  } else {
    fields.refuse("chip_packet_clk", "this chip cannot be joined with others: max_chips is [1, 1]");
    fields.refuse("chip_hop_clk", "this chip cannot be joined with others: max_chips is [1, 1]");
  }
  noc.snn_packets = fields.word<SpikePackets>("snn_packets", {"dense", "event"});
  const SpikePackets sent = chip.kind == ChipKind::primitive ? SpikePackets::dense : SpikePackets::event;
  if (noc.snn_packets != sent)
    fields.reading().fault(fields.pointer("snn_packets"),
                           chip.kind == ChipKind::primitive
                               ? "expected \"dense\": cores of kind 'primitive' send whole maps, spikes or not"
                               : "expected \"event\": cores of kinds 'crossbar' and 'synaptic' send spikes");
  noc.multicast = fields.truth("multicast");
  fields.finish();
  if (noc.payload_bytes > noc.packet_bytes)
    fields.reading().fault(fields.pointer("payload_bytes"), "expected at most packet_bytes");
}

void read_time(ChipFields& root, Chip& chip) {
  if (chip.kind == ChipKind::primitive)
    return root.refuse("time", "belongs to chips of kinds 'crossbar' and 'synaptic' alone");
  ChipFields fields = root.fields("time");
  ChipTime& time = chip.time;
  time.message_in = fields.figure("message_in", event_clk);
  ChipFields synapse = fields.fields("synapse");
  time.synapse_dense = synapse.figure("dense", event_clk);
  time.synapse_sparse = synapse.figure("sparse", event_clk);
  time.synapse_conv = synapse.figure("conv", event_clk);
  synapse.finish();
  time.access = fields.figure("access", event_clk);
  time.update = fields.figure("update", event_clk);
  time.spike = fields.figure("spike", event_clk);
  time.message_out = fields.figure("message_out", event_clk);
  fields.finish();
}

void read_energy(ChipFields fields, Chip& chip) {
  ChipReading& reading = fields.reading();
  chip.lumped = fields.word<int>("model", {"itemised", "lumped"}) == 1;
  for (std::size_t i = 0; i < energy_events; ++i) {
    const auto event = static_cast<EnergyEvent>(i);
    const std::string_view name = name_of(event);
    const Json* value = is_needed(event, chip) ? fields.need(name) : fields.find(name);
    if (!value) continue;
    chip.energy[event] = price(reading, *value, fields.pointer(name));
    if (chip.lumped && chip.energy[event] != 0 && !carries_a_lump(event))
      reading.fault(fields.pointer(name) + "/v",
                    "expected 0: this chip is 'lumped', one figure is spread over its products and synaptic events");
  }
  read_alternatives(fields, chip);
  fields.finish();
}

}  // namespace taskspec::chip_parts
