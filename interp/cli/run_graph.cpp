#include "interp/cli/run_graph.hpp"

#include <filesystem>
#include <ranges>

#include "frontend/check/literal_value.hpp"
#include "frontend/parse.hpp"
#include "interp/cli/run_report.hpp"
#include "interp/cli/terminal.hpp"
#include "interp/pipeline.hpp"
#include "ir/base/ascii.hpp"
#include "ir/base/text.hpp"
#include "ir/files/files.hpp"
#include "ir/json/json.hpp"

namespace taskspec::cli {

namespace {

// An int may stand for a float, also inside lists; nothing else for anything else.
std::optional<Value> fitted(const Value& value, const Type& type) {
  using Kind = Type::Kind;
  if (type.is(Kind::real) && value.is_number()) return Value(value.real());
  if ((type.is(Kind::integer) && value.is_integer()) || (type.is(Kind::boolean) && value.is_bool())) return value;
  if (type.is(Kind::string) && value.is_string()) return value;
  if (!type.is(Kind::list) || !value.is_list()) return std::nullopt;
  List items;
  for (const Value& item : value.list()) {
    std::optional<Value> part = fitted(item, type.parts[0]);
    if (!part) return std::nullopt;
    items.push_back(*std::move(part));
  }
  return Value(std::move(items));
}

Value host_input(const Value& value, const Type& type, const std::string& name) {
  if (std::optional<Value> fits = fitted(value, type)) return *std::move(fits);
  throw failure("E1004", {}, "input '" + name + "' is " + type.text() + ", not " + print(value));
}

bool is_file(const std::string& written) {  // a literal may be longer than any name
  std::error_code unknown;
  return std::filesystem::is_regular_file(written, unknown);
}

// What can only be meant as a file: a path, or a name that ends as those of files do. No literal looks like it.
bool names_file(const std::string& written) {
  const bool plain = written.find_first_of("[](){},\"' \t") == std::string::npos;
  const std::string suffix = std::filesystem::path(written).extension().string();
  return plain && ((suffix.size() > 1 && is_letter(suffix[1])) || written.find('/') != std::string::npos);
}

// A literal, or the file that the value names.
Value input_value(const Parameter& parameter, const std::string& name, const std::string& written, Sources& sources,
                  bool slices) {
  const Type& type = parameter.type;
  auto has_rank = [&](const Array& array) {
    const std::size_t rank = array.extents().size();
    return rank == type.rank() || (slices && rank == type.rank() + 1);
  };
  if (type.is(Type::Kind::string)) return Value(written);
  if (type.is_tensor() && (is_file(written) || names_file(written))) {
    FileQuery query{.precision = type.precision};
    for (const Dim& dim : type.dims) query.extents.push_back(dim.constant());
    Array array = load_array(written, query);
    if (array.precision() != type.precision || !has_rank(array))
      throw failure("E5004", {},
                    "'" + written + "' holds " + array.type().text() + "; input '" + name + "' is " + type.text());
    return Value(std::move(array));
  }
  SourceId source = sources.add("-D " + name, written);
  Result<ast::Expr> expression = parse_expression(sources, source);
  if (!expression) throw Error(expression.diags());
  Value value = literal_value(*expression);
  if (!type.is_tensor()) return host_input(value, type, name);
  Array array = array_of(value, type.precision);
  if (!has_rank(array))
    throw failure("E5004", {},
                  "input '" + name + "' is " + type.text() + "; " + written + " is " + array.type().text());
  return Value(std::move(array));
}

// Not those of its agent.
auto inputs_named(const Function& graph) {
  return std::views::filter(graph.parameters, [](const Parameter& p) { return p.role == Role::declared; });
}

}  // namespace

std::vector<Value> inputs_of(const Function& graph, const Options& options, Sources& sources, bool slices) {
  std::vector<Value> inputs;
  for (const Parameter& parameter : inputs_named(graph)) {
    Value& input = inputs.emplace_back();
    for (const auto& [name, written] : options.defines)
      if (parameter.name == name) input = input_value(parameter, name, written, sources, slices);
  }
  return inputs;
}

bool is_data(const Type& type) { return type.is(Type::Kind::region) || type.is(Type::Kind::partition); }

// Names that are no inputs, inputs that have no value.
std::optional<std::string> check_defines(const Function& graph, const Options& options) {
  std::vector<std::string> names;
  for (const Parameter& parameter : inputs_named(graph)) names.push_back(parameter.name);
  for (const auto& define : options.defines)
    if (std::find(names.begin(), names.end(), define.first) == names.end())
      return "graph '" + graph.name + "' has no input '" + define.first + "'; inputs: " + joined(names, ", ");
  for (const Parameter& parameter : inputs_named(graph)) {
    bool given = std::any_of(options.defines.begin(), options.defines.end(),
                             [&](const auto& d) { return d.first == parameter.name; });
    if (is_data(parameter.type))
      return "input '" + parameter.name + "' of graph '" + graph.name + "' is " + parameter.type.text() +
             ", which no -D can give: the contents of regions come from a program. Call the graph in one: let r = " +
             "region ..., attach(r, file: ...), " + graph.name + "(r)";
    if (!given && !parameter.default_value.valid())
      return "input '" + parameter.name + "' of graph '" + graph.name + "' is not given; add -D " + parameter.name +
             "=...";
  }
  return std::nullopt;
}

namespace {

Result<ImportedGraph> read_graph(const std::string& path, const Toolbox& tools) {
  try {
    return import_graph(read_text(path, largest_graph), path, tools.ops, tools.builtins, all_forms(), tools.blocks);
  } catch (const Error& error) {
    return error.diags();
  }
}

// The weights that it changes, and the moments of its optimizer, live in the training.
Error step_refused(const std::string& file) {
  Diag diag("E1004", Severity::error, {}, "'" + file + "' holds a step of a training, which runs in the training only");
  diag.help_text = "taskspec graph " + file + " shows it; the program that it comes from runs it";
  return Error(std::move(diag));
}

}  // namespace

int run_graph(const Options& options, const Toolbox& tools, const RunSettings& settings) {
  const std::string& file = options.files[0];
  std::optional<Program> program;
  std::string name = options.graph;
  if (file.ends_with(".json")) {
    Result<ImportedGraph> imported = read_graph(file, tools);
    report(options, Sources(), imported.diags());
    if (!imported) return 1;
    if (imported->recorded) {
      report(options, Sources(), step_refused(file).diags());
      return 1;
    }
    program = std::move(imported->program);
    if (name.empty()) name = imported->name;
  } else {
    Options plain = options;
    plain.defines.clear();  // they are inputs of the graph
    program = load(plain, tools).program;
    if (!program) return 1;
  }
  FunctionId graph = find_graph(*program, name);
  if (!graph.valid() && !file.ends_with(".json") && file != "-") return run_called_graph(options, tools, settings);
  if (!graph.valid()) return usage(no_graph(*program, name, file));
  if (auto problem = check_defines((*program)[graph], options)) return usage(*problem);
  Sources sources = program->sources;
  std::vector<Value> inputs;
  try {
    inputs = inputs_of((*program)[graph], options, sources);
  } catch (const Error& error) {
    report(options, sources, error.diags());
    return 3;
  }
  GraphRun result = taskspec::run_graph(*program, graph, std::move(inputs), tools, settings);
  if (!options.is_hidden)
    for (const auto& [output, array] : result.results) write_out(output + ": " + print(Value(array)) + "\n");
  flush_out();
  report(options, sources, result.diags);
  if (options.is_hidden) return result.exit_code;
  write_reports(options, *program, sources, result, settings.pictures.get());  // also of a run that failed
  return result.exit_code;
}

}  // namespace taskspec::cli
