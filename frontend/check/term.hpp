// The value of an expression: the call that makes it, and the place where it is written. The place differs
// from that of the call when a name stands for an earlier value.
#pragma once
#include "ir/program/program.hpp"

namespace taskspec::checking {

struct Term {
  CallId id;
  Span span;
  bool fresh = false;  // made by this very expression, so that folding may take the call back

  bool valid() const { return id.valid(); }
};

}  // namespace taskspec::checking
