// hw(chip:, chips:, cores:, objective:, noc:, time_steps:, frames:, ...): a simulated many-core chip.
#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "interp/backends/backends.hpp"
#include "interp/backends/threads.hpp"
#include "interp/backends/time_steps.hpp"
#include "interp/control/builtins/builtins.hpp"
#include "interp/hw/chip_file.hpp"
#include "interp/hw/hw_backend.hpp"
#include "interp/hw/hw_report.hpp"
#include "interp/hw/map_words.hpp"
#include "interp/hw/mapping_value.hpp"
#include "ir/base/text.hpp"
#include "ir/files/files.hpp"
#include "ir/types/mapping_type.hpp"

namespace taskspec {

using namespace builtins;

namespace {

enum HwOption : std::size_t {
  hw_chip,
  hw_chips,
  hw_cores,
  hw_objective,
  hw_noc,
  hw_steps,
  hw_frames,
  hw_check,
  hw_allow_delay,
  hw_mapping,
  hw_optimise,
  hw_partial,
  hw_slabs,
  hw_depth,
  hw_step_groups,
  hw_a2s2,
  hw_threads
};

constexpr const char* wrong_threads = "a simulation has between 1 and 1024 threads (0: one per core)";

constexpr std::string_view noc_names = "ideal, contended, flit or flit-all";

std::optional<NocModel> noc_model(std::string_view name) {
  if (name == "ideal") return NocModel::ideal;
  if (name == "contended") return NocModel::contended;
  if (name == "flit") return NocModel::flit;
  if (name == "flit-all") return NocModel::flit_all;
  return std::nullopt;
}

Type hw_type(RuleContext& c) {
  if (!c.type(hw_chip).is(Type::Kind::none))
    want(c, hw_chip, Type::Kind::string, "the name of a chip, or the path of its file");
  if (!c.type(hw_objective).is(Type::Kind::none)) want_objective(c, hw_objective);
  want(c, hw_noc, Type::Kind::string, "a model of the network");
  want(c, hw_check, Type::Kind::string, "what to check");
  if (const Value* name = c.constant(hw_noc); name && !noc_model(name->string()))
    c.fail("E1003", "no model of the network " + in_quotes(name->string()), hw_noc, std::string(noc_names));
  if (const Value* name = c.constant(hw_check); name && !name->string().empty() && name->string() != "engine")
    c.fail("E1003", "nothing to check is called " + in_quotes(name->string()), hw_check, "engine");
  want(c, hw_threads, Type::Kind::integer, "a number of threads");
  if (const Value* threads = c.constant(hw_threads); threads && !is_number_of_threads(*threads))
    c.fail("E1003", wrong_threads, hw_threads);
  if (const Type& mapping = c.type(hw_mapping); !mapping.is(Type::Kind::none) && !is_mapping(mapping))
    want(c, hw_mapping, Type::Kind::string, "a mapping, or the path of its file");
  want(c, hw_optimise, Type::Kind::string, "a time or a number of moves");
  if (const Value* budget = c.constant(hw_optimise);
      budget && !budget->string().empty() && !search_budget(budget->string()))
    c.fail("E1003", "a search takes a time, \"30s\", or a number of moves, \"20000\"", hw_optimise);
  return backend_type("hw", time_steps(c, hw_steps));
}

WrittenWords written(std::span<const Value> given) {
  return {.chip = !given[hw_chip].is_none(),
          .chips = !given[hw_chips].is_none(),
          .cores = !given[hw_cores].is_none(),
          .objective = !given[hw_objective].is_none(),
          .slabs = !given[hw_slabs].is_none(),
          .depth = !given[hw_depth].is_none(),
          .step_groups = !given[hw_step_groups].is_none(),
          .a2s2 = !given[hw_a2s2].is_none()};
}

// As it is now. A mapping that is a value knows its chip.
void take_mapping(const Value& given, const WrittenWords& written, HwOptions& options) {
  if (given.is_string()) {
    const std::string& path = given.string();
    options.mapping =
        std::make_shared<const MapFile>(read_mapping(read_text(path, std::size_t{64} << 20), path).value_or_throw());
    require_alike(options, written, *options.mapping, options.optimise.has_value());
  } else if (const auto* made = given.as<MappingValue>()) {
    require_alike(options, written, made->mapping);
    options.mapping = std::make_shared<const MapFile>(as_file(made->mapping));
    static_cast<MapOptions&>(options) = made->mapping.options();
  }
}

// Neurons are dealt out without the mapper of blocks, and take ticks instead of frames: its words, and those of what
// runs block by block, would change nothing there.
void refuse_words_of_blocks(const Chip& chip, std::span<const Value> given) {
  if (chip.kind == ChipKind::primitive) return;
  constexpr std::pair<HwOption, std::string_view> words[] = {
      {hw_mapping, "mapping"}, {hw_optimise, "optimise"}, {hw_objective, "objective"},
      {hw_slabs, "slabs"},     {hw_depth, "depth"},       {hw_step_groups, "step_groups"},
      {hw_a2s2, "a2s2"},       {hw_check, "check"},       {hw_frames, "frames"}};
  for (const auto& [word, name] : words) {
    const Value& value = given[word];
    if (value.is_none() || (value.is_string() && value.string().empty())) continue;
    Diag diag("E5003", Severity::error, {},
              fmt::format("'{}' is of chips of kind primitive, whose cores run blocks; {} is of kind {}", name,
                          chip.name, name_of(chip.kind)));
    diag.help_text = "leave it out";
    throw Error(std::move(diag));
  }
}

HwOptions options_of(std::span<const Value> given) {
  HwOptions options{map_options({.chips = given[hw_chips],
                                 .cores = given[hw_cores],
                                 .objective = given[hw_objective],
                                 .slabs = given[hw_slabs],
                                 .depth = given[hw_depth],
                                 .step_groups = given[hw_step_groups],
                                 .a2s2 = given[hw_a2s2]},
                                {})};
  options.chip = chip_named(given[hw_chip].is_none() ? default_chip : given[hw_chip].string());
  const std::optional<NocModel> noc = noc_model(given[hw_noc].string());
  if (!noc)
    throw failure("E5003", {},
                  "no model of the network " + in_quotes(given[hw_noc].string()) + ": " + std::string(noc_names));
  options.noc = *noc;
  if (!given[hw_frames].is_none()) {
    if (given[hw_frames].integer() < 1) throw failure("E5003", {}, "frames are one or more");
    options.frames = given[hw_frames].integer();
  }
  options.checks_values = given[hw_check].string() == "engine";
  if (!options.checks_values && !given[hw_check].string().empty())
    throw failure("E5003", {}, "nothing to check is called " + in_quotes(given[hw_check].string()) + ": engine");
  options.allow_delay = given[hw_allow_delay].boolean();
  if (!given[hw_optimise].string().empty()) {
    options.optimise = search_budget(given[hw_optimise].string());
    if (!options.optimise)
      throw failure("E5003", {}, "a search takes a time, \"30s\", or a number of moves, \"20000\"");
  }
  take_mapping(given[hw_mapping], written(given), options);
  refuse_words_of_blocks(*options.chip, given);
  options.partial = given[hw_partial].boolean();
  if (!is_number_of_threads(given[hw_threads])) throw failure("E5003", {}, wrong_threads);
  const std::int64_t threads = given[hw_threads].integer();
  options.threads =
      threads > 0 ? static_cast<int>(threads) : static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  return options;
}

bool is_path(const std::string& chip) { return chip.find('/') != std::string::npos || chip.ends_with(".json"); }

// The file of a chip stands beside the program, as all that it reads.
Value run_hw(HostContext& host, std::span<const Value> given) {
  check_time_steps(given[hw_steps]);
  std::vector<Value> options(given.begin(), given.end());
  if (given[hw_chip].is_string() && is_path(given[hw_chip].string()))
    options[hw_chip] = Value(host.input_path(given[hw_chip].string()));
  if (given[hw_mapping].is_string()) options[hw_mapping] = Value(host.input_path(given[hw_mapping].string()));
  return choose<builtin_hw>(host, options);
}

std::unique_ptr<Backend> open_hw(std::span<const Value> given) { return make_hw_backend(options_of(given)); }

constexpr Operand hw_options[] = {{"chip", OperandKind::string, Default::absent()},
                                  {"chips", OperandKind::value, Default::absent()},
                                  {"cores", OperandKind::integer, Default::absent()},
                                  {"objective", OperandKind::string, Default::absent()},
                                  {"noc", OperandKind::string, "contended"},
                                  {time_steps_option, OperandKind::integer, Default::absent()},
                                  {"frames", OperandKind::integer, Default::absent()},
                                  {"check", OperandKind::string, ""},
                                  {"allow_delay", OperandKind::boolean, false},
                                  {"mapping", OperandKind::value, Default::absent()},
                                  {"optimise", OperandKind::string, ""},
                                  {"partial", OperandKind::boolean, false},
                                  {"slabs", OperandKind::integer, Default::absent()},
                                  {"depth", OperandKind::integer, Default::absent()},
                                  {"step_groups", OperandKind::integer, Default::absent()},
                                  {"a2s2", OperandKind::boolean, Default::absent()},
                                  {"threads", OperandKind::integer, 1}};
const BackendRecord hw_record{.report = hw_report_fields, .open = open_hw, .keeps_constants = true};

}  // namespace

constinit const Builtin builtin_hw = BuiltinFields{
    .name = "hw",
    .operands = hw_options,
    .doc =
        "The backend that simulates a many-core chip: what it runs is lowered to Task IR blocks, cut into pieces that "
        "fit "
        "cores, placed, and computed out of the bytes of the cores' own memories. Values are those of the exact "
        "engine, "
        "bit for bit. What comes into a graph as an argument is sent to the cores in every step; what the graph holds "
        "itself, its weights, tensors of the top level, and what it makes of constants alone, lies in the cores. The "
        "report has cycles, time, energy, memory and packets. chip: tianjicx (if none is given), tianjic, loihi, "
        "truenorth, tiny, or the path of a chip file (E7003); " MAP_WORDS_DOC
        "; noc: ideal (packets wait for none), contended (links serve packets in turn), flit-all (cycle by cycle, with "
        "virtual channels and credits) or flit (so only for phases that hold a link for more than half of their time, "
        "and what meets their packets); time_steps: T runs a graph T times, states "
        "stay in the cores, and each step is a frame that follows the one before; frames: how many frames the clock "
        "looks at (else until latency and distance of frames no longer change); check: \"engine\" compares every "
        "block's values with the exact engine; allow_delay: a loop of populations that is shorter than they are many "
        "gets "
        "the delay that it lacks, and the report says so; mapping: what map(net, chip: ...) gave, or the path of a "
        "file "
        "that m.save wrote, in place of the mapper's (a value keeps the chip, cores and other options that map() was "
        "given, a file what it tells of: different ones beside it are E5003, and so is an objective beside a file "
        "without "
        "optimise); optimise: \"30s\" or \"20000\", a search for a better one first, "
        "whose changes the report lists; partial: ops that have no blocks, such as argmax, run on the host, and what "
        "lies between them on the chip, with states that blocks alone have to do with; threads: how many simulate "
        "populations of neurons (0: one per core), which changes no value and no figure. On loihi and truenorth "
        "neurons alone run, blocks or those of an "
        "imported NIR file (E4052, E4055), without the words of blocks (mapping, optimise, objective, slabs, depth, "
        "step_groups, a2s2, check, frames: E5003), and the report says how late the last population is; tianjic runs "
        "these, "
        "and integer nets on its crossbars, whose weights stay. What is "
        "no integer graph, fits no core or wants more than the chip has "
        "is refused (E4011, E4012, E4040 to E4046).",
    .example =
        "graph g(x: i8[64], w: i8[16, 64]) -> (y: i8[16]) { y = (w @ x).shift_right(6) as i8[16] }\n"
        "let r = run g(fill(i8[64], 3), fill(i8[16, 64], 2)) on hw(chip: \"tiny\")\n"
        "print(r.y.array, r.report.cycles > 0)\n"
        "// expect: [6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6, 6] true",
    .type = hw_type,
    .run = run_hw,
    .runs_in = RunsIn::either,
    .backend = &hw_record};

}  // namespace taskspec
