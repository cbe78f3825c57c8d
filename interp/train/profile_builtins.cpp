// m.profile(...) and m.cost: what a step takes, as values of the language.
#include <fmt/format.h>

#include "interp/control/builtins/builtins.hpp"
#include "interp/control/interpreter.hpp"
#include "interp/control/op_text.hpp"
#include "interp/control/record.hpp"
#include "interp/control/recorder.hpp"
#include "interp/train/rates.hpp"
#include "interp/train/step_profile.hpp"

namespace taskspec {

namespace {

using Kind = Type::Kind;

struct Field {
  std::string_view name;
  Type type;
};

Type record_of(const std::vector<Field>& fields) {
  Type record(Kind::record);
  for (const Field& field : fields) {
    record.names.emplace_back(field.name);
    record.parts.push_back(field.type);
  }
  return record;
}

std::shared_ptr<Record> record_of(const std::vector<Field>& fields, List values) {
  auto record = std::make_shared<Record>();
  for (std::size_t i = 0; i < fields.size(); ++i) record->fields.emplace_back(fields[i].name, std::move(values[i]));
  return record;
}

Value as_value(std::shared_ptr<Record> record) { return Value(std::static_pointer_cast<Object>(std::move(record))); }
Value whole(std::uint64_t number) { return Value(static_cast<std::int64_t>(number)); }

// ---- what both say of an op ------------------------------------------------------------------------

std::vector<Field> with_op(const std::vector<Field>& more) {
  std::vector<Field> fields{{"in_task", Kind::string}, {"op", Kind::string},    {"line", Kind::string},
                            {"pass", Kind::string},    {"makes", Kind::string}, {"calls", Kind::integer},
                            {"bytes", Kind::integer}};
  fields.insert(fields.end(), more.begin(), more.end());
  return fields;
}

List op_values(const OpRow& op, const Sources& sources) {
  return {Value(op.task),
          Value(op.op),
          Value(place_text(sources, op.span)),
          Value(std::string(text(op.pass))),
          Value(op.type),
          whole(op.calls),
          whole(static_cast<std::uint64_t>(op.work.bytes))};
}

std::vector<OpRow> ops_of(const StepProfile& profile) {
  std::vector<OpRow> ops;
  for (const StepProfile::Row& row : profile.rows) ops.push_back(row.op);
  return ops;
}

constexpr TrainingPass passes[] = {TrainingPass::forward, TrainingPass::backward, TrainingPass::update};

// ---- profile ---------------------------------------------------------------------------------------

std::vector<Field> timed_op_fields() { return with_op({{"min", Kind::real}, {"median", Kind::real}}); }

std::vector<Field> profile_fields() {
  return {{"steps", Kind::integer},
          {"forward", Kind::real},
          {"backward", Kind::real},
          {"update", Kind::real},
          {"ops", Type::list(record_of(timed_op_fields()))}};
}

std::string table_of(const StepProfile& profile, const Sources& sources) {
  const std::vector<std::string> ops = op_texts(ops_of(profile), sources);
  std::string table = fmt::format("{:>6} {:>10} {:>10} {:>11}  {}\n", "calls", "min ms", "median ms", "bytes", ops[0]);
  for (std::size_t i = 0; i < profile.rows.size(); ++i) {
    const auto& [op, time] = profile.rows[i];
    table += fmt::format("{:>6} {:>10.4f} {:>10.4f} {:>11}  {}\n", op.calls, time.min, time.median,
                         bytes_text(op.work.bytes), ops[i + 1]);
  }
  table += fmt::format("{} steps, medians:", profile.steps);
  for (TrainingPass pass : passes) table += fmt::format(" {} {:.4f} ms", text(pass), profile.of(pass).median);
  return table;
}

Value run_profile(HostContext& host, std::span<const Value> v) {
  auto& training = *std::static_pointer_cast<Training>(v[0].object());
  const ProfileOptions options{v[1].integer(), v[2].integer()};
  if (options.warmup < 0) throw failure("E5003", host.span, fmt::format("{} steps to warm up?", options.warmup));
  if (options.steps <= 0)
    throw failure("E5003", host.span, fmt::format("a profile of {} steps: there is nothing to measure", options.steps));
  const StepProfile profile = profile_steps(training, *host.interpreter, options, host.span);
  const Sources& sources = host.program.sources;
  List ops;
  for (const auto& [op, time] : profile.rows) {
    List values = op_values(op, sources);
    values.insert(values.end(), {Value(time.min), Value(time.median)});
    ops.push_back(as_value(record_of(timed_op_fields(), std::move(values))));
  }
  List values{Value(profile.steps)};
  for (TrainingPass pass : passes) values.push_back(Value(profile.of(pass).median));
  values.push_back(Value(std::move(ops)));
  auto record = record_of(profile_fields(), std::move(values));
  record->table = table_of(profile, sources);
  return as_value(std::move(record));
}

Type profile_type(RuleContext& c) {
  if (const Value* warmup = c.constant(1); warmup && warmup->integer() < 0)
    c.fail("E1003", "steps to warm up are not negative", 1);
  if (const Value* steps = c.constant(2); steps && steps->integer() <= 0)
    c.fail("E1003", "a profile is of one step at least", 2, "leave it out for 10");
  return record_of(profile_fields());
}

constexpr Operand profile_operands[] = {
    {"m", OperandKind::value}, {"warmup", OperandKind::integer, 2}, {"iters", OperandKind::integer, 10}};

// ---- cost ------------------------------------------------------------------------------------------

std::vector<Field> cost_op_fields() { return with_op({{"ms", Kind::real}, {"estimate", Kind::real}}); }

std::vector<Field> pass_fields() {
  return {{"forward", Kind::real}, {"backward", Kind::real}, {"update", Kind::real}, {"total", Kind::real}};
}

std::vector<Field> rate_fields() {
  return {{"products", Kind::real},
          {"elements", Kind::real},
          {"cache", Kind::real},
          {"memory", Kind::real},
          {"call", Kind::real}};
}

std::vector<Field> cost_fields() {
  std::vector<Field> fields = pass_fields();
  for (const char* bytes : {"memory", "peak", "slots", "moments", "hidden"}) fields.push_back({bytes, Kind::integer});
  fields.push_back({"estimate", record_of(pass_fields())});
  fields.push_back({"rates", record_of(rate_fields())});
  fields.push_back({"ops", Type::list(record_of(cost_op_fields()))});
  return fields;
}

struct PassTimes {
  std::array<double, 3> ms{};
  double total() const { return ms[0] + ms[1] + ms[2]; }
  List values() const { return {Value(ms[0]), Value(ms[1]), Value(ms[2]), Value(total())}; }
};

struct StepCost {
  StepProfile profile;
  MachineRates rates;
  std::vector<double> estimates;  // ms by row, of all its calls in a step
  PassTimes measured, estimated;
};

StepCost cost_of(StepProfile profile, const MachineRates& rates) {
  StepCost cost{std::move(profile), rates, {}, {}, {}};
  for (std::size_t p = 0; p < std::size(passes); ++p) cost.measured.ms[p] = cost.profile.of(passes[p]).median;
  for (const StepProfile::Row& row : cost.profile.rows) {
    cost.estimates.push_back(estimated_ms(row.op, rates) * static_cast<double>(row.op.calls));
    if (row.op.pass != TrainingPass::none)
      cost.estimated.ms[static_cast<std::size_t>(row.op.pass) - 1] += cost.estimates.back();
  }
  return cost;
}

std::string table_of(const StepCost& cost, const Sources& sources) {
  const std::vector<std::string> ops = op_texts(ops_of(cost.profile), sources);
  std::string table = fmt::format("{:>6} {:>10} {:>11} {:>11}  {}\n", "calls", "ms", "estimate ms", "bytes", ops[0]);
  for (std::size_t i = 0; i < cost.profile.rows.size(); ++i) {
    const auto& [op, time] = cost.profile.rows[i];
    table += fmt::format("{:>6} {:>10.4f} {:>11.4f} {:>11}  {}\n", op.calls, time.median, cost.estimates[i],
                         bytes_text(op.work.bytes), ops[i + 1]);
  }
  for (std::size_t p = 0; p < std::size(passes); ++p)
    table += fmt::format("{:<8} {:>8.4f} ms, estimated {:.4f} ms\n", text(passes[p]), cost.measured.ms[p],
                         cost.estimated.ms[p]);
  const StepMemory& memory = cost.profile.memory;
  table += fmt::format("memory   {} (slots {}, moments {}, hidden {}); peak {}",
                       bytes_text(static_cast<double>(memory.all())), bytes_text(static_cast<double>(memory.slots)),
                       bytes_text(static_cast<double>(memory.moments)), bytes_text(static_cast<double>(memory.hidden)),
                       bytes_text(static_cast<double>(cost.profile.peak)));
  return table;
}

Value value_of(const StepCost& cost, const Sources& sources) {
  List ops;
  for (std::size_t i = 0; i < cost.profile.rows.size(); ++i) {
    const auto& [op, time] = cost.profile.rows[i];
    List values = op_values(op, sources);
    values.insert(values.end(), {Value(time.median), Value(cost.estimates[i])});
    ops.push_back(as_value(record_of(cost_op_fields(), std::move(values))));
  }
  const MachineRates& rates = cost.rates;
  const StepMemory& memory = cost.profile.memory;
  List values = cost.measured.values();
  for (std::uint64_t bytes : {memory.all(), cost.profile.peak, memory.slots, memory.moments, memory.hidden})
    values.push_back(whole(bytes));
  values.push_back(as_value(record_of(pass_fields(), cost.estimated.values())));
  values.push_back(as_value(record_of(rate_fields(), {Value(rates.products), Value(rates.elements), Value(rates.cache),
                                                      Value(rates.memory), Value(rates.call)})));
  values.push_back(Value(std::move(ops)));
  auto record = record_of(cost_fields(), std::move(values));
  record->table = table_of(cost, sources);
  return as_value(std::move(record));
}

Value run_cost(HostContext& host, std::span<const Value> v) {
  auto& training = *std::static_pointer_cast<Training>(v[0].object());
  Value& known = training.known_cost();
  if (!known.is_none()) return known;
  StepProfile profile = profile_steps(training, *host.interpreter, {.warmup = 2, .steps = 5}, host.span);
  if (!host.rates) {
    auto& target = dynamic_cast<RecordTarget&>(host.interpreter->target());
    const std::unique_ptr<Trial> trial = target.recorder().trial();
    host.rates = measure_rates(host.program, host.ops, *trial);
  }
  return known = value_of(cost_of(std::move(profile), *host.rates), host.program.sources);
}

Type cost_type(RuleContext&) { return record_of(cost_fields()); }

constexpr Operand cost_operands[] = {{"m", OperandKind::value}};

constexpr const char* profile_example =
    "agent Line() {\n  weight w: f32[1, 1] = constant(0.5)\n"
    "  task forward(in x: f32[B, 1]) -> (y: f32[B, 1]) { y = x @ w }\n}\n"
    "let m = train(Line(), loss: \"mse_avg\", optimizer: sgd(lr: 0.1))\n"
    "m.step([[1.0], [2.0]] as f32[2, 1], [[3.0], [6.0]] as f32[2, 1])\n"
    "for op in m.profile(warmup: 0, iters: 3).ops {\n  if op.pass == \"forward\" { print(op.in_task, op.op, op.makes) "
    "}\n}\n"
    "// expect: Line.forward matmul f32[2, 1]";

constexpr const char* cost_example =
    "agent Line() {\n  weight w: f32[1, 1] = constant(0.5)\n"
    "  task forward(in x: f32[B, 1]) -> (y: f32[B, 1]) { y = x @ w }\n}\n"
    "let m = train(Line(), loss: \"mse_avg\", optimizer: sgd(lr: 0.1, momentum: 0.9))\n"
    "m.step([[1.0], [2.0]] as f32[2, 1], [[3.0], [6.0]] as f32[2, 1])\n"
    "let c = m.cost\nprint(c.slots, c.moments, c.memory <= c.peak, c.total > 0.0)\n// expect: 4 4 true true";

}  // namespace

constinit const Builtin builtin_training_profile = BuiltinFields{
    .name = "training.profile",
    .operands = profile_operands,
    .doc =
        "m.profile(warmup: 2, iters: 10) tries out steps of the shapes of the last one, on made-up data beside the "
        "program, and tells what their ops took: a record {steps, forward, backward, update, ops}, milliseconds that "
        "are medians over `iters` steps. `ops` has a record for each op where it stands: in_task, op, line, "
        "pass (forward, backward or update), makes, calls in a step, bytes that they read and write once, min, median. "
        "Printed, it is a table. Ops that share one pass over the data have shares of its time; what only changes a "
        "shape takes none. Nothing of the training changes. No step before is E5007, `iters` below 1 E1003, or E5003 "
        "where only the run knows.",
    .example = profile_example,
    .type = profile_type,
    .effect = Effect::local,
    .run = run_profile,
    .runs_in = RunsIn::asked};

constinit const Builtin builtin_training_cost = BuiltinFields{
    .name = "training.cost",
    .operands = cost_operands,
    .doc =
        "m.cost is what a step of the shapes of the last one costs, measured once for them: a record {forward, "
        "backward, update, total} in milliseconds, bytes {memory, peak, slots, moments, hidden} and {estimate, rates, "
        "ops}. memory is what the training holds: slots of the net, moments of the optimizer, and hidden, what forward "
        "leaves for backward; peak is what a step takes of the backend at once. `estimate` has the same times as the "
        "records of the ops let expect them of `rates`, which are measured once in a run of the program: operations "
        "per second of products and of other ops, bytes per second of cache and memory, seconds of a call. `ops` has "
        "both for each op, as in m.profile. Printed, it is a table; export(m.cost, \"cost.json\") writes it. No step "
        "before is E5007.",
    .example = cost_example,
    .type = cost_type,
    .effect = Effect::local,
    .run = run_cost,
    .runs_in = RunsIn::asked};

}  // namespace taskspec
