// What the makers of random numbers have in common. Seed, stream and call come with each run, so that a loop with
// another call in each turn has one plan.
#pragma once
#include "stdlib/kernels/random.hpp"
#include "stdlib/ops/makers.hpp"

namespace taskspec {

inline constexpr Operand seed_operand = {.name = "seed", .kind = OperandKind::integer, .at_run = true};
inline constexpr Operand stream_operand = {
    .name = "stream", .kind = OperandKind::integer, .standard = 0, .supply = Supply::stream, .at_run = true};
inline constexpr Operand call_operand = {.name = "call", .kind = OperandKind::integer, .standard = 0, .at_run = true};

// Of the normal distributions: mean and std are operands 2 and 3.
inline constexpr Operand normal_operands[] = {{.name = "T", .kind = OperandKind::type},
                                              seed_operand,
                                              {.name = "mean", .kind = OperandKind::real, .standard = 0.0},
                                              {.name = "std", .kind = OperandKind::real, .standard = 1.0},
                                              stream_operand,
                                              call_operand};

// The written type, of floats unless `any`; stream and call are numbers of 32 bits (E1003).
Type random_type(RuleContext& c, std::string_view name, bool any = false);

// Seed, stream and call alone; the last two are the last operands unless it is said where they are.
void check_source(RuleContext& c, std::size_t seed = 1, std::optional<std::size_t> stream = {});

// The limits of the first values of weights: the inputs and outputs that one element of a tensor
// [outputs, inputs, window...] joins. E2001 for less than two axes.
Type weight_type(RuleContext& c, std::string_view name);
struct Fans {
  double in = 1, out = 1;
};
Fans fans_of(const ArrayType& weights);

// Of a maker: operations of random numbers per element, bytes written.
Work random_work(const OpInstance& call);

inline constexpr std::string_view no_random_gradient = "it has no tensor operands";

}  // namespace taskspec
