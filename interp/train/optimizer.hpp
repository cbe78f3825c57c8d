// What sgd(...), adam(...) and adamw(...) give: the rule by which weights change, a task of the module `training`, and
// what it is called with.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "interp/control/objects.hpp"

namespace taskspec {

class Optimizer final : public Object {
 public:
  std::string name;                                    // "sgd"
  std::string rule;                                    // the task that changes a weight: "sgd_momentum"
  Value lr;                                            // a number, or a function of the number of the step
  std::vector<std::pair<std::string, Value>> options;  // by parameter of the rule
  std::string text() const override;
};

}  // namespace taskspec
