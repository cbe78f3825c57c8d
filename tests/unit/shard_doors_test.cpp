// Runs on shards from a prompt, of one graph by its name, and what watches over them: the same values and reports as in
// a file, and nothing that hangs.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "interp/backends/backends.hpp"
#include "interp/mpi/rank_values.hpp"
#include "interp/mpi/shard_run.hpp"
#include "taskspec/workspace.hpp"
#include "tests/unit/errors.hpp"
#include "tests/unit/programs.hpp"

namespace taskspec::shard_doors_test {

namespace {

constexpr const char* declarations[] = {
    "fields Cell { state: f64, flux: f64 }",
    "task add_one(inout c: Cell[_].{state}) { for i in c { c[i].state += 1.0 } }",
    "task mul_two(inout c: Cell[_].{flux}) { for i in c { c[i].flux *= 2.0 } }",
    "task stencil(inout own: Cell[_].{flux}, in ghost: Cell[_].{state}) {\n"
    "  for i in own { own[i].flux += 0.5 * (ghost[i - 1].state + ghost[i + 1].state) }\n}",
    "fn work(how: sharding, start: float) -> float {\n"
    "  let cells = region Cell[64]\n  let owned = blocks(cells, 4)\n  let interior = owned & shrink(cells, 1)\n"
    "  let ghost = halo(owned, 1)\n  fill(cells.state, 1.0)\n  fill(cells.flux, start)\n"
    "  for t in 0..10 {\n    launch add_one(owned[i]) for i in 0..4 by how\n"
    "    launch mul_two(interior[i]) for i in 0..4 by how\n"
    "    launch stencil(interior[i], ghost[i]) for i in 0..4 by how\n  }\n"
    "  return cells.flux.sum(0).scalar\n}"};

// A prompt in which those stand.
struct Prompt {
  Prompt() {
    for (const char* text : declarations) REQUIRE(work.enter(text).status == Workspace::Status::ok);
  }
  Workspace::Answer enter(const std::string& text) {
    printed.clear();
    return work.enter(text);
  }
  std::string value(const std::string& text) {
    const Workspace::Answer answer = enter(text);
    return answer.value + answer.diagnostics;
  }
  std::string printed;
  Workspace work{[this] {
    Workspace::Options options;
    options.output = [this](std::string_view text) { printed += text; };
    return options;
  }()};
};

}  // namespace

TEST_CASE("at a prompt shards get the call and what it uses, and give the same value and counts [doors]") {
  Prompt prompt;
  CHECK(prompt.value("let one = fill(f64, 1.0)").empty());
  CHECK(prompt.value("run work(cyclic, one.scalar) on host") == "253148");
  for (const char* shards : {"1", "2", "3", "7"}) {
    const std::string on = " on mpi(shards: " + std::string(shards) + ")";
    CHECK(prompt.value("run work(cyclic, one.scalar)" + on) == "253148");
    CHECK(prompt.enter("let r = run work(block, one.scalar)" + on).status == Workspace::Status::ok);
    prompt.enter("print(r.value, r.report.fences, r.report.elided, shards())");
    CHECK(prompt.printed == "253148 21 19 1\n");
  }
}

TEST_CASE("tensors, agents and functions of the prompt go to all shards, and what changes comes back [doors]") {
  Prompt prompt;
  CHECK(
      prompt.enter("fn twice(t: f64[4]) -> float { return work(cyclic, t.sum(0).scalar / 4.0) }").diagnostics.empty());
  CHECK(prompt.enter("let t = fill(f64[4], 0.5)").diagnostics.empty());
  CHECK(prompt.value("run twice(t + 0.5) on mpi(shards: 3)") == "253148");
  prompt.enter(
      "agent Counter {\n  state c: f64 = 0.0\n  task next() -> (y: f64) {\n    c = c + 1.0\n    y = c\n  }\n}");
  prompt.enter("let k = Counter()");
  prompt.enter(
      "fn counts() -> float {\n  let a = k.next()\n  let b = k.next()\n"
      "  return work(block, 1.0) + b.y.scalar\n}");
  CHECK(prompt.value("run counts() on mpi(shards: 3)") == "253150");
  CHECK(prompt.value("run counts() on mpi(shards: 2)") == "253152");
  CHECK(prompt.value("k.next()") == "5");
  prompt.enter("var total = fill(f64, 1.0)");
  prompt.enter("fn adds(inout x: f64) { x = x + work(block, 1.0) }");
  CHECK(prompt.enter("run adds(total) on mpi(shards: 3);").diagnostics.empty());
  CHECK(prompt.value("total") == "253149");
  prompt.enter("fn spread(i: int, n: int, s: int) -> int { return (i + 1) % s }");
  prompt.enter("let how = spread");
  CHECK(prompt.value("run work(how, 1.0) on mpi(shards: 3)") == "253148");
  CHECK(prompt.value("map([1, 2, 3], x => (run work(spread, x as float) on mpi(shards: x)).value)") ==
        "[253148, 316638, 380128]");
}

TEST_CASE(
    "a mapping that a run changes is each shard's own, and what comes back is what one host would leave [doors]") {
  for (const std::string on : {"host", "mpi(shards: 1)", "mpi(shards: 2)", "mpi(shards: 4)"}) {
    Prompt prompt;
    prompt.enter(
        "graph net(x: i8[1, 64]) -> (y: i32[1, 32]) {\n"
        "  let w = (iota(4096) % 7 - 3).reshape(64, 64) as i8[64, 64]\n"
        "  let h = (x @ w).shift_right(6) as i8[1, 64]\n"
        "  y = h @ ((iota(2048) % 5 - 2).reshape(64, 32) as i8[64, 32])\n}");
    prompt.enter("let m = map(net, chip: \"tianjicx\", objective: \"cores\")");
    prompt.enter("let same = [m]");  // one thing, by two names
    prompt.enter(
        "fn tries() -> int {\n  let before = m.estimate().cores\n  m.split(\"matmul\", f: before + 1)\n"
        "  return 100 * before + same[0].estimate().cores\n}");
    for (int again = 0; again < 3; ++again) {
      CHECK_MESSAGE(prompt.value("(run tries() on " + on + ").value") == "102", on);
      CHECK(prompt.value("same[0].estimate().cores") == "2");
      CHECK(prompt.value("m.undo().cores") == "1");
      CHECK(prompt.value("m.undo()").starts_with("error E4049: there is nothing to undo"));
    }
  }
}

TEST_CASE("one of the shards of a prompt is seen, and they agree [doors]") {
  Prompt prompt;
  prompt.enter(
      "fn noisy(n: int) -> float {\n  print(\"hello\", n)\n  if n > 3 { exit(4) }\n"
      "  return work(cyclic, 1.0) + agree(clock()) * 0.0\n}");
  CHECK(prompt.value("run noisy(1) on mpi(shards: 4)") == "253148");
  CHECK(prompt.printed == "hello 1\n");
  const Workspace::Answer ended = prompt.enter("run noisy(5) on mpi(shards: 4)");
  CHECK(ended.exit == 4);
  CHECK(prompt.printed == "hello 5\n");
  CHECK(prompt.value("1 + 1") == "2");
}

TEST_CASE("what goes wrong on the shards of a prompt is told once, and the prompt goes on [doors]") {
  Prompt prompt;
  CHECK(prompt.value("run work(cyclic, 1.0) on mpi(shards: 3, inject: \"1:17:domain\")")
            .starts_with("error E6001: control determinism violated at call 17"));
  prompt.enter("fn far(i: int, n: int, s: int) -> int { return i + 2 }");
  CHECK(prompt.value("run work(far, 1.0) on mpi(shards: 4)").starts_with("error E6005"));
  prompt.enter("let big = region Cell[8]");
  prompt.enter("fn other() -> float { return big.flux.sum(0).scalar }");
  for (int again = 0; again < 20; ++again)
    CHECK(prompt.value("run other() on mpi(shards: 3)").starts_with("error E1004: a region belongs to the session"));
  const Workspace::Text refused = prompt.work.use_backend("mpi(shards: 2)");
  CHECK_FALSE(refused.found);
  CHECK(refused.text.starts_with("error E1009: a program that is written while it runs has no shards as a whole"));
  CHECK(prompt.value("run work(cyclic, 1.0) on mpi(shards: 3)") == "253148");
}

TEST_CASE("a graph by its name runs on shards as a whole [doors]") {
  const std::string text = "let k = fill(f32[4], 3.0)\ngraph scaled(x: f32[4]) -> (y: f32[4]) { y = x * k }\n";
  Sources sources;
  const SourceId id = sources.add("scaled.task", text);
  Result<Program> program = check_text("scaled.task", text, {}, ::standard_toolbox(), sources);
  REQUIRE(program);
  (void)id;
  for (const char* shards : {"1", "2", "5"}) {
    RunSettings settings;
    settings.on = std::make_shared<BackendChoice>(builtin_mpi);
    settings.backend_options = {{"shards", shards}};
    const GraphRun run = run_graph(*program, find_graph(*program, "scaled"),
                                   {Value(Array::make({Precision::f32, {4}}))}, ::standard_toolbox(), settings);
    CHECK(run.exit_code == 0);
    REQUIRE(run.results.size() == 1);
    CHECK(print(Value(run.results[0].second)) == "[0, 0, 0, 0]");
  }
}

TEST_CASE("values of the host go to other ranks as bytes [ranks]") {
  const Value value(Tuple{{Value(true), Value(std::int64_t{-7}), Value(0.1), Value("text"), Value(List{Value(1.5)})}});
  Bytes bytes;
  put_value(bytes, value);
  ByteReader in(bytes);
  CHECK(print(get_value(in)) == print(value));
  CHECK(in.ok());
  CHECK(in.left() == 0);
}

TEST_CASE("a shard that waits is told from one that computes [dead-rank]") {
  using namespace std::chrono_literals;
  ShardWaits waits;
  waits.add(ShardId(2));
  waits.add(ShardId(3));
  const ShardWaits::Clock::time_point now(100s);
  CHECK(waits.is_running(now));  // neither has ever waited
  waits.of(ShardId(2)).waits("a fence", 7, now);
  CHECK(waits.is_running(now));
  waits.of(ShardId(3)).waits("a fence", 7, now);
  CHECK_FALSE(waits.is_running(now + 500ms));
  CHECK(waits.is_running(now + 2s));  // of neither anything was heard for so long
  const std::uint64_t steps = waits.steps();
  for (int look = 1; look <= 20; ++look)
    for (const std::uint32_t shard : {2, 3}) waits.of(ShardId(shard)).waits("a fence", 7, now + look * 10ms);
  CHECK(waits.steps() == steps);
  waits.of(ShardId(2)).waits("a fence", 8, now + 200ms);  // it made a call in between
  CHECK(waits.steps() == steps + 1);
  waits.of(ShardId(3)).waits("a fence", 7, now + 900ms);  // or computed
  CHECK(waits.steps() == steps + 2);
  waits.of(ShardId(3)).ended();
  CHECK_FALSE(waits.is_running(now + 1100ms));
  CHECK(waits.text() == "shard 2 waits for a fence, after call 8\nshard 3 has ended\n");
}

TEST_CASE("where all shards wait and none can go on, each says for what: status 70 [dead-rank]") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    // One waits for the other to come once more, which has come to its end.
    auto group = ShardGroup::open(2, {}, {.silence = 0.4});
    const auto shard = [&](std::uint32_t number) {
      RegionForest forest;
      ShardRun run(group, ShardId(number), forest, {});
      run.barrier();
      if (number == 0)
        run.barrier();
      else
        run.finish();
    };
    std::thread other([&] { shard(1); });
    shard(0);
    _exit(1);
  }
  close(ends[1]);
  std::string told;
  char part[512];
  for (ssize_t got; (got = read(ends[0], part, sizeof part)) > 0;) told.append(part, static_cast<std::size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 70);
  CHECK_MESSAGE(told ==
                    "taskspec: all shards wait, and none can go on; this is a mistake of taskspec\n"
                    "shard 0 waits for all shards to come here, after call 0\n"
                    "shard 1 waits for the end of the others, after call 0\n",
                told);
}

}  // namespace taskspec::shard_doors_test
