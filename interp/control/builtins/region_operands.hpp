// What the builtins of regions share: the types of their operands, and these as ir/region wants them.
#pragma once
#include "interp/control/builtins/builtins.hpp"
#include "interp/control/interpreter.hpp"
#include "interp/control/region_values.hpp"
#include "ir/region/operators.hpp"

namespace taskspec::builtins {

inline Target& target_of(HostContext& host) { return host.interpreter->target(); }
inline DataSite site_of(const HostContext& host) { return {host.span, host.frame->scope}; }

// The operand is a region or piece, a field of one that holds integers, a partition: E1004 where it is something else.
const Type& want_region(RuleContext& c, std::size_t operand);
const Type& want_index_field(RuleContext& c, std::size_t operand);
const Type& want_partition(RuleContext& c, std::size_t operand);
Type partition_of(const Type& data, std::uint32_t colour_rank);

// The contents of a field in its whole region, or of those points that this one of several who run the program answers
// for, and what reads them there.
struct FieldContents {
  Array array;
  std::shared_ptr<const Intervals> held;
  IndexValues values;
};
FieldContents contents_of(HostContext& host, const Value& field);

}  // namespace taskspec::builtins
