// Which argument goes to which parameter: positional ones first, then named ones, none twice.
//
//   f(x, axis: 0)  with  (x, lo: 0, axis)      ->      places {0, 2}; missing: none
#pragma once
#include "frontend/check/world.hpp"

namespace taskspec::checking {

struct ParameterName {
  std::string_view name;
  bool optional = false;
  bool variadic = false;  // the last one only: takes any number of positional arguments
};

struct Callable {
  std::string text;  // "task 'energy'", for messages
  Span declared;     // where it is written, if it is in a text
  std::span<const ParameterName> parameters;
  std::size_t given = 0;  // parameters that have a value already: the receiver of a method
};

// For each argument the position of its parameter; for a variadic one the positions go on. Nothing when the
// call does not fit: that has been reported (E1003).
std::optional<std::vector<std::size_t>> place_arguments(Diags& diags, const Callable& callable,
                                                        std::span<const ast::Arg> args, Span call);

}  // namespace taskspec::checking
