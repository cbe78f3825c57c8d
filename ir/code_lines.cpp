#include "ir/code_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>
#include <utility>

#include "ir/base/text.hpp"
#include "ir/code_uses.hpp"
#include "ir/code_words.hpp"

namespace taskspec {

namespace {

constexpr std::array receive_words{"scalar", "array", "iter", "handle"};

class Writer {
 public:
  Writer(const Program& program, FunctionId id, const CodeNames& names)
      : program_(program), function_(program[id]), names_(names), uses_(function_) {
    for (std::size_t i = 0; i < function_.calls.size(); ++i) {
      const Call& call = function_.calls[i];
      if (!uses_.is_here(CallId(i))) continue;
      if (call.form == Form::write || call.form == Form::variable || call.form == Form::parameter)
        taken_.insert(call.form == Form::parameter ? function_.parameters[call.index].name : variable(call));
    }
  }

  std::vector<CodeLine> lines() {
    for (const Parameter& parameter : function_.parameters)
      if (talks(parameter.default_block)) default_of(parameter);
    block(function_.body);
    return std::move(lines_);
  }

 private:
  using Mark = CodeLine::Mark;

  // ---- lines ----

  void line(CallId id, std::string text, Mark mark = Mark::statement) {
    lines_.push_back({std::move(text), depth_, mark, id, std::move(channels_), function_[id].span});
    channels_.clear();
  }

  void block(const Block& block) {
    for (CallId id : block.calls)
      if (uses_.is_line(id)) statement(id);
  }

  void inside(const Block& inner) {
    ++depth_;
    block(inner);
    --depth_;
  }

  // What happens before a call that leaves an argument out.
  void default_of(const Parameter& parameter) {
    const CallId first = parameter.default_block.calls.front();
    line(first, "default of " + parameter.name + " {", Mark::opens);
    inside(parameter.default_block);
    const Block& block = parameter.default_block;
    result_line(block.result.valid() ? block.result : parameter.default_value);
    line(first, "}", Mark::closes);
  }
  bool talks(const Block& block) const {
    return std::any_of(block.calls.begin(), block.calls.end(), [this](CallId id) {
      const Call& call = function_[id];
      return call.form == Form::enqueue || call.form == Form::dequeue ||
             std::any_of(call.blocks.begin(), call.blocks.end(), [this](const Block& inner) { return talks(inner); });
    });
  }
  // The value of a block, where it is no line already.
  void result_line(CallId id) {
    if (!id.valid() || uses_.is_line(id) || !uses_.is_here(id)) return;
    ++depth_;
    line(id, words(id).text);
    --depth_;
  }

  void statement(CallId id) {
    const Call& call = function_[id];
    switch (call.form) {
      case Form::write:
        line(id, variable(call) + " = " + operand(call, 0));
        if (uses_.named_by(call.in[0]) == id) value_names_[call.in[0].value] = variable(call);
        return;
      case Form::store: {
        std::string place = variable(call);
        for (std::size_t i = 1; i < call.in.size(); ++i) place += "[" + operand(call, i) + "]";
        return line(id, place + " = " + operand(call, 0));
      }
      case Form::if_:
        return branches(id, call);
      case Form::for_:
        line(id, fmt::format("for {} in {} {{", loop_name(call), operand(call, 0)), Mark::opens);
        inside(call.blocks[0]);
        return line(id, "}", Mark::closes);
      case Form::while_:
        return turns(id, call);
      case Form::return_:
        return line(id, call.in.empty() ? "return" : "return " + operand(call, 0));
      case Form::break_:
        return line(id, "break");
      case Form::continue_:
        return line(id, "continue");
      case Form::both:
      case Form::either:
        return stops_early(id, call);
      case Form::run:
        return nested_session(id, call);
      default:
        return value_line(id, call);
    }
  }

  void branches(CallId id, const Call& call) {
    line(id, "if " + operand(call, 0) + " {", Mark::opens);
    inside(call.blocks[0]);
    if (uses_.has_lines(call.blocks[1])) {
      line(id, "} else {", Mark::between);
      inside(call.blocks[1]);
    }
    line(id, "}", Mark::closes);
  }

  void turns(CallId id, const Call& call) {
    const Block& condition = call.blocks[0];
    if (!uses_.has_lines(condition)) {
      line(id, "while " + words(condition.result).text + " {", Mark::opens);
    } else {
      line(id, "while true {", Mark::opens);
      inside(condition);
      ++depth_;
      line(id, "if " + prefix("!", words(condition.result)).text + " { break }", Mark::between);
      --depth_;
    }
    inside(call.blocks[1]);
    line(id, "}", Mark::closes);
  }

  // a && b, where something happens inside b.
  void stops_early(CallId id, const Call& call) {
    const std::string name = new_name(id);
    const Words first = words(call.in[0]);
    line(id, name + " = " + first.text);
    line(id, fmt::format("if {}{} {{", call.form == Form::both ? "" : "!", name), Mark::opens);
    inside(call.blocks[0]);
    ++depth_;
    line(id, name + " = " + words(call.blocks[0].result).text);
    --depth_;
    line(id, "}", Mark::closes);
    value_names_[id.value] = name;
  }

  void nested_session(CallId id, const Call& call) {
    if (!uses_.has_lines(call.blocks[0])) return value_line(id, call);
    const std::string name = new_name(id);
    line(id, name + " = run {", Mark::opens);
    inside(call.blocks[0]);
    result_line(call.blocks[0].result);
    line(id, "} on " + operand(call, 0), Mark::closes);
    value_names_[id.value] = name;
  }

  void value_line(CallId id, const Call& call) {
    const std::string text = expression(call).text;
    if (call.type.is(Type::Kind::none) || !uses_.is_used(id)) return line(id, text);
    const std::string name = uses_.is_apart(id) ? part_names(id, call) : new_name(id);
    line(id, name + " = " + text);
    if (!uses_.is_apart(id)) value_names_[id.value] = name;
  }

  // ---- names ----

  std::string free_name(const std::string& wanted) {
    if (!wanted.empty() && taken_.insert(wanted).second) return wanted;
    std::string name;
    do name = fmt::format("t{}", ++temporaries_);
    while (!taken_.insert(name).second);
    return name;
  }

  // The name that a `let` of the text gives: values keep none, and most of them need none.
  std::string new_name(CallId id) {
    const Call& call = function_[id];
    const std::vector<std::string> let = let_names(program_.sources, call.span);
    if (let.size() == 1) return free_name(let[0]);
    return free_name(call.form == Form::dequeue && call.index < names_.hints.size() ? names_.hints[call.index] : "");
  }

  // (a, b), after the names that the elements get.
  std::string part_names(CallId id, const Call& call) {
    std::vector<std::string> names(call.type.parts.size(), "_"), pattern = let_names(program_.sources, call.span);
    if (pattern.size() != names.size() || names.size() == 1) pattern.assign(names.size(), "");
    for (std::size_t i = 0; i < function_.calls.size(); ++i) {
      const Call& element = function_.calls[i];
      if (element.form != Form::element || element.in[0] != id) continue;
      const CallId let = uses_.named_by(CallId(i));
      const std::vector<std::string> own = let_names(program_.sources, element.span);
      const std::string& written = own.size() == 1 ? own[0] : pattern[element.index];
      std::string& name = names[element.index];
      if (name == "_") name = let.valid() ? variable(function_[let]) : free_name(written);
      value_names_[static_cast<std::uint32_t>(i)] = name;
    }
    return "(" + joined(names, ", ") + ")";
  }

  const std::string& variable(const Call& call) const { return function_.variables[call.variable.index()].name; }

  // `i`, or `(i, x)`; what this part does not use is `_`.
  std::string loop_name(const Call& loop) const {
    std::string name = "_";
    std::vector<std::string> used;
    for (CallId id : loop.blocks[0].calls) {
      const Call& turn = function_[id];
      if (turn.form == Form::loop) name = loop_words(program_.sources, turn);
      if (turn.form != Form::element || !uses_.is_here(id)) continue;
      const std::vector<std::string> names = loop_names(program_.sources, function_[turn.in[0]]);
      if (!names.empty()) used.resize(names.size(), "_"), used[turn.index] = names[turn.index];
    }
    return used.empty() ? name : "(" + joined(used, ", ") + ")";
  }

  // ---- expressions ----

  std::string operand(const Call& call, std::size_t i) { return words(call.in[i]).text; }

  Words words(CallId id) {
    if (!id.valid() || !uses_.is_here(id)) return {"_"};
    if (auto known = value_names_.find(id.value); known != value_names_.end()) return {known->second};
    const CallId send = uses_.sent_by(id);
    if (!send.valid() || uses_.is_line(send) || sending_ == id) return expression(function_[id]);
    const CallId before = std::exchange(sending_, id);
    Words sent = expression(function_[send]);
    sending_ = before;
    return sent;
  }

  std::string list(const Call& call, std::size_t from = 0) {
    std::string text;
    for (std::size_t i = from; i < call.in.size(); ++i) text += (i > from ? ", " : "") + operand(call, i);
    return text;
  }

  // Arguments of an op or builtin: defaults are left out, what follows them has its name.
  std::string arguments(const Call& call, std::span<const Operand> operands) {
    std::string text;
    bool named = false;
    for (std::size_t i = 0; i < call.in.size(); ++i) {
      const bool declared = i < operands.size() && !operands[i].variadic;
      if (!call.in[i].valid() || (declared && is_default(function_[call.in[i]], operands[i]))) {
        named = true;
        continue;
      }
      text += text.empty() ? "" : ", ";
      if (named && declared) text += std::string(operands[i].name) + ": ";
      text += operand(call, i);
    }
    return text;
  }

  // f(x), or a.f(x) for the member of an agent.
  Words called(const Call& call) {
    const std::string& name = names_.functions[call.callee.index()];
    if (!program_[call.callee].agent.valid() || call.in.empty()) return {name + "(" + list(call) + ")"};
    return {words(call.in[0]).within(Binding::tight) + "." + program_[call.callee].name + "(" + list(call, 1) + ")"};
  }

  Words operation(const Call& call) {
    const std::string_view symbol = call.op->symbol;
    std::size_t count = call.in.size();
    if (symbol == "as" && count >= 2)
      return {words(call.in[0]).within(Binding::cast) + " as " + operand(call, 1), Binding::cast};
    if (!symbol.empty() && symbol != "[]" && count == 2) return infix(symbol, words(call.in[0]), words(call.in[1]));
    if ((symbol == "-" || symbol == "!") && count == 1) return prefix(symbol, words(call.in[0]));
    return {std::string(call.op->name) + "(" + arguments(call, call.op->operands) + ")"};
  }

  Words expression(const Call& call) {
    switch (call.form) {
      case Form::constant:
        return constant_words(call.value);
      case Form::parameter:
        return {function_.parameters[call.index].name};
      case Form::dimension:
        return {call.symbol->name};
      case Form::type:
        return {call.type.parts.empty() ? call.type.text() : call.type.parts[0].text()};
      case Form::variable:
        return {variable(call)};
      case Form::global:
        return {global_words(program_, function_.module, call)};
      case Form::loop:
        return {loop_words(program_.sources, call)};
      case Form::op:
        return operation(call);
      case Form::enqueue:
        channels_.push_back(ChannelId(call.index));
        if (call.in.empty())  // it carries nothing; the graph says that an order is done
          return {(function_.part == Part::graph ? "done " : "enqueue ") + names_.channels[call.index],
                  Binding::prefix};
        return {fmt::format("enqueue {} ({})", names_.channels[call.index], list(call)), Binding::prefix};
      case Form::dequeue:
        channels_.push_back(ChannelId(call.index));
        return {"dequeue " + names_.channels[call.index], Binding::prefix};
      default:
        return value_expression(call);
    }
  }

  Words value_expression(const Call& call) {
    auto tight = [&](std::size_t i) { return words(call.in[i]).within(Binding::tight); };
    switch (call.form) {
      case Form::builtin:
        return {std::string(call.builtin->name) + "(" + arguments(call, call.builtin->operands) + ")"};
      case Form::tuple:
        return {"(" + list(call) + (call.in.size() == 1 ? ",)" : ")")};
      case Form::list:
        return {"[" + list(call) + "]"};
      case Form::range:
        return infix("..", words(call.in[0]), words(call.in[1]));
      case Form::element:
        return element(call);
      case Form::item:
        return {tight(0) + "[" + operand(call, 1) + "]"};
      case Form::items:
        return {fmt::format("{}[{}..{}]", tight(0), operand(call, 1), operand(call, 2))};
      case Form::field:
        return {tight(0) + "." + call.name};
      case Form::receive:
        return {tight(0) + "." + receive_words[call.index]};
      case Form::output:
        return {tight(0) + "." + function_[call.in[0]].type.names[call.index]};
      case Form::compose:
        return infix(">>", words(call.in[0]), words(call.in[1]));
      case Form::both:
        return infix("&&", words(call.in[0]), words(call.blocks[0].result));
      case Form::either:
        return infix("||", words(call.in[0]), words(call.blocks[0].result));
      default:
        return callable(call);
    }
  }

  // Of what a loop takes apart: its name.
  Words element(const Call& call) {
    const std::vector<std::string> names = loop_names(program_.sources, function_[call.in[0]]);
    if (!names.empty()) return {names[call.index]};
    return {fmt::format("{}.{}", words(call.in[0]).within(Binding::tight), call.index)};
  }

  Words callable(const Call& call) {
    switch (call.form) {
      case Form::agent:
        return {program_[call.agent].name + "(" + list(call) + ")"};
      case Form::self:
        return {"self"};
      case Form::member:
        return {words(call.in[0]).within(Binding::tight) + "." + program_[call.callee].name};
      case Form::function:
      case Form::closure:
        return {names_.functions[call.callee.index()]};
      case Form::call:
      case Form::invoke:
        return called(call);
      case Form::apply:
        return {words(call.in[0]).within(Binding::tight) + "(" + list(call, 1) + ")"};
      case Form::run:
        return {"run " + words(call.blocks[0].result).text + " on " + operand(call, 0), Binding::whole};
      default:
        return {"?"};  // statements are no values
    }
  }

  const Program& program_;
  const Function& function_;
  const CodeNames& names_;
  CodeUses uses_;
  std::vector<CodeLine> lines_;
  std::uint32_t depth_ = 0;
  std::vector<ChannelId> channels_;  // of the line that is being written
  std::unordered_map<std::uint32_t, std::string> value_names_;
  std::set<std::string> taken_;
  std::size_t temporaries_ = 0;
  CallId sending_;  // its value is written inside of its enqueue now
};

}  // namespace

std::vector<CodeLine> code_lines(const Program& program, FunctionId function, const CodeNames& names) {
  return Writer(program, function, names).lines();
}

}  // namespace taskspec
