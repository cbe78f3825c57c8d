// Whether a task over views, from its text, has machine code: none has any where the build or the processor is without.
#pragma once
#include "interp/host/view/lane_maker.hpp"
#include "interp/host/view/scalar_code.hpp"
#include "ir/view_code/make_view_code.hpp"
#include "stdlib/ops.hpp"
#include "tests/unit/checking.hpp"

namespace taskspec::testing {

inline bool has_machine_code(const std::string& text, const std::vector<ArrayType>& inputs = {}) {
  const Checked made = checked(text);
  const OpTable ops = standard_ops();
  for (std::size_t k = 0; k < made.program->functions.size(); ++k) {
    if (made.program->functions[k].kind != FunctionKind::task) continue;
    const Result<ViewCode> code = make_view_code({*made.program, FunctionId(k), ops, inputs});
    return ScalarCode::make(make_lanes(*code, ops), *code) != nullptr;
  }
  return false;
}

// Of the plainest body that is no strip.
inline bool machine_code_exists() {
  return has_machine_code(
      "fields C { a: f64 }\ntask t(inout c: C[_].{a}) { for i in c { if i > 0 { c[i].a = 1.0 } } }\n");
}

}  // namespace taskspec::testing
