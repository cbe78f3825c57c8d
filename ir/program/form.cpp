#include "ir/program/form.hpp"

namespace taskspec {

std::span<const Form> all_forms() {
  static constexpr Form all[] = {
#define TASKSPEC_FORM(name) Form::name,
#include "ir/program/forms.def"
#undef TASKSPEC_FORM
  };
  return all;
}

}  // namespace taskspec
