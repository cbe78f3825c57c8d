#include "interp/prelude.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <filesystem>

namespace taskspec {

namespace fs = std::filesystem;

namespace {

// share/taskspec/prelude of the installation that a file lies in, also of one that was moved: beside its bin, or beside
// the folder of a library, which may be one deeper. In a build tree its stdlib/prelude. Empty: there is none.
fs::path prelude_of(const fs::path& file) {
  std::error_code error;
  fs::path folder = file.parent_path();
  for (int up = 0; up < 3 && folder.has_relative_path(); ++up, folder = folder.parent_path())
    if (const fs::path shared = folder / "share/taskspec/prelude"; fs::is_directory(shared, error)) return shared;
  for (folder = file.parent_path(); folder.has_relative_path(); folder = folder.parent_path())
    if (fs::exists(folder / "build.ninja", error))
      return fs::is_directory(folder / "stdlib/prelude", error) ? folder / "stdlib/prelude" : fs::path();
  return {};
}

// The library that this code lies in, or the executable.
fs::path own_file() {
  Dl_info found{};
  std::error_code error;
  if (dladdr(reinterpret_cast<const void*>(&prelude_folders), &found) == 0 || !found.dli_fname) return {};
  return fs::canonical(found.dli_fname, error);
}

}  // namespace

std::vector<std::string> prelude_folders() {
  std::error_code error;
  std::vector<std::string> folders;
  for (const fs::path& folder :
       {prelude_of(fs::read_symlink("/proc/self/exe", error)), prelude_of(own_file()), fs::path(TASKSPEC_PRELUDE)})
    if (!folder.empty() && std::ranges::find(folders, folder.string()) == folders.end())
      folders.push_back(folder.string());
  return folders;
}

}  // namespace taskspec
