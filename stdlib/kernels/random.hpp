// Arrays of random numbers: element e of an array depends on e, the seed, the stream and the call alone
//, so that parts can be made in any order and on any thread. Those three are inputs.
//
//   uniform_kernel({Precision::f32, {100}}, 0, 1)->run({seed, stream, call}, ...)
#pragma once
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "ir/base/random.hpp"
#include "ir/records/op.hpp"

namespace taskspec {

struct RandomSource {
  PhiloxKey key{};
  std::uint32_t stream = 0, call = 0;

  PhiloxBlock block(std::uint64_t index, std::uint32_t further_calls = 0) const {
    return philox(
        {static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32), stream, call + further_calls},
        key);
  }
};

// Seed, stream and call, an i64 each: the last three inputs of these kernels. What is no number of 32 bits is E1003.
struct GivenSource {
  RandomSource source;
  std::optional<Fault> fault;
};
GivenSource random_source(std::span<const std::byte* const> inputs);
bool is_random_word(std::int64_t number);
std::string random_word_misfit(std::string_view name, std::int64_t number);  // "call is a number of 32 bits, not -1"

// lo + (hi - lo) u, computed in f64 and rounded once; u in [0, 1) is that of f32, for f64 that of f64. What rounds to
// hi becomes the number before it.
std::unique_ptr<Kernel> uniform_kernel(const ArrayType& out, double lo, double hi);

// 1 where the uniform f32 is less than p. Every precision.
std::unique_ptr<Kernel> bernoulli_kernel(const ArrayType& out, double p);

// x / (1 - rate) where the uniform f32 is less than 1 - rate, else 0; computed in f64 and rounded once. x is input 0;
// behind seed, stream and call comes the number of its first element, an i64.
std::unique_ptr<Kernel> dropout_kernel(const ArrayType& x, double rate);

// mean + std z; beyond `limit` standard deviations an element is drawn again with the next call.
std::unique_ptr<Kernel> normal_kernel(const ArrayType& out, double mean, double std, std::optional<double> limit = {});

}  // namespace taskspec
