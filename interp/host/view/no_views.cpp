// In place of the bodies over views, for a first tool: nobody gives it a program that has one.
#include "interp/host/view/view_body.hpp"
#include "ir/base/diag.hpp"

namespace taskspec {

Result<std::shared_ptr<const ViewBody>> ViewBody::make(const Request&) { bug("a first tool has no bodies over views"); }

Result<std::shared_ptr<const ViewBody>> ViewBody::of(ViewCode, const OpTable&) {
  bug("a first tool has no bodies over views");
}

std::shared_ptr<const ViewBody> ViewBody::of(std::shared_ptr<const ExternBody>) {
  bug("a first tool has no bodies over views");
}

}  // namespace taskspec
