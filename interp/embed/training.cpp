// Training from C++: include/taskspec/training.hpp. Each call is the entry that a text would be.
#include "taskspec/training.hpp"

#include <algorithm>

#include "frontend/dsl/record.hpp"
#include "interp/control/checkpoint.hpp"
#include "interp/embed/checked.hpp"
#include "interp/embed/host_program.hpp"
#include "interp/train/training.hpp"
#include "ir/base/text.hpp"

namespace taskspec::dsl {

using detail::At;
using detail::HostProgram;
using detail::Node;
using detail::NodePtr;

namespace {

Operand optimizer(const char* name, std::initializer_list<Operand> given) {
  const At at = given.begin()->at();
  std::vector<Operand> arguments;
  for (const Operand& operand : given)
    if (operand.given()) arguments.push_back(operand);
  return library(Name(name, at), std::move(arguments));
}

// `m.what(...)`, or `m.what`.
Node asked(Node::Kind kind, const NodePtr& m, std::string what, At at) {
  Node node;
  node.kind = kind;
  node.at = at;
  node.text = std::move(what);
  const Tensor self(m);
  node.in.push_back(detail::use(Operand(self, at)));
  node.names.emplace_back();
  return node;
}

void give(Node& call, const Operand& operand) {
  if (!operand.given()) return;
  call.names.push_back(operand.name());
  call.in.push_back(detail::use(operand));
}

Operand text_of(const Name& name) { return Operand(name.text, name.at); }

void perform(Node call) { HostProgram::here().perform(std::move(call)); }

taskspec::Agent& agent_of(const NodePtr& m, At at) { return *HostProgram::here().known(m, at).as<Training>()->agent(); }

}  // namespace

Operand sgd(Operand lr, Operand a, Operand b, Operand c) { return optimizer("sgd", {lr, a, b, c}); }
Operand adam(Operand lr, Operand a, Operand b, Operand c, Operand d) { return optimizer("adam", {lr, a, b, c, d}); }
Operand adamw(Operand lr, Operand a, Operand b, Operand c, Operand d) { return optimizer("adamw", {lr, a, b, c, d}); }

namespace detail {

ModelTrainingInstance train(const Agent& net, Operand loss, Operand optimizer, const TrainOptions& options) {
  Node node;
  node.kind = Node::Kind::library;
  node.at = loss.at();
  node.text = "train";
  auto add = [&](const char* name, const Operand& operand) {
    node.names.emplace_back(name);
    node.in.push_back(use(operand));
  };
  const Tensor agent(net.node());
  add("", Operand(agent, node.at));
  add("loss", loss);
  add("optimizer", optimizer);
  if (!options.metrics.empty()) add("metrics", Operand(options.metrics, node.at));
  if (options.clip != 0) add("clip", Operand(options.clip, node.at));
  if (options.recompute != "none") add("recompute", Operand(options.recompute, node.at));
  if (options.parts != 1) add("parts", Operand(options.parts, node.at));
  if (Recording* here = Recording::current())
    fail("E1009", node.at, "training inside of " + described(here->function()) + " is not built yet");
  return ModelTrainingInstance(host_value(std::move(node)));
}

}  // namespace detail

// ---- a step ---------------------------------------------------------------------------------------

Tensor ModelTrainingInstance::forward(Operand a, Operand b, Operand c, Operand d) {
  Node call = asked(Node::Kind::method, node_, "forward", a.at());
  for (const Operand& operand : {a, b, c, d}) give(call, operand);
  return Tensor(detail::host_value(std::move(call)));
}

void ModelTrainingInstance::backward(Operand y) {
  Node call = asked(Node::Kind::method, node_, "backward", y.at());
  give(call, y);
  perform(std::move(call));
}

void ModelTrainingInstance::update(At at) { perform(asked(Node::Kind::method, node_, "update", at)); }

void ModelTrainingInstance::step(Operand a, Operand b, Operand c, Operand d) {
  Node call = asked(Node::Kind::method, node_, "step", a.at());
  for (const Operand& operand : {a, b, c, d}) give(call, operand);
  perform(std::move(call));
}

void ModelTrainingInstance::fit(const std::vector<std::vector<Tensor>>& rows, int epochs, At at) {
  Node list;
  list.kind = Node::Kind::list;
  list.at = at;
  for (const std::vector<Tensor>& row : rows) {
    auto tuple = std::make_shared<Node>();
    tuple->kind = Node::Kind::tuple;
    tuple->at = at;
    for (const Tensor& part : row) tuple->in.push_back(detail::use(Operand(part, at)));
    list.in.push_back(std::move(tuple));
  }
  if (rows.empty()) detail::fail("E5003", at, "fit has no rows to learn from");
  Node call = asked(Node::Kind::method, node_, "fit", at);
  give(call, Operand(std::make_shared<Node>(std::move(list)), at));
  give(call, arg("epochs", Operand(epochs, at)));
  perform(std::move(call));
}

void ModelTrainingInstance::reset_metrics(At at) { perform(asked(Node::Kind::method, node_, "reset_metrics", at)); }

namespace {

// The builtin `what` of a training and a path.
void with_file(const char* what, const NodePtr& m, const Name& path) {
  Node call;
  call.kind = Node::Kind::library;
  call.at = path.at;
  call.text = what;
  const Tensor self(m);
  give(call, Operand(self, path.at));
  give(call, text_of(path));
  perform(std::move(call));
}

}  // namespace

void ModelTrainingInstance::save(Name path) const { with_file("save", node_, path); }
void ModelTrainingInstance::load(Name path) { with_file("load", node_, path); }

// ---- what it tells --------------------------------------------------------------------------------

Tensor ModelTrainingInstance::loss(At at) const {
  return Tensor(detail::host_value(asked(Node::Kind::member, node_, "loss", at)));
}

Tensor ModelTrainingInstance::metric(Name name) const {
  auto metrics = std::make_shared<Node>(asked(Node::Kind::member, node_, "metrics", name.at));
  return Tensor(detail::host_value(asked(Node::Kind::member, metrics, name.text, name.at)));
}

Tensor ModelTrainingInstance::grad(Name weight) const {
  Node call = asked(Node::Kind::method, node_, "grad", weight.at);
  give(call, text_of(weight));
  return Tensor(detail::host_value(std::move(call)));
}

Tensor ModelTrainingInstance::weight(Name path, At at) const {
  for (const auto& slot : tensor_slots(agent_of(node_, at)))
    if (slot.path == path.text) {
      auto copy = std::make_shared<Node>();
      copy->kind = Node::Kind::given;
      copy->at = at;
      copy->data = std::make_shared<const Array>(HostProgram::here().contents(slot.value(), at));
      return Tensor(std::move(copy));
    }
  detail::fail("E1002", path.at, "the net has no slot '" + path.text + "'", "it has " + joined(slots(at), ", "));
}

std::vector<std::string> ModelTrainingInstance::slots(At at) const {
  std::vector<std::string> paths;
  for (const auto& slot : tensor_slots(agent_of(node_, at))) paths.push_back(slot.path);
  return paths;
}

TrainingProfile ModelTrainingInstance::profile(int warmup, int steps, At at) const {
  Node call = asked(Node::Kind::method, node_, "profile", at);
  give(call, arg("warmup", Operand(warmup, at)));
  give(call, arg("iters", Operand(steps, at)));
  const Value made = HostProgram::here().known(detail::host_value(std::move(call)), at);
  const auto& profile = *made.as<Record>();
  TrainingProfile told{profile.find("steps")->integer(),
                       profile.find("forward")->real(),
                       profile.find("backward")->real(),
                       profile.find("update")->real(),
                       {},
                       print(made)};
  for (const Value& row : profile.find("ops")->list()) {
    const auto& op = *row.as<Record>();
    auto text = [&](const char* name) { return op.find(name)->string(); };
    told.ops.push_back({text("in_task"), text("op"), text("line"), text("pass"), text("makes"),
                        op.find("calls")->integer(), op.find("bytes")->integer(), op.find("min")->real(),
                        op.find("median")->real()});
  }
  return told;
}

std::string ModelTrainingInstance::text(At at) const { return Tensor(node_).text(at); }

}  // namespace taskspec::dsl
