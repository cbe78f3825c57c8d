// Signatures, agents and calls of tasks: include/taskspec/declare.hpp and agent.hpp.
#include "taskspec/declare.hpp"

#include <cxxabi.h>

#include <algorithm>
#include <cstdlib>

#include "frontend/dsl/errors.hpp"
#include "frontend/dsl/record.hpp"
#include "ir/types/precision.hpp"
#include "taskspec/agent.hpp"

namespace taskspec::dsl {

using detail::Node;
using detail::NodePtr;

Results results(Name name, Operand value) {
  Results r;
  r.add(name.text, std::move(value));
  return r;
}

Results results(Name a, Operand x, Name b, Operand y) {
  Results r = results(std::move(a), std::move(x));
  r.add(b.text, std::move(y));
  return r;
}

Results results(Name a, Operand x, Name b, Operand y, Name c, Operand z) {
  Results r = results(std::move(a), std::move(x), std::move(b), std::move(y));
  r.add(c.text, std::move(z));
  return r;
}

Results results(Name a, Operand x, Name b, Operand y, Name c, Operand z, Name d, Operand w) {
  Results r = results(std::move(a), std::move(x), std::move(b), std::move(y), std::move(c), std::move(z));
  r.add(d.text, std::move(w));
  return r;
}

namespace detail {

// ---- signatures -----------------------------------------------------------------------------------

namespace {

void require_name(const Name& name) {
  auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  bool fits =
      !name.text.empty() && letter(name.text[0]) &&
      std::all_of(name.text.begin(), name.text.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
  if (!fits)
    fail("E1001", name.at, "'" + name.text + "' is no name", "a name is letters, digits and _, no digit first");
}

}  // namespace

FunctionPtr declare(Kind kind, const Name& name, const std::shared_ptr<AgentClass>& agent) {
  require_name(name);
  return std::make_shared<Function>(kind, name, agent);
}

void parameter(Function& function, const char* privilege, const Name& name, const Type& type, Operand standard) {
  require_name(name);
  NodePtr value = standard.given() ? use(standard) : nullptr;
  function.parameters.push_back({privilege, name, type, std::move(value)});
}

void result(Function& function, const Name& name, const Type& type) {
  if (!name.text.empty()) require_name(name);
  if (!function.outputs.empty() && (name.text.empty() || function.outputs[0].name.text.empty()))
    fail("E1003", name.at, "an output without a name is the only one", "name each: .out(\"y\", ...)");
  function.outputs.push_back({name, type});
}

void view(Function& function, const char* privilege, const Name& name, const RegionType& type, Slots fields) {
  require_name(name);
  if (function.kind != Kind::task)
    fail("E1004", name.at, "only a task has views; " + described(function) + " takes regions",
         ".in(\"" + name.text + "\", Cell), and hands its pieces to tasks");
  if (fields.empty()) fail("E1004", name.at, "view '" + name.text + "' has no fields", "name those that the task uses");
  Parameter made{privilege, name, type, nullptr};
  made.type.fields = std::move(fields);
  function.parameters.push_back(std::move(made));
}

}  // namespace detail

// ---- calls ----------------------------------------------------------------------------------------

namespace {

bool writes_places(const detail::Function* function) {
  if (!function) return true;                                         // composed
  if (function->acts || !function->block_lines.empty()) return true;  // blocks may hold states
  auto agent = function->agent.lock();
  return (agent && !agent->slots.empty()) ||
         std::any_of(function->parameters.begin(), function->parameters.end(),
                     [](const detail::Parameter& p) { return p.privilege == "inout" || !p.type.fields.empty(); });
}

// A member of the agent whose body this is goes by its name alone: it is called on that agent.
NodePtr callee(const Task& task, detail::At at) {
  const detail::Recording* here = detail::Recording::current();
  const auto own = here ? here->function().agent.lock() : nullptr;
  if (!own || !task.function() || task.function()->agent.lock() != own) return detail::use(Operand(task, at));
  auto name = std::make_shared<Node>(*task.value());
  name->in.clear();
  name->agent = nullptr;  // which owns the body that this becomes part of
  return name;
}

}  // namespace

NodePtr Task::call(const Task& task, bool temporary, std::initializer_list<Operand> operands) {
  std::vector<Operand> taken;
  for (const Operand& operand : operands) taken.push_back(Operand(operand.take(), operand.at()).named(operand.name()));
  return call(task, temporary, operands.begin()->at(), std::move(taken));
}

Tensor Task::call(std::vector<Operand> operands, At at) const {
  return Tensor(call(*this, false, at, std::move(operands)));
}

NodePtr Task::call(const Task& task, bool temporary, At at, std::vector<Operand> operands) {
  if (!task.function_ && !task.value_)
    detail::fail("E1006", at, "this task is not set", "give it a body before it is called");
  Node node;
  node.kind = Node::Kind::invoke;
  node.at = at;
  node.writes = writes_places(task.function_.get());
  node.in.push_back(callee(task, at));
  node.names.emplace_back();
  for (const Operand& operand : operands) {
    if (!operand.given()) continue;
    node.names.push_back(operand.name());
    node.in.push_back(detail::use(operand));
  }
  const detail::Function* called = task.function_.get();
  detail::Recording* recording = detail::Recording::current();
  if (recording && called && called->acts) recording->function().acts = true;
  const bool gives = !called || called->kind != detail::Kind::fn || !called->outputs.empty();
  if (gives || !recording) return detail::recorded(std::move(node), temporary);
  detail::record_call(std::move(node), temporary);
  return nullptr;
}

Task blocks(Name name, std::string lines) {
  detail::FunctionPtr function = detail::declare(detail::Kind::task, name, nullptr);
  if (lines.find_first_not_of(" \t\r\n;") == std::string::npos)
    detail::fail("E1006", name.at, "'" + name.text + "' has no blocks");
  function->block_lines = std::move(lines);
  return Task(std::move(function), nullptr);
}

Task operator>>(const Task& first, const Task& second) {
  return Task(nullptr, detail::binary(">>", Operand(first), Operand(second)));
}

// ---- agents ---------------------------------------------------------------------------------------

Agent::Agent(Operand a, Operand b, Operand c, Operand d, Operand e, Operand f)
    : class_(std::make_shared<detail::AgentClass>(Name("", a.at()))) {
  Node node;
  node.kind = Node::Kind::agent;
  node.at = a.at();
  node.agent = class_;
  for (const Operand& operand : {std::move(a), std::move(b), std::move(c), std::move(d), std::move(e), std::move(f)}) {
    if (!operand.given()) continue;
    node.names.push_back(operand.name());
    node.in.push_back(detail::use_for_agent(operand));
  }
  bool from_literals = std::all_of(node.in.begin(), node.in.end(),
                                   [](const NodePtr& argument) { return argument->owner == detail::nobody; });
  instance_ = detail::recorded(std::move(node));
  if (!instance_->bound && from_literals) instance_->owner = detail::nobody;  // equal ones are interchangeable
}

// Not known in the constructor of the base: the derived part begins with the first member that asks.
detail::AgentClass& Agent::declared() {
  if (!class_->name.text.empty()) return *class_;
  int status = 0;
  char* readable = abi::__cxa_demangle(typeid(*this).name(), nullptr, nullptr, &status);
  std::string name = status == 0 ? readable : typeid(*this).name();
  std::free(readable);
  class_->name.text = name.substr(name.rfind(':') + 1);
  return *class_;
}

Tensor Agent::param(Name name, const Type& type, Operand standard) {
  detail::AgentClass& agent = declared();
  NodePtr value = standard.given() ? detail::use(standard) : nullptr;
  agent.parameters.push_back({"", name, type, std::move(value)});
  NodePtr node = detail::name_node(name.text, name.at, agent.owner, false);
  node->of_agent = true;
  return Tensor(std::move(node));
}

Var Agent::slot(const char* kind, const Name& name, const Type& type, Operand initial) {
  detail::AgentClass& agent = declared();
  if (!instance_->bound) instance_->owner = detail::host_program;  // it remembers: each is one of its own
  agent.slots.push_back({kind, name, type, initial.given() ? initial.take() : nullptr});
  return Var(detail::name_node(name.text, name.at, agent.owner, true));
}

NodePtr Agent::member(const Name& name, const detail::FunctionPtr& function) {
  auto value = std::make_shared<Node>();
  value->kind = Node::Kind::callable;
  value->text = name.text;
  value->at = name.at;
  value->in.push_back(instance_);
  value->agent = class_;
  value->function = function;
  return value;
}

TaskBuilder Agent::task(Name name) {
  declared();
  detail::FunctionPtr function = detail::declare(detail::Kind::task, name, class_);
  NodePtr value = member(name, function);
  return TaskBuilder(std::move(function), std::move(value));
}

GraphBuilder Agent::graph(Name name) {
  declared();
  detail::FunctionPtr function = detail::declare(detail::Kind::graph, name, class_);
  NodePtr value = member(name, function);
  return GraphBuilder(std::move(function), std::move(value));
}

void Agent::hold(const Name& name, const Held& inner, bool is_list) {
  detail::AgentClass& agent = declared();
  if (!instance_->bound) instance_->owner = detail::host_program;
  auto list = std::make_shared<Node>();
  list->kind = Node::Kind::list;
  list->at = name.at;
  for (const Agent* one : inner) list->in.push_back(detail::moved_agent(one->instance_, name.at));
  agent.slots.push_back({"layer", name, {}, is_list ? list : list->in[0]});
  const NodePtr layer = detail::name_node(name.text, name.at, agent.owner, true);
  for (std::size_t i = 0; i < inner.size(); ++i) {
    Node& held = *inner[i]->instance_;
    held = *layer;
    if (!is_list) continue;
    held.kind = Node::Kind::index;
    held.text.clear();
    held.in = {layer};
    held.items = {{Index::Kind::position, Operand(static_cast<std::int64_t>(i), name.at).take(), nullptr}};
  }
}

Operand library(Name name, std::vector<Operand> arguments) {
  auto node = std::make_shared<Node>();
  node->kind = Node::Kind::library;
  node->text = name.text;
  node->at = name.at;
  for (Operand& argument : arguments) {
    node->names.push_back(argument.name());
    node->in.push_back(detail::use_for_agent(argument));
  }
  return Operand(std::move(node), name.at);
}

}  // namespace taskspec::dsl
