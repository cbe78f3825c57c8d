// Chips by name: those that come with the product, and users' files.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "hwsim/chip/chip.hpp"
#include "ir/base/text.hpp"
#include "ir/files/files.hpp"
#include "ir/files/installed.hpp"

namespace taskspec {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view ending = ".json";

std::vector<std::string> chip_folders() { return installed_folders("chips", "hwsim/chips"); }

bool is_path(std::string_view name) { return name.find('/') != std::string_view::npos || name.ends_with(ending); }

Error unknown_chip(std::string_view name) {
  const std::vector<std::string> known = chip_presets();
  Diag diag;
  diag.code = "E7003";
  const std::string cut = name.size() > 100 ? std::string(name.substr(0, 97)) + "..." : std::string(name);
  diag.message = fmt::format("no chip is called '{}'; there are {}, and files by a path such as ./mine.json", cut,
                             known.empty() ? "none" : joined(known, ", "));
  if (const auto near = name.size() < 40 ? nearest(name, known) : std::nullopt)
    diag.help_text = fmt::format("did you mean '{}'?", *near);
  if (known.empty()) diag.note("looked in " + joined(chip_folders(), ", "));
  return Error(std::move(diag));
}

}  // namespace

std::vector<std::string> chip_presets() {
  std::vector<std::string> names;
  for (const std::string& folder : chip_folders()) {
    std::error_code error;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, error))
      if (entry.path().extension() == ending) names.push_back(entry.path().stem().string());
  }
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Result<ChipText> find_chip(std::string_view name_or_path) {
  try {
    std::string path(name_or_path);
    if (!is_path(name_or_path)) {
      std::error_code error;
      path.clear();
      for (const std::string& folder : chip_folders()) {
        const fs::path file = fs::path(folder) / (std::string(name_or_path) + std::string(ending));
        if (path.empty() && fs::is_regular_file(file, error)) path = file.string();
      }
      if (path.empty()) throw unknown_chip(name_or_path);
    }
    std::string text = read_text(path);
    return ChipText{std::move(path), std::move(text)};
  } catch (const Error& error) {
    return error.diags();
  }
}

Result<Chip> load_chip(std::string_view name_or_path) {
  Result<ChipText> found = find_chip(name_or_path);
  if (!found) return found.diags();
  return read_chip(found->text, is_path(name_or_path) ? found->path : std::string(name_or_path) + std::string(ending));
}

}  // namespace taskspec
