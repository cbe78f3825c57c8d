#include "interp/pipeline.hpp"

#include "interp/control/deep_stack.hpp"
#include "interp/control/interpreter.hpp"
#include "interp/open_session.hpp"
#include "interp/two_programs.hpp"
#include "ir/base/function_ref.hpp"
#include "ir/base/text.hpp"
#include "ir/program/top_level.hpp"
#include "ir/verify/verify.hpp"

namespace taskspec {

namespace {

// What runs in a session, perhaps several times at once: it changes nothing but what it is given.
using SessionBody = FunctionRef<void(Interpreter&, GraphRun&)>;

// Sets up interpreter and session, lets `body` work with them on a deep stack, and closes them again.
void in_one_session(const Program& program, const Toolbox& tools, const RunSettings& settings, GraphRun& result,
                    SessionBody body) {
  HostContext host(program, tools.ops);
  host.forms = tools.forms;
  host.blocks = &tools.blocks;
  host.write_blocks = tools.write_blocks;
  host.write_nir = tools.write_nir;
  host.hdf5_layouts = tools.hdf5_layouts;
  take_settings(host, settings);
  auto run = [&] {
    Interpreter interpreter(program, &host);
    let_open_sessions(host, interpreter, settings);
    std::unique_ptr<OpenSession> session = open_session(interpreter, settings);
    interpreter.set_target(session->target());
    struct Forget {  // handles go before the session that they name, however this ends
      Interpreter& interpreter;
      ~Forget() { interpreter.forget_modules(); }
    } forget{interpreter};
    try {
      body(interpreter, result);
      session->finish();
    } catch (const ExitRequest& exit) {
      result.exit_code = exit.code;
    } catch (const Error& error) {
      result.diags = error.diags();
      result.exit_code = settings.interrupted && settings.interrupted->load() ? 130 : 3;
    } catch (const std::bad_alloc&) {
      result.diags = no_memory_left();
      result.exit_code = 3;
    }
    if (result.diags.has_errors()) session->failed(result.diags);
    if (result.exit_code != 130) {
      add_others(result.diags, session->end_early());
      add_others(result.diags, host.unseen);
    }
    interpreter.forget_modules();  // handles go before the session that they name
    if (result.diags.has_errors() && result.exit_code == 0) result.exit_code = 3;
    result.report = session->close();
  };
  with_deep_stack(run);
}

// A backend of shards runs it several times; the others are not seen, and end with the first.
void in_session(const Program& program, const Toolbox& tools, const RunSettings& given, GraphRun& result,
                SessionBody body) {
  RunSettings settings = given;
  settings.replica = std::make_shared<Replica>();
  settings.replica->is_hidden = given.is_hidden;
  if (may_have_shards(program, given)) settings.replica->agreed = std::make_shared<AgreedValues>();
  settings.replica->start = [&, agreed = settings.replica->agreed](std::shared_ptr<Replica> other) {
    GraphRun nobodys;
    in_one_session(program, tools, unseen_settings(given, agreed, std::move(other)), nobodys, body);
  };
  in_one_session(program, tools, settings, result, body);
  if (settings.replica->agreed) settings.replica->agreed->end();
  settings.replica->others.reset();
}

}  // namespace

RunResult run_program(const Program& program, const Toolbox& tools, const RunSettings& settings) {
  const CutProgram cut = cut_program(program, settings.cut);
  verified([&] {
    std::vector<std::string> wrong = verify(cut.program);
    return wrong.empty() ? std::string() : wrong[0];
  });
  return run_two_programs(cut, tools, settings);
}

RunResult run_directly(const Program& program, const Toolbox& tools, const RunSettings& settings) {
  GraphRun result;
  in_session(program, tools, settings, result, [&](Interpreter& interpreter, GraphRun&) {
    for (const Module& module : program.modules) interpreter.module(module);
  });
  return result;
}

GraphRun run_graph(const Program& program, FunctionId graph, std::vector<Value> given, const Toolbox& tools,
                   const RunSettings& settings) {
  GraphRun result;
  // What the graph reads of the top level is computed first; the rest of the program does not run.
  Program needed = with_needed_top_level(program, graph);
  in_session(needed, tools, settings, result, [&](Interpreter& interpreter, GraphRun& run) {
    for (const Module& module : needed.modules) interpreter.module(module);
    std::vector<Value> inputs = given;
    Target& target = interpreter.target();
    const Function& function = needed[graph];
    auto input = inputs.begin();
    for (const Parameter& parameter : function.parameters) {
      if (parameter.role != Role::declared) continue;
      Value& value = *input++;
      if (!value.is_array()) continue;
      value = target.constant(value.array());
      if (parameter.privilege == Privilege::inout) value = target.place(parameter.name, value);
    }
    std::vector<Value> outputs = interpreter.outputs_of(graph, interpreter.agent_for(graph), std::move(inputs));
    for (std::size_t i = 0; i < outputs.size(); ++i)
      run.results.emplace_back(function.outputs[i].name, target.receive(outputs[i], function.outputs[i].span));
  });
  return result;
}

RunResult run_function(const Program& program, FunctionId function, std::vector<Value> given, const Toolbox& tools,
                       const RunSettings& settings) {
  GraphRun result;
  Program needed = with_needed_top_level(program, function);
  in_session(needed, tools, settings, result, [&](Interpreter& interpreter, GraphRun&) {
    for (const Module& module : needed.modules) interpreter.module(module);
    std::vector<Value> arguments = given;
    for (Value& argument : arguments)
      if (argument.is_array()) argument = interpreter.target().constant(argument.array());
    (void)interpreter.call(function, {}, std::move(arguments), {needed[function].span});
  });
  return result;
}

namespace {

std::vector<FunctionId> graphs_where(const Program& program, FunctionRef<bool(const Function&)> test) {
  std::vector<FunctionId> graphs;
  for (std::size_t i = 0; i < program.functions.size(); ++i) {
    const Function& function = program.functions[i];
    const bool is_own = function.kind == FunctionKind::graph && function.module == program.main_module;
    if (is_own && test(function)) graphs.push_back(FunctionId(i));
  }
  return graphs;
}

}  // namespace

std::vector<FunctionId> graphs_of(const Program& program) {
  return graphs_where(program, [](const Function& graph) { return !graph.agent.valid(); });
}

std::vector<FunctionId> named_graphs(const Program& program) {
  return graphs_where(
      program, [&](const Function& graph) { return !graph.agent.valid() || program[graph.agent].parameters.empty(); });
}

FunctionId find_graph(const Program& program, const std::string& name) {
  for (FunctionId id : named_graphs(program))
    if (program.display_name(id) == name) return id;
  return {};
}

std::string no_graph(const Program& program, const std::string& name, const std::string& path) {
  std::vector<std::string> names, wanted;
  for (FunctionId id : named_graphs(program)) names.push_back(program.display_name(id));
  for (FunctionId id : graphs_where(program, [](const Function&) { return true; }))
    if (program.display_name(id) == name)
      for (const Parameter& parameter : program[program[id].agent].parameters) wanted.push_back(parameter.name);
  if (!wanted.empty())
    return "graph '" + name + "' is one of an agent with parameters (" + joined(wanted, ", ") +
           "): make one by a let, and call it in a graph of its own";
  return "no graph '" + name + "' in " + path + (names.empty() ? "" : "; graphs: " + joined(names, ", "));
}

}  // namespace taskspec
