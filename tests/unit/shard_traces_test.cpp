// Traces of programs on shards: what the text marks, what is found without it, how a trace is left; and options of the
// backend that may not change what a program does.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "tests/guard/paths.hpp"
#include "tests/unit/programs.hpp"

namespace taskspec::shard_traces_test {

namespace {

const std::string tasks = R"(
fields Cell { state: f64, flux: f64 }
task add_one(inout c: Cell[_].{state}) { for i in c { c[i].state += 1.0 } }
task mul_two(inout c: Cell[_].{flux}) { for i in c { c[i].flux *= 2.0 } }
task stencil(inout own: Cell[_].{flux}, in ghost: Cell[_].{state}) {
  for i in own { own[i].flux += 0.5 * (ghost[i - 1].state + ghost[i + 1].state) }
}
)";

// Sample 3, whose three launches stand in `frame`.
std::string sample(const std::string& frame) {
  const std::size_t at = frame.find("...");
  return tasks + R"(
fn main(how: sharding) {
  let cells = region Cell[64]
  let owned = blocks(cells, 4)
  let interior = owned & shrink(cells, 1)
  let ghost = halo(owned, 1)
  fill(cells.state, 1.0)
  fill(cells.flux, 1.0)
  for t in 0..10 {
    )" + frame.substr(0, at) +
         R"(
    launch add_one(owned[i]) for i in 0..4 by how
    launch mul_two(interior[i]) for i in 0..4 by how
    launch stencil(interior[i], ghost[i]) for i in 0..4 by how
    )" + frame.substr(at + 3) +
         "\n  }\n  print(cells.flux.sum(0).scalar)\n}\n";
}

std::string on(std::size_t shards, const std::string& options = "") {
  return " on mpi(shards: " + std::to_string(shards) + options + ")\n";
}
constexpr const char* counts = "print(r.report.fences, r.report.elided, r.report.replayed, r.report.records)\n";

std::string counted(const std::string& program, std::size_t shards, const std::string& options = "") {
  const Ran ran = run_text(program + "let r = run main(cyclic)" + on(shards, options) + counts);
  return ran.output + ran.errors;
}

// A language test up to `end`, with the lines from `first` to `last` in a trace.
std::string with_trace(const std::string& name, const std::string& end, const std::string& first,
                       const std::string& last) {
  std::ostringstream all;
  all << std::ifstream(source_root() / "tests/lang" / name).rdbuf();
  std::string text = all.str();
  REQUIRE(text.find(end) != std::string::npos);
  text.resize(text.find(end));
  REQUIRE(text.find(first) != std::string::npos);
  text.insert(text.find(first), "trace {\n");
  const std::size_t at = text.find(last, text.find(first));
  REQUIRE(at != std::string::npos);
  return text.insert(text.find('\n', at + last.size()), "\n}");
}

}  // namespace

TEST_CASE(
    "a trace of the text is recorded twice and replayed eight times, a found one once and seven times "
    "[traces][D23]") {
  for (const std::size_t shards : {1, 2, 3, 4}) {
    CAPTURE(shards);
    CHECK(counted(sample("trace { ... }"), shards) == "253148\n21 19 8 2\n");
    CHECK(counted(sample("..."), shards) == "253148\n21 19 7 1\n");
    CHECK(counted(sample("..."), shards, ", trace_auto: false") == "253148\n21 19 0 0\n");
    CHECK(counted(sample("trace { ... }"), shards, ", trace_auto: false") == "253148\n21 19 8 2\n");
    CHECK(counted(sample("trace { ... }"), shards, ", traces: false") == "253148\n21 19 0 0\n");
    CHECK(counted(sample("trace { ... }"), shards, ", plans: \"all\"") == "253148\n21 19 8 2\n");
  }
}

TEST_CASE("traces with reductions and receives in them have the values and the counts of an analysis [traces][D23]") {
  struct Program {
    std::string text, call;
    int executions;
  };
  const std::string cg = "cg(64, 8, 1e-8)";  // 32 turns
  const Program programs[] = {
      {with_trace("regions_circuit.task", "// The same by plain", "    launch currents", "launch voltages"),
       "circuit(4, 12, 50, 200)", 12},
      {with_trace("regions_cg.task", "print(cg(256", "    launch matvec", "rr = next; k += 1"), cg, 32},
      {with_trace("regions_cg.task", "print(cg(256", "  while rr.scalar", "rr = next; k += 1\n  }"), cg, 1}};
  for (const Program& program : programs) {
    const Ran alone = run_text(program.text + "print(" + program.call + ")\n");
    const std::string& host = alone.output;
    REQUIRE_MESSAGE(alone.code == 0, alone.errors);
    for (const std::size_t shards : {1, 2, 3, 4}) {
      CAPTURE(shards);
      const auto on_shards = [&](const char* options, const char* what) {
        const Ran ran = run_text(program.text + "let r = run " + program.call + on(shards, options) +
                                 "print(r.value)\nprint(" + what + ")\n");
        INFO(ran.errors);
        REQUIRE(ran.output.starts_with(host));
        return ran.output.substr(host.size());
      };
      CHECK(on_shards(", trace_auto: false", "r.report.fences, r.report.elided") ==
            on_shards(", traces: false", "r.report.fences, r.report.elided"));
      CHECK(on_shards(", trace_auto: false", "r.report.replayed + r.report.records") ==
            std::to_string(program.executions) + "\n");
    }
  }
}

TEST_CASE("a trace means nothing on one host, and is no call of a program on shards [traces]") {
  CHECK(run_text(sample("trace { ... }") + "main(cyclic)\n").output == "253148\n");
  CHECK(run_text_directly(sample("trace { ... }") + "main(cyclic)\n").output == "253148\n");
  const auto hashed = [](const std::string& frame) {
    return run_text(sample(frame) + "let r = run main(cyclic)" + on(2, ", traces: false") + "print(r.report.hashes)\n")
        .output;
  };
  CHECK(hashed("trace { ... }") == hashed("..."));
  // The third step's stencil is call 17 with it as without.
  for (const char* frame : {"trace { ... }", "..."}) {
    const Ran ran = run_text(sample(frame) + "run main(cyclic)" + on(3, ", inject: \"1:17:domain\""));
    CHECK_MESSAGE(ran.errors.find("call 17 'launch stencil'") != std::string::npos, ran.errors);
  }
}

TEST_CASE("a trace inside of another one is a part of it [traces]") {
  CHECK(counted(sample("trace { trace { ... } }"), 3) == "253148\n21 19 8 2\n");
}

// However the first one is left, the loop behind it is a trace again, and counts as one.
TEST_CASE("break, continue and return end the traces that they leave [traces]") {
  const auto program = [](const std::string& first) {
    return tasks +
           "fn part(how: sharding) -> float {\n  let cells = region Cell[16]\n  let owned = blocks(cells, 4)\n"
           "  fill(cells.flux, 1.0)\n  for t in 0..5 {\n    trace {\n      launch mul_two(owned[i]) for i in 0..4 by "
           "how\n"
           "      if t == 3 { return cells.flux.sum(0).scalar }\n"
           "      launch mul_two(owned[i]) for i in 0..4 by how\n    }\n  }\n  return 0.0\n}\n"
           "fn main(how: sharding) {\n  let cells = region Cell[64]\n  let owned = blocks(cells, 4)\n"
           "  fill(cells.state, 1.0)\n  fill(cells.flux, 1.0)\n  var n = 0.0\n" +
           first +
           "  for t in 0..6 {\n    trace {\n      launch add_one(owned[i]) for i in 0..4 by how\n"
           "      launch mul_two(owned[i]) for i in 0..4 by how\n    }\n  }\n"
           "  print(n, cells.state.sum(0).scalar, cells.flux.sum(0).scalar)\n}\n";
  };
  const std::string leave =
      "  for t in 0..5 {\n    trace {\n      launch add_one(owned[i]) for i in 0..4\n      if t == 2 { LEAVE }\n"
      "      launch mul_two(owned[i]) for i in 0..4\n    }\n    n += 1.0\n  }\n";
  const auto with = [&](const std::string& word) {
    std::string text = leave;
    return program(text.replace(text.find("LEAVE"), 5, word));
  };
  const std::string alone = counted(program(""), 2, ", trace_auto: false");
  const std::string last = alone.substr(alone.rfind('\n', alone.size() - 2) + 1);
  int replayed = 0, records = 0;
  REQUIRE(std::sscanf(last.c_str(), "%*d %*d %d %d", &replayed, &records) == 2);
  CHECK(replayed + records == 6);
  CHECK(replayed >= 3);
  for (const std::string& text : {with("break"), with("continue"), program("  n = part(how)\n")}) {
    const std::string expected = run_text(text + "main(cyclic)\n").output;
    REQUIRE(!expected.empty());
    for (const std::size_t shards : {1, 2, 3, 4}) {
      CAPTURE(shards);
      const std::string got = counted(text, shards, ", trace_auto: false");
      CHECK_MESSAGE(got.starts_with(expected), got);
      int later = 0, recorded = 0;
      REQUIRE(std::sscanf(got.c_str() + expected.size(), "%*d %*d %d %d", &later, &recorded) == 2);
      CHECK(later >= replayed);  // of the loop behind it, and perhaps of its own
    }
  }
}

TEST_CASE("what is made in a trace is seen behind it, and a fn that ends in one gives its value [traces]") {
  const std::string program =
      "fn f(n: int) -> int {\n  var s = 0\n  trace { let a = n * 2; s = a + 1 }\n  trace { return s }\n}\n"
      "task t(in x: f32[1]) -> (y: f32[1]) { var z = x\n  trace { z = z + 1.0 }\n  y = z }\n"
      "graph g(x: f32[1]) -> (y: f32[1]) { trace { let a = t(x).y; y = a * 2.0 } }\n"
      "while true { trace { break } }\n"
      "print(f(3), g([1.0] as f32[1]).y.array)\n";
  CHECK(run_text(program).output == "7 [4]\n");
  CHECK(run_text_directly(program).output == "7 [4]\n");
  // Around what is one node of a graph, and inside of it.
  const std::string graph =
      "task t(in x: f32[2]) -> (y: f32[2]) { y = x + 1.0 }\n"
      "fn twice(x: f32[2]) -> f32[2] { trace { return t(t(x).y).y } }\n"
      "graph g(x: f32[2]) -> (y: f32[2]) {\n  var s = x\n  trace {\n    let a = t(s).y\n    s = a\n"
      "    if a.sum(0) > 3.0 { s = t(s).y }\n    for i in 0..3 { trace { s = twice(s) } }\n  }\n  y = s\n}\n"
      "print(g([1.0, 2.0] as f32[2]).y.array)\n";
  CHECK(run_text(graph).output == "[9, 10]\n");
  CHECK(run_text_directly(graph).output == "[9, 10]\n");
  const Ran exits = run_text(
      "fn stop() { for t in 0..3 { trace { if t == 1 { print(t); exit(4) } } } }\nrun stop() on mpi(shards: 3)\n");
  CHECK(exits.output == "1\n");
  CHECK(exits.code == 4);
  const Ran outside = run_text("trace { let a = 1 }\nprint(a)\n");
  CHECK_MESSAGE(outside.errors.find("E1001") != std::string::npos, outside.errors);
}

// Two tasks that use the same pieces in the same way are two tokens: such a trace does not fit its template.
TEST_CASE("tasks that use equal pieces are told apart [traces]") {
  const auto program = [](const std::string& other) {
    return tasks +
           "task add_ten(inout c: Cell[_].{state}) { for i in c { c[i].state += 10.0 } }\n"
           "fn main(how: sharding) {\n  let cells = region Cell[64]\n  let owned = blocks(cells, 4)\n"
           "  fill(cells.state, 1.0)\n  for t in 0..8 {\n    trace {\n"
           "      if t % 2 == 0 { launch add_one(owned[i]) for i in 0..4 by how }\n"
           "      else { launch " +
           other +
           "(owned[i]) for i in 0..4 by how }\n"
           "      launch add_one(owned[i]) for i in 0..4 by how\n    }\n  }\n"
           "  print(cells.state.sum(0).scalar)\n}\n";
  };
  const std::string same = counted(program("add_one"), 2), others = counted(program("add_ten"), 2);
  CHECK(same.starts_with("1088\n"));
  CHECK(others.starts_with("3392\n"));
  CHECK_MESSAGE(same.substr(same.find('\n')) != others.substr(others.find('\n')), same << others);
}

TEST_CASE("an int that differs from point to point is an argument of the call [inject][D17]") {
  const std::string program =
      tasks +
      "task add(inout c: Cell[_].{state}, in n: int) { for i in c { c[i].state += n as float } }\n"
      "fn main(how: sharding) {\n  let cells = region Cell[64]\n  let owned = blocks(cells, 4)\n"
      "  fill(cells.state, 1.0)\n  let k = 3\n  launch add(owned[i], k * i) for i in 0..4 by how\n"
      "  print(cells.state.sum(0).scalar)\n}\n";
  CHECK(run_text(program + "main(cyclic)\n").output == "352\n");
  const Ran ran = run_text(program + "run main(cyclic)" + on(3, ", inject: \"1:5:value 1\""));
  CHECK(ran.code == 3);
  CHECK_MESSAGE(ran.errors.find("call 5 'launch add'") != std::string::npos, ran.errors);
  CHECK_MESSAGE(ran.errors.find("value 1") != std::string::npos, ran.errors);
}

// A loop whose launches are only noted, with their numbers, from some turn on.
std::string long_loop(std::size_t turns) {
  return tasks +
         "task add(inout c: Cell[_].{flux}, in d: Cell[_].{state}, in n: int, in x: f64) {\n"
         "  for i in c { c[i].flux += 0.5 * d[i + 1].state + n as f64 * x }\n}\n"
         "fn main(how: sharding) {\n  let cells = region Cell[64]\n  let owned = blocks(cells, 4)\n"
         "  let inner = owned & shrink(cells, 1)\n  let wide = halo(owned, 1)\n  fill(cells.state, 1.0)\n"
         "  for turn in 0.." +
         std::to_string(turns) +
         " {\n    launch add_one(owned[i]) for i in 0..4\n"
         "    launch add(inner[i], wide[i], turn, turn * 0.25) for i in 0..4\n  }\n"
         "  print(cells.flux.sum(0).scalar)\n}\n";
}

TEST_CASE("a launch of a long loop that is another one on one shard is named [inject][D17]") {
  const std::string program = long_loop(400);
  for (const char* level : {"off", "batch"})
    for (const char* argument : {"value 1", "value 2", "domain", "argument 2", "projection", "task"})
      for (const std::size_t call : {705, 706}) {
        const bool has_values = call % 2 == 1;
        if (!has_values && std::string_view(argument).ends_with('2')) continue;
        if (!has_values && std::string_view(argument).starts_with("value")) continue;
        const std::string injected = fmt::format(", level: \"{}\", inject: \"2:{}:{}\"", level, call, argument);
        const Ran ran = run_text(program + "run main(block)" + on(3, injected));
        CHECK(ran.code == 3);
        CHECK_MESSAGE(ran.errors.find(fmt::format("call {} 'launch {}'", call, has_values ? "add" : "add_one")) !=
                          std::string::npos,
                      level << " " << argument << ": " << ran.errors);
        CHECK_MESSAGE(ran.errors.find("shard {2}") != std::string::npos, ran.errors);
      }
}

TEST_CASE("a long loop costs each turn the same fences, calls and messages") {
  const auto numbers = [](std::size_t turns) {
    const Ran ran = run_text(long_loop(turns) + "let r = run main(block)" + on(3) +
                             "print(r.report.fences, r.report.elided, r.report.replayed, r.report.messages)\n");
    const Ran host = run_text(long_loop(turns) + "main(block)\n");
    CHECK_MESSAGE(ran.output.starts_with(host.output), ran.output << ran.errors);
    std::istringstream in(ran.output.substr(ran.output.find('\n')));
    std::vector<std::int64_t> read;
    for (std::int64_t number = 0; in >> number;) read.push_back(number);
    return read;
  };
  // The first turns are recorded; those from 160 on are noted, and some of the last ones not as a whole batch.
  const std::vector<std::int64_t> few = numbers(30), some = numbers(60), many = numbers(615), more = numbers(645);
  REQUIRE(few.size() == 4);
  for (std::size_t k = 0; k < few.size(); ++k) CHECK(more[k] - many[k] == some[k] - few[k]);
  CHECK(more[3] - many[3] > 0);
}

TEST_CASE("a long loop whose sharding becomes another one goes by that") {
  const auto messages = [](std::size_t turns) {
    const std::string program =
        tasks +
        "fn main(how: sharding) {\n  let cells = region Cell[64]\n  let owned = blocks(cells, 4)\n"
        "  let inner = owned & shrink(cells, 1)\n  let wide = halo(owned, 1)\n  fill(cells.state, 1.0)\n"
        "  var by_which = how\n"
        "  for turn in 0..(" +
        std::to_string(turns) +
        ") {\n    if turn == 300 { by_which = owner(0) }\n"
        "    launch add_one(owned[i]) for i in 0..4 by by_which\n"
        "    launch stencil(inner[i], wide[i]) for i in 0..4 by by_which\n  }\n}\n";
    const Ran ran = run_text(program + "let r = run main(cyclic)" + on(3) + "print(r.report.messages)\n");
    CHECK_MESSAGE(ran.code == 0, ran.errors);
    return ran.code == 0 ? std::stoll(ran.output) : 0;
  };
  const std::int64_t before = messages(300), after = messages(500);
  CHECK(before > 600);
  CHECK(after >= before);
  CHECK(after < before + 20);  // all come to shard 0, once
}

TEST_CASE("which piece a task that is called alone takes is an argument of the call [inject][D17]") {
  const std::string program =
      tasks +
      "fn main(how: sharding) {\n  let cells = region Cell[64]\n  let owned = blocks(cells, 4)\n"
      "  fill(cells.state, 1.0)\n  add_one(owned[2])\n  print(cells.state.sum(0).scalar)\n}\n";
  CHECK(run_text(program + "run main(cyclic)" + on(3)).output == "80\n");
  const Ran ran = run_text(program + "run main(cyclic)" + on(3, ", inject: \"1:5:colour\""));
  CHECK(ran.code == 3);
  CHECK_MESSAGE(ran.errors.find("call 5 'call add_one'") != std::string::npos, ran.errors);
  CHECK_MESSAGE(ran.errors.find("colour \"2\"") != std::string::npos, ran.errors);
}

TEST_CASE("a map that is an argument is told by the call that made it [inject][D17]") {
  const std::string program =
      tasks +
      "task total(in c: Cell[_].{state}) -> (s: f64[1]) { s = c.state.sum(0) }\n"
      "task add(inout c: Cell[_].{state}, in n: f64[1]) { for i in c { c[i].state += n[0] } }\n"
      "fn main(how: sharding) {\n  let cells = region Cell[64]\n  let owned = blocks(cells, 4)\n"
      "  fill(cells.state, 1.0)\n  let m = launch total(owned[i]) for i in 0..4 by how\n"
      "  launch add(owned[i], m.s[i]) for i in 0..4 by how\n  print(cells.state.sum(0).scalar)\n}\n";
  const Ran host = run_text(program + "main(cyclic)\n");
  REQUIRE_MESSAGE(host.code == 0, host.errors);
  CHECK(run_text(program + "run main(cyclic)" + on(3)).output == host.output);
  const Ran ran = run_text(program + "run main(cyclic)" + on(3, ", inject: \"2:6:value 1\""));
  CHECK(ran.code == 3);
  CHECK_MESSAGE(ran.errors.find("call 6 'launch add'") != std::string::npos, ran.errors);
  CHECK_MESSAGE(ran.errors.find("of call 5") != std::string::npos, ran.errors);
}

TEST_CASE("options of mpi that cannot be are refused where they stand") {
  for (const auto& [option, why] : std::initializer_list<std::pair<const char*, const char*>>{
           {"plans: \"some\"", "no plans \"some\""},
           {"instances: \"small\"", "no instances \"small\""},
           {"elide: \"most\"", "no way to elide \"most\""},
           {"reduce_by: \"all\"", "no way to reduce \"all\""},
           {"timeout: 0", "a rank may be silent for 1 to 86400 seconds"}}) {
    const Ran ran = run_text(sample("...") + "run main(cyclic) on mpi(" + option + ")\n");
    CHECK(ran.code == 1);
    CHECK_MESSAGE(ran.errors.find("E1003") != std::string::npos, ran.errors);
    CHECK_MESSAGE(ran.errors.find(why) != std::string::npos, ran.errors);
  }
}

}  // namespace taskspec::shard_traces_test
