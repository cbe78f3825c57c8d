// Why a unit is mapped as it is: what was chosen and takes what, what else there was and why it lost, what limits the
// step, and the least that would move the limit.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "hwsim/map/optimise.hpp"
#include "ir/base/text.hpp"

namespace taskspec {

namespace {

constexpr std::size_t most_tried = 12;

std::string_view part_name(const ChipBuffer& buffer) {
  switch (buffer.use) {
    case BufferUse::fixed:
      return "weights and tables";
    case BufferUse::state:
      return "states";
    case BufferUse::input:
      return "inputs";
    case BufferUse::receive:
      return "receive area";
    case BufferUse::sum:
      return "sums";
    case BufferUse::result:
      return "results";
    case BufferUse::memory:
      return "memory of blocks";
  }
  return "";
}

}  // namespace

class MapExplainer {
 public:
  MapExplainer(ChipMapping& mapping, std::size_t unit)
      : mapping_(mapping),
        unit_(unit),
        first_(mapping.decisions()),
        now_(mapping.estimate()),
        own_(first_.units[unit]) {
    for (std::size_t piece = 0; piece < own_.cores.size(); ++piece)
      if (const PieceLoad load = mapping.estimator().load(unit, piece);
          load.work() + load.move > worst_.work() + worst_.move || piece == 0)
        worst_ = load, worst_piece_ = piece;
  }

  std::string text() {
    std::string out = chosen() + memory() + cycles();
    out += others();
    out += limit();
    out += change();  // of what limits
    back();
    return out;
  }

 private:
  void back() {
    if (mapping_.estimator_->set(first_)) bug("what was there before is no longer possible");
  }
  const std::string& name(std::size_t unit) const { return mapping_.units().units[unit].name; }

  std::string chosen() const {
    return fmt::format("{}: {}\n  cut y x x x f: {}, {}; phase {} of {} of group {}; {} {}\n", name(unit_),
                       unit_text(mapping_.net(), mapping_.units().units[unit_]), own_.grid.text(),
                       plural(own_.cores.size(), "piece"), own_.phase, phases_of(first_, own_.group), own_.group,
                       own_.cores.size() == 1 ? "core" : "cores", cores());
  }
  std::string cores() const {
    std::vector<std::string> list;
    for (std::int32_t core : own_.cores) list.push_back(std::to_string(core));
    return joined(list, " ");
  }

  std::string memory() const {
    const std::int32_t number = own_.cores[worst_piece_];
    const ChipCore core = mapping_.estimator().core(number);
    std::map<std::string_view, std::int64_t> parts;
    std::int64_t all = 0;
    const ChipUnit& unit = mapping_.units().units[unit_];
    std::vector<std::string> names;
    for (std::size_t work : {unit.axon, unit.soma})
      if (work != no_work) names.push_back((*mapping_.net().graph)[mapping_.net().works[work].block].name);
    for (const ChipBuffer& buffer : core.buffers) {
      const bool is_own = std::ranges::any_of(
          names, [&](const std::string& of) { return buffer.name == of || buffer.name.starts_with(of + "."); });
      if (!is_own) continue;
      parts[part_name(buffer)] += buffer.bytes;
      all += buffer.bytes;
    }
    std::vector<std::string> list;
    for (const auto& [part, bytes] : parts) list.push_back(fmt::format("{} {}", part, bytes));
    return fmt::format("  memory of its slowest piece: {} B: {}; core {} has {} of {} B in use\n", all,
                       joined(list, ", "), number, mapping_.estimator().bytes_of(number),
                       mapping_.chip().memory_bytes());
  }

  std::string cycles() const {
    return fmt::format("  cycles of that piece: axon {}, soma1 {}, send {} packets, receive {} packets, soma2 {}\n",
                       worst_.axon, worst_.soma, worst_.out, worst_.in, worst_.move);
  }

  // ---- candidates ---------------------------------------------------------------------------------
  struct Candidate {
    PieceGrid grid;
    std::optional<MapEstimate> estimate;
    std::string why;  // it lost
  };

  std::vector<Candidate> candidates() {
    std::vector<PieceGrid> grids = grids_of(mapping_.net(), mapping_.units().units[unit_]);
    std::erase(grids, own_.grid);
    const std::int64_t pieces = own_.grid.pieces();
    std::ranges::stable_sort(grids, {}, [&](const PieceGrid& grid) { return std::abs(grid.pieces() - pieces); });
    if (grids.size() > most_tried) grids.resize(most_tried);
    std::vector<Candidate> made;
    for (const PieceGrid& grid : grids) made.push_back(tried(grid));
    std::ranges::stable_sort(made, [&](const Candidate& a, const Candidate& b) {
      if (!a.estimate || !b.estimate) return a.estimate && !b.estimate;
      return is_better(*a.estimate, *b.estimate, mapping_.options().objective);
    });
    return made;
  }

  Candidate tried(const PieceGrid& grid) {
    Candidate made{.grid = grid, .estimate = {}, .why = {}};
    Diags diags;
    MapDecisions next = mapping_.with_grid(unit_, grid, diags);
    if (!diags.has_errors()) {
      tidy(next);
      if (auto fault = mapping_.estimator_->set(next)) {
        made.why = fault->message;
      } else {
        made.estimate = mapping_.estimate();
        back();
        made.why = lost(*made.estimate);
      }
    } else {
      made.why = diags.items().front().message;
    }
    return made;
  }

  std::string lost(const MapEstimate& other) const {
    std::vector<std::string> over;
    auto more = [&](std::int64_t now, std::int64_t then, std::string_view what) {
      if (then > now) over.push_back(fmt::format("{} {} more", then - now, what));
    };
    more(now_.interval, other.interval, "clk between steps");
    more(now_.latency, other.latency, "clk of latency");
    more(now_.memory, other.memory, "bytes on the fullest core");
    more(now_.cores, other.cores, other.cores - now_.cores == 1 ? "core" : "cores");
    more(now_.packets, other.packets, "packets");
    if (other.energy > now_.energy) over.push_back(energy_pj(other.energy - now_.energy) + " more");
    if (is_better(other, now_, mapping_.options().objective))
      return "better for the objective, by the estimate: split takes it";
    return over.empty() ? std::string("nothing gained") : joined(over, ", ");
  }

  std::string others() {
    std::string text;
    tried_ = candidates();
    for (std::size_t i = 0; i < tried_.size() && i < 2; ++i)
      text += fmt::format("  {} {}: {}\n", i == 0 ? "next candidate" : "then", tried_[i].grid.text(), tried_[i].why);
    return text.empty() ? "  it can be cut in no other way\n" : text;
  }

  // ---- the limit ----------------------------------------------------------------------------------
  std::string limit() {
    const std::vector<std::int64_t>& steps = mapping_.estimator().steps();
    const auto slowest = std::ranges::max_element(steps) - steps.begin();
    if (now_.busiest_link > steps[static_cast<std::size_t>(slowest)])
      return fmt::format("  the step takes {} clk: for so long its packets hold {}\n", now_.busiest_link,
                         mapping_.estimator().busiest_place().text);
    std::vector<std::string> names;
    std::int64_t most = -1;
    for (std::size_t u = 0; u < first_.units.size(); ++u) {
      if (first_.units[u].group != slowest) continue;
      names.push_back("'" + name(u) + "'");
      for (std::size_t piece = 0; piece < first_.units[u].cores.size(); ++piece) {
        const PieceLoad load = mapping_.estimator().load(u, piece);
        if (load.work() + load.move <= most) continue;
        most = load.work() + load.move;
        limiting_ = u;
        const std::pair<std::int64_t, std::string_view> stages[] = {
            {load.axon, "axon"}, {load.soma, "soma1"}, {load.out, "send"}, {load.move, "soma2"}};
        stage_ = std::ranges::max_element(stages)->second;
      }
    }
    return fmt::format("  the step takes {} clk: those of group {}, which is {}; most of it the {} of '{}'\n",
                       now_.interval, slowest, joined(names, ", "), stage_, name(*limiting_));
  }

  // Fewest more cores first.
  std::string change() {
    if (!limiting_) return "  move cores to bring other links or ports into use\n";
    std::vector<PieceGrid> grids = grids_of(mapping_.net(), mapping_.units().units[*limiting_]);
    const PieceGrid has = first_.units[*limiting_].grid;
    std::erase_if(grids, [&](const PieceGrid& grid) { return grid.pieces() <= has.pieces(); });
    std::string why;
    auto told = [&](const std::string& action) {
      return fmt::format("  the least that moves it: {}: interval {} -> {} clk, {} -> {} cores\n", action,
                         now_.interval, mapping_.estimate().interval, now_.cores, mapping_.estimate().cores);
    };
    for (std::size_t i = 0; i < grids.size() && i < most_tried; ++i) {
      Diags diags;
      MapDecisions next = mapping_.with_grid(*limiting_, grids[i], diags);
      if (diags.has_errors()) {
        why = diags.items().front().message;
        break;
      }
      tidy(next);
      if (auto fault = mapping_.estimator_->set(next)) {
        why = fault->message;
        continue;
      }
      if (mapping_.estimate().interval < now_.interval)
        return told(
            fmt::format("split(\"{}\", y: {}, x: {}, f: {})", name(*limiting_), grids[i].y, grids[i].x, grids[i].f));
      back();
    }
    back();
    // A unit that shares cores with it may go.
    for (std::size_t u = 0; u < first_.units.size(); ++u) {
      if (first_.units[u].group != first_.units[*limiting_].group) continue;
      const std::size_t history = mapping_.history();
      const bool is_done = static_cast<bool>(mapping_.take_out(name(u)));
      mapping_.before_.resize(history);
      if (is_done && mapping_.estimate().interval < now_.interval)
        return told(fmt::format("take_out(\"{}\")", name(u)));
      back();
    }
    return fmt::format("  no single change moves it{}\n", why.empty() ? "" : ": " + why);
  }

  ChipMapping& mapping_;
  const std::size_t unit_;
  const MapDecisions first_;
  const MapEstimate now_;
  const MapUnit own_;
  PieceLoad worst_;
  std::size_t worst_piece_ = 0;
  std::vector<Candidate> tried_;
  std::optional<std::size_t> limiting_;
  std::string_view stage_;
};

Result<std::string> ChipMapping::explain(std::string_view name) {
  Diags diags;
  const std::optional<std::size_t> unit = find(name, diags);
  if (!unit) return diags;
  const auto behind = behind_;
  std::string text = MapExplainer(*this, *unit).text();
  behind_ = behind;
  return text;
}

}  // namespace taskspec
