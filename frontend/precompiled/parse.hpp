// As ir/precompiled/standard.hpp, for the sources that see ANTLR.
#include "frontend/parse_antlr.hpp"
#include "ir/precompiled/standard.hpp"
