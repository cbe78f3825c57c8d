// A body over views made ready to run: flat code over registers. Outside of loops over points, and inside of those that
// run as scalar code, a register holds one element; in strips it holds 512 of them, or points into a field.
//
//   for i in own { own[i].flux += 0.5 * g[i - 1].state }
//
//   r0 = load own+0.flux;  r1 = load g-1.state;  r2 = kernel mul(r3, r1);  r4 = kernel add(r0, r2);  store own+0.flux
//   r4
#pragma once
#include <array>
#include <memory>
#include <string>
#include <vector>

#include "interp/host/view/lane_shapes.hpp"
#include "interp/host/view/scalar_step.hpp"
#include "ir/records/op.hpp"
#include "ir/region/point.hpp"
#include "ir/types/dim.hpp"

namespace taskspec {

struct ViewStep;

inline constexpr std::int64_t strip_length = 512;

using Register = std::uint32_t;

struct LaneRegister {
  Precision precision = Precision::f64;
  std::uint8_t width = 8;  // bytes of an element
  bool lanes = false;
  std::size_t at = 0;  // bytes in the scratch
  static constexpr std::uint32_t checked = UINT32_MAX;
  std::uint32_t unchecked = checked;  // places of this access that nobody has looked at yet
};

// Where a field is read or written. Aligned: at the point of the innermost loop, moved by constants. Else `index` has
// registers of ints.
struct LaneAccess {
  std::uint32_t view = 0, field = 0;
  std::uint8_t width = 8;
  bool aligned = false;
  bool by_number = false;    // at the point with as many points before it as that of the loop; then aligned, too
  bool or_else = false;      // at(): there may be no such point
  bool writes = false;       // the place, or another access whose places are the same
  std::vector<Dim> offsets;  // by axis; their symbols have numbers of registers of one element
  std::array<std::int64_t, highest_rank> constants{};  // those of them that have no symbols
  bool is_constant = true;                             // all of them
  std::vector<Register> index;
  Span span;
};

struct LaneGather {  // an operand of a shape that is read through places: those are in `places`
  std::uint32_t access = 0;
  Register places = 0;
};

struct LaneInstruction {
  enum class Kind : std::uint8_t {
    kernel,         // out = kernel(in...), or as the shape says, which may gather some operands
    number,         // out = op(in...) on host values
    convert,        // out = the host value in[0] in the precision of out
    copy,           // out = in[0]
    extent,         // out = extent `number` of view `access`
    coordinate,     // out = coordinate `number` of the point
    load,           // out = aligned field, or in[0] where there is no such point
    index,          // out = places of `access` in its root, by its registers
    gather,         // out = field at places in[0], or in[1] where there is no such point
    store,          // aligned field = in[0]
    scatter,        // field at places in[0] = in[1]
    folds,          // fields at places in[0], in[2]... folded with in[1], in[3]..., point by point; where `products`,
                    // with those times what stands behind all these
    total,          // one more strip of total `number` of the loop is in[0]
    load_whole,     // out = elements of input `number`, or of a tensor, as many as the view has points
    store_whole,    // output `number`, or a tensor, has in[0] there
    make_tensor,    // tensor `out` has an element for each point of view `access`
    tensor_op,      // out, a tensor or one element, = what `step` does
    jump,           // to `number`
    jump_unless,    // in[0]
    jump_if_empty,  // where view `access` has no points
    count,          // if in[0] >= in[1] jump, else out = in[0], in[0] += 1
    loop            // loop `number`
  };
  Kind kind = Kind::kernel;
  bool copies = false;    // load: its value is needed after the field is written
  bool direct = false;    // kernel: writes into the field of `access`
  bool passes = false;    // index: places may stay where in[0] has them
  bool deferred = false;  // and then who uses them looks whether they are inside
  bool products = false;  // folds
  bool tensor = false;    // load_whole, store_whole: of the tensor in register `number`; copy: of a tensor
  Register out = 0;
  std::vector<Register> in = {};
  const Kernel* kernel = nullptr;
  ShapeLoop shape = nullptr;
  GatherLoop gather = nullptr;  // then `in` has the operands that are not gathered, and behind them all places
  std::vector<LaneGather> gathers = {};
  const OpDef* op = nullptr;
  std::vector<Value> attributes = {};
  std::uint32_t access = 0, number = 0;
  const ViewStep* step = nullptr;  // in the code that this is made of
  Span span = {};
};

struct LaneFold {  // an entry of `folds`, for two of its registers
  std::uint32_t access = 0;
  const OpDef* op = nullptr;
  const Kernel* kernel = nullptr;
  Span span = {};
};

struct LaneTotal {  // of all points of a loop
  std::string_view op;
  Register in = 0, out = 0;
  Span span;
};

struct LaneMove {  // lanes that lie in a field, at the point where the strip begins
  Register at = 0;
  std::uint32_t access = 0;
};

struct LaneLoop {
  std::uint32_t view = 0;
  bool strip = false;
  std::vector<LaneInstruction> code;
  std::vector<ScalarStep> steps;                      // that code, of what is no strip
  std::vector<std::uint32_t> aligned;                 // accesses whose bounds are looked at once per run
  std::vector<Register> coordinates;                  // of one element each, in scalar code
  std::vector<std::pair<Register, Register>> spread;  // one element -> lanes, before the first strip
  std::vector<std::vector<LaneFold>> folds;           // by LaneInstruction::number
  std::vector<LaneTotal> totals;
  std::vector<std::uint32_t> wholes;  // inputs, and tensors by register, that have an element for each point
  bool by_rows = false;               // a run may not go on in the next row
  bool plain = false;                 // of points nothing matters but where their elements lie
  bool has_passes = false;            // several, one after the other, over what comes from memory
  // Of a plain loop over long runs whose elements lie alike everywhere: what only says where lanes lie is done for all
  // of them at once, and the rest is this.
  std::vector<LaneMove> moves;
  std::vector<LaneInstruction> dense;
};

struct LaneInput {  // of one element, and where the scratch has it
  std::uint32_t number = 0, at = 0;
  std::uint8_t width = 8;
};

struct LaneProgram {
  std::vector<LaneRegister> registers;
  std::vector<LaneAccess> accesses;
  std::vector<LaneInput> inputs;
  std::vector<LaneLoop> loops;
  std::vector<LaneInstruction> code;
  std::vector<ScalarStep> steps;  // that code
  std::vector<std::byte> ones;    // how the scratch begins: the registers of one element, with constants in place
  std::vector<std::pair<Register, Array>> tensors;  // constants, too
  std::vector<std::unique_ptr<Kernel>> kernels;
  std::size_t scratch_bytes = 0;
  std::size_t places_at = 0;  // in the scratch: root indices of the points of a strip
  bool has_tensors = false;   // which the body makes, or are constants of it
  bool has_strips = false;    // else there are no lanes, and all of the scratch is `ones`
  std::string why_not_strip;
  Span why_at;
};

}  // namespace taskspec
