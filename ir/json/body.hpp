// Definitions and the typed op lists of their bodies as JSON. Internal to ir/json/ and ir/library/.
//
//   {"id":0,"kind":"task","name":"energy","params":[...],"outputs":[...],"symbols":[{"name":"N"}],"variables":[...],
//    "body":[{"id":0,"op":"parameter","in":[],"attrs":{"index":0},"type":"f32[N]"}, ...]}
#pragma once
#include <array>

#include "ir/base/function_ref.hpp"
#include "ir/json/defs.hpp"
#include "ir/json/text.hpp"

namespace taskspec {

void put_def(JsonText& out, const Program& program, const TaskGraph& graph, const Defs& defs, std::size_t id);
// All of it but its id and the brackets.
void put_def_members(JsonText& out, const Program& program, const TaskGraph& graph, const Defs& defs, std::size_t id);

// A value by its type: what the type does not tell stands in an object, {"int": 3}, {"tuple": [...]}, {"array": ...}.
void put_value(JsonText& out, const Value& value, const Type& type, FunctionRef<std::string(const Type&)> text);
// "data":[...] up to 1,024 elements, else "base64":"...": two members of an open object.
void put_data(JsonText& out, const Array& array);

// In the order of their enums.
inline constexpr std::array<std::string_view, 4> privilege_names{"in", "out", "inout", "reduce"};
inline constexpr std::array<std::string_view, 4> role_names{"declared", "agent", "slot", "capture"};

std::string_view privilege_name(Privilege privilege);
std::string_view role_name(Role role);
std::string_view slot_kind_name(SlotKind kind);
std::string_view function_kind_name(FunctionKind kind);

inline constexpr std::int64_t longest_list = 1024;  // elements of a constant that are written one by one

}  // namespace taskspec
