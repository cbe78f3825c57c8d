// Makes the steps of a body out of the typed calls of its task: fns are called in place, `let`s are what they name,
// short loops of constant length are written out, host arithmetic on constants is done.
//
//   Result<ViewCode> code = make_view_code({program, task, ops, {}, global});
#pragma once
#include <functional>

#include "ir/base/result.hpp"
#include "ir/program/program.hpp"
#include "ir/view_code/view_code.hpp"

namespace taskspec {

struct ViewCodeRequest {
  const Program& program;
  FunctionId task;
  const OpTable& ops;
  std::vector<ArrayType> inputs;  // by parameter that is no view; numbers of the host have rank 0
  std::function<Value(ModuleId, VariableId)> global = {};  // what the top level of a module holds
};

// E1009 for what such a body cannot have yet: lists, strings, functions as values.
Result<ViewCode> make_view_code(const ViewCodeRequest& request);

}  // namespace taskspec
