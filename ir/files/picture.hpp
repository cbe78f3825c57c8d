// What pictures of every format have in common: how large one may be, and which arrays are pictures.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ir/files/input_file.hpp"
#include "ir/types/array.hpp"

namespace taskspec {

// Decoded bytes of one picture. A few kilobytes of file can claim far more than a machine has.
inline constexpr std::uint64_t picture_limit = 1'000'000'000;

struct PictureSize {
  std::int64_t height = 0, width = 0, channels = 0;
};

// Throws E7003 when the picture is too large, or larger than a file of this size can hold when each
// of its bytes gives at most `per_byte` decoded bytes. Before memory is taken.
void check_picture(const InputFile& file, const PictureSize& size, std::int64_t sample_bytes, std::uint64_t per_byte);

// The size of an array [H, W] or [H, W, C], C one of `channels`; E7004 for any other.
PictureSize picture_size(const Array& array, const std::string& path, const std::vector<std::int64_t>& channels);

// E7004 for an array that this format cannot hold; `help` says what it can.
Error not_a_picture(const Array& array, const std::string& path, const std::string& help);

// The bytes to encode: those of the array, or 0 and 255 for bools (kept in `room`).
const std::uint8_t* picture_bytes(const Array& array, std::vector<std::uint8_t>& room);

}  // namespace taskspec
