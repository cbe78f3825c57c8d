// `taskspec run FILE --name G` with `--time-steps T` or `--on hw`: G is called in a fn that is written behind the text,
// so that it has a session of its own, and what it needs of the top level is made on the host.
#include <fmt/format.h>

#include <algorithm>

#include "interp/cli/net_of_reals.hpp"
#include "interp/cli/run_graph.hpp"
#include "interp/cli/run_report.hpp"
#include "interp/cli/terminal.hpp"
#include "interp/pipeline.hpp"
#include "ir/base/text.hpp"
#include "ir/files/files.hpp"
#include "ir/program/block_calls.hpp"

namespace taskspec::cli {

namespace {

constexpr const char* caller = "run_in_time_steps";

// A graph, an `ir` declaration, or a net that is a value (`let q = quantize(...)`): how it is written in a call, what
// goes in and what comes out.
struct Callee {
  std::string text;
  Function signature;
  FunctionId graph = {};
};

Callee callee_of(const Program& program, FunctionId id) {
  const Function& function = program[id];
  // G, or Net().forward of an agent.
  return {function.agent.valid() ? program[function.agent].name + "()." + function.name : function.name, function, id};
}

std::optional<Callee> callee_named(const Program& program, const std::string& name) {
  if (const FunctionId graph = find_graph(program, name); graph.valid()) return callee_of(program, graph);
  for (std::size_t i = 0; i < program.functions.size(); ++i) {
    const FunctionId id(i);
    if (program[id].module == program.main_module && program.display_name(id) == name && blocks_of(program, id))
      return Callee{name, program[id]};
  }
  for (const Variable& variable : program[program.main().top_level].variables) {
    if (variable.name != name || !variable.type.is(Type::Kind::task)) continue;
    Callee made{name, {}};
    made.signature.name = name;
    for (std::size_t i = 0; i < variable.type.parts.size(); ++i) {
      if (i < variable.type.inputs) {
        Parameter& input = made.signature.parameters.emplace_back();
        input.name = variable.type.names[i], input.type = variable.type.parts[i];
      } else {
        Output& output = made.signature.outputs.emplace_back();
        output.name = variable.type.names[i], output.type = variable.type.parts[i];
      }
    }
    return made;
  }
  return std::nullopt;
}

// fn run_in_time_steps(i0: f32[16, 4]) { let r = run snn(x: i0) on host; print("y:", r.y.array); ... }
// `quantised`: what the net of the call is made of, as `quantize` takes it.
std::string caller_text(const Callee& callee, const std::vector<Value>& inputs, const std::string& backend,
                        bool has_steps, const std::optional<std::string>& quantised) {
  std::vector<std::string> parameters, arguments, names;
  std::size_t next = 0;
  for (const Parameter& parameter : callee.signature.parameters) {
    if (parameter.role != Role::declared) continue;
    const Value& input = inputs[next++];
    if (input.is_none()) continue;  // its default
    const std::string name = fmt::format("i{}", next - 1);
    parameters.push_back(name + ": " + (input.is_array() ? input.array().type().text() : parameter.type.text()));
    arguments.push_back(parameter.name + ": " + name);
    names.push_back(name);
  }
  std::string text = fmt::format("\nfn {}({}) {{\n", caller, joined(parameters, ", "));
  if (quantised)
    text += fmt::format(
        "  let q = quantize({}, {})\n  print(\"{} computes in real numbers; in 8 bits, with what comes in for "
        "ranges:\")\n"
        "  print(q.report)\n",
        *quantised, names.size() == 1 ? names[0] : "(" + joined(names, ", ") + ")", callee.text);
  text += fmt::format("  let r = run {}({}) on {}\n", quantised ? "q" : callee.text,
                      joined(quantised ? names : arguments, ", "), backend);
  for (const char* all : {"", "steps."})
    for (const Output& output : callee.signature.outputs)
      if (has_steps || *all == 0) text += fmt::format("  print(\"{0}{1}:\", r.{0}{1}.array)\n", all, output.name);
  return text + "}\n";
}

FunctionId function_named(const Program& program, std::string_view name) {
  for (std::size_t i = program.functions.size(); i-- > 0;)
    if (program.functions[i].name == name && program.functions[i].module == program.main_module) return FunctionId(i);
  bug("a function that was written is not there");
}

}  // namespace

bool is_called(const Options& options) {
  const std::string& file = options.files[0];
  return options.time_steps > 0 || (options.backend.starts_with("hw") && file != "-" && !file.ends_with(".json"));
}

int run_called_graph(const Options& options, const Toolbox& tools, const RunSettings& settings) {
  const std::string& file = options.files[0];
  if (file.ends_with(".json") || file == "-")
    return usage("--time-steps of a graph needs a .task file: write run g(x) on host(time_steps: T)");
  Options plain = options;
  plain.defines.clear();  // they are inputs of the graph
  plain.time_steps = 0;
  const auto [program, exit_code] = load(plain, tools);
  if (!program) return exit_code;
  const std::optional<Callee> callee = callee_named(*program, options.graph);
  if (!callee) return usage(no_graph(*program, options.graph, file));
  if (auto problem = check_defines(callee->signature, options)) return usage(*problem);
  Sources sources = program->sources;
  std::vector<Value> inputs;
  try {
    inputs = inputs_of(callee->signature, options, sources, options.time_steps > 0);
  } catch (const Error& error) {
    report(options, sources, error.diags());
    return 3;
  }
  LoadOptions how = load_options(options);
  how.defines.clear();
  const bool is_partial = std::ranges::find(options.backend_options, "partial",
                                            [](const auto& o) { return o.first; }) != options.backend_options.end();
  std::optional<std::string> quantised;
  if (options.backend.starts_with("hw") && options.time_steps == 0 && !is_partial &&
      std::ranges::none_of(inputs, &Value::is_none))
    quantised = net_of_reals(*program, callee->graph);
  const std::string text =
      read_text(file) + caller_text(*callee, inputs, options.backend, options.time_steps > 0, quantised);
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
  if (options.is_hidden) return result.exit_code;
  write_reports(options, *whole, whole->sources, result, inner.pictures.get());
  return result.exit_code;
}

}  // namespace taskspec::cli
