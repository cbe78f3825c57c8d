// taskspec-models: the program that reads model files, for `taskspec import` and `import "net.onnx"`. Apart from the
// tool, so that a first build needs none of the libraries of these formats, and so that hostile files are parsed in a
// process of their own, with bounded memory.
//
//   taskspec-models read FILE --into FOLDER [--name NAME] [--set name=value]...
//
//   taskspec-models write GRAPH.json --to FILE
//   taskspec-models write TRACES.nir --to TRACES.npz [--dt S]
//   taskspec-models find FILE.h5 --into FOLDER --field NAME...
//   taskspec-models make FILE.h5 --old FILE.h5 --extent N... --field NAME:TYPE...
//
// The first writes FOLDER/NAME.npz and FOLDER/NAME.task, NAME being the file's if it is not said, and one JSON object
// on standard output: notes and diagnostics. The second makes a Task IR file of a graph of blocks: text, or bytes where
// FILE ends in .task.pb; or, where it ends in .nir, a NIR file of a network, whose numbers lie in GRAPH.npz. `write`
// also makes an .npz of the traces in a NIR file, and the other way; with --dt S, the seconds of a time step. `find`
// tells in its notes where in an HDF5 file the elements of fields lie, `make` makes such a file and tells where they go
// (interp/import/fields). Exit
// codes: 0 ok, 1 the file is at fault, 2 wrong usage, 3 the result cannot be written.
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>
#include <optional>

#include "interp/import/fields/fields.hpp"
#include "interp/import/importer.hpp"
#include "interp/import/memory.hpp"
#include "interp/import/nir/exported.hpp"
#include "interp/import/nir/traces.hpp"
#include "interp/import/task_ir/task_ir.hpp"
#include "ir/json/blocks.hpp"
#include "ir/json/messages.hpp"
#include "stdlib/blocks.hpp"

namespace {

using namespace taskspec;
namespace fs = std::filesystem;

struct Request {
  std::string file, folder, name;
  ImportOptions options;
};

std::optional<Request> request_of(int argc, char** argv) {
  if (argc < 3 || std::string_view(argv[1]) != "read") return std::nullopt;
  Request request;
  request.file = argv[2];
  for (int i = 3; i + 1 < argc; i += 2) {
    const std::string_view word = argv[i];
    const std::string value = argv[i + 1];
    if (word == "--into") {
      request.folder = value;
    } else if (word == "--name") {
      request.name = value;
    } else if (word == "--set" && value.find('=') != std::string::npos) {
      const std::size_t at = value.find('=');
      request.options.set.emplace_back(value.substr(0, at), value.substr(at + 1));
    } else {
      return std::nullopt;
    }
  }
  if (request.folder.empty() || argc % 2 == 0) return std::nullopt;
  if (request.name.empty()) request.name = fs::path(request.file).filename().replace_extension().string();
  return request;
}

int say(const Messages& messages, int code) {
  std::puts(messages_json(messages).c_str());
  return code;
}

int read(const Request& request) {
  std::error_code none;
  const std::uintmax_t bytes = fs::file_size(request.file, none);
  bound_memory(none ? 0 : bytes);
  bound_time(none ? 0 : bytes);
  Messages messages;
  ModelText model;
  try {
    model = importer_of(request.file).read(request.file, request.name, request.options);
    messages.notes = model.notes;
  } catch (const Error& error) {
    messages.diags = error.diags();
  } catch (const std::bad_alloc&) {
    messages.diags.error("E7003", {}, "'" + request.file + "' asks for more memory than a file of its size is worth");
  }
  if (messages.diags.has_errors()) return say(messages, 1);
  try {
    const fs::path base = fs::path(request.folder) / request.name;
    if (!model.arrays.empty()) save_arrays(base.string() + ".npz", model.arrays);
    write_text(base.string() + ".task", model.text);
  } catch (const Error& error) {
    messages.diags = error.diags();
    return say(messages, 3);
  }
  return say(messages, 0);
}

// Words in pairs: "--field", "cap", "--extent", "1000".
std::vector<std::string> given(int argc, char** argv, std::string_view word) {
  std::vector<std::string> values;
  for (int i = 3; i + 1 < argc; i += 2)
    if (argv[i] == word) values.emplace_back(argv[i + 1]);
  return values;
}

std::vector<FileField> typed_fields(const std::vector<std::string>& words) {
  std::vector<FileField> fields;
  for (const std::string& word : words) {
    const std::size_t at = word.rfind(':');
    const std::optional<Precision> precision =
        at == std::string::npos ? std::nullopt : precision_of(std::string_view(word).substr(at + 1));
    if (!precision) bug("a field without a type: " + word);
    fields.push_back({word.substr(0, at), *precision});
  }
  return fields;
}

// Checked by who starts this program.
int place_fields(int argc, char** argv, bool makes) {
  Messages messages;
  const std::vector<std::string> names = given(argc, argv, "--field");
  try {
    FieldLayout layout;
    if (makes) {
      Extents extents;
      for (const std::string& extent : given(argc, argv, "--extent")) extents.push_back(std::stoll(extent));
      layout = fields::make_fields(argv[2], given(argc, argv, "--old").at(0), typed_fields(names), extents);
    } else {
      std::error_code none;
      const std::uintmax_t bytes = fs::file_size(argv[2], none);
      bound_memory(none ? 0 : bytes);
      bound_time(none ? 0 : bytes);
      layout = fields::find_fields(argv[2], names, given(argc, argv, "--into").at(0));
    }
    messages.notes = fields::lines_of_layout(layout);
  } catch (const Error& error) {
    messages.diags = error.diags();
  } catch (const std::bad_alloc&) {
    messages.diags.error("E7003", {},
                         std::string("'") + argv[2] + "' asks for more memory than a file of its size is worth");
  }
  return say(messages, messages.diags.has_errors() ? 1 : 0);
}

bool ends_with(std::string_view text, std::string_view end) { return text.ends_with(end); }

void write_nir(const std::string& from, const std::string& to) {
  nir::write_model(nir::model_of_json(from, fs::path(from).replace_extension(".npz").string()), to);
}

void convert_traces(const std::string& from, const std::string& to, const std::optional<double>& dt) {
  if (ends_with(to, ".npz")) return save_arrays(to, nir::by_step(nir::read_traces(from), dt));
  if (!dt) throw failure("E1003", {}, "traces of a NIR file have a time step: --dt 1e-4");
  nir::write_traces(nir::traces_of(load_arrays(from), *dt), to);
}

int write(const std::string& from, const std::string& to, const std::optional<double>& dt) {
  Messages messages;
  try {
    if (ends_with(from, ".npz") || ends_with(to, ".npz")) return convert_traces(from, to, dt), say(messages, 0);
    if (ends_with(to, ".nir")) return write_nir(from, to), say(messages, 0);
    const bool binary = ends_with(to, ".task.pb");
    if (!binary && !ends_with(to, ".task.txt")) {
      Diag diag("E7003", Severity::error, {}, "'" + to + "' names no form in which a graph of blocks can be written");
      diag.help("end it in .task.txt or .task.pb");
      throw Error(std::move(diag));
    }
    const std::string text = read_text(from, std::size_t{1} << 32);
    const JsonFile json(from, text, "graph of blocks");
    const auto graph = read_block_graph(json.root(), standard_blocks());
    write_text(to, write_task_ir(*graph, binary ? TaskIrForm::binary : TaskIrForm::text).value_or_throw());
  } catch (const Error& error) {
    messages.diags = error.diags();
  }
  return say(messages, messages.diags.has_errors() ? 1 : 0);
}

}  // namespace

// Checked by who starts this program.
double seconds_of(std::string_view text) {
  double seconds = 0;
  std::from_chars(text.data(), text.data() + text.size(), seconds);
  return seconds;
}

int main(int argc, char** argv) {
  const std::string_view verb = argc > 4 ? argv[1] : "";
  if (verb == "find" || verb == "make") return place_fields(argc, argv, verb == "make");
  const bool has_step = argc == 7 && std::string_view(argv[5]) == "--dt";
  if ((argc == 5 || has_step) && std::string_view(argv[1]) == "write" && std::string_view(argv[3]) == "--to")
    return write(argv[2], argv[4], has_step ? std::optional(seconds_of(argv[6])) : std::nullopt);
  const std::optional<Request> request = request_of(argc, argv);
  if (!request) {
    std::fputs(
        "usage: taskspec-models read FILE --into FOLDER [--name NAME] [--set name=value]...\n"
        "       taskspec-models write GRAPH.json --to FILE\n"
        "       taskspec-models find FILE.h5 --into FOLDER --field NAME...\n"
        "       taskspec-models make FILE.h5 --old FILE.h5 --extent N... --field NAME:TYPE...\n",
        stderr);
    return 2;
  }
  try {
    return read(*request);
  } catch (const std::exception& error) {
    bug(std::string("an exception that nobody caught: ") + error.what());
  }
}
