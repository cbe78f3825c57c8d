#include "interp/two_programs.hpp"

#include <algorithm>
#include <thread>

#include "interp/control/channel_ends.hpp"
#include "interp/control/deep_stack.hpp"
#include "interp/control/host_target.hpp"
#include "interp/control/rank_line.hpp"
#include "interp/host/start_thread.hpp"
#include "interp/open_session.hpp"
#include "interp/train/rates.hpp"
#include "ir/base/at_end.hpp"

namespace taskspec {

namespace {

// What both programs of one run see.
struct SharedRun {
  SharedRun(const CutProgram& s, const Toolbox& t, const RunSettings& given)
      : cut(s), tools(t), settings(given), exchange(s.channels, given.capacity) {
    settings.output = [this, out = given.output](std::string_view text) {  // both may print
      std::lock_guard lock(printing);
      if (out) out(text);
    };
  }
  // Nobody is to wait for anything any more.
  void stop() {
    stopped.store(true);
    exchange.interrupt();
  }
  // The host program ended. By exit: the graph program ends where that stands. By a failure: what the host has ordered
  // before may still be seen, nothing else is to happen.
  void end_host(bool failed) {
    if (failed)
      exchange.end_early();
    else
      exchange.end(Part::host);
    if (settings.pause) settings.pause(Part::host);
    const bool nothing_left = failed ? exchange.enough() && !exchange.fails() : exchange.ahead();
    if (nothing_left) stop();
  }

  const CutProgram& cut;
  const Toolbox& tools;
  RunSettings settings;
  Exchange exchange;
  std::mutex printing;
  ControlLog::Clock::time_point start = ControlLog::Clock::now();
  ControlLog host_log{start, true}, graph_log{start, false};  // used where a timeline is wanted
  std::atomic<bool> stopped{false};                           // all ends at once, also tasks that run
};

// How a program ended, if not at its end.
struct Ending {
  Diags diags;
  std::optional<int> exit;
  bool cut_off = false;  // it waited for the other one, which had ended
  bool heard = false;    // of the host: by a failure of the graph that it received
};

template <class F>
Ending ending_of(F&& run) {
  Ending ending;
  try {
    run();
  } catch (const ExitRequest& request) {
    ending.exit = request.code;
  } catch (const PartnerEnded&) {
    ending.cut_off = true;
  } catch (const Error& error) {
    ending.diags = error.diags();
  } catch (const std::bad_alloc&) {
    ending.diags = no_memory_left();
  }
  return ending;
}

// ---- the graph program ----------------------------------------------------------------------------

struct GraphRunning {
  Ending ending;
  Diags unseen;   // what failed of that which was still to be seen when it ended early
  Diags unshown;  // and of what was to be shown
  SessionReport report;
};

bool trains(const Session& session) {
  return std::ranges::any_of(session.op_rows(), [](const OpRow& row) { return row.pass != TrainingPass::none; });
}

// As m.cost measured them; or measured now, in a session that has no part in the report of this one.
std::optional<MachineRates> rates_of(const HostContext& context, const Interpreter& interpreter,
                                     const RunSettings& settings) {
  if (context.rates) return context.rates;
  const std::unique_ptr<OpenSession> apart = open_session(interpreter, settings);
  return measure_rates(context.program, context.ops, *apart->session().trial());
}

GraphRunning run_graph_program(SharedRun& shared) {
  GraphRunning result;
  RunSettings settings = shared.settings;
  settings.interrupted = &shared.stopped;
  Ending outside = ending_of([&] {  // no session could be opened, say
    with_deep_stack([&] {
      const Program& program = shared.cut.program;
      HostContext context(program, shared.tools.ops);
      context.forms = shared.tools.forms;
      context.blocks = &shared.tools.blocks;
      context.write_blocks = shared.tools.write_blocks;
      context.write_nir = shared.tools.write_nir;
      context.hdf5_layouts = shared.tools.hdf5_layouts;
      take_settings(context, settings);
      Interpreter interpreter(program, &context);
      let_open_sessions(context, interpreter, settings);
      std::unique_ptr<OpenSession> session = open_session(interpreter, settings);
      const AtEnd forgotten([&] { interpreter.forget_modules(); });  // handles go before the session that they name
      GraphChannelEnd end(shared.cut, shared.exchange, settings.pause);
      if (settings.timeline) {
        end.set_log(&shared.graph_log);
        session->session().set_log(&shared.graph_log);
      }
      interpreter.set_target(session->target());
      interpreter.set_partner(end);
      result.ending = ending_of([&] {
        for (const Module& module : program.modules)
          interpreter.module(module, shared.cut.part(module.top_level, Part::graph));
        session->finish();
      });
      if (result.ending.diags.has_errors() || shared.stopped) session->failed(result.ending.diags);
      result.unseen = shared.stopped ? session->failed_effects() : session->end_early();
      add_others(result.unseen, context.unseen);
      result.unshown = session->failed_print();
      const bool has_steps = trains(session->session());
      interpreter.forget_modules();
      result.report = session->close();
      if (settings.rates && has_steps) result.report.rates = rates_of(context, interpreter, settings);
    });
  });
  if (outside.diags.has_errors()) result.ending = std::move(outside);
  shared.exchange.end(Part::graph);
  return result;
}

// ---- the host program -----------------------------------------------------------------------------

Ending run_host_program(SharedRun& shared) {
  Ending ending;
  with_deep_stack([&] {
    const Program& program = shared.cut.program;
    HostContext context(program, shared.tools.ops);
    context.forms = shared.tools.forms;
    context.blocks = &shared.tools.blocks;
    context.write_blocks = shared.tools.write_blocks;
    context.write_nir = shared.tools.write_nir;
    context.hdf5_layouts = shared.tools.hdf5_layouts;
    take_settings(context, shared.settings);
    context.part = 1;
    HostTarget target;
    HostChannelEnd end(shared.cut, shared.exchange, shared.settings.pause);
    if (shared.settings.timeline) end.set_log(&shared.host_log);
    Interpreter interpreter(program, &context);
    interpreter.set_target(target);
    interpreter.set_partner(end);
    ending = ending_of([&] {
      for (const Module& module : program.modules)
        interpreter.module(module, shared.cut.part(module.top_level, Part::host));
    });
    ending.heard = end.heard_failure();
  });
  return ending;
}

// Ctrl-C ends both, also where one waits for the other.
std::jthread watch(SharedRun& shared) {
  const std::atomic<bool>* interrupted = shared.settings.interrupted;
  if (!interrupted) return {};
  return start_thread<std::jthread>([&shared, interrupted](std::stop_token stop) {
    while (!stop.stop_requested()) {
      if (interrupted->load(std::memory_order_relaxed)) return shared.stop();
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
  });
}

// Both to their ends, each on a thread of its own.
void run_both(SharedRun& shared, GraphRunning& graph, Ending& host) {
  std::jthread watcher = watch(shared);
  std::exception_ptr mistake;  // ours: what no program may throw
  std::thread graph_thread = start_thread([&] {
    try {
      graph = run_graph_program(shared);
    } catch (...) {
      mistake = std::current_exception();
      shared.stop();
    }
  });
  try {
    host = run_host_program(shared);
  } catch (...) {
    shared.stop();
    graph_thread.join();
    throw;
  }
  shared.end_host(host.diags.has_errors());
  graph_thread.join();
  if (mistake) std::rethrow_exception(mistake);
}

}  // namespace

bool may_have_shards(const Program& program, const RunSettings& settings) {
  const auto has = [](const Builtin* builtin) {
    return builtin && builtin->backend && std::ranges::count(builtin->operands, "shards", &Operand::name) > 0;
  };
  if (settings.on && has(settings.on->backend)) return true;
  return std::ranges::any_of(program.functions, [&](const Function& function) {
    return std::ranges::any_of(function.calls, [&](const Call& call) { return has(call.builtin); });
  });
}

namespace {

// The first run of a program starts others where a backend wants them; nobody sees those.
std::shared_ptr<Replica> first_replica(const CutProgram& cut, const Toolbox& tools, const RunSettings& settings) {
  auto first = std::make_shared<Replica>();
  // Where nothing can start others, nothing is kept for them.
  if (may_have_shards(cut.program, settings)) first->agreed = std::make_shared<AgreedValues>();
  first->is_hidden = settings.is_hidden;
  first->start = [&cut, &tools, settings, agreed = first->agreed](std::shared_ptr<Replica> other) {
    run_two_programs(cut, tools, unseen_settings(settings, agreed, std::move(other)));
  };
  return first;
}

RunResult run_replica(const CutProgram& cut, const Toolbox& tools, const RunSettings& settings);

}  // namespace

RunResult run_two_programs(const CutProgram& cut, const Toolbox& tools, const RunSettings& given) {
  RunSettings settings = given;
  if (!settings.replica) settings.replica = first_replica(cut, tools, given);
  RunResult result = run_replica(cut, tools, settings);
  if (settings.replica->number == 0) {
    if (settings.replica->agreed) settings.replica->agreed->end();
    if (RankLine* ranks = RankLine::here()) ranks->end();
  }
  settings.replica->others.reset();  // they end with it
  return result;
}

namespace {

RunResult run_replica(const CutProgram& cut, const Toolbox& tools, const RunSettings& settings) {
  SharedRun shared(cut, tools, settings);
  GraphRunning graph;
  Ending host;
  Ending outside = ending_of([&] { run_both(shared, graph, host); });
  if (outside.diags.has_errors()) return {3, std::move(outside.diags), {}};

  const bool failed = host.diags.has_errors();
  RunResult result;
  result.report = std::move(graph.report);
  result.report.control = shared.host_log.entries();
  std::ranges::copy(shared.graph_log.entries(), std::back_inserter(result.report.control));
  result.report.end_ns = shared.host_log.now();
  if (settings.interrupted && settings.interrupted->load()) {
    result.diags = failure("E5009", {}, "interrupted").diags();
    result.exit_code = 130;
    return result;
  }
  // Where the host failed, an error of the graph that nobody received may stand before that or behind it. It stands
  // before it where the graph has not come to what the host had ordered.
  const bool first = graph.ending.diags.has_errors() && !(failed && shared.exchange.all_done());
  result.diags = first ? graph.ending.diags : host.diags;
  if (result.diags.has_errors()) result.exit_code = 3;
  if (host.exit && !first) result.exit_code = *host.exit;
  // Where the host failed by itself, nobody knows how far ahead the graph was: but what it was to show, the host had
  // ordered before.
  const bool by_itself = failed && !first && !host.heard;
  add_others(result.diags, by_itself ? graph.unshown : graph.unseen);
  if (result.exit_code == 0 && result.diags.has_errors()) result.exit_code = 3;
  const bool ended = host.exit || result.diags.has_errors();
  if (!ended && (host.cut_off || graph.ending.cut_off)) bug("host and graph program do not fit together");
  return result;
}

}  // namespace

}  // namespace taskspec
