#include "interp/prelude.hpp"

#include <filesystem>

namespace taskspec {

namespace fs = std::filesystem;

namespace {

// share/taskspec/prelude beside the bin of a moved installation; stdlib/prelude of the build tree that it lies in.
fs::path beside_executable() {
  std::error_code error;
  fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  if (error) return {};
  if (fs::path shared = folder.parent_path() / "share/taskspec/prelude"; fs::is_directory(shared, error)) return shared;
  for (; folder.has_relative_path(); folder = folder.parent_path()) {
    const bool is_build = fs::exists(folder / "build.ninja", error);
    if (is_build) return fs::is_directory(folder / "stdlib/prelude", error) ? folder / "stdlib/prelude" : fs::path();
  }
  return {};
}

}  // namespace

std::vector<std::string> prelude_folders() {
  std::vector<std::string> folders;
  std::error_code error;
  if (fs::path own = beside_executable(); !own.empty()) folders.push_back(own.string());
  if (fs::path installed = TASKSPEC_PRELUDE; fs::is_directory(installed, error)) folders.push_back(installed.string());
  return folders;
}

}  // namespace taskspec
