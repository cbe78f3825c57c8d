// The readers of programs: texts, exported graphs, libraries.
#include <atomic>
#include <chrono>
#include <thread>

#include "frontend/check.hpp"
#include "frontend/format.hpp"
#include "interp/control/export_graph.hpp"
#include "interp/embed/toolbox.hpp"
#include "interp/pipeline.hpp"
#include "ir/base/ascii.hpp"
#include "ir/base/hash.hpp"
#include "ir/base/render.hpp"
#include "ir/codes/codes.hpp"
#include "ir/cut_report/report.hpp"
#include "ir/graph/chains.hpp"
#include "ir/json/json.hpp"
#include "ir/library/library.hpp"
#include "ir/show/program_text.hpp"
#include "ir/verify/verify.hpp"
#include "tests/fuzz/library_samples.hpp"
#include "tests/fuzz/readers.hpp"
#include "tests/unit/json_programs.hpp"

namespace taskspec::fuzz {

namespace {

const Toolbox& tools() {
  static const Toolbox all = standard_toolbox();
  return all;
}

// What the checker throws, such as a text that is no UTF-8, is an answer like any other.
Result<Program> checked(Sources& sources, const std::string& text, CheckOptions options) {
  try {
    Result<Program> program = check(sources, sources.add("fuzz.task", text), options);
    render(sources, program.diags());
    return program;
  } catch (const Error& error) {
    return error.diags();
  }
}

Program checked(const std::string& text, const std::function<std::string(const std::string&)>& read = nullptr) {
  Sources sources;
  return checked(sources, text, {.ops = tools().ops, .builtins = tools().builtins, .read = read}).value_or_throw();
}

void want_well_formed(const Program& program) {
  if (const std::vector<std::string> wrong = verify(program); !wrong.empty()) throw Odd("verify: " + wrong[0]);
}

// ---- text ------------------------------------------------------------------------------------------

std::vector<std::string> text_samples() {
  std::vector<std::string> samples;
  for (const OpDef* op : tools().ops.all()) samples.emplace_back(op->example);
  for (const Builtin* builtin : tools().builtins.all()) samples.emplace_back(builtin->example);
  for (const CodeInfo* code : all_codes())
    if (!code->program.empty()) samples.emplace_back(code->program);
  for (const auto& [name, text] : json_programs::all) samples.push_back(text);
  return samples;
}

std::string formatted(const std::string& text) {
  Sources sources;
  return format(sources, sources.add("fuzz.task", text)).value_or_throw();
}

bool read_text(const std::string& bytes) {
  Sources sources;
  const Result<Program> program = checked(sources, bytes, {.ops = tools().ops, .builtins = tools().builtins});
  if (!program) return false;
  want_well_formed(*program);
  program_text(*program);
  want_well_formed(cut_program(*program).program);
  const std::string tidy = formatted(bytes);
  if (formatted(tidy) != tidy) throw Odd("formatting twice is not formatting once");
  return true;
}

// ---- json ------------------------------------------------------------------------------------------

// A graph may say that it goes on for ever, and building it does so: it is interrupted then, as by Ctrl-C.
class Patience {
 public:
  explicit Patience(std::chrono::milliseconds most) : most_(most) {}
  const std::atomic<bool>* begin() {
    over_ = false;
    began_ = now();
    return &over_;
  }

 private:
  using Clock = std::chrono::steady_clock;
  static Clock::rep now() { return Clock::now().time_since_epoch().count(); }

  std::atomic<bool> over_{false};
  std::atomic<Clock::rep> began_{now()};
  const std::chrono::milliseconds most_;
  std::jthread watch_{[this](const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      std::this_thread::sleep_for(most_ / 4);
      if (now() - began_ > Clock::duration(most_).count()) over_ = true;
    }
  }};
};

Patience& patience() {
  static Patience only(std::chrono::milliseconds(200));  // of the process that reads: a fork has no threads
  return only;
}

std::string exported(const Program& program, const std::string& name) {
  std::string text;
  const FunctionId id = find_graph(program, name);
  with_graph(
      program, id, tools().ops,
      [&](const GraphView& view) { text = graph_json(program, id, view.graph, aggregate(view.graph)); },
      patience().begin());
  return text;
}

std::vector<std::string> json_samples() {
  std::vector<std::string> samples;
  auto add = [&](const std::string& name, const std::string& text) {
    const Program program = checked(text);
    const FunctionId id = find_graph(program, name);
    with_graph(program, id, tools().ops, [&](const GraphView& view) {
      samples.push_back(graph_json(program, id, view.graph, aggregate(view.graph)));
    });
  };
  add("g", "graph g(x: f32[N]) -> (y: f32[N]) { y = x * 2.0 }");
  add("g",
      "let k = 2\ntask t(in x: f32[N]) -> (y: f32[N]) { y = x + fill(f32[1], 1.0) }\n"
      "graph g(x: f32[3], n: int) -> (y: f32[3]) { y = t(x).y * n * k }");
  for (const auto& [name, text] : json_programs::all) add(name, text);
  return samples;
}

// Something for a parameter, where that is easy.
std::optional<Value> input_for(const Type& type) {
  if (type.is(Type::Kind::integer)) return Value(std::int64_t{2});
  if (type.is(Type::Kind::real)) return Value(1.5);
  if (type.is(Type::Kind::boolean)) return Value(true);
  if (!type.is_tensor()) return std::nullopt;
  ArrayType wanted{type.precision, {}};
  for (const Dim& dim : type.dims) {
    const auto extent = dim.substitute([](const Symbol&) { return std::optional(Dim(2)); }).constant();
    if (!extent || *extent < 0 || *extent > 100) return std::nullopt;
    wanted.extents.push_back(*extent);
  }
  return wanted.extents.size() > 3 ? std::nullopt : std::optional(Value(Array::make(wanted)));
}

// A large number may rightly ask for all memory.
bool has_large_number(std::string_view bytes) {
  std::size_t digits = 0;
  for (char c : bytes)
    if (digits = is_digit(c) ? digits + 1 : 0; digits > 3) return true;
  return false;
}

void run(const Program& program, FunctionId graph) {
  std::vector<Value> inputs;
  for (const Parameter& parameter : program[graph].parameters) {
    std::optional<Value> input = input_for(parameter.type);
    if (!input) return;
    inputs.push_back(*std::move(input));
  }
  RunSettings settings;
  settings.threads = 1;
  settings.interrupted = patience().begin();
  settings.output = [](std::string_view) {};
  const GraphRun result = run_graph(program, graph, std::move(inputs), tools(), settings);
  if ((result.exit_code != 0) != result.diags.has_errors()) throw Odd("a run that fails says nothing");
}

bool read_json(const std::string& bytes) {
  if (bytes.size() % 16 == 0) validate_graph_json(bytes);  // takes longer than all the rest
  ImportedGraph graph =
      import_graph(bytes, "fuzz.json", tools().ops, tools().builtins, all_forms(), tools().blocks).value_or_throw();
  want_well_formed(graph.program);
  std::string text;
  try {
    text = exported(graph.program, graph.name);
  } catch (const Error& error) {
    if (!error.diags().has_errors()) throw Odd("not built, without an error");
    return true;  // a run would say the same
  }
  ImportedGraph again = import_graph(text, "fuzz.json", tools().ops, tools().builtins).value_or_throw();
  if (exported(again.program, again.name) != text) throw Odd("what is exported comes back as something else");
  if (!has_large_number(bytes)) run(graph.program, find_graph(graph.program, graph.name));
  return true;
}

// ---- libraries -------------------------------------------------------------------------------------

std::vector<std::string> library_bytes() {
  std::vector<std::string> samples;
  for (const library_samples::Sample& sample : library_samples::all) {
    const Program program = checked("import " + sample.name + "\n", [&](const std::string& path) {
      if (path != sample.name + ".task") throw failure("E7001", {}, "no file " + path);
      return sample.text;
    });
    LibraryOptions how;
    how.import_name = [&](ModuleId id) { return program.modules[id.index()].name; };
    samples.push_back(write_library(program, ModuleId(program.main_module.index() - 1), how).text);
  }
  return samples;
}

// As if whoever changed it knew the hash of the file.
std::string with_library_hash(std::string bytes) {
  const std::size_t line = bytes.find('\n'), key = bytes.find("\"hash\":\"");
  if (line != std::string::npos && key + 40 < line)
    bytes.replace(key + 8, 32, hash128(std::string_view(bytes).substr(line)).text());
  return bytes;
}

bool read_tasklib(const std::string& bytes) {
  // Who uses it: the sample whose name it bears.
  const library_samples::Sample* used = &library_samples::all.front();
  for (const library_samples::Sample& sample : library_samples::all)
    if (bytes.substr(0, 200).find("\"name\":\"" + sample.name + "\"") != std::string::npos) used = &sample;
  auto read = [&](const std::string& path) {
    if (path != used->name + ".tasklib") throw failure("E7001", {}, "no file " + path);
    return bytes;
  };
  Sources sources;
  const Result<Program> program =
      checked(sources, used->user, {.ops = tools().ops, .builtins = tools().builtins, .read = read});
  if (program) want_well_formed(*program);
  return static_cast<bool>(program);
}

}  // namespace

extern const Reader reader_text{Grain::tokens, text_samples, nullptr, read_text};
extern const Reader reader_json{Grain::tokens, json_samples, nullptr, read_json};
extern const Reader reader_tasklib{Grain::tokens, library_bytes, with_library_hash, read_tasklib};

}  // namespace taskspec::fuzz
