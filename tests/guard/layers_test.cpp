// The layers of the house: which folder may include which, and where each library of others is confined.
#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tests/guard/paths.hpp"

namespace taskspec::layers_test {

namespace {

using Names = std::vector<std::string_view>;

// The longest folder that a file lies in counts. Blind to one another: frontend, stdlib, hwsim.
const std::map<std::string_view, Names> may_include = {
    // The rooms of ir, from the ground up: none of them sees one that sees it.
    {"ir/base/", {"ir/base/"}},
    {"ir/types/", {"ir/types/", "ir/base/"}},
    {"ir/files/", {"ir/files/", "ir/types/", "ir/base/"}},
    {"ir/codes/", {"ir/codes/", "ir/base/"}},
    {"ir/layout/", {"ir/layout/", "ir/base/"}},
    {"ir/records/", {"ir/records/", "ir/types/", "ir/base/"}},
    {"ir/program/", {"ir/program/", "ir/blocks/", "ir/records/", "ir/types/", "ir/base/"}},
    {"ir/cut/", {"ir/cut/", "ir/program/", "ir/records/", "ir/types/", "ir/base/"}},
    {"ir/cut_report/", {"ir/cut_report/", "ir/cut/", "ir/program/", "ir/records/", "ir/types/", "ir/base/"}},
    {"ir/region/", {"ir/region/", "ir/records/", "ir/types/", "ir/base/"}},
    {"ir/graph/", {"ir/graph/", "ir/region/", "ir/program/", "ir/records/", "ir/types/", "ir/base/"}},
    {"ir/gradient/",
     {"ir/gradient/", "ir/graph/", "ir/region/", "ir/program/", "ir/records/", "ir/types/", "ir/base/"}},
    {"ir/blocks/", {"ir/blocks/", "ir/records/", "ir/types/", "ir/base/"}},
    {"ir/lowering/",
     {"ir/lowering/", "ir/blocks/", "ir/graph/", "ir/region/", "ir/program/", "ir/records/", "ir/types/", "ir/base/"}},
    {"ir/view_code/", {"ir/view_code/", "ir/program/", "ir/records/", "ir/types/", "ir/base/"}},
    {"ir/plan/", {"ir/plan/", "ir/graph/", "ir/region/", "ir/program/", "ir/records/", "ir/types/", "ir/base/"}},
    {"ir/verify/",
     {"ir/verify/", "ir/plan/", "ir/graph/", "ir/region/", "ir/program/", "ir/records/", "ir/types/", "ir/base/"}},
    {"ir/show/",
     {"ir/show/", "ir/layout/", "ir/plan/", "ir/graph/", "ir/region/", "ir/cut_report/", "ir/cut/", "ir/program/",
      "ir/blocks/", "ir/records/", "ir/files/", "ir/types/", "ir/base/"}},
    {"ir/json/",
     {"ir/json/", "ir/show/", "ir/verify/", "ir/layout/", "ir/plan/", "ir/graph/", "ir/region/", "ir/cut_report/",
      "ir/cut/", "ir/program/", "ir/blocks/", "ir/records/", "ir/types/", "ir/base/"}},
    {"ir/library/",
     {"ir/library/", "ir/json/", "ir/show/", "ir/verify/", "ir/layout/", "ir/plan/", "ir/graph/", "ir/region/",
      "ir/cut_report/", "ir/cut/", "ir/program/", "ir/blocks/", "ir/records/", "ir/types/", "ir/base/"}},
    {"ir/precompiled/", {"ir/"}},
    {"frontend/", {"frontend/", "ir/", "TaskLexer.h", "TaskParser.h"}},
    {"frontend/dsl/", {"frontend/", "ir/", "taskspec/"}},
    {"stdlib/", {"stdlib/", "ir/"}},
    {"hwsim/", {"hwsim/", "ir/"}},
    {"interp/", {"interp/", "frontend/", "ir/"}},
    // Its rooms, from the ground up: none of them sees one that sees it.
    {"interp/host/", {"interp/host/", "ir/"}},
    {"interp/report/", {"interp/report/", "ir/"}},
    {"interp/shards/", {"interp/shards/", "interp/host/fold.hpp", "interp/host/root_tree.hpp", "ir/"}},
    {"interp/exact/", {"interp/exact/", "ir/"}},
    {"interp/quantize/", {"interp/quantize/", "interp/exact/", "interp/control/", "ir/"}},
    {"interp/reference/", {"interp/reference/", "interp/toolbox.hpp", "frontend/", "ir/"}},
    {"interp/hw/", {"interp/hw/", "interp/exact/", "interp/control/", "hwsim/", "ir/"}},
    {"interp/mpi/", {"interp/mpi/", "interp/shards/", "interp/host/", "interp/control/", "ir/"}},
    {"interp/control/", {"interp/control/", "interp/report/", "frontend/", "ir/"}},
    {"interp/session/", {"interp/session/", "interp/control/", "ir/"}},
    {"interp/train/", {"interp/train/", "interp/control/", "ir/"}},
    {"interp/backends/",
     {"interp/backends/", "interp/host/", "interp/hw/", "interp/mpi/", "interp/control/", "interp/toolbox.hpp",
      "frontend/", "hwsim/", "ir/"}},
    {"interp/embed/", {"interp/", "frontend/", "stdlib/", "ir/", "taskspec/", "include/"}},  // the root of the library
    {"interp/workspace/", {"interp/", "frontend/", "ir/", "include/"}},
    {"interp/repl/", {"interp/repl/", "include/"}},                      // on the public API alone
    {"interp/import/", {"interp/import/", "stdlib/blocks.hpp", "ir/"}},  // a program of its own
    {"interp/cli/", {"interp/", "frontend/", "hwsim/", "stdlib/", "ir/"}},
    {"bench/",
     {"bench/", "include/", "interp/", "frontend/", "hwsim/", "stdlib/", "ir/", "tests/hwsim/stream_nets.hpp"}},
    {"include/", {"taskspec/"}},
    {"packaging/", {"ir/"}},
    {"examples/", {"taskspec/"}},
    {"tests/", {""}},
};

// Libraries of others by the first letters of their headers, and where they may appear. libfmt and Boost go anywhere.
const std::map<std::string_view, Names> confined_to = {
    {"antlr4-runtime", {"frontend/parse"}},
    {"TaskLexer.h", {"frontend/parse"}},
    {"TaskParser.h", {"frontend/parse"}},
    {"nlohmann/",
     {"ir/json/", "hwsim/chip", "hwsim/map/mapping_file.cpp", "tests/unit/json", "tests/unit/ops_neurons",
      "tests/unit/step_cost", "tests/unit/trace", "tests/unit/dependences", "tests/peers/", "tests/hwsim/picture",
      "tests/hwsim/chip_report", "tests/hwsim/mapping", "tests/hwsim/refuse_fits", "tests/hwsim/spike_report"}},
    {"xxhash", {"ir/base/hash.cpp"}},
    {"png", {"ir/files/png.cpp"}},
    {"jpeglib", {"ir/files/jpeg.cpp"}},
    {"jerror", {"ir/files/jpeg.cpp"}},
    {"zlib", {"ir/files/zip.cpp"}},
    {"hdf5", {"interp/import/nir/hdf5_handle.hpp"}},
    {"dnnl", {"stdlib/kernels/"}},
    {"oneapi/dnnl", {"stdlib/kernels/"}},
    {"omp", {"stdlib/kernels/"}},
    {"xbyak/", {"interp/host/view/scalar_values.hpp"}},
    {"onnx/", {"interp/import/onnx/read_model.cpp"}},
    {"google/protobuf/", {"interp/import/onnx/read_model.cpp", "interp/import/task_ir/", "bench/task_ir_text.cpp"}},
    {"CLI/", {"interp/cli/"}},
    {"mpi", {"interp/shards/transport/mpi.cpp", "bench/metg_mpi.cpp"}},
    {"histedit", {"interp/repl/terminal.cpp"}},
    {"starpu", {"bench/"}},
    {"tbb/", {"bench/"}},
    {"oneapi/tbb", {"bench/"}},
    {"doctest/", {"tests/"}},
    {"taskspec/", {"examples/", "tests/", "include/", "frontend/dsl/", "interp/embed/"}},
    {"boost/", {""}},
    {"fmt/", {""}},
};

// The system's own C headers, which look like those of libraries.
const Names system_headers = {"cxxabi.h",   "dlfcn.h",  "fcntl.h",     "malloc.h", "poll.h",    "pthread.h",
                              "pty.h",      "sched.h",  "signal.h",    "spawn.h",  "sys/",      "termios.h",
                              "ucontext.h", "unistd.h", "immintrin.h", "linux/",   "sanitizer/"};

struct Include {
  std::string file, header;
  bool quoted;
};

std::vector<Include> includes_of(const std::string& file) {
  std::vector<Include> found;
  std::istringstream text(read_file(file));
  for (std::string line; std::getline(text, line);) {
    if (!line.starts_with("#include")) continue;
    const std::size_t begin = line.find_first_of("<\"");
    const std::size_t end = line.find_first_of(">\"", begin + 1);
    if (end != std::string::npos) found.push_back({file, line.substr(begin + 1, end - begin - 1), line[begin] == '"'});
  }
  return found;
}

bool starts_with_one_of(std::string_view text, const Names& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(), [&](std::string_view b) { return text.starts_with(b); });
}

// The entry with the longest key that the text begins with; null if there is none.
const Names* longest(const std::map<std::string_view, Names>& table, std::string_view text) {
  const Names* found = nullptr;
  for (const auto& [key, names] : table)  // ascending, so a longer key comes after its beginnings
    if (text.starts_with(key)) found = &names;
  return found;
}

// What is wrong with an include, or nothing.
std::string fault(const Include& include) {
  const Names* allowed = longest(may_include, include.file);
  if (!allowed) return "lies in no layer";
  if (include.quoted && !starts_with_one_of(include.header, *allowed)) return "reaches outside its layer";
  if (include.header.starts_with("boost/") && include.file.ends_with(".hpp") &&
      include.file != "ir/graph/boost_graph.hpp")
    return "makes all its readers read Boost";
  const bool is_public = include.header.starts_with("taskspec/");
  if (const Names* places = longest(confined_to, include.header)) {
    if (!starts_with_one_of(include.file, *places)) return "uses a library that is confined elsewhere";
    if (!is_public) return "";
  }
  if (include.quoted || is_public) {
    const bool is_made = include.header == "taskspec/methods.hpp" || include.header == "taskspec/ops.hpp" ||
                         include.header == "interp/shards/mpi_stamp.hpp" || include.header.ends_with(".pb.h");
    const bool exists = std::filesystem::exists(source_root() / (is_public ? "include" : "") / include.header);
    return exists || is_made ? "" : "names no file from the root";
  }
  const bool from_standard = include.header.find_first_of("./") == std::string::npos;
  return from_standard || starts_with_one_of(include.header, system_headers) ? "" : "uses an unlisted library";
}

}  // namespace

TEST_CASE("every include keeps to the layers and to the confinement of libraries") {
  std::size_t count = 0;
  for (const std::string& file : cpp_files())
    for (const Include& include : includes_of(file)) {
      ++count;
      const std::string wrong = fault(include);
      CHECK_MESSAGE(wrong.empty(), include.file << " includes " << include.header << ": " << wrong);
    }
  CHECK(count > 100);
}

TEST_CASE("the rooms of ir stand one above the other, and its README has a row for each") {
  const std::string readme = read_file("ir/README.md");
  std::set<std::string_view> rooms;  // that see one of these
  for (const auto& [room, names] : may_include) {
    if (!room.starts_with("ir/") || room == "ir/precompiled/") continue;
    rooms.insert(room);
    CHECK_MESSAGE(readme.find("\n| `" + std::string(room.substr(3)) + "` |") != std::string::npos, room);
  }
  CHECK(rooms.size() > 10);
  for (std::size_t before = 0; before != rooms.size();) {
    before = rooms.size();
    std::erase_if(rooms, [&](std::string_view room) {
      const Names& names = may_include.at(room);
      return std::none_of(names.begin(), names.end(),
                          [&](std::string_view name) { return name != room && rooms.contains(name); });
    });
  }
  for (const std::string_view room : rooms) CHECK_MESSAGE(false, room << " sees a room that sees it");
}

TEST_CASE("the layer test itself sees faults") {
  CHECK(fault({"ir/base/text.cpp", "ir/types/type.hpp", true}) == "reaches outside its layer");
  CHECK(fault({"ir/types/type.cpp", "ir/program/program.hpp", true}) == "reaches outside its layer");
  CHECK(fault({"frontend/check.cpp", "stdlib/ops.hpp", true}) == "reaches outside its layer");
  CHECK(fault({"stdlib/ops/add.cpp", "frontend/ast.hpp", true}) == "reaches outside its layer");
  CHECK(fault({"interp/session/session.cpp", "stdlib/ops.hpp", true}) == "reaches outside its layer");
  CHECK(fault({"interp/control/record.cpp", "interp/session/session.hpp", true}) == "reaches outside its layer");
  CHECK(fault({"ir/plan/plan.hpp", "boost/graph/adjacency_list.hpp", false}) == "makes all its readers read Boost");
  CHECK(fault({"ir/show/print.cpp", "nlohmann/json.hpp", false}) == "uses a library that is confined elsewhere");
  CHECK(fault({"frontend/check/body.cpp", "antlr4-runtime.h", false}) == "uses a library that is confined elsewhere");
  CHECK(fault({"ir/show/print.cpp", "rapidjson/document.h", false}) == "uses an unlisted library");
  CHECK(fault({"ir/show/print.cpp", "ir/show/no_such.hpp", true}) == "names no file from the root");
  CHECK(fault({"attic/x.cpp", "ir/types/type.hpp", true}) == "lies in no layer");
  CHECK(fault({"ir/loose.cpp", "ir/types/type.hpp", true}) == "lies in no layer");
  CHECK(fault({"interp/cli/main.cpp", "stdlib/ops.hpp", true}).empty());
  CHECK(fault({"ir/types/type.cpp", "vector", false}).empty());
}

}  // namespace taskspec::layers_test
