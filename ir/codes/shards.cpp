#include "ir/codes/families.hpp"

namespace taskspec {
namespace {

constexpr CodeInfo shards_family[] = {
    {.code = "E6001",
     .summary = "control determinism violated",
     .program = R"(let n = rank()                         // through C++, where no type forbids it
launch stencil(p[i]) for i in 0..4 + n)",
     .cause =
         R"(All shards must make the same calls with the same arguments in the same order; the message names the first
call that differs, the shards, and their lines.)",
     .fix =
         R"(Find what differs between shards (a clock, the environment, a file, addresses) and let them agree on it.)",
     .reach = Reach::circumstance},
    {.code = "E6002",
     .summary = "ranks or MPI do not fit",
     .program = R"(print(run work() on mpi(shards: 2))    // started with 4 ranks)",
     .cause =
         R"(There are more ranks than shards, the number of ranks is not the one asked for, the MPI library gives
too little thread support, or the module that calls it, taskspec-mpi.so, belongs to another build than the tool.)",
     .fix = R"(Ask for at least as many shards as ranks; leave --ranks out when started by mpirun. Build or install the
tool and its module together.)",
     .reach = Reach::circumstance},
    {.code = "E6003",
     .summary = "a rank is silent",
     .program = R"(print(run work() on mpi(shards: 4))    // one process hangs)",
     .cause = R"(A rank is alive and has not answered for the time set by --timeout; or a shard has computed for longer
than --task-timeout, where that is set: a task or a loop without an end.)",
     .fix = R"(Look at what it does (the message names its last call), or raise the limit that the message names.)",
     .reach = Reach::circumstance},
    {.code = "E6004",
     .summary = "a rank died",
     .program = R"(print(run work() on mpi(shards: 4))    // one process is killed)",
     .cause = R"(A process of the run ended by a signal; the message names the signal and the last call seen.)",
     .fix = R"(Signal 9 often means that memory ran out: use more machines, or smaller pieces.)",
     .reach = Reach::circumstance},
    {.code = "E6005",
     .summary = "a sharding function went out of range",
     .program = R"(fn far(i: int, size: int, shards: int) -> int { return i }
launch step(p[i]) for i in 0..8 by far)",
     .cause = R"(A sharding function must give a shard from 0 to shards - 1 for every point.)",
     .fix = R"(Take the result modulo `shards`, or use block, cyclic or tiled.)",
     .reach = Reach::circumstance},
    {.code = "E6011",
     .summary = "a receive was not recorded",
     .program = R"(while residual.scalar > 1e-8 { launch step(p[i]) for i in 0..4 }   // under sim scaling)",
     .cause = R"(The simulator does not compute values, and the program's control depends on one.)",
     .fix = R"(Record the values of a real run with `run --record-receives FILE` and give --receives FILE.)",
     .reach = Reach::later},
};
static_assert(is_family(shards_family, 6));

}  // namespace

std::span<const CodeInfo> shard_codes() { return shards_family; }

}  // namespace taskspec
