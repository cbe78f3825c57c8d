// The part of the syntax tree that has a value: expressions and types. Statements and declarations: frontend/ast.hpp.
//
//   2.0 * x.sum(0)    Binary{"*", FloatLit 2, Call{Member{NameExpr x, sum}, [IntLit 0]}}
//
//   if (auto* call = std::get_if<ast::Call>(&expr.node)) ...
//
// Each node says in `describe` what it consists of (frontend/ast_parts.hpp). Pointers are null only where a comment
// says so.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "frontend/ast_parts.hpp"
#include "ir/base/source.hpp"
#include "ir/types/array.hpp"

namespace taskspec::ast {

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
  void describe(Parts& to) const {
    if (name) to << *name << ": ";
    to << value;
  }
};

// One entry of `[...]`: a position (`at`), or a slice `low..high` whose open ends are null.
struct IndexItem {
  Span span;
  bool is_slice = false;
  ExprPtr at;
  ExprPtr low, high;
  void describe(Parts& to) const {
    to << at << low;
    if (is_slice) to << "..";
    to << high;
  }
};

// ---- expressions ----

struct NameExpr {
  Name name;
  void describe(Parts& to) const { to << Mention{name}; }
};

struct IntLit {
  std::int64_t value;
  void describe(Parts& to) const { to << value; }
};

struct FloatLit {
  double value;
  void describe(Parts& to) const { to << value; }
};

struct StringLit {  // escapes resolved
  std::string value;
  void describe(Parts& to) const { to << Quoted{value}; }
};

struct BoolLit {
  bool value;
  void describe(Parts& to) const { to << (value ? "true" : "false"); }
};

struct TupleExpr {  // two parts or more
  std::vector<Expr> parts;
  void describe(Parts& to) const { to << "(tuple " << List{parts, " "} << ")"; }
};

struct ListExpr {
  std::vector<Expr> parts;
  void describe(Parts& to) const { to << "[" << List{parts, " "} << "]"; }
};

struct Member {
  ExprPtr base;
  Name name;
  void describe(Parts& to) const { to << "(. " << base << " " << name << ")"; }
};

struct Call {
  ExprPtr callee;
  std::vector<Arg> args;
  Span brackets;
  void describe(Parts& to) const { to << "(call " << callee << (args.empty() ? "" : " ") << List{args, " "} << ")"; }
};

struct Index {
  ExprPtr base;
  std::vector<IndexItem> items;
  Span brackets;
  void describe(Parts& to) const { to << "(index " << base << " " << List{items, " "} << ")"; }
};

struct Unary {  // "-" "!"
  Name op;
  ExprPtr operand;
  void describe(Parts& to) const { to << "(" << op << " " << operand << ")"; }
};

struct Binary {  // every binary operator but ".."
  Name op;
  ExprPtr left, right;
  void describe(Parts& to) const { to << "(" << op << " " << left << " " << right << ")"; }
};

struct RangeExpr {  // `low..high`
  ExprPtr low, high;
  Span dots;
  void describe(Parts& to) const { to << "(.. " << low << " " << high << ")"; }
};

struct Cast {  // `value as type`
  ExprPtr value;
  TypePtr type;
  void describe(Parts& to) const { to << "(as " << value << " " << type << ")"; }
};

struct Lambda {
  Pattern params;
  ExprPtr body;
  Span arrow;
  void describe(Parts& to) const { to << "(=> " << Bind{params, KnownIn::node} << " " << body << ")"; }
};

struct Launch {  // sharding: null without `by`
  ExprPtr call;
  Pattern point;
  ExprPtr domain;
  ExprPtr sharding;
  void describe(Parts& to) const {
    to << "(launch " << call << " for " << Bind{point, KnownIn::node} << " in " << domain;
    if (sharding) to << " by " << sharding;
    to << ")";
  }
};

struct Run {
  ExprPtr call;
  ExprPtr backend;
  void describe(Parts& to) const { to << "(run " << Last{call} << " on " << backend << ")"; }
};

struct RegionExpr {  // `region Rows[n]`
  TypePtr type;
  void describe(Parts& to) const { to << "(region " << type << ")"; }
};

struct Given {  // a tensor that a host program in C++ hands in; no text has one
  Array array;
  void describe(Parts& to) const { to << "(given " << array << ")"; }
};

// Brackets around an expression leave no node but count in its span: that of `(x)` is three bytes long.
struct Expr {
  Span span;
  std::variant<NameExpr, IntLit, FloatLit, StringLit, BoolLit, TupleExpr, ListExpr, Member, Call, Index, Unary, Binary,
               RangeExpr, Cast, Lambda, Launch, Run, RegionExpr, Given>
      node;
  void describe(Parts& to) const;
};

// ---- types ----

// `f32`, `f32[N, M]`, `Rows[_].{f, g}`. `dims` holds expressions (`_` is the NameExpr "_").
struct NamedType {
  Name name;
  std::vector<Expr> dims;
  std::vector<Name> fields;
  void describe(Parts& to) const {
    to << Mention{name};
    if (!dims.empty()) to << "[" << List{dims, ", "} << "]";
    if (!fields.empty()) to << ".{" << List{fields, ", "} << "}";
  }
};

struct ListType {
  TypePtr element;
  void describe(Parts& to) const { to << "[" << element << "]"; }
};

struct TupleType {
  std::vector<TypeExpr> parts;
  void describe(Parts& to) const { to << "(" << List{parts, ", "} << ")"; }
};

struct FnType {  // result: null when nothing is returned
  std::vector<TypeExpr> params;
  TypePtr result;
  void describe(Parts& to) const {
    to << "fn(" << List{params, ", "} << ")";
    if (result) to << " -> " << result;
  }
};

struct TypeExpr {
  Span span;
  std::variant<NamedType, ListType, TupleType, FnType> node;
  void describe(Parts& to) const;
};

}  // namespace taskspec::ast
