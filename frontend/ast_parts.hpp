// How a statement, an expression or a type of the syntax tree says what it consists of: once, in its member `describe`,
// in the order and with the words in which `graph --stage ast` shows it. Whoever walks over trees takes from that what
// it is after and names no node.
//
//   struct While {
//     ExprPtr condition;
//     Block body;
//     void describe(Parts& to) const { to << "while " << condition << body; }
//   };
//
//   struct Values : ast::Parts {                                   // the expressions directly inside of a node
//     void value(const ast::Expr& expr) override { list.push_back(&expr); }
//     std::vector<const ast::Expr*> list;
//   };
#pragma once
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ir/base/source.hpp"

namespace taskspec {
class Array;
}

namespace taskspec::ast {

struct Arg;
struct Block;
struct Expr;
struct IndexItem;
struct Name;
struct Pattern;
struct TypeExpr;
using ExprPtr = std::unique_ptr<Expr>;      // null only where a comment says so
using TypePtr = std::unique_ptr<TypeExpr>;  // likewise

// Where the names that a node binds are known.
enum class KnownIn : std::uint8_t {
  node,    // in all of it: x => x + 1
  blocks,  // in its blocks alone: the domain of `for i in 0..i { ... }` means another i
  rest     // behind it, up to the end of the block that it stands in: let
};

// ---- what a part is, where its type does not say it ----

struct Mention {  // a name that means what stands elsewhere; other names, as that of a member, are mere words
  const Name& name;
};
struct Bind {
  const Pattern& pattern;
  KnownIn known_in;
};
struct Target {  // what is assigned to: no value
  const ExprPtr& expr;
};
struct Last {  // a value that is worked out after all others of its node
  const ExprPtr& expr;
};
struct Quoted {
  const std::string& text;
};
struct Line {  // what follows stands in a line of its own, and here
  Span place;
};
template <class Node>
struct List {
  const std::vector<Node>& nodes;
  std::string_view between;
};
template <class Node>
List(const std::vector<Node>&, std::string_view) -> List<Node>;

// Takes one part after the other. A walker overrides what it is after; it goes into values, types and blocks itself,
// for each of them describes its own parts.
class Parts {
 public:
  Parts& operator<<(std::string_view text) { return word(text), *this; }
  Parts& operator<<(const Name& name);
  Parts& operator<<(const Mention& part) { return mention(part.name), *this; }
  Parts& operator<<(const Bind& part) { return bind(part.pattern, part.known_in), *this; }
  Parts& operator<<(const Expr& expr) { return value(expr), *this; }
  Parts& operator<<(const ExprPtr& expr) { return expr ? *this << *expr : *this; }
  Parts& operator<<(const TypeExpr& part) { return type(part), *this; }
  Parts& operator<<(const TypePtr& part) { return part ? *this << *part : *this; }
  Parts& operator<<(const Target& part) { return target(*part.expr), *this; }
  Parts& operator<<(const Last& part) { return last_value(*part.expr), *this; }
  Parts& operator<<(const Block& part) { return block(part), *this; }
  Parts& operator<<(const Line& part) { return line(part.place), *this; }
  Parts& operator<<(std::int64_t literal) { return integer(literal), *this; }
  Parts& operator<<(double literal) { return real(literal), *this; }
  Parts& operator<<(const Quoted& literal) { return string(literal.text), *this; }
  Parts& operator<<(const Array& literal) { return array(literal), *this; }
  Parts& operator<<(const List<Expr>& list);
  Parts& operator<<(const List<TypeExpr>& list);
  Parts& operator<<(const List<Arg>& list);
  Parts& operator<<(const List<IndexItem>& list);
  Parts& operator<<(const List<Name>& list);

 protected:
  ~Parts() = default;

  virtual void word(std::string_view) {}
  virtual void mention(const Name&) {}
  virtual void bind(const Pattern&, KnownIn) {}
  virtual void value(const Expr&) {}
  virtual void last_value(const Expr& expr) { value(expr); }
  virtual void target(const Expr&) {}
  virtual void type(const TypeExpr&) {}
  virtual void block(const Block&) {}
  virtual void line(Span) {}
  virtual void integer(std::int64_t) {}
  virtual void real(double) {}
  virtual void string(const std::string&) {}
  virtual void array(const Array&) {}

 private:
  template <class Node, class Take>
  Parts& each(const List<Node>& list, Take take);
};

}  // namespace taskspec::ast
