// While one lives, OpenMP code called from this thread stays on it: the workers of our pool split the
// work themselves. Included by the dense_*.cpp files only.
#pragma once
#include <omp.h>

namespace taskspec {

class SingleThreaded {
 public:
  SingleThreaded() : before_(omp_get_max_threads()) { omp_set_num_threads(1); }
  ~SingleThreaded() { omp_set_num_threads(before_); }
  SingleThreaded(const SingleThreaded&) = delete;
  SingleThreaded& operator=(const SingleThreaded&) = delete;

 private:
  int before_;
};

}  // namespace taskspec
