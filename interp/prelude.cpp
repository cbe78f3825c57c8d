#include "interp/prelude.hpp"

#include <filesystem>

namespace taskspec {

namespace fs = std::filesystem;

namespace {

// share/taskspec/prelude beside the bin of an installation, also of one that was moved; stdlib/prelude of the build
// tree that the executable lies in.
fs::path beside_executable() {
  std::error_code error;
  fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  if (error) return {};
  const fs::path shared = folder.parent_path() / "share/taskspec/prelude";
  if (fs::is_directory(shared, error)) return shared;
  for (; folder.has_relative_path(); folder = folder.parent_path())
    if (fs::exists(folder / "build.ninja", error))
      return fs::is_directory(folder / "stdlib/prelude", error) ? folder / "stdlib/prelude" : shared;
  return shared;
}

}  // namespace

std::vector<std::string> prelude_folders() {
  std::vector<std::string> folders;
  if (fs::path own = beside_executable(); !own.empty()) folders.push_back(own.string());
  if (std::string installed = TASKSPEC_PRELUDE; folders.empty() || folders.front() != installed)
    folders.push_back(std::move(installed));
  return folders;
}

}  // namespace taskspec
