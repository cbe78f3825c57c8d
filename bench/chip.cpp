#include "bench/chip.hpp"

#include "bench/mapping.hpp"
#include "bench/nets.hpp"
#include "bench/noc.hpp"

namespace taskspec::bench {

int chip(const Settings& settings) {
  if (settings.file == "nets") return nets(settings);
  const int code = noc(settings);
  return code != 0 || !settings.file.empty() ? code : mapping(settings);
}

}  // namespace taskspec::bench
