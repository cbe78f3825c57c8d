// How the call of an op may be taken apart: which axes of its tensors can be split into blocks, each computed by
// itself. What a planner of shards reads, and who cuts a batch into parts (ir/gradient/parts.hpp); a rule, or the
// stated reason why there is none.
//
//   y = a + b, f32[8, 3] and f32[3]     {.out = {0}, .in = {0, -1}}  rows of y need those rows of a, and all of b
//                                       {.out = {1}, .in = {1, 0}}
//   y = x.sum(0), f32[8, 3]             {.out = {-1}, .in = {0}, .sums = true}   parts of rows give parts of the sum
//
// Where a block cannot be computed by itself, the call may be made of others that split: a mean over rows is their sum,
// divided.
#pragma once
#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/records/kernel.hpp"

namespace taskspec {

// Builds out of other ops what a call is made of. A Var is an array in the builder's world.
class CallBuilder {
 public:
  using Var = std::uint32_t;
  virtual ~CallBuilder() = default;
  virtual const OpInstance& call() const = 0;
  virtual Var input(std::size_t i) = 0;  // tensor operand i of the call
  // Tensor operands and host operands are given in the op's declared order.
  virtual Var emit(const OpDef& op, const std::vector<std::variant<Var, Value>>& operands) = 0;
  virtual const ArrayType& type(Var v) = 0;
};

// One way to split a call into blocks along one axis.
struct Split {
  static constexpr int whole = -1;  // not split: every block reads, or gives, all of it
  static constexpr int none = -1;
  std::vector<int> in, out;  // the axis of each tensor that is split with the others
  bool sums = false;         // the blocks give parts that are added up
  int extent = none;         // the operand that says how long the result is along its axis: an int, or its type
  int numbered = none;       // the tensor that says which number the first element has: a block begins further on
  int once = none;           // of parts that are added up: the tensor that goes into one of them, into others zeros
  // Blocks are not calls of this op; they are those of what the whole call is made of: its outputs.
  std::vector<CallBuilder::Var> (*made_of)(CallBuilder&) = nullptr;
  friend bool operator==(const Split&, const Split&) = default;
};

struct Sharding {
  std::vector<Split> (*splits)(const OpInstance&) = nullptr;
  std::string_view why_none;  // the reason, when there is none

  constexpr Sharding() = default;
  constexpr Sharding(std::vector<Split> (*s)(const OpInstance&)) : splits(s) {}
  static constexpr Sharding none(std::string_view reason) {
    Sharding s;
    s.why_none = reason;
    return s;
  }
};

// A call of one block: rows [begin, end) of `rows`, of each axis that is split its share. What the axes are long can be
// divided by `rows`.
OpInstance block_of(const OpInstance& call, const Split& split, std::int64_t begin, std::int64_t end,
                    std::int64_t rows);

}  // namespace taskspec
