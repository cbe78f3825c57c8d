// Regions, views and launches as C++ says them: include/taskspec/fields.hpp, view.hpp, region.hpp, launch.hpp.
#include <algorithm>

#include "frontend/dsl/errors.hpp"
#include "frontend/dsl/record.hpp"
#include "ir/base/text.hpp"
#include "taskspec/launch.hpp"

namespace taskspec::dsl {

using detail::At;
using detail::Node;
using detail::NodePtr;
using detail::Recording;
using detail::Statement;

// ---- fields ---------------------------------------------------------------------------------------

Fields::Fields(const Name& name, std::vector<Field> list) {
  this->name = name.text;
  dims = {Dim("_")};
  table = std::make_shared<const detail::FieldTable>(detail::FieldTable{name, std::move(list)});
}

RegionType Fields::with(std::vector<Dim> dims) const {
  RegionType type = *this;
  type.dims = std::move(dims);
  return type;
}

// ---- views ----------------------------------------------------------------------------------------

namespace detail {

namespace {

std::vector<Item> items_of(std::vector<Position> positions) {
  std::vector<Item> items;
  for (Position& position : positions) items.push_back({Index::Kind::position, use(position.value), nullptr});
  return items;
}

Node item_node(const NodePtr& base, std::vector<Position> positions) {
  Node node;
  node.kind = Node::Kind::index;
  node.at = positions[0].value.at();
  node.items = items_of(std::move(positions));
  node.in.push_back(use(Operand(base, node.at)));
  return node;
}

Node member_node(const NodePtr& base, const std::string& name, At at) {
  Node node;
  node.kind = Node::Kind::member;
  node.at = at;
  node.text = name;
  node.in.push_back(use(Operand(base, at)));
  return node;
}

}  // namespace

NodePtr element(const NodePtr& base, std::vector<Position> positions) {
  return recorded_part(item_node(base, std::move(positions)));
}

Var field_of(const NodePtr& base, const Name& field) {
  Node node = member_node(base, field.text, field.at);
  node.reads = true;
  return Var(recorded_part(std::move(node)));
}

struct OpenLoop::State {
  Recording& recording;
  Statement statement;
  bool is_open = true;
};

OpenLoop::OpenLoop(const NodePtr& over, std::size_t rank, At at) {
  Recording* here = Recording::current();
  if (!here)
    fail("E1008", at, "a loop over points belongs into the body of a task or fn", "outside, launch a task over pieces");
  state_ = std::make_unique<State>(State{
      *here,
      {Statement::Kind::for_, at, use(Operand(over, at)), nullptr, nullptr, "", std::make_unique<Block>(), nullptr}});
  for (std::size_t axis = 0; axis < rank; ++axis) {
    NodePtr point = name_node("", at, here->function().owner, false);
    point->block = state_->statement.body.get();
    state_->statement.targets.push_back(std::move(point));
  }
  here->open(*state_->statement.body);
}

// A C++ `break` or an exception leaves it without its last line.
OpenLoop::~OpenLoop() {
  if (state_ && state_->is_open) state_->recording.close(*state_->statement.body);
}

void OpenLoop::close() {
  state_->is_open = false;
  state_->recording.close(*state_->statement.body);
  add(std::move(state_->statement));
}

Tensor OpenLoop::point(std::size_t axis) const { return Tensor(state_->statement.targets[axis]); }

}  // namespace detail

Element at(const View& view, Operand i, Operand b, Operand c, Operand d, Operand e) {
  Node node;
  node.kind = Node::Kind::library;
  node.text = "at";
  node.at = i.at();
  node.in.push_back(detail::use(Operand(view.node(), node.at)));
  for (const Operand* operand : {&i, &b, &c, &d, &e})
    if (operand->given()) node.in.push_back(detail::use(*operand));
  return Element(detail::recorded_part(std::move(node)));
}

// ---- regions --------------------------------------------------------------------------------------

namespace detail {

Region make_region(const Name& name, const Fields& fields, std::vector<Operand> extents) {
  Node node;
  node.kind = Node::Kind::region;
  node.text = name.text;
  node.type = fields;
  node.at = extents[0].at();
  for (const Operand& extent : extents) node.in.push_back(use(extent));
  return Region(recorded(std::move(node)));
}

NodePtr partition_op(const char* name, std::vector<Operand> operands, At at) {
  Node node;
  node.kind = Node::Kind::library;
  node.text = name;
  node.at = at;
  for (const Operand& operand : operands) {
    if (!operand.given()) continue;
    node.names.push_back(operand.name());
    node.in.push_back(use(operand));
  }
  return recorded(std::move(node));
}

void act(const char* name, std::vector<Operand> operands, At at) {
  Node node;
  node.kind = Node::Kind::library;
  node.text = name;
  node.at = at;
  node.writes = true;
  for (const Operand& operand : operands) node.in.push_back(use(operand));
  Recording* here = Recording::current();
  if (!here) return host_perform(std::move(node));
  here->function().acts = true;
  record_call(std::move(node));
}

Operand range_operand(Range range) {
  const At at = range.low.at();
  Node node;
  node.kind = Node::Kind::range;
  node.at = at;
  node.in.push_back(use(range.low));
  node.in.push_back(use(range.high));
  return Operand(recorded_part(std::move(node)), at);
}

Operand ranges_operand(std::vector<Range> ranges, At at) {
  std::vector<Operand> list;
  for (Range& range : ranges) list.push_back(range_operand(std::move(range)));
  return Operand(list, at);
}

namespace {

// Runs `body` in a block of its own, which is left as the one value that it gives.
NodePtr one_expression(const std::vector<NodePtr>& points, FunctionRef<NodePtr()> body, At at) {
  static const Name nameless = Name("launch", At());
  NodePtr value;
  Block inner;
  auto record = [&](Recording& recording) {
    for (const NodePtr& point : points) {
      point->owner = recording.function().owner;
      point->block = &inner;
    }
    recording.inside(inner, [&] {
      value = body();
      if (value) take_last(value);
    });
  };
  if (Recording* here = Recording::current()) {
    record(*here);
  } else {
    auto apart = std::make_shared<Function>(Kind::fn, nameless, nullptr);
    apart->of_host = true;
    Recording recording(apart);
    record(recording);
  }
  if (!value || !inner.statements.empty())
    fail("E1004", at, "what stands here is one expression, made of the coordinates of a point",
         "write its parts without naming them, or make them before");
  for (const NodePtr& point : points) {
    point->owner = nobody;
    point->block = nullptr;
    point->gone = true;
  }
  return value;
}

// What was recorded apart stands where it is used: none of it is a value of the host program.
void belong_to_the_host(Node& node) {
  if (node.entered || node.owner == host_program) return;
  if (node.owner != nobody) {
    node.owner = host_program;
    node.part = true;
    node.block = nullptr;
  }
  for (const NodePtr& part : node.in) belong_to_the_host(*part);
  for (const Item& item : node.items)
    for (const NodePtr& part : {item.low, item.high})
      if (part) belong_to_the_host(*part);
}

// Named as no value around them is.
std::vector<NodePtr> new_points(std::size_t count, At at) {
  constexpr const char* names[] = {"%i", "%j", "%k", "%l"};
  std::vector<NodePtr> points;
  for (std::size_t i = 0; i < count; ++i) points.push_back(name_node(names[i], at, nobody, false));
  return points;
}

std::vector<Tensor> as_tensors(const std::vector<NodePtr>& points) {
  std::vector<Tensor> tensors;
  for (const NodePtr& point : points) tensors.emplace_back(point);
  return tensors;
}

}  // namespace

Partition cover(Data region, Operand n, const RecordedFunction& pieces) {
  const At at = region.operand.at();
  Node function;
  function.kind = Node::Kind::lambda;
  function.at = n.at();
  function.points = new_points(1, n.at());
  const std::vector<Tensor> colour = as_tensors(function.points);
  function.in.push_back(one_expression(
      function.points, [&] { return use(pieces(colour)); }, n.at()));
  if (!Recording::current()) belong_to_the_host(*function.in[0]);
  Operand made(recorded_part(std::move(function)), n.at());
  std::vector<Operand> operands;
  operands.push_back(std::move(region.operand));
  operands.push_back(std::move(n));
  operands.push_back(std::move(made));
  return Partition(partition_op("cover", std::move(operands), at));
}

}  // namespace detail

NodePtr Partition::item(std::vector<Position> colour) const {
  return detail::recorded(detail::item_node(node_, std::move(colour)));
}

Tensor Map::item(std::vector<Position> point) const {
  return Tensor(detail::recorded(detail::item_node(node_, std::move(point))));
}

Tensor Map::member(const char* name, At at) const {
  return Tensor(detail::call_op(std::string(".") + name, std::vector<Operand>{Operand(*this, at)}));
}

// ---- partitions -----------------------------------------------------------------------------------

namespace {

template <class... More>
Partition partition(const char* name, At at, More&&... operands) {
  std::vector<Operand> list;
  (list.push_back(std::forward<More>(operands)), ...);
  return Partition(detail::partition_op(name, std::move(list), at));
}

Partition of_sets(const char* op, const Partition& p, Data q) {
  const At at = q.operand.at();
  return Partition(detail::binary(op, Operand(p, at), std::move(q.operand)));
}

}  // namespace

Region shrink(Data region, Operand k) {
  const At at = region.operand.at();
  std::vector<Operand> list;
  list.push_back(std::move(region.operand));
  list.push_back(std::move(k));
  return Region(detail::partition_op("shrink", std::move(list), at));
}

Partition blocks(Data region, Operand n, Operand m, Operand k, Operand l) {
  const At at = region.operand.at();
  return partition("blocks", at, std::move(region.operand), std::move(n), std::move(m), std::move(k), std::move(l));
}
Partition by_weight(Data region, Operand weights) {
  const At at = region.operand.at();
  return partition("by_weight", at, std::move(region.operand), std::move(weights));
}
Partition by_field(const Var& field, Operand n) {
  const At at = n.at();
  return partition("by_field", at, Operand(field, at), std::move(n));
}
namespace {

Partition halo(Data of, Operand k, std::string shape, bool wraps) {
  const At at = of.operand.at();
  Operand word = shape == "box" ? Operand(at) : Operand(std::move(shape), at).named("shape");
  Operand wrap = wraps ? Operand(true, at).named("wrap") : Operand(at);
  return partition("halo", at, std::move(of.operand), std::move(k), std::move(word), std::move(wrap));
}

}  // namespace

Partition halo(Data of, Operand k, std::string shape) {
  return halo(std::move(of), std::move(k), std::move(shape), false);
}
Partition periodic_halo(Data of, Operand k, std::string shape) {
  return halo(std::move(of), std::move(k), std::move(shape), true);
}
Partition image(Data region, Data of, const Var& field, At at) {
  return partition("image", at, std::move(region.operand), std::move(of.operand), Operand(field, at));
}
Partition image(Data region, Data of, const Var& first, const Var& last, At at) {
  return partition("image", at, std::move(region.operand), std::move(of.operand), Operand(first, at),
                   Operand(last, at));
}
Partition preimage(Data of, const Var& field, At at) {
  return partition("preimage", at, std::move(of.operand), Operand(field, at));
}
Partition cross(Data p, Data q) {
  const At at = p.operand.at();
  return partition("cross", at, std::move(p.operand), std::move(q.operand));
}
Partition assume(Data of, std::string claim) {
  const At at = of.operand.at();
  return partition("assume", at, std::move(of.operand), Operand(std::move(claim), at));
}
Tensor len(const Partition& of, At at) {
  return Tensor(detail::partition_op("len", std::vector<Operand>{Operand(of, at)}, at));
}

Partition operator&(const Partition& p, Data q) { return of_sets("&", p, std::move(q)); }
Partition operator|(const Partition& p, Data q) { return of_sets("|", p, std::move(q)); }
Partition operator-(const Partition& p, Data q) { return of_sets("-", p, std::move(q)); }

// ---- launches -------------------------------------------------------------------------------------

namespace detail {

PointCall point_call(Task task, std::vector<LaunchArgument> arguments, At at) {
  auto given = std::make_shared<std::vector<LaunchArgument>>(std::move(arguments));
  return {0, [task = std::move(task), given, at](const std::vector<Tensor>& point) {
            std::vector<Operand> operands;
            for (LaunchArgument& argument : *given) {
              std::string name = argument.value.name();
              Operand value = std::move(argument.value);
              if (argument.own) {
                Node item;
                item.kind = Node::Kind::index;
                item.at = value.at();
                item.in.push_back(use(value));
                for (const Tensor& axis : point) item.items.push_back({Index::Kind::position, axis.node(), nullptr});
                value = Operand(recorded_part(std::move(item)), value.at());
              }
              operands.push_back(std::move(value).named(std::move(name)));
            }
            return task.call(std::move(operands), at);
          }};
}

Operand grid_operand(Grid grid) {
  Node node;
  node.kind = Node::Kind::library;
  node.text = "grid";
  node.at = grid.at;
  for (const Operand& extent : grid.extents) node.in.push_back(use(extent));
  return Operand(recorded_part(std::move(node)), grid.at);
}

Launched launched(const PointCall& call, Operand domain, std::size_t rank, At at) {
  if (call.parameters != 0 && call.parameters != rank)
    fail("E1003", at,
         "this launch takes " + plural(call.parameters, "coordinate") + ", and its domain has " +
             plural(rank, "axis", "axes"));
  Node node;
  node.kind = Node::Kind::launch;
  node.at = at;
  node.points = new_points(rank, at);
  const std::vector<Tensor> point = as_tensors(node.points);
  node.in.push_back(one_expression(
      node.points, [&] { return call.body(point).node(); }, at));
  const NodePtr made = node.in[0];
  if (made->kind != Node::Kind::invoke)
    fail("E1004", at, "a launch is of a call of a task", "launch([&](Tensor i) { return heat(p[i]); })");
  node.in.push_back(use(domain));
  node.writes = true;
  const Function* task = made->in[0]->function.get();
  Recording* here = Recording::current();
  if (!here) belong_to_the_host(*made);
  made->part = true;
  made->gone = true;
  if (!here) return Launched(recorded(std::move(node)));
  here->function().acts = true;
  if (!task || !task->outputs.empty()) return Launched(recorded(std::move(node)));
  record_call(std::move(node));
  return Launched(here->block().statements.back().value);
}

}  // namespace detail

Map Launched::operator[](FieldName output) const {
  return Map(detail::recorded(detail::member_node(node_, output.name.text, output.name.at)));
}

namespace {

void shard(const NodePtr& launch, Operand sharding) {
  if (launch->entered) return;  // in the session of a thread there are no shards
  if (launch->kind != Node::Kind::launch || launch->entered || launch->in.size() != 2)
    detail::fail("E1004", sharding.at(), "this launch is in use already", "launch(t, p).over(0, 4).by(cyclic)");
  launch->in.push_back(detail::use(sharding));
}

}  // namespace

Launched Launched::by(Sharding sharding, At at) const {
  shard(node_, Operand(detail::name_node(sharding.name(), at, detail::nobody, false), at));
  return *this;
}

Launched Launched::by(const Fn& sharding, At at) const {
  shard(node_, Operand(sharding, at));
  return *this;
}

void trace_(const std::function<void()>& body, At at) {
  Recording* here = Recording::current();
  if (!here) return body();
  Statement statement{
      Statement::Kind::trace, at, nullptr, nullptr, nullptr, "", std::make_unique<detail::Block>(), nullptr};
  here->inside(*statement.body, body);
  detail::add(std::move(statement));
}

}  // namespace taskspec::dsl
