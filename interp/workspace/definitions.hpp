// Names that the entries of a session define more than once, as a file has them, where each has one meaning: all but
// the last definition take names of their own. Declarations that use such a name meant something else from then on, and
// stand there once more; earlier ones that nobody called go.
//
//   let x = 1                          let x_1 = 1
//   fn f() -> int { return x }
//   let y = x                          let y = x_1
//   let x = 2                          let x = 2
//                                      fn f() -> int { return x }
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "frontend/ast.hpp"

namespace taskspec {

struct TextEdit {
  std::uint32_t at, length;
  std::string text;
};

// The text with edits that do not overlap; of two at one place the insertion comes first.
std::string edited(std::string_view text, std::vector<TextEdit> edits);

struct EntryDefinitions {
  const Ast* tree;  // null if the text is none
  std::string_view text;
  std::span<const std::string> broken;  // declarations that are gone with it
  bool stands;                          // what it defines is not taken back
};

struct DefinedOnce {
  std::vector<std::vector<TextEdit>> edits;  // by entry
  std::vector<std::string> behind;           // by entry: what follows it
};

DefinedOnce defined_once(std::span<const EntryDefinitions> entries);

}  // namespace taskspec
