#include "interp/prelude.hpp"

#include "ir/files/installed.hpp"

namespace taskspec {

std::vector<std::string> prelude_folders() { return installed_folders("prelude", "stdlib/prelude"); }

}  // namespace taskspec
