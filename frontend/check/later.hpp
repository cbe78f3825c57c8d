// Names and constructs of the language that only later parts of the system give a meaning to. They are refused
// by E1009, each saying which part it needs.
#pragma once
#include <string_view>

namespace taskspec::checking {

// The part that a name of the library needs, "training" for sgd; empty if the name is not known at all.
std::string_view part_of_name(std::string_view name);

}  // namespace taskspec::checking
