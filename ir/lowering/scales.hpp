// The numbers of the quantised road, as lowering asks for them: which tensors must have one scale, and what it is. A
// tensor x of scale S is held as integers X, x ~ X / S.
//
// Whoever chooses scales lowers the graph several times: the first time to hear which tensors there are and which
// belong together, then with scales.
#pragma once
#include <vector>

#include "ir/graph/op_list.hpp"

namespace taskspec {

class Scales {
 public:
  virtual ~Scales() = default;
  virtual double of(ValueId value) = 0;                   // above 0
  virtual void same(ValueId a, ValueId b) = 0;            // one scale for both
  virtual void held(ValueId value) = 0;                   // it becomes integers: its range counts
  virtual void at_most(ValueId value, double scale) = 0;  // a larger one has no weights of 8 bits
  // Where nothing else decides, `value` best has `factor` times the scale of `from`: then its cut is a shift.
  virtual void prefers(ValueId value, ValueId from, double factor) = 0;
  // What the integers of `value` are too large by, per channel, as far as that is known; empty: not known.
  virtual std::vector<double> error_of(ValueId value) = 0;
  // Tables instead of shifts, where sums become 8 bits.
  virtual bool cuts_by_table() const = 0;
};

}  // namespace taskspec
