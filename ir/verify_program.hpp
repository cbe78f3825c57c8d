// Is a Program well formed? Run after the checker in debug builds and in every test; what it finds is our own
// mistake, never the user's.
//
//   if (auto wrong = verify(program); !wrong.empty()) bug(wrong[0]);
#pragma once
#include <string>
#include <vector>

#include "ir/program.hpp"

namespace taskspec {

// What is wrong, one sentence each; empty when all is well: ids in range, values made before they are used in
// their block or one around it, each form with the operands and fields it needs, no type `error` left.
std::vector<std::string> verify(const Program& program);

}  // namespace taskspec
