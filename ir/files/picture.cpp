#include "ir/files/picture.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace taskspec {

void check_picture(const InputFile& file, const PictureSize& size, std::int64_t sample_bytes, std::uint64_t per_byte) {
  // Each factor is below 2^31, 2^31, 5 and 3: the product of the first two fits, and is checked first.
  auto pixels = static_cast<std::uint64_t>(size.height) * static_cast<std::uint64_t>(size.width);
  auto bytes = pixels > picture_limit ? pixels : pixels * static_cast<std::uint64_t>(size.channels * sample_bytes);
  if (bytes > picture_limit)
    throw unreadable(file.path(), fmt::format("claims {} x {} pixels; more than {} decoded bytes are refused",
                                              size.width, size.height, picture_limit));
  if (bytes / per_byte > file.size())
    throw unreadable(file.path(), fmt::format("claims {} x {} pixels, more than a file of {} bytes can hold",
                                              size.width, size.height, file.size()));
}

PictureSize picture_size(const Array& array, const std::string& path, const std::vector<std::int64_t>& channels) {
  const Extents& extents = array.extents();
  PictureSize size;
  if (extents.size() == 2) size = {extents[0], extents[1], 1};
  if (extents.size() == 3) size = {extents[0], extents[1], extents[2]};
  bool known = std::find(channels.begin(), channels.end(), size.channels) != channels.end();
  constexpr std::int64_t longest = 65500;  // jpeg's limit, and enough for png
  if (known && size.height > 0 && size.width > 0 && size.height <= longest && size.width <= longest) return size;
  std::string list;
  for (std::int64_t c : channels) list += fmt::format("{}{}", list.empty() ? "" : "|", c);
  throw not_a_picture(array, path,
                      fmt::format("a picture is [H, W] or [H, W, {}] with sides from 1 to {}", list, longest));
}

Error not_a_picture(const Array& array, const std::string& path, const std::string& help) {
  std::string message = fmt::format("cannot write '{}': {} is not such a picture", path, array.type().text());
  Diag diag("E7004", Severity::error, {}, std::move(message));
  diag.help(help);
  return Error(std::move(diag));
}

const std::uint8_t* picture_bytes(const Array& array, std::vector<std::uint8_t>& room) {
  auto bytes = reinterpret_cast<const std::uint8_t*>(array.raw());
  if (array.precision() != Precision::boolean) return bytes;
  room.resize(array.bytes());
  std::transform(bytes, bytes + array.bytes(), room.begin(), [](std::uint8_t b) { return b != 0 ? 255 : 0; });
  return room.data();
}

}  // namespace taskspec
