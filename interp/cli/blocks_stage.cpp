// `taskspec graph --stage blocks`: what stands on a chip, as `ir` declarations.
#include <algorithm>

#include "interp/cli/stages.hpp"
#include "interp/cli/terminal.hpp"
#include "interp/control/block_contents.hpp"
#include "interp/control/deep_stack.hpp"
#include "interp/control/export_graph.hpp"
#include "interp/control/host_context.hpp"
#include "interp/control/immediate.hpp"
#include "interp/control/net_list.hpp"
#include "interp/hw/mapping_value.hpp"
#include "interp/pipeline.hpp"
#include "ir/lowering/lower.hpp"
#include "ir/program/block_calls.hpp"
#include "ir/program/top_level.hpp"
#include "ir/show/blocks_text.hpp"

namespace taskspec::cli {

namespace {

// `ir` declarations of the main file, then its graphs.
std::vector<FunctionId> with_blocks(const Program& program) {
  std::vector<FunctionId> found;
  for (std::size_t i = 0; i < program.functions.size(); ++i)
    if (program.functions[i].module == program.main_module && blocks_of(program, FunctionId(i))) found.emplace_back(i);
  std::ranges::stable_sort(found, {}, [&](FunctionId id) { return program[id].span.begin; });
  const std::vector<FunctionId> graphs = named_graphs(program);
  found.insert(found.end(), graphs.begin(), graphs.end());
  return found;
}

// All reasons, one in a line.
std::string why_no_blocks(const Program& program, FunctionId graph, const Diags& diags) {
  std::string text;
  for (const Diag& diag : diags.items()) {
    const Span at = diag.primary.span.valid() ? diag.primary.span : program[graph].span;
    text += program.display_name(graph) + ": no blocks, " + program.sources.place(at) + ": " + diag.code.text() + ": " +
            diag.message + "\n";
  }
  return text;
}

LoweredGraph lowered(Interpreter& interpreter, const Program& program, FunctionId graph, const Toolbox& tools) {
  std::vector<GraphInput> inputs;
  for (const Parameter& parameter : program[graph].parameters)
    if (parameter.role == Role::declared) inputs.push_back({parameter.name, parameter.type, parameter.privilege});
  auto callable = std::make_shared<Callable>(program, graph);
  callable->agent = interpreter.agent_for(graph);
  const Span span = program[graph].span;
  const OpList net = net_list(interpreter, Value(std::static_pointer_cast<Object>(std::move(callable))),
                              of_one_sample(std::move(inputs), span), span)
                         .value_or_throw();
  return lower(net, {.blocks = tools.blocks}).value_or_throw();
}

std::string text_of_blocks(const Program& program, FunctionId id, const Toolbox& tools) {
  std::string text;
  auto look = [&](Interpreter& interpreter) {
    const bool is_declared = blocks_of(program, id) != nullptr;
    text = is_declared ? blocks_text(*with_contents(interpreter, id, interpreter.agent_for(id), program[id].span))
                       : blocks_text(lowered(interpreter, program, id, tools).graph);
  };
  try {
    with_interpreter(program, id, tools.ops, look, &interrupted());
  } catch (const Error& error) {
    if (interrupted()) throw;
    return why_no_blocks(program, id, error.diags());
  }
  return text;
}

}  // namespace

std::vector<std::string> names_of_blocks(const Program& program) {
  std::vector<std::string> names;
  for (FunctionId id : with_blocks(program)) names.push_back(program.display_name(id));
  return names;
}

std::shared_ptr<const BlockGraph> block_graph_of(const Program& program, const std::string& name,
                                                 const Toolbox& tools) {
  std::shared_ptr<const BlockGraph> made;
  for (FunctionId id : with_blocks(program)) {
    if (program.display_name(id) != name) continue;
    auto look = [&](Interpreter& interpreter) {
      if (blocks_of(program, id) != nullptr)
        made = with_contents(interpreter, id, interpreter.agent_for(id), program[id].span);
      else
        made = std::make_shared<const BlockGraph>(lowered(interpreter, program, id, tools).graph);
    };
    with_interpreter(program, id, tools.ops, look, &interrupted());
  }
  if (!made) bug("blocks of a graph that is not there");
  return made;
}

std::vector<std::string> names_of_net_values(const Program& program) {
  std::vector<std::string> names;
  for (const Variable& variable : program[program.main().top_level].variables)
    if (variable.type.is(Type::Kind::task) && !variable.name.empty()) names.push_back(variable.name);
  return names;
}

std::shared_ptr<const BlockGraph> block_graph_of_value(const Program& program, const std::string& name,
                                                       const Toolbox& tools) {
  const std::vector<Variable>& variables = program[program.main().top_level].variables;
  const auto found = std::ranges::find_if(
      variables, [&](const Variable& variable) { return variable.name == name && variable.type.is(Type::Kind::task); });
  const VariableId variable(static_cast<std::size_t>(found - variables.begin()));
  const Program needed = with_needed_top_level(program, variable);
  std::shared_ptr<const BlockGraph> made;
  with_deep_stack([&] {
    HostContext host(needed, tools.ops);
    host.output = [](std::string_view) {};
    host.interrupted = &interrupted();
    host.forms = tools.forms;
    host.blocks = &tools.blocks;
    host.span = found->span;
    ImmediateTarget target;
    Interpreter interpreter(needed, &host);
    interpreter.set_target(target);
    for (const Module& module : needed.modules) interpreter.module(module);
    host.interpreter = &interpreter;
    made = blocks_of_net(host, interpreter.global(needed.main(), variable));
  });
  return made;
}

std::string blocks_stage(const GraphFile& file, const Options& options, const Toolbox& tools) {
  const Program& program = file.program;
  std::string text;
  for (FunctionId id : with_blocks(program)) {
    if (!options.graph.empty() && program.display_name(id) != options.graph) continue;
    if (!text.empty()) text += "\n";
    text += text_of_blocks(program, id, tools);
  }
  return text;
}

}  // namespace taskspec::cli
