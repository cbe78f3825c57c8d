#include "hwsim/map/refusals.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "hwsim/map/buffer_places.hpp"

namespace taskspec {

namespace {

constexpr std::size_t most_parts_told = 3;
constexpr std::int64_t most_bank_bytes = std::int64_t{1} << 32, line_bytes = 16;

// The buffers of every piece that differs from the others, way by way, without what they hold.
struct CoreBuffers {
  std::vector<ChipBuffer> list;
  std::int32_t phases = 1;
};
using WaysToCut = std::vector<std::vector<CoreBuffers>>;

std::int64_t received_bytes(const CoreBuffers& buffers) {
  std::int64_t bytes = 0;
  for (const ChipBuffer& buffer : buffers.list) bytes += buffer.use == BufferUse::receive ? buffer.bytes : 0;
  return bytes;
}

bool fits_core(const CoreBuffers& buffers, const Chip& chip) {
  if (chip.limits.receive_bytes && received_bytes(buffers) > *chip.limits.receive_bytes) return false;
  std::vector<ChipBuffer> placed = buffers.list;
  return place_buffers(chip, placed, buffers.phases).fits;
}

WaysToCut ways_to_cut(const ChipNet& net, const ChipUnit& unit, std::span<const UnitChoice> choices,
                      const UnitRows* rows) {
  WaysToCut ways;
  for (const UnitChoice& choice : choices) {
    const Result<std::vector<UnitPiece>> pieces = cut_unit(net, unit, choice.grid);
    if (!pieces) continue;
    ways.emplace_back();
    std::set<std::vector<Extents>> seen;
    for (const UnitPiece& piece : *pieces) {
      if (!seen.insert(sizes_of(piece)).second) continue;
      Result<PieceBuffers> made =
          buffers_of(net, unit, piece, {.rows = rows, .pipeline_rows = choice.pipeline_rows, .only_sizes = true});
      if (made) ways.back().push_back({std::move(made->buffers), static_cast<std::int32_t>(made->phases.size())});
    }
  }
  std::erase_if(ways, [](const auto& pieces) { return pieces.empty(); });  // rows that cannot be taken apart
  return ways;
}

bool fits_chip(const WaysToCut& ways, const Chip& chip) {
  return std::ranges::any_of(ways, [&](const std::vector<CoreBuffers>& pieces) {
    return std::ranges::all_of(pieces, [&](const CoreBuffers& buffers) { return fits_core(buffers, chip); });
  });
}

// With a bank of so many bytes, and those behind it as much further on.
Chip with_bank(const Chip& chip, std::size_t bank, std::int64_t bytes) {
  Chip made = chip;
  const std::int64_t more = bytes - chip.banks[bank].bytes;
  made.banks[bank].bytes = bytes;
  for (std::size_t i = bank + 1; i < made.banks.size(); ++i) made.banks[i].base += more;
  return made;
}
Chip with_receive(const Chip& chip, std::int64_t bytes) {
  Chip made = chip;
  made.limits.receive_bytes = bytes;
  return made;
}

// The least number, `from` or more by whole steps, from which on it fits.
template <class Fits>
std::optional<std::int64_t> least_bytes(std::int64_t from, std::int64_t step, Fits&& fits) {
  if (fits(from)) return from;
  std::int64_t high = 1;
  for (; !fits(from + high * step); high *= 2)
    if (high * step > most_bank_bytes) return std::nullopt;
  std::int64_t low = high / 2;  // does not fit; high does
  while (high - low > 1) {
    const std::int64_t middle = low + (high - low) / 2;
    (fits(from + middle * step) ? high : low) = middle;
  }
  return from + high * step;
}

// What differs: banks, the places of those behind them, the receive area.
std::string change_text(const Chip& chip, const Chip& larger) {
  std::vector<std::string> changes, banks;
  for (std::size_t bank = 0; bank < chip.banks.size(); ++bank) {
    const ChipBank &was = chip.banks[bank], &is = larger.banks[bank];
    if (is.base != was.base) changes.push_back(fmt::format("memory/{}/base of {}", bank, is.base));
    if (is.bytes == was.bytes) continue;
    changes.push_back(fmt::format("memory/{}/bytes of {}", bank, is.bytes));
    banks.push_back(fmt::format("bank {} has {}", was.name, was.bytes));
  }
  if (larger.limits.receive_bytes != chip.limits.receive_bytes)
    changes.push_back(fmt::format("limits/receive_bytes of {}", *larger.limits.receive_bytes));
  const std::string last = changes.back();
  changes.pop_back();
  std::string text =
      changes.empty() ? last + " suffices" : fmt::format("{} and {} suffice", fmt::join(changes, ", "), last);
  if (!banks.empty()) text += fmt::format(": {}", fmt::join(banks, ", "));
  return text;
}

// Of the file of the chip: the receive area, a bank, or as few of all of them as do.
std::optional<std::string> smallest_change(const WaysToCut& ways, const Chip& chip) {
  const std::size_t banks = chip.banks.size();
  if (chip.limits.receive_bytes) {
    const auto fits = [&](std::int64_t bytes) { return fits_chip(ways, with_receive(chip, bytes)); };
    if (fits(most_bank_bytes))
      return change_text(chip, with_receive(chip, *least_bytes(*chip.limits.receive_bytes, 1, fits)));
  }
  for (std::size_t bank = banks; bank-- > 0;) {
    const auto fits = [&](std::int64_t bytes) { return fits_chip(ways, with_bank(chip, bank, bytes)); };
    if (const auto bytes = least_bytes(chip.banks[bank].bytes, line_bytes, fits))
      return change_text(chip, with_bank(chip, bank, *bytes));
  }
  // All of them as large as one likes, then one after another as small as may be: those that need not grow do not.
  Chip larger = chip;
  for (std::size_t bank = 0; bank < banks; ++bank) larger = with_bank(larger, bank, most_bank_bytes);
  if (chip.limits.receive_bytes) larger.limits.receive_bytes = most_bank_bytes;
  if (!fits_chip(ways, larger)) return std::nullopt;
  for (std::size_t bank = 0; bank < banks; ++bank) {
    const auto fits = [&](std::int64_t bytes) { return fits_chip(ways, with_bank(larger, bank, bytes)); };
    if (const auto bytes = least_bytes(chip.banks[bank].bytes, line_bytes, fits))
      larger = with_bank(larger, bank, *bytes);
  }
  if (chip.limits.receive_bytes) {
    const auto fits = [&](std::int64_t bytes) { return fits_chip(ways, with_receive(larger, bytes)); };
    larger = with_receive(larger, *least_bytes(*chip.limits.receive_bytes, 1, fits));
  }
  return change_text(chip, larger);
}

// Why it is not cut any further, in words of its record.
std::string cut_reason(const ChipNet& net, const ChipUnit& unit, bool cuts_rows) {
  for (const PieceGrid& grid : grids_of(net, unit, cuts_rows))
    if (const Result<std::vector<UnitPiece>> pieces = cut_unit(net, unit, grid); !pieces)
      return pieces.diags().items().front().message;
  return "";
}

}  // namespace

std::string largest_of(std::vector<std::pair<std::string, std::int64_t>> parts, std::string_view unit) {
  std::ranges::stable_sort(parts, std::greater<>(), [](const auto& part) { return part.second; });
  std::string text;
  for (std::size_t i = 0; i < std::min(parts.size(), most_parts_told); ++i)
    text +=
        fmt::format("{}{} {}{}{}", i == 0 ? "" : ", ", parts[i].first, parts[i].second, unit.empty() ? "" : " ", unit);
  if (parts.size() > most_parts_told) text += fmt::format(" and {} more", parts.size() - most_parts_told);
  return text;
}

Diag unit_refusal(const ChipNet& net, const ChipUnit& unit, std::span<const UnitChoice> choices, const Chip& chip,
                  const UnitRows* rows) {
  const Span span = (*net.graph)[net.works[unit.last()].block].span;
  Diag diag("E4041", Severity::error, span, fmt::format("'{}' fits no core of {}", unit.name, chip.name));
  if (choices.empty()) return diag;
  const UnitChoice& least = choices.back();
  diag.note(fmt::format("cut into {} pieces (y x x x f: {}), '{}' takes {} bytes, {} are there", least.grid.pieces(),
                        least.grid.text(), least.cost.first, least.cost.first_bytes, least.cost.there));
  const WaysToCut ways = ways_to_cut(net, unit, choices, rows);
  if (ways.empty()) return diag;
  std::vector<std::pair<std::string, std::int64_t>> parts;
  std::int64_t bytes = 0;
  for (const CoreBuffers& piece : ways.back()) {
    if (fits_core(piece, chip)) continue;
    for (const ChipBuffer& buffer : piece.list) {
      parts.emplace_back(fmt::format("'{}'{}", buffer.name, buffer.use == BufferUse::receive ? " as it arrives" : ""),
                         buffer.bytes);
      bytes += buffer.bytes;
    }
    break;
  }
  diag.note(fmt::format("of {} B in such a core: {}", bytes, largest_of(std::move(parts), "B")));
  if (const std::string why = cut_reason(net, unit, rows == nullptr); !why.empty()) diag.note(why);
  if (const auto change = smallest_change(ways, chip))
    diag.help("in the chip's file " + *change);
  else
    diag.help("a smaller layer");
  return diag;
}

Diag cores_refusal(const Chip& chip, ChipExtent chips, std::int64_t there, std::optional<std::int32_t> asked,
                   std::int64_t needed, std::vector<UnitCores> units, std::optional<std::int64_t> phases) {
  Diag diag("E4042", Severity::error, {},
            fmt::format("the net needs {} cores of {}, {} are there", needed, chip.name, there));
  std::vector<std::pair<std::string, std::int64_t>> parts;
  std::int64_t alone = 0, bytes = 0, per_core = 0;
  for (const ChipBank& bank : chip.banks) per_core += bank.bytes;
  for (UnitCores& unit : units) {
    alone += unit.cores;
    bytes += unit.bytes;
    parts.emplace_back("'" + std::move(unit.name) + "'", unit.cores);
  }
  diag.note(fmt::format("one unit a core it would need {}; most for {}", alone, largest_of(std::move(parts), "")));
  diag.note(fmt::format("its pieces take {} B, {} cores have {} B", bytes, there, there * per_core));
  std::string or_phases;
  if (phases) {
    diag.note(
        fmt::format("their memory suffices, but a core has {} phases, one for each unit on it, where {} are needed",
                    *chip.limits.phases, *phases));
    or_phases = fmt::format(", or in the chip's file limits/phases of {}", *phases);
  }
  const std::int64_t per_chip = chip.grid.cores.area();
  if (asked && needed <= per_chip * chips.area())
    return diag.help(fmt::format("cores: {} suffice{}", needed, or_phases)), diag;
  const std::optional<ChipExtent> best = fewest_chips(chip.grid, needed);
  const std::string without = asked ? ", without a number of cores" : "";
  if (best)
    diag.help(fmt::format("chips: [{}, {}] suffice{}{}", best->x, best->y, without, or_phases));
  else if (phases)
    diag.help(fmt::format("in the chip's file limits/phases of {} suffices", *phases));
  else
    diag.help(
        fmt::format("at most [{}, {}] chips can be joined, which have {} cores: a smaller net, or a chip with more",
                    chip.grid.max_chips.x, chip.grid.max_chips.y, per_chip * chip.grid.max_chips.area()));
  return diag;
}

Diags room_refusals(const Chip& chip, ChipExtent chips, std::optional<std::int32_t> cores) {
  Diags diags;
  if (chips.x > chip.grid.max_chips.x || chips.y > chip.grid.max_chips.y) {
    diags
        .error("E4043", {},
               fmt::format("{} x {} chips, of {} at most {} x {} can be joined", chips.x, chips.y, chip.name,
                           chip.grid.max_chips.x, chip.grid.max_chips.y))
        .help(fmt::format("chips: [{}, {}]", std::min(chips.x, chip.grid.max_chips.x),
                          std::min(chips.y, chip.grid.max_chips.y)));
    return diags;
  }
  if (!cores) return diags;
  if (*cores < 1) {
    diags.error("E4043", {}, fmt::format("a chip is used with one core or more, not with {}", *cores)).help("cores: 1");
    return diags;
  }
  const std::int64_t there = chip.grid.cores.area() * chips.area();
  if (*cores <= there) return diags;
  std::string fits = fmt::format("cores: {}", there);
  if (const auto more = fewest_chips(chip.grid, *cores)) fits += fmt::format(", or chips: [{}, {}]", more->x, more->y);
  const std::string chips_have =
      chips.area() == 1 ? "which has" : fmt::format("of which {} x {} chips have", chips.x, chips.y);
  diags.error("E4043", {}, fmt::format("{} cores of {}, {} {}", *cores, chip.name, chips_have, there))
      .help(std::move(fits));
  return diags;
}

namespace {

bool is_neuron(const TaskBlock& block) {
  return std::ranges::any_of(block.def->in, [](const ClusterDef& cluster) { return cluster.state; });
}

std::string pairs_text(const Chip& chip) {
  std::vector<std::string> pairs;
  for (const auto& [activation, weight] : chip.mac.pairs)
    pairs.push_back(fmt::format("{} by {}", info(activation).name, info(weight).name));
  return fmt::format("{}", fmt::join(pairs, ", "));
}

}  // namespace

Diags kind_refusals(const Chip& chip) {
  Diags diags;
  if (chip.kind != ChipKind::primitive)
    diags
        .error("E4045", {},
               fmt::format("{} does not run Task IR blocks one by one: it is a chip of kind {}", chip.name,
                           name_of(chip.kind)))
        .help(fmt::format("run ... on hw(chip: \"{}\") runs the net there; mappings that can be looked at and changed "
                          "are for chips of kind primitive: tianjicx, tiny",
                          chip.name));
  return diags;
}

Diags chip_refusals(const ChipNet& net, const Chip& chip) {
  Diags diags = kind_refusals(chip);
  for (const NetWork& work : net.works) {
    const TaskBlock& block = (*net.graph)[work.block];
    const bool neuron = is_neuron(block);
    if ((neuron && !chip.runs_snn) || (!neuron && block.def->kind == BlockKind::soma && !chip.runs_ann))
      diags
          .error("E4045", block.span,
                 fmt::format("{} '{}' is of {} networks, which {} does not run", block.def->name, block.name,
                             neuron ? "spiking" : "other than spiking", chip.name))
          .help(fmt::format("a chip whose file has \"{}\" in runs", neuron ? "snn" : "ann"));
    for (std::size_t c = 0; c < work.in.size() && chip.kind == ChipKind::primitive; ++c) {
      if (block.in_cluster(c).name != "weight" || !work.in[c].is_there() || !work.in[0].is_there()) continue;
      const Precision activation = work.in[0].type.precision, weight = work.in[c].type.precision;
      if (chip.mac.takes(activation, weight)) continue;
      diags
          .error("E4045", block.span,
                 fmt::format("{} '{}' multiplies {} by {}, which {} does not", block.def->name, block.name,
                             info(activation).name, info(weight).name, chip.name))
          .help("it multiplies " + pairs_text(chip));
    }
  }
  return diags;
}

}  // namespace taskspec
