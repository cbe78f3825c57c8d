// One record per file format; files.cpp holds the table. A new format is one source file with three
// functions, and one row.
//
//   const FileFormat& f = format_of("photo.png");     f.load("photo.png")
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "ir/array.hpp"

namespace taskspec {

struct FileFormat {
  std::string_view suffix;  // lower case, with its point
  std::string_view holds;   // what can be loaded
  Array (*load)(const std::string& path);
  ArrayType (*probe)(const std::string& path);
  void (*save)(const Array& array, const std::string& path);
};

const FileFormat& format_of(const std::string& path);  // E7003 for an unknown suffix

// Arrays of any type; storage-only precisions become the integers that the host keeps them in.
Array load_npy(const std::string& path);
ArrayType probe_npy(const std::string& path);
void save_npy(const Array& array, const std::string& path);

// u8[H, W, C] with C = 1, 3 or 4, or u16 of it when the picture has 16 bits.
// Saves u8, u16 or bool [H, W] and [H, W, 1|3|4].
Array load_png(const std::string& path);
ArrayType probe_png(const std::string& path);
void save_png(const Array& array, const std::string& path);

// u8[H, W, C] with C = 1 or 3. Saves u8 or bool [H, W] and [H, W, 1|3], quality 92.
Array load_jpeg(const std::string& path);
ArrayType probe_jpeg(const std::string& path);
void save_jpeg(const Array& array, const std::string& path);

// f64[rows, columns]; a first line without any number is a header and skipped.
// Saves rank 2, and rank 1 as one column, with the shortest digits that read back equal.
Array load_csv(const std::string& path);
ArrayType probe_csv(const std::string& path);
void save_csv(const Array& array, const std::string& path);

}  // namespace taskspec
