// The values that C++ calls make: include/taskspec/operand.hpp, tensor.hpp and control.hpp.
#include "frontend/dsl/errors.hpp"
#include "frontend/dsl/record.hpp"
#include "taskspec/control.hpp"
#include "taskspec/region.hpp"

namespace taskspec::dsl {

using detail::Node;
using detail::NodePtr;

namespace {

NodePtr literal(Node::Kind kind, detail::At at) {
  auto node = std::make_shared<Node>();
  node->kind = kind;
  node->at = at;
  return node;
}

}  // namespace

// ---- operands -------------------------------------------------------------------------------------

// A literal is made before its place is known.
Operand::Operand(NodePtr node, At at) : node_(std::move(node)), at_(at) {
  if (node_ && node_->at.line() == 0) node_->at = at;
}

Operand::Operand(std::string text, At at) : node_(literal(Node::Kind::string, at)), at_(at) {
  node_->text = std::move(text);
}

Operand::Operand(const Type& type, At at) : node_(literal(Node::Kind::type, at)), at_(at) { node_->type = type; }

Operand::Operand(std::initializer_list<Operand> list, At at) : at_(at) {
  std::vector<Operand> parts;
  for (const Operand& part : list) parts.emplace_back(part.take(), part.at());
  node_ = list_of(std::move(parts));
  node_->at = at;
}

// Values that were moved from, or have none yet, are told from arguments that are not given.
Operand::Operand(const Tensor& value, At at) : node_(value.node()), at_(at) {
  if (!node_) detail::use(*this);
}
Operand::Operand(Tensor&& value, At at) : node_(std::move(value).node()), at_(at) {
  if (!node_) detail::use(*this);
}
Operand::Operand(const Var& value, At at) : node_(value.node()), at_(at) {}

Operand::Operand(const Task& value, At at) : node_(value.value()), at_(at) {
  if (node_ || !value.function()) return;
  node_ = literal(Node::Kind::callable, at);
  node_->function = value.function();
}

Operand::Operand(const Fn& value, At at) : node_(literal(Node::Kind::callable, at)), at_(at) {
  node_->function = value.function();
}

Operand::Operand(const Handle& value, At at) : node_(value.node()), at_(at) {
  if (!node_) detail::use(*this);
}
Operand::Operand(Handle&& value, At at) : node_(std::move(value).node()), at_(at) {
  if (!node_) detail::use(*this);
}

NodePtr Operand::boolean_of(bool value) {
  NodePtr node = literal(Node::Kind::boolean, At());
  node->integer = value;
  return node;
}

NodePtr Operand::integer_of(long long value) {
  NodePtr node = literal(Node::Kind::integer, At());
  node->integer = value;
  return node;
}

NodePtr Operand::real_of(double value) {
  NodePtr node = literal(Node::Kind::real, At());
  node->real = value;
  return node;
}

NodePtr Operand::list_of(std::vector<Operand> list) {
  NodePtr node = literal(Node::Kind::list, At());
  for (const Operand& part : list) node->in.push_back(detail::use(part));
  return node;
}

namespace detail {

Operand tuple(Operand value) {
  if (value.node() && value.node()->kind == Node::Kind::list && value.node()->in.size() > 1)
    value.node()->kind = Node::Kind::tuple;
  else if (value.node() && value.node()->kind == Node::Kind::list && value.node()->in.size() == 1)
    return Operand(value.node()->in[0], value.at());
  return value;
}

Operand with_name(Operand value, const char* name) {
  return value.name().empty() ? std::move(std::move(value).named(std::string("=") + name)) : value;
}

// Methods do not see the line that calls them in front of the dot; their arguments, or the call, know it.
Operand unplaced(const Tensor& value) { return Operand(value.node(), At()); }
Operand unplaced(Tensor&& value) { return Operand(std::move(value).node(), At()); }
Operand unplaced(const Var& value) { return Operand(value.node(), At()); }

namespace {

At place_of(const std::vector<Operand>& operands) {
  for (const Operand& operand : operands)
    if (operand.at().line() != 0) return operand.at();
  return At();
}

// `stop`: the first argument that is not given; those after it go by their names.
void take_arguments(Node& node, std::vector<Operand> operands) {
  bool gap = false;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    Operand operand = placed(std::move(operands[i]), node.at);
    bool is_receiver = i == 0 && node.kind == Node::Kind::method;
    if (!operand.given() && !is_receiver) {
      gap = true;
      continue;
    }
    std::string name = operand.name();
    bool standard = name.starts_with('=');  // its name in the record, in case that one is left out
    gap = gap || (!name.empty() && !standard);
    node.names.push_back(!gap ? "" : standard ? name.substr(1) : name);
    node.in.push_back(use(operand));
  }
}

}  // namespace

NodePtr call_op(std::string_view op, std::vector<Operand> operands) {
  Node node;
  bool is_method = op.starts_with('.');
  node.kind = is_method ? Node::Kind::method : Node::Kind::library;
  node.text = op.substr(is_method);
  node.at = place_of(operands);
  take_arguments(node, std::move(operands));
  return recorded(std::move(node));
}

NodePtr call_op(std::string_view op, std::initializer_list<Operand> operands) {
  std::vector<Operand> taken;
  for (const Operand& operand : operands) taken.push_back(Operand(operand.take(), operand.at()).named(operand.name()));
  return call_op(op, std::move(taken));
}

NodePtr index(Operand base, std::vector<Index> indices) {
  Node node;
  node.at = indices[0].at;
  node.kind = indices[0].kind == Index::Kind::name ? Node::Kind::member : Node::Kind::index;
  node.text = indices[0].name;
  node.in.push_back(use(placed(std::move(base), node.at)));
  if (node.kind == Node::Kind::member) return recorded(std::move(node));
  for (Index& i : indices) {
    Item item{i.kind, nullptr, nullptr};
    if (i.low.given()) item.low = use(i.low);
    if (i.high.given()) item.high = use(i.high);
    node.items.push_back(std::move(item));
  }
  return recorded(std::move(node));
}

NodePtr cast(Operand value, Type type, At at) {
  Node node;
  node.kind = Node::Kind::cast;
  node.type = std::move(type);
  node.at = at;
  node.in.push_back(use(placed(std::move(value), at)));
  return recorded(std::move(node));
}

NodePtr receive(const char* what, Operand value) {
  if (!Recording::current())
    fail("E1008", value.at(), std::string(".") + what + "() without a type belongs into the body of a fn",
         std::string("in C++ itself: .") + what + "<double>()");
  Node node;
  node.kind = Node::Kind::member;
  node.text = what;
  node.at = value.at();
  node.in.push_back(use(value));
  return recorded(std::move(node));
}

NodePtr unary(const char* op, Operand value) {
  Node node;
  node.kind = Node::Kind::unary;
  node.text = op;
  node.at = value.at();
  node.in.push_back(use(value));
  return recorded(std::move(node));
}

NodePtr binary(const char* op, Operand left, Operand right) {
  Node node;
  node.kind = Node::Kind::binary;
  node.text = op;
  node.at = left.at();
  node.in.push_back(use(left));
  node.in.push_back(use(right));
  return recorded(std::move(node));
}

}  // namespace detail
}  // namespace taskspec::dsl
