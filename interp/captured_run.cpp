#include "interp/captured_run.hpp"

#include <map>
#include <set>

#include "interp/backends/backends.hpp"
#include "interp/control/capture.hpp"
#include "interp/control/deep_stack.hpp"
#include "interp/control/has_state.hpp"
#include "interp/control/host_context.hpp"
#include "interp/control/interpreter.hpp"
#include "interp/control/recorder.hpp"
#include "interp/open_session.hpp"
#include "ir/base/at_end.hpp"

namespace taskspec {

namespace {

// What a call uses of its surroundings. Tensors, agents and whatever else changes are made anew; the rest nobody
// changes, and it is kept here for as long as others have it.
struct Captured {
  std::vector<Value> frame;                          // as capture_frame lists it
  std::vector<std::pair<GlobalUse, Value>> globals;  // of all modules
  bool in_graph = false;
  std::uint64_t agreed = 0;  // values that the first one asked itself for so far
};

// Of a thing that several values hold there is one copy.
class CopiedState {
 public:
  Value of(const Value& value) {
    Value& known = copies_[value.object().get()];
    if (known.is_none()) known = value.as<HasState>()->copy();
    return known;
  }

 private:
  std::map<const Object*, Value> copies_;
};

class Capturing {
 public:
  Capturing(const RunSite& site, const FreeUse& use)
      : site_(site), span_(site.frame.function[site.call].span), copied_(is_made_anew_, anew_, refuse_training_) {
    made_.in_graph = site.frame.in_graph;
    made_.agreed = site.interpreter.host()->agreed;
    made_.frame = capture_frame(site.frame, use, [&](const Value& value) { return take(value); });
    for (const GlobalUse& global : use.globals) add(global);
  }
  Captured made() && { return std::move(made_); }

 private:
  Value take(const Value& value) {
    // What a function value reads of the top level, it reads when it is called.
    each_function(value, [&](FunctionId inside) {
      if (!functions_.insert(inside.value).second) return;
      for (const GlobalUse& global : site_.interpreter.facts().globals(inside)) add(global);
    });
    return copied_(value);
  }
  void add(const GlobalUse& global) {
    if (!known_.emplace(global.module.value, global.variable.value).second) return;
    const Program& program = site_.interpreter.program();
    const Value value = site_.interpreter.global(program.modules[global.module.index()], global.variable);
    if (!value.is_none()) made_.globals.emplace_back(global, take(value));
  }

  const RunSite& site_;
  const Span span_;
  const std::function<bool(const Value&)> is_made_anew_ = [](const Value& value) {
    return value.as<Tensor>() || value.as<HasState>();
  };
  const std::function<Value(const Value&)> anew_ = [this](const Value& value) {
    auto* tensor = value.as<Tensor>();
    return tensor ? tensor->recorder().from_elsewhere(*tensor, span_) : state_.of(value);
  };
  const std::function<void(Agent&)> refuse_training_ = [this](Agent& agent) {
    if (!agent.training) return;
    Diag diag("E1009", Severity::error, span_,
              "'" + agent.path + "' is being trained outside of this run, which shards cannot take part in");
    diag.help_text = "train inside of what runs, or put the whole program into a file: taskspec run FILE --on mpi";
    throw Error(std::move(diag));
  };
  CopiedState state_;
  Rebuilding copied_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> known_;
  std::set<std::uint32_t> functions_;
  Captured made_;
};

// What changes is one thing in each replica, however many values hold it; slots of agents go on with what they hold.
class Copies {
 public:
  Value operator()(const Value& value) { return copied_(value); }

 private:
  const std::function<bool(const Value&)> has_state_ = [](const Value& value) {
    return value.as<HasState>() != nullptr;
  };
  const std::function<Value(const Value&)> copy_ = [this](const Value& value) { return state_.of(value); };
  const std::function<void(Agent&)> nothing_ = [](Agent&) {};
  CopiedState state_;
  Rebuilding copied_{has_state_, copy_, nothing_};
};

// The program as another one runs it: its top levels have nothing but what was captured, and only the call runs.
void run_captured(const Captured& captured, const Program& program, const HostContext& first, FunctionId function,
                  CallId call, const RunSettings& settings) {
  HostContext host(program, first.ops);
  host.beside = first.beside;
  host.forms = first.forms;
  host.blocks = first.blocks;
  host.write_blocks = first.write_blocks;
  host.write_nir = first.write_nir;
  host.hdf5_layouts = first.hdf5_layouts;
  take_settings(host, settings);
  host.agreed = captured.agreed;
  host.part = first.part;
  with_deep_stack([&] {
    Interpreter interpreter(program, &host);
    let_open_sessions(host, interpreter, settings);
    RunSettings around = settings;  // of what stands around the call: values, with which nothing is computed
    around.on = std::make_shared<const BackendChoice>(builtin_null);
    around.replica = nullptr;
    around.pictures = nullptr;
    const std::unique_ptr<OpenSession> outer = open_session(interpreter, around);
    interpreter.set_target(outer->target());
    const AtEnd forgotten([&] {
      host.kept.clear();
      interpreter.forget_modules();
    });
    std::vector<Frame*> modules;
    for (const Module& module : program.modules) {
      interpreter.skip(module);
      modules.push_back(&interpreter.advance(module));
    }
    Copies copied;
    for (const auto& [global, value] : captured.globals)
      (*modules[global.module.index()])[global.variable] = copied(value);
    const bool is_top_level = program.modules[program[function].module.index()].top_level == function;
    std::unique_ptr<Frame> own;
    if (!is_top_level)
      own = std::make_unique<Frame>(program[function], function, interpreter.facts().function(function));
    Frame& frame = own ? *own : *modules[program[function].module.index()];
    restore_frame(frame, interpreter.facts().free_use(function, call), captured.frame,
                  [&](const Value& value) { return copied(value); });
    frame.in_graph = captured.in_graph;
    (void)interpreter.step(frame, call);
  });
}

}  // namespace

std::shared_ptr<Replica> captured_replica(const RunSite& site, const RunSettings& settings) {
  const FunctionId function = site.frame.id;
  auto captured =
      std::make_shared<const Captured>(Capturing(site, site.interpreter.facts().free_use(function, site.call)).made());
  auto first = std::make_shared<Replica>();
  first->agreed = std::make_shared<AgreedValues>();
  first->start = [captured, &program = site.interpreter.program(), host = site.interpreter.host(), function,
                  call = site.call, &settings, agreed = first->agreed](std::shared_ptr<Replica> other) {
    run_captured(*captured, program, *host, function, call, unseen_settings(settings, agreed, std::move(other)));
  };
  return first;
}

}  // namespace taskspec
