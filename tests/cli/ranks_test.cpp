// The tool on several processes: what they agree on, and how a run ends in which something goes wrong. Each ends with
// one message, in seconds, and leaves no process behind.
#include <doctest/doctest.h>
#include <signal.h>

#include <random>

#include "ir/base/text.hpp"
#include "tests/guard/paths.hpp"
#include "tests/shards/mpirun.hpp"
#include "tests/unit/random_cases.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace taskspec::ranks_test {

using namespace marked;

namespace {

constexpr const char* declarations =
    "fields Cell { state: f64, flux: f64 }\n"
    "task add_one(inout c: Cell[_].{state}) { for i in c { c[i].state += 1.0 } }\n"
    "task gather(inout own: Cell[_].{flux}, in ghost: Cell[_].{state}) {\n"
    "  for i in own { own[i].flux += 0.5 * (ghost[i - 1].state + ghost[i + 1].state) }\n}\n"
    "fn heat(steps: int, how: sharding) -> float {\n"
    "  let cells = region Cell[64]\n  let owned = blocks(cells, 4)\n  let interior = owned & shrink(cells, 1)\n"
    "  let ghost = halo(owned, 1)\n  fill(cells.state, 1.0)\n"
    "  for t in 0..steps {\n    launch add_one(owned[i]) for i in 0..4 by how\n"
    "    launch gather(interior[i], ghost[i]) for i in 0..4 by how\n  }\n"
    "  return cells.flux.sum(0).scalar\n}\n";

struct Tool {
  TemporaryFolder folder;
  MarkedOutcome run(const std::string& text, const std::string& options, const Happens& happens = {},
                    const std::string& before = "exec") {
    folder.put("x.task", declarations + text);
    return run_marked("cd " + folder.path().string() + " && " + before + " \"$0\" run x.task " + options,
                      taskspec_binary().string(), happens);
  }
};

std::size_t errors_in(const std::string& text) {
  std::size_t count = 0;
  for (const std::string_view line : taskspec::lines_of(text)) count += line.starts_with("error ");
  return count;
}

void check_ended(const MarkedOutcome& outcome, const std::string& message, int status = 3) {
  CAPTURE(outcome.err);
  CHECK(outcome.status == status);
  CHECK(outcome.err.find(message) != std::string::npos);
  CHECK(errors_in(outcome.err) == 1);
  CHECK(outcome.left == 0);
}

// The process that is this rank of the tool.
pid_t rank_of(const std::string& mark, std::size_t rank) {
  const std::string variable = "OMPI_COMM_WORLD_RANK=" + std::to_string(rank);
  for (const pid_t process : processes_of(mark)) {
    std::error_code none;
    const std::string folder = "/proc/" + std::to_string(process);
    if (fs::read_symlink(folder + "/exe", none) != fs::canonical(taskspec_binary(), none)) continue;
    if (std::string('\0' + file_of(folder + "/environ")).find('\0' + variable + '\0') != std::string::npos)
      return process;
  }
  return 0;
}

// Its descriptors of the starter: it has told who it is, and a death is that of a rank.
bool has_begun(pid_t process) {
  return process > 0 &&
         file_of("/proc/" + std::to_string(process) + "/maps").find("taskspec-mpi.so") != std::string::npos;
}

}  // namespace

TEST_CASE("ranks agree on what the first one has, and know who they are [ranks]") {
  if (!has_mpirun()) return;
  Tool tool;
  const std::string text =
      "let all = agree(rank() + 10)\nlet begin = agree(clock())\nlet said = agree([\"a\", env(\"HOME\")])\n"
      "fn timed(t: float) -> float {\n  let u = agree(clock())\n  var x = heat(3, cyclic)\n"
      "  if agree(t) < 0.0 { x = heat(3, block) }\n  return x + 0.0 * u\n}\n"
      "let r = run timed(begin) on mpi(shards: 4)\n"
      "for k in 0..100 { assert(agree(rank() * 0 + k) == k) }\nassert(all == 10)\n"
      "print(r.value, all, rank(), said[0])\n";
  const MarkedOutcome one = tool.run(text, ""), two = tool.run(text, "--ranks 2"),
                      bare = tool.run(text, "", {}, mpirun + " -np 2");
  CHECK(one.out == "558 10 0 a\n");
  for (const MarkedOutcome* ranks : {&two, &bare}) {
    CAPTURE(ranks->err);
    CHECK(ranks->status == 0);
    CHECK(ranks->out == one.out);
    CHECK(ranks->left == 0);
  }
  // Each process knows its own number: the second one alone fails, and says so.
  const MarkedOutcome second =
      tool.run("assert(rank() == 0, msg: \"only the first\")\nprint(run heat(200, block) on mpi)\n", "--ranks 2");
  check_ended(second, "error E5005: assertion failed: only the first");
  CHECK(second.err.find("note: on rank 1") != std::string::npos);
}

TEST_CASE("one graph by its name runs on ranks, and is shown once [doors][ranks]") {
  if (!has_mpirun()) return;
  Tool tool;
  const std::string text = "graph twice(x: f32[4]) -> (y: f32[4]) { y = x * 2.0 }\n";
  for (const char* where : {"--on mpi --shards 3", "--on mpi --shards 4 --ranks 2"}) {
    const MarkedOutcome outcome = tool.run(text, "--name twice -D x=[1,2,3,4] " + std::string(where));
    CAPTURE(outcome.err);
    CHECK(outcome.status == 0);
    CHECK(outcome.out == "y: [2, 4, 6, 8]\n");
  }
}

TEST_CASE("of several shards one writes a file, whatever is written [ranks]") {
  if (!has_mpirun()) return;
  Tool tool;
  // Each of these names shows how often it is written to: the output is a pipe, in which nothing is overwritten.
  for (const char* name : {"graph.dot", "record.json", "mapping.json", "text.txt"})
    fs::create_symlink("/dev/stdout", tool.folder.path() / name);
  const std::string text =
      "graph twice(x: f32[4]) -> (y: f32[4]) { y = x * 2.0 }\n"
      "ir net {\n  x: SIC i8 [y: 1, x: 1, r: 4]\n"
      "  w: SW i8 [f: 2, r: 4, ky: 1, kx: 1] = iota(8).reshape(2, 4, 1, 1) as i8[2, 4, 1, 1]\n"
      "  c: CC i32 [y: 1, x: 1, f: 2, r: 4, ky: 1, kx: 1, iy: 1, ix: 1]\n  z: SO i32 [y: 1, x: 1, f: 2]\n"
      "  x -> c.input; w -> c.weight; c -> z\n}\n"
      "fn work(n: int) -> int {\n  export(twice, \"graph.dot\")\n  export(check(twice), \"record.json\")\n"
      "  map(net, chip: \"tianjicx\").save(\"mapping.json\")\n"
      "  write(\"text.txt\", \"a text\\n\")\n  return n\n}\n"
      "print((run work(3) on mpi(shards: 3)).value)\n";
  for (const char* where : {"| cat", "--ranks 2 | cat"}) {
    const MarkedOutcome outcome = tool.run(text, where);
    CAPTURE(outcome.err);
    CAPTURE(outcome.out);
    CHECK(outcome.status == 0);
    const auto times = [&](std::string_view part) {
      std::size_t count = 0, at = 0;
      for (; (at = outcome.out.find(part, at)) != std::string::npos; at += part.size()) ++count;
      return count;
    };
    CHECK(times("digraph \"twice\"") == 1);
    CHECK(times("{\"acyclic\":true") == 1);
    CHECK(times("\"taskspec-mapping\"") == 1);
    CHECK(times("a text") == 1);
    CHECK(outcome.out.ends_with("3\n"));
  }
}

TEST_CASE("killed at any moment, a rank of the tool takes the run with it: one message, in seconds [dead-rank][D29]") {
  if (!has_mpirun()) return;
  for (const std::uint64_t seed : random_seeds(3, 200)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const std::size_t who = random() % 2;
    const auto after = std::chrono::microseconds(random() % 400'000);
    Tool tool;
    std::chrono::steady_clock::time_point killed;
    const MarkedOutcome outcome = tool.run("print(run heat(2000000, cyclic) on mpi(shards: 4))\n", "--ranks 2",
                                           [&](pid_t, const std::string& mark) {
                                             if (!comes_true([&] { return has_begun(rank_of(mark, who)); })) return;
                                             std::this_thread::sleep_for(after);
                                             killed = std::chrono::steady_clock::now();
                                             ::kill(rank_of(mark, who), SIGKILL);
                                           });
    check_ended(outcome, "error E6004: rank " + std::to_string(who) + " ");
    // How it died mpirun may miss while MPI begins: that it is gone is told all the same.
    CHECK((outcome.err.find(" died (signal 9)") != std::string::npos ||
           outcome.err.find(" is gone, which mpirun did not notice") != std::string::npos));
    // Seconds on a machine that is free; what must not be is that it waits for ever.
    CHECK(std::chrono::steady_clock::now() - killed < std::chrono::seconds(60));
    CHECK(outcome.out.empty());
  }
}

TEST_CASE("a rank that leaves, or whose shards part, ends the run: one message [dead-rank][D29]") {
  if (!has_mpirun()) return;
  Tool tool;
  check_ended(tool.run("if rank() == 1 { exit(0) }\nprint(run heat(3, cyclic) on mpi)\n", "--ranks 2"),
              "error E6004: rank 1 has ended before the others");
  check_ended(tool.run("print(run heat(3, cyclic) on mpi(shards: 4))\n", "--ranks 2 --inject 2:9:domain"),
              "error E6001: control determinism violated at call 9");
  check_ended(
      tool.run("fn far(i: int, n: int, s: int) -> int { return i + 2 }\nprint(run heat(3, far) on mpi(shards: 4))\n",
               "--ranks 2"),
      "error E6005: the sharding gives shard 4 for point 2 of 4");
}

// Each of the two waits for what the other one will never say: only that they tell one another how far they are helps.
TEST_CASE("ranks that make other numbers of calls find out while they wait [dead-rank][D29]") {
  if (!has_mpirun()) return;
  Tool tool;
  tool.folder.put("x.task",
                  std::string(declarations) +
                      "let n = 3\nfn work(steps: int) { print(heat(steps, cyclic)) }\nrun work(n) on mpi(shards: 2)\n");
  const auto with = [](int steps) { return "x.task --timeout 60 -D n=" + std::to_string(steps); };
  for (const auto& [one, other] : {std::pair(3, 40), std::pair(200, 150)}) {
    const MarkedOutcome outcome = run_two(tool.folder.path(), taskspec_binary().string(), with(one), with(other));
    CAPTURE(outcome.err);
    CHECK(outcome.status == 3);
    CHECK(outcome.err.find("error E6001: control determinism violated at call ") != std::string::npos);
    CHECK(outcome.left == 0);
  }
}

TEST_CASE("nothing is written before all shards are known to have come to it alike [files][D17]") {
  Tool tool;
  const std::string begin =
      "fields One { a: f64 }\ntask up(inout c: One[_].{a}) { for i in c { c[i].a += 1.0 } }\n"
      "fn main() {\n  let r = region One[64]\n  let p = blocks(r, 4)\n  launch up(p[i]) for i in 0..4\n";
  const std::string end = "  print(r.a.sum(0).scalar)\n}\nrun main() on mpi(shards: 3)\n";
  for (const char* write :
       {"  detach(r, file: \"out.npy\")\n", "  detach(p, files: c => format(\"out{}.npy\", c))\n"}) {
    const std::string text = begin + write + end;
    check_ended(tool.run(text, "--inject 1:4:domain"), "error E6001: control determinism violated at call 4");
    for (const auto& entry : fs::directory_iterator(tool.folder.path()))
      CHECK_MESSAGE(entry.path().extension() != ".npy", entry.path().string());
  }
}

// 3 of 4 shards have something that shard 0 has not.
TEST_CASE("a file of a whole region: what others hold goes to the shard that writes it, and to no other [files][D21]") {
  Tool tool;
  const MarkedOutcome outcome = tool.run(
      "fields One { a: f64 }\ntask up(inout c: One[_].{a}) { for i in c { c[i].a += 1.0 } }\n"
      "fn main() {\n  let r = region One[4096]\n  let p = blocks(r, 4)\n  launch up(p[i]) for i in 0..4\n"
      "  detach(r, file: \"out.npy\")\n}\n"
      "let r = run main() on mpi(shards: 4)\nprint(r.report.messages, r.report.bytes)\n",
      "");
  CHECK(outcome.out == "3 24576\n");
  CHECK(outcome.status == 0);
}

TEST_CASE("a graph of dependences that cannot be written is told, on any number of shards [files]") {
  Tool tool;
  for (int k = 0; k < 8; ++k)
    check_ended(tool.run("print(run heat(3, cyclic) on mpi(shards: " + std::to_string(1 + k % 4) + "))\n",
                         "--dump-dep nowhere/d.json"),
                "error E7004: cannot write 'nowhere/d.json'");
}

TEST_CASE("a program that ends itself on ranks has its own status, wherever the others are [ranks][D29]") {
  if (!has_mpirun()) return;
  Tool tool;
  for (const char* options : {"--on mpi --shards 4 --ranks 2", "--on mpi --shards 2 --ranks 2"}) {
    const MarkedOutcome outcome = tool.run(
        "for t in 0..5 {\n  print(t)\n  if t == 3 {\n    print(heat(3, cyclic))\n    exit(5)\n  }\n}\n", options);
    CAPTURE(outcome.err);
    CHECK(outcome.status == 5);
    CHECK(outcome.out == "0\n1\n2\n3\n" + tool.run("print(heat(3, cyclic))\n", "").out);
    CHECK(errors_in(outcome.err) == 0);
    CHECK(outcome.left == 0);
  }
}

TEST_CASE("a run on shards inside of another one comes to the same on ranks [ranks]") {
  if (!has_mpirun()) return;
  Tool tool;
  const std::string text =
      "print(heat(2, block))\n"
      "for k in 0..3 {\n  let r = run heat(k + 1, cyclic) on mpi(shards: k + 2)\n"
      "  print(r.value, r.report.fences, shards())\n}\n"
      "fn both() -> float { return heat(2, cyclic) + (run heat(4, block) on mpi(shards: 3)).value }\n"
      "print((run both() on mpi(shards: 4)).value, heat(4, cyclic))\n";
  for (const int shards : {2, 4, 5}) {
    const std::string on = "--on mpi --shards " + std::to_string(shards);
    const MarkedOutcome one = tool.run(text, on), two = tool.run(text, on + " --ranks 2");
    CAPTURE(two.err);
    CHECK(one.status == 0);
    CHECK(two.status == 0);
    CHECK(two.out == one.out);
    CHECK(two.left == 0);
  }
}

TEST_CASE("what fails beside or inside of a run within another one is told once [ranks][D29]") {
  Tool tool;
  const std::string text =
      "fields F { a: f64 }\n"
      "task up(inout v: F[_].{a}) { for i in v { v[i].a += 1.0 } }\n"
      "task late(inout v: F[_].{a}, n: int) {\n"
      "  for i in v { for k in 0..n * i { v[i].a += 1.0 } }\n  for i in v { v[i + i / 3].a += 1.0 }\n}\n"
      "fn inside(n: int) -> float {\n  let r = region F[4]\n  let p = blocks(r, 4)\n"
      "  launch late(p[i], 0) for i in 0..n\n  return r.a.sum(0).scalar\n}\n"
      "fn work(n: int) -> float {\n  let r = region F[4]\n  let q = region F[4]\n"
      "  let p = blocks(r, 4)\n  let o = blocks(q, 4)\n"
      "  launch up(o[i]) for i in 0..4\n  launch late(p[i], 1000000) for i in 0..n\n"
      "  print(q.a.sum(0).scalar)\n  return (run inside(4 - n) on mpi(shards: 2)).value\n}\n";
  std::vector<std::string> places = {""};
  if (has_mpirun()) places.push_back(" --ranks 2");
  for (const std::string& where : places) {
    const MarkedOutcome outside = tool.run(text + "run work(4) on mpi(shards: 2)\n", where);
    check_ended(outside, "error E5003: v[4].a: the view has no such point, in task late[3], on shard 1");
    const MarkedOutcome inside = tool.run(text + "run work(0) on mpi(shards: 2)\n", where);
    check_ended(inside, "error E5003: v[4].a: the view has no such point, in task late[3], on shard 1");
    CHECK(inside.out == "4\n");
  }
}

TEST_CASE("a run inside of another one is no shard that computes for too long [dead-rank]") {
  Tool tool;
  const std::string text =
      "fn work() -> float { return (run heat(150000, cyclic) on mpi(shards: 2)).value }\n"
      "print((run work() on mpi(shards: 2)).value > 0.0)\n";
  const MarkedOutcome outcome = tool.run(text, "--task-timeout 1");
  CAPTURE(outcome.err);
  CHECK(outcome.out == "true\n");
}

TEST_CASE("a point that fails on one of the ranks is told with its task, its point and its shard [dead-rank]") {
  if (!has_mpirun()) return;
  Tool tool;
  const MarkedOutcome outcome = tool.run(
      "fields F { a: f64, at: int }\n"
      "task touch(inout v: F[_].{a}, in w: F[_].{at}) { for i in v { v[i].a += v[w[i].at].a } }\n"
      "task bend(inout w: F[_].{at}) { for i in w { w[i].at += 90 } }\n"
      "task own(inout w: F[_].{at}) { for i in w { w[i].at = i } }\n"
      "fn work() {\n  let r = region F[16]\n  let p = blocks(r, 8)\n"
      "  launch own(p[i]) for i in 0..8\n  launch bend(p[7 - i]) for i in 0..1\n"
      "  launch touch(p[i], p[i]) for i in 0..8\n  print(r.a.sum(0).scalar)\n}\nrun work() on mpi(shards: 4)\n",
      "--ranks 2");
  check_ended(outcome, "error E5003: v[104].a: the view has no such point, in task touch[7], on shard 3");
  CHECK(outcome.out.empty());
}

TEST_CASE("a task or a loop without an end is told after --task-timeout, on threads and on ranks [dead-rank][D29]") {
  Tool tool;
  const std::string text =
      "task spin(inout c: Cell[_].{state}) { for i in c { for k in 0..1000000000000 { c[i].state += 1.0 } } }\n"
      "fn work() -> float {\n  let r = region Cell[4]\n  let p = blocks(r, 4)\n"
      "  launch spin(p[i]) for i in 0..4\n  return r.state.sum(0).scalar\n}\n"
      "print((run work() on mpi(shards: 2)).value)\n";
  const std::string message = " has computed for 1 s without coming to another call; last call seen ";
  check_ended(tool.run(text, "--task-timeout 1"), message);
  check_ended(tool.run(text, "--task-timeout 1 --shards 1"), message);
  const std::string loop =
      "fn work() -> int {\n  var s = 0\n  while true { s += 1 }\n  return s\n}\n"
      "print((run work() on mpi(shards: 2)).value)\n";
  check_ended(tool.run(loop, "--task-timeout 1"), message);
  CHECK(tool.run("print(run heat(3, cyclic) on mpi(shards: 4))\n", "--task-timeout 60").status == 0);
  check_ended(tool.run("print(run heat(3, cyclic) on mpi(shards: 4))\n", "--task-timeout -1"),
              "error E5003: a task may take 1 to 86400 seconds", 3);
  if (has_mpirun()) check_ended(tool.run(text, "--ranks 2 --task-timeout 1"), message);
}

TEST_CASE("ranks that do not fit are refused before anything runs [dead-rank]") {
  if (!has_mpirun()) return;
  Tool tool;
  const std::string text = "print(run heat(3, cyclic) on mpi)\n";
  check_ended(tool.run(text, "--ranks 3 --shards 2"), "error E6002: 2 shards on 3 ranks: a rank would have none");
  check_ended(tool.run(text, "--ranks 3", {}, mpirun + " -np 2"),
              "error E6002: 3 ranks asked for, but mpirun started 2\n  = help: leave --ranks out under mpirun");
  check_ended(tool.run(text, "--ranks 2", {}, "PATH=/nowhere exec"), "error E6002: there is no mpirun in PATH");
}

TEST_CASE("a file that the first rank alone has is read there, and written there [ranks][files]") {
  if (!has_mpirun()) return;
  const TemporaryFolder folder;
  const std::string text =
      "fields One { a: f64 }\ntask up(inout v: One[_].{a}) { for i in v { v[i].a += 1.0 } }\n"
      "fn work(name: string) -> float {\n  let r = region One[64]\n  let p = blocks(r, 8)\n  attach(r, file: name)\n"
      "  launch up(p[i]) for i in 0..8 by cyclic\n  detach(r)\n  return r.a.sum(0).scalar\n}\n"
      "print((run work(\"x.npy\") on mpi(shards: 4)).value)\n";
  for (const char* place : {"one", "two"}) {
    fs::create_directories(folder.path() / place);
    folder.put(std::string(place) + "/x.task", text);
  }
  folder.put("one/sum.task", "print(load(f64[64], \"x.npy\").sum(0)[0].scalar)\n");
  folder.put("one/make.task", "save(iota(64) as f64[64], \"x.npy\")\n");
  const std::string tool = taskspec_binary().string();
  REQUIRE(run_marked("cd " + (folder / "one") + " && exec \"$0\" run make.task", tool).status == 0);
  const MarkedOutcome outcome = run_two(folder.path(), tool, "one/x.task", "two/x.task");
  CAPTURE(outcome.err);
  CHECK(outcome.status == 0);
  CHECK(outcome.out == "2080\n");
  CHECK(run_marked("exec \"$0\" run '" + (folder / "one/sum.task") + "'", tool).out == "2080\n");  // written back
  CHECK_FALSE(fs::exists(folder.path() / "two/x.npy"));
  CHECK_FALSE(fs::exists(folder.path() / "x.npy"));
  // Where it has none, all say so, though another one has it.
  const MarkedOutcome none = run_two(folder.path(), tool, "two/x.task", "one/x.task");
  CAPTURE(none.err);
  CHECK(none.status == 3);
  CHECK(errors_in(none.err) == 1);
  CHECK(none.err.find("error E7001: no file '") != std::string::npos);
  CHECK(none.left == 0);
}

TEST_CASE("a file that ends too soon and a disk that is full are told once by all ranks [dead-rank][files]") {
  if (!has_mpirun()) return;
  Tool tool;
  std::string head = "\x93NUMPY\x01";
  head += std::string("\0\x76\0", 3) + "{'descr': '<f8', 'fortran_order': False, 'shape': (64,), }";
  head.resize(127, ' ');
  tool.folder.put("short.npy", head + "\n" + std::string(100, '\0'));
  const std::string fields = "fields One { a: f64 }\nfn work(name: string) {\n  let r = region One[64]\n";
  check_ended(tool.run(fields + "  attach(r, file: name)\n  print(r.a.sum(0).scalar)\n}\n"
                                "run work(\"short.npy\") on mpi(shards: 4)\n",
                       "--ranks 2"),
              "error E7");
  // What a disk without room looks like to whoever writes: the old file stays, as it was.
  const auto written = [&](const std::string& name) {
    return "fields One { a: f64 }\nfn work(name: string) {\n  let r = region One[4000]\n  fill(r.a, 2.0)\n"
           "  detach(r, file: name)\n}\nrun work(\"" +
           name + "\") on mpi(shards: 4)\n";
  };
  fs::create_symlink("/dev/full", tool.folder.path() / "full.npy");
  check_ended(tool.run(written("full.npy"), "--ranks 2"),
              "error E7004: cannot write 'full.npy': no space left on device");
  tool.folder.put("out.npy", "old");
  check_ended(tool.run(written("out.npy"), "", {}, "trap '' XFSZ; ulimit -f 8; exec"),
              "error E7004: cannot write 'out.npy'");
  CHECK(file_of((tool.folder.path() / "out.npy").string()) == "old");
  const MarkedOutcome full = tool.run("print(run heat(3, cyclic) on mpi(shards: 4))\n", "--ranks 2 >/dev/full");
  CAPTURE(full.err);
  CHECK(full.status == 3);
  CHECK(errors_in(full.err) == 1);
  CHECK(full.left == 0);
}

}  // namespace taskspec::ranks_test
