#include "interp/control/list_target.hpp"

#include <algorithm>

#include "interp/control/immediate.hpp"
#include "interp/control/interpreter.hpp"
#include "interp/control/operands.hpp"
#include "interp/control/rules.hpp"
#include "ir/records/op_outputs.hpp"

namespace taskspec {

namespace {

// A value of the list: which one, in order of appearance. Its type stands there, too.
class Listed final : public Object {
 public:
  Listed(std::size_t p, Type t) : position(p), type(std::move(t)) {}
  const std::size_t position;
  const Type type;
  std::string text() const override { return "<value " + std::to_string(position) + ">"; }
};

Value listed(std::size_t position, const Type& type) {
  return Value(std::static_pointer_cast<Object>(std::make_shared<Listed>(position, type)));
}

}  // namespace

bool is_host_number(const Type& type) { return type.is_number() || type.is(Type::Kind::boolean); }

bool is_open_value(const Value& value) {
  if (value.is_list()) return std::ranges::any_of(value.list(), is_open_value);
  if (value.is_tuple()) return std::ranges::any_of(value.tuple().items, is_open_value);
  return value.as<GraphScalar>() || (value.is_type() && value.type().has_symbols());
}

std::size_t ListTarget::position_of(const Value& value) { return value.as<Listed>()->position; }

Value ListTarget::tensor(std::size_t position) const { return listed(position, types_[position]); }

Value ListTarget::input(std::size_t position, const Parameter& parameter) const {
  if (parameter.type.is_tensor()) return tensor(position);
  const auto input = static_cast<std::uint32_t>(position);
  return unknown_scalar(parameter.name, parameter.type, symbol_ + 3 * input, input);
}

bool ListTarget::is_tensor(const Value& value) const { return value.is_array() || value.as<Listed>(); }

Type ListTarget::type_of(const Value& value) const {
  return value.is_array() ? value.array().type().type() : value.as<Listed>()->type;
}

TaskResult ListTarget::task(Interpreter& interpreter, const TaskCall& call) { return interpreter.inline_task(call); }

// A number that comes with each run, or something that holds one. Extents that are symbols may well lie in a list whose
// length is asked for.
static bool holds_input(const Value& value) {
  if (value.is_list()) return std::ranges::any_of(value.list(), holds_input);
  if (value.is_tuple()) return std::ranges::any_of(value.tuple().items, holds_input);
  auto* open = value.as<GraphScalar>();
  return open && (open->input != UINT32_MAX || std::ranges::any_of(open->operands, holds_input));
}

bool ListTarget::holds_open(std::span<const Value> values) const {
  return any_symbolic(values) || std::ranges::any_of(values, holds_input);
}

ValueId ListTarget::value_of(const Value& value) {
  if (auto* known = value.as<Listed>()) return ValueId(known->position);
  constants_.emplace_back(value, type_of(value));
  return ValueId(first_constant + constants_.size() - 1);
}

// A number that is not known yet, as it stands beside tensors.
Value ListTarget::beside_tensors(const Value& number, Precision precision) {
  const Type type = Type::tensor(precision, {});
  auto [known, fresh] = numbers_.try_emplace({number.object().get(), precision}, constants_.size());
  if (fresh) constants_.emplace_back(number, type);
  return listed(first_constant + known->second, type);
}

// An int that is a float where this call reads it: a parameter or variable of that type made it one.
static Value as_read(const Frame& frame, const Call& call, std::size_t operand, const Value& value) {
  auto* open = value.as<GraphScalar>();
  const bool widens = open && open->type.is(Type::Kind::integer) && operand < call.in.size() &&
                      call.in[operand].valid() && frame.function[call.in[operand]].type.is(Type::Kind::real);
  if (!widens) return value;
  auto made = std::make_shared<GraphScalar>();
  made->written = open->written;
  made->type = Type::Kind::real;
  made->operands = {value};
  made->ops = open->ops;
  return Value(std::static_pointer_cast<Object>(made));
}

// Host arithmetic on numbers that are not known yet. A body that does very much of it is made for each of their values.
Value ListTarget::number(const Frame& frame, const Call& call, std::span<const Value> operands) {
  std::vector<Value> read;
  std::uint32_t ops = 0;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    read.push_back(as_read(frame, call, i, operands[i]));
    auto* open = read[i].as<GraphScalar>();
    const bool plain = read[i].is_number() || read[i].is_bool() || (read[i].is_type() && !is_open_value(read[i]));
    if (!plain && !(open && is_host_number(open->type)))
      throw failure("E3005", call.span, "what runs depends on a host value that is not known yet");
    if (open) ops += open->ops;
  }
  constexpr std::uint32_t most_ops = 256;  // each run does them one by one
  if (!is_host_number(call.type) || ops >= most_ops)
    throw failure("E3005", call.span, "what runs depends on a host value that is not known yet");
  return symbolic_op(*call.op, read, call.type);
}

// What is computed of known contents alone is known. Random numbers are made when they are asked for: a list does not
// hold them.
static bool is_known(const OpDef& op, const OperandList& list, const Type& type) {
  if (std::ranges::any_of(op.operands, &Operand::at_run)) return false;
  const bool arrays = std::ranges::all_of(list.tensors, [](const Value& tensor) { return tensor.is_array(); });
  return !list.tensors.empty() && arrays && !type.has_symbols() && !any_symbolic(list.attributes);
}

// Open numbers where tensors are read become values of the list, of the precision that known ones would have.
void ListTarget::place_numbers(const Frame& frame, const Call& call, std::span<Value> operands, const Type& made) {
  std::vector<std::pair<std::size_t, Value>> placed;
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (operands[i].as<GraphScalar>() && reads_inputs(operand_at(*call.op, i)))
      placed.emplace_back(i, beside_tensors(as_read(frame, call, i, operands[i]),
                                            number_precision(*call.op, i, *this, operands, made)));
  for (auto& [i, value] : placed) operands[i] = std::move(value);
}

void ListTarget::op(const Frame& frame, const Call& call, std::span<Value> operands, const Type& type, List& made) {
  const std::span<const Type> outputs = output_types(type);
  place_numbers(frame, call, operands, outputs[0]);
  OperandList given = sort_operands(*call.op, *this, operands, outputs[0]);
  if (is_known(*call.op, given, type)) {
    made = compute(*call.op, operands, type);
    return;
  }
  if (lines_.size() == longest_)
    throw failure("E3005", call.span, "the list of its ops gets longer than " + std::to_string(longest_));
  OpList::Line line;
  line.op = call.op;
  for (const Value& value : given.tensors) line.in.push_back(value_of(value));
  line.attributes = std::move(given.attributes);
  line.function = frame.id;
  line.call = CallId(static_cast<std::size_t>(&call - frame.function.calls.data()));
  line.span = call.span;
  line.site = calls_.size() > outside_ ? calls_[outside_] : call.span;
  for (const Type& output : outputs) {
    line.out.emplace_back(types_.size());
    made.push_back(listed(types_.size(), output));
    types_.push_back(output);
  }
  lines_.push_back(std::move(line));
}

ScopeId ListTarget::open_scope(ScopeId outer, std::string_view, FunctionId, Span site) {
  calls_.push_back(site);
  return outer;
}

bool ListTarget::decide(const Value& value, Span span) {
  if (value.is_array()) return value.array().integer(0) != 0;
  auto* open = value.as<GraphScalar>();
  throw failure("E3005", span,
                open ? "which ops run depends on " + open->text() + ", which is not known yet"
                     : "which ops run depends on data here");
}

Array ListTarget::receive(const Value& value, Span span) {
  if (value.is_array()) return value.array();
  throw failure("E3005", span, "what runs depends on data that is received here");
}

// Inputs first, then constants, then results: constants move in between.
void ListTarget::finish(OpList& list, const std::vector<Value>& outputs) {
  std::vector<ValueId> ends;
  for (const Value& value : outputs) ends.push_back(value_of(value));
  auto place = [&](ValueId& value) {
    if (value.index() >= first_constant)
      value = ValueId(inputs_ + (value.index() - first_constant));
    else if (value.index() >= inputs_)
      value = ValueId(value.index() + constants_.size());
  };
  for (OpList::Line& line : lines_) {
    std::ranges::for_each(line.in, place);
    std::ranges::for_each(line.out, place);
  }
  std::ranges::for_each(ends, place);
  for (std::size_t k = 0; k < ends.size(); ++k) list.outputs[k].value = ends[k];
  const auto results = types_.begin() + static_cast<std::ptrdiff_t>(inputs_);
  list.types.assign(types_.begin(), results);
  for (auto& [value, type] : constants_) {
    list.types.push_back(std::move(type));
    list.constants.push_back(std::move(value));
  }
  list.types.insert(list.types.end(), results, types_.end());
  list.lines = std::move(lines_);
}

}  // namespace taskspec
