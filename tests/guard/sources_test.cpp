// What every source file owes the house: it is built, its headers are guarded, and it can be read in one sitting.
#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "tests/guard/paths.hpp"

namespace taskspec::sources_test {

namespace fs = std::filesystem;

namespace {

constexpr std::ptrdiff_t longest_file = 600;

// All meson.build files that could name it: those of its folder and of the folders above.
std::string build_texts(const fs::path& file) {
  std::string text;
  for (fs::path folder = file.parent_path();; folder = folder.parent_path()) {
    text += read_file(folder / "meson.build") + read_file(folder / "ops.def") + read_file(folder / "blocks.def");
    if (folder.empty()) return text;
  }
}

// Examples and what is built against an installation have builds of their own.
bool has_own_build(const std::string& file) {
  return file.starts_with("examples/") || file.starts_with("tests/install/");
}

// Named as 'add.cpp', 'ops/add.cpp', by its stem in a list that adds the ending, or in the lists of ops and blocks.
bool is_built(const fs::path& file) {
  const std::string text = build_texts(file), name = file.filename().string(), stem = file.stem().string();
  auto holds = [&](const std::string& what) { return text.find(what) != std::string::npos; };
  return holds("'" + name + "'") || holds("/" + name + "'") || holds("'" + stem + "'") || holds("OP(" + stem + ")") ||
         holds("BLOCK(" + stem + ")");
}

// The types a text defines outside anonymous namespaces and other types, each with its namespaces before it.
std::vector<std::string> types_of(const std::string& text) {
  std::vector<std::string> all, namespaces;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("}  // namespace") && !namespaces.empty()) namespaces.pop_back();
    if (line.starts_with("namespace ") && line.ends_with("{")) namespaces.push_back(line);
    std::istringstream words(line);
    std::string kind, name;
    words >> kind >> name;
    if ((kind == "enum" && name == "class") || name.starts_with("alignas(")) words >> name;
    if (kind != "struct" && kind != "class" && kind != "enum") continue;
    const bool is_part = name.find("::") != std::string::npos || name.find('<') != std::string::npos;
    if (line.starts_with(' ') || !line.ends_with('{') || is_part) continue;
    std::string where;
    for (const std::string& one : namespaces) where += one;
    if (where.find("namespace {") == std::string::npos) all.push_back(where + name);
  }
  return all;
}

}  // namespace

TEST_CASE("every source file is named in a meson.build") {
  for (const std::string& file : cpp_files())
    if (file.ends_with(".cpp") && !has_own_build(file)) CHECK_MESSAGE(is_built(file), file << " is not built");
  CHECK(is_built("ir/types/type.cpp"));
  CHECK_FALSE(is_built("ir/no_such_file.cpp"));
}

TEST_CASE("every header is guarded, no file is longer than a sitting") {
  for (const std::string& file : cpp_files()) {
    const std::string text = read_file(file);
    // What is compiled ahead is nobody's header, and the compiler refuses the mark there.
    const bool ahead = file.find("/precompiled/") != std::string::npos;
    if (file.ends_with(".hpp") && !ahead) CHECK_MESSAGE(text.find("#pragma once\n") != std::string::npos, file);
    const std::ptrdiff_t lines = std::count(text.begin(), text.end(), '\n');
    CHECK_MESSAGE(lines <= longest_file,
                  file << " has " << lines << " lines, at most " << longest_file << " are wanted");
  }
}

// The linker would take the functions of one for those of the other, without a word.
TEST_CASE("two types of a namespace have two names") {
  std::map<std::string, std::string> files;
  for (const std::string& file : cpp_files()) {
    if (has_own_build(file)) continue;
    for (const std::string& type : types_of(read_file(file))) {
      const auto [first, is_new] = files.emplace(type, file);
      CHECK_MESSAGE(is_new, type << " is defined in " << first->second << " and in " << file);
    }
  }
  CHECK(files.at("namespace taskspec {Message") == "interp/control/message.hpp");
  CHECK(files.at("namespace taskspec {ShardMessage") == "interp/shards/message.hpp");
  CHECK(types_of(
            "namespace a {\nstruct B {\n  struct C {\nnamespace {\nclass D : E {\n}  // namespace\nenum class F {\n") ==
        std::vector<std::string>{"namespace a {B", "namespace a {F"});
}

// What a number or a letter is would then depend on the user's language, or on the program that we are part of.
TEST_CASE("nothing follows the locale") {
  for (const std::string& file : cpp_files()) {
    if (file.starts_with("tests/") || file.starts_with("bench/")) continue;
    const std::string text = read_file(file);
    for (const std::string_view name :
         {"strtod(", "strtof(", "strtold(", "stod(", "stof(", "atof(", "isalpha(", "isdigit(", "isalnum(", "isspace(",
          "isprint(", "ispunct(", "isupper(", "islower(", "toupper(", "tolower(", "strcoll(", "strftime(", "sscanf("})
      CHECK_MESSAGE(text.find(name) == std::string::npos, file << " calls " << name << ")");
  }
}

}  // namespace taskspec::sources_test
