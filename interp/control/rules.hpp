// The type rules of ops at run time: operand types and values are known, what the checker left open is
// decided now. Errors carry run-time codes (E5xxx), or stay E2xxx while a graph is only looked at.
#pragma once
#include <vector>

#include "ir/graph/task_graph.hpp"
#include "ir/records/op.hpp"

namespace taskspec {

// The result type of a call of `op`. `types` may hold symbols when a graph is viewed without inputs; `unknown` counts
// the extents of one graph that nobody knows then, so that no two of them are taken for the same.
Type result_type(const OpDef& op, const std::vector<Type>& types, std::span<const Value> values,
                 std::uint32_t& unknown);

// E5004: "the result would be f32[-3], with a negative extent". Symbols are not judged.
void refuse_negative_extents(const Type& type, const std::string& what, Span span);

// An extent as a host value: an int, or a GraphScalar while it has symbols.
Value scalar_of(const Dim& dim);

// A host value that a parameter will have: an int is an extent, a range has two. `symbol` and the two after it are
// free; `input`: its position among the inputs of a graph, if it is one.
Value unknown_scalar(const std::string& name, const Type& type, std::uint32_t symbol, std::uint32_t input = UINT32_MAX);

// True if any of the values is only known when the graph runs.
bool any_symbolic(std::span<const Value> values);
// Arithmetic on such values, as a value.
Value symbolic_op(const OpDef& op, std::span<const Value> operands, const Type& type);

}  // namespace taskspec
