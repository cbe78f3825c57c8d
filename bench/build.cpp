#include "bench/build.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "bench/child.hpp"

namespace taskspec::bench {

namespace {

namespace fs = std::filesystem;

// Never to be changed: the unit in which builds are compared from year to year.
constexpr const char* reference = R"(#include <algorithm>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <random>
#include <regex>
#include <sstream>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>
int main() {
  std::map<std::string, std::vector<std::function<int(int)>>> m;
  std::regex r("a(b|c)*d");
  std::cout << m.size() << std::regex_match("abcd", r);
}
)";

struct Part {
  const char* what;
  const char* target;
};

// In the order in which a newcomer comes to them: the first run, then what the tests add.
constexpr Part parts[] = {{"first run: the tool and its modules", "interp/cli/taskspec stdlib/prelude/nn.tasklib"},
                          {"tests, library, benchmarks, lessons", "all"}};

Sample reference_file(const Folder& folder) {
  return process(
      {"g++", "-std=c++20", "-O2", "-c", folder.file("reference.cpp", reference), "-o", folder.file("reference.o")});
}

std::string megabytes(const fs::path& file) {
  std::error_code error;
  const auto bytes = fs::file_size(file, error);
  return error ? "-" : fmt::format("{:.1f}", static_cast<double>(bytes) / 1e6);
}

void print_sizes(const fs::path& build) {
  Table table({"MB, with lines for debuggers", ""});
  table.add({"tool", megabytes(build / "interp/cli/taskspec")});
  table.add({"library", megabytes(build / "packaging/libtaskspec.so")});
  table.add({"a lesson in C++", megabytes(build / "examples/02_composition")});
  fmt::print("\n{}", table.text());
}

}  // namespace

int build(const Settings& settings) {
  std::error_code error;
  const fs::path root = fs::weakly_canonical(fs::path(settings.tool).parent_path() / "../../..", error);
  if (!fs::exists(root / "meson.build", error)) {
    std::fputs("taskspec: 'bench build' compiles the tree that the tool was built in, and this one was installed\n",
               stderr);
    return 2;
  }
  setenv("CCACHE_DISABLE", "1", 1);
  Folder folder;
  const std::string place = folder.file("build");
  Repeats unit;
  for (int i = 0; i < 3; ++i) unit.add(reference_file(folder));
  int status = 0;
  process({"meson", "setup", place, root.string()}, &status);
  Table table({"", "wall s", "CPU s", "reference files"});
  std::vector<Sample> times;
  for (const Part& part : parts) {
    if (status != 0) break;
    times.push_back(process({"sh", "-c", fmt::format("ninja -C '{}' {}", place, part.target)}, &status));
    for (int i = 0; i < 3; ++i) unit.add(reference_file(folder));
  }
  if (status != 0) {
    std::fprintf(stderr, "taskspec: the build in '%s' failed\n", place.c_str());
    return 3;
  }
  for (std::size_t i = 0; i < times.size(); ++i)
    table.add({parts[i].what, fmt::format("{:.0f}", times[i].wall), fmt::format("{:.0f}", times[i].cpu),
               fmt::format("{:.0f}", times[i].cpu / unit.median_cpu())});
  fmt::print("compiling one file of standard headers: CPU s {:.2f} min, {:.2f} median\n\n{}", unit.min_cpu(),
             unit.median_cpu(), table.text());
  print_sizes(place);
  return 0;
}

}  // namespace taskspec::bench
