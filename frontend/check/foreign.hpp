// Names that people bring along from Python, C++, Julia or PyTorch, and what is written here in their place: the help
// of a message about a name that is not there.
//
//   foreign_name("zeros")      // "fill(f32[2, 3], 0.0) makes a tensor of zeros"
#pragma once
#include <string_view>

#include "ir/types/type.hpp"

namespace taskspec::checking {

// Empty: not one of those. Of an unknown name, a type, a module, what stands behind the dot of such a value, and a
// named argument.
std::string_view foreign_name(std::string_view name);
std::string_view foreign_at_prompt(std::string_view name);
std::string_view foreign_type(std::string_view name);
std::string_view foreign_module(std::string_view name);
std::string_view foreign_member(const Type& type, std::string_view name);
std::string_view foreign_argument(std::string_view name, bool any_number);  // does it take any number of values?
// Of a function of the library that lacks an argument which it may leave out elsewhere.
std::string_view foreign_call(std::string_view name);

}  // namespace taskspec::checking
