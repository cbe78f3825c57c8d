// `taskspec map`: a graph of a program on the cores of a chip, at any stage of the mapper.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "hwsim/map/mapping_file.hpp"
#include "hwsim/map/optimise.hpp"
#include "hwsim/report/chip_text.hpp"
#include "interp/cli/commands.hpp"
#include "interp/cli/stages.hpp"
#include "interp/cli/terminal.hpp"
#include "interp/hw/map_words.hpp"
#include "ir/base/text.hpp"
#include "ir/files/files.hpp"

namespace taskspec::cli {

namespace {

std::int64_t number_in(std::string_view text, const char* option) {
  std::int64_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  if (read.ec != std::errc() || read.ptr != text.data() + text.size() || number < 1)
    throw failure("E5003", {}, fmt::format("--{} takes whole numbers from 1, not '{}'", option, text));
  return number;
}

MapOptions map_options(const Options& options, const Toolbox& tools) {
  MapOptions made;
  made.blocks = tools.blocks;
  std::string chip = default_chip;
  for (const auto& [name, text] : options.backend_options) {
    if (name == "chip") chip = text;
    if (name == "cores")
      made.cores = static_cast<std::int32_t>(std::min<std::int64_t>(INT32_MAX, number_in(text, "cores")));
    if (name == "slabs") made.slabs = number_in(text, "slabs");
    if (name == "depth")
      made.depth = static_cast<std::int32_t>(std::min<std::int64_t>(INT32_MAX, number_in(text, "depth")));
    if (name == "step_groups")
      made.step_groups = static_cast<std::int32_t>(std::min<std::int64_t>(INT32_MAX, number_in(text, "step-groups")));
    if (name == "a2s2") made.fetches_ahead = true;
    if (name == "chips") {
      const std::size_t comma = text.find(',');
      if (comma == std::string::npos)
        throw failure(
            "E5003", {},
            fmt::format("--chips takes two numbers, how many side by side and how many rows: 2,1, not '{}'", text));
      made.chips = {number_in(std::string_view(text).substr(0, comma), "chips"),
                    number_in(std::string_view(text).substr(comma + 1), "chips")};
    }
    if (name != "objective") continue;
    const std::optional<MapObjective> objective = map_objective(text);
    if (!objective) throw failure("E5003", {}, "no objective '" + text + "'; throughput, latency, energy or cores");
    made.objective = *objective;
  }
  made.chip = std::make_shared<const Chip>(load_chip(chip).value_or_throw());
  return made;
}

std::string backend_option(const Options& options, std::string_view wanted) {
  for (const auto& [name, text] : options.backend_options)
    if (name == wanted) return text;
  return "";
}

// The search tells its changes on the way.
ChipMapping mapping_of(ChipNet net, const Options& options, const Toolbox& tools) {
  const MapOptions room = map_options(options, tools);
  const std::string file = backend_option(options, "mapping"), budget = backend_option(options, "optimise");
  const auto read = [&] {
    MapFile made = read_mapping(read_text(file, std::size_t{64} << 20), file).value_or_throw();
    const auto is_written = [&](std::string_view option) { return !backend_option(options, option).empty(); };
    const WrittenWords written{.objective = is_written("objective"),
                               .slabs = is_written("slabs"),
                               .depth = is_written("depth"),
                               .step_groups = is_written("step_groups"),
                               .a2s2 = is_written("a2s2")};
    require_alike(room, written, made, !budget.empty());
    return made;
  };
  ChipMapping mapping =
      (file.empty() ? ChipMapping::make(std::move(net), room) : apply(read(), std::move(net), room)).value_or_throw();
  if (budget.empty()) return mapping;
  std::optional<SearchBudget> search = search_budget(budget);
  if (!search) throw failure("E5003", {}, "--optimise takes a time, 30s, or a number of moves, 20000");
  search->interrupted = &interrupted();
  const Optimised done = optimise(mapping, *search, [](const std::string& line) { write_out(line + "\n"); });
  write_out(fmt::format("{} moves, {} accepted\n", done.moves, done.accepted));
  return mapping;
}

// Notes of the program that it makes, and the assumed figures that its clk and pJ rest on.
std::string foot(const ChipMapping& mapping) {
  std::string text;
  const ChipProgram program = mapping.program().value_or_throw();
  for (const std::string& note : program.notes) text += note + "\n";
  std::vector<std::string_view> rests = {"/grid",   "/clock", "/sync",         "/limits",
                                         "/memory", "/rules", "/noc/link_clk", "/noc/hop_clk"};
  if (program.chips.area() > 1) rests.insert(rests.end(), {"/noc/chip_packet_clk", "/noc/chip_hop_clk"});
  return text + assumed_text(mapping.chip(), rests, mapping.estimator().counts());
}

}  // namespace

int map(const Options& options, const Toolbox& tools) {
  Loaded loaded = load(options, tools);
  if (!loaded.program) return loaded.exit_code;
  const Program& program = *loaded.program;
  std::vector<std::string> names = names_of_blocks(program);
  const std::size_t declared = names.size();
  for (std::string& value : names_of_net_values(program))
    if (std::ranges::find(names, value) == names.end()) names.push_back(std::move(value));
  const bool is_one = options.graph.empty() && names.size() == 1;
  const std::string name = is_one ? names[0] : options.graph;
  const auto found = std::ranges::find(names, name);
  if (found == names.end())
    return usage(name.empty() ? "which graph? Choose with --name: " + joined(names, ", ")
                              : "no graph, 'ir' declaration or net '" + name + "'; there are " + joined(names, ", "));
  const bool is_declared = static_cast<std::size_t>(found - names.begin()) < declared;
  try {
    ChipNet net =
        chip_net(is_declared ? block_graph_of(program, name, tools) : block_graph_of_value(program, name, tools))
            .value_or_throw();
    ChipMapping mapping = mapping_of(std::move(net), options, tools);
    if (!options.output.empty()) write_text(options.output, mapping_json(mapping));
    if (!options.topic.empty())
      write_out(mapping.explain(options.topic).value_or_throw());
    else
      write_out(options.stage == Options().stage ? mapping.text() + foot(mapping) : mapping.stage_text(options.stage));
  } catch (const Error& error) {
    report(options, program.sources, error.diags());
    return 3;
  }
  return 0;
}

}  // namespace taskspec::cli
