// Arithmetic on numbers of the host inside the body of a task: what is done to a learning rate before it meets a
// tensor. Each run works it out anew as host code does, with the same results and the same errors.
//
//   number_kernel(`mul(rate, 2)`, {1}, {Precision::f64}, Precision::f32)     // reads f64, makes f32
#pragma once
#include <memory>
#include <vector>

#include "ir/records/kernel.hpp"

namespace taskspec {

// The inputs of its op list that a number (GraphScalar) is made of, ascending.
std::vector<std::uint32_t> inputs_of(const Value& number);

// `reads` as `inputs_of` gives them, `given` their precisions, f64, i64 or bool; one element of each and of what it
// makes.
std::shared_ptr<const Kernel> number_kernel(const Value& number, std::vector<std::uint32_t> reads,
                                            std::vector<Precision> given, Precision made);

}  // namespace taskspec
