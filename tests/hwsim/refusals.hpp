// What a refusal says, in tests of those of chips.
#pragma once
#include <doctest/doctest.h>

#include "hwsim/map/mapper.hpp"

namespace taskspec::tests {

inline Diag refusal_of(const ChipNet& net, const MapOptions& options) {
  const Result<ChipProgram> program = map_net(net, options);
  REQUIRE(!program);
  return program.diags().items().front();
}

inline std::string all_words(const Diag& diag) {
  std::string text = diag.message;
  for (const std::string& note : diag.notes) text += " | " + note;
  return text + " | " + diag.help_text;
}

inline void check_words(const Diag& diag, std::string_view code, const std::vector<std::string>& words) {
  CHECK(diag.code.text() == code);
  for (const std::string& word : words)
    CHECK_MESSAGE(all_words(diag).find(word) != std::string::npos, word << " is not in: " << all_words(diag));
}

}  // namespace taskspec::tests
