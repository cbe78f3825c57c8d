// The format of MNIST: two zero bytes, a code for the element type, the rank, the extents and then the elements, all
// numbers big-endian.
#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "ir/files/atomic_write.hpp"
#include "ir/files/formats.hpp"
#include "ir/files/input_file.hpp"
#include "ir/files/zip.hpp"

namespace taskspec {

namespace {

struct ElementCode {
  unsigned char code;
  Precision precision;
};
constexpr ElementCode element_codes[] = {{0x08, Precision::u8},  {0x09, Precision::i8},  {0x0B, Precision::i16},
                                         {0x0C, Precision::i32}, {0x0D, Precision::f32}, {0x0E, Precision::f64}};

InputFile opened(const std::string& path) {
  InputFile file(path);
  if (!path.ends_with("gz") && !path.ends_with("GZ")) return file;
  return InputFile(path, gunzipped(file));
}

// Leaves the file at the first element, and makes sure that all of them are there.
ArrayType read_header(InputFile& file) {
  unsigned char start[4] = {};
  file.read(std::as_writable_bytes(std::span(start)));
  if (start[0] != 0 || start[1] != 0) throw file.broken("expected two zero bytes at the start of an idx file", 0);
  auto known = std::find_if(std::begin(element_codes), std::end(element_codes),
                            [&](const ElementCode& e) { return e.code == start[2]; });
  if (known == std::end(element_codes)) throw file.broken(fmt::format("the element code {} is not known", start[2]), 2);
  ArrayType type{known->precision, {}};
  std::uint64_t needed = info(type.precision).bytes;
  for (int axis = 0; axis < start[3]; ++axis) {
    unsigned char bytes[4] = {};
    file.read(std::as_writable_bytes(std::span(bytes)));
    auto extent = std::uint64_t{bytes[0]} << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3];
    type.extents.push_back(static_cast<std::int64_t>(extent));
    if (extent != 0 && __builtin_mul_overflow(needed, extent, &needed)) needed = UINT64_MAX;
  }
  if (std::find(type.extents.begin(), type.extents.end(), 0) != type.extents.end()) {
    // No elements; but extents that no memory could hold are wrong also beside one that is 0.
    if (needed > INT64_MAX) throw file.broken("its shape is larger than anything");
    needed = 0;
  }
  if (needed > file.remaining())
    throw file.broken(fmt::format("{} needs more bytes than the {} that follow",
                                  start[3] <= 8 ? type.text() : "its shape", file.remaining()));
  return type;
}

void to_big_endian(Array& array) {
  std::size_t width = info(array.precision()).bytes;
  if (std::endian::native == std::endian::big || width == 1) return;
  for (std::byte *p = array.raw(), *end = p + array.bytes(); p != end; p += width) std::reverse(p, p + width);
}

}  // namespace

ArrayType probe_idx(const std::string& path, const FileQuery&) {
  InputFile file = opened(path);
  return read_header(file);
}

Array load_idx(const std::string& path, const FileQuery&) {
  InputFile file = opened(path);
  Array array = Array::make(read_header(file));
  file.read({array.raw(), array.bytes()});
  to_big_endian(array);  // and back
  return array;
}

void save_idx(const Array& array, const std::string& path) {
  auto refuse = [&](const std::string& why) {
    return failure("E7004", {}, fmt::format("cannot write '{}': {}", path, why));
  };
  if (path.ends_with("gz") || path.ends_with("GZ")) throw refuse("packed files are only read; leave out '.gz'");
  auto known = std::find_if(std::begin(element_codes), std::end(element_codes),
                            [&](const ElementCode& e) { return e.precision == array.precision(); });
  if (known == std::end(element_codes) || array.extents().size() > 255)
    throw refuse(fmt::format("an idx file holds u8 i8 i16 i32 f32 f64, not {}", array.type().text()));
  std::string header{'\0', '\0', static_cast<char>(known->code), static_cast<char>(array.extents().size())};
  for (std::int64_t extent : array.extents()) {
    if (extent > UINT32_MAX) throw refuse("an extent of an idx file has 32 bits");
    for (int shift : {24, 16, 8, 0}) header += static_cast<char>(extent >> shift);
  }
  Array turned = Array::make(array.type());
  std::copy_n(array.raw(), array.bytes(), turned.raw());
  to_big_endian(turned);
  AtomicFile file(path);
  file.write(header);
  file.write(std::span<const std::byte>(turned.raw(), turned.bytes()));
  file.commit();
}

}  // namespace taskspec
