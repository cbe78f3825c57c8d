// Code that goes element by element, once more as small steps: each says where in the scratch its operands lie, and the
// ops that bodies use most are told apart by one number, so that a step costs little more than what it does. A step
// stands for the instruction at the same position of the code; all that has no short form is that instruction.
//
//   r2 = kernel add(r0, r1)   ->   f64_add 32, 0, 16
#pragma once
#include <cstdint>
#include <span>
#include <vector>

namespace taskspec {

struct LaneInstruction;
struct LaneProgram;

struct ScalarStep {
  enum class Kind : std::uint8_t {
    instruction,
    end,            // of the code
    leave,          // the loop over points
    jump,           // to `to`
    jump_back,      // there, and somebody may have interrupted
    jump_unless,    // a
    jump_if_empty,  // view `access`
    count,          // if a >= b jump, else out = a, a += 1
    copy_1,         // by bytes of an element, as those below
    copy_4,
    copy_8,
    load_1,  // out = field of `access` at the point of the loop
    load_4,
    load_8,
    index,  // out = place of the point a in the root, of one axis
    gather_1,
    gather_4,
    gather_8,  // out = field at place a
    scatter_1,
    scatter_4,
    scatter_8,  // field at place a = b
    // Sums and so on of two operands, and comparisons; in this order for each of the precisions.
    f64_add,
    f64_sub,
    f64_mul,
    f64_lt,
    f64_le,
    f64_gt,
    f64_ge,
    f64_eq,
    f64_ne,
    f32_add,
    f32_sub,
    f32_mul,
    f32_lt,
    f32_le,
    f32_gt,
    f32_ge,
    f32_eq,
    f32_ne,
    i64_add,  // which wraps
    i64_sub,
    i64_mul,
    i64_lt,
    i64_le,
    i64_gt,
    i64_ge,
    i64_eq,
    i64_ne,
    int_add,  // of the host: the instruction itself says what is wrong with a result that is too large
    int_sub,
    int_mul,
    f64_div,
    f32_div,
  };
  Kind kind = Kind::instruction;
  std::uint32_t out = 0, a = 0, b = 0;  // bytes from the beginning of the scratch
  std::uint32_t to = 0;                 // position in the code
  std::uint32_t access = 0;             // or view, of jump_if_empty
};

// One for each instruction, and `end`. When it is known where the registers of the program lie.
std::vector<ScalarStep> make_steps(const LaneProgram& program, std::span<const LaneInstruction> code);

}  // namespace taskspec
