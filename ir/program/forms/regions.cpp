// Forms of mutable data: regions and their pieces, launches of tasks over them, and what bodies do with views.
//
//   c[i].flux = 2.0 * g[i - 1].state     view_store flux {c, i, op mul(2.0, view_element state {g, op sub(i, 1)})}
#include <algorithm>

#include "ir/program/form.hpp"
#include "ir/program/form_check.hpp"

namespace taskspec::form_records {

using Kind = Type::Kind;
using Gives = FormRecord::Gives;
using Enters = FormRecord::Enters;
using Fails = FormRecord::Fails;

namespace {

constexpr std::size_t most_axes = 4;  // of a region: as in ir/region/point.hpp

bool holds_points(const Type& type) { return type.is(Kind::region) || type.is(Kind::view); }

// The field of a view or region that a call names.
const FieldsTable::Field* data_field_of(const FormCheck& c, const Call& call) {
  const Type& of = c.type(call, 0);
  if (!holds_points(of) || !of.fields.valid() || of.fields.index() >= c.program.fields_tables.size()) return nullptr;
  for (const FieldsTable::Field& field : c.program[of.fields].fields)
    if (field.name == call.name) return &field;
  return nullptr;
}

void check_data_field(const FormCheck& c, const Call& call) {
  c.want(data_field_of(c, call) != nullptr, "no field of this data");
}

// Indices from `from` up to `to`: ints of the body, or integer tensors of rank 0.
void check_indices(const FormCheck& c, const Call& call, std::size_t to) {
  c.want(c.type(call, 0).is(Kind::view) && to == c.type(call, 0).dims.size() + 1, "another number of indices");
  for (std::size_t i = 1; i < to; ++i) {
    const Type& index = c.type(call, i);
    c.want(index.is(Kind::integer) || (index.is_tensor() && index.rank() == 0 && is_integer(index.precision)),
           "an index is an int");
  }
}

bool is_view_element(const FormCheck& c, const Call& call, const Type& type) {
  const FieldsTable::Field* field = data_field_of(c, call);
  return field && type.is_tensor() && type.rank() == 0 && type.precision == field->precision;
}

void check_view_element(const FormCheck& c, const Call& call) {
  check_indices(c, call, call.in.size());
  c.want(is_view_element(c, call, call.type), "an element of another type");
}

void check_view_at(const FormCheck& c, const Call& call) {
  check_indices(c, call, call.in.size() - 1);
  c.want(is_view_element(c, call, call.type) && is_view_element(c, call, c.type(call, call.in.size() - 1)),
         "an element of another type");
}

void check_view_store(const FormCheck& c, const Call& call) {
  check_indices(c, call, call.in.size() - 1);
  c.want(is_view_element(c, call, c.type(call, call.in.size() - 1)), "an element of another type");
}

void check_view_fold(const FormCheck& c, const Call& call) {
  check_view_store(c, call);
  c.want(call.index < reduce_words.size(), "no reduction");
}

bool is_piece_of(const Type& piece, const Type& whole) {
  return piece.is(Kind::region) && piece.fields == whole.fields && piece.dims.size() == whole.dims.size();
}

// A range, the points of a grid as a list of tuples, or its extents.
bool is_domain(const Type& type) {
  const Type& point = type.is(Kind::list) ? type.parts[0] : type;
  return type.is(Kind::range) || (point.is(Kind::tuple) && point.parts.size() <= most_axes);
}

void check_launch(const FormCheck& c, const Call& call) {
  c.want(!call.in.empty() && (!call.in[0].valid() || is_domain(c.type(call, 0))), "no domain");
  const Function& callee = c.program[call.callee];
  const auto declared = static_cast<std::size_t>(
      std::count_if(callee.parameters.begin(), callee.parameters.end(),
                    [](const Parameter& parameter) { return parameter.role == Role::declared; }));
  const std::size_t agent = callee.agent.valid() ? 1 : 0;
  c.want(callee.kind == FunctionKind::task && call.type.is(Kind::invocation) && call.in.size() == 2 + agent + declared,
         "other arguments than the task has");
  if (agent) c.want(c.type(call, 2).is(Kind::agent), "a task of an agent without it");
}

}  // namespace

// Its type says which, its operands are the extents.
constinit const FormRecord make_region = {
    .word = "region",
    .payload = Payload::type,
    .dump = "{in}",
    .text = "region({in})",
    .fails = Fails::maybe,
    .check = [](const FormCheck& c, const Call& call) { c.want(call.type.is(Kind::region), "no region"); },
};

// p[i] outside of launches: the points of one colour.
constinit const FormRecord piece = {
    .word = "piece",
    .operands = {2, SIZE_MAX},
    .text = "{t0}[{rest}]",
    .rearranges = true,
    .fails = Fails::maybe,
    .check =
        [](const FormCheck& c, const Call& call) {
          const Type& of = c.type(call, 0);
          c.want(of.is(Kind::partition) && c.ints(call, 1) && call.in.size() == 1 + of.inputs &&
                     is_piece_of(call.type, of),
                 "no piece");
        },
};

// p[f(i)] as the argument of a launch: of an affine f the colours at the point 0 and at the unit points, else f as a
// function; `index`: the rank of the launch's domain. So is m[f(i)] of a map; m[i] to each point its own. An int
// argument f(i) is said in the same way, of an int instead of a partition: it is a map of ints, one to each point.
constinit const FormRecord projection = {
    .word = "projection",
    .operands = {1, SIZE_MAX},
    .dump = "{in}",
    .text = "{t0}[{rest}]",
    .rearranges = true,
    .calls_back = true,
    .check =
        [](const FormCheck& c, const Call& call) {
          const Type& of = c.type(call, 0);
          const bool by_function = call.in.size() > 1 && c.type(call, 1).is(Kind::function);
          const bool element = of.is(Kind::launch_map) && agree(call.type, of.parts[0]) &&
                               (call.in.size() == 1 || by_function || c.ints(call, 1));
          const bool piece = of.is(Kind::partition) && call.in.size() > 1 && is_piece_of(call.type, of) &&
                             call.index >= 1 && call.index <= most_axes &&
                             (by_function || (c.ints(call, 1) && call.in.size() == 1 + of.inputs * (call.index + 1)));
          const bool number = of.is(Kind::integer) && call.type.is(Kind::launch_map) &&
                              call.type.parts[0].is(Kind::integer) && call.index >= 1 && call.index <= most_axes &&
                              (by_function ? call.in.size() == 2 : c.ints(call, 1) && call.in.size() == call.index + 2);
          c.want(element || piece || number, "no projection");
        },
};

// r.f outside of tasks: names it, reads nothing.
constinit const FormRecord region_field = {
    .word = "region_field",
    .payload = Payload::field,
    .operands = {1, 1},
    .dump = "{what} of {in}",
    .text = "{t0}.{what}",
    .rearranges = true,
    .cheap = true,
    .check =
        [](const FormCheck& c, const Call& call) {
          const FieldsTable::Field* field = data_field_of(c, call);
          c.want(field && call.type.is(Kind::region_field) && call.type.places.size() == 1 &&
                     field == &c.program[c.type(call, 0).fields].fields[call.type.places[0]],
                 "no field of this data");
        },
};

// As a tensor: what it holds now.
constinit const FormRecord field_value = {
    .word = "field_value",
    .operands = {1, 1},
    .text = "{0}",
    .check =
        [](const FormCheck& c, const Call& call) {
          c.want(c.type(call, 0).is(Kind::region_field) && agree(call.type, c.type(call, 0).parts[0]), "no field");
        },
};

// m[i] of what the points of a launch have made.
constinit const FormRecord map_item = {
    .word = "map_item",
    .operands = {2, SIZE_MAX},
    .text = "{t0}[{rest}]",
    .fails = Fails::maybe,
    .check =
        [](const FormCheck& c, const Call& call) {
          c.want(c.type(call, 0).is(Kind::launch_map) && c.ints(call, 1) && call.in.size() <= 1 + most_axes &&
                     agree(call.type, c.type(call, 0).parts[0]),
                 "no output of a point");
        },
};

// {domain, sharding, agent of a member, arguments of the task...}; the first two may be left out: without a domain it
// is a call of one point. A domain is a range, or a list of points that `grid` makes.
constinit const FormRecord launch = {
    .word = "launch",
    .payload = Payload::callee,
    .operands = {2, SIZE_MAX},
    .defaults = true,
    .dump = "{what}({in})",
    .fails = Fails::maybe,
    .enters = Enters::callee,
    .changes_data = true,
    .check = check_launch,
};

// ---- in bodies: {view, index...} ----

constinit const FormRecord view_element = {
    .word = "view_element",
    .payload = Payload::field,
    .operands = {2, SIZE_MAX},
    .dump = "{what} of {in}",
    .text = "{t0}[{rest}].{what}",
    .check = check_view_element,
};

// {view, index..., value where there is no such point}
constinit const FormRecord view_at = {
    .word = "view_at",
    .payload = Payload::field,
    .operands = {3, SIZE_MAX},
    .dump = "{what} of {in}",
    .text = "at({in}).{what}",
    .check = check_view_at,
};

// All points of the view, in order.
constinit const FormRecord view_field = {
    .word = "view_field",
    .payload = Payload::field,
    .operands = {1, 1},
    .dump = "{what} of {in}",
    .text = "{t0}.{what}",
    .check =
        [](const FormCheck& c, const Call& call) {
          const FieldsTable::Field* field = data_field_of(c, call);
          c.want(field && call.type.is_tensor() && call.type.precision == field->precision &&
                     call.type.rank() == c.type(call, 0).dims.size(),
                 "a field of another type");
        },
};

// {view, index..., value}
constinit const FormRecord view_store = {
    .word = "view_store",
    .payload = Payload::field,
    .operands = {3, SIZE_MAX},
    .gives = Gives::nothing,
    .dump = "{what} of {in}",
    .changes_data = true,
    .check = check_view_store,
};

// {view, index..., value}: one more contribution, by the ReduceOp `index`.
constinit const FormRecord view_fold = {
    .word = "view_fold",
    .payload = Payload::field,
    .operands = {3, SIZE_MAX},
    .gives = Gives::nothing,
    .dump = "{what} of {in}",
    .changes_data = true,
    .check = check_view_fold,
};

// {view, tensor of all its points}
constinit const FormRecord store_view_field = {
    .word = "store_view_field",
    .payload = Payload::field,
    .operands = {2, 2},
    .gives = Gives::nothing,
    .dump = "{what} of {in}",
    .changes_data = true,
    .check = check_data_field,
};

}  // namespace taskspec::form_records
