// Where recorded outputs of other programs lie: TASKSPEC_GOLDEN, else beside the tree. Tests that find none skip.
#pragma once
#include <cstdlib>
#include <filesystem>

#include "tests/guard/paths.hpp"

inline std::filesystem::path golden_folder() {
  if (const char* folder = std::getenv("TASKSPEC_GOLDEN")) return folder;
  return source_root() / ".." / "shared" / "golden";
}
