// The part of the syntax tree that has a value: expressions and types. Statements and declarations: frontend/ast.hpp.
//
//   2.0 * x.sum(0)    Binary{"*", FloatLit 2, Call{Member{NameExpr x, sum}, [IntLit 0]}}
//
//   if (auto* call = std::get_if<ast::Call>(&expr.node)) ...
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "ir/base/source.hpp"
#include "ir/types/array.hpp"

namespace taskspec::ast {

struct Expr;
struct TypeExpr;
using ExprPtr = std::unique_ptr<Expr>;      // null only where a comment below says so
using TypePtr = std::unique_ptr<TypeExpr>;  // likewise

// A name or an operator sign, with its own place. Operators are text ("+", "&&", "+="), so that what they
// mean stands in one table of the checker and not in an enum here.
struct Name {
  std::string text;
  Span span;
};

// `x` or `(x, y)`; one name takes the value as it is, several take a tuple apart.
struct Pattern {
  Span span;
  std::vector<Name> names;
};

struct Arg {  // `x` or `name: x`
  Span span;
  std::optional<Name> name;
  ExprPtr value;
};

// One entry of `[...]`: a position (`at`), or a slice `low..high` whose open ends are null.
struct IndexItem {
  Span span;
  bool is_slice = false;
  ExprPtr at;
  ExprPtr low, high;
};

// ---- expressions ----

struct NameExpr {
  Name name;
};

struct IntLit {
  std::int64_t value;
};

struct FloatLit {
  double value;
};

struct StringLit {  // escapes resolved
  std::string value;
};

struct BoolLit {
  bool value;
};

struct TupleExpr {  // two parts or more
  std::vector<Expr> parts;
};

struct ListExpr {
  std::vector<Expr> parts;
};

struct Member {
  ExprPtr base;
  Name name;
};

struct Call {
  ExprPtr callee;
  std::vector<Arg> args;
  Span brackets;
};

struct Index {
  ExprPtr base;
  std::vector<IndexItem> items;
  Span brackets;
};

struct Unary {  // "-" "!"
  Name op;
  ExprPtr operand;
};

struct Binary {  // every binary operator but ".."
  Name op;
  ExprPtr left, right;
};

struct RangeExpr {  // `low..high`
  ExprPtr low, high;
  Span dots;
};

struct Cast {  // `value as type`
  ExprPtr value;
  TypePtr type;
};

struct Lambda {
  Pattern params;
  ExprPtr body;
  Span arrow;
};

struct Launch {  // sharding: null without `by`
  ExprPtr call;
  Pattern point;
  ExprPtr domain;
  ExprPtr sharding;
};

struct Run {
  ExprPtr call;
  ExprPtr backend;
};

struct RegionExpr {  // `region Rows[n]`
  TypePtr type;
};

struct Given {  // a tensor that a host program in C++ hands in; no text has one
  Array array;
};

// Brackets around an expression leave no node but count in its span: that of `(x)` is three bytes long.
struct Expr {
  Span span;
  std::variant<NameExpr, IntLit, FloatLit, StringLit, BoolLit, TupleExpr, ListExpr, Member, Call, Index, Unary, Binary,
               RangeExpr, Cast, Lambda, Launch, Run, RegionExpr, Given>
      node;
};

// ---- types ----

// `f32`, `f32[N, M]`, `Rows[_].{f, g}`. `dims` holds expressions (`_` is the NameExpr "_").
struct NamedType {
  Name name;
  std::vector<Expr> dims;
  std::vector<Name> fields;
};

struct ListType {
  TypePtr element;
};

struct TupleType {
  std::vector<TypeExpr> parts;
};

struct FnType {  // result: null when nothing is returned
  std::vector<TypeExpr> params;
  TypePtr result;
};

struct TypeExpr {
  Span span;
  std::variant<NamedType, ListType, TupleType, FnType> node;
};

}  // namespace taskspec::ast
