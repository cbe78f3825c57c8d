// A launch as one task of a graph: for all points of a domain the same body, each on its own pieces of regions. It is
// the first argument of its node, whose inputs are tensors and maps first, then the fields of each use. When it is
// about to run it becomes a task for each point (interp/session/points.hpp).
//
//   launch stencil(inn[i], gh[i]) for i in 0..4
//     -> {.domain = [0, 4), .uses = {inout inn[i].{state}, in gh[i].{flux}}}, inputs c.state, c.flux
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "ir/graph/task_graph.hpp"
#include "ir/region/independence.hpp"
#include "ir/types/type.hpp"
#include "ir/types/value.hpp"

namespace taskspec {

struct Launch final : Object {
  enum class Work : std::uint8_t {
    task,     // the body of a task of the program
    native,   // a C++ function that works on pieces, known by its symbol: tests and benchmarks
    fill,     // a number, or the elements of a tensor, become the contents of a field
    read,     // those of a field become a tensor
    reduce,   // a map becomes the tensor that its points make by the fixed tree
    gather,   // a map becomes one tensor with a new first axis
    element,  // one point of a map
  };
  Work work = Work::task;
  FunctionId task;
  std::string symbol;  // native
  Rect domain;
  bool single = false;          // its outputs are tensors; else maps, along the points of the domain
  std::vector<LaunchUse> uses;  // by piece argument
  std::vector<bool> each;       // by other argument: of a map every point takes its own element
  ReduceOp op{};                // reduce
  std::int64_t position = 0;    // element

  std::size_t points() const { return static_cast<std::size_t>(domain.size()); }
  bool writes() const;  // to fields
  bool reduces() const;
  std::string key() const;  // equal ones do the same with equal inputs
  std::string text() const override { return "<launch>"; }
};

bool is_launch(const TaskGraph& graph, NodeId node);

}  // namespace taskspec
