// Calls ops of the standard table on host arrays as a session does: defaults, types by the rule, kernel, run.
// Arrays are tensor operands, a List of arrays is one operand of kind `tensors`.
//
//   Array y = call_op("reverse", {array_of(List{1, 2, 3}, Precision::i32), 0});      print(y) == "[3, 2, 1]"
#pragma once
#include <string_view>
#include <vector>

#include "ir/records/op.hpp"

namespace taskspec {

struct OpCall {
  OpInstance instance;
  std::vector<Array> tensors;
};

// An array or a list of arrays.
bool holds_tensors(const Value& operand);

// Throws Error as the rule does.
OpCall prepare(std::string_view op, std::vector<Value> operands);

// Runs a kernel with scratch and results that hold rubbish before. A Fault is thrown as Error.
std::vector<Array> run(const Kernel& kernel, const OpCall& call, Parallel& parallel);

Array call_op(std::string_view op, std::vector<Value> operands);
Array call_op(std::string_view op, std::vector<Value> operands, Parallel& parallel);

// Runs the parts last to first, on two threads: results must not depend on order or threads.
class Shuffled final : public Parallel {
 public:
  void run(std::int64_t count, std::int64_t grain, Body body, void* context) override;
};

// Reproducible contents: floats in [-1, 1), integers over a small part of their range.
Array random_array(ArrayType type, std::uint64_t seed);

}  // namespace taskspec
