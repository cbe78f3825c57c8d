// How `first >> second` joins two tasks, by the names in their types.
//
//   first: task(x, k) -> (y)    second: task(y, up) -> (z)
//   std::optional<Wiring> w = wire(first, second);     // y: output 0; up: from outside
//   composite(first, second, *w)                       // task(x, k, up) -> (z)
#pragma once
#include <optional>

#include "ir/types/type.hpp"

namespace taskspec {

struct Wiring {
  // Where an input of the second comes from.
  struct Source {
    enum class From : std::uint8_t {
      outside,  // index: input of the composite
      output,   // index: output of the first
      place,    // index: inout input of the first, whose new version it reads
    } from = From::outside;
    std::uint32_t index = 0;
  };
  std::vector<Source> inputs;       // by input of the second
  std::vector<std::uint32_t> live;  // outputs of the first that stay outputs of the composite
};

// By name: outputs and places of the first. Without one, the only output of the first goes to the first input of
// the second. Nothing if neither is there.
std::optional<Wiring> wire(const Type& first, const Type& second);

// Inputs: those of the first, then the free ones of the second; outputs: the live ones of the first, then those of
// the second. A name that both sides have becomes T1.name and T2.name.
Type composite(const Type& first, const Type& second, const Wiring& wiring);

}  // namespace taskspec
