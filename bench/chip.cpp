#include "bench/chip.hpp"

#include "bench/behaviour.hpp"
#include "bench/mapping.hpp"
#include "bench/nets.hpp"
#include "bench/noc.hpp"

namespace taskspec::bench {

int chip(const Settings& settings) {
  if (settings.file == "nets") return nets(settings);
  const int code = noc(settings);
  if (code != 0 || !settings.file.empty()) return code;
  behaviour(settings);
  return mapping(settings);
}

}  // namespace taskspec::bench
