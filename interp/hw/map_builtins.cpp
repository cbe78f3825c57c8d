// map(net, chip: ...): a net on the cores of a chip, as a value; and the methods of such a value. Their names begin
// with "mapping.", so m.split(...) is theirs and no op's.
#include <fmt/format.h>

#include <algorithm>

#include "hwsim/map/optimise.hpp"
#include "hwsim/map/refusals.hpp"
#include "interp/control/block_task.hpp"
#include "interp/control/builtins/builtins.hpp"
#include "interp/control/frame.hpp"
#include "interp/control/interpreter.hpp"
#include "interp/control/net_list.hpp"
#include "interp/hw/chip_file.hpp"
#include "interp/hw/map_words.hpp"
#include "interp/hw/mapping_value.hpp"
#include "interp/hw/neurons/neuron_reading.hpp"
#include "interp/hw/neurons/real_blocks.hpp"
#include "ir/files/files.hpp"
#include "ir/types/mapping_type.hpp"

namespace taskspec {

using namespace builtins;

namespace {

using Kind = Type::Kind;

constexpr std::size_t largest_mapping_file = std::size_t{64} << 20;

// ---- map ------------------------------------------------------------------------------------------

// And what is neither a net nor a list, so that it is told what map takes.
bool is_net(const Type& type) {
  return type.is(Kind::task) || type.is(Kind::integer) || type.is(Kind::real) || type.is(Kind::boolean) ||
         type.is(Kind::string);
}

Type map_net_type(RuleContext& c) {
  if (const Type& net = c.type(0); !net.is(Kind::task) && !net.is(Kind::error))
    c.fail("E1004",
           fmt::format("map takes a graph or task, which it places on a chip, or a list and a function for its "
                       "elements; this is {}",
                       net.text()),
           0, "map(net, chip: \"tianjicx\"), or map([1, 2], x => x * x)");
  want(c, 1, Kind::string, "the name of a chip, or the path of its file");
  want_objective(c, 4);
  return mapping_type();
}

// Its inputs as they are written.
std::vector<GraphInput> inputs_of(HostContext& host, const Value& net) {
  std::vector<GraphInput> inputs;
  if (auto* callable = net.as<Callable>()) {
    for (const Parameter& parameter : callable->program[callable->function].parameters)
      if (parameter.role == Role::declared) inputs.push_back({parameter.name, parameter.type, parameter.privilege});
  } else if (auto* composed = net.as<ComposedTask>()) {
    for (std::size_t k = 0; k < composed->type.inputs; ++k)
      inputs.push_back({composed->type.names[k], composed->type.parts[k], Privilege::in});
  } else {
    throw failure("E1004", host.span, "a graph or task is mapped, this is " + print(net));
  }
  return of_one_sample(std::move(inputs), host.span);
}

}  // namespace

std::shared_ptr<const BlockGraph> blocks_of_net(HostContext& host, const Value& net, const Chip* chip) {
  if (auto* made = net.as<BlockTask>()) return std::make_shared<const BlockGraph>(made->lowered().graph);
  if (!host.blocks || host.blocks->all().empty())
    throw failure("E1009", host.span, "mapping a net where its program does not run is not built yet");
  Interpreter& interpreter = *host.interpreter;
  const NetView view = net_view(interpreter, net, inputs_of(host, net), host.span).value_or_throw();
  const PickedList picked = with_picks(view.list);
  const auto list_of = [&](NodeId node) { return list_in_view(interpreter, *view.graph, node); };
  std::optional<NeuronGraph> neurons;
  if (chip) neurons = NeuronGraph::find(view.graph, picked.picks, list_of);
  LoweredGraph lowered;
  if (neurons) {
    const RealBorders real =
        neurons->read(std::vector<std::optional<Array>>(picked.list.inputs.size())).value_or_throw();
    lowered = in_blocks(real, borders_of(picked.list, real), *chip, *host.blocks).value_or_throw();
  } else {
    lowered = lower(view.list, {.blocks = *host.blocks}).value_or_throw();
  }
  return std::make_shared<const BlockGraph>(std::move(lowered.graph));
}

namespace {

Value as_value(std::shared_ptr<MappingValue> made) { return Value(std::static_pointer_cast<Object>(std::move(made))); }

bool is_beside_graph(const HostContext& host) { return host.frame->function.part == Part::host; }

bool is_file(const std::string& chip) { return chip.find('/') != std::string::npos || chip.ends_with(".json"); }

Value run_map_net(HostContext& host, std::span<const Value> v) {
  if (is_beside_graph(host)) return Value(Tuple{});
  MapOptions options = map_options({.chips = v[2],
                                    .cores = v[3],
                                    .objective = v[4],
                                    .slabs = v[5],
                                    .depth = v[6],
                                    .step_groups = v[7],
                                    .a2s2 = v[8]},
                                   host.span);
  const std::string& name = v[1].string();
  options.chip = chip_named(is_file(name) ? host.input_path(name) : name);
  if (Diags refused = kind_refusals(*options.chip); refused.has_errors()) throw Error(std::move(refused));
  if (host.blocks) options.blocks = *host.blocks;
  ChipNet net = chip_net(blocks_of_net(host, v[0], &*options.chip)).value_or_throw();
  return as_value(std::make_shared<MappingValue>(ChipMapping::make(std::move(net), options).value_or_throw()));
}

constexpr Operand map_operands[] = {{"net", OperandKind::value},
                                    {"chip", OperandKind::string, default_chip},
                                    {"chips", OperandKind::value, Default::absent()},
                                    {"cores", OperandKind::integer, Default::absent()},
                                    {"objective", OperandKind::string, "throughput"},
                                    {"slabs", OperandKind::integer, Default::absent()},
                                    {"depth", OperandKind::integer, 1},
                                    {"step_groups", OperandKind::integer, 0},
                                    {"a2s2", OperandKind::boolean, false}};

// ---- estimates ------------------------------------------------------------------------------------

Type estimate_type() {
  Type record(Kind::record);
  for (const auto& [name, kind] : std::initializer_list<std::pair<const char*, Kind>>{{"latency", Kind::integer},
                                                                                      {"interval", Kind::integer},
                                                                                      {"energy", Kind::real},
                                                                                      {"memory", Kind::integer},
                                                                                      {"cores", Kind::integer},
                                                                                      {"packets", Kind::integer}}) {
    record.names.emplace_back(name);
    record.parts.emplace_back(kind);
  }
  return record;
}

Value estimate_value(const MapEstimate& estimate) {
  auto record = std::make_shared<Record>();
  record->fields = {{"latency", Value(estimate.latency)},
                    {"interval", Value(estimate.interval)},
                    {"energy", Value(static_cast<double>(estimate.energy) / static_cast<double>(energy_units_per_pj))},
                    {"memory", Value(estimate.memory)},
                    {"cores", Value(estimate.cores)},
                    {"packets", Value(estimate.packets)}};
  record->table = estimate.text();
  return Value(std::static_pointer_cast<Object>(std::move(record)));
}

ChipMapping& mapping_of(const Value& value) { return std::static_pointer_cast<MappingValue>(value.object())->mapping; }

// What an action says, where it stands.
Value told(const HostContext& host, const ChipMapping::Done& done) {
  if (done) return estimate_value(*done);
  Diag diag = done.diags().items().front();
  diag.primary.span = host.span;
  throw Error(std::move(diag));
}

Type estimate_rule(RuleContext&) { return estimate_type(); }
Type text_rule(RuleContext&) { return Kind::string; }
Type nothing_rule(RuleContext&) { return Kind::none; }

std::optional<std::int64_t> number(const Value& value) {
  return value.is_integer() ? std::optional(value.integer()) : std::nullopt;
}

// ---- methods --------------------------------------------------------------------------------------

Value run_split(HostContext& host, std::span<const Value> v) {
  return told(host, mapping_of(v[0]).split(
                        v[1].string(), {.y = number(v[2]), .x = number(v[3]), .f = number(v[4]), .r = number(v[5])}));
}
Value run_fuse(HostContext& host, std::span<const Value> v) {
  return told(host, mapping_of(v[0]).fuse(v[1].string(), v[2].string()));
}
Value run_replicate(HostContext& host, std::span<const Value> v) {
  return told(host, mapping_of(v[0]).replicate(v[1].string(), v[2].integer()));
}
Value run_share(HostContext& host, std::span<const Value> v) {
  return told(host, mapping_of(v[0]).share_storage(v[1].string(), v[2].string()));
}
Value run_merge(HostContext& host, std::span<const Value> v) {
  return told(host, mapping_of(v[0]).merge(v[1].integer(), v[2].integer()));
}
Value run_put_in(HostContext& host, std::span<const Value> v) {
  return told(host, mapping_of(v[0]).put_in(v[1].string(), v[2].integer()));
}
Value run_take_out(HostContext& host, std::span<const Value> v) {
  return told(host, mapping_of(v[0]).take_out(v[1].string()));
}
Value run_move(HostContext& host, std::span<const Value> v) {
  return told(host, mapping_of(v[0]).move(v[1].integer(), v[2].integer()));
}
Value run_pipeline(HostContext& host, std::span<const Value> v) {
  return told(host, mapping_of(v[0]).pipeline_rows(v[1].string(), v[2].integer()));
}
Value run_phase(HostContext& host, std::span<const Value> v) {
  return told(host, mapping_of(v[0]).set_phase(v[1].string(), v[2].integer()));
}
Value run_slabs(HostContext& host, std::span<const Value> v) {
  return told(host, mapping_of(v[0]).set_slabs(v[1].integer()));
}
Value run_depth(HostContext& host, std::span<const Value> v) {
  return told(host, mapping_of(v[0]).set_depth(v[1].integer()));
}
Value run_step_groups(HostContext& host, std::span<const Value> v) {
  return told(host, mapping_of(v[0]).set_step_groups(v[1].integer()));
}
Value run_a2s2(HostContext& host, std::span<const Value> v) {
  return told(host, mapping_of(v[0]).set_fetches_ahead(v[1].boolean()));
}
Value run_undo(HostContext& host, std::span<const Value> v) { return told(host, mapping_of(v[0]).undo()); }
Value run_redo(HostContext& host, std::span<const Value> v) { return told(host, mapping_of(v[0]).redo()); }
Value run_estimate(HostContext&, std::span<const Value> v) { return estimate_value(mapping_of(v[0]).estimate()); }
Value run_text(HostContext&, std::span<const Value> v) { return Value(v[0].object()->text()); }

Value run_explain(HostContext& host, std::span<const Value> v) {
  const Result<std::string> made = mapping_of(v[0]).explain(v[1].string());
  if (!made) return told(host, made.diags());
  std::string text = *made;
  while (text.ends_with('\n')) text.pop_back();
  return Value(std::move(text));
}

Value run_save_mapping(HostContext& host, std::span<const Value> v) {
  if (host.is_seen()) write_text(v[1].string(), mapping_json(mapping_of(v[0])));
  return builtins::written(host);
}

Value run_load_mapping(HostContext& host, std::span<const Value> v) {
  const std::string path = host.input_path(v[1].string());
  const MapFile file = read_mapping(read_text(path, largest_mapping_file), path).value_or_throw();
  return told(host, load(mapping_of(v[0]), file));
}

Value run_optimise(HostContext& host, std::span<const Value> v) {
  std::optional<SearchBudget> budget = search_budget(v[1].string());
  if (!budget) throw failure("E5003", host.span, "a search takes a time, \"30s\", or a number of moves, \"20000\"");
  budget->interrupted = host.interrupted;
  ChipMapping& mapping = mapping_of(v[0]);
  auto tell = [&](const std::string& line) {
    if (host.output) host.output(line + "\n");
  };
  // By the clock each of several shards would find another one: all have what the first one finds.
  const bool is_agreed = host.replica && budget->seconds > 0;
  if (is_agreed && !host.is_seen()) {
    const std::string found = host.replica->agree(host.part, host.agreed++, {}).string();
    return told(host, load(mapping, read_mapping(found, "what the search found").value_or_throw()));
  }
  const Optimised done = optimise(mapping, *budget, tell);
  tell(fmt::format("{} moves, {} accepted", done.moves, done.accepted));
  if (is_agreed) host.replica->agree(host.part, host.agreed++, Value(mapping_json(mapping)));
  return estimate_value(done.after);
}

constexpr Operand only_mapping[] = {{"m", OperandKind::value}};
constexpr Operand with_unit[] = {{"m", OperandKind::value}, {"unit", OperandKind::string}};
constexpr Operand with_count[] = {{"m", OperandKind::value}, {"n", OperandKind::integer}};
constexpr Operand with_truth[] = {{"m", OperandKind::value}, {"on", OperandKind::boolean}};
constexpr Operand with_path[] = {{"m", OperandKind::value}, {"path", OperandKind::string}};
constexpr Operand with_budget[] = {{"m", OperandKind::value}, {"budget", OperandKind::string}};
constexpr Operand with_units[] = {{"m", OperandKind::value}, {"a", OperandKind::string}, {"b", OperandKind::string}};
constexpr Operand with_number[] = {
    {"m", OperandKind::value}, {"unit", OperandKind::string}, {"n", OperandKind::integer}};
constexpr Operand with_phase[] = {
    {"m", OperandKind::value}, {"unit", OperandKind::string}, {"p", OperandKind::integer}};
constexpr Operand with_core[] = {
    {"m", OperandKind::value}, {"unit", OperandKind::string}, {"core", OperandKind::integer}};
constexpr Operand with_cores[] = {
    {"m", OperandKind::value}, {"core", OperandKind::integer}, {"to", OperandKind::integer}};
constexpr Operand with_grid[] = {{"m", OperandKind::value},
                                 {"unit", OperandKind::string},
                                 {"y", OperandKind::integer, Default::absent()},
                                 {"x", OperandKind::integer, Default::absent()},
                                 {"f", OperandKind::integer, Default::absent()},
                                 {"r", OperandKind::integer, Default::absent()}};

// Of all records: two layers.
#define MAP_EXAMPLE(lines)                                              \
  "graph net(x: i8[1, 64]) -> (y: i32[1, 32]) {\n"                      \
  "  let w = (iota(4096) % 7 - 3).reshape(64, 64) as i8[64, 64]\n"      \
  "  let h = (x @ w).shift_right(6) as i8[1, 64]\n"                     \
  "  y = h @ ((iota(2048) % 5 - 2).reshape(64, 32) as i8[64, 32])\n}\n" \
  "let m = map(net, chip: \"tianjicx\", objective: \"cores\")\n" lines

consteval BuiltinFields method(std::string_view name, std::span<const Operand> operands, std::string_view doc,
                               std::string_view example, Value (*run)(HostContext&, std::span<const Value>),
                               TypeRule type = estimate_rule) {
  return {.name = name,
          .operands = operands,
          .doc = doc,
          .example = example,
          .type = type,
          .effect = Effect::host,
          .run = run,
          .runs_in = RunsIn::asked};
}

}  // namespace

constinit const Builtin builtin_map_net = BuiltinFields{
    .name = "map",
    .operands = map_operands,
    .doc =
        "map(net, chip: \"tianjicx\") places a net on the cores of a chip, and gives the mapping as a value. `net` is "
        "a "
        "graph or task of integers with known extents (the first may be open: one sample), or what `quantize` and "
        "`lower` give. Printed, a mapping is a table: a line for each unit, an axon with the soma behind it. "
        "m.split(\"conv1\", y: 2), fuse, replicate, share_storage, merge, put_in, take_out, move, set_phase, "
        "pipeline_rows, slabs, depth, step_groups and a2s2 change it; each gives the new estimate {latency, interval, "
        "energy, memory, cores, packets} at "
        "once, and what breaks a limit changes nothing and says which (E4041, E4042, E4043, E4048, E4049). m.undo(), "
        "m.redo(), m.estimate(), m.text(), m.explain(\"conv1\"), m.optimise(\"30s\"), m.save(path), m.load(path). "
        "run net(x) on hw(mapping: m) uses it. " MAP_WORDS_DOC ".",
    .example = MAP_EXAMPLE("let before = m.estimate().cores\nm.split(\"matmul\", f: 2)\n"
                           "print(m.estimate().cores - before)\nm.undo()\nprint(m.estimate().cores == before)\n"
                           "// expect: 1\n// expect: true"),
    .type = map_net_type,
    .run = run_map_net,
    .runs_in = RunsIn::either,
    .takes = is_net};

constinit const Builtin builtin_mapping_a2s2 = method(
    "mapping.a2s2", with_truth,
    "m.a2s2(true): cores move what came in the phase before while the next packets come (mode A2S2), where receive "
    "buffers are double (m.depth(2)) and all that is read comes from groups before theirs.",
    MAP_EXAMPLE("m.depth(2)\nprint(m.a2s2(true).cores)\n// expect: 1"), run_a2s2);

constinit const Builtin builtin_mapping_depth = method(
    "mapping.depth", with_count,
    "m.depth(2): items, or batches of rows, that a receive buffer has room for: 1, or 2 where memory suffices, so that "
    "senders wait less.",
    MAP_EXAMPLE("let before = m.estimate().memory\nprint(m.depth(2).memory > before)\n// expect: true"), run_depth);

constinit const Builtin builtin_mapping_estimate = method(
    "mapping.estimate", only_mapping,
    "m.estimate(): what the mapping costs by its sums, without a run of the clock: {latency, interval} in clk, energy "
    "in "
    "pJ and packets of a step, memory of the fullest core in bytes, cores. A report of hw has the times of the clock.",
    MAP_EXAMPLE("print(m.estimate().interval > 0, m.estimate().memory > 6144)\n// expect: true true"), run_estimate);

constinit const Builtin builtin_mapping_explain =
    method("mapping.explain", with_unit,
           "m.explain(\"conv1\"): how a unit is cut and where it lies, its memory by part and its cycles by stage, the "
           "two next "
           "candidates and why they lost, what limits the step, and the least change that would move the limit.",
           MAP_EXAMPLE("print(m.explain(\"matmul\"))\n// expect: matmul: CVM ...\n// expect: ...the step takes ...\n"
                       "// expect: ...the least that moves it: ..."),
           run_explain, text_rule);

constinit const Builtin builtin_mapping_fuse =
    method("mapping.fuse", with_units,
           "m.fuse(a, b): unit b on the cores of unit a, in a phase of its own; the groups of both become one.",
           MAP_EXAMPLE("m.split(\"matmul\", f: 1)\nm.take_out(\"matmul_2\")\nprint(m.fuse(\"matmul\", "
                       "\"matmul_2\").cores)\n// expect: 1"),
           run_fuse);

constinit const Builtin builtin_mapping_load = method(
    "mapping.load", with_path,
    "m.load(path): the decisions of a file that m.save wrote, as an action. A file that is broken, of another net "
    "or against a limit is E7003 with the place in it, and changes nothing.",
    MAP_EXAMPLE("m.save(\"map.json\")\nm.take_out(\"matmul_2\")\nprint(m.load(\"map.json\").cores)\n// expect: 1"),
    run_load_mapping);

constinit const Builtin builtin_mapping_merge =
    method("mapping.merge", with_cores,
           "m.merge(core, to): what core `to` does is done by `core`, in phases of its own; `to` is free then.",
           MAP_EXAMPLE("m.take_out(\"matmul_2\")\nm.put_in(\"matmul_2\", 9)\nm.put_in(\"matmul\", 8)\nprint(m.merge(8, "
                       "9).cores)\n// expect: 1"),
           run_merge);

constinit const Builtin builtin_mapping_move =
    method("mapping.move", with_cores,
           "m.move(core, to): what a core does is done at another place; two that are both in use change places.",
           MAP_EXAMPLE("m.put_in(\"matmul\", 3)\nprint(m.move(3, 5).cores)\n// expect: 2"), run_move);

constinit const Builtin builtin_mapping_optimise = method(
    "mapping.optimise", with_budget,
    "m.optimise(\"30s\"), m.optimise(\"20000\"): a local search on cuts, sharing of cores and places, for so long or "
    "for "
    "so many moves, from the mapping as it is, for the objective of map. It prints each change that it keeps and the "
    "number of moves, which as a budget give the same result every time. Never worse than before, also by the clock; "
    "one m.undo() takes all of it back.",
    MAP_EXAMPLE(
        "let before = m.estimate().cores\nprint(m.optimise(\"50\").cores <= before)\n// expect: ...\n// expect: true"),
    run_optimise);

constinit const Builtin builtin_mapping_pipeline_rows =
    method("mapping.pipeline_rows", with_number,
           "m.pipeline_rows(unit, n): the soma works on rows of its axon as they come, n of them in a buffer.",
           MAP_EXAMPLE("print(m.estimate().cores)\n// expect: 1"), run_pipeline);

constinit const Builtin builtin_mapping_put_in =
    method("mapping.put_in", with_core, "m.put_in(unit, core): a unit of one piece on this core, with what is there.",
           MAP_EXAMPLE("print(m.put_in(\"matmul\", 7).cores)\n// expect: 2"), run_put_in);

constinit const Builtin builtin_mapping_redo =
    method("mapping.redo", only_mapping, "m.redo(): what m.undo() took back is done again.",
           MAP_EXAMPLE("m.take_out(\"matmul\")\nm.undo()\nprint(m.redo().cores)\n// expect: 2"), run_redo);

constinit const Builtin builtin_mapping_replicate = method(
    "mapping.replicate", with_number,
    "m.replicate(unit, n): n cores have all weights of a unit and share its pixels; what makes fewer is refused.",
    MAP_EXAMPLE("print(m.replicate(\"matmul\", 1).cores)\n// expect: 1"), run_replicate);

constinit const Builtin builtin_mapping_save = method(
    "mapping.save", with_path,
    "m.save(path): the decisions as JSON, for m.load, hw(mapping: path) and --mapping. The format has a version.",
    MAP_EXAMPLE("m.save(\"map.json\")\nprint(read(\"map.json\") != \"\")\n// expect: true"), run_save_mapping,
    nothing_rule);

constinit const Builtin builtin_mapping_set_phase = method(
    "mapping.set_phase", with_phase,
    "m.set_phase(unit, p): the phase in which its cores compute it; who has it there gets that of the unit. Phases "
    "that would wait for one another are refused.",
    MAP_EXAMPLE("print(m.set_phase(\"matmul\", 0).cores)\n// expect: 1"), run_phase);

constinit const Builtin builtin_mapping_share_storage = method(
    "mapping.share_storage", with_units,
    "m.share_storage(a, b): weights, tables and inputs of two units that are equal lie once on the cores of both; what "
    "both read comes once, for the phase that is earlier.",
    "graph net(x: i8[1, 64]) -> (y: i8[1, 64]) {\n"
    "  let w = (iota(4096) % 7 - 3).reshape(64, 64) as i8[64, 64]\n"
    "  let h = (x @ w).shift_right(6) as i8[1, 64]\n"
    "  y = (h @ w).shift_right(6) as i8[1, 64]\n}\n"
    "let m = map(net, chip: \"tianjicx\", objective: \"cores\")\nlet before = m.estimate().memory\n"
    "print(before - m.share_storage(\"matmul\", \"matmul_2\").memory)\n// expect: 4096",
    run_share);

constinit const Builtin builtin_mapping_slabs =
    method("mapping.slabs", with_count,
           "m.slabs(8): in how many batches of rows inputs come, for what streams; more batches take less memory. From "
           "1, where "
           "nothing streams, and back to it the net is mapped anew, which is one action, too.",
           "graph net(x: i8[1, 32, 16, 8]) -> (y: i8[1, 32, 16, 8]) {\n"
           "  let w = (iota(9216) % 7 - 3).reshape(32, 32, 3, 3) as i8[32, 32, 3, 3]\n"
           "  y = x.conv2d(w, pad: 1).shift_right(6) as i8[1, 32, 16, 8]\n}\n"
           "let m = map(net, chip: \"tianjicx\")\nlet before = m.estimate().memory\n"
           "m.slabs(8)\nm.undo()\nprint(m.estimate().memory == before)\n// expect: true",
           run_slabs);

constinit const Builtin builtin_mapping_split = method(
    "mapping.split", with_grid,
    "m.split(unit, y:, x:, f:, r:): into how many parts a unit is cut along rows, columns (by fours) and features (by "
    "32); what is left out stays. It takes free cores near it, or gives some back. r cuts what it sums over, by 16: "
    "parts \"conv1.0\", \"conv1.1\" on cores of their own make partial sums, which the unit then adds; r: 1 makes one "
    "of "
    "them again.",
    MAP_EXAMPLE("print(m.split(\"matmul\", f: 2).cores, m.split(\"matmul_2\", r: 2).cores)\n// expect: 2 4"),
    run_split);

constinit const Builtin builtin_mapping_step_groups =
    method("mapping.step_groups", with_count,
           "m.step_groups(2): into how many step groups the groups of cores are dealt, in their order; those of one "
           "start each "
           "step together. 0: none, groups follow their packets alone.",
           MAP_EXAMPLE("print(m.step_groups(1).cores, m.step_groups(0).cores)\n// expect: 1 1"), run_step_groups);

constinit const Builtin builtin_mapping_take_out =
    method("mapping.take_out", with_unit, "m.take_out(unit): a unit that shares cores gets cores of its own.",
           MAP_EXAMPLE("print(m.take_out(\"matmul\").cores)\n// expect: 2"), run_take_out);

constinit const Builtin builtin_mapping_text =
    method("mapping.text", only_mapping, "m.text(): the table that a mapping prints as, for each unit a line.",
           MAP_EXAMPLE("print(m.text())\n// expect: net on tianjicx: 2 units on 1 of 160 cores\n// expect: unit ...\n"
                       "// expect: matmul ...\n// expect: matmul_2 ...\n// expect: latency ..."),
           run_text, text_rule);

constinit const Builtin builtin_mapping_undo =
    method("mapping.undo", only_mapping, "m.undo(): as it was before the last action. All actions can be undone.",
           MAP_EXAMPLE("m.take_out(\"matmul\")\nprint(m.undo().cores)\n// expect: 1"), run_undo);

}  // namespace taskspec
