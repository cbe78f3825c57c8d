// A rank that lives and says nothing, where the command line says for how long it may.
#include <doctest/doctest.h>

#include "tests/guard/tool.hpp"

namespace taskspec::silent_rank_test {

namespace {

// Prints from time to time, for ever.
constexpr const char* endless =
    "fields C { a: f64 }\ntask inc(inout c: C[_].{a}) { for i in c { c[i].a += 1.0 } }\n"
    "fn main() {\n  let r = region C[64]; let p = blocks(r, 4)\n  fill(r.a, 0.0); var t = 0\n"
    "  while true {\n    launch inc(p[i]) for i in 0..4\n    t += 1\n"
    "    if t % 100 == 0 { print(r.a.sum(0).scalar) }\n  }\n}\nrun main() on mpi(shards: 2)\n";

// Stops one of the processes that mpirun has started, once the program runs; tells what the tool makes of it.
constexpr const char* stop_one =
    "taskspec run p.task --ranks 2 --timeout 5 > out 2> err & tool=$!\n"
    "until [ -s out ] || ! kill -0 $tool 2>/dev/null; do sleep 0.1; done\n"
    "starter=$(cat /proc/$tool/task/*/children)\n"
    "for rank in $(cat /proc/${starter%% *}/task/*/children); do :; done\n"
    "kill -STOP $rank; wait $tool; code=$?; kill -CONT $rank 2>/dev/null; cat err >&2; exit $code";

}  // namespace

TEST_CASE("a rank that is silent for longer than --timeout is named, and all end [dead-rank][D20]") {
  TemporaryFolder folder;
  folder.put("one.task", "print(1)\n");
  if (in_shell("taskspec run one.task --ranks 2", folder).code != 0) {
    MESSAGE("no mpirun here, or built without MPI");
    return;
  }
  folder.put("p.task", endless);
  const ToolOutcome run = in_shell(stop_one, folder);
  CHECK(run.code == 3);
  CHECK_MESSAGE(run.err.find("error E6003: rank 1 is alive and has not answered for 5 s") != std::string::npos,
                run.err);
  CHECK(run.err.find("--timeout") != std::string::npos);
}

}  // namespace taskspec::silent_rank_test
