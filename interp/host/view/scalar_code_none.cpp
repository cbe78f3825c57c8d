// In place of scalar_code.cpp, where there is no Xbyak, another processor, or somebody who watches memory accesses.
#include "interp/host/view/scalar_code.hpp"

namespace taskspec {

std::unique_ptr<const ScalarCode> ScalarCode::make(const LaneProgram&, const ViewCode&) { return nullptr; }

}  // namespace taskspec
