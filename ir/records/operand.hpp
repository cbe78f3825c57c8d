// The operands of an op or a builtin: their names, kinds and defaults, as rows of a table.
//
//   constexpr Operand operands[] = {{"x"}, {"axis", OperandKind::axes, Default::absent()}};
#pragma once
#include <array>
#include <cstdint>
#include <string_view>

#include "ir/records/reduce_op.hpp"
#include "ir/types/value.hpp"

namespace taskspec {

enum class OperandKind : std::uint8_t {
  tensor,   // a tensor; a host number is converted to the precision of the other tensors
  tensors,  // a list of tensors
  integer,
  real,
  boolean,
  string,
  axes,      // an int or a tuple of ints: axes counted from 0
  pair,      // an int or a pair of ints: (y, x)
  value,     // any host value
  type,      // a written tensor type
  function,  // a function value
  data,      // a region, a piece, a field of one or a partition: the rule says which
};

// A default as a literal; `none` means that the operand must be given, `absent` that it may be missing
// (the rule and the kernel then see Type::Kind::none and a none Value).
struct Default {
  enum class Kind : std::uint8_t { none, absent, integer, real, boolean, string } kind = Kind::none;
  std::int64_t integer = 0;
  double real = 0;
  std::string_view string;

  constexpr Default() = default;
  constexpr Default(bool v) : kind(Kind::boolean), integer(v) {}
  constexpr Default(int v) : kind(Kind::integer), integer(v) {}
  constexpr Default(double v) : kind(Kind::real), real(v) {}
  constexpr Default(const char* v) : kind(Kind::string), string(v) {}
  static constexpr Default absent() {
    Default d;
    d.kind = Kind::absent;
    return d;
  }
  Value value() const;
};

// Who gives an operand that the text leaves out.
enum class Supply : std::uint8_t {
  standard,  // its default
  console,   // who runs the program: where it writes; the version of that keeps the calls of such ops in order
  stream,    // the agent whose slot begins with this: random numbers of its own
};

// What the language does with an op or a builtin where nobody writes its name.
enum class Serves : std::uint8_t {
  nothing,
  fills,     // a number becomes a tensor of a written type: the first value of a slot
  reshapes,  // a tensor of one element gets the rank that is wanted
  picks,     // x[i] with a tensor i
  counts,    // s[1..]: how long a list or a string is
  shows,     // what a value is, in a line of the output
  loads,     // the contents of a file, as the first value of a slot: file("w.npy")
  blocks,    // the call of an `ir` declaration
  grids,     // the points of a grid: of a launch its extents are enough
  cuts,      // a tensor becomes blocks of given extents along an axis: a batch in parts
  joins,     // and the other way round
};

// What a call may do with an argument.
enum class Privilege : std::uint8_t { in, out, inout, reduce };

// How a signature writes the operators of `reduce(op)`.
inline constexpr std::array<std::string_view, 4> reduce_words{"+", "*", "min", "max"};

struct Operand {
  std::string_view name;
  OperandKind kind = OperandKind::tensor;
  Default standard = {};  // the value when it is not given
  bool variadic = false;  // last operand only: any number of further ones
  // `inout` wants a place; the output of the operand's name is its new version.
  Privilege privilege = Privilege::in;
  Supply supply = Supply::standard;
  // An int that may be another one at each run, such as `call` of random numbers: kernels read it from an input of one
  // element, so that it is part of no plan.
  bool at_run = false;
};

}  // namespace taskspec
