// Writes the headers of the C++ interface that come from the op records: taskspec/methods.hpp (x.sum(0)) and
// taskspec/ops.hpp (sum(x, 0)). Runs while the project is built.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>

#include "stdlib/ops.hpp"

namespace taskspec {

namespace {

constexpr std::array keywords{"and", "not", "or", "xor"};

std::string cpp_name(std::string_view name) {
  bool taken = std::find(keywords.begin(), keywords.end(), name) != keywords.end();
  return std::string(name) + (taken ? "_" : "");
}

// An op on a tensor is called behind it, so that a name of the user's does not hide the op's.
bool is_method(const OpDef& op) { return !op.operands.empty() && op.operands[0].kind == OperandKind::tensor; }

std::string parameters(std::span<const Operand> operands, bool is_template) {
  std::string text;
  for (const Operand& operand : operands) {
    bool optional = operand.standard.kind != Default::Kind::none || (operand.variadic && !is_template);
    text += fmt::format("{}Operand {}{}", text.empty() ? "" : ", ", cpp_name(operand.name), optional ? " = {}" : "");
  }
  return text;
}

std::string arguments(std::span<const Operand> operands) {
  std::string text;
  for (const Operand& operand : operands) {
    std::string value = fmt::format("std::move({})", cpp_name(operand.name));
    if (operand.kind == OperandKind::axes || operand.kind == OperandKind::pair)
      value = fmt::format("detail::tuple({})", value);
    if (operand.standard.kind != Default::Kind::none)
      value = fmt::format("detail::with_name({}, \"{}\")", value, operand.name);
    text += ", " + value;
    if (operand.variadic)
      text += fmt::format(", detail::further(std::forward<More>(more), {}.at())...", cpp_name(operand.name));
  }
  return text;
}

std::string comment(const OpDef& op, const char* indent) {
  std::string_view doc = op.doc.substr(0, op.doc.find(". "));
  std::string text = indent + std::string("// ");
  std::size_t column = text.size();
  for (std::size_t i = 0; i < doc.size();) {
    std::size_t end = std::min(doc.find_first_of(" \n", i), doc.size());
    if (column + end - i > 118) {
      text += fmt::format("\n{}// ", indent);
      column = 5;
    }
    text += fmt::format("{} ", doc.substr(i, end - i));
    column += end - i + 1;
    i = end + 1;
  }
  while (text.ends_with(' ')) text.pop_back();
  return text + "\n";
}

bool is_variadic(const OpDef& op) { return !op.operands.empty() && op.operands.back().variadic; }

void method(const OpDef& op) {
  std::span<const Operand> rest = op.operands.subspan(1);
  bool variadic = is_variadic(op);
  std::string takes = parameters(rest, true), gives = arguments(rest);
  if (variadic) takes += ", More&&... more";
  if (rest.empty()) takes = "At at = At::current()";
  fmt::print("{}", comment(op, "  "));
  for (bool temporary : {false, true}) {
    if (variadic) fmt::print("  template <class... More>\n");
    std::string self = temporary ? "detail::unplaced(std::move(self()))" : "detail::unplaced(self())";
    if (rest.empty()) self = fmt::format("detail::at({}, at)", self);
    fmt::print("  Result {}({}) {} {{\n    return Result(detail::call_op(\".{}\", {{{}{}}}));\n  }}\n",
               cpp_name(op.name), takes, temporary ? "&&" : "const&", op.name, self, gives);
  }
}

void function(const OpDef& op) {
  bool variadic = is_variadic(op);
  fmt::print("{}", comment(op, ""));
  fmt::print("{} Tensor {}({}{}) {{\n  return Tensor(detail::call_op(\"{}{}\", {{{}}}));\n}}\n\n",
             variadic ? "template <class... More>\n" : "inline", cpp_name(op.name), parameters(op.operands, true),
             variadic ? ", More&&... more" : "", is_method(op) ? "." : "", op.name, arguments(op.operands).substr(2));
}

std::string include(std::string_view header) { return fmt::format("#include \"taskspec/{}.hpp\"", header); }

void methods_header() {
  fmt::print(R"(// Made from the op records: every op on a tensor as a method. `taskspec doc NAME` says more.
#pragma once
{}

namespace taskspec::dsl {{

template <class Self, class Result>
class Methods {{
  using At = detail::At;

 public:
)",
             include("operand"));
  for (const OpDef* op : standard_ops().all())
    if (is_method(*op)) method(*op);
  fmt::print(R"(
 private:
  const Self& self() const& {{ return static_cast<const Self&>(*this); }}
  Self& self() & {{ return static_cast<Self&>(*this); }}
}};

}}  // namespace taskspec::dsl
)");
}

void functions_header() {
  fmt::print(R"(// Made from the op records: every op as a function. `taskspec doc NAME` says more.
#pragma once
{}

namespace taskspec::dsl {{

)",
             include("tensor"));
  for (const OpDef* op : standard_ops().all()) function(*op);
  fmt::print("}}  // namespace taskspec::dsl\n");
}

}  // namespace

}  // namespace taskspec

int main(int count, char** arguments) {
  if (count != 2) return 2;
  if (std::string_view(arguments[1]) == "methods")
    taskspec::methods_header();
  else
    taskspec::functions_header();
}
