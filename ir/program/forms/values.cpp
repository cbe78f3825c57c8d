// Forms that name something: no operands, no work.
#include "ir/program/form.hpp"
#include "ir/program/form_check.hpp"

namespace taskspec::form_records {

using Kind = Type::Kind;
using Variable = FormRecord::Variable;
using Again = FormRecord::Again;
using ToGive = FormRecord::ToGive;

constinit const FormRecord constant = {
    .word = "constant",
    .payload = Payload::value,
    .operands = {0, 0},
    .dump = "{what}",
    .cheap = true,
    .again = Again::always,
    .check = [](const FormCheck& c,
                const Call& call) { c.want(holds(call.type, call.value), "a value of another type"); },
};

constinit const FormRecord parameter = {
    .word = "parameter",
    .payload = Payload::parameter,
    .operands = {0, 0},
    .dump = "{what}",
    .cheap = true,
    .again = Again::always,
    .to_give = ToGive::parameter,
    .check =
        [](const FormCheck& c, const Call& call) {
          c.want(agree(call.type, c.function.parameters[call.index].type), "a parameter of another type");
        },
};

constinit const FormRecord dimension = {
    .word = "dimension",
    .payload = Payload::symbol,
    .operands = {0, 0},
    .dump = "{what}",
    .cheap = true,
    .of_graph = true,
    .again = Again::always,
    .check = [](const FormCheck& c, const Call& call) { c.want(call.type.is(Kind::integer), "an extent is an int"); },
};

constinit const FormRecord type = {
    .word = "type",
    .payload = Payload::type,
    .operands = {0, 0},
    .cheap = true,
    .again = Again::always,
    .to_give = ToGive::extents,
    .check = [](const FormCheck& c,
                const Call& call) { c.want(call.type.is(Kind::type) || call.type.is_tensor(), "no type"); },
};

constinit const FormRecord variable = {
    .word = "variable",
    .payload = Payload::variable,
    .operands = {0, 0},
    .dump = "{what}",
    .cheap = true,
    .variable = Variable::reads,
    .again = Again::rule,
    .to_give = ToGive::variable,
    .check = [](const FormCheck& c,
                const Call& call) { c.want(agree(call.type, c.type(call.variable)), "a variable of another type"); },
};

constinit const FormRecord global = {
    .word = "global",
    .payload = Payload::global,
    .operands = {0, 0},
    .dump = "{what}",
    .cheap = true,
    .again = Again::always,
    .to_give = ToGive::global,
    .check =
        [](const FormCheck& c, const Call& call) {
          const Function& top = c.program[c.program.modules[call.module.index()].top_level];
          c.want(agree(call.type, top.variables[call.variable.index()].type), "a top-level name of another type");
        },
};

constinit const FormRecord loop = {
    .word = "loop",
    .operands = {0, 0},
    .text = "{turn}",
    .again = Again::always,
    .to_give = ToGive::turn,
    .check = [](const FormCheck& c, const Call& call) { c.want(c.is_turn(call), "a loop variable outside of a loop"); },
};

// Inside of a run that repeats its call: the number of the time step, from 0.
constinit const FormRecord time_step = {
    .word = "time_step",
    .operands = {0, 0},
    .text = "time step",
    .check =
        [](const FormCheck& c, const Call& call) {
          c.want(call.type == Type::tensor(Precision::i64, {}), "the number of a time step is an i64 tensor of rank 0");
        },
};

}  // namespace taskspec::form_records
