// dropout: elements of x left out at random, the others made larger by as much.
#include <fmt/format.h>

#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/random.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::dropout_op {

namespace {

constexpr Operand operands[] = {{"x"},
                                {.name = "rate", .kind = OperandKind::real},
                                {.name = "seed", .kind = OperandKind::integer, .standard = 0, .at_run = true},
                                stream_operand,
                                call_operand,
                                {.name = "first", .kind = OperandKind::integer, .standard = 0, .at_run = true}};
constexpr std::size_t rate_operand = 1, seed_operand_here = 2, stream_operand_here = 3, first = 5;

Type type(RuleContext& c) {
  if (already_reported(c)) return Type::Kind::error;
  if (const Value* rate = c.constant(rate_operand); rate && !(rate->real() >= 0 && rate->real() < 1))
    refuse(c, "E1003",
           fmt::format("the rate of a dropout is the share that is left out, at least 0 and less than 1, not {}",
                       print(*rate)),
           static_cast<int>(rate_operand));
  check_source(c, seed_operand_here, stream_operand_here);
  if (const Value* number = c.constant(first); number && number->is_integer() && number->integer() < 0)
    refuse(c, "E1003", fmt::format("elements are numbered from 0, not from {}", number->integer()),
           static_cast<int>(first));
  if (!c.type(0).is_tensor()) refuse(c, "E1004", "'dropout' takes a tensor, not " + c.type(0).text(), 0);
  return elementwise(c, "dropout", Takes::floats, 1);
}

std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  return dropout_kernel(call.out[0], call.attributes[rate_operand].real());
}

// The same elements are left out on the way back.
void gradient(GradientBuilder& g) {
  const Value& rate = g.call().attributes[rate_operand];
  g.add(0, g.emit(op_dropout, {g.upstream(), rate, g.input(1), g.input(2), g.input(3), g.input(4)}));
}

// Rows: those of a block are numbered as in the whole.
std::vector<Split> splits(const OpInstance& call) {
  std::vector<Split> rows = row_splits<1>(call);
  for (Split& split : rows) split.numbered = 4;
  return rows;
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "dropout",
    .operands = operands,
    .doc =
        "x with a share of `rate` of its elements left out at random (0), the others divided by 1 - rate, so that the "
        "mean stays: element e is kept where element first + e of the `uniform` f32 of the same seed, stream and "
        "call is less than 1 - rate. Floats (E2002); a rate below 0 or not below 1 is E1003.",
    .example =
        "let x = dropout(fill(f32[8], 3.0), 0.25, seed: 2)\n"
        "print(x.array == (bernoulli(f32[8], seed: 2, p: 0.75) * 4.0).array, dropout(x, 0.0).array == x.array)\n"
        "// expect: true true\n",
    .type = type,
    .kernel = kernel,
    .gradient = {gradient, {.inputs = 0b11110}},
    .lower = Lowering::none("a chip makes no random numbers"),
    .sharding = splits,
    .work = [](const OpInstance& call) { return elementwise_work(call, 32); },
    .fusion = Fusion::opaque};

}  // namespace taskspec::dropout_op
