#include "stdlib/ops/products.hpp"

#include <fmt/format.h>

namespace taskspec {

namespace {

// Those whose products are summed in i32. i16 and wider ones keep their own precision.
bool sums_in_i32(Precision p) {
  switch (p) {
    case Precision::tern:
    case Precision::u4:
    case Precision::i8:
    case Precision::u8:
    case Precision::i9:
    case Precision::i28:
      return true;
    default:
      return false;
  }
}

}  // namespace

Precision product_precision(RuleContext& ctx, std::string_view symbol, std::size_t left, std::size_t right) {
  Precision a = ctx.type(left).precision, b = ctx.type(right).precision;
  for (std::size_t operand : {left, right})
    if (ctx.type(operand).precision == Precision::boolean)
      refuse(ctx, "E2002", fmt::format("{} does not take bool", symbol), static_cast<int>(operand),
             "convert it with 'as', as in 'x as i8'");
  if (sums_in_i32(a) && sums_in_i32(b)) return Precision::i32;
  if (a == b) return a;
  refuse(ctx, "E2002",
         fmt::format("precision differs: {} {} {}; convert one side with 'as'", info(a).name, symbol, info(b).name));
}

void require_bias(RuleContext& ctx, std::string_view symbol, std::size_t operand, Precision precision,
                  const Dim& outputs) {
  if (ctx.type(operand).is(Type::Kind::none)) return;
  const Type& bias = tensor_operand(ctx, symbol, operand);
  if (bias.precision != precision)
    refuse(ctx, "E2002",
           fmt::format("precision differs: the bias is {}, the result of {} is {}", info(bias.precision).name, symbol,
                       info(precision).name),
           static_cast<int>(operand), fmt::format("convert it with 'as', as in 'b as {}'", info(precision).name));
  std::vector<Dim> wanted{outputs};
  require_same_dims(ctx, fmt::format("a bias {} for {} outputs", bias.text(), outputs.text()), bias.dims, wanted);
}

Work product_work(const OpInstance& call, std::int64_t depth) {
  double bytes = static_cast<double>(call.out[0].bytes());
  for (const ArrayType& in : call.in) bytes += static_cast<double>(in.bytes());
  return {2 * static_cast<double>(call.out[0].elements()) * static_cast<double>(depth), bytes};
}

}  // namespace taskspec
