// The parser: structure, places, the line-end rule, every syntax error, and what no text may do to it.
#include "frontend/parse.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <sstream>

#include "frontend/ast_print.hpp"
#include "frontend/token.hpp"
#include "tests/guard/paths.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::parse_test {

namespace {

struct Parsed {
  Sources sources;
  Result<Ast> ast;

  explicit Parsed(std::string text) : ast(run(std::move(text))) {}
  std::string text(Span span) const { return std::string(sources.text(span)); }

 private:
  Result<Ast> run(std::string text) {
    SourceId id = sources.add("test.task", std::move(text));
    return parse(sources, id);
  }
};

std::string tree(std::string text) {
  Parsed parsed(std::move(text));
  if (parsed.ast) return print_ast(*parsed.ast);
  std::string errors;
  for (const Diag& diag : parsed.ast.diags().items()) errors += diag.code.text() + " " + diag.message + "\n";
  return errors;
}

// "E0001 at line:column `guilty text` message" for each error, in the order of the text.
std::vector<std::string> errors(std::string text) {
  Parsed parsed(std::move(text));
  std::vector<std::string> result;
  for (const Diag& diag : parsed.ast.diags().sorted()) {
    Position at = parsed.sources[diag.primary.span.source].position(diag.primary.span.begin);
    result.push_back(diag.code.text() + " " + std::to_string(at.line) + ":" + std::to_string(at.column) + " `" +
                     parsed.text(diag.primary.span) + "` " + diag.message);
  }
  return result;
}

std::string only_error(std::string text) {
  std::vector<std::string> all = errors(std::move(text));
  REQUIRE(all.size() == 1);
  return all[0];
}

Diag only_diag(std::string text) {
  Parsed parsed(std::move(text));
  REQUIRE(parsed.ast.diags().size() == 1);
  return parsed.ast.diags().items()[0];
}

std::string times(std::size_t n, std::string_view text) {
  std::string result;
  result.reserve(n * text.size());
  for (std::size_t i = 0; i < n; ++i) result += text;
  return result;
}

std::filesystem::path syntax_folder() { return source_root() / "tests" / "syntax"; }

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("[S1] [syntax] samples and tricky snippets parse without ambiguity and without full context") {
  std::size_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(syntax_folder())) {
    CAPTURE(entry.path());
    Sources sources;
    ParseReport report = parse_report(sources, sources.add("test.task", read(entry.path())));
    for (const ParseReport::Mode& mode : {report.sll, report.ll}) {
      CHECK(mode.errors == 0);
      CHECK(mode.ambiguities == 0);
      CHECK(mode.full_contexts == 0);
    }
    CHECK(parse(sources, SourceId(0)));
    ++files;
  }
  CHECK(files >= 17);
}

TEST_CASE("every node knows its place") {
  Parsed parsed("  y = 2.0 * x.sum(0, n: [1])\n");
  REQUIRE(parsed.ast);
  const auto& stmt = std::get<ast::Stmt>(parsed.ast->items.at(0).node);
  const auto& assign = std::get<ast::Assign>(stmt.node);
  const auto& product = std::get<ast::Binary>(assign.value->node);
  const auto& call = std::get<ast::Call>(product.right->node);
  const auto& member = std::get<ast::Member>(call.callee->node);
  CHECK(parsed.text(parsed.ast->items[0].span) == "y = 2.0 * x.sum(0, n: [1])");
  CHECK(parsed.text(stmt.span) == "y = 2.0 * x.sum(0, n: [1])");
  CHECK(parsed.text(assign.target->span) == "y");
  CHECK(parsed.text(assign.op.span) == "=");
  CHECK(parsed.text(assign.value->span) == "2.0 * x.sum(0, n: [1])");
  CHECK(parsed.text(product.op.span) == "*");
  CHECK(parsed.text(product.left->span) == "2.0");
  CHECK(parsed.text(product.right->span) == "x.sum(0, n: [1])");
  CHECK(parsed.text(call.brackets) == "(0, n: [1])");
  CHECK(parsed.text(call.args[1].span) == "n: [1]");
  CHECK(parsed.text(call.args[1].name->span) == "n");
  CHECK(parsed.text(member.name.span) == "sum");
  CHECK(parsed.text(call.callee->span) == "x.sum");
}

TEST_CASE("brackets count in the place of what they enclose") {
  Parsed parsed("f((a + b) * c)");
  REQUIRE(parsed.ast);
  const auto& stmt = std::get<ast::Stmt>(parsed.ast->items[0].node);
  const auto& call = std::get<ast::Call>(std::get<ast::ExprStmt>(stmt.node).value->node);
  const auto& product = std::get<ast::Binary>(call.args[0].value->node);
  CHECK(parsed.text(call.args[0].value->span) == "(a + b) * c");
  CHECK(parsed.text(product.left->span) == "(a + b)");
  CHECK(parsed.text(std::get<ast::Binary>(product.left->node).op.span) == "+");
}

TEST_CASE("declarations know their places") {
  Parsed parsed("agent A(k: int = 3) {\n  state v: i32[n] = zero()\n}\ntask t(reduce(min) n: V[_].{f}) extern \"s\"\n");
  REQUIRE(parsed.ast);
  const auto& agent = std::get<ast::AgentDecl>(parsed.ast->items[0].node);
  const auto& slot = std::get<ast::Slot>(agent.members[0].node);
  const auto& task = std::get<ast::TaskDecl>(parsed.ast->items[1].node);
  CHECK(parsed.text(agent.name.span) == "A");
  CHECK(parsed.text(agent.params[0].span) == "k: int = 3");
  CHECK(parsed.text(agent.members[0].span) == "state v: i32[n] = zero()");
  CHECK(parsed.text(slot.type->span) == "i32[n]");
  CHECK(parsed.text(task.params[0].privilege->span) == "reduce(min)");
  CHECK(parsed.text(task.params[0].privilege->reduce_op->span) == "min");
  CHECK(parsed.text(std::get<ast::NamedType>(task.params[0].type.node).fields[0].span) == "f");
  CHECK(task.external->text == "s");
  CHECK(parsed.text(task.external->span) == "\"s\"");
  CHECK_FALSE(task.body);
}

TEST_CASE("operators bind from tight to loose and group to the left") {
  const std::pair<const char*, const char*> cases[] = {
      {"-x.y", "(- (. x y))"},
      {"-x as i8", "(as (- x) i8)"},
      {"a as i8 * b", "(* (as a i8) b)"},
      {"a * b @ c", "(@ (* a b) c)"},
      {"a + b * c - d", "(- (+ a (* b c)) d)"},
      {"0..n - 1", "(.. 0 (- n 1))"},
      {"0..n & p", "(& (.. 0 n) p)"},
      {"a | b & c", "(| a (& b c))"},
      {"a | b < c", "(< (| a b) c)"},
      {"a < b && c == d", "(&& (< a b) (== c d))"},
      {"a || b && c || d", "(|| (|| a (&& b c)) d)"},
      {"a >> b >> c || d", "(>> (>> a b) (|| c d))"},
      {"a - b - c", "(- (- a b) c)"},
      {"a - -b", "(- a (- b))"},
      {"!!a", "(! (! a))"},
      {"(x as f32[4]).sum(0)", "(call (. (as x f32[4]) sum) 0)"},
      {"a => b => a >> b", "(=> a (=> b (>> a b)))"},
      {"(x)", "x"},
      {"(x,)", "x"},
      {"(x, 1)", "(tuple x 1)"},
      {"v[a.., ..b, .., a..b, c]", "(index v a.. ..b .. a..b c)"},
      {"v[(a..b)]", "(index v (.. a b))"},
      {"f(x)(y)[0].z", "(. (index (call (call f x) y) 0) z)"},
      {"launch t(p[i]) for (i, j) in grid(2, 2) by block",
       "(launch (call t (index p i)) for (i j) in (call grid 2 2) by block)"},
      {"run f(1) on hw(chip: \"a\")", "(run (call f 1) on (call hw chip: \"a\"))"},
      {"region Rows[n]", "(region Rows[n])"}};
  for (const auto& [text, expected] : cases) {
    Sources sources;
    Result<ast::Expr> expr = parse_expression(sources, sources.add("-D x", text));
    CAPTURE(text);
    REQUIRE(expr);
    CHECK(print_expr(*expr) == expected);
  }
}

TEST_CASE("a line break ends a statement where one can end and one can begin") {
  const std::pair<const char*, const char*> cases[] = {
      {"a = f\n  .g()", "= a (call (. f g))\n"},
      {"a = b\n + c", "= a (+ b c)\n"},
      {"a = b +\n c", "= a (+ b c)\n"},
      {"a = b\n(c)", "= a b\nc\n"},
      {"a = b\n[c]", "= a b\n[c]\n"},
      {"a = b\n- c", "= a b\n(- c)\n"},
      {"a = b\n! c", "= a b\n(! c)\n"},
      {"a = (b\n- c)", "= a (- b c)\n"},
      {"a = [b\n, c\n]", "= a [b c]\n"},
      {"a = 1; b = 2", "= a 1\n= b 2\n"},
      {";;a = 1;\n;b = 2;;", "= a 1\n= b 2\n"},
      {"a // one\n// two\n\nb", "a\nb\n"},
      {"a // one\n+ b", "(+ a b)\n"},
      {"a = 1\r\nb = 2\r\n", "= a 1\n= b 2\n"},
      {"a\t=\t1\n\tb = 2", "= a 1\n= b 2\n"},
      {"if a { b }\nelse { c }", "if a\n  b\nelse\n  c\n"},
      {"if a { b }\n\n// why\nelse if c { d }", "if a\n  b\nelse if c\n  d\n"},
      {"fn f() { return\n1 }", "fn f()\n  return\n  1\n"},
      {"fn f()\n{ return 1 }", "fn f()\n  return 1\n"},
      {"while a { break\ncontinue }", "while a\n  break\n  continue\n"},
      {"a = \"s\"\n\"t\"", "= a \"s\"\n\"t\"\n"},
      {"a = true\nfalse", "= a true\nfalse\n"},
      {"a =\nlaunch f(x) for i in p", "= a (launch (call f x) for i in p)\n"},
      {"a\nrun f on b", "a\n(run f on b)\n"},
      {"{", "E0002 '{' is never closed\n"}};
  for (const auto& [text, expected] : cases) {
    CAPTURE(text);
    CHECK(tree(text) == expected);
  }
}

TEST_CASE("[S1] [syntax] syntax errors say what was found, what was expected and where") {
  const std::pair<const char*, const char*> cases[] = {
      {"let x = 3 +", "E0001 1:12 `` unexpected end of file, expected an expression"},
      {"let x = 3 +\n\n", "E0001 1:12 `` unexpected end of file, expected an expression"},
      {"a = b = c", "E0001 1:7 `=` unexpected '=', expected end of line or ';'"},
      {"a = 1 b = 2", "E0001 1:7 `b` unexpected name 'b', expected end of line or ';'"},
      {"f(a b)", "E0001 1:5 `b` unexpected name 'b', expected ')' or ','"},
      {"x = )", "E0001 1:5 `)` unexpected ')'"},
      {"fn f() -> { }", "E0001 1:11 `{` unexpected '{', expected a type"},
      {"let (a, 3) = 3", "E0001 1:9 `3` unexpected number '3', expected a name"},
      {"if a = b { }", "E0001 1:6 `=` unexpected '=', expected '{'"},
      {"while true", "E0001 1:11 `` unexpected end of file, expected '{'"},
      {"launch f(x)", "E0001 1:12 `` unexpected end of file, expected 'for'"},
      {"x = \xC2\xA7", "E0001 1:5 `\xC2\xA7` unexpected character '\xC2\xA7', expected an expression"},
      {"/* a */", "E0001 1:1 `/` unexpected '/', expected a statement"},
      {"fn f() { fn g() { } }", "E0001 1:10 `fn` unexpected keyword 'fn', expected a statement"},
      {"agent A { 3 }", "E0001 1:11 `3` unexpected number '3', expected a slot or a declaration"},
      {"ir a { b + 1 }", "E0001 1:10 `+` unexpected '+'"},
      {"if a { }; else { }", "E0001 1:11 `else` 'else' without an 'if' before it"},
      {" #!x\na", "E0001 1:2 `#!` unexpected '#!'"},
      {"x = 0x_", "E0001 1:5 `0x_` number without digits"},
      {"x = \"a", "E0002 1:5 `\"a` string is never closed"},
      {"f(1, 2", "E0002 1:2 `(` '(' is never closed"},
      {"f([1, 2)", "E0002 1:3 `[` '[' is never closed"},
      {"x = [1)", "E0002 1:7 `)` expected ']', found ')'"},
      {"x = \"a\\qb\"", "E0003 1:7 `\\q` unknown escape '\\q' in a string"},
      {"x = \"\\u{d800}\"", "E0003 1:6 `\\u{d800}` unknown escape '\\u{d800}' in a string"},
      {"x = \"\\u41\"", "E0003 1:6 `\\u` unknown escape '\\u' in a string"},
      {"x = 9223372036854775808", "E0004 1:5 `9223372036854775808` number too large"},
      {"x = 0x8000_0000_0000_0000", "E0004 1:5 `0x8000_0000_0000_0000` number too large"},
      {"x = 1e999", "E0004 1:5 `1e999` number too large"},
      {"x = \"\xC3\"", "E0006 1:6 `\xC3` source is not UTF-8"},
      {"x = a < b <= c", "E1004 1:11 `<=` comparisons do not chain"},
      {"x = a..b..c", "E1004 1:9 `..` ranges do not chain"},
      {"x = v[a..b..c]", "E1004 1:11 `..` ranges do not chain"}};
  for (const auto& [text, expected] : cases) {
    CAPTURE(text);
    CHECK(only_error(text) == expected);
  }
}

// As a reader learns it. What the language got later is not asked for here: the grammar is.
TEST_CASE("[syntax] the grammar says with what a statement may begin and end") {
  const std::set<std::string_view> begin = {
      "name",   "1",      "2.5",   "\"s\"",  "true",  "false",    "(",      "[",   "-",     "!",
      "import", "fields", "agent", "task",   "fn",    "graph",    "ir",     "let", "var",   "if",
      "for",    "while",  "trace", "return", "break", "continue", "launch", "run", "region"};
  const std::set<std::string_view> end = {"name", "1", "2.5", "\"s\"",  "true",  "false",
                                          ")",    "]", "}",   "return", "break", "continue"};
  const std::string all =
      "name 1 2.5 \"s\" true false ( [ { } ] ) - ! + * / % @ & | < <= > >= == != && || >> .. . , : ; = += -= *= /= => "
      "-> "
      "import as fields agent task extern fn graph ir in out inout reduce let var for while trace return break "
      "continue "
      "if else launch by run on region";
  std::size_t begins = 0, ends = 0;
  for (const Token& token : lex(all)) {
    const std::string_view word = text_of(all, token);
    CAPTURE(word);
    CHECK(begins_statement(token) == begin.contains(word));
    CHECK(ends_statement(token) == end.contains(word));
    begins += begins_statement(token) ? 1 : 0, ends += ends_statement(token) ? 1 : 0;
  }
  CHECK(begins == begin.size());
  CHECK(ends == end.size());
  for (const char* wrong : {"\xC2\xA7", "\"open"}) {  // an error of its own line, not of the next one
    CHECK(begins_statement(lex(wrong)[0]));
    CHECK(ends_statement(lex(wrong)[0]));
  }
}

TEST_CASE("a keyword used as a name is told so") {
  const std::pair<const char*, const char*> cases[] = {{"let by = 1", "by"},
                                                       {"x = on + 1", "on"},
                                                       {"fn f(in: int) { }", "in"},
                                                       {"f(out: 3)", "out"},
                                                       {"f(1, region)", "region"},
                                                       {"run = 3", "run"},
                                                       {"graph = 3", "graph"},
                                                       {"x.graph = 3", "graph"},
                                                       {"for task in x { }", "task"},
                                                       {"by = 3", "by"},
                                                       {"x = region + 1", "region"},
                                                       {"fields F { in: int }", "in"},
                                                       {"launch f(x) for by in y", "by"},
                                                       {"agent A(trace: int) { }", "trace"}};
  for (const auto& [text, word] : cases) {
    CAPTURE(text);
    Diag diag = only_diag(text);
    CHECK(diag.code == Code("E0001"));
    CHECK(diag.message == std::string("'") + word + "' is a keyword and cannot be a name");
    CHECK(diag.help_text == std::string("take another name, such as '") + word + "_'");
  }
}

TEST_CASE("a keyword that is taken for a field's name is told once, wherever it is used") {
  for (const std::string between : {", ", ",\n  ", "\n  "}) {
    const Diag diag = only_diag("fields C { a: f64" + between + "on: int }\ntask t(inout c: C[_].{a, on}) {\n" +
                                "  for i in c { c[i].on = 1 }\n}\nprint(r.on)\n");
    CHECK(diag.message == "'on' is a keyword and cannot be a name");
    CHECK(diag.primary.span.begin == 17 + between.size());
    CHECK(diag.help_text == "take another name, such as 'on_'");
  }
  // Another keyword is another mistake.
  Parsed two("fields C { in: f64, out: f64 }\nprint(r.in)\nprint(r.run)\n");
  CHECK(two.ast.diags().size() == 2);
}

TEST_CASE("a statement where a value is due, and a declaration in a block, are told so") {
  for (const std::string word : {"let", "var", "if", "for", "while", "return"}) {
    CAPTURE(word);
    const std::string more =
        word == "if" ? "; where(c, a, b) is one of two tensors, and a 'var' that an 'if' changes anything" : "";
    CHECK(only_diag("y = " + word + " x").help_text == "'" + word + "' begins a statement, which has no value" + more);
  }
  for (const std::string word : {"break", "continue"}) CHECK(only_diag("y = " + word).help_text.empty());
  for (const std::string text :
       {"fn g() { }", "graph g() { }", "task g() { }", "agent A { }", "fields F { a: int }", "ir a { }", "import a"}) {
    CAPTURE(text);
    CHECK(only_diag("fn f() { " + text + " }").help_text == "declarations stand at the top level of a file");
  }
}

TEST_CASE("one run reports many errors, one for each statement") {
  const char* text =
      "fn f() {\n"
      "  a = 1 b = 2\n"
      "  c = \n"
      "  * 3; d = ;\n"
      "  if x { e = 4 4 } else { g(1 2) }\n"
      "  h = 1\n"
      "}\n"
      "let z = 1 2\n"
      "agent A { weight w: f32[3] = ; foo; task t() { % }; task u() { } }\n"
      "ir b { a : SI i8 ; c -> d; -> e }\n"
      "let ok = 1\n";
  std::vector<std::string> found = errors(text);
  std::vector<std::string> places;
  for (const std::string& error : found) places.push_back(error.substr(6, error.find(' ', 6) - 6));
  CHECK(places == std::vector<std::string>{"2:9", "4:3", "4:12", "5:16", "5:31", "8:11", "9:30", "9:35", "9:48",
                                           "10:18", "10:28"});
}

TEST_CASE("errors of different kinds are reported together") {
  std::vector<std::string> found =
      errors("a = b < c < d\nb = = 1\nc = \"\\q\"\nd = 99999999999999999999\ne = 1..2..3\n");
  std::string codes;
  for (const std::string& error : found) codes += error.substr(0, 10) + "\n";
  CHECK(codes == "E1004 1:11\nE0001 2:5 \nE0003 3:6 \nE0004 4:5 \nE1004 5:9 \n");
}

TEST_CASE("a launch broken before its 'for' is one error") {
  Diag diag = only_diag("launch f(x)\nfor i in 0..4\ny = 2");
  CHECK(diag.message == "unexpected end of line, expected 'for'");
  CHECK(diag.help_text.find("same line") != std::string::npos);
}

TEST_CASE("two-sided errors show both sides") {
  Parsed open("f(1, [2, 3)");
  REQUIRE(open.ast.diags().size() == 1);
  CHECK(open.text(open.ast.diags().items()[0].labels.at(0).span) == ")");

  Parsed wrong("x = [1)");
  CHECK(wrong.text(wrong.ast.diags().items()[0].labels.at(0).span) == "[");

  Parsed chain("x = a < b < c");
  CHECK(chain.text(chain.ast.diags().items()[0].labels.at(0).span) == "<");
  CHECK(chain.ast.diags().items()[0].help_text == "write a < b && b < c");

  Parsed lost("fn f() {\n  if x {\n    g()\n}\nfn h() {\n}\n");  // the '}' of the `if` is missing
  const Diag& diag = lost.ast.diags().items()[0];
  CHECK(diag.code == Code("E0002"));
  REQUIRE(diag.labels.size() == 2);
  CHECK(lost.sources[SourceId(0)].position(diag.labels[0].span.begin).line == 4);
  CHECK(lost.sources[SourceId(0)].position(diag.labels[1].span.begin).line == 2);
}

TEST_CASE("literals have their values") {
  CHECK(tree("x = 9223372036854775807") == "= x 9223372036854775807\n");
  CHECK(tree("x = 0xFf_ff + 1_000") == "= x (+ 65535 1000)\n");
  CHECK(tree("x = 1_0.5e-1 + 2E3 + 1e-999") == "= x (+ (+ 1.05 2000.0) 0.0)\n");
  CHECK(tree("x = \"\\u{e9}\\u{1F600}\\0\\\\\\\"\"") == "= x \"\xC3\xA9\xF0\x9F\x98\x80\\0\\\\\\\"\"\n");
  CHECK(tree("x = \"\xC3\xA9\"") == "= x \"\xC3\xA9\"\n");
  CHECK(tree("x = 1..2") == "= x (.. 1 2)\n");
}

TEST_CASE("nothing but blanks and comments is a program") {
  for (const char* text : {"", "\n\n", " \t\r\n", "// only this", "#!/usr/bin/env taskspec", "#!x\n// y\n", ";;;",
                           "\xEF\xBB\xBF// after a byte order mark"}) {
    CAPTURE(text);
    CHECK(tree(text) == "");
  }
}

TEST_CASE("what is not UTF-8 is refused where it begins") {
  for (const char* bad : {"\x80", "\xC0\xAF", "\xC3", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
                          "\xF4\x90\x80\x80", "\xFE", "\xE2\x82"}) {
    std::string text = std::string("// \xC3\xA9\nx = 1 // ") + bad;
    CAPTURE(text);
    CHECK(only_error(text).substr(0, 10) == "E0006 2:10");
  }
}

TEST_CASE("one expression for -D") {
  auto parse_one = [](std::string text) {
    Sources sources;
    Result<ast::Expr> expr = parse_expression(sources, sources.add("-D", std::move(text)));
    return expr ? print_expr(*expr) : expr.diags().items()[0].code.text();
  };
  CHECK(parse_one("block") == "block");
  CHECK(parse_one(" [1, 2] // list") == "[1 2]");
  CHECK(parse_one("x => x % 2") == "(=> x (% x 2))");
  CHECK(parse_one("1 2") == "E0001");
  CHECK(parse_one("x = 1") == "E0001");
  CHECK(parse_one("") == "E0001");
  CHECK(parse_one("1; 2") == "E0001");
  CHECK(parse_one("a < b < c") == "E1004");
  CHECK(parse_one("(1") == "E0002");
}

TEST_CASE("a prompt knows when a text can only be a beginning") {
  for (const char* text : {"f(", "[1,", "fn f() {", "fn f() {\n a = (1)\n", "x = 1 +", "x =", "a >>", "let", "x.",
                           "if a { } else", "x = (1) as", "f(x) &&  // why", "launch f(x) for i in"}) {
    CAPTURE(text);
    CHECK(needs_more(text));
  }
  for (const char* text : {"print(\"abc)\n", "x = \"abc\ny(", "x = \"abc", "print(\"abc)", "", "// x", "x", "f(1)",
                           "fn f() { }", "return", "x = 1;", "f(]", ")", "f((]", "\xC3", "x = \"a\"", "v[..]"}) {
    CAPTURE(text);
    CHECK_FALSE(needs_more(text));
  }
}

TEST_CASE("deep nesting is refused, not survived by luck") {
  constexpr std::size_t n = 100000;
  const std::string deep[] = {"x = " + times(n, "(") + "1" + times(n, ")"),
                              "x = " + times(n, "[") + "1" + times(n, "]"),
                              "x = " + times(n, "f(") + "1" + times(n, ")"),
                              "x = a" + times(n, "[a") + times(n, "]"),
                              times(n, "if a { ") + times(n, "}"),
                              "x = " + times(n, "-") + "1",
                              "x = " + times(n, "!") + "a",
                              "x = 1" + times(n, "+1"),
                              "x = a" + times(n, " >> a"),
                              "x = f" + times(n, "()"),
                              "x = f" + times(n, ".g"),
                              "x = a" + times(n, " as int"),
                              "x = " + times(n, "a => ") + "a",
                              "if a { }" + times(n, " else if b { }"),
                              "let x: " + times(n, "[") + "int" + times(n, "]") + " = y",
                              "let x: " + times(n, "fn() -> ") + "int = y",
                              times(n, "("),
                              times(n, "{")};
  for (const std::string& text : deep) {
    CAPTURE(text.substr(0, 30));
    CHECK(only_error(text).substr(0, 5) == "E0005");
  }
}

TEST_CASE("what is long but flat is not deep") {
  constexpr std::size_t n = 20000;
  const std::string flat[] = {"x = [" + times(n, "1, ") + "]",
                              times(n, "x = 1 + 2 * 3\n"),
                              times(n, ";"),
                              times(n, "if a { } else { }\n"),
                              "f(" + times(n, "a.b(1), ") + ")",
                              "ir a { " + times(n, "a -> b | f(x: 1); ") + "}"};
  for (const std::string& text : flat) {
    CAPTURE(text.substr(0, 30));
    CHECK(Parsed(text).ast);
  }
}

TEST_CASE("just below the bound of depth everything works") {
  constexpr std::size_t n = max_depth - 20;
  const std::string deep[] = {"x = " + times(n, "(") + "1" + times(n, ")"),
                              "x = 1" + times(n, "+1"),
                              "x = a" + times(n, "[a") + "[1]" + times(n, "]"),
                              "x = " + times(n, "-") + "1",
                              times(n, "if a { ") + times(n, "}"),
                              "x = " + times(n, "a => ") + "a",
                              "x = " + times(n, "(a, ") + "1" + times(n, ")")};
  for (const std::string& text : deep) {
    Parsed parsed(text);
    CAPTURE(text.substr(0, 30));
    REQUIRE(parsed.ast);
    CHECK_FALSE(print_ast(*parsed.ast).empty());
  }
}

TEST_CASE("a source has a largest size") {
  std::string text = times(std::size_t(4) << 20, "// sixteen bytes") + " ";
  CHECK(only_error(text).substr(0, 5) == "E0005");
}

TEST_CASE("no bytes crash the parser") {
  std::uint32_t seed = random_seed();
  CAPTURE(seed);
  std::mt19937 random(seed);
  auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  const std::vector<std::string> words = {
      "(",     ")",     "[",        "]",      "{",     "}",      ",",     ";",      ":",  ".",      "..",
      "=",     "=>",    "->",       "+",      "-",     "*",      "!",     "<",      "&&", ">>",     "|",
      "a",     "b",     "1",        "2.5",    "\"s\"", "\"",     "\\",    "#!",     "//", "\n",     "\r\n",
      " ",     "let",   "var",      "fn",     "task",  "agent",  "graph", "ir",     "if", "else",   "for",
      "in",    "while", "return",   "launch", "run",   "on",     "by",    "region", "as", "import", "fields",
      "trace", "true",  "\xC3\xA9", "\xFF",   "'",     "reduce", "inout", "0x",     "1e9"};
  std::size_t accepted = 0;
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    bool bytes = round % 3 == 0;
    for (std::size_t i = 0, n = 1 + below(40); i < n; ++i)
      text +=
          bytes ? std::string(1, static_cast<char>(below(256))) : words[below(words.size())] + (below(2) ? " " : "");
    CAPTURE(text);
    Parsed parsed(text);
    if (parsed.ast)
      ++accepted;
    else
      CHECK(parsed.ast.diags().has_errors());
    for (const Diag& diag : parsed.ast.diags().items()) {
      CHECK(diag.primary.span.begin <= diag.primary.span.end);
      CHECK(diag.primary.span.end <= text.size());
    }
    needs_more(text);
  }
  CHECK(accepted > 0);
}

TEST_CASE("random damage to a real program is reported, never fatal") {
  std::uint32_t seed = random_seed();
  CAPTURE(seed);
  std::mt19937 random(seed);
  auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  const std::string whole = read(syntax_folder() / "sample_7.txt") + read(syntax_folder() / "declarations.txt");
  for (int round = 0; round < 300; ++round) {
    std::string text = whole;
    for (std::size_t i = 0, n = 1 + below(3); i < n; ++i) {
      std::size_t at = below(text.size());
      if (below(2))
        text.erase(at, 1 + below(5));
      else
        text.insert(at, 1, ";(){}[]=.,\n\"+ax1"[below(16)]);
    }
    CAPTURE(text);
    Parsed parsed(text);
    CHECK((parsed.ast || parsed.ast.diags().has_errors()));
    CHECK(parsed.ast.diags().size() < 30);  // three mistakes do not make a cascade
  }
}

TEST_CASE("parsing looks at each token a bounded number of times, however long the program is") {
  const std::string one = read(syntax_folder() / "sample_3.txt") + read(syntax_folder() / "sample_7.txt");
  auto lookahead = [&](std::size_t copies) {
    Sources sources;
    ParseReport report = parse_report(sources, sources.add("long.task", times(copies, one)));
    CHECK(report.sll.errors == 0);
    CHECK(report.ll.lookahead == report.sll.lookahead);
    return report.sll.lookahead;
  };
  const std::size_t begin = lookahead(1), each = lookahead(2) - begin;
  CHECK(each > 0);
  CHECK(lookahead(40) == begin + 39 * each);
}

}  // namespace taskspec::parse_test
