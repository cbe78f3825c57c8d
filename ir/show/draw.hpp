// The chains of a taskGraph drawn with the characters of a terminal: one line per chain, rails for what leads to
// later ones.
//
//   ● src#0
//   ├─╮
//   ● │ inc#0 → inc#1
//   │ ● dbl#0
//   ├─╯
//   ● add#0 → inc#2
#pragma once
#include <string>

#include "ir/graph/chains.hpp"

namespace taskspec {

struct DrawOptions {
  std::size_t columns = 80;   // no line is longer; at least 20
  bool unicode = true;        // rails as box characters, else plain ASCII
  std::size_t at_most = 200;  // chains; the rest is counted
};

// Ends with a line end. Futures are solid rails, orders of places dotted ones.
std::string drawing(const TaskGraph& graph, const Chains& chains, const DrawOptions& options = {});

}  // namespace taskspec
