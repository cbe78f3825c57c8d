// Zip archives, and single files packed by gzip. zlib is seen by zip.cpp alone.
//
//   InputFile file("x.npz");
//   for (const ZipEntry& entry : zip_entries(file)) use(unpacked(file, entry));
#pragma once
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

// The bytes of one entry. E7003 when they are not what the directory says, or claim to be more than so many packed
// bytes can hold; never takes more memory than that.
std::string unpacked(InputFile& file, const ZipEntry& entry);

// All of a gzip file.
std::string gunzipped(InputFile& file);

// An archive with one stored entry.
std::string zip_archive(std::string_view name, std::string_view bytes);

}  // namespace taskspec
