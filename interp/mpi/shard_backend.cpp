#include "interp/mpi/shard_backend.hpp"

#include <algorithm>

#include "interp/control/host_context.hpp"
#include "interp/control/interpreter.hpp"
#include "interp/control/run_site.hpp"
#include "interp/host/host_backend.hpp"
#include "interp/mpi/rank_values.hpp"
#include "interp/mpi/shard_picture.hpp"
#include "interp/shards/ranks/shard_cores.hpp"
#include "ir/base/text.hpp"

namespace taskspec {

ShardBackend::ShardBackend(ShardSettings settings, std::span<const ReportField> report_fields)
    : settings_(std::move(settings)), report_fields_(report_fields), host_(make_host_backend({.threads = 1})) {}

ShardBackend::~ShardBackend() = default;

// The replicas of a program are made when its first one comes to shards; they are known by what it and they share.
void ShardBackend::join(const std::shared_ptr<Replica>& replica, RecordTarget& target, const Interpreter& interpreter,
                        Span span) {
  if (!replica) {
    Diag diag("E1009", Severity::error, span, "a program that is written while it runs has no shards as a whole");
    diag.help_text = "give them a call of it: run f(x) on mpi(shards: 4)";
    throw Error(std::move(diag));
  }
  replica_ = replica;
  if (!replica->others) {
    // Who starts may do so when the first one is ending already, which then waits for it.
    auto group = std::make_shared<Replicas*>(nullptr);
    auto start = [first = replica.get(), group](std::size_t number) {
      auto other = std::make_shared<Replica>();
      other->number = number;
      other->ended = &(*group)->ended();
      other->others = std::shared_ptr<void>(std::shared_ptr<void>(), *group);
      try {
        first->start(other);
      } catch (...) {
      }  // what came to pass in a run, the others have heard of; else they miss it
    };
    auto made = std::make_shared<Replicas>(std::move(start));
    *group = made.get();
    replica->others = std::move(made);
  }
  // Inside of another run: who failed there would not come here, and who waits here would not hear of it.
  if (replica->meet) replica->meet();
  replicas_ = static_cast<Replicas*>(replica->others.get());
  take(replicas_->join(replica->number, settings_.shards, span, settings_.patience));
  settings_.shards = part_.shards;
  refuse_injection(span);
  if (part_.is_alone) {  // another run does that, which has shards
    settings_.options.dump_dep.clear();
    settings_.options.why_trace = false;
  }
  settings_.options.sources = &interpreter.program().sources;
  run_ = std::make_unique<ShardRun>(part_.group, part_.shard, target.recorder().graph.regions, settings_.options);
  launches_ = std::make_unique<ShardLaunches>(*run_, target, interpreter);
  call_start(interpreter, span);
  target_ = &target;
  target.set_divider(launches_.get());
  outside_ = Outside{replica->shards, std::exchange(replica->meet, [this] { run_->meet(); })};
  replica->shards = static_cast<std::int64_t>(part_.shards);
}

// ---- the first call -------------------------------------------------------------------------------

namespace {

bool is_plain(const Value& value) {
  if (value.is_list()) return std::ranges::all_of(value.list(), is_plain);
  if (value.is_tuple()) return std::ranges::all_of(value.tuple().items, is_plain);
  return value.is_bool() || value.is_integer() || value.is_real() || value.is_string();
}

// Host values that the run reads of its surroundings. What it is given of a graph is sent when it is used, and says so
// itself.
List captured() {
  List captured;
  const RunSite* site = RunSite::current();
  if (!site) return captured;  // the run is the whole program
  const Frame& frame = site->frame;
  const auto take = [&](const Value& value) {
    if (is_plain(value)) captured.push_back(value);
  };
  const FreeUse& use = site->interpreter.facts().free_use(frame.id, site->call);
  for (const CallId id : use.values) take(frame[id]);
  for (const VariableId id : use.read) take(frame[id]);
  for (const std::uint32_t k : use.parameters) take(frame.registers[k]);
  return captured;
}

void encode(CallEncoder& call, const char* name, const Value& value) {
  if (value.is_integer()) {
    call.integer(name, value.integer());
  } else if (value.is_real()) {
    call.real(name, value.real());
  } else if (value.is_string()) {
    call.text(name, value.string());
  } else {
    Bytes bytes;
    put_value(bytes, value);
    call.text(name, value.is_bool() ? (value.boolean() ? "true" : "false") : hash128(bytes).text());
  }
}

}  // namespace

void ShardBackend::call_start(const Interpreter& interpreter, Span span) {
  CallEncoder call = run_->begin_call();
  const Sources& sources = interpreter.program().sources;
  call.text("program", replicas_->program_hash(sources).text());
  std::string arguments;
  for (std::size_t k = 0; k < sources.size(); ++k)
    if (const Source& source = sources[SourceId(k)]; is_define(source))
      arguments += (arguments.empty() ? "" : " ") + source.path() + "=" + std::string(source.text());
  if (const HostContext* host = interpreter.host())
    for (const std::string& argument : host->arguments) arguments += (arguments.empty() ? "" : " ") + argument;
  // Of the run itself: nobody may send what others do not wait for.
  if (settings_.options.folds == DataState::Folds::shard)
    arguments += arguments.empty() ? "--reduce shard" : " --reduce shard";
  call.text("arguments", arguments);
  const List values = captured();
  static const NumberedNames capture_names("capture");
  constexpr std::size_t most = 8;  // that are told one by one
  for (std::size_t k = 0; k < std::min(values.size(), most); ++k) encode(call, capture_names[k], values[k]);
  if (values.size() > most) {
    Bytes rest;
    for (std::size_t k = most; k < values.size(); ++k) put_value(rest, values[k]);
    call.text("captures", hash128(rest).text());
  }
  call.integer("shards", static_cast<std::int64_t>(settings_.shards))
      .integer("level", static_cast<std::int64_t>(settings_.options.level));
  if (settings_.options.elides_more) call.text("elide", "more");  // who waits for no fence must not wait alone
  run_->called(CallKind::start, "start", span);
}

// ---- --inject -------------------------------------------------------------------------------------

void ShardBackend::refuse_injection(Span span) const {
  const std::optional<Injection>& inject = settings_.options.inject;
  if (!inject || part_.is_alone || inject->shard < part_.shards) return;
  throw failure("E5003", span,
                "inject: there is no shard " + std::to_string(inject->shard) + ", they are 0 to " +
                    std::to_string(part_.shards - 1));
}

// Who wants a difference to be found has to know that there was none.
void ShardBackend::raise_injection() const {
  const std::optional<Injection>& inject = settings_.options.inject;
  if (!inject || part_.is_alone || inject->has_met()) return;
  const std::string call = "call " + std::to_string(inject->call);
  if (inject->met->empty())
    throw failure("E5003", {},
                  "inject: " + call + " never came, the last one was " + std::to_string(run_->last_call()));
  std::vector<std::string> names;
  for (const std::string& name : *inject->met) names.push_back(in_quotes(name));
  throw failure(
      "E5003", {},
      "inject: " + call + " has no argument " + in_quotes(inject->argument) + "; it has " + joined(names, ", "));
}

void ShardBackend::take(Replicas::Part part) {
  const std::uint32_t threads = settings_.threads > 0 ? settings_.threads : shard_cores(part.group->network().layout());
  std::unique_ptr<PlanBackend> host;
  if (threads > 1 && !part.is_alone) host = make_host_backend({.threads = threads});
  const std::lock_guard lock(mutex_);
  part_ = std::move(part);
  if (host) host_.swap(host);
}

void ShardBackend::finish() {
  if (!run_) return;
  launches_->note_new();
  run_->finish();
  replicas_->finished(replica_->number, part_.run);
  leave();
  if (replica_->number != 0) return;
  replicas_->publish(part_.run, run_->report());
  raise_injection();
}

// A run may stand inside of another one.
void ShardBackend::leave() {
  if (!outside_) return;
  replicas_->came_out(replica_->number, part_.run);
  replica_->shards = outside_->shards;
  replica_->meet = std::move(outside_->meet);
  outside_.reset();
}

void ShardBackend::fail(const Diags& why) {
  if (!run_) return;
  leave();
  try {
    run_->make_deferred();
  } catch (const Error&) {
  }  // that the run has failed: it is told so anyway
  const std::string left = "shard " + std::to_string(part_.shard.index()) + " ended by itself, behind " +
                           std::to_string(run_->last_call()) + " calls: exit is for all shards alike";
  run_->fail(why.has_errors() ? why : failure("E5009", {}, left).diags(), run_->last_call() + 1);
  run_->part();
}

// What the program gets to know, it gets when all shards are known to have come to it alike.
Array ShardBackend::read(Location location) const {
  if (run_) run_->release();
  return host_->read(location);
}

namespace {

// The first of those that the others must hear of; null: there is none. What is no launch every shard computes by
// itself: it fails on all of them alike, and whoever receives it says so.
const Poison* failed_launch(const Outcome& outcome, const Executable& executable) {
  const std::shared_ptr<const Plan> plan = executable.plan();
  const auto first = std::ranges::find_if(
      outcome.failed, [&](const Poison& poison) { return !plan || plan->graph->points(poison.origin) != nullptr; });
  return first == outcome.failed.end() ? nullptr : &*first;
}

// As the shard that failed tells all others: with the launch and the point, whose numbers are those of one batch here.
Diags told(const Poison& poison, const Executable& executable, const RunOptions& options) {
  Diags diags;
  const std::shared_ptr<const Plan> plan = executable.plan();
  const PointGroup* group = plan ? plan->graph->points(poison.origin) : nullptr;
  const Span launch = !group          ? Span()
                      : options.place ? options.place(poison.origin)
                                      : (*plan->graph)[poison.origin].span;
  if (!launch.valid()) {
    diags.error(poison.fault.code, poison.fault.span, poison.fault.message);
    return diags;
  }
  std::string point;
  if (!group->launch->single && !folds_all(*group))
    point = "[" + group->launch->point(poison.origin.value - group->first.value).index() + "]";
  Diag& diag = diags.error(poison.fault.code, launch, poison.fault.message);
  diag.at("in '" + plan->graph->definition(poison.origin).name + point + "'");
  if (poison.fault.span.valid() && !(poison.fault.span == launch)) diag.label(poison.fault.span, "here");
  return diags;
}

// Which of them it was, a failure says wherever it is told; that of the whole run, which the shard heard while it
// waited for the others, says of itself what it is.
void add_shard(Outcome& outcome, std::size_t shard, const ShardFailure& of_the_run) {
  const std::string where = ", on shard " + std::to_string(shard);
  const auto add = [&](Poison& poison) {
    if (!of_the_run.says(poison.fault.code, poison.fault.message)) poison.fault.message += where;
  };
  for (auto& result : outcome.results)
    if (auto* poison = std::get_if<Poison>(&result)) add(*poison);
  for (Poison& poison : outcome.failed) add(poison);
  for (auto& [node, poison] : outcome.dead) add(poison);
}

}  // namespace

Outcome ShardBackend::execute(Executable& executable, std::span<const Location> inputs, const RunOptions& options) {
  if (run_) {
    run_->fused.add(executable);
    run_->settle();
    if (heard_) throw Error(*heard_);
  }
  ShardRecord* const record = run_ ? run_->record() : nullptr;
  const std::int64_t begin = record ? record->now() : 0;
  const std::int64_t waited = record ? record->total(ShardRecord::Bar::contents) : 0;
  Outcome outcome = host_->execute(executable, inputs, options);
  if (record) record->ran(record->newest(), begin, waited);
  const Poison* const failed = run_ ? failed_launch(outcome, executable) : nullptr;
  if (failed) {
    // What another shard met is told as it told it, with its launch.
    const Fault first = failed->fault;
    if (const ShardFailure& heard = run_->heard_failure(); heard.says(first.code, first.message)) {
      heard_ = heard.diags();
      throw Error(*heard_);
    }
    if (part_.shards > 1) add_shard(outcome, part_.shard.index(), run_->heard_failure());
    run_->fail(told(*failed, executable, options), run_->first_unsaid());
  }
  return outcome;
}

std::vector<Value> ShardBackend::report() const {
  if (!run_) return {};
  return part_.is_alone ? replicas_->report_of(part_.run) : run_->report();
}

// Of the shard that the world sees, once all have come to their end, or to where the run failed.
RunPictures ShardBackend::pictures() const {
  if (!run_ || run_->records().empty() || replica_->number != 0) return {};
  ShardPicture::Counts counts;
  const std::vector<Value> values = run_->report();
  for (std::size_t i = 0; i < values.size() && i < report_fields_.size(); ++i)
    counts.emplace_back(report_fields_[i].name, values[i].integer());
  return {std::make_shared<ShardPicture>(part_.group->network().layout(), std::move(counts), run_->records(),
                                         settings_.options.sources)};
}

void ShardBackend::interrupt() {
  const std::lock_guard lock(mutex_);
  host_->interrupt();
  if (part_.group) part_.group->fail(failure("E5009", {}, "interrupted").diags());
}

}  // namespace taskspec
