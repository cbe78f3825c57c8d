// As ir/precompiled/program.hpp, for the sources that write and read JSON.
#include <nlohmann/json.hpp>

#include "ir/plan.hpp"
#include "ir/precompiled/program.hpp"
