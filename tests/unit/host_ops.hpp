// A handful of ops made for tests of the body compiler: they count how they were run.
//
//   plus(a, b)    element-wise on i32, one of them may have a single element; in place; has a strip form
//   over(a, b)    a / b, a Fault where b is 0
//   widen(a)      i32 -> i64, element-wise with a strip form, not in place
//   flip(a)       the elements backwards: neither strips nor in place, and it wants scratch
//   view(a)       the same bytes
#pragma once
#include <atomic>
#include <functional>

#include "ir/plan/backend.hpp"

namespace taskspec::test_ops {

extern const OpDef plus, over, widen, flip, view;
extern std::atomic<int> whole_runs, strip_runs;  // of kernels

OpInstance call(const OpDef& op, std::vector<ArrayType> in);  // with the type of its output

// An op list written by hand: values are numbered as there.
class ListWriter {
 public:
  explicit ListWriter(const std::vector<ArrayType>& inputs);
  std::uint32_t constant(Array array);  // before any op
  std::uint32_t op(const OpDef& op, const std::vector<std::uint32_t>& in);
  OpList finish(const std::vector<std::uint32_t>& outputs);

 private:
  OpList list_;
};

// Bodies of tasks by the name of their definition.
class WrittenBodies final : public Bodies {
 public:
  std::function<OpList(const std::string& name)> write;
  Result<OpList> list(const TaskGraph& graph, NodeId node) override { return write(graph.definition(node).name); }
  std::vector<Array> run(const TaskGraph&, NodeId, std::vector<Array>) override {
    throw failure("E5005", {}, "these bodies are all op lists");
  }
};

}  // namespace taskspec::test_ops
