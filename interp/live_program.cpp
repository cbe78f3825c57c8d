#include "interp/live_program.hpp"

#include "frontend/ast.hpp"
#include "interp/prelude.hpp"
#include "ir/files/files.hpp"

namespace taskspec {

LiveProgram::LiveProgram(const Toolbox& tools, const LoadOptions& load, RunSettings settings)
    : tools_(tools),
      settings_(std::move(settings)),
      checker_({.ops = tools_.ops,
                .builtins = tools_.builtins,
                .blocks = tools_.blocks,
                .search_path = load.search_path,
                .prelude = prelude_folders(),
                .read = [](const std::string& file) { return read_text(file); },
                .import_model = tools_.import_model}),
      host_(checker_.program(), tools_.ops) {
  host_.blocks = &tools_.blocks;
  host_.write_blocks = tools_.write_blocks;
  host_.write_nir = tools_.write_nir;
  host_.hdf5_layouts = tools_.hdf5_layouts;
  settings_.keep_graph = true;  // the prompt shows it, C++ programs export it
  take_settings(host_, settings_);
  interpreter_ = std::make_unique<Interpreter>(checker_.program(), &host_);
  let_open_sessions(host_, *interpreter_, settings_);
  use(open_session(*interpreter_, settings_));
}

LiveProgram::~LiveProgram() { interpreter_->forget_modules(); }  // handles go before the sessions that they name

void LiveProgram::change_backend(const BackendChoice& choice) { use(open_session(*interpreter_, choice, settings_)); }

void LiveProgram::use(std::unique_ptr<OpenSession> session) {
  sessions_.push_back(std::move(session));
  interpreter_->set_target(sessions_.back()->target());
}

LiveProgram::Step LiveProgram::enter(const std::string& path, std::string text) {
  return run(checker_.add(sources().add(path, std::move(text))));
}

LiveProgram::Step LiveProgram::enter(Ast tree) { return run(checker_.add(std::move(tree))); }

LiveProgram::Step LiveProgram::run(Result<Checker::Entry> checked) {
  Step step;
  step.diags = checked.diags();
  if (!checked) {
    step.exit_code = 1;
    return step;
  }
  step.entry = std::move(*checked);
  verified([&] {
    std::vector<std::string> wrong = verify_grown(program(), verified_);
    return wrong.empty() ? std::string() : wrong[0];
  });
  try {
    on_stack([&] { advance(step); });
  } catch (const Error& error) {
    step.diags = error.diags();
    const bool interrupted = settings_.interrupted && settings_.interrupted->load();
    step.exit_code = interrupted ? 130 : 3;
    step.taken_back = true;
    checker_.take_back();
    modules_run_ = program().modules.size();  // one whose top level failed is no part of it any more
    interpreter_->skip(program().main());     // and what stood behind its import never runs
  }
  const Diags unseen = std::exchange(host_.unseen, {});
  add_others(step.diags, unseen);
  if (unseen.has_errors() && step.exit_code == 0) step.exit_code = 3;
  return step;
}

void LiveProgram::advance(Step& step) {
  const NodeId first(session().graph.size());
  try {
    for (; modules_run_ < program().modules.size(); ++modules_run_)
      interpreter_->module(program().modules[modules_run_]);
    interpreter_->advance(program().main());
  } catch (const ExitRequest& exit) {
    step.ended = exit.code;
  } catch (const Error&) {
    try {
      session().run_prints();
    } catch (const Error&) {  // the entry's own error is the one to tell
    }
    throw;
  }
  session().run_prints();
  if (NodeId failed = session().failed_effect(); failed.valid() && failed >= first) session().raise_failed_effect();
  tell_failed_effects(step);
  for (auto [variable, call] : checker_.forgotten()) interpreter_->forget(program().main(), variable, call);
}

void LiveProgram::tell_failed_effects(Step& step) {
  try {
    session().raise_failed_effect();
  } catch (const Error& error) {
    step.diags.append(error.diags());
    if (step.exit_code == 0) step.exit_code = 3;
  }
}

Value LiveProgram::value(VariableId variable) const { return interpreter_->global(program().main(), variable); }

Array LiveProgram::contents(const Value& tensor) {
  Array result;
  on_stack([&] { result = interpreter_->target().receive(tensor, {}); });
  return result;
}

Result<Type> LiveProgram::type_of(const std::string& path, std::string text) {
  return checker_.type_of(sources().add(path, std::move(text)));
}

Result<Type> LiveProgram::type_of(Ast tree) { return checker_.type_of(std::move(tree)); }

std::unique_ptr<GraphView> LiveProgram::view(FunctionId graph, const Value& agent, ViewContents contents) {
  std::unique_ptr<GraphView> result;
  on_stack([&] { result = build_graph(*interpreter_, graph, agent, contents); });
  return result;
}

void LiveProgram::on_stack(FunctionRef<void()> body) {
  stack_.run([&] {
    interpreter_->begin();
    try {
      body();
    } catch (const std::bad_alloc&) {
      throw Error(no_memory_left());
    }
  });
}

}  // namespace taskspec
