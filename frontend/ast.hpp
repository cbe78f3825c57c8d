// The syntax tree of one `.task` file, as written: nothing is resolved, every node keeps its span.
//
//   y = 2.0 * x     Assign{target: NameExpr y, op "=", value: Binary{"*", FloatLit 2, NameExpr x}}
//
// Null pointers occur only where a comment says so. The parser bounds the depth of a tree (E0005), so it may be
// walked by plain recursion.
#pragma once
#include "frontend/ast_expr.hpp"

namespace taskspec::ast {

struct Stmt;

// ---- statements ----

struct Block {
  Span span;  // with its braces
  std::vector<Stmt> stmts;
};

struct Let {  // type: null when inferred
  bool is_var;
  Pattern pattern;
  TypePtr type;
  ExprPtr value;
  void describe(Parts& to) const {
    to << (is_var ? "var " : "let ") << Bind{pattern, KnownIn::rest};
    if (type) to << ": " << type;
    to << " = " << value;
  }
};
struct IfArm {
  Span span;
  ExprPtr condition;
  Block body;
};
struct If {  // `else if` is one more arm
  std::vector<IfArm> arms;
  std::optional<Block> otherwise;
  void describe(Parts& to) const {
    for (const IfArm& arm : arms) {
      if (&arm != &arms.front()) to << Line{arm.span} << "else ";
      to << "if " << arm.condition << arm.body;
    }
    if (otherwise) to << Line{otherwise->span} << "else" << *otherwise;
  }
};

struct For {
  Pattern pattern;
  ExprPtr domain;
  Block body;
  void describe(Parts& to) const { to << "for " << Bind{pattern, KnownIn::blocks} << " in " << domain << body; }
};
struct While {
  ExprPtr condition;
  Block body;
  void describe(Parts& to) const { to << "while " << condition << body; }
};
struct Trace {
  Block body;
  void describe(Parts& to) const { to << "trace" << body; }
};

struct Return {  // value: null in a bare `return`
  ExprPtr value;
  void describe(Parts& to) const {
    to << "return";
    if (value) to << " " << value;
  }
};

struct Break {
  void describe(Parts& to) const { to << "break"; }
};
struct Continue {
  void describe(Parts& to) const { to << "continue"; }
};

struct Assign {  // "=" "+=" "-=" "*=" "/="
  ExprPtr target;
  Name op;
  ExprPtr value;
  void describe(Parts& to) const { to << op << " " << Target{target} << " " << value; }
};

struct ExprStmt {
  ExprPtr value;
  void describe(Parts& to) const { to << value; }
};

struct Stmt {
  Span span;
  std::variant<Let, If, For, While, Trace, Return, Break, Continue, Assign, ExprStmt> node;
  void describe(Parts& to) const;
};

// ---- declarations ----

struct Field {  // of a region; also a named result
  Span span;
  Name name;
  TypeExpr type;
};

struct Privilege {  // `in`, `out`, `inout`, or `reduce` with its operator: "+", "*" or a name
  Span span;
  Name word;
  std::optional<Name> reduce_op;
};

struct Param {
  Span span;
  std::optional<Privilege> privilege;
  Name name;
  TypeExpr type;
  ExprPtr default_value;  // null when the argument must be given
};

struct Results {  // `-> type` (unnamed) or `-> (y: type, ...)` (named); neither when nothing is returned
  Span span;
  TypePtr unnamed;
  std::vector<Field> named;
};

struct ImportDecl {  // `import a.b as c` (path) or `import "net.onnx" as c` (file)
  std::vector<Name> path;
  std::optional<Name> file;  // the string's value, its span with the quotes
  std::optional<Name> alias;
};

struct FieldsDecl {
  Name name;
  std::vector<Field> fields;
};

struct TaskDecl {  // exactly one of body and external
  Name name;
  std::vector<Param> params;
  Results results;
  std::optional<Block> body;
  std::optional<Name> external;  // `extern "symbol"`
};

struct FnDecl {
  bool is_graph;
  Name name;
  std::vector<Param> params;
  Results results;
  Block body;
  std::optional<Name> external = {};  // a function of C++, which no text has: then the body is empty
  bool local = false;                 // and what it gives may differ between shards
};

struct Slot {
  Name kind;
  Name name;
  std::optional<TypeExpr> type;      // a layer has none
  std::shared_ptr<const Expr> init;  // null without `=`
};

struct AgentMember {
  Span span;
  std::variant<Slot, TaskDecl, FnDecl> node;
};

struct AgentDecl {
  Name name;
  std::vector<Param> params;
  std::vector<AgentMember> members;
};

// ---- `ir` blocks ----

struct IrBlock {
  Name name;
  Name kind;
  Name precision;
  std::vector<Arg> dims;
  std::vector<Arg> attributes;
  std::shared_ptr<const Expr> init;  // null without `=`; a slot of what the declaration stands for has it, too
};

struct IrPort {
  Span span;
  Name block;
  std::optional<Name> member;
  std::vector<IndexItem> index;
};

struct IrMove {  // a rearrangement, or delay(d)
  Span span;
  Name name;
  std::vector<Arg> args;
};

struct IrEdge {
  IrPort from, to;
  std::vector<IrMove> moves;
};

struct IrLine {
  Span span;
  std::variant<IrBlock, IrEdge> node;
};

struct IrDecl {
  Name name;
  std::vector<IrLine> lines;
};

struct Item {
  Span span;
  std::variant<ImportDecl, FieldsDecl, AgentDecl, TaskDecl, FnDecl, IrDecl, Stmt> node;
};

}  // namespace taskspec::ast

namespace taskspec {

struct Ast {
  SourceId source;
  std::vector<ast::Item> items;

  explicit Ast(SourceId source = {});
  Ast(SourceId source, std::vector<ast::Item> items);
  Ast(Ast&&) noexcept;  // in the source: what moves and ends a tree is long
  Ast& operator=(Ast&&) noexcept;
  ~Ast();
};

}  // namespace taskspec
