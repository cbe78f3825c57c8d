// Forms that change something, decide what runs, or end it.
#include <algorithm>

#include "ir/program/form.hpp"
#include "ir/program/form_check.hpp"

namespace taskspec::form_records {

using Kind = Type::Kind;
using Gives = FormRecord::Gives;
using Fails = FormRecord::Fails;
using Variable = FormRecord::Variable;
using Leaves = FormRecord::Leaves;
using Again = FormRecord::Again;
using ToRun = FormRecord::ToRun;
using ToGive = FormRecord::ToGive;
using Runs = FormBlock::Runs;

namespace {

void check_store(const FormCheck& c, const Call& call) {
  Type element = c.type(call.variable);
  for (std::size_t i = 1; i < call.in.size(); ++i) {
    c.want(element.is(Kind::list) && c.type(call, i).is(Kind::integer), "no element of a list");
    element = Type(element.parts[0]);
  }
  c.want(fits(element, c.type(call, 0)), "a value of another type");
}

void check_while(const FormCheck& c, const Call& call) {
  c.want(call.blocks[0].result.valid() && is_condition(c.type(call.blocks[0].result)), "a condition is a bool");
}

void check_logic(const FormCheck& c, const Call& call) {
  const CallId right = call.blocks[0].result;
  c.want((call.type.is(Kind::boolean) || call.type.is_tensor()) && is_condition(c.type(call, 0)) && right.valid() &&
             is_condition(c.type(right)),
         "a condition is a bool");
}

// `run e on B`: the outputs of e, or its value, then those of all time steps where there are some, and the report.
void check_run(const FormCheck& c, const Call& call) {
  c.want(c.type(call, 0).is(Kind::backend) && call.blocks[0].result.valid(), "no backend");
  const Type& value = c.type(call.blocks[0].result);
  std::vector<Type> parts = value.is(Kind::invocation) ? value.parts
                            : value.is(Kind::none)     ? std::vector<Type>{}
                                                       : std::vector<Type>{value};
  const std::size_t outputs = parts.size();
  const bool repeats = value.is(Kind::invocation) && call.type.parts.size() == outputs + 2;
  if (repeats) {
    const Type& all = call.type.parts[outputs];
    c.want(all.is(Kind::invocation) && all.names == value.names && all.parts.size() == outputs, "other time steps");
    parts.push_back(all);
  }
  c.want(call.type.is(Kind::invocation) && call.type.parts.size() == parts.size() + 1 &&
             call.type.names.size() == parts.size() + 1 && call.type.parts.back().is(Kind::record) &&
             std::equal(parts.begin(), parts.end(), call.type.parts.begin(), agree),
         "other outputs than those of the call and the report");
}

constexpr FormRecord logic(std::string_view word, std::string_view sign, Precedence precedence) {
  return {
      .word = word,
      .operands = {1, 1},
      .block_records = {FormBlock{.name = "right", .runs = Runs::maybe}},
      .block_count = 1,
      .infix = sign,
      .precedence = precedence,
      .again = Again::operands,
      .to_run = ToRun::decision,
      .to_give = ToGive::running,
      .check = check_logic,
  };
}

constexpr FormRecord jump(std::string_view word, Leaves leaves) {
  return {.word = word, .operands = {0, 0}, .gives = Gives::nothing, .text = word, .leaves = leaves};
}

}  // namespace

constinit const FormRecord write = {
    .word = "write",
    .payload = Payload::variable,
    .operands = {1, 1},
    .gives = Gives::nothing,
    .dump = "{what} = {in}",
    .text = "{what} = {0}",
    .cheap = true,
    .variable = Variable::writes,
    .to_run = ToRun::operands,
    .check = [](const FormCheck& c,
                const Call& call) { c.want(fits(c.type(call.variable), c.type(call, 0)), "a value of another type"); },
};

// An element of a list: variable[in[1]][in[2]]... = in[0].
constinit const FormRecord store = {
    .word = "store",
    .payload = Payload::variable,
    .operands = {2, SIZE_MAX},
    .gives = Gives::nothing,
    .dump = "{what}[{rest}] = {first}",
    .text = "{what}{indices} = {0}",
    .fails = Fails::maybe,
    .variable = Variable::changes,
    .to_run = ToRun::operands,
    .check = check_store,
};

constinit const FormRecord if_ = {
    .word = "if",
    .operands = {1, 1},
    .block_records = {FormBlock{.name = "then", .runs = Runs::maybe},
                      FormBlock{.name = "else", .runs = Runs::maybe, .may_be_empty = true, .separator = "else"}},
    .block_count = 2,
    .gives = Gives::nothing,
    .text = "if {0}",
    .to_run = ToRun::decision,
    .check = [](const FormCheck& c,
                const Call& call) { c.want(is_condition(c.type(call, 0)), "a condition is a bool"); },
};

// Its `loop` call, where it is used, is the first of the body.
constinit const FormRecord for_ = {
    .word = "for",
    .operands = {1, 1},
    .block_records = {FormBlock{.name = "body", .runs = Runs::often}},
    .block_count = 1,
    .gives = Gives::nothing,
    .text = "for {turn} in {0}",
    .to_run = ToRun::turns,
    .check =
        [](const FormCheck& c, const Call& call) {
          const Type& over = c.type(call, 0);
          c.want(over.is(Kind::range) || over.is(Kind::list) || over.is(Kind::view), "no range, list or view");
        },
};

constinit const FormRecord while_ = {
    .word = "while",
    .operands = {0, 0},
    .block_records = {FormBlock{.name = "condition", .runs = Runs::often, .decides = true},
                      FormBlock{.name = "body", .runs = Runs::often, .separator = "do"}},
    .block_count = 2,
    .gives = Gives::nothing,
    .text = "while {block}",
    .takes_time = true,  // it may never end
    .to_run = ToRun::decision,
    .check = check_while,
};

// What repeats itself, as the program says; its block runs as if it stood there alone.
constinit const FormRecord trace = {
    .word = "trace",
    .operands = {0, 0},
    .block_records = {FormBlock{.name = "body"}},
    .block_count = 1,
    .gives = Gives::nothing,
    .text = "trace",
    .check = [](const FormCheck& c, const Call& call) { c.want(!call.blocks[0].result.valid(), "a value of a trace"); },
};

constinit const FormRecord both = logic("both", "&&", Precedence::both);
constinit const FormRecord either = logic("either", "||", Precedence::either);

constinit const FormRecord return_ = {
    .word = "return",
    .operands = {0, 1},
    .gives = Gives::nothing,
    .text = "return {in}",
    .leaves = Leaves::function,
    .to_run = ToRun::result,
    .check =
        [](const FormCheck& c, const Call& call) {
          const Type& result = c.function.result;
          c.want(call.in.empty() ? result.is(Kind::none) : fits(result, c.type(call, 0)), "a result of another type");
        },
};

constinit const FormRecord break_ = jump("break", Leaves::loop);
constinit const FormRecord continue_ = jump("continue", Leaves::turn);

// The block gives an invocation or a value.
constinit const FormRecord run = {
    .word = "run",
    .operands = {1, 1},
    .block_records = {FormBlock{.name = "body"}},
    .block_count = 1,
    .text = "run {block} on {0}",
    .precedence = Precedence::whole,
    .to_run = ToRun::session,
    .to_give = ToGive::running,
    .check = check_run,
};

// ---- between the two programs ----

// What it carries goes to the other program; nothing: an order.
constinit const FormRecord enqueue = {
    .word = "enqueue",
    .payload = Payload::channel,
    .gives = Gives::nothing,
    .dump = "{what} ({in})",
    .talks = true,
};

// The value that the other program put into the channel, or a tuple of several.
constinit const FormRecord dequeue = {
    .word = "dequeue",
    .payload = Payload::channel,
    .operands = {0, 0},
    .gives = Gives::maybe,
    .dump = "{what}",
    .talks = true,
};

}  // namespace taskspec::form_records
