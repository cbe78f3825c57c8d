// The outputs of an op: one tensor called `value`, several by name, or a list of tensors; and those among them that
// are new versions of places.
//
//   topk     its rule says  invocation (values: f32[2], indices: i64[2])      a call gives the same
//   lif      its rule says  invocation (spike: i8[4], v: i32[4])              v is a place: a call gives (spike: i8[4])
//   split    its rule says  (f32[2], f32[2]), or a list before the parts are counted      a call gives [f32[2]]
#pragma once
#include <span>
#include <string>
#include <vector>

#include "ir/records/op.hpp"

namespace taskspec {

// The operand of this name is a place, which such an output writes.
bool is_place(const OpDef& op, std::string_view name);

// What a call gives to the program, of what the rule said: without the versions of places, parts as a list.
Type result_of_call(const OpDef& op, const Type& ruled);

// Tensors that the kernel writes, in order. The rule must have seen everything.
std::span<const Type> output_types(const Type& ruled);
std::span<const Type> output_types(Type&& ruled) = delete;  // they are parts of it

// Their names as slots of a node; the items of a list share one.
std::vector<std::string> output_names(const OpDef& op, const Type& ruled);

// The operand that is a console: nobody writes it, and its version keeps the calls of such ops in order.
std::optional<std::size_t> console_operand(const OpDef& op);

// What a call of this op with this result does to the graph, if it is not arithmetic of the host program.
bool makes_tensors(const OpDef& op, const Type& result);

}  // namespace taskspec
