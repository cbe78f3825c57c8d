// The loops that bodies over views are compared with, as one writes them in C++: pointers that do not alias. Compiled
// apart at -O3 for the baseline of the processor, and once more with the wider instruction sets that the kernels have.
#pragma once
#include <cstddef>
#include <cstdint>

namespace taskspec::bench {

using Index = std::int64_t;

struct StripLoops {
  void (*add_one)(double* state, Index lo, Index hi);
  void (*mul_two)(double* flux, Index lo, Index hi);
  void (*stencil)(double* flux, const double* state, Index lo, Index hi);
  void (*currents)(double* current, const Index* a, const Index* b, const double* ohm, const double* voltage, Index lo,
                   Index hi);
  void (*charges)(const double* current, const Index* a, const Index* b, double* charge, double dt, Index lo, Index hi);
  void (*voltages)(double* voltage, double* charge, const double* cap, Index lo, Index hi);
  void (*matvec)(double* q, const double* p, Index size, Index lo, Index hi);
  double (*dot)(const double* a, const double* b, Index lo, Index hi);
  void (*step)(double* x, double* r, const double* p, const double* q, double alpha, Index lo, Index hi);
  void (*turn)(double* p, const double* r, double beta, Index lo, Index hi);
  void (*star)(double* b, const double* a, Index width, Index rows);
};

extern const StripLoops plain_loops, wide_loops;

}  // namespace taskspec::bench
