// The body of a task over views, made ready to run on the host: made once per task and ranks of its views, run for each
// point of a launch on memory that the caller owns.
//
//   task add_one(inout c: Cell[_].{state}) { for i in c { c[i].state += 1.0 } }
//
//   Result<std::shared_ptr<const ViewBody>> body = ViewBody::make({program, task, ops, inputs});
//   (*body)->run({.views = views, .inputs = inputs, .outputs = outputs, .point = point}, context);
//   (*body)->form() == "strip"
//
// Loops over a view run as strips of 512 points where that means the same as one point after the other; else as byte
// code for each point. Both do what the kernels of the op records do. Ops on whole tensors are the kernels themselves;
// a body with some, whose loops are strips, has the form "tensors".
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "interp/host/task_code.hpp"
#include "ir/base/result.hpp"
#include "ir/region/piece_memory.hpp"
#include "ir/view_code/view_code.hpp"

namespace taskspec {

class ExternBody;  // ir/plan/extern_body.hpp

struct ViewField {
  std::byte* base = nullptr;  // of ViewMemory::memory
};

// What one view parameter of one point stands for. Of a `reduce` parameter the memory is the buffer of the piece.
struct ViewMemory {
  const IndexSpace* points = nullptr;
  const Rect* root = nullptr;
  std::span<const ViewField> fields = {};  // by field of the region; those that the view does not have may be null
  PieceMemory memory = {};                 // without a box: the array of the whole region
};

struct ViewRun {
  std::span<const ViewMemory> views = {};         // by view parameter
  std::span<const std::byte* const> inputs = {};  // of all other parameters, in order; host scalars as i64, f64, bool
  std::span<std::byte* const> outputs = {};       // of the outputs, behind them the new versions of `inout` tensors
  std::span<const std::size_t> output_elements = {};  // how many each has: for C++, which has no other word of it
  const Point* point = nullptr;                       // of the launch, for messages; null: of none
  bool checks_membership = false;  // reads through an index field must lie in the view, not just in the root
};

class ViewBody {
 public:
  struct Request {
    const Program& program;
    FunctionId task;
    const OpTable& ops;
    std::vector<ArrayType> inputs;                           // by other parameter; host scalars have rank 0
    std::function<Value(ModuleId, VariableId)> global = {};  // what the top level of a module holds
  };
  // Or why it cannot be run: E1009 names what a body over views cannot have.
  static Result<std::shared_ptr<const ViewBody>> make(const Request& request);
  static Result<std::shared_ptr<const ViewBody>> of(ViewCode code, const OpTable& ops);
  static std::shared_ptr<const ViewBody> of(std::shared_ptr<const ExternBody> body);
  virtual ~ViewBody() = default;

  virtual std::size_t scratch_bytes() const = 0;  // of TaskContext::scratch
  // False when it failed: context.faults says why.
  virtual bool run(const ViewRun& run, TaskContext& context) const = 0;
  // What it is handed may become others between its runs, its views not; all that `run` names, and the context, stay
  // where they are. Null: nothing is gained by it.
  virtual std::unique_ptr<BoundCode> bind(const ViewRun& /*run*/, TaskContext& /*context*/) const { return nullptr; }
  // A C++ function, for whoever calls it himself; null: it is none.
  virtual const ExternBody* extern_body() const { return nullptr; }
  virtual std::string_view form() const = 0;  // "strip", "tensors", "scalar", "extern"
  virtual const std::string& why_not_strip()
      const = 0;  // empty where loops are strips: "line 4 reads g.a, which line 5 writes, ..."
};

}  // namespace taskspec
