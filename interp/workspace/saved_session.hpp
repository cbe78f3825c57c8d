// What was entered at a prompt as a file: one that :load enters again entry by entry, since names may be defined
// again in it, and that runs. A file wants values to be printed and has no `_`; where that makes another text of an
// entry, the entry stands below it as it was, for :load:
//
//   3 + 4               ->      let _v1 = 3 + 4; print(_v1)
//   let k = _ + 1       ->      let k = _v1 + 1
//   r.y.array           ->      print(r.y.array)
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace taskspec {

// An entry that ran, whether its last statement has a value, and whether it was not taken back because it failed: then
// `_` means what it meant before. Declarations that it made invalid are broken.
struct SavedEntry {
  std::string text;
  bool has_value = false;
  bool stands = true;
  std::vector<std::string> broken = {};
};

std::string session_text(const std::vector<SavedEntry>& entries);

// The entries of such a file; `is_session` tells whether a text is one.
bool is_session(std::string_view text);
std::vector<std::string> entries_of(std::string_view text);

}  // namespace taskspec
