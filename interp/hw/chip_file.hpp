// A chip by its name or file, for programs: what is wrong with a file is one error, with the other mistakes as notes.
#pragma once
#include <memory>
#include <string_view>

#include "hwsim/chip/chip.hpp"

namespace taskspec {

// Throws Error.
std::shared_ptr<const Chip> chip_named(std::string_view name_or_path);

}  // namespace taskspec
