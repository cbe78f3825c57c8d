// `taskspec build --lib NAME`: a module, checked, as a library that others import.
#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "interp/cli/commands.hpp"
#include "interp/cli/library_parts.hpp"
#include "interp/cli/terminal.hpp"
#include "interp/prelude.hpp"
#include "ir/base/text.hpp"
#include "ir/files/files.hpp"
#include "ir/library/library.hpp"

namespace taskspec::cli {

namespace {

namespace fs = std::filesystem;

bool is_module_name(const std::string& name) {
  bool start = true;
  for (char c : name) {
    const bool letter = c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    if (c == '.' ? start : !letter && (start || c < '0' || c > '9')) return false;
    start = c == '.';
  }
  return !start;
}

// A program that does nothing but import it: the module is found, and may hold, what an importing file would see.
Result<Program> program_with(const std::string& name, const LoadOptions& options, const Toolbox& tools,
                             Sources& sources) {
  return check_text("--lib " + name, "import " + name + "\n", options, tools, sources);
}

// How another file imports what stands in this one: its way from one of the folders that are searched.
std::string import_name(const std::string& path, const std::vector<std::string>& folders) {
  const fs::path file = fs::path(path).replace_extension();
  for (const std::string& folder : folders) {
    std::string name;
    for (const fs::path& part : file.lexically_relative(folder.empty() ? fs::path(".") : fs::path(folder)))
      name += (name.empty() ? "" : ".") + part.string();
    if (is_module_name(name)) return name;
  }
  return file.stem().string();
}

// Where an import of this name finds it from here: sub/tools.tasklib for sub.tools.
std::string place_of(const std::string& name) {
  std::string relative = name;
  std::ranges::replace(relative, '.', '/');
  return relative + ".tasklib";
}

// The library that an import of this name opens; empty where it reads a text.
std::string library_of(const std::string& name, const std::vector<std::string>& folders) {
  for (const std::string& folder : folders) {
    const fs::path path = fs::path(folder) / place_of(name);
    std::error_code none;
    if (fs::exists(fs::path(path).replace_extension(".task"), none)) return "";
    if (fs::exists(path, none)) return path.string();
  }
  return "";
}

// A module that is there as a library only, such as those that come with taskspec: the same library once more.
int copy_library(const std::string& from, const std::string& to) {
  std::error_code none;
  if (!fs::equivalent(from, to, none)) write_text(to, read_text(from));
  write_out("wrote " + to + ": there is no text of it here, this is a copy of " + from + "\n");
  flush_out();
  return 0;
}

void print_entries(const LibraryFile& file) {
  std::size_t width = 0;
  for (const LibraryFile::Entry& entry : file.entries) width = std::max(width, entry.name.size());
  for (const LibraryFile::Entry& entry : file.entries) {
    std::string line = entry.name + std::string(width - entry.name.size() + 2, ' ') + std::string(entry.kind);
    line += std::string(7 - entry.kind.size(), ' ') + entry.hash;
    if (!entry.uses.empty()) line += "  uses " + joined(entry.uses, ", ");
    write_out(line + "\n");
  }
}

std::string summary(const std::string& path, const LibraryFile& file) {
  std::size_t agents = 0;
  for (const LibraryFile::Entry& entry : file.entries) agents += entry.kind == "agent";
  return "wrote " + path + ": " + plural(file.entries.size() - agents, "function") + ", " + plural(agents, "agent") +
         ", " + plural(file.text.size(), "byte") + "\n";
}

}  // namespace

int build(const Options& options, const Toolbox& tools) {
  const std::string& name = options.library;
  if (!is_module_name(name))
    return usage("--lib wants the name of a module, such as nn or models.policy, not '" + name + "'");
  Sources sources;
  LoadOptions load = load_options(options);
  Result<Program> program = program_with(name, load, tools, sources);
  report(options, sources, program.diags());
  if (!program) return 1;
  // Imports stand before what imports them.
  const ModuleId module(program->main_module.index() - 1);
  const std::string& path = program->modules[module.index()].path;
  const std::string out = options.output.empty() ? place_of(name) : options.output;
  if (options.output.empty() && out.find('/') != std::string::npos) {
    std::error_code none;  // if it cannot be made, writing tells
    fs::create_directories(fs::path(out).parent_path(), none);
  }
  std::vector<std::string> folders = load.search_path;
  folders.insert(folders.begin(), fs::path(path).parent_path().string());
  for (const std::string& folder : prelude_folders()) folders.push_back(folder);
  std::vector<std::string> searched = folders;
  searched.front() = "";  // the importing text stands here
  if (const std::string library = library_of(name, searched); !library.empty()) return copy_library(library, out);
  LibraryOptions how;
  how.import_name = [&](ModuleId id) { return import_name(program->modules[id.index()].path, folders); };
  LibraryParts parts(*program, module, tools);
  how.parts = [&](FunctionId id) { return parts.of(id); };
  LibraryFile file = write_library(*program, module, how);
  try {
    write_text(out, file.text);
  } catch (const Error& error) {
    report(options, sources, error.diags());
    return 3;
  }
  print_entries(file);
  write_out(summary(out, file));
  flush_out();
  return 0;
}

}  // namespace taskspec::cli
