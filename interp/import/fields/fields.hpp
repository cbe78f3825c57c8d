// HDF5 files of fields: where in the file the elements of datasets lie, so that somebody else reads and writes them
// there. Groups are not entered: a field is a dataset of the file itself.
//
//   find_fields("nodes.h5", {"cap"}, folder)      {"cap", f64, [1000], "nodes.h5", offset 2048}, others: "charge"
//
// Datasets that are packed, or lie in chunks, are unpacked into the folder.
#pragma once
#include "ir/files/field_file.hpp"

namespace taskspec::fields {

// E7003. Numbers only: others have no precision.
FieldLayout find_fields(const std::string& path, std::span<const std::string> names, const std::string& folder);
// Makes `path` anew, with a dataset for each field and all else that `old` has, if it is a file. E7004.
FieldLayout make_fields(const std::string& path, const std::string& old, std::span<const FileField> fields,
                        const Extents& extents);

// A layout as lines of text with tabs: "field cap f64 0 2048 nodes.h5 1000" (name, type, whether the bytes are swapped,
// offset, file, extents), "other charge".
std::vector<std::string> lines_of_layout(const FieldLayout& layout);

}  // namespace taskspec::fields
