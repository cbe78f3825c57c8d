#include "ir/cut_report/code_lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>
#include <utility>

#include "ir/base/text.hpp"
#include "ir/cut_report/code_uses.hpp"
#include "ir/cut_report/code_words.hpp"

namespace taskspec {

namespace {

class Writer {
 public:
  Writer(const Program& program, FunctionId id, const CodeNames& names)
      : program_(program), function_(program[id]), names_(names), uses_(function_) {
    for (std::size_t i = 0; i < function_.calls.size(); ++i) {
      const Call& call = function_.calls[i];
      if (!uses_.is_here(CallId(i))) continue;
      if (call.form->payload == Payload::parameter) taken_.insert(function_.parameters[call.index].name);
      if (call.form == Form::write || call.form == Form::variable) taken_.insert(variable(call));
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
      return call.form->talks ||
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
    const FormRecord& form = *call.form;
    if (form.has_body()) return control(id, call);
    if (!form.infix.empty() && form.block_count > 0) return stops_early(id, call);
    if (form.to_run == FormRecord::ToRun::session) return nested_session(id, call);
    if (!form.is_statement() || form.text.empty()) return value_line(id, call);
    line(id, written(call).text);
    if (call.form == Form::write && uses_.named_by(call.in[0]) == id) value_names_[call.in[0].value] = variable(call);
  }

  // Its words open a block; where lines stand in its condition, that is a block, too.
  void control(CallId id, const Call& call) {
    const std::span<const FormBlock> records = call.form->blocks();
    std::size_t next = records[0].decides ? 1 : 0;
    if (next == 1 && uses_.has_lines(call.blocks[0]))
      opens_with_lines(id, call);
    else
      line(id, written(call).text + " {", Mark::opens);
    inside(call.blocks[next]);
    while (++next < call.blocks.size()) {
      if (records[next].may_be_empty && !uses_.has_lines(call.blocks[next])) continue;
      line(id, fmt::format("}} {} {{", records[next].separator), Mark::between);
      inside(call.blocks[next]);
    }
    line(id, "}", Mark::closes);
  }

  void opens_with_lines(CallId id, const Call& call) {
    const Block& condition = call.blocks[0];
    line(id, fmt::format("{} true {{", call.form->word), Mark::opens);
    inside(condition);
    ++depth_;
    line(id, "if " + prefix("!", words(condition.result)).text + " { break }", Mark::between);
    --depth_;
  }

  // a && b, where something happens inside b.
  void stops_early(CallId id, const Call& call) {
    const std::string name = new_name(id);
    const Words first = words(call.in[0]);
    line(id, name + " = " + first.text);
    line(id, fmt::format("if {}{} {{", call.form->infix == "&&" ? "" : "!", name), Mark::opens);
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

  // f(x), or a.f(x) for the member of an agent; that of an `ir` declaration goes by the name of the agent.
  Words called(const Call& call) {
    const Function& callee = program_[call.callee];
    const std::string& name = names_.functions[call.callee.index()];
    if (!callee.agent.valid() || call.in.empty()) return {name + "(" + list(call) + ")"};
    const std::string member = callee.name.empty() ? "" : "." + callee.name;
    return {words(call.in[0]).within(Precedence::tight) + member + "(" + list(call, 1) + ")"};
  }

  Words operation(const Call& call) {
    const std::string_view symbol = call.op->symbol;
    std::size_t count = call.in.size();
    if (symbol == "as" && count >= 2)
      return {words(call.in[0]).within(Precedence::cast) + " as " + operand(call, 1), Precedence::cast};
    if (!symbol.empty() && symbol != "[]" && count == 2) return infix(symbol, words(call.in[0]), words(call.in[1]));
    if ((symbol == "-" || symbol == "!") && count == 1) return prefix(symbol, words(call.in[0]));
    return {std::string(call.op->name) + "(" + arguments(call, call.op->operands) + ")"};
  }

  Words expression(const Call& call) {
    switch (call.form->payload) {
      case Payload::op:
        return operation(call);
      case Payload::builtin:
        return {std::string(call.builtin->name) + "(" + arguments(call, call.builtin->operands) + ")"};
      case Payload::channel:
        return message(call);
      case Payload::part:
        return element(call);
      case Payload::callee:
        return call.form->enters == FormRecord::Enters::callee ? called(call) : written(call);
      default:
        break;
    }
    if (call.form == Form::constant) return constant_words(call.value);
    if (call.form == Form::tuple && call.in.size() == 1) return {"(" + list(call) + ",)"};
    return written(call);
  }

  Words message(const Call& call) {
    channels_.push_back(ChannelId(call.index));
    const std::string& channel = names_.channels[call.index];
    if (call.form != Form::enqueue) return {"dequeue " + channel, Precedence::prefix};
    if (call.in.empty())  // it carries nothing; the graph says that an order is done
      return {(function_.part == Part::graph ? "done " : "enqueue ") + channel, Precedence::prefix};
    return {fmt::format("enqueue {} ({})", channel, list(call)), Precedence::prefix};
  }

  // As its form is written.
  Words written(const Call& call) {
    const FormRecord& form = *call.form;
    const CallId block = call.blocks.empty() ? CallId() : call.blocks[0].result;
    if (!form.infix.empty()) return infix(form.infix, words(call.in[0]), words(block.valid() ? block : call.in[1]));
    if (form.text.empty()) return {payload(call), form.precedence};
    return {fill(form.text, call), form.precedence};
  }

  // What stands between braces in the words of a form is written for this call.
  std::string fill(std::string_view pattern, const Call& call) {
    std::string text;
    for (;;) {
      const std::size_t open = pattern.find('{');
      text += pattern.substr(0, open);
      if (open == std::string_view::npos) break;
      const std::size_t close = pattern.find('}', open);
      text += blank(pattern.substr(open + 1, close - open - 1), call);
      pattern.remove_prefix(close + 1);
    }
    while (text.ends_with(' ')) text.pop_back();  // return without a value
    return text;
  }

  std::string blank(std::string_view name, const Call& call) {
    if (name == "in") return list(call);
    if (name == "rest") return list(call, 1);
    if (name == "what") return payload(call);
    if (name == "member") return program_[call.callee].name;
    if (name == "block") return words(call.blocks[0].result).text;
    if (name == "turn") return call.form == Form::loop ? loop_words(program_.sources, call) : loop_name(call);
    if (name == "t0") return words(call.in[0]).within(Precedence::tight);
    if (name == "indices") {
      std::string indices;
      for (std::size_t i = 1; i < call.in.size(); ++i) indices += "[" + operand(call, i) + "]";
      return indices;
    }
    return operand(call, static_cast<std::size_t>(name[0] - '0'));
  }

  std::string payload(const Call& call) const {
    switch (call.form->payload) {
      case Payload::parameter:
        return function_.parameters[call.index].name;
      case Payload::symbol:
        return call.symbol->name;
      case Payload::type:
        return call.type.parts.empty() ? call.type.text() : call.type.parts[0].text();
      case Payload::variable:
        return variable(call);
      case Payload::global:
        return global_words(program_, function_.module, call);
      case Payload::part:
        return std::to_string(call.index);
      case Payload::field:
        return call.name;
      case Payload::receive:
        return std::string(receive_words[call.index]);
      case Payload::output:
        return function_[call.in[0]].type.names[call.index];
      case Payload::agent:
        return program_[call.agent].name;
      case Payload::callee:
        return names_.functions[call.callee.index()];
      default:
        return "?";
    }
  }

  // Of what a loop takes apart: its name.
  Words element(const Call& call) {
    const std::vector<std::string> names = loop_names(program_.sources, function_[call.in[0]]);
    if (!names.empty()) return {names[call.index]};
    return written(call);
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
