// `taskspec import`: a model file as a program that a person reads and runs, and its weights beside it.
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "interp/cli/commands.hpp"
#include "interp/cli/terminal.hpp"
#include "interp/models.hpp"
#include "ir/base/at_end.hpp"
#include "ir/base/text.hpp"

namespace taskspec::cli {

namespace {

namespace fs = std::filesystem;

// Beside what is to be written, so that it only needs another name.
std::string folder_beside(const fs::path& out) {
  std::string name = (out.parent_path() / ".taskspec-import-XXXXXX").string();
  if (!mkdtemp(name.data())) throw failure("E7004", {}, "'" + out.string() + "' cannot be written");
  return name;
}

// The weights first: a program is never there without them.
void move_into_place(const std::string& folder, const fs::path& out) {
  for (const char* suffix : {".npz", ".task"}) {
    const fs::path from = fs::path(folder) / out.stem().concat(suffix), to = fs::path(out).replace_extension(suffix);
    std::error_code error;
    if (!fs::exists(from, error)) continue;
    fs::rename(from, to, error);
    if (error) throw failure("E7004", {}, "'" + to.string() + "' cannot be written: " + error.message());
    write_out("wrote " + to.string() + ": " + plural(fs::file_size(to, error), "byte") + "\n");
  }
}

// What populations of a spiking network gave, step by step.
int import_traces(const Options& options) {
  std::string dt;
  for (const auto& [name, value] : options.defines)
    if (name == "dt") dt = value;
  try {
    convert_traces(options.files[0], options.output, dt);
  } catch (const Error& error) {
    report(options, Sources(), error.diags());
    return error.diags().items().front().code == Code("E7004") ? 3 : 1;
  }
  return 0;
}

}  // namespace

int import(const Options& options) {
  const fs::path out = options.output;
  if (out.extension() == ".npz") return import_traces(options);
  if (out.extension() != ".task")
    return usage("-o wants a name that ends in .task (of traces .npz), not '" + options.output + "'");
  try {
    const std::string folder = folder_beside(out);
    const AtEnd remove([&] {
      std::error_code ignored;
      fs::remove_all(folder, ignored);
    });
    for (const std::string& note : read_model(options.files[0], folder, out.stem().string(), options.defines))
      std::fprintf(stderr, "note: %s\n", note.c_str());
    move_into_place(folder, out);
    flush_out();
  } catch (const Error& error) {
    report(options, Sources(), error.diags());
    return error.diags().items().front().code == Code("E7004") ? 3 : 1;
  }
  return 0;
}

}  // namespace taskspec::cli
