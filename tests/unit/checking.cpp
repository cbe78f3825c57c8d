#include "tests/unit/checking.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>

#include "ir/files/files.hpp"
#include "ir/records/backend_record.hpp"
#include "ir/show/program_text.hpp"
#include "ir/verify/verify.hpp"
#include "stdlib/ops.hpp"

namespace taskspec::testing {

namespace {

using Kind = Type::Kind;

Value cannot_run(HostContext&, std::span<const Value>) { return {}; }

Type nothing(RuleContext&) { return Kind::none; }
Type integer(RuleContext&) { return Kind::integer; }
Type real(RuleContext&) { return Kind::real; }
Type text(RuleContext&) { return Kind::string; }
Type backend(RuleContext& c) {
  const bool repeats = c.count() > 2 && c.type(2).is(Kind::integer);
  return backend_type("host", repeats ? c.dim(2) : std::nullopt);
}
Type names(RuleContext&) { return Type::list(Type::list(Kind::string)); }

Type facts(RuleContext&) {
  Type type(Kind::record);
  type.names = {"acyclic", "tasks"};
  type.parts = {Kind::boolean, Kind::integer};
  return type;
}

Type element(RuleContext& c, std::size_t operand) {
  if (c.type(operand).is(Kind::range)) return Kind::integer;
  if (!c.type(operand).is(Kind::list))
    c.fail("E1004", "a list is wanted, not " + c.type(operand).text(), static_cast<int>(operand), "");
  return c.type(operand).parts[0];
}

Type map_type(RuleContext& c) { return Type::list(c.closure(1, {element(c, 0)})); }

Type filter_type(RuleContext& c) {
  c.closure(1, {element(c, 0)});
  return c.type(0);
}

Type zip_type(RuleContext& c) { return Type::list(Type::tuple({element(c, 0), element(c, 1)})); }
Type load_type(RuleContext& c) { return c.type(0).parts[0]; }

constexpr taskspec::Operand one[] = {{.name = "x", .kind = OperandKind::value}};
constexpr taskspec::Operand many[] = {{.name = "values", .kind = OperandKind::value, .variadic = true}};
constexpr taskspec::Operand listed[] = {{.name = "l", .kind = OperandKind::value},
                                        {.name = "f", .kind = OperandKind::function}};
constexpr taskspec::Operand two[] = {{.name = "a", .kind = OperandKind::value},
                                     {.name = "b", .kind = OperandKind::value}};
constexpr taskspec::Operand of_host[] = {
    {.name = "threads", .kind = OperandKind::integer, .standard = 0},
    {.name = "schedule", .kind = OperandKind::string, .standard = ""},
    {.name = "time_steps", .kind = OperandKind::integer, .standard = Default::absent()}};
constexpr taskspec::Operand of_load[] = {{.name = "T", .kind = OperandKind::type},
                                         {.name = "path", .kind = OperandKind::string}};
constexpr taskspec::Operand of_format[] = {{.name = "s", .kind = OperandKind::string},
                                           {.name = "values", .kind = OperandKind::value, .variadic = true}};

constexpr BuiltinFields record(std::string_view name, std::span<const taskspec::Operand> operands, TypeRule type,
                               Effect effect = Effect::pure, bool method = false) {
  return {name, operands, "of the tests", "none", type, effect, cannot_run, method};
}

constexpr BuiltinFields serving(BuiltinFields fields, Serves serves) {
  fields.serves = serves;
  return fields;
}

constinit const Builtin of_chains = record("chains", one, names);
constinit const Builtin of_check = record("check", one, facts);
constinit const Builtin of_clock = record("clock", {}, real, Effect::local);
constinit const Builtin of_filter = record("filter", listed, filter_type, Effect::pure, true);
constinit const Builtin of_formatting = record("format", of_format, text);
constinit const Builtin of_hosts = record("host", of_host, backend);
constinit const Builtin of_len = serving(record("len", one, integer, Effect::pure, true), Serves::counts);
constinit const Builtin of_loading = serving(record("load", of_load, load_type, Effect::host), Serves::loads);
constinit const Builtin of_map = record("map", listed, map_type, Effect::pure, true);
constinit const Builtin of_print = record("print", many, nothing, Effect::host);
constinit const Builtin of_zip = record("zip", two, zip_type);

constexpr std::array<const Builtin*, 11> builtins{&of_chains,     &of_check, &of_clock, &of_filter,
                                                  &of_formatting, &of_hosts, &of_len,   &of_loading,
                                                  &of_map,        &of_print, &of_zip};

std::string place(const Sources& sources, Span span) {
  if (!span.valid()) return "?";
  Position at = sources[span.source].position(span.begin);
  return fmt::format("{}:{}", at.line, at.column);
}

std::string headline(const Sources& sources, const Diag& diag) {
  return fmt::format("{}{} {} {}", diag.severity == Severity::warning ? "warning " : "", diag.code.text(),
                     place(sources, diag.primary.span), diag.message);
}

Program right(const std::string& text, const CheckCase& options) {
  Checked result = checked(text, options);
  std::string wrong;
  for (const Diag& diag : result.program.diags().items()) wrong += headline(result.sources, diag) + "\n";
  INFO(wrong);
  REQUIRE(static_cast<bool>(result.program));
  return *std::move(result.program);
}

// The value of the last top-level let.
const Call& last_let(const Program& program, const Function*& top) {
  top = &program[program.main().top_level];
  for (auto id = top->body.calls.rbegin(); id != top->body.calls.rend(); ++id)
    if ((*top)[*id].form == Form::write) return (*top)[(*top)[*id].in[0]];
  FAIL("no let");
  return top->calls[0];
}

}  // namespace

BuiltinTable test_builtins() { return BuiltinTable(builtins); }

Checked checked(const std::string& text, const CheckCase& options) {
  OpTable ops = standard_ops();
  BuiltinTable table = test_builtins();
  Sources sources;
  SourceId main = sources.add(options.path, text);
  Result<Program> program = check(sources, main,
                                  {.ops = ops,
                                   .builtins = table,
                                   .search_path = options.search_path,
                                   .defines = options.defines,
                                   .at_prompt = options.at_prompt,
                                   .read = [](const std::string& path) { return read_text(path); }});
  if (program)
    for (const std::string& wrong : verify(*program)) {
      INFO(program_text(*program));
      FAIL_CHECK(wrong);
    }
  return {std::move(sources), std::move(program)};
}

std::string error_of(const std::string& text, const CheckCase& options) {
  Checked result = checked(text, options);
  std::string out;
  for (const Diag& diag : result.program.diags().items())
    out += (out.empty() ? "" : "\n") + headline(result.sources, diag);
  return out;
}

std::string details_of(const std::string& text, const CheckCase& options) {
  Checked result = checked(text, options);
  std::string out;
  for (const Diag& diag : result.program.diags().items()) {
    out += headline(result.sources, diag) + "\n";
    if (!diag.primary.text.empty()) out += "  at " + diag.primary.text + "\n";
    for (const Label& label : diag.labels)
      out += fmt::format("  {} {}\n", place(result.sources, label.span), label.text);
    for (const std::string& note : diag.notes) out += "  note: " + note + "\n";
    if (!diag.help_text.empty()) out += "  help: " + diag.help_text + "\n";
  }
  return out;
}

std::string dump_of(const std::string& text, const std::string& function, const CheckCase& options) {
  Program program = right(text, options);
  // Every file has a "<module>"; the one that is meant is the main file's.
  if (function == "<module>") return function_text(program, program.main().top_level);
  for (std::size_t i = 0; i < program.functions.size(); ++i)
    if (program.display_name(FunctionId(i)) == function) return function_text(program, FunctionId(i));
  return "no function " + function;
}

std::string type_of_last(const std::string& text) {
  Program program = right(text, {});
  const Function* top = nullptr;
  return last_let(program, top).type.text();
}

std::string value_of_last(const std::string& text) {
  Program program = right(text, {});
  const Function* top = nullptr;
  const Call& call = last_let(program, top);
  return call.form == Form::constant ? print(call.value) : "not constant";
}

}  // namespace taskspec::testing
