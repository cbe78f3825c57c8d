// `taskspec run FILE --name G --time-steps T`: the graph is called in a fn that is written behind the text.
#include <fmt/format.h>

#include "interp/cli/run_graph.hpp"
#include "interp/cli/run_report.hpp"
#include "interp/cli/terminal.hpp"
#include "interp/pipeline.hpp"
#include "ir/base/text.hpp"
#include "ir/files/files.hpp"

namespace taskspec::cli {

namespace {

constexpr const char* caller = "run_in_time_steps";

// G, or Net().forward of an agent.
std::string called(const Program& program, FunctionId graph) {
  const Function& function = program[graph];
  return function.agent.valid() ? program[function.agent].name + "()." + function.name : function.name;
}

// fn run_in_time_steps(i0: f32[16, 4]) { let r = run snn(x: i0) on host; print("y:", r.y.array); ... }
std::string caller_text(const Program& program, FunctionId graph, const std::vector<Value>& inputs,
                        const std::string& backend) {
  const Function& function = program[graph];
  std::vector<std::string> parameters, arguments;
  std::size_t next = 0;
  for (const Parameter& parameter : function.parameters) {
    if (parameter.role != Role::declared) continue;
    const Value& input = inputs[next++];
    if (input.is_none()) continue;  // its default
    const std::string name = fmt::format("i{}", next - 1);
    parameters.push_back(name + ": " + (input.is_array() ? input.array().type().text() : parameter.type.text()));
    arguments.push_back(parameter.name + ": " + name);
  }
  std::string text = fmt::format("\nfn {}({}) {{\n  let r = run {}({}) on {}\n", caller, joined(parameters, ", "),
                                 called(program, graph), joined(arguments, ", "), backend);
  for (const char* all : {"", "steps."})
    for (const Output& output : function.outputs)
      text += fmt::format("  print(\"{0}{1}:\", r.{0}{1}.array)\n", all, output.name);
  return text + "}\n";
}

FunctionId function_named(const Program& program, std::string_view name) {
  for (std::size_t i = program.functions.size(); i-- > 0;)
    if (program.functions[i].name == name && program.functions[i].module == program.main_module) return FunctionId(i);
  bug("a function that was written is not there");
}

}  // namespace

int run_graph_in_steps(const Options& options, const Toolbox& tools, const RunSettings& settings) {
  const std::string& file = options.files[0];
  if (file.ends_with(".json") || file == "-")
    return usage("--time-steps of a graph needs a .task file: write run g(x) on host(time_steps: T)");
  Options plain = options;
  plain.defines.clear();  // they are inputs of the graph
  plain.time_steps = 0;
  const auto [program, exit_code] = load(plain, tools);
  if (!program) return exit_code;
  const FunctionId graph = find_graph(*program, options.graph);
  if (!graph.valid()) return usage(no_graph(*program, options.graph, file));
  if (auto problem = check_defines((*program)[graph], options)) return usage(*problem);
  Sources sources = program->sources;
  std::vector<Value> inputs;
  try {
    inputs = inputs_of((*program)[graph], options, sources, true);
  } catch (const Error& error) {
    report(options, sources, error.diags());
    return 3;
  }
  LoadOptions how = load_options(options);
  how.defines.clear();
  const std::string text = read_text(file) + caller_text(*program, graph, inputs, options.backend);
  Sources made;
  Result<Program> whole = check_text(file, text, how, tools, made);
  report(options, made, whole.diags());
  if (!whole) return 1;
  std::erase_if(inputs, [](const Value& input) { return input.is_none(); });
  RunSettings inner = settings;
  inner.on = nullptr;  // the session that the function opens is the one that was asked for
  const RunResult result = run_function(*whole, function_named(*whole, caller), std::move(inputs), tools, inner);
  flush_out();
  report(options, whole->sources, result.diags);
  write_reports(options, *whole, whole->sources, result, inner.pictures.get());
  return result.exit_code;
}

}  // namespace taskspec::cli
