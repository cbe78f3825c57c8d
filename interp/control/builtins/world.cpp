// The world outside and the run itself: args, assert, clock, close, env, exit; shards: agree, rank, shards.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>

#include "interp/control/builtins/builtins.hpp"
#include "interp/control/interpreter.hpp"
#include "interp/control/rank_line.hpp"

namespace taskspec {

namespace {

using builtins::want;

Type assert_type(RuleContext& c) {
  if (c.type(0).is_tensor())
    c.fail("E1301", "the condition is a graph value; host control needs an explicit receive", 0, "add .scalar");
  want(c, 0, Type::Kind::boolean, "a bool");
  want(c, 1, Type::Kind::string, "a string");
  return Type::Kind::none;
}

Value run_assert(HostContext&, std::span<const Value> values) {
  if (values[0].boolean()) return {};
  throw failure("E5005", {}, "assertion failed" + (values[1].string().empty() ? "" : ": " + values[1].string()));
}

// ---- close ----------------------------------------------------------------------------------------

bool comparable(const Type& type) {
  if (type.is(Type::Kind::list)) return comparable(type.parts[0]);
  return type.is_number() || type.is(Type::Kind::error);
}

Type close_type(RuleContext& c) {
  for (std::size_t i = 0; i < 2; ++i) {
    if (c.type(i).is_tensor())
      c.fail("E1301", "close compares host values; receive the tensor first", static_cast<int>(i),
             "add .scalar or .array");
    if (!comparable(c.type(i))) builtins::wrong_type(c, i, "a number or nested lists of numbers");
  }
  return Type::Kind::boolean;
}

bool near(const Value& a, const Value& b, double rel, double abs) {
  if (a.is_list() != b.is_list()) return false;
  if (a.is_list()) {
    if (a.list().size() != b.list().size()) return false;
    for (std::size_t i = 0; i < a.list().size(); ++i)
      if (!near(a.list()[i], b.list()[i], rel, abs)) return false;
    return true;
  }
  double x = a.real(), y = b.real();
  if (x == y) return true;  // also equal infinities
  if (!std::isfinite(x) || !std::isfinite(y)) return false;
  return std::fabs(x - y) <= std::max(rel * std::max(std::fabs(x), std::fabs(y)), abs);
}

Value run_close(HostContext&, std::span<const Value> values) {
  return Value(near(values[0], values[1], values[2].real(), values[3].real()));
}

// ---- the process ----------------------------------------------------------------------------------

Type exit_type(RuleContext& c) {
  want(c, 0, Type::Kind::integer, "an exit code");
  return Type::Kind::none;
}

Value run_exit(HostContext&, std::span<const Value> values) {
  std::int64_t code = values[0].integer();
  if (code < 0 || code > 255) throw failure("E5003", {}, "an exit code is 0 to 255, not " + std::to_string(code));
  throw ExitRequest{static_cast<int>(code)};
}

Type args_type(RuleContext&) { return Type::list(Type::Kind::string); }

Value run_args(HostContext& host, std::span<const Value>) {
  List items;
  for (const std::string& argument : host.arguments) items.push_back(Value(argument));
  return Value(std::move(items));
}

Type clock_type(RuleContext&) { return Type::Kind::real; }

Value run_clock(HostContext&, std::span<const Value>) {
  return Value(std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count());
}

Type env_type(RuleContext& c) {
  want(c, 0, Type::Kind::string, "a name");
  return Type::Kind::string;
}

Value run_env(HostContext&, std::span<const Value> values) {
  const char* found = std::getenv(values[0].string().c_str());
  return Value(std::string(found ? found : ""));
}

// ---- shards ---------------------------------------------------------------------------------------

// Contents, not names: what a message can carry.
bool can_be_sent(const Type& type) {
  if (type.is(Type::Kind::list) || type.is(Type::Kind::tuple)) return std::ranges::all_of(type.parts, can_be_sent);
  return type.is_number() || type.is(Type::Kind::boolean) || type.is(Type::Kind::string) || type.is(Type::Kind::error);
}

Type agree_type(RuleContext& c) {
  if (!can_be_sent(c.type(0)))
    builtins::wrong_type(c, 0, "a value of the host: an int, float, bool, string, or lists and tuples of them");
  return c.type(0);
}

// That of the first replica of the first process.
Value run_agree(HostContext& host, std::span<const Value> values) {
  if (!host.replica) return values[0];
  return host.replica->agree(host.part, host.agreed++, values[0]);
}

Type shard_type(RuleContext&) { return Type::Kind::integer; }

Value run_rank(HostContext&, std::span<const Value>) {
  return Value(RankLine::here() ? RankLine::here()->rank() : std::int64_t{0});
}
Value run_shards(HostContext& host, std::span<const Value>) {
  return Value(host.replica ? host.replica->shards.load() : std::int64_t{1});
}

constexpr Operand agree_operands[] = {{"x", OperandKind::value}};
constexpr Operand assert_operands[] = {{"condition", OperandKind::boolean}, {"msg", OperandKind::string, ""}};
constexpr Operand close_operands[] = {{"a", OperandKind::value},
                                      {"b", OperandKind::value},
                                      {"rel", OperandKind::real, 1e-6},
                                      {"abs", OperandKind::real, 0.0}};
constexpr Operand exit_operands[] = {{"code", OperandKind::integer}};
constexpr Operand env_operands[] = {{"name", OperandKind::string}};

}  // namespace

constinit const Builtin builtin_assert =
    BuiltinFields{.name = "assert",
                  .operands = assert_operands,
                  .doc = "Ends the run with E5005 and the message unless the condition holds.",
                  .example = "assert(1 + 1 == 2, msg: \"arithmetic is broken\")\nprint(\"fine\")\n// expect: fine",
                  .type = assert_type,
                  .effect = Effect::host,
                  .run = run_assert,
                  .ends = EndsProgram::complains};

constinit const Builtin builtin_close =
    BuiltinFields{.name = "close",
                  .operands = close_operands,
                  .doc =
                      "True if two numbers, or two nested lists element by element, differ by at most rel times the "
                      "larger or by abs.",
                  .example = "print(close(0.1 + 0.2, 0.3), close([1.0], [1.1]))\n// expect: true false",
                  .type = close_type,
                  .run = run_close};

constinit const Builtin builtin_exit =
    BuiltinFields{.name = "exit",
                  .operands = exit_operands,
                  .doc = "Ends the program with this exit code (0 to 255); effects so far stay.",
                  .example = "print(\"bye\")\nexit(0)\n// expect: bye",
                  .type = exit_type,
                  .effect = Effect::host,
                  .run = run_exit,
                  .ends = EndsProgram::exits};

constinit const Builtin builtin_args = BuiltinFields{.name = "args",
                                                     .operands = {},
                                                     .doc = "What follows -- on the command line, as strings.",
                                                     .example = "print(len(args()))\n// expect: 0",
                                                     .type = args_type,
                                                     .effect = Effect::host,
                                                     .run = run_args};

constinit const Builtin builtin_agree = BuiltinFields{
    .name = "agree",
    .operands = agree_operands,
    .doc =
        "The value that x has on shard 0, on all shards; with one process x itself. What clock(), env() and "
        "rank() tell, and what is computed from it, may differ between shards: it may be printed and decide "
        "what the host does, but where it would decide what the graph does, or be handed to it, the shards "
        "must agree first (E1303).",
    .example =
        "var x = fill(f32[2], 1.0)\nfor i in 0..agree(len(env(\"NO_SUCH_VARIABLE\")) + 2) { x = x * 2.0 }\n"
        "print(x.array)\n// expect: [4, 4]",
    .type = agree_type,
    .effect = Effect::agrees,
    .run = run_agree,
    .fails = BuiltinFails::never};

constinit const Builtin builtin_rank =
    BuiltinFields{.name = "rank",
                  .operands = {},
                  .doc = "The number of the process among those that run the program, from 0; differs between shards.",
                  .example = "if rank() == 0 { print(\"first\") }\n// expect: first",
                  .type = shard_type,
                  .effect = Effect::local,
                  .run = run_rank,
                  .fails = BuiltinFails::never};

constinit const Builtin builtin_shards =
    BuiltinFields{.name = "shards",
                  .operands = {},
                  .doc = "How many shards run the program, the same number on each of them.",
                  .example = "print(shards())\n// expect: 1",
                  .type = shard_type,
                  .run = run_shards,
                  .runs_in = RunsIn::asked,  // there it is known which session it stands in
                  .fails = BuiltinFails::never};

constinit const Builtin builtin_clock =
    BuiltinFields{.name = "clock",
                  .operands = {},
                  .doc = "Seconds since some fixed moment; differs between shards.",
                  .example = "let t = clock()\nprint(clock() >= t)\n// expect: true",
                  .type = clock_type,
                  .effect = Effect::local,
                  .run = run_clock};

constinit const Builtin builtin_env =
    BuiltinFields{.name = "env",
                  .operands = env_operands,
                  .doc = "The value of an environment variable, empty if it is not set; differs between shards.",
                  .example = "print(env(\"NO_SUCH_VARIABLE\") == \"\")\n// expect: true",
                  .type = env_type,
                  .effect = Effect::local,
                  .run = run_env};

}  // namespace taskspec
