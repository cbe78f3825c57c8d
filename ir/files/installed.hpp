// Where data of this product lie: beside an installation, also one that was moved, or in a build tree.
//
//   installed_folders("prelude", "stdlib/prelude")   // share/taskspec/prelude, else <build>/stdlib/prelude
#pragma once
#include <string>
#include <vector>

namespace taskspec {

// Folders that are there, or may be, in the order to look in. `shared` below share/taskspec, `built` below a build
// tree.
std::vector<std::string> installed_folders(const std::string& shared, const std::string& built);

}  // namespace taskspec
