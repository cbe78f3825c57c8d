// mpi(shards:, safe:, level:): replicas of the program, each with its part of every launch.
#include <algorithm>

#include "interp/backends/backends.hpp"
#include "interp/backends/threads.hpp"
#include "interp/control/builtins/builtins.hpp"
#include "interp/mpi/shard_backend.hpp"
#include "ir/base/text.hpp"

namespace taskspec {

using namespace builtins;

namespace {

constexpr std::int64_t most_shards = 1024;
constexpr const char* wrong_shards = "a run has between 1 and 1024 shards (0: 4)";
constexpr std::string_view levels[] = {"off", "batch", "every"};
constexpr std::string_view plans[] = {"own", "all"};
constexpr std::string_view elisions[] = {"exact", "more"};
constexpr std::string_view folds[] = {"points", "shard"};
constexpr std::string_view instances[] = {"auto", "flat", "packed"};  // as TouchedElements::Memory
constexpr std::int64_t longest_silence = 86'400;                      // seconds
constexpr const char* wrong_threads = "a shard has between 1 and 1024 threads (0: its part of the cores)";
constexpr const char* wrong_timeout = "a rank may be silent for 1 to 86400 seconds";
constexpr const char* wrong_task_timeout = "a task may take 1 to 86400 seconds, or 0: as long as it likes";

bool is_wrong(const Value& shards) { return shards.integer() < 0 || shards.integer() > most_shards; }
bool is_silence(std::int64_t seconds) { return seconds >= 1 && seconds <= longest_silence; }
bool is_limit(std::int64_t seconds) { return seconds == 0 || is_silence(seconds); }
bool is_plans(std::string_view text) { return std::ranges::find(plans, text) != std::end(plans); }
bool is_elision(std::string_view text) { return std::ranges::find(elisions, text) != std::end(elisions); }
bool is_fold(std::string_view text) { return std::ranges::find(folds, text) != std::end(folds); }
bool is_instances(std::string_view text) { return std::ranges::find(instances, text) != std::end(instances); }
bool is_level(std::string_view level) { return level.empty() || std::ranges::find(levels, level) != std::end(levels); }

Type mpi_type(RuleContext& c) {
  want(c, 0, Type::Kind::integer, "a number of shards");
  want(c, 1, Type::Kind::boolean, "true or false");
  want(c, 2, Type::Kind::string, "off, batch or every");
  want(c, 3, Type::Kind::string, "SHARD:CALL:ARGUMENT");
  want(c, 4, Type::Kind::boolean, "true or false");
  want(c, 5, Type::Kind::boolean, "true or false");
  want(c, 6, Type::Kind::boolean, "true or false");
  want(c, 7, Type::Kind::string, "own or all");
  want(c, 8, Type::Kind::integer, "a number of seconds");
  want(c, 9, Type::Kind::string, "the name of a file");
  want(c, 10, Type::Kind::integer, "a number of seconds");
  want(c, 11, Type::Kind::integer, "a number of threads");
  want(c, 12, Type::Kind::string, "exact or more");
  want(c, 13, Type::Kind::string, "points or shard");
  want(c, 14, Type::Kind::string, "auto, flat or packed");
  if (const Value* shards = c.constant(0); shards && is_wrong(*shards)) c.fail("E1003", wrong_shards, 0);
  if (const Value* level = c.constant(2); level && !is_level(level->string()))
    c.fail("E1003", "no level " + in_quotes(level->string()), 2, "off, batch or every");
  if (const Value* text = c.constant(7); text && !is_plans(text->string()))
    c.fail("E1003", "no plans " + in_quotes(text->string()), 7, "own or all");
  if (const Value* seconds = c.constant(8); seconds && !is_silence(seconds->integer()))
    c.fail("E1003", wrong_timeout, 8);
  if (const Value* seconds = c.constant(10); seconds && !is_limit(seconds->integer()))
    c.fail("E1003", wrong_task_timeout, 10);
  if (const Value* threads = c.constant(11); threads && !is_number_of_threads(*threads))
    c.fail("E1003", wrong_threads, 11);
  if (const Value* text = c.constant(12); text && !is_elision(text->string()))
    c.fail("E1003", "no way to elide " + in_quotes(text->string()), 12, "exact or more");
  if (const Value* text = c.constant(13); text && !is_fold(text->string()))
    c.fail("E1003", "no way to reduce " + in_quotes(text->string()), 13, "points or shard");
  if (const Value* text = c.constant(14); text && !is_instances(text->string()))
    c.fail("E1003", "no instances " + in_quotes(text->string()), 14, "auto, flat or packed");
  return backend_type("mpi");
}

Value run_mpi(HostContext& host, std::span<const Value> options) {
  if (is_wrong(options[0])) throw failure("E5003", {}, wrong_shards);
  return choose<builtin_mpi>(host, options);
}

std::span<const ReportField> report_fields();

std::string names_of_arguments() {
  std::vector<std::string> names;
  for (const std::string_view name : argument_names)
    names.push_back(std::string(name) + (goes_by_numbers(name) ? " 1.." : ""));
  return joined(names, ", ");
}

std::unique_ptr<Backend> open_mpi(std::span<const Value> options) {
  if (is_wrong(options[0])) throw failure("E5003", {}, wrong_shards);
  ShardSettings settings;
  settings.shards = static_cast<std::size_t>(options[0].integer());
  const std::string level = options[2].string();
  if (!is_level(level)) throw failure("E5003", {}, "no level " + in_quotes(level) + "; there are off, batch and every");
  using Level = ControlWatch::Level;
  settings.options.level = options[1].boolean() || level == "every" ? Level::every
                           : level == "off"                         ? Level::off
                                                                    : Level::batch;
  settings.options.traces = options[4].boolean();
  settings.options.finds_traces = options[5].boolean();
  settings.options.why_trace = options[6].boolean();
  const std::string& how = options[7].string();
  if (!is_plans(how)) throw failure("E5003", {}, "no plans " + in_quotes(how) + "; there are own and all");
  settings.options.plans = how == "all" ? DataState::Plans::all : DataState::Plans::own;
  const std::string& elide = options[12].string();
  if (!is_elision(elide))
    throw failure("E5003", {}, "no way to elide " + in_quotes(elide) + "; there are exact and more");
  settings.options.elides_more = elide == "more";
  const std::string& reduce = options[13].string();
  if (!is_fold(reduce))
    throw failure("E5003", {}, "no way to reduce " + in_quotes(reduce) + "; there are points and shard");
  settings.options.folds = reduce == "shard" ? DataState::Folds::shard : DataState::Folds::points;
  const std::string& memory = options[14].string();
  if (!is_instances(memory))
    throw failure("E5003", {}, "no instances " + in_quotes(memory) + "; there are auto, flat and packed");
  settings.options.instances =
      static_cast<TouchedElements::Memory>(std::ranges::find(instances, memory) - std::begin(instances));
  if (!is_silence(options[8].integer())) throw failure("E5003", {}, wrong_timeout);
  if (!is_limit(options[10].integer())) throw failure("E5003", {}, wrong_task_timeout);
  if (!is_number_of_threads(options[11])) throw failure("E5003", {}, wrong_threads);
  settings.threads = static_cast<std::uint32_t>(options[11].integer());
  settings.patience = {static_cast<double>(options[8].integer()), static_cast<double>(options[10].integer())};
  settings.options.dump_dep = options[9].string();
  if (const std::string inject = options[3].string(); !inject.empty()) {
    settings.options.inject = injection_of(inject);
    if (!settings.options.inject)
      throw failure("E5003", {}, in_quotes(inject) + " is not SHARD:CALL:ARGUMENT, such as 2:17:domain");
    if (const std::string& name = settings.options.inject->argument; !is_argument_name(name))
      throw failure(
          "E5003", {},
          "inject: no argument of a call is named " + in_quotes(name) + "; there are " + names_of_arguments());
  }
  return std::make_unique<ShardBackend>(std::move(settings), report_fields());
}

constexpr Operand mpi_options[] = {
    {"shards", OperandKind::integer, 0},        {"safe", OperandKind::boolean, false},
    {"level", OperandKind::string, ""},         {"inject", OperandKind::string, ""},
    {"traces", OperandKind::boolean, true},     {"trace_auto", OperandKind::boolean, true},
    {"why_trace", OperandKind::boolean, false}, {"plans", OperandKind::string, "own"},
    {"timeout", OperandKind::integer, 30},      {"dump_dep", OperandKind::string, ""},
    {"task_timeout", OperandKind::integer, 0},  {"threads", OperandKind::integer, 0},
    {"elide", OperandKind::string, "exact"},    {"reduce_by", OperandKind::string, "points"},
    {"instances", OperandKind::string, "auto"}};

using enum Type::Kind;
constexpr ReportField mpi_report[] = {
    {"fences", integer, "operations and fields that waited for all shards"},
    {"elided", integer, "those that need not, because each point depends on points of its own shard alone"},
    {"other_fences", integer, "fences of partition operators, receives and the end"},
    {"collectives", integer, "fences as they were sent: all of one operation are one"},
    {"replayed", integer, "calls that a trace answered for"},
    {"records", integer, "traces that were recorded"},
    {"forced", integer, "fences that long lists made necessary"},
    {"messages", integer, "messages with contents, of all shards"},
    {"bytes", integer, "bytes of these"},
    {"rounds", integer, "rounds of each collective: log2 of the shards, rounded up"},
    {"coarse_steps", integer, "operations that the coarse stage of each shard looked at"},
    {"fine_steps", integer, "points that the fine stages of all shards looked at"},
    {"hashes", integer, "calls that were hashed"},
    {"copies", integer, "plans of what moves"},
    {"fused", integer, "launches of which points ran in one dispatch with those of another one, by each shard"}};
std::span<const ReportField> report_fields() { return mpi_report; }
constexpr BackendRecord mpi_record{.report = mpi_report, .open = open_mpi};

}  // namespace

constinit const Builtin builtin_mpi = BuiltinFields{
    .name = "mpi",
    .operands = mpi_options,
    .doc =
        "The backend of shards: the program is run by all of them alike, and each has its part of the points of every "
        "launch and of the contents of regions. For run .. on. shards: how many, in this process or over the ranks of "
        "mpirun. All make the same calls, which is checked: level off, batch (every 64 calls, later every 512, and "
        "before each receive) or every (each call; safe: true says the same). inject: SHARD:CALL:ARGUMENT makes one "
        "shard differ there. traces: false analyses each turn of a loop anew; trace_auto: false replays only what "
        "stands in trace { }, and why_trace: true says on standard error, of each trace that cannot be replayed, what "
        "stands against it. plans: all finds what must move from lists of everything, which must come to the same. "
        "timeout: for how many seconds a rank may be silent. task_timeout: for how many seconds a shard may compute "
        "between two calls, 0: as long as it likes. dump_dep: a file that gets, as JSON, which points depend on which. "
        "threads: of each shard, for its points; 0: the cores, divided among the shards of this machine. elide: more "
        "spares further fences, where launches over other ranges or smaller pieces take, point by point, what is "
        "inside of one "
        "disjoint partition; report.fences and elided are then those of what was left, and the report tells how many "
        "it spared. reduce_by: shard lets each shard add up what its own points contribute to an element before it "
        "sends that, so fewer bytes go where several of them do; the bits of a sum of floats may then depend on how "
        "many shards there are, which by points they do not. What a call changes of its surroundings, an agent or a "
        "mapping, each shard has for itself, and the program goes on with what the first one leaves, as on host.",
    .example =
        "fields Row { a: f64 }\ntask grow(inout r: Row[_].{a}) { for i in r { r[i].a += 2.0 } }\n"
        "fn work() -> float {\n  let r = region Row[8]\n  let p = blocks(r, 4)\n"
        "  launch grow(p[i]) for i in 0..4\n  return r.a.sum(0).scalar\n}\n"
        "print((run work() on mpi(shards: 2)).value)\n// expect: 16",
    .type = mpi_type,
    .run = run_mpi,
    .runs_in = RunsIn::either,
    .backend = &mpi_record};

}  // namespace taskspec
