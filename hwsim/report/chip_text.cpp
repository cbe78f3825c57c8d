#include "hwsim/report/chip_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "ir/base/text.hpp"

namespace taskspec {

namespace {

double picojoules(std::int64_t energy) {
  return static_cast<double>(energy) / static_cast<double>(energy_units_per_pj);
}

std::string layers_table(const ChipPicture& picture) {
  if (picture.account.layers.empty()) return "";
  std::string text = fmt::format("{:<20} {:>5} {:>6} {:>10} {:>6} {:>10} {:>9} {:>14}\n", "layer", "cores", "phase",
                                 "cycles", "MAC %", "bytes", "packets", "pJ");
  for (const LayerRow& row : picture.account.layers)
    text += fmt::format("{:<20} {:>5} {:>6} {:>10} {:>6.1f} {:>10} {:>9} {:>14}\n", row.name, row.cores, row.phase,
                        row.cycles, 100 * row.utilisation, row.bytes, row.packets, picojoules(row.energy));
  constexpr std::string_view rests[] = {"/rules", "/memory", "/time"};
  return text + assumed_text(*picture.chip, rests, picture.account.counts.total());
}

std::string limit_line(const ChipPicture& picture) {
  const StepLimit& limit = picture.limit;
  if (limit.port_clk > 0)
    return fmt::format("limit: packets; {} is held for {} clk a step, and the slowest group of cores works for {}\n",
                       limit.port.text, limit.port_clk, limit.step_clk);
  if (limit.cycles == 0 || limit.layer < 0) return "";
  return fmt::format("limit: phase {} of group {}, {} clk; in it the {} of {} on core {}, {} clk\n", limit.phase,
                     limit.group, limit.cycles, limit.stage,
                     picture.account.layers[static_cast<std::size_t>(limit.layer)].name, limit.core,
                     limit.stage_cycles);
}

std::string roofline_line(const Roofline& roof) {
  if (!roof.is_there) return "";
  const char* what = roof.intensity < roof.ridge ? "the port" : "the multiply-add units";
  return fmt::format(
      "roofline: {:.2f} MAC/B at the port (ridge {:.2f}): at most {:.1f} MAC/clk and core, by {}; reached {:.1f}, "
      "{:.1f} %\n",
      roof.intensity, roof.ridge, roof.bound, what, roof.reached, 100 * roof.reached / roof.bound);
}

std::string chip_table(const ChipPicture& picture) {
  const Chip& chip = *picture.chip;
  const ChipAccount& account = picture.account;
  std::string text = fmt::format("{} of {} cores, fullest {} B; latency {} clk, interval {} clk, {} packets a step\n",
                                 account.cores.size(), picture.cores_there, account.memory, picture.latency,
                                 picture.interval, account.packets);
  for (const std::string& note : picture.notes) text += note + "\n";
  text += limit_line(picture) + roofline_line(picture.roofline()) + totals_line(picture);
  std::vector<std::string_view> rests = {"/grid", "/clock",        "/sync",       "/limits",
                                         "/time", "/noc/link_clk", "/noc/hop_clk"};
  if (picture.noc == "contended") rests.emplace_back("/noc/burst");
  if (picture.noc.starts_with("flit")) rests.insert(rests.end(), {"/noc/vcs", "/noc/vc_depth"});
  if (picture.chips.area() > 1) rests.insert(rests.end(), {"/noc/chip_packet_clk", "/noc/chip_hop_clk"});
  return text + assumed_text(chip, rests, {});
}

// In 1e-4 pJ, of a figure as its file writes it.
std::optional<std::int64_t> price_of(const ChipFigure& figure) {
  double value = 0;
  const char* end = figure.value.data() + figure.value.size();
  if (figure.unit != "pJ" || std::from_chars(figure.value.data(), end, value).ptr != end) return std::nullopt;
  return std::llround(value * static_cast<double>(energy_units_per_pj));
}

std::optional<EnergyEvent> event_named(std::string_view name) {
  for (std::size_t i = 0; i < energy_events; ++i)
    if (name_of(static_cast<EnergyEvent>(i)) == name) return static_cast<EnergyEvent>(i);
  return std::nullopt;
}

// The figure of a whole chip is spread over its events: another one takes the place of all its shares.
bool stands_for(const Chip& chip, EnergyEvent figure, EnergyEvent event) {
  return event == figure || (chip.lumped && chip.energy[figure] != 0 && chip.energy[event] == chip.energy[figure]);
}

}  // namespace

std::string totals_line(const ChipPicture& picture) {
  const Chip& chip = *picture.chip;
  const std::int64_t energy = energy_of(picture.counts(), chip);
  return fmt::format("{}: {} steps, {} clk, {:.6g} s, {}, {:.3g} W\n", chip.name, picture.steps, picture.cycles,
                     static_cast<double>(picture.cycles) / static_cast<double>(chip.hz), energy_pj(energy),
                     watts(energy, picture.cycles, chip));
}

std::string energy_table(const ChipPicture& picture) {
  const Chip& chip = *picture.chip;
  const PerEvent counts = picture.counts();
  std::string text;
  const auto line = [&](std::string_view name, const std::string& count, const std::string& energy) {
    text += fmt::format("{:<11} {:>28} {:>22}\n", name, count, energy);
  };
  line("event", "count * pJ", "pJ");
  const auto number = [](std::int64_t energy) {
    std::string digits = energy_pj(energy);
    return digits.substr(0, digits.size() - 3);  // " pJ"
  };
  for (const EnergyItem& item : energy_items(counts, chip))
    line(name_of(item.event), fmt::format("{} * {}", item.count, number(item.price)), number(item.energy));
  line("sum", "", number(energy_of(counts, chip)));
  if (chip.lumped)
    text += fmt::format("{} is lumped: one published figure of the whole chip; its parts cannot be told apart\n",
                        chip.name);
  for (const auto& [other, energy] : other_energies(picture)) {
    text += fmt::format("another figure for {}: {} {}, {} [{}]", other->of, other->figure.value, other->figure.unit,
                        other->definition, other->figure.source);
    text += energy < 0 ? "\n" : fmt::format(": {} in all\n", energy_pj(energy));
  }
  return text + assumed_text(chip, {}, counts);
}

std::string hash_line(const ChipPicture& picture) {
  return fmt::format("hash {} of values, cycles and energy", picture.hash().text());
}

std::string assumed_text(const Chip& chip, std::span<const std::string_view> places, const PerEvent& counts) {
  std::vector<std::string> names;
  for (const ChipFigure* figure : chip.assumed()) {
    const std::string& pointer = figure->pointer;
    bool is_wanted = std::ranges::any_of(places, [&](std::string_view place) {
      return pointer.starts_with(place) && (pointer.size() == place.size() || pointer[place.size()] == '/');
    });
    if (pointer.starts_with("/energy/"))
      if (const std::optional<EnergyEvent> event = event_named(std::string_view(pointer).substr(8)))
        is_wanted = is_wanted || counts[*event] > 0;
    if (is_wanted)
      names.push_back(pointer.substr(1) + " " + figure->value + (figure->unit.size() > 1 ? " " + figure->unit : ""));
  }
  return names.empty() ? "" : "assumed: " + joined(names, ", ") + "\n";
}

std::vector<OtherEnergy> other_energies(const ChipPicture& picture) {
  std::vector<OtherEnergy> others;
  const PerEvent counts = picture.counts();
  for (const ChipAlternative& figure : picture.chip->alternatives) {
    OtherEnergy other{&figure, -1};
    const std::optional<EnergyEvent> event = event_named(figure.of);
    if (const std::optional<std::int64_t> price = price_of(figure.figure); event && price) {
      Chip changed;
      std::int64_t concerned = 0;
      for (std::size_t i = 0; i < energy_events; ++i) {
        const bool is_it = stands_for(*picture.chip, *event, static_cast<EnergyEvent>(i));
        changed.energy.at[i] = is_it ? *price : picture.chip->energy.at[i];
        if (is_it) concerned = std::max(concerned, counts.at[i]);
      }
      if (concerned > 0) other.energy = energy_of(counts, changed);
    }
    others.push_back(other);
  }
  return others;
}

std::string chip_text(const ChipPicture& picture) {
  return layers_table(picture) + chip_table(picture) + energy_table(picture) + hash_line(picture);
}

}  // namespace taskspec
