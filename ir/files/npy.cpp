#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ir/files/atomic_write.hpp"
#include "ir/files/formats.hpp"
#include "ir/files/input_file.hpp"
#include "ir/files/npy_header.hpp"

namespace taskspec {

namespace {

void swap_bytes(Array& array) {
  std::size_t width = info(array.precision()).bytes;
  for (std::byte *p = array.raw(), *end = p + array.bytes(); p != end; p += width) std::reverse(p, p + width);
}

// Bools may be any byte in a file, here they are 0 or 1.
void normalise_bools(Array& array) {
  for (std::uint8_t& b : array.data<std::uint8_t>()) b = b != 0;
}

// Elements of width `bytes` from column-major to row-major: walks the target in order and keeps the
// source position by strides.
Array row_major(const Array& source) {
  Array target = Array::make(source.type());
  const Extents& extents = source.extents();
  std::size_t rank = extents.size(), bytes = info(source.precision()).bytes;
  Extents stride(rank), index(rank);
  std::int64_t step = 1;
  for (std::size_t axis = 0; axis < rank; ++axis) stride[axis] = step, step *= extents[axis];
  std::int64_t from = 0;
  for (std::int64_t to = 0, n = source.elements(); to < n; ++to) {
    std::copy_n(source.raw() + static_cast<std::size_t>(from) * bytes, bytes,
                target.raw() + static_cast<std::size_t>(to) * bytes);
    for (std::size_t axis = rank; axis-- > 0;) {
      from += stride[axis];
      if (++index[axis] < extents[axis]) break;
      from -= stride[axis] * extents[axis];
      index[axis] = 0;
    }
  }
  return target;
}

}  // namespace

ArrayType probe_npy(const std::string& path, const FileQuery&) {
  InputFile file(path);
  return read_npy_header(file).type;
}

Array load_npy(const std::string& path, const FileQuery&) {
  InputFile file(path);
  return read_npy(file);
}

Array read_npy(InputFile& file) {
  NpyHeader header = read_npy_header(file);
  Array array = Array::make(header.type);
  file.read({array.raw(), array.bytes()});
  if (header.swapped) swap_bytes(array);
  if (header.type.precision == Precision::boolean) normalise_bools(array);
  return header.fortran_order && array.extents().size() > 1 ? row_major(array) : array;
}

void save_npy(const Array& array, const std::string& path) {
  AtomicFile file(path);
  file.write(npy_header(array.type()));
  file.write(std::span(array.raw(), array.bytes()));
  file.commit();
}

}  // namespace taskspec
