// The table of host builtins, and what their records share.
#pragma once
#include "interp/control/host_context.hpp"
#include "ir/records/builtin.hpp"

namespace taskspec {

BuiltinTable core_builtins();
// And those of the chips, where these are linked in (hw/standard_builtins.cpp).
BuiltinTable standard_builtins();

#define BUILTIN(name) extern const Builtin builtin_##name;
#include "interp/control/builtins/builtins.def"
#include "interp/control/builtins/chip_builtins.def"
#undef BUILTIN

namespace builtins {

// Ends a rule with E1004: "format wants a string first, not int".
[[noreturn]] void wrong_type(RuleContext& c, std::size_t operand, const std::string& wanted);

bool is(RuleContext& c, std::size_t operand, Type::Kind kind);  // or already reported
void want(RuleContext& c, std::size_t operand, Type::Kind kind, const std::string& wanted);
Type element_of(RuleContext& c, std::size_t operand, const std::string& wanted);  // of a list or range
List items_of(const Value& list_or_range);                                        // E5008 if no memory holds them
void want_memory_for(std::uint64_t items);                                        // of a list that is about to be made

// What a builtin that writes gives. The first of several replicas has written by now: others may read it behind this.
Value written(HostContext& host);

}  // namespace builtins
}  // namespace taskspec
