#include "interp/recorded_program.hpp"

#include <chrono>

#include "interp/backends/backends.hpp"
#include "interp/control/deep_stack.hpp"
#include "interp/control/interpreter.hpp"
#include "interp/open_session.hpp"

namespace taskspec {

namespace {

constexpr std::chrono::seconds longest{2};

Type no_type(RuleContext&) { return {}; }
Value do_nothing(HostContext&, std::span<const Value>) { return {}; }

// In place of print, write, assert: of no table, and nothing that a text can name.
constinit const Builtin builtin_nothing = BuiltinFields{.name = "nothing",
                                                        .operands = {},
                                                        .doc = "Stands for what a program does to the world outside.",
                                                        .example = "-",
                                                        .type = no_type,
                                                        .run = do_nothing};

Program without_effects(Program program) {
  for (Function& function : program.functions)
    for (Call& call : function.calls) {
      const bool acts = call.builtin && call.builtin->effect != Effect::pure && call.type.is(Type::Kind::none);
      if (acts && call.builtin->ends != EndsProgram::exits) call.builtin = &builtin_nothing;
    }
  return program;
}

Value zero_of(Type::Kind kind) {
  if (kind == Type::Kind::real) return Value(0.0);
  if (kind == Type::Kind::string) return Value(std::string());
  if (kind == Type::Kind::boolean) return Value(false);
  return kind == Type::Kind::integer ? Value(std::int64_t{0}) : Value(List());
}

// `run .. on` as part of the program's own session.
class SameSession final : public NestedSession {
 public:
  SameSession(Target& target, const BackendRecord& backend) : target_(target), backend_(backend) {}
  Target& target() override { return target_; }
  bool owns(const Tensor&) const override { return false; }
  bool named() const override { return false; }
  void hold() override {}
  std::vector<Array> run_steps(const TimeSteps&, Span) override { return {}; }
  Value report() override {
    auto record = std::make_shared<Record>();
    for (std::span<const ReportField> fields : {common_report(), backend_.report})
      for (const ReportField& field : fields) record->fields.emplace_back(field.name, zero_of(field.kind));
    return Value(std::static_pointer_cast<Object>(record));
  }
  Diags end_early() override { return {}; }

 private:
  Target& target_;
  const BackendRecord& backend_;
};

// A run of time steps gives arrays along a new axis: its tasks are those of one step, in a session of their own.
void join_sessions(HostContext& host, const RunSettings& settings, Target& target) {
  host.open_session = [&, alone = host.open_session](const BackendChoice& choice, Span span) {
    BackendChoice on = choice;
    const Value* steps = on.option(time_steps_option);
    if (!steps || !steps->is_integer())
      return std::unique_ptr<NestedSession>(std::make_unique<SameSession>(target, *choice.backend->backend));
    BackendChoice counts = *settings.on;
    *counts.option(time_steps_option) = *steps;
    return alone(counts, span);
  };
}

// Set after some seconds, or by whoever may interrupt.
class Limit {
 public:
  explicit Limit(const std::atomic<bool>* interrupted)
      : thread_([this, interrupted](std::stop_token stop) {
          const auto end = std::chrono::steady_clock::now() + longest;
          while (!stop.stop_requested() && !(interrupted && interrupted->load())) {
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
            if (std::chrono::steady_clock::now() > end) is_over = true;
            if (is_over) break;
          }
          if (!stop.stop_requested()) reached = true;
        }) {}
  std::atomic<bool> reached = false, is_over = false;

 private:
  std::jthread thread_;  // the last: it uses the others
};

}  // namespace

RecordedProgram record_program(const Program& program, const Toolbox& tools, RunSettings settings,
                               FunctionRef<void(const TaskGraph&, std::span<const Ref> received)> use) {
  RecordedProgram result;
  Limit limit(settings.interrupted);
  settings.on = std::make_shared<const BackendChoice>(builtin_null);
  settings.interrupted = &limit.reached;
  settings.output = [](std::string_view) {};
  settings.keep_graph = true;
  settings.window = 0;
  const Program quiet = without_effects(program);
  HostContext host(quiet, tools.ops);
  host.forms = tools.forms;
  host.blocks = &tools.blocks;
  take_settings(host, settings);
  with_deep_stack([&] {
    Interpreter interpreter(quiet, &host);
    let_open_sessions(host, interpreter, settings);
    std::unique_ptr<OpenSession> session = open_session(interpreter, settings);
    interpreter.set_target(session->target());
    join_sessions(host, settings, session->target());
    try {
      for (const Module& module : quiet.modules) interpreter.module(module);
    } catch (const ExitRequest&) {
    } catch (const Error& error) {
      result.ended = error.diags();
    }
    result.too_long = limit.is_over;
    session->session().graph.name = "top level";
    use(session->session().graph, session->session().received());
    interpreter.forget_modules();  // handles go before the session that they name
  });
  return result;
}

}  // namespace taskspec
