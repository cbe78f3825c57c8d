// Backends and schedules as texts and command lines name them.
#pragma once
#include <memory>
#include <string>

#include "interp/control/objects.hpp"
#include "interp/toolbox.hpp"
#include "ir/plan/backend.hpp"

namespace taskspec {

// What stands after `on` in the language, such as "host(threads: 2)": from a command line.
Result<BackendChoice> read_backend(const std::string& written, const Toolbox& tools, Sources& sources);

Schedule schedule_of(const std::string& name);  // push if it is empty

}  // namespace taskspec
