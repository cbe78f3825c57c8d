#include "ir/program.hpp"

namespace taskspec {

std::string Program::display_name(FunctionId id) const {
  const Function& function = (*this)[id];
  return function.agent.valid() ? (*this)[function.agent].name + "." + function.name : function.name;
}

}  // namespace taskspec
