#include "ir/region/made_here.hpp"

namespace taskspec {

void label_made(Diag& diag, Span made, const std::string& what) {
  if (made.valid() && !(made == diag.primary.span)) diag.label(made, what + " is made here");
}

Error failure(Code code, Span span, std::string message, const Partition& p) {
  Diag diag(code, Severity::error, span, std::move(message));
  label_made(diag, p);
  return Error(std::move(diag));
}

}  // namespace taskspec
