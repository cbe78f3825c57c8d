#include "bench/strips_loops.hpp"

#include "ir/base/instruction_sets.hpp"

namespace taskspec::bench {

// Each loop twice: as it stands, and in clones.
#define LOOP(name, result, parameters, ...)                                                                     \
  namespace {                                                                                                   \
  [[gnu::noinline]] result plain_##name parameters{__VA_ARGS__} TASKSPEC_CLONES result wide_##name parameters { \
    __VA_ARGS__                                                                                                 \
  }                                                                                                             \
  }

#define LOOP_OVER(name, parameters, ...) LOOP(name, void, parameters, for (Index i = lo; i < hi; ++i){__VA_ARGS__})

LOOP_OVER(add_one, (double* state, Index lo, Index hi), state[i] += 1.0;)
LOOP_OVER(mul_two, (double* flux, Index lo, Index hi), flux[i] *= 2.0;)
LOOP_OVER(stencil, (double* __restrict flux, const double* __restrict state, Index lo, Index hi),
          flux[i] += 0.5 * (state[i - 1] + state[i + 1]);)
LOOP_OVER(currents,
          (double* __restrict current, const Index* __restrict a, const Index* __restrict b,
           const double* __restrict ohm, const double* __restrict voltage, Index lo, Index hi),
          current[i] = (voltage[a[i]] - voltage[b[i]]) / ohm[i];)
LOOP_OVER(charges,
          (const double* __restrict current, const Index* __restrict a, const Index* __restrict b,
           double* __restrict charge, double dt, Index lo, Index hi),
          charge[a[i]] += -dt * current[i];
          charge[b[i]] += dt * current[i];)
LOOP_OVER(voltages,
          (double* __restrict voltage, double* __restrict charge, const double* __restrict cap, Index lo, Index hi),
          voltage[i] += charge[i] / cap[i];
          charge[i] = 0.0;)
LOOP_OVER(step,
          (double* __restrict x, double* __restrict r, const double* __restrict p, const double* __restrict q,
           double alpha, Index lo, Index hi),
          x[i] += alpha * p[i];
          r[i] += -alpha * q[i];)
LOOP_OVER(turn, (double* __restrict p, const double* __restrict r, double beta, Index lo, Index hi),
          p[i] = r[i] + beta * p[i];)
LOOP_OVER(matvec, (double* __restrict q, const double* __restrict p, Index size, Index lo, Index hi),
          const double left = i > 0 ? p[i - 1] : 0.0, right = i + 1 < size ? p[i + 1] : 0.0;
          q[i] = 2.0 * p[i] - left - right;)
LOOP(dot, double, (const double* __restrict a, const double* __restrict b, Index lo, Index hi), double sum = 0;
     for (Index i = lo; i < hi; ++i) sum += a[i] * b[i]; return sum;)
LOOP(star, void, (double* __restrict b, const double* __restrict a, Index width, Index rows),
     for (Index i = 1; i + 1 < rows; ++i) for (Index j = 1; j + 1 < width; ++j) b[i * width + j] +=
     0.25 * (a[(i - 1) * width + j] + a[(i + 1) * width + j] + a[i * width + j - 1] + a[i * width + j + 1]);)

#define ALL(kind)                                                                                                    \
  {                                                                                                                  \
    kind##_add_one, kind##_mul_two, kind##_stencil, kind##_currents, kind##_charges, kind##_voltages, kind##_matvec, \
        kind##_dot, kind##_step, kind##_turn, kind##_star                                                            \
  }

const StripLoops plain_loops = ALL(plain);
const StripLoops wide_loops = ALL(wide);

}  // namespace taskspec::bench
