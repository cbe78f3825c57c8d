#include "interp/backends/read.hpp"

#include "frontend/check.hpp"
#include "interp/control/host_context.hpp"
#include "interp/control/immediate.hpp"
#include "interp/control/interpreter.hpp"
#include "ir/records/backend_record.hpp"

namespace taskspec {

namespace {

// Nothing but constants and the call that makes a backend: a command line must not run a program.
bool is_one_backend(const Program& program) {
  const Function& main = program[program.main().top_level];
  if (main.body.calls.empty()) return false;
  for (CallId id : main.body.calls) {
    const Call& call = main[id];
    if (call.form == Form::write) return id == main.body.calls.back() && main[call.in[0]].type.is(Type::Kind::backend);
    const bool makes_one = call.form == Form::builtin && call.type.is(Type::Kind::backend);
    if (call.form != Form::constant && !makes_one) return false;
  }
  return false;
}

// Without brackets, which may be left out there: `host`, also with a comment behind it.
const Builtin* named_backend(const std::string& written, const Toolbox& tools) {
  std::string name = written.substr(0, written.find("//"));
  std::erase_if(name, [](char c) { return c == ' ' || c == '\t'; });
  const Builtin* found = tools.builtins.find(name);
  return found && found->backend ? found : nullptr;
}

// A program is more than one graph: nobody could say what of it runs again.
void refuse_time_steps(BackendChoice& choice, Span span) {
  const Value* steps = choice.option(time_steps_option);
  if (!steps || steps->is_none()) return;
  Diag diag("E1004", Severity::error, span, "'time_steps' repeats one call, and this is the session of a program");
  diag.help("write it in the program: run g(x) on " + std::string(choice.backend->name) +
            "(time_steps: " + print(*steps) + ")");
  throw Error(std::move(diag));
}

}  // namespace

Result<BackendChoice> read_backend(const std::string& written, const Toolbox& tools, Sources& sources) {
  try {
    if (const Builtin* backend = named_backend(written, tools)) return BackendChoice(*backend);
    SourceId source = sources.add("--on", written);
    CheckOptions options{.ops = tools.ops, .builtins = tools.builtins};
    options.at_prompt = true;  // where a value may stand alone
    Result<Program> program = check(sources, source, options);
    if (!program) return program.diags();
    const Span whole{source, 0, static_cast<std::uint32_t>(written.size())};
    if (!is_one_backend(*program)) throw failure("E1004", whole, "this is no backend");
    HostContext host(*program, tools.ops);
    ImmediateTarget target;
    Interpreter interpreter(*program, &host);
    interpreter.set_target(target);
    Frame& frame = interpreter.module(program->main());
    const Call& last = frame.function[frame.function.body.calls.back()];
    BackendChoice choice = *frame[last.variable].as<BackendChoice>();
    refuse_time_steps(choice, whole);
    return choice;
  } catch (const Error& error) {
    return error.diags();
  }
}

Schedule schedule_of(const std::string& name) {
  return name == "pull" ? Schedule::pull : name == "eager" ? Schedule::eager : Schedule::push;
}

}  // namespace taskspec
