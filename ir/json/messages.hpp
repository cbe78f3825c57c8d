// What a program that reads model files tells the tool that started it: one JSON object on its standard output.
//
//   {"notes":["batch is open"],"diagnostics":[...]}        diagnostics as --diagnostics=json has them, without places
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ir/base/diag.hpp"

namespace taskspec {

struct Messages {
  std::vector<std::string> notes;
  Diags diags;
};

std::string messages_json(const Messages& messages);
// E7003 for what is no such object.
Messages read_messages(std::string_view text);

}  // namespace taskspec
