// `taskspec export`: the blocks of an `ir` declaration as a Task IR file, a graph as a NIR file.
#include <cstdio>

#include "interp/cli/commands.hpp"
#include "interp/cli/terminal.hpp"
#include "interp/control/block_contents.hpp"
#include "interp/control/export_graph.hpp"
#include "interp/control/nir/net.hpp"
#include "interp/models.hpp"
#include "interp/pipeline.hpp"
#include "ir/base/text.hpp"
#include "ir/program/block_calls.hpp"

namespace taskspec::cli {

namespace {

// Of the main file.
std::vector<FunctionId> declared_blocks(const Program& program) {
  std::vector<FunctionId> found;
  for (std::size_t i = 0; i < program.functions.size(); ++i)
    if (program.functions[i].module == program.main_module && blocks_of(program, FunctionId(i))) found.emplace_back(i);
  return found;
}

int refused(const Options& options, const Program& program, const Error& error) {
  report(options, program.sources, error.diags());
  return error.diags().items().front().code == Code("E7004") ? 3 : 1;
}

// One time step of a spiking network.
int export_nir(const Options& options, const Toolbox& tools, const Program& program) {
  const std::vector<FunctionId> graphs = graphs_of(program);
  if (options.graph.empty() && graphs.size() != 1) {
    std::vector<std::string> names;
    for (FunctionId id : named_graphs(program)) names.push_back(program.display_name(id));
    return usage("choose a graph with --name; there are " + joined(names, ", "));
  }
  const FunctionId chosen = options.graph.empty() ? graphs[0] : find_graph(program, options.graph);
  if (!chosen.valid()) return usage(no_graph(program, options.graph, options.files[0]));
  try {
    with_interpreter(
        program, chosen, tools.ops,
        [&](Interpreter& interpreter) {
          const NirNet net = nir_net(interpreter.program(), *nir_view(interpreter, chosen));
          tools.write_nir(net, options.output);
          for (const std::string& note : net.notes) std::fprintf(stderr, "note: %s\n", note.c_str());
        },
        &interrupted());
  } catch (const Error& error) {
    return refused(options, program, error);
  }
  return 0;
}

}  // namespace

int export_blocks(const Options& options, const Toolbox& tools) {
  if (options.files[0].ends_with(".npz") && options.output.ends_with(".nir")) {
    try {
      convert_traces(options.files[0], options.output, options.dt);
    } catch (const Error& error) {
      report(options, Sources(), error.diags());
      return error.diags().items().front().code == Code("E7004") ? 3 : 1;
    }
    return 0;
  }
  Loaded loaded = load(options, tools);
  if (!loaded.program) return loaded.exit_code;
  const Program& program = *loaded.program;
  if (options.output.ends_with(".nir")) return export_nir(options, tools, program);
  std::vector<std::string> names;
  FunctionId chosen;
  for (FunctionId id : declared_blocks(program)) {
    names.push_back(program.display_name(id));
    if (options.graph.empty() || options.graph == names.back()) chosen = id;
  }
  const std::string known = names.empty() ? "" : "; there are " + joined(names, ", ");
  if (names.empty()) return usage(options.files[0] + " declares no blocks: export writes what 'ir' declares");
  if (!chosen.valid()) return usage("no 'ir' declaration '" + options.graph + "' in " + options.files[0] + known);
  if (options.graph.empty() && names.size() > 1) return usage("choose one with --name" + known);
  try {
    with_interpreter(
        program, chosen, tools.ops,
        [&](Interpreter& interpreter) {
          const Value agent = interpreter.agent_for(chosen);
          tools.write_blocks(*with_contents(interpreter, chosen, agent, program[chosen].span), options.output);
        },
        &interrupted());
  } catch (const Error& error) {
    return refused(options, program, error);
  }
  return 0;
}

}  // namespace taskspec::cli
