// Files to arrays and back. The suffix decides the format: .npy .npz .png .jpg .jpeg .csv .idx -ubyte .bin. What is
// read is hostile until proven: sizes are checked against the file before memory is taken. What is written is
// written whole or not at all.
//
//   Array photo = load_array("photo.png");    // u8[240, 320, 3]
//   save_array(photo, "copy.npy");
//   Array weight = load_array("model.npz", {.name = "w1"});
//
// All functions throw Error: E7001 not found, E7003 broken or unsupported, E7004 cannot be written,
// E5008 more than the memory.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/base/diag.hpp"
#include "ir/types/array.hpp"

namespace taskspec {

// What is wanted of a file that holds more than one thing, or does not say what it holds.
struct FileQuery {
  std::string name = {};  // npz: an array; csv: a column
  std::optional<Precision> precision = {};
  std::vector<std::optional<std::int64_t>> extents = {};  // of raw records (.bin); one may be open
};

Array load_array(const std::string& path, const FileQuery& query = {});

// The type of what load_array would give. Reads the header only, where the format has one (csv and packed files: all).
ArrayType probe(const std::string& path, const FileQuery& query = {});

// `name` is that of the array inside an npz.
void save_array(const Array& array, const std::string& path, const std::string& name = "");

// An array of an .npz; any text is a name: "w", "blocks[2].w", "a/b".
struct NamedArray {
  std::string name;
  Array array;
};

// All arrays of an .npz, in the order of the file. E7003 also when two have one name.
std::vector<NamedArray> load_arrays(const std::string& path);
// E7004 also for an empty name and for two that are equal.
void save_arrays(const std::string& path, std::span<const NamedArray> arrays);

inline constexpr std::size_t text_limit = std::size_t{1} << 28;  // far above any text a person wrote
std::string read_text(const std::string& path, std::size_t limit = text_limit);
void write_text(const std::string& path, std::string_view text);

// The names of what lies in a folder, sorted by their bytes; those of folders end in /, hidden ones (.name) are left
// out.
std::vector<std::string> list_files(const std::string& folder);

}  // namespace taskspec
