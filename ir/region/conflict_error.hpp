// What a launch throws that is not independent: who knows where its arguments stand in the text can show both.
#pragma once
#include "ir/base/diag.hpp"
#include "ir/region/independence.hpp"

namespace taskspec {

class ConflictError final : public Error {
 public:
  ConflictError(Diag diag, const Conflict& found) : Error(std::move(diag)), conflict(found) {}
  const Conflict conflict;
};

}  // namespace taskspec
