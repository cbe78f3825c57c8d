#include <fmt/format.h>

#include <algorithm>

#include "frontend/check/arguments.hpp"
#include "frontend/check/block_reader.hpp"
#include "frontend/check/messages.hpp"

namespace taskspec::checking {

namespace {

constexpr std::int64_t most_delay = 1 << 20;

}  // namespace

void BlockMoves::add_move(BlockEdge& edge, const ast::IrMove& move) {
  const std::string& name = move.name.text;
  if (name == "delay") return add_delay(edge, move);
  if (name == "trigger") return add_trigger(edge, move);
  if (name == "number") return add_number(edge, move);
  const RearrangeDef* def = rearrangement_named(name);
  if (!def) {
    std::vector<std::string> names{"delay", "number", "trigger"};
    for (const RearrangeDef* one : all_rearrangements()) names.emplace_back(one->name);
    unknown(move.name, "rearrangement", names);
    return;
  }
  const std::optional<List> given = arguments(move, def->operands);
  if (!given) return;
  Result<std::vector<std::int64_t>> numbers = def->numbers(*given, move.span);
  diags_.append(numbers.diags());
  failed_ = failed_ || !numbers;
  if (numbers) edge.moves.push_back({def, *std::move(numbers), move.span});
}

// A value for each operand, defaults where none is written; those of a variadic one as a list.
std::optional<List> BlockMoves::arguments(const ast::IrMove& move, std::span<const taskspec::Operand> operands) {
  std::vector<ParameterName> names;
  for (const taskspec::Operand& operand : operands)
    names.push_back({operand.name, operand.standard.kind != Default::Kind::none, operand.variadic});
  const auto places =
      place_arguments(diags_, {fmt::format("'{}'", move.name.text), {}, names, 0}, move.args, move.span);
  if (!places) return failed_ = true, std::nullopt;
  List given;
  for (const taskspec::Operand& operand : operands)
    given.push_back(operand.variadic ? Value(List()) : operand.standard.value());
  for (std::size_t i = 0; i < move.args.size(); ++i) {
    const std::optional<Value> value = known(*move.args[i].value);
    if (!value) return std::nullopt;
    const std::size_t at = std::min((*places)[i], operands.size() - 1);
    if (operands[at].variadic)
      given[at].unique_list().push_back(*value);
    else
      given[at] = *value;
  }
  return given;
}

// delay(2), delay(1, initial: [0, 0, 1]): what comes before there is a value.
void BlockMoves::add_delay(BlockEdge& edge, const ast::IrMove& move) {
  const bool has_initial = move.args.size() == 2 && move.args[1].name && move.args[1].name->text == "initial";
  if (move.args.empty() || move.args[0].name || (move.args.size() > 1 && !has_initial)) {
    refuse("E1003", move.span, "'delay' takes the number of time steps, and initial: the values before there are some")
        .help("delay(1)");
  } else if (const std::optional<std::int64_t> steps = integer(*move.args[0].value)) {
    if (*steps < 1 || *steps > most_delay)
      refuse("E1003", move.args[0].span, fmt::format("a delay is 1 to {} time steps, not {}", most_delay, *steps));
    else
      edge.delay += static_cast<std::int32_t>(*steps);
    if (has_initial) read_initial(edge, *move.args[1].value);
  }
}

// One number for all, or nested lists.
void BlockMoves::read_initial(BlockEdge& edge, const ast::Expr& written) {
  const std::optional<Value> value = known(written);
  if (!value) return;
  const TaskBlock& source = (*graph_)[edge.from.block];
  try {
    const ArrayType type{source.precision, edge.from.box.size};
    Array initial = Array::make(type);
    if (value->is_integer())
      for (std::int64_t i = 0; i < initial.elements(); ++i) initial.set_integer(i, value->integer());
    else
      initial = array_of(*value, source.precision);
    if (initial.type() == type) return static_cast<void>(edge.initial = std::move(initial));
    refuse("E2001", written.span, fmt::format("this is {}, the edge carries {}", initial.type().text(), type.text()));
  } catch (const Error& error) {
    file_.world.report(error, written.span);
    failed_ = true;
  }
}

void BlockMoves::add_number(BlockEdge& edge, const ast::IrMove& move) {
  const std::optional<std::int64_t> number = move.args.size() == 1 ? integer(*move.args[0].value) : std::nullopt;
  if (number && in_32_bits(*number, move.args[0].span))
    edge.number = static_cast<std::int32_t>(*number);
  else if (move.args.size() != 1)
    refuse("E1003", move.span, "'number' takes that of the edge in its file");
}

void BlockMoves::add_trigger(BlockEdge& edge, const ast::IrMove& move) {
  if (!move.args.empty()) refuse("E1003", move.span, "'trigger' takes nothing").help("trigger()");
  edge.trigger = true;
}
}  // namespace taskspec::checking
