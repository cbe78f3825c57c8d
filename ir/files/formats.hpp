// One record per file format; files.cpp holds the table. A new format is one source file with three
// functions, and one row.
//
//   const FileFormat& f = format_of("photo.png");     f.load("photo.png", {})
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "ir/files/files.hpp"
#include "ir/types/array.hpp"

namespace taskspec {

struct FileFormat {
  std::string_view suffix;  // the end of the file's name, in lower case
  std::string_view holds;   // what can be loaded
  bool names;               // its parts are asked for by name
  Array (*load)(const std::string& path, const FileQuery& query);
  ArrayType (*probe)(const std::string& path, const FileQuery& query);
  void (*save)(const Array& array, const std::string& path);
};

const FileFormat& format_of(const std::string& path);  // E7003 for an unknown suffix

std::string listed(std::span<const std::string> names);  // "a, b, c"; of many the first ones, and how many others

// Arrays of any type; storage-only precisions become the integers that the host keeps them in.
Array load_npy(const std::string& path, const FileQuery&);
ArrayType probe_npy(const std::string& path, const FileQuery&);
void save_npy(const Array& array, const std::string& path);

// u8[H, W, C] with C = 1, 3 or 4, or u16 of it when the picture has 16 bits.
// Saves u8, u16 or bool [H, W] and [H, W, 1|3|4].
Array load_png(const std::string& path, const FileQuery&);
ArrayType probe_png(const std::string& path, const FileQuery&);
void save_png(const Array& array, const std::string& path);

// u8[H, W, C] with C = 1 or 3. Saves u8 or bool [H, W] and [H, W, 1|3], quality 92.
Array load_jpeg(const std::string& path, const FileQuery&);
ArrayType probe_jpeg(const std::string& path, const FileQuery&);
void save_jpeg(const Array& array, const std::string& path);

// The arrays of a zip archive, stored or deflated. Without a name: the only one there is.
Array load_npz(const std::string& path, const FileQuery& query);
ArrayType probe_npz(const std::string& path, const FileQuery& query);
void save_npz(const Array& array, const std::string& path, const std::string& name);

// u8 i8 i16 i32 f32 f64 of any rank: the format of MNIST, also packed by gzip.
Array load_idx(const std::string& path, const FileQuery&);
ArrayType probe_idx(const std::string& path, const FileQuery&);
void save_idx(const Array& array, const std::string& path);

// Elements and nothing else, little-endian, row by row: the query says what they are.
Array load_raw(const std::string& path, const FileQuery& query);
ArrayType probe_raw(const std::string& path, const FileQuery& query);
void save_raw(const Array& array, const std::string& path);

// f64[rows, columns]; a first line without any number is a header. With a name: that column, f64[rows].
// Saves rank 2, and rank 1 as one column, with the shortest digits that read back equal.
Array load_csv(const std::string& path, const FileQuery&);
ArrayType probe_csv(const std::string& path, const FileQuery&);
void save_csv(const Array& array, const std::string& path);

}  // namespace taskspec
