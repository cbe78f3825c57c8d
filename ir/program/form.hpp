// The forms of calls: one record for each kind of expression and statement of the typed program. What all of them are
// asked (how many operands, what it is called, how it is written, what it needs to run) stands in the record, and the
// verifier, the printers, JSON, the cutting of programs, reports and the interpreter read it there.
//
//   if_     word "if", one operand, blocks {then, else}, gives nothing
//   item    word "item", two operands, written "{t0}[{1}]", may fail
//
// To add one: a record in forms/, a line in forms.def; the checker makes calls of it, the interpreter runs them.
#pragma once
#include <array>
#include <cstdint>
#include <span>
#include <string_view>

namespace taskspec {

struct Call;
struct FormRecord;
class FormCheck;

// A handle of one record: small, compared by identity. `Form::if_` and the like are those of the language.
class Form {
 public:
  constexpr explicit Form(const FormRecord& record) : record_(&record) {}
  constexpr const FormRecord* operator->() const { return record_; }
  constexpr const FormRecord& operator*() const { return *record_; }
  friend constexpr bool operator==(Form, Form) = default;

#define TASKSPEC_FORM(name) static const Form name;
#include "ir/program/forms.def"
#undef TASKSPEC_FORM

 private:
  const FormRecord* record_;
};

// Which of its own members a call of this form fills in.
enum class Payload : std::uint8_t {
  none,
  value,      // of a constant
  parameter,  // index: of this function
  symbol,     // a dimension variable
  type,       // its type says which
  variable,
  global,  // module and variable
  op,
  builtin,
  part,     // index: of a tuple
  field,    // name
  receive,  // index: Receive
  agent,
  callee,
  output,   // index: of an invocation
  channel,  // index: between the two programs
};

// How tightly a text holds together: an operand of a lower one gets brackets.
enum class Precedence : std::uint8_t {
  whole,
  compose,
  either,
  both,
  compare,
  bits,
  range,
  sum,
  product,
  cast,
  prefix,
  tight
};

struct FormBlock {
  // often: of a loop. Where the block begins with a `loop` call, that is the turn, and the operand a range or a list:
  // the `check` of a form with another operand refuses such a call.
  enum class Runs : std::uint8_t { once, maybe, often };
  std::string_view name = "";  // in graphs that are drawn: "then"
  Runs runs = Runs::once;
  bool decides = false;             // its result is the condition of the call; what it makes is seen by the next block
  bool may_be_empty = false;        // and then nobody writes it
  std::string_view separator = "";  // what stands before it in a dump: "else"
};

struct FormRecord {
  std::string_view word;  // in dumps, messages and JSON
  Payload payload = Payload::none;
  struct Count {
    std::size_t least = 0, most = SIZE_MAX;
  } operands = {};
  bool defaults = false;  // operands may be left out
  std::array<FormBlock, 2> block_records = {};
  std::size_t block_count = 0;
  enum class Gives : std::uint8_t { value, maybe, nothing } gives = Gives::value;

  // ---- words ----
  // Behind the word in a dump: {what} names the payload, {in} are the operands, {first} and {rest} one and the others,
  // {of} all of them with that word where there are any.
  std::string_view dump = "{in}";
  // As in a .task file: {what} and {in} as above, {0} {1} {2} operands, {t0} the first one with brackets where it needs
  // them, {rest} those behind it, {indices} the same as [i][j], {member} the callee with its agent, {turn} the variable
  // of a loop, {block} the result of its block. Empty: the words of the payload.
  std::string_view text = "";
  // Instead of `text`: what stands between two operands, or between an operand and the result of its block: "..".
  std::string_view infix = "";
  Precedence precedence = Precedence::tight;

  // ---- what it does ----
  bool rearranges = false;  // puts values together or takes them apart; unused, nobody misses it
  // Takes no time where it stands, enters no function, prints nothing.
  bool cheap = false;
  enum class Fails : std::uint8_t { never, maybe, rule } fails = Fails::never;  // rule: its op, builtin or callee knows
  bool takes_time = false;  // or may not end: not to be left out, whatever it gives
  enum class Variable : std::uint8_t { none, reads, writes, changes } variable = Variable::none;
  enum class Leaves : std::uint8_t { nothing, turn, loop, function } leaves = Leaves::nothing;
  enum class Enters : std::uint8_t { nothing, callee, value } enters = Enters::nothing;  // a function
  bool calls_back = false;    // the graph program calls the functions among its operands, as often as it needs to
  bool talks = false;         // with the other program
  bool of_graph = false;      // as a host value: only the graph program knows it
  bool changes_data = false;  // of the graph, which somebody may read later: it runs, whoever uses what it gives
  // Whether both programs may compute the same host value; operands: where they may for those and for the results of
  // its blocks; rule: its builtin or variable knows.
  enum class Again : std::uint8_t { never, always, operands, rule } again = Again::never;
  // What a side needs that runs such a call. decision: its operand, or the result of the block that `decides`; turns:
  // its operand, a range or a list, of which the number of turns is enough where nobody reads the `loop` call; result:
  // its operand, where somebody wants what the function gives; session: in the graph program its operand and its block.
  enum class ToRun : std::uint8_t { nothing, operands, decision, turns, result, session } to_run = ToRun::nothing;
  // And one that wants its value, too.
  enum class ToGive : std::uint8_t {
    operands,
    variable,  // what is written into it
    global,
    parameter,
    turn,     // of the loop around it
    entered,  // functions
    builtin,  // as its `runs_in` says
    extents,  // host values that its type names
    running   // nothing but what to_run says
  } to_give = ToGive::operands;

  // Operands, blocks and type are of the kinds that it works on: what a file from outside could have undone.
  void (*check)(const FormCheck& check, const Call& call) = nullptr;

  constexpr std::span<const FormBlock> blocks() const { return {block_records.data(), block_count}; }
  constexpr bool repeats() const {  // a loop
    for (const FormBlock& block : blocks())
      if (block.runs == FormBlock::Runs::often) return true;
    return false;
  }
  constexpr bool chooses() const {  // one of its blocks runs
    return block_count == 2 && block_records[0].runs == FormBlock::Runs::maybe;
  }
  constexpr bool decides_inside() const {  // what decides how often its blocks run is made by one of them
    for (const FormBlock& block : blocks())
      if (block.decides) return true;
    return false;
  }
  constexpr bool is_statement() const { return gives == Gives::nothing; }
  constexpr bool has_body() const { return is_statement() && block_count > 0; }
  constexpr bool is_control() const {  // if, for, while: it decides how often its blocks run
    return has_body() && block_records[0].runs != FormBlock::Runs::once;
  }
  constexpr bool writes() const { return variable == Variable::writes || variable == Variable::changes; }
  constexpr bool reads() const { return variable == Variable::reads || variable == Variable::changes; }
  // It names something that is there already: no operands, no work.
  constexpr bool is_name() const { return operands.most == 0 && gives == Gives::value; }
};

namespace form_records {
#define TASKSPEC_FORM(name) extern const FormRecord name;
#include "ir/program/forms.def"
#undef TASKSPEC_FORM
}  // namespace form_records

#define TASKSPEC_FORM(name) inline constexpr Form Form::name{form_records::name};
#include "ir/program/forms.def"
#undef TASKSPEC_FORM

std::span<const Form> all_forms();  // those of the language, in the order of forms.def

}  // namespace taskspec
