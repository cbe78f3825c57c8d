#include <fmt/format.h>

#include "ir/files/atomic_write.hpp"
#include "ir/files/formats.hpp"
#include "ir/files/input_file.hpp"
#include "ir/files/npy_header.hpp"
#include "ir/files/zip.hpp"

namespace taskspec {

namespace {

constexpr std::string_view ending = ".npy";

// The array of this name; without a name the only one. Other files of the archive do not count.
// As it may be shown: what is no plain character is a question mark.
std::string shown_name(std::string name) {
  for (char& c : name)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  return name;
}

ZipEntry entry_called(InputFile& file, const std::string& name) {
  std::vector<ZipEntry> arrays;
  std::vector<std::string> names;
  for (ZipEntry& entry : zip_entries(file)) {
    if (!entry.name.ends_with(ending)) continue;
    const std::string called = entry.name.substr(0, entry.name.size() - ending.size());
    if (called == name) return std::move(entry);
    names.push_back(shown_name(called));
    arrays.push_back(std::move(entry));
  }
  if (name.empty() && arrays.size() == 1) return arrays[0];
  std::string list = listed(names);
  if (arrays.empty()) throw unreadable(file.path(), "holds no array");
  Diag diag;
  diag.code = "E7003";
  diag.message = name.empty() ? fmt::format("'{}' holds {} arrays: {}", file.path(), arrays.size(), list)
                              : fmt::format("'{}' holds no array '{}'; there are {}", file.path(), name, list);
  if (name.empty()) diag.help(fmt::format("say which: name: \"{}\"", names[0]));
  throw Error(std::move(diag));
}

InputFile opened(const std::string& path, const std::string& name) {
  InputFile file(path);
  ZipEntry entry = entry_called(file, name);
  return InputFile(path + ":" + entry.name, unpacked(file, entry));
}

}  // namespace

ArrayType probe_npz(const std::string& path, const FileQuery& query) {
  InputFile part = opened(path, query.name);
  return read_npy_header(part).type;
}

Array load_npz(const std::string& path, const FileQuery& query) {
  InputFile part = opened(path, query.name);
  return read_npy(part);
}

void save_npz(const Array& array, const std::string& path, const std::string& name) {
  std::string bytes = npy_header(array.type());
  bytes.append(reinterpret_cast<const char*>(array.raw()), array.bytes());
  std::string archive = zip_archive((name.empty() ? "arr_0" : name) + std::string(ending), bytes);
  write_whole(path, std::as_bytes(std::span(archive)));
}

}  // namespace taskspec
