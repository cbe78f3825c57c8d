// Programs on shards: whatever number of them, the output of a program is that of the host, to the last bit.
#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <sstream>

#include "tests/guard/paths.hpp"
#include "tests/unit/programs.hpp"

using namespace taskspec;

namespace {

std::string contents(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

// Every session that the text opens on the host, on shards.
std::string on_shards(const std::string& text, std::size_t shards, const std::string& more = "") {
  static const std::regex host(R"( on host(\([^()]*\))?)");
  return std::regex_replace(text, host, " on mpi(shards: " + std::to_string(shards) + more + ")");
}

const std::vector<std::size_t> few_shards = {1, 2, 3, 4, 7, 8, 16};

void check_on_shards(const std::string& name, const std::string& text, std::span<const std::size_t> counts) {
  const std::string expected = expected_output(text);
  REQUIRE(!expected.empty());
  for (const std::size_t shards : counts) {
    const std::string changed = on_shards(text, shards);
    REQUIRE(changed != text);
    const Ran ran = run_text(changed);
    CHECK_MESSAGE(ran.output == expected, name << " on " << shards << " shards: " << ran.output << ran.errors);
    CHECK(ran.code == 0);
  }
}

std::filesystem::path language_test(const std::string& name) { return source_root() / "tests/lang" / name; }

constexpr const char* stencil = R"(
fields Cell { state: f64, flux: f64 }
task add_one(inout c: Cell[_].{state}) { for i in c { c[i].state += 1.0 } }
task mul_two(inout c: Cell[_].{flux}) { for i in c { c[i].flux *= 2.0 } }
task stencil(inout own: Cell[_].{flux}, in ghost: Cell[_].{state}) {
  for i in own { own[i].flux += 0.5 * (ghost[i - 1].state + ghost[i + 1].state) }
}
fn main(how: sharding, mul: sharding) {
  let cells = region Cell[64]
  let owned = blocks(cells, 4)
  let interior = owned & shrink(cells, 1)
  let ghost = halo(owned, 1)
  fill(cells.state, 1.0)
  fill(cells.flux, 1.0)
  for t in 0..10 {
    launch add_one(owned[i]) for i in 0..4 by how
    launch mul_two(interior[i]) for i in 0..4 by mul
    launch stencil(interior[i], ghost[i]) for i in 0..4 by how
  }
  print(cells.flux.sum(0).scalar)
}
)";

}  // namespace

TEST_CASE("programs over regions come to the same on any number of shards [programs][D25][D1]") {
  for (const char* name : {"regions_stencil.task", "regions_stencil_2d.task", "regions_cg.task", "regions_circuit.task",
                           "regions_logistic.task", "regions_mesh.task", "regions_mlp.task", "regions_patterns.task"})
    check_on_shards(name, contents(language_test(name)), few_shards);
}

TEST_CASE("the counts of a stencil do not depend on how many shards there are [fence-counts][D10]") {
  for (const std::size_t shards : few_shards) {
    const std::string on = " on mpi(shards: " + std::to_string(shards) + ")\nprint(r.report.fences, r.report.elided)\n";
    CHECK(run_text(std::string(stencil) + "let r = run main(cyclic, cyclic)" + on).output == "253148\n21 19\n");
    CHECK(run_text(std::string(stencil) + "let r = run main(block, block)" + on).output == "253148\n21 19\n");
    CHECK(run_text(std::string(stencil) + "let r = run main(cyclic, block)" + on).output == "253148\n40 0\n");
  }
}
