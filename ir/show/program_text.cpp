#include "ir/show/program_text.hpp"

#include <fmt/format.h>

#include <array>

namespace taskspec {

namespace {

constexpr std::array<std::string_view, 4> function_words{"fn", "task", "graph", "module"};

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
                                   function_words[static_cast<std::size_t>(function_.kind)], name);
    if (function_.kind != FunctionKind::module) text += "(" + parameters + ")";
    if (!outputs.empty()) text += " -> (" + outputs + ")";
    if (!function_.result.is(Type::Kind::none)) text += " -> " + function_.result.text();
    if (!function_.extern_symbol.empty()) text += " extern " + in_quotes(function_.extern_symbol);
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
      const FormBlock& record = call.form->blocks()[i];
      if (record.may_be_empty && call.blocks[i].calls.empty()) continue;
      if (!record.separator.empty()) line(std::string(record.separator));
      nested(call.blocks[i]);
    }
  }

  // The name of what a call fills in.
  std::string payload(const Call& call) const {
    switch (call.form->payload) {
      case Payload::value:
        return call.value.is_string() ? in_quotes(call.value.string()) : print(call.value);
      case Payload::parameter:
        return function_.parameters[call.index].name;
      case Payload::symbol:
        return call.symbol->name;
      case Payload::variable:
        return variable(call);
      case Payload::global: {
        const Module& module = program_.modules[call.module.index()];
        return module.name + "." + program_[module.top_level].variables[call.variable.index()].name;
      }
      case Payload::op:
        return std::string(call.op->name);
      case Payload::builtin:
        return std::string(call.builtin->name);
      case Payload::part:
      case Payload::output:
        return std::to_string(call.index);
      case Payload::field:
        return call.name;
      case Payload::receive:
        return std::string(receive_words[call.index]);
      case Payload::agent:
        return program_[call.agent].name;
      case Payload::callee:
        return program_.display_name(call.callee);
      case Payload::channel:
        return "channel " + std::to_string(call.index);
      case Payload::none:
      case Payload::type:
        return "";
    }
    return "";
  }

  std::string what(const Call& call) const {
    const std::string in = operands(call);
    const std::string behind = fmt::format(fmt::runtime(call.form->dump), fmt::arg("what", payload(call)),
                                           fmt::arg("in", in), fmt::arg("of", in.empty() ? "" : " of " + in),
                                           fmt::arg("rest", call.in.empty() ? "" : operands(call, 1)),
                                           fmt::arg("first", call.in.empty() ? "" : name(call.in[0])));
    return std::string(call.form->word) + (behind.empty() ? "" : " " + behind);
  }

  const Program& program_;
  const Function& function_;
  FunctionId id_;
  std::string out_;
  std::size_t depth_ = 0;
};

std::string agent_text(const Program& program, const AgentDef& agent) {
  std::string text = "agent " + agent.name + "(";
  for (std::size_t i = 0; i < agent.parameters.size(); ++i)
    text += (i ? ", " : "") + agent.parameters[i].name + ": " + agent.parameters[i].type.text();
  text += ")\n";
  for (const Slot& slot : agent.slots) text += "  " + slot_text(program, slot) + "\n";
  return text;
}

}  // namespace

std::string function_text(const Program& program, FunctionId id) { return Printer(program, id).text(); }

std::string program_text(const Program& program) {
  std::string text;
  for (const AgentDef& agent : program.agents) text += agent_text(program, agent) + "\n";
  for (std::size_t i = 0; i < program.functions.size(); ++i)
    text += (i ? "\n" : "") + function_text(program, FunctionId(i));
  return text;
}

}  // namespace taskspec
