// Forms that compute: ops, builtins, and what lists, tuples, strings and tensors are made of and taken apart by.
#include <fmt/format.h>

#include "ir/program/form.hpp"
#include "ir/program/form_check.hpp"
#include "ir/records/op_outputs.hpp"

namespace taskspec::form_records {

using Kind = Type::Kind;
using Gives = FormRecord::Gives;
using Fails = FormRecord::Fails;
using Again = FormRecord::Again;
using ToGive = FormRecord::ToGive;

namespace {

bool is_sequence(const Type& type) { return type.is(Kind::list) || type.is(Kind::string); }
Type item_of(const Type& type) { return type.is(Kind::list) ? type.parts[0] : type.is(Kind::string) ? type : Type(); }

void check_op(const FormCheck& c, const Call& call) {
  c.record(call, call.op->operands, call.op->type);
  c.want(makes_tensors(*call.op, call.type) || call.op->scalar != nullptr, "an op that works on tensors only");
}

void check_tuple(const FormCheck& c, const Call& call) {
  c.want(call.type.is(Kind::tuple) && call.type.parts.size() == call.in.size(), "a tuple of another size");
  for (std::size_t i = 0; i < call.in.size(); ++i)
    c.want(agree(call.type.parts[i], c.type(call, i)), "a part of another type");
}

void check_list(const FormCheck& c, const Call& call) {
  c.want(call.type.is(Kind::list), "no list");
  for (std::size_t i = 0; i < call.in.size(); ++i)
    c.want(fits(call.type.parts[0], c.type(call, i)), "an element of another type");
}

void check_element(const FormCheck& c, const Call& call) {
  const Type& tuple = c.type(call, 0);
  c.want(tuple.is(Kind::tuple) && call.index < tuple.parts.size() && agree(call.type, tuple.parts[call.index]),
         "no such part of a tuple");
}

Type field_of(const FormCheck& c, const Type& of, const std::string& name) {
  if (of.is_tensor()) {
    if (name == "shape") return Type::list(Kind::integer);
    if (name == "rank") return Kind::integer;
    if (name == "precision") return Kind::string;
  } else if (of.is(Kind::task) && (name == "inputs" || name == "outputs")) {
    c.want(of.names.size() == of.parts.size(), "a task without names");
    const std::size_t count = name == "inputs" ? of.inputs : of.parts.size() - of.inputs;
    return Type::tuple(std::vector<Type>(count, Kind::string));
  } else if (of.is(Kind::range)) {
    if (name == "begin" || name == "end") return Kind::integer;
  } else if (of.is(Kind::record)) {
    for (std::size_t i = 0; i < of.names.size() && i < of.parts.size(); ++i)
      if (of.names[i] == name) return of.parts[i];
  }
  return {};
}

void check_field(const FormCheck& c, const Call& call) {
  const Type result = field_of(c, c.type(call, 0), call.name);
  c.want(!result.is(Kind::none) && agree(call.type, result), fmt::format("no field '{}'", call.name));
}

void check_receive(const FormCheck& c, const Call& call) {
  const Type& tensor = c.type(call, 0);
  c.want(tensor.is_tensor() && call.index <= static_cast<std::uint32_t>(Receive::handle), "no receive");
  Type result = tensor.precision == Precision::boolean ? Kind::boolean
                : is_float(tensor.precision)           ? Kind::real
                                                       : Kind::integer;
  auto kind = static_cast<Receive>(call.index);
  if (kind == Receive::handle) result = tensor;
  if (kind == Receive::array || kind == Receive::iter)
    for (std::size_t i = 0; i < tensor.rank(); ++i) result = Type::list(std::move(result));
  c.want(agree(call.type, result), "a result of another type");
}

}  // namespace

// A node of the graph where it makes tensors; host values are computed at once.
constinit const FormRecord op = {
    .word = "op",
    .payload = Payload::op,
    .defaults = true,
    .dump = "{what}({in})",
    .cheap = true,
    .fails = Fails::rule,
    .again = Again::operands,
    .check = check_op,
};

constinit const FormRecord builtin = {
    .word = "builtin",
    .payload = Payload::builtin,
    .defaults = true,
    .gives = Gives::maybe,
    .dump = "{what}({in})",
    .fails = Fails::rule,
    .again = Again::rule,
    .to_give = ToGive::builtin,
    .check = [](const FormCheck& c, const Call& call) { c.record(call, call.builtin->operands, call.builtin->type); },
};

constinit const FormRecord tuple = {
    .word = "tuple",
    .text = "({in})",
    .rearranges = true,
    .cheap = true,
    .again = Again::operands,
    .check = check_tuple,
};

constinit const FormRecord list = {
    .word = "list",
    .text = "[{in}]",
    .rearranges = true,
    .cheap = true,
    .again = Again::operands,
    .check = check_list,
};

constinit const FormRecord range = {
    .word = "range",
    .operands = {2, 2},
    .infix = "..",
    .rearranges = true,
    .cheap = true,
    .again = Again::operands,
    .check = [](const FormCheck& c,
                const Call& call) { c.want(call.type.is(Kind::range) && c.ints(call, 0), "a range has two ints"); },
};

constinit const FormRecord element = {
    .word = "element",
    .payload = Payload::part,
    .operands = {1, 1},
    .dump = "{what} of {in}",
    .text = "{t0}.{what}",
    .rearranges = true,
    .cheap = true,
    .again = Again::operands,
    .check = check_element,
};

constinit const FormRecord item = {
    .word = "item",
    .operands = {2, 2},
    .text = "{t0}[{1}]",
    .rearranges = true,
    .cheap = true,
    .fails = Fails::maybe,
    .again = Again::operands,
    .check =
        [](const FormCheck& c, const Call& call) {
          c.want(c.ints(call, 1) && agree(call.type, item_of(c.type(call, 0))), "no element of a list or string");
        },
};

constinit const FormRecord items = {
    .word = "items",
    .operands = {3, 3},
    .text = "{t0}[{1}..{2}]",
    .fails = Fails::maybe,
    .again = Again::operands,
    .check =
        [](const FormCheck& c, const Call& call) {
          const Type& of = c.type(call, 0);
          c.want(c.ints(call, 1) && is_sequence(of) && agree(call.type, of), "no part of a list or string");
        },
};

// Of a record, a composite (inputs, outputs), a range or a tensor (shape, rank, precision).
constinit const FormRecord field = {
    .word = "field",
    .payload = Payload::field,
    .operands = {1, 1},
    .dump = "{what} of {in}",
    .text = "{t0}.{what}",
    .rearranges = true,
    .cheap = true,
    .again = Again::operands,
    .check = check_field,
};

constinit const FormRecord receive = {
    .word = "receive",
    .payload = Payload::receive,
    .operands = {1, 1},
    .dump = "{what} of {in}",
    .text = "{t0}.{what}",
    .of_graph = true,
    .again = Again::always,
    .check = check_receive,
};

}  // namespace taskspec::form_records
