// What people write who come from Python, C++, Julia or Rust, and how it is written here: the help of E0001.
//
//   foreign_advice({.start = "def", .before = "def", .here = "f"})      // "a function is written fn f(x: int) -> ..."
#pragma once
#include <string_view>

namespace taskspec::parsing {

// Words around the token that the parser did not expect.
struct Surroundings {
  std::string_view start;                                   // the first of its statement
  std::string_view before, here, next;                      // `here` is the token; empty where there is none
  char open = 0;                                            // the innermost bracket that is open there
  bool touches = false;                                     // no blank between `before` and `here`
  bool is_name = false, is_string = false, is_end = false;  // `here`: a name, a string, the end of a line or file
  bool wants_body = false;                                  // a { and nothing else may stand here
  bool wants_value = false;                                 // an expression may
  bool wants_type = false;                                  // a : and nothing else, in a parameter
  bool wants_parameter = false, wants_slot = false;
  bool wants_start = false;  // an = and nothing else, behind let or var
};

// Empty: nothing that looks like it.
std::string_view foreign_advice(const Surroundings& s);

}  // namespace taskspec::parsing
