// The reverse of a task: an op list that takes gradients of its outputs to those of its inputs, made of the gradients
// that the records of its ops state.
//
//   y = x * w                         gw = x * gy          (x is read, a value of the forward list)
//   z = y + b           reverse ->    gb = gz, gy = gz
//
//   Reverse made = reverse(list, {.upstream = {true}, .wanted = {false, true, true}}, ops);
//
// A gradient belongs to a value, so to one version of a place. What is read several times gets the sum over its
// readers, in the order of lines and operands: the same bits wherever the list runs. Integers and bools end a path, and
// so does an op whose record says that it has no gradient.
#pragma once
#include "ir/graph/op_list.hpp"

namespace taskspec {

// Which values of the forward list stay for its reverse, and which are computed again there.
enum class Recompute : std::uint8_t {
  none,  // all stay that the reverse reads
  sqrt,  // n lines are about sqrt(n) stretches: what is read behind the stretch that made it stays
};

struct ReverseOptions {
  std::vector<bool> upstream;  // by output of the list: its gradient is given
  std::vector<bool> wanted;    // by input: its gradient is asked for
  Recompute recompute = Recompute::none;
};

struct Reverse {
  // Inputs: the gradients of outputs that are given, then `reads`. Outputs: the gradients of `inputs`. Each line stands
  // where the line stands whose reverse it is.
  OpList list;
  std::vector<std::size_t> upstream;  // which outputs of the forward list have their gradients as inputs, in order
  std::vector<ValueId> reads;         // what it needs of the values of the forward list, inputs among them
  std::vector<std::size_t> inputs;    // those wanted ones that some given output depends on
  struct End {
    std::size_t line = 0;   // of the forward list: its op has no gradient
    std::size_t input = 0;  // a wanted one that has a path to the line
  };
  std::vector<End> ends;
};

// Of a list without symbols.
Reverse reverse(const OpList& forward, const ReverseOptions& options, const OpTable& ops);

}  // namespace taskspec
