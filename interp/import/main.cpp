// taskspec-models: the program that reads model files, for `taskspec import` and `import "net.onnx"`. Apart from the
// tool, so that a first build needs none of the libraries of these formats, and so that hostile files are parsed in a
// process of their own, with bounded memory.
//
//   taskspec-models read FILE --into FOLDER [--name NAME] [--set name=value]...
//
// writes FOLDER/NAME.npz and FOLDER/NAME.task, NAME being the file's if it is not said, and one JSON object on standard
// output: notes and diagnostics. Exit codes: 0 ok, 1 the file is at fault, 2 wrong usage, 3 the result cannot be
// written.
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <optional>

#include "interp/import/importer.hpp"
#include "interp/import/memory.hpp"
#include "ir/json/messages.hpp"

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

}  // namespace

int main(int argc, char** argv) {
  const std::optional<Request> request = request_of(argc, argv);
  if (!request) {
    std::fputs("usage: taskspec-models read FILE --into FOLDER [--name NAME] [--set name=value]...\n", stderr);
    return 2;
  }
  try {
    return read(*request);
  } catch (const std::exception& error) {
    bug(std::string("an exception that nobody caught: ") + error.what());
  }
}
