// Why a net does not fit, in full: the layer, the use and the limit, who takes most of it, and the smallest change with
// which it fits.
#pragma once
#include "hwsim/map/mapper.hpp"

namespace taskspec {

// E4041: no way to cut it fits a core. `rows`: of a stream.
Diag unit_refusal(const ChipNet& net, const ChipUnit& unit, std::span<const UnitChoice> choices, const Chip& chip,
                  const UnitRows* rows = nullptr);

// What the units of a net take, in cores.
struct UnitCores {
  std::string name;
  std::int64_t cores = 0, bytes = 0;  // bytes: of all its pieces, if each were as large as the largest
};
// E4042: `there` cores may be taken, of so many chips; `asked` are all that the user allows, if that is why. `phases`:
// with so many of them the cores that are there would do, since what they lack is phases, not memory.
Diag cores_refusal(const Chip& chip, ChipExtent chips, std::int64_t there, std::optional<std::int32_t> asked,
                   std::int64_t needed, std::vector<UnitCores> units, std::optional<std::int64_t> phases = {});

// E4045: a chip whose cores run no blocks one by one.
Diags kind_refusals(const Chip& chip);
// And what this chip does not compute.
Diags chip_refusals(const ChipNet& net, const Chip& chip);

// E4043: more chips than can be joined, or more cores than these have; fewer than one core.
Diags room_refusals(const Chip& chip, ChipExtent chips, std::optional<std::int32_t> cores);

// The largest of a list, for a note: "a.weight 4096 B, a.input 256 B and 3 more"
std::string largest_of(std::vector<std::pair<std::string, std::int64_t>> parts, std::string_view unit);

}  // namespace taskspec
