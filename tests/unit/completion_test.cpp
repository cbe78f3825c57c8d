// What the prompt offers where somebody is writing, and what it says to words that lead elsewhere.
#include <doctest/doctest.h>

#include "include/taskspec/workspace.hpp"
#include "ir/base/text.hpp"

namespace taskspec::completion_test {

namespace {

struct Written {
  Workspace work{{.output = [](std::string_view) {}}};
  void ok(std::string_view text) {
    const Workspace::Answer answer = work.enter(text);
    CHECK_MESSAGE(answer.status == Workspace::Status::ok, text << "\n" << answer.diagnostics);
  }
};

constexpr const char* three_tasks = R"(
task inc(in x: f32[N]) -> (y: f32[N]) { y = x + 1.0 }
task dbl(in x: f32[N]) -> (y: f32[N]) { y = x * 2.0 }
task add(in a: f32[N], in b: f32[N]) -> (y: f32[N]) { y = a + b })";

}  // namespace

TEST_CASE("[repl] words are completed") {
  Written c;
  c.ok(three_tasks);
  c.ok("let abacus = fill(f32[2], 1.0)");
  auto words = [&](std::string_view line) { return joined(c.work.complete(line, line.size()).words, " "); };
  CHECK(words("aba") == "abacus");
  CHECK(words("let q = aba") == "abacus");
  CHECK(c.work.complete("let q = aba", 11).begin == 8);
  CHECK(words("abacus.sc").find("scalar") != std::string::npos);
  CHECK(words("abacus.argm") == "argmax argmin");
  CHECK(words("inc(abacus).") == "");  // a call would have to run
  CHECK(words("gra") == "graph graph_print");
  CHECK(words("parallelis") == "");  // not built yet
  CHECK(words("nothing_begins_so") == "");
  c.ok("let r = inc(abacus)");
  CHECK(words("r.").starts_with("array handle iter precision rank scalar shape y abs "));  // its own first
  CHECK(words("import data.d") == "data.digits");
  CHECK(words("import n").starts_with("nir nir64 nn"));
  auto hint = [&](std::string_view line) { return c.work.complete(line, line.size()).hint; };
  CHECK(hint("let z = conv2d(").starts_with("conv2d(x, w, b?, stride: 1"));
  CHECK(hint("inc(") == "task inc(in x: f32[N]) -> (y: f32[N])");
  CHECK(hint("abacus.sum(") == "sum(x, axis?)");
  CHECK(hint("nn.linear(").starts_with("fn linear(x: f32[B, I]"));
  CHECK(hint("nothing_of_this_name(") == "");
  CHECK(hint("(") == "");
  CHECK(hint("conv2d(aba") == "");
  CHECK(joined(c.work.names_in_graph(), " ") == "abacus add dbl inc r");
}

TEST_CASE("[repl] words that lead elsewhere lead to commands") {
  Written c;
  for (const auto& [word, command] : {std::pair{"help", ":help"}, {"quit", ":quit"}, {"exit", ":quit"}}) {
    const Workspace::Answer answer = c.work.enter(word);
    CHECK(answer.status != Workspace::Status::ok);
    CHECK_MESSAGE(answer.diagnostics.find(command) != std::string::npos, answer.diagnostics);
  }
}

}  // namespace taskspec::completion_test
