// Scalar programs as machine code: made once per body, run for every point that is bound to it. Where things of a point
// lie stands in a table; values that nobody else wants stay in registers, all others in the scratch as ever.
//
//   r2 = kernel add(r0, r1)   ->   movsd xmm0, [rbx + 0];  addsd xmm0, [rbx + 16];  movsd [rbx + 32], xmm0
//
// What has no short form (ScalarStep), and what a short form refuses, calls the machine out of that code; the loops do,
// too, whose elements do not lie one behind the other.
#pragma once
#include <cstdint>
#include <memory>

#include "interp/host/view/lane_code.hpp"

namespace taskspec {

struct ViewCode;

// Of one bound body. The code reads it at these places, so it is nothing but numbers.
struct ScalarFrame {
  struct Access {
    std::byte* from = nullptr;  // aligned: of the point of the loop that has root index 0; else of place 0
    // index: of points lo + [0, extent) the places are those numbers + shift; all other points the machine knows.
    std::int64_t lo = 0, extent = 0, shift = 0;
  };
  struct Loop {
    std::int64_t is_settled = 0;      // else `enter` is called each time
    std::int64_t first = 0, end = 0;  // root indices
    std::int64_t to_point = 0;        // from there
    std::int64_t at = 0;              // while an inner loop runs
  };
  enum class Entered : std::int32_t { settled, done, failed };

  std::byte* scratch = nullptr;
  Loop* loops = nullptr;
  Access* accesses = nullptr;
  std::int64_t turns_left = 0;  // until somebody looks for an interrupt
  // What they throw they keep, since it finds no way through code that no compiler made: then they say 1.
  std::int32_t (*instruction)(ScalarFrame*, std::uint32_t loop, std::uint32_t position, std::int64_t at) = nullptr;
  Entered (*enter)(ScalarFrame*, std::uint32_t loop) = nullptr;
  std::int32_t (*look)(ScalarFrame*) = nullptr;  // for an interrupt
  void* owner = nullptr;
};

class ScalarCode {
 public:
  static constexpr std::uint32_t top = UINT32_MAX;      // the code that is in no loop
  static constexpr std::int64_t turns_per_look = 1024;  // as the machine has it
  // Null: there is nothing to gain, or this processor, the system or the build has no such thing.
  static std::unique_ptr<const ScalarCode> make(const LaneProgram& program, const ViewCode& code);
  virtual ~ScalarCode() = default;
  virtual bool run(ScalarFrame& frame) const = 0;  // false: one of the calls failed
};

}  // namespace taskspec
