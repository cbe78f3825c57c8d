// Phases that are longer than the chip's fixed one, and what is told of them: the first stage of all that is too long,
// and the length that would do for all.
#pragma once
#include <algorithm>
#include <optional>
#include <string>

#include "hwsim/chip/chip.hpp"
#include "ir/base/diag.hpp"

namespace taskspec {

class Overruns {
 public:
  enum class Stage : std::uint8_t { axon, soma1, router, soma2 };

  void note(Stage stage, std::int64_t need, std::int64_t phase, std::int32_t core) {
    longest_ = std::max(longest_, need);
    if (!first_ || stage < first_->stage || (stage == first_->stage && need > first_->need))
      first_ = {stage, need, phase, core};
  }

  struct Overrun {
    Stage stage = Stage::axon;
    std::int64_t need = 0, phase = 0;
    std::int32_t core = 0;  // position
  };
  const std::optional<Overrun>& first() const { return first_; }
  // E5012. `layer` may be empty.
  Diag told(const Chip& chip, const std::string& core, const std::string& layer) const;

 private:
  std::optional<Overrun> first_;
  std::int64_t longest_ = 0;
};

}  // namespace taskspec
