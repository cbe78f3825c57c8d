#include "ir/files/files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "ir/files/atomic_write.hpp"
#include "ir/files/formats.hpp"
#include "ir/files/input_file.hpp"

namespace taskspec {

namespace {

constexpr FileFormat formats[] = {
    {".npy", "arrays of any type", load_npy, probe_npy, save_npy},
    {".png", "pictures", load_png, probe_png, save_png},
    {".jpg", "pictures", load_jpeg, probe_jpeg, save_jpeg},
    {".jpeg", "pictures", load_jpeg, probe_jpeg, save_jpeg},
    {".csv", "tables of numbers", load_csv, probe_csv, save_csv},
};

}  // namespace

const FileFormat& format_of(const std::string& path) {
  std::string suffix = std::filesystem::path(path).extension().string();
  std::transform(suffix.begin(), suffix.end(), suffix.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  std::string known;
  for (const FileFormat& format : formats) {
    if (format.suffix == suffix) return format;
    known += fmt::format("{}{}", known.empty() ? "" : " ", format.suffix);
  }
  std::string problem = suffix.empty() ? "has no suffix" : fmt::format("has the unknown suffix '{}'", suffix);
  throw unreadable(path, fmt::format("{}; known are {}", problem, known));
}

Array load_array(const std::string& path) { return format_of(path).load(path); }
ArrayType probe(const std::string& path) { return format_of(path).probe(path); }
void save_array(const Array& array, const std::string& path) { format_of(path).save(array, path); }

std::string read_text(const std::string& path, std::size_t limit) { return InputFile(path).read_all(limit); }

void write_text(const std::string& path, std::string_view text) {
  write_whole(path, std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace taskspec
