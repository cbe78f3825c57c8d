// Zip archives, and single files packed by gzip. zlib is seen by zip.cpp alone.
//
//   InputFile file("x.npz");
//   for (const ZipEntry& entry : zip_entries(file)) use(unpacked(file, entry));
//
//   ZipWriter archive(write);     archive.add("a.npy", pieces);     archive.finish();
#pragma once
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/files/input_file.hpp"

namespace taskspec {

struct ZipEntry {
  std::string name;
  std::uint16_t method = 0;  // 0 stored, 8 deflated
  bool encrypted = false;
  std::uint32_t checksum = 0;
  std::uint64_t packed = 0, size = 0;  // bytes in the archive, and unpacked
  std::uint64_t header = 0;            // where its own header begins
};

// The directory at the end of an archive. E7003 when there is none or it does not fit the file.
std::vector<ZipEntry> zip_entries(InputFile& file);

// E7003 unless the file can hold these entries, none inside another one, and the memory what they unpack to: before the
// first is read.
void check_claims(const InputFile& file, std::span<const ZipEntry> entries);

// The bytes of one entry. E7003 when they are not what the directory says, or claim to be more than so many packed
// bytes can hold; never takes more memory than that.
std::string unpacked(InputFile& file, const ZipEntry& entry);

// All of a gzip file.
std::string gunzipped(InputFile& file);

// Carries on the checksum that zip has of what is not packed; that of nothing is 0.
std::uint32_t zip_checksum(std::uint32_t before, std::string_view bytes);

// From where on numbers go into the fields of large archives (zip64); lower ones are for tests.
struct ZipLimits {
  std::uint64_t number = 0xFFFFFFFF;  // sizes and places
  std::uint64_t entries = 0xFFFF;
};

// Writes an archive of stored entries, front to back. Equal entries give equal bytes.
class ZipWriter {
 public:
  explicit ZipWriter(std::function<void(std::string_view)> write, ZipLimits limits = {})
      : write_(std::move(write)), limits_(limits) {}

  // An entry that holds these pieces one behind the other; its name is text of at most 65,535 bytes.
  void add(std::string_view name, std::span<const std::string_view> pieces);
  void finish();

 private:
  struct Written {
    std::string name;
    std::uint64_t header = 0, size = 0;
    std::uint32_t checksum = 0;
  };
  bool is_wide(std::uint64_t number) const { return number >= limits_.number; }
  std::string fields(const Written& part, bool wide, std::size_t extra) const;
  std::string entry(const Written& part) const;
  void put(std::string_view bytes);

  const std::function<void(std::string_view)> write_;
  const ZipLimits limits_;
  std::uint64_t at_ = 0;
  std::vector<Written> parts_;
};

}  // namespace taskspec
