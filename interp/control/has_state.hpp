// Objects that change while a program uses them, beside agents: who runs a part of the program side by side with
// another one takes a copy.
//
//   if (const auto* changing = value.as<HasState>()) own = changing->copy();
#pragma once
#include "ir/types/value.hpp"

namespace taskspec {

class HasState {
 public:
  virtual ~HasState() = default;
  virtual Value copy() const = 0;  // shares nothing that changes
};

}  // namespace taskspec
