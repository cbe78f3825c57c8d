// Values that go in and out of the host program: include/taskspec/host.hpp.
#include <fmt/format.h>

#include <cstring>

#include "frontend/dsl/record.hpp"
#include "interp/embed/checked.hpp"
#include "interp/embed/host_program.hpp"
#include "ir/base/text.hpp"
#include "ir/records/backend_record.hpp"
#include "taskspec/host.hpp"
#include "taskspec/region.hpp"

namespace taskspec::dsl {

using detail::fail;
using detail::HostProgram;
using detail::Node;
using detail::NodePtr;

namespace detail {

// ---- in -------------------------------------------------------------------------------------------

namespace {

std::vector<std::int64_t> shape_of_list(const Node& list, At at) {
  std::vector<std::int64_t> shape;
  for (const Node* node = &list; node->kind == Node::Kind::list; node = node->in[0].get()) {
    shape.push_back(static_cast<std::int64_t>(node->in.size()));
    if (node->in.empty()) fail("E1004", at, "an empty list has no shape", "fill(f32[0], 0.0) makes an empty tensor");
  }
  return shape;
}

}  // namespace

NodePtr tensor_of(Operand list, const char* precision, At at) {
  Type type{precision, {}};
  for (std::int64_t extent : shape_of_list(*list.node(), at)) type.dims.emplace_back(extent);
  return cast(std::move(list), std::move(type), at);
}

NodePtr given(const void* data, std::size_t count, const char* precision, std::vector<std::int64_t> shape, At at) {
  ArrayType type{*taskspec::precision_of(precision), std::move(shape)};
  for (std::int64_t extent : type.extents)
    if (extent < 0) fail("E2004", at, fmt::format("{} is no extent", extent));
  if (static_cast<std::size_t>(type.elements()) != count)
    fail("E2001", at,
         fmt::format("{} given for {}, which has {}", plural(count, "element"), type.text(), type.elements()));
  Array array = Array::make(type);
  if (count > 0) std::memcpy(array.raw(), data, array.bytes());
  auto node = std::make_shared<Node>();
  node->kind = Node::Kind::given;
  node->at = at;
  node->data = std::make_shared<const Array>(std::move(array));
  return node;
}

// ---- out ------------------------------------------------------------------------------------------

namespace {

// Of what a run gives; a call that runs once gives none of it.
bool is_of_run(const std::string& name, const Value& value) {
  return (name == "report" && value.as<Record>()) || (name == "steps" && value.as<Invocation>());
}

}  // namespace

Value only_output(const Value& value, At at) {
  auto* invocation = value.as<Invocation>();
  if (!invocation) return value;
  std::vector<std::string> names;
  Value found;
  for (std::size_t i = 0; i < invocation->outputs.size(); ++i) {
    if (is_of_run(invocation->names[i], invocation->outputs[i])) continue;
    names.push_back(invocation->names[i]);
    found = invocation->outputs[i];
  }
  if (names.size() != 1)
    fail("E1004", at, "this call has " + plural(names.size(), "output") + ": " + joined(names, ", "),
         names.empty() ? "" : "name one: call[\"" + names[0] + "\"]");
  return found;
}

namespace {

Value known(const Tensor& value, At at) {
  if (Recording* here = Recording::current())
    fail("E1301", at, "the contents are not there while " + described(here->function()) + " is recorded",
         here->function().kind == Kind::fn ? "without a type it is a receive of the fn: .scalar(), .array()"
                                           : "receive them outside of the body");
  return HostProgram::here().known(use(Operand(value, at)), at);
}

// Nested lists of numbers, which a fn may give.
Array of_list(const Value& list, At at) {
  const Value* leaf = &list;
  while (leaf->is_list() && !leaf->list().empty()) leaf = &leaf->list()[0];
  Array array;
  with_places({}, at, [&] {
    array = taskspec::array_of(list, leaf->is_real()   ? taskspec::Precision::f64
                                     : leaf->is_bool() ? taskspec::Precision::boolean
                                                       : taskspec::Precision::i64);
  });
  return array;
}

// Host numbers as arrays of one element, so that both are received alike.
Array array_of(const Tensor& tensor, At at) {
  Value value = only_output(known(tensor, at), at);
  if (value.is_list()) return of_list(value, at);
  if (!value.is_number() && !value.is_bool()) {
    if (!value.is_array() && !value.as<taskspec::Tensor>())
      fail("E1004", at, "this is no tensor and no number: " + print(value));
    return HostProgram::here().contents(value, at);
  }
  Array array = Array::make({value.is_real() ? taskspec::Precision::f64 : taskspec::Precision::i64, {}});
  if (value.is_real())
    array.set_number(0, value.real());
  else
    array.set_integer(0, value.is_bool() ? value.boolean() : value.integer());
  return array;
}

std::int64_t integer_at(const Array& array, std::int64_t position, std::int64_t least, std::int64_t greatest, At at) {
  std::int64_t value = array.host_integer(position);
  if (value < least || value > greatest)
    fail("E5001", at, fmt::format("{} does not fit the integers that are asked for", value), "ask for a wider type");
  return value;
}

void require_integers(const Array& array, At at) {
  if (is_float(array.precision()))
    fail("E1004", at, fmt::format("the elements of {} are no integers", array.type().text()),
         "ask for float or double, or convert the tensor: .as(i32)");
}

void require_one(const Array& array, At at) {
  if (array.elements() != 1)
    fail("E2001", at, fmt::format("scalar() wants one element, this is {}", array.type().text()),
         "array() receives all of them");
}

}  // namespace

std::vector<double> reals(const Tensor& value, At at) {
  Array array = array_of(value, at);
  std::vector<double> result(static_cast<std::size_t>(array.elements()));
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = array.number(static_cast<std::int64_t>(i));
  return result;
}

std::vector<std::int64_t> integers(const Tensor& value, std::int64_t least, std::int64_t greatest, At at) {
  Array array = array_of(value, at);
  require_integers(array, at);
  std::vector<std::int64_t> result(static_cast<std::size_t>(array.elements()));
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = integer_at(array, static_cast<std::int64_t>(i), least, greatest, at);
  return result;
}

double only_real(const Tensor& value, At at) {
  Array array = array_of(value, at);
  require_one(array, at);
  return array.number(0);
}

std::int64_t only_integer(const Tensor& value, std::int64_t least, std::int64_t greatest, At at) {
  Array array = array_of(value, at);
  require_one(array, at);
  require_integers(array, at);
  return integer_at(array, 0, least, greatest, at);
}

}  // namespace detail

namespace {

Slots slots_of(const Task& task, const char* which, detail::At at) {
  Value names = detail::known(Tensor(detail::index(Operand(task, at), {Index(which, at)})), at);
  Slots slots;
  for (const Value& name : names.tuple().items) slots.push_back(name.string());
  return slots;
}

}  // namespace

Slots Task::inputs(At at) const { return slots_of(*this, "inputs", at); }
Slots Task::outputs(At at) const { return slots_of(*this, "outputs", at); }

std::string Agent::text(detail::At at) const { return print(detail::known(Tensor(instance_), at)); }

namespace detail {

std::string number_text(double value) { return print(value); }

void write_line(const std::string& text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fputc('\n', stdout);
}

}  // namespace detail

std::string Tensor::text(At at) const { return print(detail::known(*this, at)); }

std::string Handle::text(At at) const { return Tensor(node_).text(at); }

std::vector<std::int64_t> Tensor::shape(At at) const {
  Value value = detail::only_output(detail::known(*this, at), at);
  if (value.is_array()) return value.array().extents();
  auto* tensor = value.as<taskspec::Tensor>();
  return tensor ? concrete(tensor->type).extents : std::vector<std::int64_t>();
}

// ---- sessions -------------------------------------------------------------------------------------

Tensor Tensor::run(const Backend& backend, At at) const {
  if (detail::Recording* here = detail::Recording::current())
    fail("E1302", at, described(here->function()) + " cannot open a session", "call the graph; its caller runs both");
  Node node;
  node.kind = Node::Kind::run;
  node.at = at;
  node.text = backend.name;
  node.integer = backend.threads;
  node.names.push_back(backend.schedule);
  if (backend.steps < 0) fail("E1003", at, "time steps are at least one");
  node.real = static_cast<double>(backend.steps);
  node.in.push_back(detail::use(Operand(*this, at)));
  for (const Operand& option : backend.options) {
    node.in.push_back(detail::use(option));
    node.names.push_back(option.name());
  }
  if (node.in[0]->kind != Node::Kind::invoke || node.in[0]->entered)
    fail("E1004", at, "run() takes a call of a graph or fn that is not used yet", "graph(arguments).run(host())");
  return Tensor(detail::host_value(std::move(node)));
}

std::string slices_json(const Tensor& call, detail::At at) {
  return HostProgram::here().cut_json_of(detail::use(Operand(call, at)), at);
}

Report report(const Tensor& run, detail::At at) {
  if (run.node() && run.node()->report) return *run.node()->report;
  Value value = detail::known(run, at);
  auto* invocation = value.as<Invocation>();
  const Value* last = invocation && !invocation->outputs.empty() ? &invocation->outputs.back() : nullptr;
  auto* record = last ? last->as<Record>() : nullptr;
  if (!record) fail("E1002", at, "only a run has a report", "report(graph(arguments).run(host()))");
  auto number = [&](const char* name) { return record->find(name)->integer(); };
  Report made{number("tasks"), number("chains"), number("dispatches"), number("peak"), record->find("seconds")->real()};
  for (std::size_t i = common_report().size(); i < record->fields.size(); ++i)
    if (record->fields[i].second.is_integer())
      made.of_backend.emplace(record->fields[i].first, record->fields[i].second.integer());
  return made;
}

}  // namespace taskspec::dsl
