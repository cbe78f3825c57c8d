// How programs are cut in two: which values cross, how often, and what stays on one side. What the parts compute is
// the matter of cut_prop_test.cpp.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>

#include "frontend/check.hpp"
#include "ir/base/render.hpp"
#include "ir/cut/cut_program.hpp"
#include "ir/verify/verify.hpp"
#include "tests/unit/programs.hpp"

namespace taskspec::cut_test {

namespace {

// Every channel as "f:0 -> value in 1 loop", and functions without a part on one side as "f: graph only".
std::string cut_text(const std::string& text, const CutOptions& options = {}) {
  Sources sources;
  const Toolbox& tools = standard_toolbox();
  const SourceId main = sources.add("test.task", text);
  const Result<Program> program = check(sources, main, {.ops = tools.ops, .builtins = tools.builtins});
  REQUIRE_MESSAGE(program, render(sources, program.diags()));
  const CutProgram cut = cut_program(*program, options);
  for (const std::string& wrong : verify(cut.program)) FAIL_CHECK(wrong);
  std::string result;
  for (const Channel& channel : cut.channels) {
    const Function& function = cut.program[channel.function];
    result += fmt::format("{}:{} {}", function.kind == FunctionKind::module ? "top" : function.name, channel.site,
                          channel.to_host ? "<-" : "->");
    for (const ChannelItem& item : channel.items) result += fmt::format(" {}", name_of(item.what));
    result += channel.loops > 0 ? fmt::format(" in {} loops\n", channel.loops) : "\n";
  }
  for (std::size_t i = 0; i < cut.parts.size(); ++i) {
    const FunctionParts parts = cut.parts[i];
    const Function& function = cut.program[FunctionId(i)];
    if (function.kind == FunctionKind::module || parts.host.valid() == parts.graph.valid()) continue;
    result += fmt::format("{}: {} only\n", function.name, parts.host.valid() ? "host" : "graph");
  }
  return result;
}

const std::string host_code =
    "fn half(n: int) -> int { return n / 2 }\n"
    "fn made(n: int) -> float { return half(n) * 0.5 }\n"
    "var x = [1.0, 2.0] as f32[2]\n";

}  // namespace

TEST_CASE("[slices] what the text fixes is computed again, and recursion on it needs no host") {
  CHECK(cut_text("fn power(x: f32[2], n: int) -> f32[2] { if n == 0 { return x }; return x * power(x, n - 1) }\n"
                 "print(power([1.0, 2.0] as f32[2], 10).array)\n") == "top:0 <- array\npower: graph only\n");
  CHECK(cut_text("var x = [1.0] as f32[1]\nlet n = 3 * 4\nfor i in 0..n { x = x * 0.5 + i }\nprint(x.array)\n") ==
        "top:0 <- array\n");
}

TEST_CASE("[slices] receives sink to their first use in the order in which they came") {
  const std::string start = "let x = [1.0, 2.0] as f32[2]\n";
  auto host_part = [&](const std::string& text) {
    Sources sources;
    const Toolbox& tools = standard_toolbox();
    const SourceId main = sources.add("test.task", start + text);
    const Result<Program> program = check(sources, main, {.ops = tools.ops, .builtins = tools.builtins});
    REQUIRE(program);
    const CutProgram cut = cut_program(*program, {.merge = false});
    const Function& host = cut.program[cut.part(program->main().top_level, Part::host)];
    std::string order;
    for (CallId id : host.body.calls) {
      const Call& call = host[id];
      if (call.form == Form::dequeue) order += fmt::format("<-{} ", call.index);
      if (call.form == Form::builtin) order += std::string(call.builtin->name) + " ";
      if (call.form == Form::if_) order += "if ";
    }
    return order;
  };
  const std::string three =
      "let a = (x * 1.0).sum(0).scalar\nlet b = (x * 2.0).sum(0).scalar\n"
      "let c = (x * 3.0).sum(0).scalar\n";
  CHECK(host_part(three + "print(a)\nprint(b)\nprint(c)\n") == "<-0 <-1 <-2 print print print ");
  CHECK(host_part(three + "print(c)\nprint(b)\nprint(a)\n") == "<-0 <-1 <-2 print print print ");
  CHECK(host_part(three + "let d = b + 1.0\nif d > 1.0 { print(a) }\nprint(c)\n") == "<-0 <-1 <-2 if print ");
}

TEST_CASE("[slices] a long top level is cut as a short one is") {
  auto text = [](std::size_t turns) {
    std::string lets = "let x = [1.0, 2.0] as f32[2]\nlet a0 = parse_float(\"1.5\")\nlet b0 = x\nvar v = 1.0\n";
    for (std::size_t i = 1; i <= turns; ++i)
      lets += fmt::format(
          "let a{0} = a{1} + v\nlet b{0} = b{1} * a{0}\nlet c{0} = b{0}.sum(0).scalar\nlet d{0} = x * c{0}\n"
          "v = v + c{0}\nfor i in 0..2 {{ if i > v {{ break }}; v = v + 1.0 }}\n"
          "let e{0} = map([1.0], k => k + a{0})\nlet f{0} = d{0} * e{0}[0]\n",
          i, i - 1);
    return lets + fmt::format("print(f{}.array, v)\n", turns);
  };
  auto channels = [&](std::size_t turns) {
    const std::string cut = cut_text(text(turns));
    return std::count(cut.begin(), cut.end(), '\n');
  };
  const auto few = channels(20);
  CHECK(channels(1'000) - few == 98 * (channels(30) - few));
  const Ran apart = run_text(text(200)), together = run_text_directly(text(200));
  CHECK(apart.code == 0);
  CHECK(apart.output == together.output);
}

TEST_CASE("[slices] results of host code are sent where they are made, once") {
  CHECK(cut_text(host_code + "let k = made(3)\nx = x * k\nx = x + k\nprint(x.array)\n") ==
        "top:0 -> value\ntop:1 <- array\nhalf: host only\nmade: host only\n");
}

TEST_CASE("[slices] a host predicate is a stream of booleans; one of the graph's own values is none") {
  CHECK(cut_text(host_code + "var n = half(9)\nwhile n > 0 { x = x * 0.5; n = half(n) }\nprint(x.array)\n") ==
        "top:0 -> predicate in 1 loops\ntop:1 <- array\nhalf: host only\n");
  CHECK(cut_text(host_code + "while x.max(0).scalar > 0.5 { x = x * 0.5 }\nprint(x.array)\n") == "top:0 <- array\n");
}

TEST_CASE("[slices] a loop over a list of the host sends the list, or only its length") {
  CHECK(cut_text(host_code + "for v in [made(1), made(2)] { x = x * v }\nprint(x.array)\n") ==
        "top:0 -> value\ntop:1 <- array\nhalf: host only\nmade: host only\n");
  CHECK(cut_text(host_code + "for v in [made(1), made(2)] { x = x * 0.5; print(v) }\nprint(x.array)\n") ==
        "top:0 -> trips\ntop:1 <- array\nhalf: host only\nmade: host only\n");
}

TEST_CASE("[slices] a variable that a loop does not change is sent in front of it") {
  const std::string text = host_code +
                           "var k = made(1)\nif half(4) > 1 { k = made(2) }\n"
                           "for i in 0..3 { x = x * k }\nprint(x.array)\n";
  CHECK(cut_text(text, {.hoist = false, .merge = false}) ==
        "top:0 -> value in 1 loops\ntop:1 <- array\nhalf: host only\nmade: host only\n");
  CHECK(cut_text(text, {.merge = false}) == "top:0 -> value\ntop:1 <- array\nhalf: host only\nmade: host only\n");
}

TEST_CASE("[slices] neighbouring messages are one, but none waits for an effect") {
  const std::string two = host_code + "let a = x.sum(0).scalar\nlet b = x.max(0).scalar\nprint(a, b)\n";
  CHECK(cut_text(two) == "top:0 <- scalar scalar\n");
  CHECK(cut_text(two, {.merge = false}) == "top:0 <- scalar\ntop:1 <- scalar\n");
  CHECK(cut_text(host_code + "print(x.sum(0).scalar)\nprint(x.max(0).scalar)\n") ==
        "top:0 <- scalar\ntop:1 <- scalar\n");
}

TEST_CASE("[slices] names and shapes move no contents") {
  CHECK(cut_text(host_code + "print(x, x.handle)\nprint(x.shape, x.rank)\n") == "top:0 <- handle handle\n");
  CHECK(cut_text("fn f(x: f32[N]) { print(N, x.shape) }\nf([1.0] as f32[1])\n") == "f:0 <- shape shape\n");
}

TEST_CASE("[slices] a receive that nobody looks at is none") {
  const std::string text = host_code + "let unused = x.sum(0).scalar\nprint(x.array)\n";
  CHECK(cut_text(text) == "top:0 <- array\n");
  CHECK(cut_text(text, CutOptions::none()) == "top:0 <- scalar\ntop:1 <- array\n");
}

TEST_CASE("[slices] what the graph shows waits for a host that may fail, and for no other") {
  const std::string shown =
      "fn shown(x: f32[2]) -> f32[2] { for i in 0..9 { graph_print(\"turn\", x * i) }; return x }\n";
  CHECK(cut_text(host_code + "print(1)\ngraph_print(\"x\", x)\n") == "");
  CHECK(cut_text(host_code + "graph_print(\"x\", x)\nassert(2 > 1)\n") == "top:0 -> order\n");
  CHECK(cut_text(host_code + "for i in 0..9 { graph_print(\"x\", x) }\nassert(2 > 1)\n") == "top:0 -> order\n");
  CHECK(cut_text(host_code + "for i in 0..9 { graph_print(\"x\", x); assert(i < 5) }\n") ==
        "top:0 -> order in 1 loops\n");
  CHECK(cut_text(host_code + shown + "for i in 0..9 { x = shown(x); assert(i < 5) }\n") ==
        "top:0 -> order in 1 loops\nshown: graph only\n");
  // To know whether it comes there the host must decide what the graph could decide by itself.
  CHECK(cut_text(host_code + "while x.max(0).scalar > 0.5 { graph_print(\"x\", x); x = x * 0.5; print(half(3)) }\n") ==
        "top:0 <- scalar in 1 loops\ntop:1 -> order in 1 loops\nhalf: host only\n");
}

TEST_CASE("[slices] behind what may exit the graph waits for the host") {
  CHECK(cut_text("print(1)\nexit(0)\n") == "");
  CHECK(cut_text(host_code + "graph_print(\"x\", x)\nexit(1)\n") == "top:0 -> passed\n");
  CHECK(cut_text(host_code + "for i in 0..9 { x = x * 0.5; if half(i) > 3 { exit(1) } }\nprint(x.array)\n") ==
        "top:0 -> passed in 1 loops\ntop:1 <- array\nhalf: host only\n");
  // One message for all that the graph has nothing to do with, none where a value comes from there anyway.
  const std::string checked = "fn checked(n: int) -> int { for i in 0..n { if half(i) > 3 { exit(1) } }; return n }\n";
  CHECK(cut_text(host_code + checked + "print(checked(3))\nx = x * 0.5\nprint(x.array)\n") ==
        "top:0 -> passed\ntop:1 <- array\nhalf: host only\nchecked: host only\n");
  CHECK(cut_text(host_code + checked + "x = x * checked(3)\nprint(x.array)\n") ==
        "top:0 -> value\ntop:1 <- array\nhalf: host only\nchecked: host only\n");
  // A return inside goes another way, which the graph has to take, too.
  CHECK(cut_text(
            host_code +
            "fn f(x: f32[2], n: int) -> f32[2] { if half(n) > 1 { if n > 9 { exit(1) }; return x }; return x * 2.0 }\n"
            "print(f(x, half(8)).array)\n") == "top:0 <- array\nf:0 -> predicate\nf:1 -> passed\nhalf: host only\n");
}

}  // namespace taskspec::cut_test
