// What a program gives a quantisation to look at: tensors, tuples and lists of them, taken apart into samples.
//
//   (f32[64, 784], i32[64])     64 samples f32[1, 784] of a net f32[B, 784], and 64 labels
#pragma once
#include "ir/base/function_ref.hpp"
#include "ir/graph/task_graph.hpp"

namespace taskspec {

struct Samples {
  std::vector<std::vector<Array>> inputs;  // by sample, by input of the net
  std::vector<std::int64_t> labels;        // of all samples, or of none
};

// `inputs`: names and written types of those of the net. `contents` receives a tensor. E5004: tensors that do not fit.
Samples samples_of(const Value& data, const std::vector<GraphInput>& inputs,
                   FunctionRef<std::optional<Array>(const Value&)> contents, Span span);

}  // namespace taskspec
