// Where the characters of a text begin, so that a loop over a text by index does not count them anew each time: what
// was asked about last is known.
//
//   const std::vector<std::size_t>& starts = letters.of(value);   // "añb": 0, 1, 3, and the end, 4
#pragma once
#include <array>
#include <cstddef>
#include <vector>

#include "ir/types/value.hpp"

namespace taskspec {

class Letters {
 public:
  // Byte offsets of the code points of a string, and one past its end. Good until the next call.
  const std::vector<std::size_t>& of(const Value& text);
  std::size_t counted() const { return counted_; }  // bytes that were looked at, for tests

 private:
  struct Known {
    Value text;  // it stays while it is known, so no other one can have its address
    std::vector<std::size_t> starts;
  };
  std::array<Known, 4> known_;  // a program may compare a few texts
  std::size_t next_ = 0;
  std::size_t counted_ = 0;
};

}  // namespace taskspec
