#include <algorithm>

#include "ir/files/zip.hpp"

namespace taskspec {

namespace {

constexpr std::uint32_t header_of_part = 0x04034b50, entry_of_part = 0x02014b50, end_of_all = 0x06054b50,
                        wide_end_of_all = 0x06064b50, wide_locator = 0x07064b50;
constexpr std::uint64_t plain_version = 20, wide_version = 45;
constexpr std::uint64_t elsewhere = 0xFFFFFFFF;  // in a field of 4 bytes: the number stands in the wide one
constexpr std::uint64_t first_day = 0x21;        // 1980-01-01: equal arrays give equal files
constexpr std::uint64_t utf8_name = 1 << 11;

void append(std::string& bytes, std::uint64_t value, std::size_t width) {
  for (std::size_t i = 0; i < width; ++i) bytes += static_cast<char>(value >> (8 * i));
}

// The numbers that do not fit, behind a mark of their own.
std::string wide_field(std::initializer_list<std::uint64_t> numbers) {
  std::string field;
  if (numbers.size() == 0) return field;
  append(field, 1, 2), append(field, 8 * numbers.size(), 2);
  for (std::uint64_t number : numbers) append(field, number, 8);
  return field;
}

bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

}  // namespace

// What a part's header and its entry in the directory have in common, from the version that a reader needs on.
std::string ZipWriter::fields(const Written& part, bool wide, std::size_t extra) const {
  std::string out;
  append(out, wide ? wide_version : plain_version, 2);
  append(out, is_ascii(part.name) ? 0 : utf8_name, 2), append(out, 0, 2);  // stored
  append(out, 0, 2), append(out, first_day, 2);
  append(out, part.checksum, 4);
  const std::uint64_t size = is_wide(part.size) ? elsewhere : part.size;
  append(out, size, 4), append(out, size, 4);
  append(out, part.name.size(), 2), append(out, extra, 2);
  return out;
}

void ZipWriter::add(std::string_view name, std::span<const std::string_view> pieces) {
  Written part{std::string(name), at_, 0, 0};
  for (std::string_view piece : pieces) {
    part.checksum = zip_checksum(part.checksum, piece);
    part.size += piece.size();
  }
  const bool wide = is_wide(part.size);
  const std::string extra = wide ? wide_field({part.size, part.size}) : "";
  std::string header;
  append(header, header_of_part, 4);
  put(header + fields(part, wide, extra.size()) + part.name + extra);
  for (std::string_view piece : pieces) put(piece);
  parts_.push_back(std::move(part));
}

std::string ZipWriter::entry(const Written& part) const {
  const bool size = is_wide(part.size), place = is_wide(part.header);
  const std::string extra = size && place ? wide_field({part.size, part.size, part.header})
                            : size        ? wide_field({part.size, part.size})
                            : place       ? wide_field({part.header})
                                          : "";
  std::string out;
  append(out, entry_of_part, 4), append(out, size || place ? wide_version : plain_version, 2);
  out += fields(part, size || place, extra.size());
  append(out, 0, 2), append(out, 0, 2), append(out, 0, 2), append(out, 0, 4);  // no comment, disk 0, no attributes
  append(out, place ? elsewhere : part.header, 4);
  return out + part.name + extra;
}

void ZipWriter::finish() {
  const std::uint64_t begin = at_;
  for (const Written& part : parts_) put(entry(part));
  const std::uint64_t bytes = at_ - begin, count = parts_.size();
  const bool wide = is_wide(begin) || is_wide(bytes) || count >= limits_.entries;
  std::string end;
  if (wide) {
    append(end, wide_end_of_all, 4), append(end, 44, 8);  // so many bytes follow
    append(end, wide_version, 2), append(end, wide_version, 2), append(end, 0, 8);
    append(end, count, 8), append(end, count, 8), append(end, bytes, 8), append(end, begin, 8);
    append(end, wide_locator, 4), append(end, 0, 4), append(end, at_, 8), append(end, 1, 4);
  }
  append(end, end_of_all, 4), append(end, 0, 4);
  append(end, wide ? 0xFFFF : count, 2), append(end, wide ? 0xFFFF : count, 2);
  append(end, wide ? elsewhere : bytes, 4), append(end, wide ? elsewhere : begin, 4), append(end, 0, 2);
  put(end);
}

void ZipWriter::put(std::string_view bytes) {
  write_(bytes);
  at_ += bytes.size();
}

}  // namespace taskspec
