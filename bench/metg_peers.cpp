// The loops of metg.cpp in oneTBB and OpenMP. Cells of two steps lie in turns; who would write over what others still
// read waits for them.
#include <oneapi/tbb/flow_graph.h>
#include <oneapi/tbb/global_control.h>

#include <algorithm>
#include <array>
#include <deque>

#include "bench/metg.hpp"
#include "ir/base/diag.hpp"

namespace taskspec::bench {

namespace {

// By step: the last two, in turns; all where nobody waits for those who wrote there before.
using Cells = std::vector<std::array<MetgCell, metg_columns>>;
Cells cells_of(const MetgCase& what) { return Cells(what.reads[0].empty() ? metg_steps : 2); }

struct Task {
  Cells* cells;
  std::int64_t step, column, iterations;
  const std::vector<std::int64_t>* reads;

  void operator()() const {
    double start = 1;
    if (step > 0)
      for (const std::int64_t j : *reads) {
        const MetgCell& from = cell(step - 1, j);
        if (from.stamp != step - 1) bug("a peer ran a task before those that it depends on");
        start += 1e-9 * from.value;
      }
    cell(step, column) = {metg_kernel(iterations, start), step};
  }
  MetgCell& cell(std::int64_t s, std::int64_t i) const {
    return (*cells)[static_cast<std::size_t>(s) % cells->size()][static_cast<std::size_t>(i)];
  }
};

bool reads(const MetgCase& what, std::size_t column, std::size_t other) {
  return std::ranges::find(what.reads[column], static_cast<std::int64_t>(other)) != what.reads[column].end();
}

namespace flow = oneapi::tbb::flow;
using Node = flow::continue_node<flow::continue_msg>;

struct TbbLoop {
  flow::graph graph;
  flow::broadcast_node<flow::continue_msg> source{graph};
  std::deque<Node> nodes;

  TbbLoop(const MetgCase& what, std::int64_t iterations, Cells& cells) {
    for (std::size_t s = 0; s < metg_steps; ++s)
      for (std::size_t i = 0; i < metg_columns; ++i) {
        const Task task{&cells, static_cast<std::int64_t>(s), static_cast<std::int64_t>(i), iterations, &what.reads[i]};
        nodes.emplace_back(graph, [task](const flow::continue_msg&) { task(); });
        bool waits = false;
        for (std::size_t j = 0; s > 0 && j < metg_columns; ++j)
          if (reads(what, i, j) || reads(what, j, i)) {
            flow::make_edge(nodes[(s - 1) * metg_columns + j], nodes.back());
            waits = true;
          }
        if (!waits) flow::make_edge(source, nodes.back());
      }
  }
  void run() {
    source.try_put({});
    graph.wait_for_all();
  }
};

}  // namespace

MetgTime metg_tbb(const MetgCase& what, std::int64_t iterations, int repeats) {
  using oneapi::tbb::global_control;
  global_control limit(global_control::max_allowed_parallelism, metg_columns);
  Cells cells = cells_of(what);
  Repeats run, whole;
  for (int i = 0; i < repeats; ++i) {
    const double begin = wall_clock(), cpu = cpu_clock();
    TbbLoop loop(what, iterations, cells);
    loop.run();
    whole.add({wall_clock() - begin, cpu_clock() - cpu});
    for (int again = 0; again < 3; ++again) run.add(measure([&] { loop.run(); }));
  }
  return metg_time(run, whole);
}

#ifdef _OPENMP

namespace {

// Known to who runs it only while it runs.
void openmp_loop(const MetgCase& what, std::int64_t iterations, Cells& cells) {
  const bool is_alone = what.reads[0].empty();
#pragma omp parallel num_threads(metg_columns)
#pragma omp single
  for (std::size_t s = 0; s < metg_steps; ++s)
    for (std::size_t i = 0; i < metg_columns; ++i) {
      const Task task{&cells, static_cast<std::int64_t>(s), static_cast<std::int64_t>(i), iterations, &what.reads[i]};
      if (is_alone) {
#pragma omp task firstprivate(task)
        task();
      } else {  // both patterns read all columns
        [[maybe_unused]] MetgCell* const mine = &cells[s % 2][i];
        [[maybe_unused]] MetgCell* const before = cells[(s + 1) % 2].data();
#pragma omp task firstprivate(task) depend(in : before[0], before[1]) depend(out : mine[0])
        task();
      }
    }
}

}  // namespace

MetgTime metg_openmp(const MetgCase& what, std::int64_t iterations, int repeats) {
  Cells cells = cells_of(what);
  Repeats whole;
  for (int i = 0; i < repeats; ++i) whole.add(measure([&] { openmp_loop(what, iterations, cells); }));
  return metg_time(whole, whole);
}

#else

MetgTime metg_openmp(const MetgCase&, std::int64_t, int) { return {}; }

#endif

}  // namespace taskspec::bench
