// The instruction sets of integer_dots that have files of their own.
#pragma once
#include "stdlib/kernels/integer_dots.hpp"

namespace taskspec {

#if defined(__x86_64__)
extern const DotSet dot_set_avx2, dot_set_vnni;
#endif

}  // namespace taskspec
