#include "ir/files/zip.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

#include "ir/base/text.hpp"
#include "ir/types/array.hpp"

namespace taskspec {

namespace {

constexpr std::uint64_t most_per_byte = 1032;  // deflate packs no tighter
constexpr std::uint32_t end_mark = 0x06054b50, wide_end_mark = 0x06064b50, wide_locator_mark = 0x07064b50,
                        entry_mark = 0x02014b50, header_mark = 0x04034b50;
constexpr std::size_t end_bytes = 22, wide_locator_bytes = 20, wide_end_bytes = 56, entry_bytes = 46, header_bytes = 30;

// A little-endian number inside bytes; beyond the end: 0.
std::uint64_t number(std::string_view bytes, std::size_t at, std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < width && at + i < bytes.size(); ++i)
    value |= std::uint64_t{static_cast<unsigned char>(bytes[at + i])} << (8 * i);
  return value;
}

std::string bytes_at(InputFile& file, std::uint64_t position, std::uint64_t count) {
  if (position > file.size() || count > file.size() - position)
    throw file.broken(fmt::format("{} expected, the file has {}", plural(count, "byte"), file.size()), position);
  std::string bytes(count, '\0');
  file.seek(position);
  file.read(std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

struct Directory {
  std::uint64_t entries = 0, bytes = 0, begin = 0;
};

// The last record of a file. A comment of up to 65535 bytes may follow, so it is looked for.
Directory find_directory(InputFile& file) {
  std::uint64_t reach = std::min<std::uint64_t>(file.size(), end_bytes + 65535);
  std::string tail = bytes_at(file, file.size() - reach, reach);
  if (tail.size() < end_bytes) throw file.broken("a zip archive ends with a directory", 0);
  std::size_t at = tail.size() - end_bytes + 1;
  do {
    if (at == 0) throw file.broken("a zip archive ends with a directory; there is none", file.size() - reach);
    --at;
  } while (number(tail, at, 4) != end_mark);
  Directory directory{number(tail, at + 10, 2), number(tail, at + 12, 4), number(tail, at + 16, 4)};
  bool wide = at >= wide_locator_bytes && number(tail, at - wide_locator_bytes, 4) == wide_locator_mark;
  if (!wide) return directory;
  std::string end = bytes_at(file, number(tail, at - wide_locator_bytes + 8, 8), wide_end_bytes);
  if (number(end, 0, 4) != wide_end_mark) throw file.broken("expected the record of a large directory");
  return {number(end, 32, 8), number(end, 40, 8), number(end, 48, 8)};
}

// Numbers too large for their places stand in an extra field, in this order.
void read_wide(ZipEntry& entry, std::string_view extra) {
  for (std::size_t at = 0; at + 4 <= extra.size(); at += 4 + number(extra, at + 2, 2)) {
    if (number(extra, at, 2) != 1) continue;
    std::size_t next = at + 4;
    for (std::uint64_t* value : {&entry.size, &entry.packed, &entry.header})
      if (*value == 0xFFFFFFFF) *value = number(extra, next, 8), next += 8;
    return;
  }
}

// The unpacked bytes of a stream; stops at `limit`. zlib tells its faults by codes.
class Inflater {
 public:
  Inflater(const InputFile& file, int window) : file_(file) {
    if (inflateInit2(&stream_, window) != Z_OK) throw failure("E5008", {}, "no memory to unpack '" + file.path() + "'");
  }
  Inflater(const Inflater&) = delete;
  ~Inflater() { inflateEnd(&stream_); }

  std::string run(std::string_view packed, std::uint64_t limit, bool many) {
    std::string out;
    std::size_t used = 0;
    while (true) {
      if (out.size() - out_ < chunk)
        out.resize(std::min<std::uint64_t>(std::max<std::uint64_t>(2 * out.size(), chunk), limit + 1));
      std::size_t room = std::min<std::size_t>(out.size() - out_, 1 << 30);
      std::size_t given = std::min<std::size_t>(packed.size() - used, 1 << 30);
      stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data() + used));
      stream_.avail_in = static_cast<uInt>(given);
      stream_.next_out = reinterpret_cast<Bytef*>(out.data() + out_);
      stream_.avail_out = static_cast<uInt>(room);
      int state = inflate(&stream_, Z_NO_FLUSH);
      used += given - stream_.avail_in;
      out_ += room - stream_.avail_out;
      if (out_ > limit) throw unreadable(file_.path(), fmt::format("unpacks to more than {} bytes", limit));
      bool more = state == Z_STREAM_END && many && used < packed.size();  // gzip files may stand one behind another
      if (more && inflateReset(&stream_) == Z_OK) continue;
      if (state == Z_STREAM_END) break;
      if (state == Z_OK && (stream_.avail_in > 0 || stream_.avail_out == 0 || used < packed.size())) continue;
      throw unreadable(file_.path(), "holds packed data that is broken after " + plural(used, "byte"));
    }
    out.resize(out_);
    return out;
  }

 private:
  static constexpr std::size_t chunk = 1 << 16;
  const InputFile& file_;
  z_stream stream_{};
  std::size_t out_ = 0;
};

void check_claim(const InputFile& file, const ZipEntry& entry) {
  auto wrong = [&](const std::string& what) {
    return unreadable(file.path(), fmt::format("'{}': {}", entry.name, what));
  };
  if (entry.encrypted) throw wrong("encrypted parts cannot be read");
  if (entry.method != 0 && entry.method != 8)
    throw wrong(fmt::format("packed by method {}; 0 and 8 are known", entry.method));
  if (entry.packed > file.size())
    throw wrong(fmt::format("claims {} of a file of {}", plural(entry.packed, "byte"), file.size()));
  bool possible = entry.method == 0 ? entry.size == entry.packed : entry.size / most_per_byte <= entry.packed;
  if (!possible) throw wrong(fmt::format("claims {}, packed in {}", plural(entry.size, "byte"), entry.packed));
  if (entry.size > memory_limit() / 2)
    throw wrong(fmt::format("claims {} bytes, more than the memory holds", entry.size));
}

}  // namespace

std::uint32_t zip_checksum(std::uint32_t before, std::string_view bytes) {
  return static_cast<std::uint32_t>(crc32_z(before, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

void check_claims(const InputFile& file, std::span<const ZipEntry> entries) {
  std::uint64_t packed = 0, size = 0;  // no sum goes beyond 64 bits: each claim is checked before it is added
  for (const ZipEntry& entry : entries) {
    check_claim(file, entry);
    packed += entry.packed;
    size += entry.size;
    if (packed > file.size())
      throw unreadable(file.path(),
                       fmt::format("claims more than its {} for its entries", plural(file.size(), "byte")));
    if (size > memory_limit() / 2)
      throw unreadable(file.path(), fmt::format("claims {} bytes, more than the memory holds", size));
  }
}

std::vector<ZipEntry> zip_entries(InputFile& file) {
  Directory directory = find_directory(file);
  std::string bytes = bytes_at(file, directory.begin, directory.bytes);
  std::vector<ZipEntry> entries;
  std::size_t at = 0;
  for (std::uint64_t i = 0; i < directory.entries; ++i) {
    if (number(bytes, at, 4) != entry_mark || at + entry_bytes > bytes.size())
      throw file.broken(fmt::format("expected entry {} of {} of the directory", i + 1, directory.entries),
                        directory.begin + at);
    ZipEntry entry;
    entry.encrypted = (number(bytes, at + 8, 2) & 1) != 0;
    entry.method = static_cast<std::uint16_t>(number(bytes, at + 10, 2));
    entry.checksum = static_cast<std::uint32_t>(number(bytes, at + 16, 4));
    entry.packed = number(bytes, at + 20, 4);
    entry.size = number(bytes, at + 24, 4);
    entry.header = number(bytes, at + 42, 4);
    std::size_t name = number(bytes, at + 28, 2), extra = number(bytes, at + 30, 2),
                comment = number(bytes, at + 32, 2);
    at += entry_bytes;
    if (name + extra + comment > bytes.size() - at)
      throw file.broken("an entry of the directory is cut off", directory.begin + at);
    entry.name = bytes.substr(at, name);
    read_wide(entry, std::string_view(bytes).substr(at + name, extra));
    at += name + extra + comment;
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::string unpacked(InputFile& file, const ZipEntry& entry) {
  check_claim(file, entry);
  std::string header = bytes_at(file, entry.header, header_bytes);
  if (number(header, 0, 4) != header_mark)
    throw file.broken("expected the header of '" + entry.name + "'", entry.header);
  std::uint64_t begin = entry.header + header_bytes + number(header, 26, 2) + number(header, 28, 2);
  std::string bytes = bytes_at(file, begin, entry.packed);
  constexpr int raw = -15;  // no header of zlib's own
  if (entry.method == 8) bytes = Inflater(file, raw).run(bytes, entry.size, false);
  if (bytes.size() != entry.size)
    throw unreadable(file.path(),
                     fmt::format("'{}': {} expected, found {}", entry.name, plural(entry.size, "byte"), bytes.size()));
  if (zip_checksum(0, bytes) != entry.checksum)
    throw unreadable(file.path(), fmt::format("'{}': the checksum is wrong", entry.name));
  return bytes;
}

std::string gunzipped(InputFile& file) {
  std::string packed = file.read_all(memory_limit() / 4);
  std::uint64_t limit = std::min<std::uint64_t>(memory_limit() / 2, most_per_byte * packed.size() + 1024);
  constexpr int gzip_only = 15 + 16;
  return Inflater(file, gzip_only).run(packed, limit, true);
}

}  // namespace taskspec
