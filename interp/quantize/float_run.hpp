// Runs an op list on single samples, with all of its values in reach: what a quantised graph is compared with.
#pragma once
#include <memory>

#include "ir/graph/op_list.hpp"

namespace taskspec {

class FloatRun {
 public:
  // `known`: contents of inputs that are the same in each run.
  FloatRun(const OpList& list, const std::vector<std::optional<Array>>& known);
  // The inputs that are not known, in order. Throws Error.
  void run(std::span<const Array> inputs);
  const Array& value(ValueId id) const { return values_[id.index()]; }

 private:
  const OpList& list_;
  std::vector<std::unique_ptr<Kernel>> kernels_;  // by line; null: it was computed once and for all
  std::vector<Array> values_;
  std::vector<std::size_t> open_;
  Array scratch_;
};

}  // namespace taskspec
