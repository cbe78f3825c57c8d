// Where scalar code may be jumped to, and which of its values need no memory: those that one step makes, and steps
// behind it want before anybody can jump there.
#pragma once
#include <cstdint>
#include <span>
#include <vector>

#include "interp/host/view/lane_code.hpp"

namespace taskspec {

struct ViewCode;

// One list of instructions with its steps: of a loop, or what stands around all loops.
struct ScalarPart {
  explicit ScalarPart(const LaneLoop& loop) : code(loop.code), steps(loop.steps) {}
  explicit ScalarPart(const LaneProgram& program) : code(program.code), steps(program.steps) {}
  std::span<const LaneInstruction> code;
  std::span<const ScalarStep> steps;
};

class ScalarUses {
 public:
  ScalarUses(const LaneProgram& program, const ViewCode& code);
  // Positions of that part, and the one behind its last.
  static std::vector<bool> targets(const ScalarPart& part);
  bool is_made(Register r) const { return values_[r].is_made; }  // by a step
  bool is_passing(Register r) const { return values_[r].is_passing; }
  // Of what is passing: the position of the last step that wants it, and how many do.
  std::uint32_t last(Register r) const { return values_[r].last; }
  std::uint32_t count(Register r) const { return values_[r].count; }

 private:
  struct Value {
    bool is_made = false, is_passing = true;
    std::uint32_t stretch = 0, made_at = 0, last = 0, count = 0;
  };
  void look_at(const ScalarPart& part);
  void make(Register r, std::uint32_t position);
  void use(Register r, std::uint32_t position);

  std::vector<Value> values_;
  std::uint32_t stretch_ = 0;  // of code without a place to jump to
};

}  // namespace taskspec
