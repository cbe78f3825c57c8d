// Loops that are worth wide registers: the compiler makes one clone per instruction set, the loader picks the best that
// the processor has. All arithmetic is of integers, so that every clone gives the same bits.
#pragma once

// The loader chooses before ThreadSanitizer is ready, which ends in a crash; its runs take the baseline.
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define TASKSPEC_VECTOR_CLONES __attribute__((target_clones("default", "avx2", "arch=x86-64-v4")))
#else
#define TASKSPEC_VECTOR_CLONES
#endif
