// As ir/precompiled/program.hpp, for the checker: from the syntax tree to the typed program.
#include "frontend/check/body.hpp"
#include "ir/precompiled/program.hpp"
