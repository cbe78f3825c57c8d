// As ir/precompiled/program.hpp, for tests of what lies inside.
#include <doctest/doctest.h>

#include "ir/precompiled/program.hpp"
