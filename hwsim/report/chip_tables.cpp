// Rows for spreadsheets, and events for timelines.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "hwsim/report/chip_files.hpp"
#include "ir/json/text.hpp"

namespace taskspec {

namespace {

constexpr std::size_t most_events = 200'000;  // that a timeline opens well

// A field with what would end it.
std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\n\r") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

std::string csv_pj(std::int64_t energy) {
  const std::string text = energy_pj(energy);
  return text.substr(0, text.size() - 3);  // " pJ"
}

// Of a step, out of the sum of so many.
std::string csv_number(std::int64_t sum, std::int64_t steps) {
  return sum % steps == 0 ? fmt::format("{}", sum / steps)
                          : fmt::format("{:.4f}", static_cast<double>(sum) / static_cast<double>(steps));
}

std::string csv_energies(const PerEvent& counts, const Chip& chip, std::int64_t steps = 1) {
  std::string text = "," + csv_pj(energy_of(counts, chip) / steps);
  for (const EnergyPart& part : energy_parts()) text += "," + csv_pj(energy_of(counts, part, chip) / steps);
  return text + "\n";
}

// Of a layer or a core; of a lumped chip nobody knows it.
std::string csv_apart(const PerEvent& counts, const Chip& chip, std::int64_t steps) {
  if (!chip.lumped) return csv_energies(counts, chip, steps);
  return std::string(1 + energy_parts().size(), ',') + "\n";
}

}  // namespace

std::string chip_csv_head() {
  std::string head = "run,part,name,cores,phase,cycles,utilisation,bytes,packets,multiply_adds,pJ";
  for (const EnergyPart& part : energy_parts()) head += fmt::format(",pJ_{}", part.name);
  return head + "\n";
}

std::string chip_csv(const ChipPicture& picture) {
  const ChipAccount& account = picture.account;
  const Chip& chip = *picture.chip;
  const std::string run = csv_field(picture.title);
  const auto units = static_cast<double>(chip.mac.pixels * chip.mac.outputs);
  const auto share = [units](std::int64_t products, std::int64_t clk) {
    return units > 0 && clk > 0 ? static_cast<double>(products) / (units * static_cast<double>(clk)) : 0.0;
  };
  std::int64_t products = 0;
  for (const LayerRow& row : account.layers) products += row.multiply_adds;
  const auto in_use = static_cast<std::int64_t>(account.cores.size());
  std::string text = fmt::format("{},chip,{},{},,{},{},{},{},{}", run, csv_field(chip.name), in_use, picture.cycles,
                                 share(products * picture.steps, picture.cycles * in_use), account.memory,
                                 account.packets * (picture.steps / account.steps), products * picture.steps) +
                     csv_energies(picture.counts(), chip);
  for (std::size_t i = 0; i < account.layers.size(); ++i) {
    const LayerRow& row = account.layers[i];
    text += fmt::format("{},layer,{},{},{},{},{},{},{},{}", run, csv_field(row.name), row.cores, row.phase,
                        csv_number(row.cycles, account.steps), row.utilisation, row.bytes,
                        csv_number(row.packets, account.steps), row.multiply_adds) +
            csv_apart(account.counts.layers()[i], chip, account.steps);
  }
  const std::int64_t interval = picture.interval > 0 ? picture.interval : picture.latency;
  for (std::size_t i = 0; i < account.cores.size(); ++i) {
    const CoreRow& row = account.cores[i];
    text += fmt::format("{},core,{},1,,{},{},{},{},{}", run, row.core, csv_number(row.busy, account.steps),
                        share(row.multiply_adds, interval), row.bytes, csv_number(row.packets, account.steps),
                        row.multiply_adds) +
            csv_apart(account.counts.cores()[i], chip, account.steps);
  }
  const std::string head = chip_csv_head();
  const std::string empty(static_cast<std::size_t>(std::ranges::count(head, ',')) - 2, ',');
  for (const ChipFigure* figure : chip.assumed())
    text +=
        fmt::format("{},assumed,{}{}\n", run,
                    csv_field(fmt::format("{} {} {}", figure->pointer.substr(1), figure->value, figure->unit)), empty);
  return text;
}

std::int64_t first_frame(const std::vector<StageTime>& stages, std::size_t most) {
  std::vector<std::size_t> in_frame;
  for (const StageTime& stage : stages) {
    in_frame.resize(std::max(in_frame.size(), static_cast<std::size_t>(stage.frame) + 1));
    ++in_frame[static_cast<std::size_t>(stage.frame)];
  }
  std::size_t first = in_frame.size(), kept = 0;
  while (first > 0 && (first == in_frame.size() || kept + in_frame[first - 1] <= most)) kept += in_frame[--first];
  return static_cast<std::int64_t>(first);
}

std::string_view stage_name(StageTime::Stage stage) {
  constexpr std::string_view names[] = {"axon", "soma1", "send", "wait", "soma2"};
  return names[static_cast<std::size_t>(stage)];
}

std::string chip_trace(const ChipPicture& picture, int process) {
  constexpr int stages = 5;
  const std::int64_t first = first_frame(picture.stages, most_events);
  const double us = 1e6 / static_cast<double>(picture.chip->hz);
  std::string out =
      fmt::format(",\n{{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":{},\"tid\":0,\"args\":{{\"name\":{}}}}}",
                  process, json_quoted("chip: " + picture.title));
  std::set<std::pair<std::int32_t, int>> rows;
  for (const StageTime& stage : picture.stages) rows.insert({stage.core, static_cast<int>(stage.stage)});
  for (const auto& [core, stage] : rows) {
    const int row = core * stages + stage + 1;
    const CoreRow& place = picture.account.cores[static_cast<std::size_t>(core)];
    out += fmt::format(
        ",\n{{\"name\":\"thread_name\",\"ph\":\"M\",\"pid\":{0},\"tid\":{1},\"args\":{{\"name\":\"core {2} {3}\"}}}}"
        ",\n{{\"name\":\"thread_sort_index\",\"ph\":\"M\",\"pid\":{0},\"tid\":{1},\"args\":{{\"sort_index\":{1}}}}}",
        process, row, place.core, stage_name(static_cast<StageTime::Stage>(stage)));
  }
  for (const StageTime& stage : picture.stages) {
    if (stage.frame < first) continue;
    const CoreRow& place = picture.account.cores[static_cast<std::size_t>(stage.core)];
    const auto phase = static_cast<std::size_t>(stage.phase);
    const std::int32_t layer = phase < place.layers.size() ? place.layers[phase] : -1;
    const std::string name =
        layer < 0 ? std::string("idle") : picture.account.layers[static_cast<std::size_t>(layer)].name;
    out += fmt::format(
        ",\n{{\"name\":{},\"cat\":\"{}\",\"ph\":\"X\",\"pid\":{},\"tid\":{},\"ts\":{:.4f},\"dur\":{:.4f},\"args\":"
        "{{\"phase\":{},\"frame\":{},\"clk\":{},\"clks\":{}}}}}",
        json_quoted(name), stage_name(stage.stage), process, stage.core * stages + static_cast<int>(stage.stage) + 1,
        static_cast<double>(stage.begin) * us, static_cast<double>(stage.end - stage.begin) * us, stage.phase,
        stage.frame, stage.begin, stage.end - stage.begin);
  }
  return out;
}

}  // namespace taskspec
