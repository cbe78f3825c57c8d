// The header of an npy file: magic, version, and a dictionary in the notation of Python that tells
// element type, order and shape.
//
//   {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
#pragma once
#include <cstdint>
#include <string>

#include "ir/files/input_file.hpp"
#include "ir/types/array.hpp"

namespace taskspec {

struct NpyHeader {
  ArrayType type;  // what the array becomes
  bool fortran_order = false;
  bool swapped = false;  // the bytes of the elements are in the other order than ours
};

// Leaves `file` at the first element. Throws E7003 unless the file is large enough for all elements.
NpyHeader read_npy_header(InputFile& file);

// Header and elements.
Array read_npy(InputFile& file);

// Version 1, padded so that the elements begin at a multiple of 64.
std::string npy_header(const ArrayType& type);

}  // namespace taskspec
