// Forms of agents and functions: as values, and called.
#include <fmt/format.h>

#include <algorithm>

#include "ir/program/form.hpp"
#include "ir/program/form_check.hpp"
#include "ir/program/wiring.hpp"

namespace taskspec::form_records {

using Kind = Type::Kind;
using Gives = FormRecord::Gives;
using Enters = FormRecord::Enters;
using Fails = FormRecord::Fails;
using Again = FormRecord::Again;
using ToRun = FormRecord::ToRun;
using ToGive = FormRecord::ToGive;

namespace {

void check_agent(const FormCheck& c, const Call& call) {
  const std::vector<Parameter>& parameters = c.program[call.agent].parameters;
  c.want(is_agent(call.type, call.agent) && call.in.size() == parameters.size(), "other arguments than the agent has");
  for (std::size_t i = 0; i < parameters.size(); ++i)
    c.want(fits(parameters[i].type, c.type(call, i)), "an argument of another type");
}

void check_member(const FormCheck& c, const Call& call) {
  const Function& callee = c.program[call.callee];
  c.want(callee.agent.valid() && is_agent(c.type(call, 0), callee.agent), "an agent of another kind");
  c.want(agree(call.type, value_type(callee)), "a value of another type");
}

void check_function(const FormCheck& c, const Call& call) {
  const Function& callee = c.program[call.callee];
  c.want(!callee.agent.valid() && captures(callee) == 0, "a function that needs more");
  c.want(agree(call.type, value_type(callee)), "a value of another type");
}

void check_closure(const FormCheck& c, const Call& call) {
  const Function& callee = c.program[call.callee];
  c.want(!callee.agent.valid() && callee.kind == FunctionKind::fn, "no closure");
  c.want(call.in.size() == captures(callee), "another number of captured values");
  for (std::size_t i = 0; i < call.in.size(); ++i)
    c.want(fits(callee.parameters[i].type, c.type(call, i)), "a captured value of another type");
  c.want(agree(call.type, value_type(callee)), "a value of another type");
}

// The interpreter trusts the type to list what is free and what is live.
void check_compose(const FormCheck& c, const Call& call) {
  const Type &a = c.type(call, 0), &b = c.type(call, 1);
  for (const Type* side : {&a, &b, &call.type})
    c.want(side->is(Kind::task) && side->names.size() == side->parts.size(), "no task");
  std::optional<Wiring> wiring = wire(a, b);
  c.want(wiring.has_value(), "nothing to compose");
  for (std::uint32_t i = 0; i < b.inputs; ++i) {
    auto [from, index] = wiring->inputs[i];
    if (from == Wiring::Source::From::outside) continue;
    bool output = from == Wiring::Source::From::output;
    c.want(agree(b.parts[i], a.parts[output ? a.inputs + index : index]), "another type than the input it goes to");
    c.want(!output || !b.is_place(i), "an output where a place is changed");
  }
  c.want(agree(call.type, composite(a, b, *wiring)), "other inputs or outputs than the two tasks have");
}

void check_call(const FormCheck& c, const Call& call) {
  const Function& callee = c.program[call.callee];
  c.want(callee.kind != FunctionKind::module && captures(callee) == 0, "not callable");
  std::size_t next = 0;
  if (callee.agent.valid())
    c.want(call.in[0].valid() && is_agent(c.type(call, next++), callee.agent), "an agent of another kind");
  for (const Parameter& parameter : callee.parameters) {
    if (parameter.role != Role::declared) continue;
    CallId in = call.in[next++];
    if (in.valid())
      c.want(fits(parameter.type, c.type(in)), fmt::format("'{}' of another type", parameter.name));
    else
      c.want(parameter.default_value.valid(), fmt::format("'{}' is missing", parameter.name));
  }
  c.want(agree(call.type, called(value_type(callee))), "a result of another type");
  c.places(call);
}

void check_apply(const FormCheck& c, const Call& call) {
  const Type& callable = c.type(call, 0);
  c.want(callable.is(Kind::function) || callable.is(Kind::task), "not callable");
  std::size_t count = callable.is(Kind::task) ? callable.inputs : callable.parts.size() - 1;
  c.want(call.in.size() == count + 1, "another number of arguments");
  for (std::size_t i = 0; i < count; ++i)
    c.want(fits(callable.parts[i], c.type(call, i + 1)), "an argument of another type");
  c.want(agree(call.type, called(callable)), "a result of another type");
  c.places(call);
}

}  // namespace

// A new one, with slots of its own.
constinit const FormRecord agent = {
    .word = "agent",
    .payload = Payload::agent,
    .dump = "{what}({in})",
    .text = "{what}({in})",
    .to_run = ToRun::operands,
    .check = check_agent,
};

constinit const FormRecord self = {
    .word = "self",
    .operands = {0, 0},
    .text = "self",
    .cheap = true,
    .check =
        [](const FormCheck& c, const Call& call) {
          c.want(c.function.agent.valid() && is_agent(call.type, c.function.agent), "no agent here");
        },
};

constinit const FormRecord member = {
    .word = "member",
    .payload = Payload::callee,
    .operands = {1, 1},
    .dump = "{what} of {in}",
    .text = "{t0}.{member}",
    .cheap = true,
    .check = check_member,
};

constinit const FormRecord function = {
    .word = "function",
    .payload = Payload::callee,
    .operands = {0, 0},
    .dump = "{what}",
    .cheap = true,
    .check = check_function,
};

// A function with the values that it closes over.
constinit const FormRecord closure = {
    .word = "closure",
    .payload = Payload::callee,
    .dump = "{what}{of}",
    .text = "{what}",
    .cheap = true,
    .check = check_closure,
};

constinit const FormRecord compose = {
    .word = "compose",
    .operands = {2, 2},
    .infix = ">>",
    .check = check_compose,
};

// Of a fn; with an agent first where the callee belongs to one.
constinit const FormRecord call = {
    .word = "call",
    .payload = Payload::callee,
    .defaults = true,
    .gives = Gives::maybe,
    .dump = "{what}({in})",
    .fails = Fails::rule,
    .enters = Enters::callee,
    .to_give = ToGive::entered,
    .check = check_call,
};

// Of a task or graph, likewise.
constinit const FormRecord invoke = {
    .word = "invoke",
    .payload = Payload::callee,
    .defaults = true,
    .dump = "{what}({in})",
    .enters = Enters::callee,
    .check = check_call,
};

// Of a value: its type tells whether it gives what a fn gives, or an invocation.
constinit const FormRecord apply = {
    .word = "apply",
    .operands = {1, SIZE_MAX},
    .gives = Gives::maybe,
    .text = "{t0}({rest})",
    .enters = Enters::value,
    .to_give = ToGive::entered,
    .check = check_apply,
};

constinit const FormRecord output = {
    .word = "output",
    .payload = Payload::output,
    .operands = {1, 1},
    .dump = "{what} of {in}",
    .text = "{t0}.{what}",
    .rearranges = true,
    .cheap = true,
    .of_graph = true,
    .again = Again::always,  // a report: the graph program makes it
    .check =
        [](const FormCheck& c, const Call& call) {
          const Type& of = c.type(call, 0);
          c.want(of.is(Kind::invocation) && agree(call.type, of.parts[call.index]), "no such output");
        },
};

}  // namespace taskspec::form_records
