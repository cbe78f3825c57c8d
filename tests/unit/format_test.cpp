// The formatter: the canonical layout, and that it changes nothing else.
#include "frontend/format.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>

#include "frontend/ast_print.hpp"
#include "frontend/parse.hpp"
#include "tests/guard/paths.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::format_test {

namespace {

std::string formatted(std::string text) {
  Sources sources;
  Result<std::string> result = format(sources, sources.add("test.task", std::move(text)));
  return result ? *result : result.diags().items()[0].code.text();
}

std::optional<std::string> tree(std::string text) {
  Sources sources;
  Result<Ast> ast = parse(sources, sources.add("test.task", std::move(text)));
  return ast ? std::optional(print_ast(*ast)) : std::nullopt;
}

// All comments in their order, without trailing blanks; found by a walk of its own, not by the formatter's.
std::vector<std::string> comments(const std::string& text) {
  std::vector<std::string> result;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (in_string) {
      if (text[i] == '\\')
        ++i;
      else if (text[i] == '"')
        in_string = false;
    } else if (text[i] == '"') {
      in_string = true;
    } else if (text.compare(i, 2, "//") == 0 || text.compare(i, 2, "#!") == 0) {
      std::size_t end = std::min(text.find_first_of("\r\n", i), text.size());
      std::string comment = text.substr(i, end - i);
      result.push_back(comment.substr(0, comment.find_last_not_of(" \t") + 1));
      i = end;
    }
  }
  return result;
}

// What must hold of every program: same tree, same comments, and a second time changes nothing.
void check_harmless(const std::string& text) {
  CAPTURE(text);
  std::string once = formatted(text);
  CAPTURE(once);
  CHECK(tree(once) == tree(text));
  CHECK(comments(once) == comments(text));
  CHECK(formatted(once) == once);
  CHECK(once.find("\n\n\n") == std::string::npos);
  CHECK(once.find('\r') == std::string::npos);
  CHECK((once.empty() || once.back() == '\n'));
}

std::vector<std::filesystem::path> syntax_files() {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(source_root() / "tests" / "syntax"))
    files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("[S12] formatting a program changes its layout only") {
  std::size_t files = 0;
  for (const std::filesystem::path& path : syntax_files()) {
    CAPTURE(path);
    check_harmless(read(path));
    ++files;
  }
  CHECK(files >= 17);
}

TEST_CASE("[S12] the canonical layout") {
  const std::pair<const char*, const char*> cases[] = {
      {"", ""},
      {"\n \n", ""},
      {"let  x=f( a,b )", "let x = f(a, b)\n"},
      {"x=-a-- b*!c", "x = -a - -b * !c\n"},
      {"x = a . b (1) [ 2 ,3 ]", "x = a.b(1)[2, 3]\n"},
      {"x = v [ a .. ] + v[ .. ]+0 .. n-1", "x = v[a..] + v[..] + 0..n - 1\n"},
      {"x = [1,2,]", "x = [1, 2]\n"},
      {"x = ( a,b , )", "x = (a, b)\n"},
      {"return-1", "return -1\n"},
      {"x=a=>b>>c", "x = a => b >> c\n"},
      {"x = (a,b)=>a", "x = (a, b) => a\n"},
      {"for(a,b)in c{d}", "for (a, b) in c { d }\n"},
      {"fn f(a:fn(int)->[int],b:V[_] . { f,g })->(int,int){return a}",
       "fn f(a: fn(int) -> [int], b: V[_].{f, g}) -> (int, int) { return a }\n"},
      {"task t(reduce( + )n:V[_])extern\"s\"", "task t(reduce(+) n: V[_]) extern \"s\"\n"},
      {"fields F{a:int,b:int,}", "fields F { a: int, b: int }\n"},
      {"ir a{w:SW2D i8[f:6](s:1)=g[0](1);a.b[0]->c|p(x:1)}",
       "ir a { w: SW2D i8 [f: 6] (s: 1) = g[0](1); a.b[0] -> c | p(x: 1) }\n"},
      {"fn f(){\n\n  \n}", "fn f() {}\n"},
      {"a=1;b=2;\n;c=3;", "a = 1; b = 2\nc = 3\n"},
      {"fn f(){;a;b;}", "fn f() { a; b }\n"},
      {"if a{b}\nelse\n{c}", "if a { b } else { c }\n"},
      {"if a {\nb } else if c { d }", "if a {\n  b\n} else if c { d }\n"},
      {"fn f()\n{\n   a\n\n\n   b }", "fn f() {\n  a\n\n  b\n}\n"},
      {"x = f(a,\n b,\n c)", "x = f(a,\n      b,\n      c)\n"},
      {"x = f(\na,\nb,\n)", "x = f(\n  a,\n  b,\n)\n"},
      {"x = f(\na,\nb)", "x = f(\n  a,\n  b)\n"},
      {"x = a +\nb\n.c()", "x = a +\n    b\n    .c()\n"},
      {"a // one\nbbb // two\n\nc // three", "a    // one\nbbb  // two\n\nc  // three\n"},
      {"a\n      // own line\nb", "a\n// own line\nb\n"},
      {"fn f() { // head\n\n a\n // last\n\n}", "fn f() {  // head\n  a\n  // last\n}\n"},
      {"f(a, // one\nb // two\n)", "f(a,  // one\n  b   // two\n  )\n"},
      {"\n\n#!x", "E0001"},
      {"#!x\n\n\na", "#!x\n\na\n"},
      {"\xEF\xBB\xBF"
       "a",
       "a\n"},
      {"a // text  \t\n// expect: blanks  ", "a  // text\n// expect: blanks  \n"},
      {"\"\xC3\xA9\xC3\xA9\" // a\n\"ee\"+b // b", "\"\xC3\xA9\xC3\xA9\"      // a\n\"ee\" + b  // b\n"},
      {"a b", "E0001"},
      {"f(", "E0002"}};
  for (const auto& [text, expected] : cases) {
    CAPTURE(text);
    CHECK(formatted(text) == expected);
    if (tree(text)) check_harmless(text);
  }
}

TEST_CASE("[S12] formatting survives any layout") {
  std::uint32_t seed = random_seed();
  CAPTURE(seed);
  std::mt19937 random(seed);
  auto below = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  std::vector<std::string> texts;
  for (const std::filesystem::path& path : syntax_files()) texts.push_back(read(path));
  const std::vector<std::string> noise = {"\n",      "\n\n\n", " ",    "\t",  " // note\n", "\n// note\n", ";", "\r\n",
                                          " //\n\n", ",",      ";\n;", "(a)", "-"};
  std::size_t accepted = 0;
  for (int round = 0; round < 800; ++round) {
    std::string text = texts[below(texts.size())];
    for (std::size_t i = 0, n = below(12); i < n && !text.empty(); ++i) {
      std::size_t at = below(text.size());
      if (below(4) == 0)
        text.erase(at, 1);
      else
        text.insert(at, noise[below(noise.size())]);
    }
    if (!tree(text)) continue;
    ++accepted;
    check_harmless(text);
  }
  CHECK(accepted > 50);
}

}  // namespace taskspec::format_test
