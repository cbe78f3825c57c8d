// A C++ function over views, as a backend calls it for each point of a launch: what stands behind
//
//   task stencil(inout own: Cell[_].{flux}, in ghost: Cell[_].{state}) extern "stencil"
//
// Who knows the bodies of tasks knows these, too, where it implements both interfaces.
#pragma once
#include <cstddef>
#include <memory>
#include <span>

#include "ir/program/program.hpp"
#include "ir/region/piece_memory.hpp"
#include "ir/types/array.hpp"

namespace taskspec {

struct ExternView {
  const IndexSpace* points = nullptr;
  const Rect* root = nullptr;
  std::span<std::byte* const> fields = {};  // by field of the region; null where the view does not have it
  PieceMemory memory = {};                  // of each field
};

struct ExternCall {
  std::span<const ExternView> views = {};         // by view parameter
  std::span<const std::byte* const> inputs = {};  // of all other parameters, host scalars as i64, f64, bool
  std::span<std::byte* const> outputs = {};
  std::span<const std::size_t> output_elements = {};  // how many each has
  const Point* point = nullptr;                       // null: of no launch
};

class ExternBody {
 public:
  virtual ~ExternBody() = default;
  virtual void run(const ExternCall& call) const = 0;  // throws Error; on several threads at once
};

class ExternBodies {
 public:
  virtual ~ExternBodies() = default;
  // `inputs`: the types of the other parameters. Throws Error E7001 where nobody said what it is.
  virtual std::shared_ptr<const ExternBody> extern_body(FunctionId task, std::span<const ArrayType> inputs) = 0;
};

}  // namespace taskspec
