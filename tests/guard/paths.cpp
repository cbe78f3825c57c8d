#include "tests/guard/paths.hpp"

#include <algorithm>
#include <fstream>
#include <sstream>

namespace fs = std::filesystem;

fs::path source_root() { return TASKSPEC_ROOT; }

fs::path taskspec_binary() { return TASKSPEC_BINARY; }

std::vector<std::string> files_below(std::string_view folder, std::initializer_list<std::string_view> endings) {
  std::vector<std::string> found;
  if (!fs::exists(source_root() / folder)) return found;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(source_root() / folder)) {
    const std::string path = entry.path().lexically_relative(source_root()).generic_string();
    auto fits = [&](std::string_view ending) { return path.ends_with(ending); };
    if (entry.is_regular_file() && std::any_of(endings.begin(), endings.end(), fits)) found.push_back(path);
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::vector<std::string> cpp_files() {
  std::vector<std::string> all;
  for (const char* folder :
       {"bench", "examples", "frontend", "hwsim", "include", "interp", "ir", "packaging", "stdlib", "tests"}) {
    std::vector<std::string> some = files_below(folder, {".cpp", ".hpp", ".def"});
    all.insert(all.end(), some.begin(), some.end());
  }
  return all;
}

std::string read_file(const fs::path& path) {
  std::ifstream file(source_root() / path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return std::move(text).str();
}
