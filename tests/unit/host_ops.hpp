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

#include "ir/backend.hpp"

namespace taskspec::test_ops {

extern const OpDef plus, over, widen, flip, view;
extern std::atomic<int> whole_runs, strip_runs;  // of kernels

OpInstance call(const OpDef& op, std::vector<ArrayType> in);  // with the type of its output

// A trace written by hand: values are numbered as in BodyTrace.
class TraceWriter {
 public:
  explicit TraceWriter(std::vector<ArrayType> inputs);
  std::uint32_t constant(Array array);  // before any op
  std::uint32_t op(const OpDef& op, std::vector<std::uint32_t> in);
  BodyTrace finish(std::vector<std::uint32_t> outputs);

 private:
  BodyTrace trace_;
};

// Bodies of tasks by the name of their definition.
class WrittenBodies final : public Bodies {
 public:
  std::function<BodyTrace(const std::string& name)> write;
  std::optional<BodyTrace> trace(const TaskGraph& graph, NodeId node) override {
    return write(graph.definition(node).name);
  }
  std::vector<Array> run(const TaskGraph&, NodeId, std::vector<Array>) override {
    throw failure("E5005", {}, "these bodies are all traces");
  }
};

}  // namespace taskspec::test_ops
