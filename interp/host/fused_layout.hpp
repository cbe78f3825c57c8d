// Where the values of a body lie and in which passes its ops run. Consecutive element-wise ops become one
// pass over strips of the data; what only lives inside a pass never leaves the cache:
//
//   a = x * 2;  b = a + 1;  y = relu(b)     ->  one pass, `a` and `b` in strips of some kilobytes
//
// What lives between passes has an offset in the worker's scratch, and bytes are taken over where that is
// legal. An output whose bytes are also those of an input (a place updated in place) is written there
// only after the last read of the input, else beside it and copied in the end.
#pragma once
#include "interp/host/fused_body.hpp"

namespace taskspec {

struct BytesAt {
  enum class Kind : std::uint8_t { operand, constant, scratch, strip } kind = Kind::scratch;
  std::size_t at = 0;  // operand: inputs, then outputs; constant: in FusedBody::constants; scratch: bytes; strip: slot
};

struct FusedPass {
  std::vector<std::uint32_t> ops;  // positions in FusedBody::ops; several only when `strips`
  bool strips = false;
  std::int64_t elements = 0;  // of every value, when `strips`
  std::int64_t strip_elements = 0;
  std::size_t slots = 0, slot_bytes = 0;
};

struct FusedCopy {
  BytesAt from, to;
  std::size_t bytes = 0;
};

struct FusedLayout {
  std::vector<BytesAt> places;  // by value
  std::vector<FusedPass> passes;
  std::vector<FusedCopy> before, after;
  std::size_t scratch_bytes = 0;
};

// Bounds of one strip pass; a worker's stack holds its strips.
struct StripLimits {
  static constexpr std::size_t memory = 64 << 10, ops = 32, inputs = 3;
};

// `kernels` by op.
FusedLayout lay_out(const FusedBody& body, std::span<const std::shared_ptr<const Kernel>> kernels);

}  // namespace taskspec
