// Places and recorded control flow: include/taskspec/tensor.hpp (Var) and control.hpp.
#include "taskspec/control.hpp"

#include "frontend/dsl/errors.hpp"
#include "frontend/dsl/record.hpp"
#include "taskspec/declare.hpp"

namespace taskspec::dsl {

using detail::Node;
using detail::Recording;
using detail::Statement;

namespace {

Recording& here(detail::At at, const char* what) {
  Recording* recording = Recording::current();
  if (!recording)
    detail::fail("E1008", at, std::string(what) + " belongs into the body of a task, graph or fn",
                 "the host program is C++: use its own variables and control flow");
  return *recording;
}

}  // namespace

Var::operator Tensor() const {
  if (!node_->reads) return Tensor(node_);
  Node now(*detail::use(Operand(*this, node_->at)));  // the version of this moment
  now.part = false;
  return Tensor(detail::recorded(std::move(now)));
}

Var& Var::assign(const char* op, Operand value) {
  detail::At at = value.at();
  if (!Recording::current()) {
    if (node_->part)
      detail::fail("E1402", at, "a field of a region is not assigned", "fill(cells[\"" + node_->text + "\"], value)");
    detail::host_assign(node_, op, std::move(value));
    return *this;
  }
  detail::NodePtr target = detail::use(Operand(*this, at));
  detail::NodePtr node = detail::use(value);
  detail::take_last(node);
  detail::add({Statement::Kind::assign, at, std::move(node), std::move(target), nullptr, op, nullptr, nullptr});
  return *this;
}

void print_(Operand a, Operand b, Operand c, Operand d, Operand e, Operand f, Operand g, Operand h) {
  Recording& recording = here(a.at(), "print_");
  Node node;
  node.kind = Node::Kind::library;
  node.text = "print";
  node.at = a.at();
  node.writes = true;
  for (const Operand* operand : {&a, &b, &c, &d, &e, &f, &g, &h})
    if (operand->given()) node.in.push_back(detail::use(Operand(operand->take(), operand->at())));
  recording.function().acts = true;
  detail::record_call(std::move(node));
}

Tensor tupled(Operand a, Operand b, Operand c, Operand d) {
  auto node = std::make_shared<Node>();
  node->kind = Node::Kind::tuple;
  node->at = a.at();
  for (const Operand* operand : {&a, &b, &c, &d})
    if (operand->given()) node->in.push_back(detail::use(*operand));
  return Tensor(std::move(node));
}

Var var(Name name, Operand initial) {
  if (!Recording::current()) return Var(detail::host_var(name, std::move(initial)));
  Recording& recording = *Recording::current();
  detail::NodePtr value = detail::use(initial);
  detail::NodePtr node = detail::name_node(name.text, name.at, recording.function().owner, true);
  node->block = &recording.block();
  detail::take_last(value);
  detail::add({Statement::Kind::var, name.at, std::move(value), node, nullptr, "", nullptr, nullptr});
  return Var(node);
}

Tensor dim(Name name) {
  Recording& recording = here(name.at, "a dimension");
  return Tensor(detail::name_node(name.text, name.at, recording.function().owner, false));
}

Var output(Name name) {
  Recording& recording = here(name.at, "an output");
  for (const detail::Output& output : recording.function().outputs)
    if (output.name.text == name.text || (output.name.text.empty() && name.text == "value"))
      return Var(detail::name_node(name.text, name.at, recording.function().owner, true));
  detail::fail("E1002", name.at, described(recording.function()) + " has no output '" + name.text + "'");
}

namespace detail {

void if_(Operand condition, const std::function<void()>& then, const std::function<void()>& otherwise) {
  At at = condition.at();
  Recording& recording = here(at, "if_");
  Statement statement{Statement::Kind::if_, at, use(condition), nullptr, nullptr, "", nullptr, nullptr};
  take_last(statement.value);
  statement.body = std::make_unique<Block>();
  statement.otherwise = std::make_unique<Block>();
  recording.inside(*statement.body, then);
  recording.inside(*statement.otherwise, otherwise);
  if (statement.otherwise->statements.empty()) statement.otherwise.reset();
  add(std::move(statement));
}

void while_(const std::function<Operand()>& condition, const std::function<void()>& body, At at) {
  Recording& recording = here(at, "while_");
  Statement statement{Statement::Kind::while_, at, nullptr, nullptr, nullptr, "", nullptr, nullptr};
  Block turn;
  recording.inside(turn, [&] {
    statement.value = use(condition());
    take_last(statement.value);
  });
  if (!turn.statements.empty())
    fail("E1004", at, "the condition of while_ is one expression",
         "write the parts in it without naming them, or keep the condition in a var");
  statement.value->block = nullptr;
  statement.body = std::make_unique<Block>();
  recording.inside(*statement.body, body);
  add(std::move(statement));
}

void for_(Range range, const std::function<void(Tensor)>& body) {
  At at = range.low.at();
  Recording& recording = here(at, "for_");
  Statement statement{Statement::Kind::for_, at, use(range.low), nullptr, use(range.high), "", nullptr, nullptr};
  statement.body = std::make_unique<Block>();
  statement.target = name_node("", at, recording.function().owner, false);  // named when the tree is made
  statement.target->block = statement.body.get();
  recording.inside(*statement.body, [&] { body(Tensor(statement.target)); });
  add(std::move(statement));
}

}  // namespace detail
}  // namespace taskspec::dsl
