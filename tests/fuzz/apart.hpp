// A reader on a library that does not stand everything (libhdf5) runs in a process of its own, whose time is bounded.
#pragma once
#include "ir/base/diag.hpp"
#include "ir/base/function_ref.hpp"
#include "tests/fuzz/readers.hpp"

namespace taskspec::fuzz {

enum class Fate : std::uint8_t { accepted = 40, refused, contradicted };  // as exit codes: no sanitizer has these

// What became of a file that could not be read: E7003 and E5008 are due, nothing else is.
Fate fate_of(const Error& error);

// Whether it was taken; Odd where it contradicts itself or waits for ever, with the words for a contradiction. What
// crashes is refused, or Odd too.
enum class Crash : std::uint8_t { refuses, is_odd };
bool read_apart(FunctionRef<Fate()> read, Crash crash, const char* contradiction);

}  // namespace taskspec::fuzz
