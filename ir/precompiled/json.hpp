// As ir/precompiled/program.hpp, for the sources that see nlohmann/json.
#include <nlohmann/json.hpp>

#include "ir/precompiled/program.hpp"
