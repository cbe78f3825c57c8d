// How much memory and time the reading of a hostile file may take: a multiple of what there is to read.
#pragma once
#include <cstdint>

namespace taskspec {

// From here on the process may take what a file of so many bytes is worth. Beyond it std::bad_alloc is thrown.
void bound_memory(std::uint64_t file_bytes);
// A further file, which the first one names, is to be read.
void allow_memory(std::uint64_t more_bytes);

// Beyond so many seconds of computing the process ends: libhdf5 goes round in circles in some broken files.
void bound_time(std::uint64_t file_bytes);

}  // namespace taskspec
