// An op list of which a part works row by row, for a batch in parts: which lines run part by part, which once on the
// whole, and where values go from one side to the other.
//
//   h = x * w          parts           rows of h for rows of x, all of w
//   s = h.sum(0)       parts, a sum    each part gives something to add up
//   y = h / s          parts           behind the sum
//   z = y.sort(0)      once            the parts of y are joined
//
// Stages tell what runs together: even ones on the whole, odd ones part by part, each behind those it reads from. So a
// step waits for all parts where it must, and nowhere else.
#pragma once
#include <map>
#include <optional>

#include "ir/base/function_ref.hpp"
#include "ir/graph/op_list_builder.hpp"

namespace taskspec {

struct FlowTag;
using FlowId = Id<FlowTag>;  // of a parted list: its inputs, its constants, then what nodes make

struct PartedList {
  static constexpr int whole = -1;  // in place of an axis
  static constexpr std::size_t outside = SIZE_MAX;

  struct Flow {
    Type type;          // of the whole
    int axis = whole;   // along which its parts lie
    bool sums = false;  // parts of a sum of that type
    std::size_t node = outside;
    Value constant = {};
    std::size_t input = outside;  // of the list: the whole and its parts are there
  };
  enum class Kind : std::uint8_t { line, cut, join, sum };
  struct Node {
    Kind kind = Kind::line;
    OpInstance call;  // line: on the whole
    Split split;      // line, in parts
    OpListBuilder::Origin origin;
    std::vector<FlowId> in, out;
    int stage = 0;
    bool in_parts() const { return stage % 2 != 0; }
  };
  std::vector<Flow> flows;
  std::vector<Node> nodes;      // each behind those that it reads from
  std::vector<FlowId> outputs;  // of the list
  int stages = 0;

  const Flow& operator[](FlowId flow) const { return flows[flow.index()]; }
};

// `axes`: by input, along which its parts lie, or `whole`.
PartedList parted(const OpList& list, const std::vector<int>& axes, std::int64_t rows, const OpTable& ops);

}  // namespace taskspec
