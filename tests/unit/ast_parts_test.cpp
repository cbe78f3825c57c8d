// What nodes of the syntax tree say of their parts: names bound and mentioned, values and their order.
#include "frontend/ast_parts.hpp"

#include <doctest/doctest.h>

#include "frontend/check/free_names.hpp"
#include "frontend/check/mentions.hpp"
#include "frontend/parse.hpp"
#include "ir/base/text.hpp"

namespace taskspec::ast_parts_test {

namespace {

Ast parsed(const std::string& text) {
  Sources sources;
  Result<Ast> ast = parse(sources, sources.add("test.task", text));
  REQUIRE(ast);
  return std::move(*ast);
}

// The free names of the first item of a text.
std::string free_names(const std::string& text) {
  std::vector<std::string> names;
  const Ast ast = parsed(text);
  checking::each_free_name(ast.items.at(0), [&](const ast::Name& name) { names.push_back(name.text); });
  return joined(names, " ");
}

// The names that the expressions of a statement mention, in the order in which they are evaluated.
std::string evaluated(const std::string& text) {
  std::vector<std::string> names;
  const Ast ast = parsed(text);
  checking::each_expression({&std::get<ast::Stmt>(ast.items.at(0).node)}, [&](const ast::Expr& expr) {
    if (auto* name = std::get_if<ast::NameExpr>(&expr.node)) names.push_back(name->name.text);
  });
  return joined(names, " ");
}

}  // namespace

TEST_CASE("[syntax] a name is free where nothing inside of the item binds it") {
  CHECK(free_names("y = a.b(c, d: e)[f, g..h] + -i") == "y a c e f g h i");
  CHECK(free_names("for i in i..n { f(i, n) }") == "i n f n");
  CHECK(free_names("for (i, j) in l { let k = k + i; f(k, j) }") == "l k f");
  CHECK(free_names("while a { let a = a; f(a) }") == "a a f");
  CHECK(free_names("if a { let b = 1; b } else if b { c } else { d }") == "a b c d");
  CHECK(free_names("trace { let a = b; a }") == "b");
  CHECK(free_names("x = (a, b) => a + b + c; a = 1") == "x c");
  CHECK(free_names("x = map(l, l => [l, (y => y + l)(z)])") == "x map l z");
  CHECK(free_names("launch f(i, a) for i in grid(i, n) by b") == "f a grid n b");
  CHECK(free_names("let x: f32[n, M] = y as [fn(a) -> (b, c[d])]") == "f32 n M y a b c d");
  CHECK(free_names("fn f(x: f32[n], m: int = k) -> (y: f32[m]) { y = x + z; return w }") == "f32 n int k f32 z w");
  CHECK(free_names("agent A(k: int) { weight w: f32[k] = g(v); task t(in x: f32[N]) -> f32[N] { value = x * w } }") ==
        "int f32 g v f32 N f32 N");
}

TEST_CASE("[syntax] values are visited as they are evaluated, what is assigned to is none") {
  CHECK(evaluated("x[i] = f(a)[b] + c") == "f a b c");
  CHECK(evaluated("run f(a) on g(b)") == "g b f a");
  CHECK(evaluated("if a { b } else if c { d } else { e }") == "a c b d e");
  CHECK(evaluated("for i in a..b { while c { return d } }") == "a b c d");
  CHECK(evaluated("let x = (a, [b], y => y, v[c..], -d as f32[e])") == "a b y v c d");
}

}  // namespace taskspec::ast_parts_test
