#include <fmt/format.h>

#include <algorithm>

#include "hwsim/report/chip_files.hpp"
#include "hwsim/report/chip_text.hpp"
#include "ir/json/text.hpp"

namespace taskspec {

namespace {

constexpr std::size_t most_stages = 40'000;  // that a page draws

class ChipJson {
 public:
  explicit ChipJson(const ChipPicture& picture) : picture_(picture), chip_(*picture.chip) {}

  std::string write(bool whole) {
    const ChipPicture& p = picture_;
    out_.open('{').member("title", p.title).member("chip", chip_.name).member("about", chip_.about);
    out_.member("kind", name_of(chip_.kind)).member("noc", p.noc).member("hz", chip_.hz);
    out_.key("grid").open('[').number(chip_.grid.cores.x).number(chip_.grid.cores.y).close(']');
    out_.key("chips").open('[').number(p.chips.x).number(p.chips.y).close(']');
    out_.member("per_router", chip_.grid.cores_per_router).member("cores_there", p.cores_there);
    out_.member("memory", p.core_bytes).member("units", chip_.mac.pixels * chip_.mac.outputs);
    out_.member("link_clk", chip_.noc.link_clk).member("steps", p.steps).member("cycles", p.cycles);
    out_.key("seconds").real(static_cast<double>(p.cycles) / static_cast<double>(chip_.hz));
    out_.member("latency", p.latency).member("interval", p.interval);
    per_step("packets", p.account.packets);
    out_.member("hash", p.hash().text());
    write_limit(p.limit);
    write_roofline();
    write_energy();
    write_assumed();
    list("sources", chip_.sources, [&](const ChipSource& source) {
      out_.open('{').member("key", source.key).member("title", source.title).member("where", source.where);
      out_.member("kind", source.kind).close('}');
    });
    list("notes", p.notes, [&](const std::string& note) { out_.string(note); });
    list("memory_parts", memory_parts, [&](std::string_view name) { out_.string(name); });
    list("layers", p.account.layers, [&](const LayerRow& row) { write_layer(row); });
    list("cores", p.account.cores, [&](const CoreRow& row) { write_core(row); });
    list("links", p.account.links, [&](const LinkRow& link) {
      out_.open('[').number(link.router).number(link.side);
      per_step(link.packets);
      out_.close(']');
    });
    list("hosts", p.account.hosts, [&](const HostRow& host) {
      out_.open('[').number(host.row);
      per_step(host.sent);
      per_step(host.taken);
      out_.close(']');
    });
    if (whole) write_stages();
    if (whole) list("populations", p.populations, [&](const PicturePopulation& some) { write_population(some); });
    out_.line().close('}');
    return out_.take();
  }

 private:
  template <class Items, class Write>
  void list(std::string_view name, const Items& items, const Write& write) {
    out_.line().key(name).open('[');
    for (const auto& item : items) write(item);
    out_.close(']');
  }
  void numbers(std::string_view name, const auto& values) {
    out_.key(name).open('[');
    for (const auto value : values) out_.number(static_cast<std::int64_t>(value));
    out_.close(']');
  }
  // Of a step, where the account is of so many: a whole number if all steps are alike.
  void per_step(std::int64_t sum) {
    if (const std::int64_t steps = picture_.account.steps; sum % steps == 0)
      out_.number(sum / steps);
    else
      out_.real(static_cast<double>(sum) / static_cast<double>(steps));
  }
  void per_step(std::string_view name, std::int64_t sum) {
    out_.key(name);
    per_step(sum);
  }
  void pj(std::string_view name, std::int64_t energy) {
    out_.key(name).real(static_cast<double>(energy) / static_cast<double>(energy_units_per_pj));
  }
  void energy_by(const PerEvent& counts, std::int64_t steps = 1) {
    const double unit = static_cast<double>(energy_units_per_pj) * static_cast<double>(steps);
    out_.key("energy").real(static_cast<double>(energy_of(counts, chip_)) / unit);
    out_.key("energy_by").open('[');
    for (const EnergyPart& part : energy_parts()) out_.real(static_cast<double>(energy_of(counts, part, chip_)) / unit);
    out_.close(']');
  }

  // Of a layer or a core, in a step; of a lumped chip nobody knows it.
  void energy_apart(const PerEvent& counts) {
    if (!chip_.lumped) return energy_by(counts, picture_.account.steps);
    out_.key("energy").null();
    out_.key("energy_by").open('[').close(']');
  }

  void write_limit(const StepLimit& limit) {
    out_.key("limit").open('{').member("group", limit.group).member("phase", limit.phase);
    out_.member("cycles", limit.cycles).member("layer", std::int64_t{limit.layer});
    out_.member("core", std::int64_t{limit.core}).member("stage", limit.stage);
    out_.member("stage_cycles", limit.stage_cycles);
    if (limit.port_clk > 0) {
      out_.member("port", limit.port.text).member("port_core", std::int64_t{limit.port.core});
      out_.member("port_clk", limit.port_clk).member("step_clk", limit.step_clk);
    }
    out_.close('}');
  }
  void write_roofline() {
    const Roofline roof = picture_.roofline();
    out_.key("roofline");
    if (!roof.is_there) return void(out_.null());
    out_.open('{').key("intensity").real(roof.intensity).key("ridge").real(roof.ridge);
    out_.key("bound").real(roof.bound).key("reached").real(roof.reached).close('}');
  }
  void write_energy() {
    const PerEvent counts = picture_.counts();
    out_.line();
    energy_by(counts);
    out_.key("lumped").boolean(chip_.lumped);
    list("energy_parts", energy_parts(), [&](const EnergyPart& part) { out_.string(part.name); });
    list("events", energy_items(counts, chip_), [&](const EnergyItem& item) {
      const ChipFigure* figure = chip_.figure("/energy/" + std::string(name_of(item.event)));
      out_.open('{').member("event", name_of(item.event)).member("count", item.count);
      pj("price", item.price);
      pj("energy", item.energy);
      out_.member("source", figure ? figure->source : "").close('}');
    });
    list("alternatives", other_energies(picture_), [&](const OtherEnergy& other) {
      const ChipAlternative& figure = *other.figure;
      out_.open('{').member("of", figure.of).member("definition", figure.definition);
      out_.member("value", figure.figure.value).member("unit", figure.figure.unit);
      out_.member("source", figure.figure.source);
      if (other.energy >= 0) pj("energy", other.energy);
      out_.close('}');
    });
  }
  void write_assumed() {
    list("assumed", chip_.assumed(), [&](const ChipFigure* figure) {
      out_.open('{').member("figure", std::string_view(figure->pointer).substr(1)).member("value", figure->value);
      out_.member("unit", figure->unit).close('}');
    });
  }

  void write_layer(const LayerRow& row) {
    const auto at = static_cast<std::size_t>(&row - picture_.account.layers.data());
    const ChipAccount& account = picture_.account;
    const PerEvent& counts = account.counts.layers()[at];
    out_.line().open('{').member("name", row.name).member("cores", row.cores).member("phase", row.phase);
    out_.member("group", row.group).member("neurons", row.neurons);
    per_step("spikes", counts[EnergyEvent::spike]);
    per_step("cycles", row.cycles);
    per_step("macs", row.multiply_adds);
    per_step("port_bytes", row.axon_bytes);
    out_.key("utilisation").real(row.utilisation).member("bytes", row.bytes);
    per_step("packets", row.packets);
    numbers("bytes_by", row.bytes_by);
    energy_apart(counts);
    out_.close('}');
  }
  void write_core(const CoreRow& row) {
    const auto at = static_cast<std::size_t>(&row - picture_.account.cores.data());
    out_.line().open('{').member("core", std::int64_t{row.core}).member("group", row.group);
    numbers("layers", row.layers);
    out_.member("bytes", row.bytes);
    per_step("busy", row.busy);
    per_step("macs", row.multiply_adds);
    per_step("packets", row.packets);
    numbers("bytes_by", row.bytes_by);
    energy_apart(picture_.account.counts.cores()[at]);
    out_.close('}');
  }

  void write_stages() {
    const std::int64_t first = first_frame(picture_.stages, most_stages);
    out_.line().member("first_frame", first).key("stages").open('[');
    for (const StageTime& stage : picture_.stages) {
      if (stage.frame < first) continue;
      out_.open('[').number(stage.core).number(stage.phase).number(stage.frame);
      out_.number(static_cast<std::int64_t>(stage.stage))
          .number(stage.begin)
          .number(stage.end - stage.begin)
          .close(']');
    }
    out_.close(']');
  }

  void write_population(const PicturePopulation& population) {
    out_.line().open('{').member("name", population.name).member("neurons", population.neurons);
    out_.member("steps", population.steps);
    numbers("shape", population.shape);
    out_.key("spikes").open('[');
    for (const auto& [step, neuron] : population.spikes) out_.number(step).number(neuron);
    out_.close(']');
    numbers("per_step", population.per_step);
    numbers("per_neuron", population.per_neuron);
    numbers("traced", population.traced);
    out_.key("potentials").open('[');
    for (const std::vector<std::int32_t>& trace : population.potentials) {
      out_.open('[');
      for (const std::int32_t v : trace) out_.number(v);
      out_.close(']');
    }
    out_.close(']').close('}');
  }

  const ChipPicture& picture_;
  const Chip& chip_;
  JsonText out_;
};

}  // namespace

std::string chip_json(const ChipPicture& picture, bool whole) { return ChipJson(picture).write(whole); }

}  // namespace taskspec
