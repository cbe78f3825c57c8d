// What the analysis of each shard came to, as a report tells it: as much for any size of a launch where no shard has
// more points, and in proportion to a shard's own points.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <regex>
#include <string_view>
#include <vector>

#include "tests/guard/tool.hpp"

namespace taskspec::shard_work_test {

namespace {

// Sanitizers count for themselves.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool counts_memory = false;
#else
constexpr bool counts_memory = true;
#endif

using Work = std::map<std::string, std::int64_t>;

std::vector<Work> reported(const TemporaryFolder& folder, const std::string& options, std::string* output = nullptr) {
  const ToolOutcome run =
      in_shell("taskspec run x.task " + options + " --report r.json >out.txt && cat r.json", folder, 120);
  CHECK_MESSAGE(run.code == 0, run.err);
  if (output) *output = in_shell("cat out.txt", folder).out;
  static const std::regex block("\"analysis\":\\{([^}]*)\\}"), entry("\"([a-z_]+)\":([0-9]+)");
  std::vector<Work> found;
  for (std::sregex_iterator at(run.out.begin(), run.out.end(), block), end; at != end; ++at) {
    const std::string inside = (*at)[1];
    Work& work = found.emplace_back();
    for (std::sregex_iterator one(inside.begin(), inside.end(), entry); one != end; ++one)
      work[(*one)[1]] = std::stoll((*one)[2]);
  }
  return found;
}

// A stencil over as many tiles, ten steps of it, each analysed; by shard.
std::vector<Work> work_of(std::int64_t tiles, std::int64_t shards) {
  TemporaryFolder folder;
  folder.put("x.task",
             fmt::format("fields Cell {{ state: f64, flux: f64 }}\n"
                         "task bump(inout c: Cell[_].{{state}}) {{ for i in c {{ c[i].state += 1.0 }} }}\n"
                         "task mean(inout own: Cell[_].{{flux}}, in ghost: Cell[_].{{state}}) {{\n"
                         "  for i in own {{ own[i].flux += 0.5 * (ghost[i - 1].state + ghost[i + 1].state) }}\n}}\n"
                         "fn main() {{\n  let cells = region Cell[{0} * 4]\n  let owned = blocks(cells, {0})\n"
                         "  let interior = owned & shrink(cells, 1)\n  let ghost = halo(owned, 1)\n"
                         "  for t in 0..10 {{\n    launch bump(owned[i]) for i in 0..{0}\n"
                         "    launch mean(interior[i], ghost[i]) for i in 0..{0}\n  }}\n"
                         "  print(cells.flux.sum(0).scalar)\n}}\n"
                         "run main() on mpi(shards: {1}, traces: false)\n",
                         tiles, shards));
  const std::vector<Work> found = reported(folder, "");
  REQUIRE(found.size() == static_cast<std::size_t>(shards));
  return found;
}

// That of the shard that has most to do.
Work most(const std::vector<Work>& shards) {
  Work most;
  for (const Work& work : shards)
    for (const auto& [name, count] : work) most[name] = std::max(most[name], count);
  return most;
}

}  // namespace

TEST_CASE("--elide more spares fences, and those are counted apart [shard-work][D11]") {
  TemporaryFolder folder;
  folder.put("x.task",
             "fields Cell { a: f64 }\n"
             "task up(inout c: Cell[_].{a}) { for i in c { c[i].a += 1.0 } }\n"
             "task twice(inout c: Cell[_].{a}) { for i in c { c[i].a *= 2.0 } }\n"
             "fn main() {\n  let cells = region Cell[64]\n  let owned = blocks(cells, 8)\n"
             "  let interior = owned & shrink(cells, 1)\n  fill(cells.a, 1.0)\n"
             "  for t in 0..5 {\n    launch up(owned[i]) for i in 0..8\n    launch twice(interior[i]) for i in 0..8\n"
             "    launch up(owned[i - 1]) for i in 1..9\n    launch up(interior[i]) for i in 0..8 by cyclic\n  }\n"
             "  print(cells.a.sum(0).scalar)\n}\n"
             "let r = run main() on mpi(shards: 4)\nprint(r.report.fences, r.report.elided)\n");
  std::string exact, more, host;
  for (const Work& shard : reported(folder, "", &exact)) CHECK(shard.at("elided_more") == 0);
  for (const char* options : {"--elide more", "--elide more --trace-auto off", "--elide more --shards 7"}) {
    CAPTURE(options);
    const std::vector<Work> shards = reported(folder, options, &more);
    CHECK(shards.size() >= 4);
    for (const Work& shard : shards) CHECK(shard.at("elided_more") == 10);
    CHECK(more.ends_with("\n10 0\n"));
    CHECK(more.substr(0, more.find('\n')) == exact.substr(0, exact.find('\n')));
  }
  CHECK(exact.ends_with("\n20 0\n"));
  const ToolOutcome wrong = in_shell("taskspec run x.task --elide most", folder);
  CHECK(wrong.code == 3);
  CHECK_MESSAGE(wrong.err.find("no way to elide \"most\"; there are exact and more") != std::string::npos, wrong.err);
}

TEST_CASE("what the coarse stage looks at is the same for a launch of any size [shard-work]") {
  const Work few = work_of(16, 4)[0];
  for (const std::int64_t tiles : {256, 4096}) {
    const Work many = work_of(tiles, 4)[0];
    for (const char* name : {"coarse_steps", "coarse_entries", "plans"}) {
      CAPTURE(name);
      CHECK(few.at(name) > 0);
      CHECK(many.at(name) == few.at(name));
    }
  }
}

TEST_CASE("a shard has memory for the elements that it touches, and no more with more shards [shard-work]") {
  // Each piece reads of one element on each page of the region, wherever it lies.
  const auto packed = [](std::int64_t shards, const char* options, std::string* output) {
    TemporaryFolder folder;
    folder.put(
        "x.task",
        fmt::format("fields Node {{ v: f64, next: f64 }}\nfields Wire {{ to: int }}\n"
                    "task start(inout own: Node[_].{{v}}) {{ for i in own {{ own[i].v = (i % 97) as f64 }} }}\n"
                    "task wire(inout own: Wire[_].{{to}}) {{ for i in own {{ own[i].to = i * 654321 % 1048576 }} }}\n"
                    "task pull(inout own: Node[_].{{next}}, in w: Wire[_].{{to}}, in far: Node[_].{{v}}) {{\n"
                    "  for i in w {{ own[i * 1024].next += far[w[i].to].v }}\n}}\n"
                    "fn main() {{\n  let nodes = region Node[1048576]\n  let wires = region Wire[1024]\n"
                    "  let pn = blocks(nodes, 32)\n  let pw = blocks(wires, 32)\n"
                    "  launch start(pn[i]) for i in 0..32\n  launch wire(pw[i]) for i in 0..32\n"
                    "  let far = image(nodes, pw, wires.to)\n"
                    "  for t in 0..3 {{ launch pull(pn[i], pw[i], far[i]) for i in 0..32 }}\n"
                    "  print(nodes.v.sum(0).scalar, nodes.next.sum(0).scalar)\n}}\n"
                    "run main() on mpi(shards: {})\n",
                    shards));
    std::vector<std::int64_t> elements;
    for (const Work& work : reported(folder, options, output)) elements.push_back(work.at("packed_elements"));
    CHECK(elements.size() == static_cast<std::size_t>(shards));
    return elements;
  };
  std::string flat, few;
  for (const std::int64_t of_shard : packed(8, "--instances flat", &flat)) CHECK(of_shard == 0);
  for (const std::int64_t shards : {8, 16}) {
    for (const std::int64_t of_shard : packed(shards, "", &few)) {
      CHECK(of_shard >= 1048576 / shards);
      CHECK(of_shard <= 1048576 / shards + 1024 / shards);  // its own nodes, and what its wires lead to
    }
    CHECK(few == flat);
  }
  CHECK(flat.size() > 10);
}

TEST_CASE("what a shard's analysis costs does not grow with the shards, where its own points do not [shard-work]") {
  const Work few = most(work_of(4 * 8, 4));
  for (const std::int64_t shards : {8, 16}) {
    const Work many = most(work_of(shards * 8, shards));
    for (const char* name : {"coarse_steps", "coarse_entries", "fine_steps", "fine_entries", "edges", "plans"}) {
      CAPTURE(name);
      CHECK(few.at(name) > 0);
      CHECK(many.at(name) == few.at(name));
    }
    for (const char* name : {"plan_points", "allocations", "allocated_bytes", "bytes"}) {
      CAPTURE(name);
      CHECK((few.at(name) > 0 || (!counts_memory && std::string_view(name).starts_with("alloc"))));
      CHECK(10 * many.at(name) <= 11 * few.at(name));
    }
  }
}

TEST_CASE("what a shard's analysis costs is linear in its own points [shard-work]") {
  std::vector<Work> sizes;
  for (const std::int64_t own : {64, 128, 256}) sizes.push_back(most(work_of(4 * own, 4)));
  for (const char* name : {"fine_steps", "edges"}) {
    CAPTURE(name);
    CHECK(sizes[1].at(name) > sizes[0].at(name));
    CHECK(sizes[2].at(name) - sizes[1].at(name) == 2 * (sizes[1].at(name) - sizes[0].at(name)));
  }
  // Of these there is also what does not depend on points.
  for (const char* name : {"fine_entries", "plan_points", "allocations", "allocated_bytes", "bytes"}) {
    CAPTURE(name);
    CHECK(sizes[2].at(name) <= 4 * sizes[0].at(name));
  }
}

}  // namespace taskspec::shard_work_test
