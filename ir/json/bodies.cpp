// What happens inside a structured node, drawn as graphs: one for each block of an if or loop, one for the body of a
// fn. For viewers; a reader goes by the op list of the definition.
#include <fmt/format.h>

#include <map>

#include "ir/json/body.hpp"
#include "ir/json/format.hpp"
#include "ir/program/top_level.hpp"
#include "ir/records/op_outputs.hpp"

namespace taskspec {

namespace {

using Kind = Type::Kind;

// Where a tensor comes from: a node of this graph, or something outside of it. Host values have no source.
struct Origin {
  enum class From : std::uint8_t { host, input, node } from = From::host;
  std::size_t id = 0;
  std::string slot;
};

struct BodyNode {
  std::string name;
  const Call* call = nullptr;
  std::vector<std::pair<std::string, Origin>> in;
  std::vector<std::pair<std::string, std::string>> out;  // slot, type
};

void put_bodies(JsonText& out, const Program& program, const Defs& defs, FunctionId id, const Call& call,
                InsideTable* insides);

class BodyGraph {
 public:
  BodyGraph(JsonText& out, const Program& program, const Defs& defs, FunctionId id, InsideTable* insides)
      : out_(out), program_(program), defs_(defs), function_(program[id]), id_(id), insides_(insides) {}

  void put(std::string_view name, const Block& block) {
    walk(block);
    results(block);
    out_.open('{').member("name", name).key("inputs").open('[');
    for (const auto& [input, type] : inputs_) out_.open('{').member("name", input).member("type", type).close('}');
    out_.close(']').key("results").open('[');
    for (const auto& [result, origin] : results_) {
      out_.open('{').member("name", result).key("ref");
      ref(origin);
      out_.close('}');
    }
    out_.close(']').key("nodes").open('[');
    for (std::size_t i = 0; i < nodes_.size(); ++i) node(i);
    out_.close(']').key("edges").open('[');
    edges();
    out_.close(']').close('}');
  }

 private:
  std::string text(const Type& type) const { return defs_.text(type, id_); }

  // ---- reading the block ----

  void walk(const Block& block) {
    for (CallId id : block.calls) step(id, function_[id]);
  }

  void step(CallId id, const Call& call) {
    const FormRecord& form = *call.form;
    if (call.form == Form::variable) {
      values_[id] = current(call.variable);
    } else if (call.form == Form::write) {
      variables_[call.variable] = value(call.in[0]);
    } else if (call.op) {
      if (makes_tensors(*call.op, call.type)) add(id, call, std::string(call.op->name));
    } else if (form.enters == FormRecord::Enters::callee) {
      if (call.form == Form::invoke || call.type.is_tensor() || call.type.is(Kind::tuple))
        add(id, call, program_.display_name(call.callee));
    } else if (form.payload == Payload::output) {
      pick(id, call, program_output(call));
    } else if (form.payload == Payload::part) {
      pick(id, call, "value" + std::to_string(call.index));
    } else if (form.is_control()) {
      add(id, call, std::string(form.word));
    } else if (form.leaves == FormRecord::Leaves::function) {
      if (!call.in.empty()) results_.emplace_back("value", value(call.in[0]));
    } else {
      for (const Block& inner : call.blocks) walk(inner);  // && and ||
    }
  }

  std::string program_output(const Call& call) const {
    const Type& invocation = function_[call.in[0]].type;
    return call.index < invocation.names.size() ? invocation.names[call.index] : "value";
  }

  void pick(CallId id, const Call& call, std::string slot) {
    Origin origin = value(call.in[0]);
    if (origin.from == Origin::From::node) origin.slot = std::move(slot);
    values_[id] = std::move(origin);
  }

  Origin current(VariableId variable) {
    auto known = variables_.find(variable);
    if (known != variables_.end()) return known->second;
    const Variable& declared = function_.variables[variable.index()];
    return variables_[variable] = input(declared.name, declared.type);
  }

  // What a call inside gave, or an input for what was there before.
  Origin value(CallId id) {
    auto known = values_.find(id);
    if (known != values_.end()) return known->second;
    const Call& call = function_[id];
    std::string name = call.form == Form::parameter ? function_.parameters[call.index].name
                                                    : "value" + std::to_string(defs_.numbers(id_).calls[id.index()]);
    return values_[id] = input(name, call.type);
  }

  Origin input(const std::string& name, const Type& type) {
    if (!type.is_tensor()) return {};
    inputs_.emplace_back(name, text(type));
    return {Origin::From::input, inputs_.size() - 1, ""};
  }

  void add(CallId id, const Call& call, const std::string& name) {
    BodyNode node{fmt::format("{}#{}", name, counts_[name]++), &call, {}, {}};
    for (std::size_t i = 0; i < call.in.size(); ++i)
      if (call.in[i].valid()) read(node, slot_name(call, i), call.in[i]);
    if (call.blocks.empty())
      results_of(node, call);
    else
      changes_of(node, call);
    values_[id] = {Origin::From::node, nodes_.size(), node.out.empty() ? "" : node.out[0].first};
    nodes_.push_back(std::move(node));
  }

  void read(BodyNode& node, const std::string& slot, CallId in) {
    const Call& call = function_[in];
    if (call.form == Form::list)  // a list of tensors is as many inputs
      for (std::size_t i = 0; i < call.in.size(); ++i) read(node, fmt::format("{}[{}]", slot, i), call.in[i]);
    else if (call.type.is_tensor())
      node.in.emplace_back(slot, value(in));
  }

  std::string slot_name(const Call& call, std::size_t i) const {
    if (call.op) return std::string(operand_at(*call.op, i).name);
    if (call.form->to_run == FormRecord::ToRun::decision) return "condition";
    if (!call.callee.valid()) return "in" + std::to_string(i);
    const Function& callee = program_[call.callee];
    std::size_t next = callee.agent.valid() ? 1 : 0;
    for (const Parameter& parameter : callee.parameters)
      if (parameter.role == Role::declared && next++ == i) return parameter.name;
    return "agent";
  }

  void results_of(BodyNode& node, const Call& call) {
    const Type& type = call.type;
    if (type.is_tensor()) node.out.emplace_back("value", text(type));
    const bool parts_of_op = call.op && type.is(Kind::list);
    if (parts_of_op) node.out.emplace_back(call.op->outputs[0], text(type.parts[0]));
    for (std::size_t i = 0; i < type.parts.size() && !parts_of_op; ++i)
      node.out.emplace_back(type.names.empty() ? "value" + std::to_string(i) : type.names[i], text(type.parts[i]));
    for (const Place& place : call.places) {
      std::string slot = slot_name(call, place.operand);
      node.out.emplace_back(slot, text(function_.variables[place.variable.index()].type));
      variables_[place.variable] = {Origin::From::node, nodes_.size(), slot};
    }
  }

  // A nested block reads and leaves variables.
  void changes_of(BodyNode& node, const Call& call) {
    std::map<VariableId, bool> touched;  // changed?
    for (const Block& block : call.blocks)
      each_call(function_, block, [&](CallId id) {
        const Call& inner = function_[id];
        if (inner.form->reads()) touched.emplace(inner.variable, false);
        if (inner.form->writes()) touched[inner.variable] = true;
        for (const Place& place : inner.places) touched[place.variable] = true;
      });
    for (const auto& [variable, changed] : touched) {
      const Variable& declared = function_.variables[variable.index()];
      if (!declared.type.is_tensor()) continue;
      if (variables_.contains(variable) || !changed) node.in.emplace_back(declared.name, current(variable));
      if (!changed) continue;
      node.out.emplace_back(declared.name, text(declared.type));
      variables_[variable] = {Origin::From::node, nodes_.size(), declared.name};
    }
  }

  // The value of the block, and the variables that it changes.
  void results(const Block& block) {
    if (block.result.valid()) results_.emplace_back("value", value(block.result));
    for (const auto& [variable, origin] : variables_)
      if (origin.from == Origin::From::node) results_.emplace_back(function_.variables[variable.index()].name, origin);
    std::erase_if(results_, [](const auto& result) { return result.second.from == Origin::From::host; });
  }

  // ---- writing ----

  void ref(const Origin& origin) {
    out_.open('{');
    bool input = origin.from == Origin::From::input;
    out_.member(input ? "input" : "node", static_cast<std::int64_t>(origin.id));
    if (!input) out_.member("slot", origin.slot);
    out_.close('}');
  }

  void node(std::size_t i) {
    const BodyNode& node = nodes_[i];
    out_.open('{').member("id", static_cast<std::int64_t>(i)).member("name", node.name);
    if (insides_)
      out_.member("kind", kind_of(*node.call));
    else
      out_.member("def", static_cast<std::int64_t>(def_of(*node.call)));
    out_.key("in").open('[');
    for (const auto& [slot, origin] : node.in) {
      if (origin.from == Origin::From::host) continue;
      out_.open('{').member("slot", slot).key("ref");
      ref(origin);
      out_.close('}');
    }
    out_.close(']').key("out").open('[');
    for (const auto& [slot, type] : node.out) out_.open('{').member("slot", slot).member("type", type).close('}');
    out_.close(']');
    if (insides_) inside(*node.call);
    if (!node.call->blocks.empty()) put_bodies(out_, program_, defs_, id_, *node.call, insides_);
    out_.close('}');
  }

  std::size_t def_of(const Call& call) const {
    if (call.op) return defs_.of(*call.op);
    return call.callee.valid() ? defs_.of(call.callee) : defs_.of(id_);
  }

  std::string_view kind_of(const Call& call) const {
    if (call.op) return "op";
    return call.callee.valid() ? function_kind_name(program_[call.callee].kind) : "control";
  }

  void inside(const Call& call) {
    const Sources& sources = program_.sources;
    if (call.span.valid() && call.span.source.index() < sources.size()) {
      const Position at = sources[call.span.source].position(call.span.begin);
      out_.key("place").open('{').member("path", sources[call.span.source].path());
      out_.member("line", at.line).member("column", at.column);
      out_.member("length", static_cast<std::int64_t>(call.span.end - call.span.begin)).close('}');
    }
    if (!call.callee.valid()) return;
    if (const std::optional<std::size_t> number = insides_->of(call.callee))
      out_.member("inside", static_cast<std::int64_t>(*number));
  }

  void edges() {
    for (std::size_t to = 0; to < nodes_.size(); ++to)
      for (const auto& [slot, origin] : nodes_[to].in)
        if (origin.from == Origin::From::node)
          out_.open('{')
              .member("from", static_cast<std::int64_t>(origin.id))
              .member("to", static_cast<std::int64_t>(to))
              .member("slot_from", origin.slot)
              .member("slot_to", slot)
              .close('}');
  }

  JsonText& out_;
  const Program& program_;
  const Defs& defs_;
  const Function& function_;
  FunctionId id_;
  InsideTable* insides_;  // null: nobody looks at it
  std::map<CallId, Origin> values_;
  std::map<VariableId, Origin> variables_;
  std::map<std::string, int> counts_;
  std::vector<BodyNode> nodes_;
  std::vector<std::pair<std::string, std::string>> inputs_;  // name, type
  std::vector<std::pair<std::string, Origin>> results_;
};

void put_bodies(JsonText& out, const Program& program, const Defs& defs, FunctionId id, const Call& call,
                InsideTable* insides) {
  out.key("bodies").open('[');
  for (std::size_t i = 0; i < call.blocks.size(); ++i)
    BodyGraph(out, program, defs, id, insides).put(call.form->blocks()[i].name, call.blocks[i]);
  out.close(']');
}

}  // namespace

std::size_t InsideTable::number(FunctionId function, CallId call) {
  const auto [known, fresh] = numbers_.try_emplace({function, call}, keys_.size());
  if (fresh) keys_.emplace_back(function, call);
  return known->second;
}

std::optional<std::size_t> InsideTable::of(FunctionId function) {
  if (!defs_.has(function) || program_[function].body.calls.empty()) return std::nullopt;
  return number(function, CallId());
}

void InsideTable::put(JsonText& out) {
  out.key("insides").open('[');
  for (std::size_t i = 0; i < keys_.size(); ++i) {  // grows meanwhile
    const auto [function, call] = keys_[i];
    out.line().open('{');
    if (call.valid()) {
      put_bodies(out, program_, defs_, function, program_[function][call], this);
    } else {
      out.key("bodies").open('[');
      BodyGraph(out, program_, defs_, function, this).put("body", program_[function].body);
      out.close(']');
    }
    out.close('}');
  }
  if (!keys_.empty()) out.line();
  out.close(']');
}

void put_structure(JsonText& out, const Program& program, const Defs& defs, const Definition& definition) {
  FunctionId id = definition.function;
  if (!definition.call.valid()) {
    out.key("bodies").open('[');
    BodyGraph(out, program, defs, id, nullptr).put("body", program[id].body);
    out.close(']');
    return;
  }
  const Call& call = program[id][definition.call];
  const std::vector<std::uint32_t>& numbers = defs.numbers(id).calls;
  out.member("call", static_cast<std::int64_t>(numbers[definition.call.index()]));
  out.member("cond", static_cast<std::int64_t>(numbers[decision_of(call).index()]));
  put_bodies(out, program, defs, id, call, nullptr);
}

}  // namespace taskspec
