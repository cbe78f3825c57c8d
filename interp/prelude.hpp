// Where the modules are that come with taskspec: `import nn` finds them without any setting, in the build tree, in an
// installation, and in programs that use the library.
#pragma once
#include <string>
#include <vector>

namespace taskspec {

// To be searched after all others. They need not be there: an error tells where taskspec looked.
std::vector<std::string> prelude_folders();

}  // namespace taskspec
