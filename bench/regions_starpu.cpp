// The launches of regions.cpp as tasks of StarPU, which finds their dependences from the data that they name.
#include <starpu.h>

#include "bench/regions.hpp"

namespace taskspec::bench {

namespace {

void do_nothing(void**, void*) {}

}  // namespace

StarpuTime starpu_stencil(std::size_t columns, std::size_t steps) {
  starpu_conf conf;
  starpu_conf_init(&conf);
  conf.ncpus = 1;
  conf.ncuda = conf.nopencl = 0;
  if (starpu_init(&conf) != 0) return {};
  starpu_codelet codelet;
  starpu_codelet_init(&codelet);
  codelet.cpu_funcs[0] = do_nothing;
  codelet.nbuffers = 4;
  codelet.modes[0] = STARPU_RW;
  for (int k = 1; k < 4; ++k) codelet.modes[k] = STARPU_R;
  std::vector<double> data(3 * columns);
  std::vector<starpu_data_handle_t> handles(3 * columns);
  for (std::size_t i = 0; i < handles.size(); ++i)
    starpu_variable_data_register(&handles[i], STARPU_MAIN_RAM, reinterpret_cast<std::uintptr_t>(&data[i]),
                                  sizeof(double));
  const Sample sample = measure([&] {
    for (std::size_t t = 0; t < steps; ++t) {
      const std::size_t written = t % 2, read = 1 - written;
      for (std::size_t i = 0; i < columns; ++i) {
        auto of = [&](std::size_t field, std::size_t at) { return handles[field * columns + at]; };
        const std::size_t left = i == 0 ? columns - 1 : i - 1, right = i + 1 == columns ? 0 : i + 1;
        starpu_task_insert(&codelet, STARPU_RW, of(written, i), STARPU_R, of(read, left), STARPU_R, of(read, i),
                           STARPU_R, of(read, right), 0);
      }
    }
    starpu_task_wait_for_all();
  });
  for (starpu_data_handle_t handle : handles) starpu_data_unregister(handle);
  starpu_shutdown();
  return {true, sample.cpu, sample.wall};
}

}  // namespace taskspec::bench
