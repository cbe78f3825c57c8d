// As ir/precompiled/standard.hpp, for tests of the tool and of the public headers.
#include <doctest/doctest.h>

#include "ir/precompiled/standard.hpp"
