// m.fit: a step for each row of the data.
#include "interp/control/builtins/builtins.hpp"
#include "interp/train/builtins.hpp"
#include "interp/train/fit_progress.hpp"

namespace taskspec {

using namespace builtins;

namespace {

// Rows (x, y), or (a, b, y): what forward takes, then what it should have said.
void fit_row(Interpreter& interpreter, Training& training, const Value& row, const StepSite& site) {
  if (!row.is_tuple() || row.tuple().items.size() < 2)
    throw failure("E1004", site.span, "fit takes rows (x, y): what forward takes, then what it should have said");
  List items = row.tuple().items;
  const Value goal = std::move(items.back());
  items.pop_back();
  training.call(interpreter, std::move(items), site.scope, site.span);
  training.backward(interpreter, goal, site);
  training.update(interpreter, site);
}

void fit_rows(HostContext& host, Training& training, const Value& rows, FitProgress& progress) {
  const StepSite site = step_site(host);
  if (!rows.is_list() || rows.list().empty()) throw failure("E5003", site.span, "fit has no rows to learn from");
  for (const Value& row : rows.list()) {
    progress.at(training.epochs(), static_cast<std::size_t>(&row - rows.list().data()), rows.list().size());
    fit_row(*host.interpreter, training, row, site);
  }
}

// Of a program that was cut in two, the graph's part learns; what a function that gives rows does besides (asserts,
// prints) is done by the host's part. Of a function it is told the first epoch, behind the operands.
Value run_fit(HostContext& host, std::span<const Value> v) {
  Training& training = training_of(v[0]);
  const bool learns = host.frame->function.part != Part::host;
  const std::int64_t first = v.size() > 3 ? v[3].integer() : training.epochs();
  FitProgress progress;
  for (std::int64_t epoch = 0; epoch < v[2].integer(); ++epoch) {
    training.reset_metrics();
    const Value rows = v[1].as<Callable>()
                           ? host.interpreter->apply(v[1], {Value(first + epoch)}, {host.span, host.frame}).value
                           : v[1];
    if (learns) fit_rows(host, training, rows, progress);
    training.end_epoch();
  }
  return {};
}

Type fit_type(RuleContext& c) {
  Type data = c.type(1);
  if (data.is(Type::Kind::function)) data = c.closure(1, {Type::Kind::integer});
  const bool rows =
      data.is(Type::Kind::list) && (data.parts[0].is(Type::Kind::tuple) || data.parts[0].is(Type::Kind::error));
  if (!rows && !data.is(Type::Kind::error)) wrong_type(c, 1, "a list of rows (x, y), or a fn(epoch) that gives one");
  if (const Value* epochs = c.constant(2); epochs && epochs->integer() < 0)
    c.fail("E1003", "epochs are not negative", 2);
  return Type::Kind::none;
}

constexpr Operand fit_operands[] = {
    {"m", OperandKind::value}, {"data", OperandKind::value}, {"epochs", OperandKind::integer, 1}};

}  // namespace

constinit const Builtin builtin_training_fit =
    BuiltinFields{.name = "training.fit",
                  .operands = fit_operands,
                  .doc =
                      "m.fit(data, epochs: 3): a step for each row (x, y) of a list, or of what a fn(epoch) gives, "
                      "such as epoch => digits.batches(64, seed: epoch); metrics begin anew with each epoch. Rows may "
                      "differ in the extent of the batch, as a short last one does. Epochs are counted over all "
                      "calls, from 0 (m.epochs). No rows are E5003.",
                  .example = training_example,
                  .type = fit_type,
                  .run = run_fit,
                  .runs_in = RunsIn::graph};

}  // namespace taskspec
