// Choices of units, each worked out once: nets have many units that are alike, such as slices of features, and a mapper
// that tries several ways to stream meets the same rows again.
//
//   KnownChoices known(net, units, chip);
//   known.of(u, &schedule.units[u])      as choices_of gives them, but for names in what did not fit
#pragma once
#include <map>

#include "hwsim/map/mapper.hpp"
#include "ir/base/hash.hpp"

namespace taskspec {

class KnownChoices {
 public:
  KnownChoices(const ChipNet& net, const std::vector<ChipUnit>& units, const Chip& chip);
  // `rows`: of a stream; none: whole.
  const std::vector<UnitChoice>& of(std::size_t unit, const UnitRows* rows);

 private:
  struct Known {
    std::optional<UnitRows> rows;
    std::vector<UnitChoice> choices;
  };

  const ChipNet& net_;
  const std::vector<ChipUnit>& units_;
  const Chip& chip_;
  std::vector<Hash128> like_;  // by unit: equal for those that cost the same
  std::multimap<Hash128, Known> known_;
};

}  // namespace taskspec
