// As ir/precompiled/standard.hpp, for what knows the syntax tree but no typed program.
#include "frontend/ast.hpp"
#include "ir/precompiled/standard.hpp"
