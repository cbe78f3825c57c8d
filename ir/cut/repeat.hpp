// Which host values the graph program can compute again by itself, cheaply and with the same result: constants,
// loop counters, what it is given or receives from nobody, and arithmetic on such. Internal to ir/cut/.
#pragma once
#include <memory>

#include "ir/cut/demand.hpp"
#include "ir/cut/shape.hpp"

namespace taskspec {

class Repeatable {
 public:
  // Without `fold` only literals and what is at hand on the other side anyway; `called`: functions, so far as there
  // are some, whose calls the other side makes as well.
  Repeatable(const Function& function, const CallTree& tree, bool fold, const std::vector<bool>* called = nullptr);
  bool call(CallId id) const { return calls_[id.index()]; }
  // Of a variable that is assigned more than once: all of its values can be, and what decides over the assignments.
  bool variable(VariableId id) const { return variables_[id.index()]; }

 private:
  bool narrow();
  bool holds(CallId write) const;
  bool is_repeatable(const Call& call) const;
  bool is_repeatable_builtin(const Call& call) const;
  bool comes_from_shape(const Call& call) const;
  bool blocks_give(const Call& call) const;
  bool decided(CallId call) const;
  bool condition(CallId control) const;
  bool all(const Call& call) const;  // its operands

  const Function& function_;
  const CallTree& tree_;
  bool fold_;
  const std::vector<bool>* called_;
  std::vector<bool> calls_, variables_;
  std::unique_ptr<Exits> undecided_;  // exits that only the host decides about
};

}  // namespace taskspec
