#include "bench/chip.hpp"

#include "bench/noc.hpp"

namespace taskspec::bench {

int chip(const Settings& settings) { return noc(settings); }

}  // namespace taskspec::bench
