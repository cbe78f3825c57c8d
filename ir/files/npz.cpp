#include <fmt/format.h>

#include <unordered_set>

#include "ir/base/text.hpp"
#include "ir/files/atomic_write.hpp"
#include "ir/files/formats.hpp"
#include "ir/files/input_file.hpp"
#include "ir/files/npy_header.hpp"
#include "ir/files/zip.hpp"

namespace taskspec {

namespace {

constexpr std::string_view npy_ending = ".npy";
constexpr std::size_t longest_name = 0xFFFF - npy_ending.size();

// As it may be shown: what is no plain character is a question mark.
std::string shown_name(std::string name) {
  for (char& c : name)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  return name;
}

// An entry that holds an array; `name` is that of the entry without the ending.
struct ArrayEntry {
  std::string name;
  ZipEntry entry;
};

// The arrays of an archive; other files in it do not count.
std::vector<ArrayEntry> parts_of(InputFile& file) {
  std::vector<ArrayEntry> parts;
  std::unordered_set<std::string_view> names;
  std::vector<ZipEntry> entries = zip_entries(file);
  parts.reserve(entries.size());  // names are looked up where they lie
  for (ZipEntry& entry : entries) {
    if (!entry.name.ends_with(npy_ending)) continue;
    ArrayEntry& part = parts.emplace_back();
    part.name = entry.name.substr(0, entry.name.size() - npy_ending.size());
    part.entry = std::move(entry);
    if (!names.insert(part.name).second)
      throw unreadable(file.path(), fmt::format("holds two arrays of the name '{}'", shown_name(part.name)));
  }
  return parts;
}

// The array of this name; without a name the only one.
ArrayEntry part_called(InputFile& file, const std::string& name) {
  std::vector<ArrayEntry> parts = parts_of(file);
  std::vector<std::string> names;
  for (ArrayEntry& part : parts) {
    if (part.name == name && !name.empty()) return std::move(part);
    names.push_back(shown_name(part.name));
  }
  if (name.empty() && parts.size() == 1) return std::move(parts[0]);
  std::string list = listed(names);
  if (parts.empty()) throw unreadable(file.path(), "holds no array");
  Diag diag;
  diag.code = "E7003";
  diag.message = name.empty() ? fmt::format("'{}' holds {} arrays: {}", file.path(), parts.size(), list)
                              : fmt::format("'{}' holds no array '{}'; there are {}", file.path(), name, list);
  if (name.empty()) diag.help(fmt::format("say which: name: \"{}\"", names[0]));
  throw Error(std::move(diag));
}

InputFile opened(InputFile& file, const ArrayEntry& part) {
  return InputFile(file.path() + ":" + shown_name(part.name), unpacked(file, part.entry));
}

bool is_npz(const std::string& path) { return format_of(path).suffix == ".npz"; }

Error unwritable(const std::string& path, const std::string& why) {
  return failure("E7004", {}, fmt::format("cannot write '{}': {}", path, why));
}

void check_names(const std::string& path, std::span<const NamedArray> arrays) {
  std::unordered_set<std::string_view> names;
  for (const auto& [name, array] : arrays) {
    if (name.empty()) throw unwritable(path, "an array in it has an empty name");
    if (name.size() > longest_name)
      throw unwritable(path,
                       fmt::format("the name of an array has {} bytes; at most {} fit", name.size(), longest_name));
    for (std::string_view rest = name; !rest.empty();) {
      const Character c = first_character(rest);
      const bool broken = c.code_point == 0xFFFD && c.bytes == 1;
      if (broken || c.code_point < 0x20 || c.code_point == 0x7F)
        throw unwritable(path, fmt::format("the name '{}' of an array is no plain text", shown_name(name)));
      rest.remove_prefix(c.bytes);
    }
    if (!names.insert(name).second) throw unwritable(path, fmt::format("two arrays have the name '{}'", name));
  }
}

}  // namespace

ArrayType probe_npz(const std::string& path, const FileQuery& query) {
  InputFile file(path);
  InputFile part = opened(file, part_called(file, query.name));
  return read_npy_header(part).type;
}

Array load_npz(const std::string& path, const FileQuery& query) {
  InputFile file(path);
  InputFile part = opened(file, part_called(file, query.name));
  return read_npy(part);
}

void save_npz(const Array& array, const std::string& path, const std::string& name) {
  const NamedArray only{name.empty() ? "arr_0" : name, array};
  save_arrays(path, {&only, 1});
}

std::vector<NamedArray> load_arrays(const std::string& path) {
  if (!is_npz(path)) throw unreadable(path, "holds no named arrays; an .npz does");
  InputFile file(path);
  const std::vector<ArrayEntry> parts = parts_of(file);
  std::vector<ZipEntry> entries;
  for (const ArrayEntry& part : parts) entries.push_back(part.entry);
  check_claims(file, entries);
  std::vector<NamedArray> arrays;
  for (const ArrayEntry& part : parts) {
    InputFile one = opened(file, part);
    arrays.push_back({part.name, read_npy(one)});
  }
  return arrays;
}

void save_arrays(const std::string& path, std::span<const NamedArray> arrays) {
  if (!is_npz(path)) throw unwritable(path, "only an .npz holds arrays by name");
  check_names(path, arrays);
  AtomicFile file(path);
  ZipWriter archive([&](std::string_view bytes) { file.write(bytes); });
  for (const auto& [name, array] : arrays) {
    const std::string header = npy_header(array.type());
    const std::string_view parts[] = {header, {reinterpret_cast<const char*>(array.raw()), array.bytes()}};
    archive.add(name + std::string(npy_ending), parts);
  }
  archive.finish();
  file.commit();
}

}  // namespace taskspec
