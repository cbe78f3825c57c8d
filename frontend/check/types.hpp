// Types as they are written -> Type. Extents are polynomials of dimension variables and ints.
//
//   x: f32[2*N, n]      ->      Type::tensor(f32, {2*N, n})
#pragma once
#include "frontend/check/body.hpp"

namespace taskspec::checking {

// What `_` and unknown names mean in a written type.
enum class Blank : std::uint8_t {
  refused,    // results of functions
  agent,      // slots and parameters of agents
  parameter,  // a signature: `_` and undeclared capital names are new dimension variables
  pattern,    // `let x: f32[_]`: `_` takes what the value has
  open,       // an argument, `load(f32[_], path)`: only the run knows
  maker,      // an argument, `fill(f32[4], 0.0)`: nothing has what `_` could take
};

// Kind::error when it could not be understood; that has been reported then. `name`: whose type it is, for messages.
Type written_type(Body& body, const ast::TypeExpr& type, Blank blank, std::string_view name = {});

// Where only a tensor may stand, as a slot and an output: `bool` is one of rank 0 there, as `i32` is.
Type written_tensor(Body& body, const ast::TypeExpr& type, Blank blank, std::string_view name = {});

// `f32[4]` and `f32` where an expression stands; nothing if it is none.
std::optional<Type> type_as_argument(Body& body, const ast::Expr& expr, Blank blank);

}  // namespace taskspec::checking
