// The peer of `bench metg`: loops of Task Bench written by hand over MPI, a column on each rank, payloads of 16 bytes.
//
//   mpirun -np 2 metg_mpi          // METG(50%) of each pattern, bulk and nonblocking
//
// METG(50%) is the time of a task, all that belongs to it included, at which half of it is the kernel: below it, more
// time goes into what surrounds a task than into the task. The kernel is a chain of multiply-adds; how often it turns
// is the only thing that varies. E. Slaughter et al., "Task Bench: a parameterized benchmark for evaluating parallel
// runtime performance" (SC 2020).
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr int steps = 1000, repeats = 5;

// What a column gives to those that depend on it: checked, so that a message that is wrong or missing is seen.
struct Stamp {
  long step = -1, column = -1;
};
static_assert(sizeof(Stamp) == 16);

enum class Pattern { trivial, stencil, fft };
enum class Way { bulk, nonblocking };

struct Rank {
  int rank = 0, ranks = 1;
};

// Not taken apart by the compiler, which would see that all turns end in one number.
[[gnu::noipa]] double kernel(double x, long turns) {
  for (long i = 0; i < turns; ++i) x = x * 0.999999 + 1e-6;
  return x;
}

// The columns that one depends on, and that depend on it; without itself.
std::vector<int> partners(Pattern pattern, int step, const Rank& at) {
  std::vector<int> found;
  if (pattern == Pattern::trivial || at.ranks < 2) return found;
  int distance = 1;
  if (pattern == Pattern::fft) {
    int sets = 0;
    while ((1 << sets) < at.ranks) ++sets;
    distance = 1 << ((step - 1) % sets);
  }
  for (const int other : {at.rank - distance, at.rank + distance})
    if (other >= 0 && other < at.ranks) found.push_back(other);
  return found;
}

[[noreturn]] void fail(const char* what) {
  std::fprintf(stderr, "metg_mpi: %s\n", what);
  MPI_Abort(MPI_COMM_WORLD, 1);
  std::abort();
}

// Runs all steps; the seconds of the slowest rank.
double run(Pattern pattern, Way way, long turns, const Rank& at) {
  struct Turn {
    std::vector<int> partners;
    Stamp own;
    Stamp theirs[2];
    MPI_Request receives[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
    MPI_Request sends[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  };
  Turn turn[2];
  double x = 1;
  auto begin_receives = [&](int step) {
    Turn& own = turn[step % 2];
    own.partners = partners(pattern, step, at);
    for (std::size_t i = 0; i < own.partners.size(); ++i)
      MPI_Irecv(&own.theirs[i], sizeof(Stamp), MPI_BYTE, own.partners[i], 0, MPI_COMM_WORLD, &own.receives[i]);
  };
  MPI_Barrier(MPI_COMM_WORLD);
  const double begin = MPI_Wtime();
  for (int step = 0; step < steps; ++step) {
    Turn& own = turn[step % 2];
    if (step > 0) {
      const int count = static_cast<int>(own.partners.size());
      MPI_Waitall(count, own.receives, MPI_STATUSES_IGNORE);
      if (way == Way::bulk) MPI_Waitall(count, own.sends, MPI_STATUSES_IGNORE);
      for (int i = 0; i < count; ++i)
        if (own.theirs[i].step != step - 1 || own.theirs[i].column != own.partners[static_cast<std::size_t>(i)])
          fail("a stamp of another step or column");
    }
    x = kernel(x, turns);
    if (step + 1 == steps) break;
    // Nonblocking: what was sent two steps ago has long left, and is only now asked for.
    Turn& next = turn[(step + 1) % 2];
    MPI_Waitall(2, next.sends, MPI_STATUSES_IGNORE);
    begin_receives(step + 1);
    next.own = {step, at.rank};
    for (std::size_t i = 0; i < next.partners.size(); ++i)
      MPI_Isend(&next.own, sizeof(Stamp), MPI_BYTE, next.partners[i], 0, MPI_COMM_WORLD, &next.sends[i]);
  }
  const double own = MPI_Wtime() - begin;
  for (Turn& last : turn) MPI_Waitall(2, last.sends, MPI_STATUSES_IGNORE);
  double slowest = 0;
  MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  if (x == 0) fail("the kernel was not run");
  return slowest;
}

double least(Pattern pattern, Way way, long turns, const Rank& at) {
  double best = run(pattern, way, turns, at);
  for (int i = 1; i < repeats; ++i) best = std::min(best, run(pattern, way, turns, at));
  return best;
}

// Seconds for a turn of the kernel, while all ranks compute.
double seconds_per_turn() {
  constexpr long turns = 1'000'000;
  double best = 1;
  for (int i = 0; i < repeats; ++i) {
    const double begin = MPI_Wtime();
    const double x = kernel(1, turns);
    best = std::min(best, MPI_Wtime() - begin);
    if (x == 0) fail("the kernel was not run");
  }
  double slowest = 0;
  best /= turns;
  MPI_Allreduce(&best, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  return slowest;
}

// Microseconds of a task at which half of them are the kernel, by bisection on its turns, to 2 %.
double metg(Pattern pattern, Way way, const Rank& at, double per_turn) {
  auto is_efficient = [&](long turns) {
    return static_cast<double>(turns) * per_turn * steps / least(pattern, way, turns, at) >= 0.5;
  };
  long low = 0, high = 1;
  while (!is_efficient(high)) {
    low = high;
    high *= 2;
    if (high > 1L << 24) return -1;
  }
  while (high - low > 1 + high / 50) {
    const long middle = low + (high - low) / 2;
    (is_efficient(middle) ? high : low) = middle;
  }
  return 1e6 * least(pattern, way, high, at) / steps;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  Rank at;
  MPI_Comm_rank(MPI_COMM_WORLD, &at.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &at.ranks);
  const double per_turn = seconds_per_turn();
  if (at.rank == 0)
    std::printf(
        "METG(50%%), us, measured: %d ranks, %d columns, %d steps, payload %zu bytes, a turn of the kernel %.2f ns\n",
        at.ranks, at.ranks, steps, sizeof(Stamp), 1e9 * per_turn);
  struct Row {
    const char* name;
    Pattern pattern;
  };
  for (const Row& row :
       {Row{"stencil_1d", Pattern::stencil}, Row{"fft", Pattern::fft}, Row{"trivial", Pattern::trivial}}) {
    const double bulk = metg(row.pattern, Way::bulk, at, per_turn);
    const double nonblocking = metg(row.pattern, Way::nonblocking, at, per_turn);
    if (at.rank == 0) std::printf("%-10s  mpi bulk %.3f  mpi nonblocking %.3f\n", row.name, bulk, nonblocking);
  }
  MPI_Finalize();
  return 0;
}
