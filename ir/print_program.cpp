#include "ir/print_program.hpp"

#include <fmt/format.h>

#include <array>

namespace taskspec {

namespace {

constexpr std::array<std::string_view, 40> form_names{
    "constant", "parameter", "dimension", "type",   "variable", "global", "loop",     "op",    "builtin", "tuple",
    "list",     "range",     "element",   "item",   "items",    "field",  "receive",  "agent", "self",    "member",
    "function", "closure",   "compose",   "call",   "invoke",   "apply",  "output",   "write", "store",   "if",
    "for",      "while",     "both",      "either", "return",   "break",  "continue", "run",   "enqueue", "dequeue",
};

constexpr std::array<std::string_view, 4> receive_names{"scalar", "array", "iter", "handle"};
constexpr std::array<std::string_view, 4> kind_names{"fn", "task", "graph", "module"};
constexpr std::array<std::string_view, 3> slot_names{"weight", "state", "table"};

class Printer {
 public:
  Printer(const Program& program, FunctionId id) : program_(program), function_(program[id]), id_(id) {}

  std::string text() {
    header();
    for (const Parameter& parameter : function_.parameters)
      if (parameter.default_value.valid()) {
        line(fmt::format("default of {}", parameter.name));
        nested(parameter.default_block);
      }
    block(function_.body);
    return std::move(out_);
  }

 private:
  void line(const std::string& text) { out_ += std::string(2 * depth_, ' ') + text + "\n"; }

  // ---- header ----

  std::string parameter_text(const Parameter& parameter) const {
    static constexpr std::array<std::string_view, 4> roles{"", "agent ", "slot ", "capture "};
    static constexpr std::array<std::string_view, 4> privileges{"", "out ", "inout ", "reduce "};
    return fmt::format("{}{}{}: {}", roles[static_cast<std::size_t>(parameter.role)],
                       privileges[static_cast<std::size_t>(parameter.privilege)], parameter.name,
                       parameter.type.text());
  }

  void header() {
    std::string parameters, outputs;
    for (const Parameter& parameter : function_.parameters)
      parameters += (parameters.empty() ? "" : ", ") + parameter_text(parameter);
    for (const Output& output : function_.outputs)
      outputs += (outputs.empty() ? "" : ", ") + output.name + ": " + output.type.text();
    std::string name = function_.kind == FunctionKind::module ? program_.modules[function_.module.index()].name
                                                              : program_.display_name(id_);
    static constexpr std::array<std::string_view, 3> parts{"", "host part of ", "graph part of "};
    std::string text = fmt::format("{}{} {}", parts[static_cast<std::size_t>(function_.part)],
                                   kind_names[static_cast<std::size_t>(function_.kind)], name);
    if (function_.kind != FunctionKind::module) text += "(" + parameters + ")";
    if (!outputs.empty()) text += " -> (" + outputs + ")";
    if (!function_.result.is(Type::Kind::none)) text += " -> " + function_.result.text();
    if (!function_.extern_symbol.empty()) text += " extern " + quoted(function_.extern_symbol);
    line(text + effects());
    ++depth_;
  }

  std::string effects() const {
    std::string text;
    auto add = [&](bool has, const char* name) {
      if (has) text += (text.empty() ? "   [" : ", ") + std::string(name);
    };
    add(function_.effects.host, "host");
    add(function_.effects.graph, "graph");
    add(function_.effects.local, "local");
    return text.empty() ? "" : text + "]";
  }

  // ---- calls ----

  void block(const Block& block) {
    for (CallId id : block.calls) call(id);
  }

  void nested(const Block& inner) {
    ++depth_;
    block(inner);
    if (inner.result.valid()) line("= " + name(inner.result));
    --depth_;
  }

  static std::string name(CallId id) { return id.valid() ? "%" + std::to_string(id.value) : "default"; }

  std::string operands(const Call& call, std::size_t from = 0) const {
    std::string text;
    for (std::size_t i = from; i < call.in.size(); ++i) text += (i > from ? ", " : "") + name(call.in[i]);
    return text;
  }

  std::string arguments(const Call& call) const {
    bool value = call.form == Form::function || call.form == Form::member || call.form == Form::closure;
    if (!value) return "(" + operands(call) + ")";
    return call.in.empty() ? "" : " of " + operands(call);
  }

  const std::string& variable(const Call& call) const { return function_.variables[call.variable.index()].name; }

  void call(CallId id) {
    const Call& call = function_[id];
    std::string text = what(call);
    bool value = !call.type.is(Type::Kind::none);
    if (value) text = fmt::format("{} = {} : {}", name(id), text, call.type.text());
    if (call.folded && call.form != Form::constant && call.form != Form::type) text += "   folded";
    for (const Place& place : call.places)
      text +=
          fmt::format("   {} -> {}", name(call.in[place.operand]), function_.variables[place.variable.index()].name);
    for (const Guard& guard : call.guards)
      text += fmt::format("   guard {} == {}", guard.left.text(), guard.right.text());
    line(text);
    blocks(call);
  }

  void blocks(const Call& call) {
    for (std::size_t i = 0; i < call.blocks.size(); ++i) {
      bool otherwise = call.form == Form::if_ && i == 1;
      if (otherwise && call.blocks[i].calls.empty()) continue;
      if (otherwise) line("else");
      if (call.form == Form::while_ && i == 1) line("do");
      nested(call.blocks[i]);
    }
  }

  std::string what(const Call& call) const {
    std::string form(form_name(call.form));
    switch (call.form) {
      case Form::constant:
        return form + " " + (call.value.is_string() ? quoted(call.value.string()) : print(call.value));
      case Form::parameter:
        return form + " " + function_.parameters[call.index].name;
      case Form::dimension:
        return form + " " + call.symbol->name;
      case Form::variable:
        return form + " " + variable(call);
      case Form::global: {
        const Module& module = program_.modules[call.module.index()];
        return fmt::format("{} {}.{}", form, module.name,
                           program_[module.top_level].variables[call.variable.index()].name);
      }
      case Form::op:
        return fmt::format("op {}({})", call.op->name, operands(call));
      case Form::builtin:
        return fmt::format("builtin {}({})", call.builtin->name, operands(call));
      case Form::element:
      case Form::output:
        return fmt::format("{} {} of {}", form, call.index, operands(call));
      case Form::field:
        return fmt::format("field {} of {}", call.name, operands(call));
      case Form::receive:
        return fmt::format("receive {} of {}", receive_names[call.index], operands(call));
      case Form::agent:
        return fmt::format("agent {}({})", program_[call.agent].name, operands(call));
      case Form::member:
      case Form::function:
      case Form::closure:
      case Form::call:
      case Form::invoke:
        return fmt::format("{} {}{}", form, program_.display_name(call.callee), arguments(call));
      case Form::enqueue:
        return fmt::format("enqueue channel {} ({})", call.index, operands(call));
      case Form::dequeue:
        return fmt::format("dequeue channel {}", call.index);
      case Form::write:
        return fmt::format("write {} = {}", variable(call), operands(call));
      case Form::store:
        return fmt::format("store {}[{}] = {}", variable(call), operands(call, 1), name(call.in[0]));
      default:
        return call.in.empty() ? form : fmt::format("{} {}", form, operands(call));
    }
  }

  const Program& program_;
  const Function& function_;
  FunctionId id_;
  std::string out_;
  std::size_t depth_ = 0;
};

std::string agent_text(const AgentDef& agent) {
  std::string text = "agent " + agent.name + "(";
  for (std::size_t i = 0; i < agent.parameters.size(); ++i)
    text += (i ? ", " : "") + agent.parameters[i].name + ": " + agent.parameters[i].type.text();
  text += ")\n";
  for (const Slot& slot : agent.slots)
    text += fmt::format("  {} {}: {}\n", slot_names[static_cast<std::size_t>(slot.kind)], slot.name, slot.type.text());
  return text;
}

}  // namespace

std::string_view form_name(Form form) { return form_names[static_cast<std::size_t>(form)]; }

std::string function_text(const Program& program, FunctionId id) { return Printer(program, id).text(); }

std::string program_text(const Program& program) {
  std::string text;
  for (const AgentDef& agent : program.agents) text += agent_text(agent) + "\n";
  for (std::size_t i = 0; i < program.functions.size(); ++i)
    text += (i ? "\n" : "") + function_text(program, FunctionId(i));
  return text;
}

}  // namespace taskspec
