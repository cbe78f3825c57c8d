#include "ir/files/installed.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>

namespace taskspec {

namespace fs = std::filesystem;

namespace {

// share/taskspec/<shared> of the installation that a file lies in, also of one that was moved: beside its bin, or
// beside the folder of a library, which may be one deeper. In a build tree its <built>. Empty: there is none.
fs::path data_of(const fs::path& file, const std::string& shared, const std::string& built) {
  std::error_code error;
  fs::path folder = file.parent_path();
  for (int up = 0; up < 3 && folder.has_relative_path(); ++up, folder = folder.parent_path())
    if (const fs::path found = folder / "share/taskspec" / shared; fs::is_directory(found, error)) return found;
  for (folder = file.parent_path(); folder.has_relative_path(); folder = folder.parent_path())
    if (fs::exists(folder / "build.ninja", error))
      return fs::is_directory(folder / built, error) ? folder / built : fs::path();
  return {};
}

// The library that this code lies in, or the executable.
fs::path own_file() {
  Dl_info found{};
  std::error_code error;
  if (dladdr(reinterpret_cast<const void*>(&installed_folders), &found) == 0 || !found.dli_fname) return {};
  return fs::canonical(found.dli_fname, error);
}

}  // namespace

std::vector<std::string> installed_folders(const std::string& shared, const std::string& built) {
  std::error_code error;
  std::vector<std::string> folders;
  for (const fs::path& folder : {data_of(fs::read_symlink("/proc/self/exe", error), shared, built),
                                 data_of(own_file(), shared, built), fs::path(TASKSPEC_SHARED) / shared})
    if (!folder.empty() && std::ranges::find(folders, folder.string()) == folders.end())
      folders.push_back(folder.string());
  return folders;
}

}  // namespace taskspec
