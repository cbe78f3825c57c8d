// Two processes that were not given the same program, arguments or files: what differs is named by its call, its
// argument and its line, though nothing else of the two runs would tell. And that of their files one is written once.
#include <doctest/doctest.h>

#include "tests/guard/paths.hpp"
#include "tests/shards/mpirun.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace taskspec::divergence_test {

using namespace marked;

namespace {

std::string program(const std::string& step, const std::string& first = "d") {
  return "fields Cell { a: f64 }\n"
         "task up(inout c: Cell[_].{a}, in d: float) { for i in c { c[i].a += " +
         step +
         " } }\n"
         "fn main(n: float, d: float = 1.0) -> float {\n"
         "  let r = region Cell[64]\n  let p = blocks(r, 4)\n  fill(r.a, " +
         first +
         ")\n"
         "  launch up(p[i], n) for i in 0..4\n  return r.a.sum(0).scalar\n}\n";
}

MarkedOutcome run_two(TemporaryFolder& folder, const std::string& one, const std::string& other) {
  return marked::run_two(folder.path(), taskspec_binary().string(), one, other);
}

void check_differs(const MarkedOutcome& outcome, const std::string& message) {
  CAPTURE(outcome.err);
  CHECK(outcome.status == 3);
  CHECK(outcome.err.find(message) != std::string::npos);
  CHECK(outcome.left == 0);
}

}  // namespace

TEST_CASE("texts, -D and captured values that differ are named by the first call [D16][ranks]") {
  if (!has_mpirun()) return;
  TemporaryFolder folder;
  const std::string run = "print((run main(3.0) on mpi(shards: 2)).value)\n";
  folder.put("a.task", program("d") + run);
  folder.put("b.task", program("2.0 * d") + run);
  check_differs(run_two(folder, "a.task", "b.task"), ":10): shard {0} program ");
  check_differs(run_two(folder, "a.task -D d=1.0", "a.task -D d=2.0"),
                ":10): shard {0} arguments \"-D d=1.0\", shard {1} arguments \"-D d=2.0\"");
  check_differs(run_two(folder, "a.task -- x", "a.task -- y"), "shard {0} arguments \"x\", shard {1} arguments \"y\"");
  check_differs(run_two(folder, "a.task --reduce shard", "a.task"),
                ":10): shard {0} arguments \"--reduce shard\", shard {1} arguments \"\"");
  const MarkedOutcome same = run_two(folder, "a.task", "a.task");
  CAPTURE(same.err);
  CHECK(same.status == 0);
  CHECK(same.out == "256\n");
}

TEST_CASE("contents of files that differ are named where they are used, with the line [D16][ranks]") {
  if (!has_mpirun()) return;
  TemporaryFolder folder;
  for (const std::string at : {"one", "two"}) {
    std::error_code none;
    fs::create_directories(folder.path() / at, none);
    folder.put(at + "/x.task", "let x = load(f64[64], \"x.npy\")\n" + program("d", "x * 2.0") +
                                   "print((run main(3.0) on mpi(shards: 2)).value)\n");
    folder.put(at + "/n.task", "let n = load(f64[64], \"x.npy\").sum(0).scalar\n" + program("d") +
                                   "print((run main(n) on mpi(shards: 2)).value)\n");
    folder.put(at + "/make.task", "save(fill(f64[64], " + std::string(at == "one" ? "1.0" : "2.0") + "), \"x.npy\")\n");
    const MarkedOutcome made = run_marked("cd " + (folder.path() / at).string() + " && exec \"$0\" run make.task",
                                          taskspec_binary().string(), {});
    CHECK(made.status == 0);
  }
  check_differs(run_two(folder, "one/x.task", "two/x.task"), "x.task:5): shard {0} sent ");
  check_differs(run_two(folder, "one/n.task", "two/n.task"), "shard {0} capture 1 64, shard {1} capture 1 128");
}

TEST_CASE("a run on the host inside of shards writes its file once, on all ranks together [D21][ranks]") {
  if (!has_mpirun()) return;
  TemporaryFolder folder;
  folder.put("a.task",
             "fields F { a: f64 }\ntask up(inout v: F[_].{a}) { for i in v { v[i].a += 1.0 } }\n"
             "fn bump(name: string) { let r = region F[4]; attach(r, file: name); up(r); detach(r) }\n"
             "fn main() -> float {\n  detach(region F[4], file: \"c.npy\")\n"
             "  for k in 0..10 { run bump(\"c.npy\") on host }\n"
             "  return load(f64[_], \"c.npy\").sum(0)[0].scalar\n}\n"
             "print((run main() on mpi(shards: 4)).value)\n");
  const MarkedOutcome outcome =
      run_marked("cd " + folder.path().string() + " && exec \"$0\" run a.task --ranks 2", taskspec_binary().string());
  CAPTURE(outcome.err);
  CHECK(outcome.status == 0);
  CHECK(outcome.out == "40\n");
}

}  // namespace taskspec::divergence_test
