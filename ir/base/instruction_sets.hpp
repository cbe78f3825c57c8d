// Run-time choice of the instruction set for hot loops: the compiler makes one clone of the function per set
// and the loader picks the best one that the processor has. Give the function's own types no linkage (an
// anonymous namespace), and keep arithmetic uncontracted, so that every clone gives the same bits.
//
//   template <class T>
//   TASKSPEC_CLONES void scale(T* x, std::int64_t count) { ... }
#pragma once

// The loader chooses before ThreadSanitizer is ready, which ends in a crash; its runs take the baseline.
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define TASKSPEC_CLONES __attribute__((target_clones("default", "avx2", "arch=x86-64-v4")))
#else
#define TASKSPEC_CLONES
#endif
