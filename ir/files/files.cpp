#include "ir/files/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "ir/base/text.hpp"
#include "ir/files/atomic_write.hpp"
#include "ir/files/formats.hpp"
#include "ir/files/input_file.hpp"

namespace taskspec {

namespace {

void save_only_array(const Array& array, const std::string& path) { save_npz(array, path, ""); }

constexpr FileFormat formats[] = {
    {".npy", "arrays of any type", false, load_npy, probe_npy, save_npy},
    {".npz", "named arrays", true, load_npz, probe_npz, save_only_array},
    {".png", "pictures", false, load_png, probe_png, save_png},
    {".jpg", "pictures", false, load_jpeg, probe_jpeg, save_jpeg},
    {".jpeg", "pictures", false, load_jpeg, probe_jpeg, save_jpeg},
    {".csv", "tables of numbers", true, load_csv, probe_csv, save_csv},
    {".idx", "arrays, as MNIST", false, load_idx, probe_idx, save_idx},
    {"-ubyte", "arrays, as MNIST", false, load_idx, probe_idx, save_idx},
    {".idx.gz", "arrays, as MNIST", false, load_idx, probe_idx, save_idx},
    {"-ubyte.gz", "arrays, as MNIST", false, load_idx, probe_idx, save_idx},
    {".bin", "raw records", false, load_raw, probe_raw, save_raw},
};

const FileFormat& format_for(const std::string& path, const FileQuery& query) {
  const FileFormat& format = format_of(path);
  if (!query.name.empty() && !format.names)
    throw unreadable(path, "has no parts to choose by name; only .npz and .csv have");
  return format;
}

}  // namespace

const FileFormat& format_of(const std::string& path) {
  std::string name = std::filesystem::path(path).filename().string();
  std::transform(name.begin(), name.end(), name.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  std::string known;
  for (const FileFormat& format : formats) {
    if (name.ends_with(format.suffix)) return format;
    known += fmt::format("{}{}", known.empty() ? "" : " ", format.suffix);
  }
  std::string suffix = std::filesystem::path(name).extension().string();
  std::string problem = suffix.empty() ? "has no suffix" : fmt::format("has the unknown suffix '{}'", suffix);
  throw unreadable(path, fmt::format("{}; known are {}", problem, known));
}

std::string listed(std::span<const std::string> names) {
  constexpr std::size_t most = 20;
  if (names.size() <= most) return joined(names, ", ");
  return joined(names.first(most), ", ") + fmt::format(" and {} others", names.size() - most);
}

Array load_array(const std::string& path, const FileQuery& query) { return format_for(path, query).load(path, query); }

ArrayType probe(const std::string& path, const FileQuery& query) { return format_for(path, query).probe(path, query); }

void save_array(const Array& array, const std::string& path, const std::string& name) {
  const FileFormat& format = format_of(path);
  if (name.empty()) return format.save(array, path);
  if (format.suffix != ".npz")
    throw failure("E7004", {}, fmt::format("cannot write '{}': only an array in an .npz has a name", path));
  save_npz(array, path, name);
}

std::vector<std::string> list_files(const std::string& folder) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (folder.find('\0') != std::string::npos || !fs::exists(folder, error))
    throw failure("E7001", {}, "no folder '" + folder + "'");
  std::vector<std::string> names;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    std::string name = it->path().filename().string();
    std::error_code unknown;
    if (!name.starts_with('.')) names.push_back(fs::is_directory(it->path(), unknown) ? name + "/" : std::move(name));
  }
  if (error) throw unreadable(folder, "cannot be read: " + system_words(error.value()));
  std::sort(names.begin(), names.end());
  return names;
}

std::string read_text(const std::string& path, std::size_t limit) { return InputFile(path).read_all(limit); }

void write_text(const std::string& path, std::string_view text) {
  write_whole(path, std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace taskspec
