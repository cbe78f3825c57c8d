// fill: a tensor with one value everywhere.
#include <cstring>

#include "ir/records/scalar.hpp"
#include "stdlib/ops/makers.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::fill_op {

namespace {

class FillKernel final : public Kernel {
 public:
  explicit FillKernel(const OpInstance& call)
      : element_(scalar_array(call.attributes[1], call.out[0].precision)), count_(call.out[0].elements()) {}

  std::optional<Fault> run(const KernelArgs& args) const override {
    auto fill = [&](auto bits) {
      std::memcpy(&bits, element_.raw(), sizeof bits);
      auto* out = reinterpret_cast<decltype(bits)*>(args.out[0]);
      args.parallel.for_each(count_, makers_grain,
                             [&](std::int64_t begin, std::int64_t end) { std::fill(out + begin, out + end, bits); });
      return std::optional<Fault>();
    };
    return with_width(element_.precision(), fill);
  }

 private:
  Array element_;
  std::int64_t count_;
};

constexpr Operand operands[] = {{.name = "T", .kind = OperandKind::type}, {.name = "v", .kind = OperandKind::value}};

Type type(RuleContext& c) {
  if (already_reported(c)) return Type::Kind::error;
  Type result = written_tensor(c, "fill", 0);
  const Type& value = c.type(1);
  if (!value.is_number() && !value.is(Type::Kind::boolean))
    refuse(c, "E1004", "'fill' takes a host number or bool, not " + value.text(), 1,
           value.is_tensor() ? "a tensor of one element is stretched by 'broadcast'" : "");
  require_fit(c, "fill", 1, result.precision);
  return result;
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "fill",
    .serves = Serves::fills,
    .operands = operands,
    .doc =
        "A tensor of the written type with the same host number or bool everywhere. The number must be exact in an "
        "integer precision (E2003), a float does not go into one (E2002). All precisions.",
    .example =
        "print(fill(f32[2, 2], 0.5).array)\n"
        "// expect: [[0.5, 0.5], [0.5, 0.5]]\n",
    .type = type,
    .kernel = [](const OpInstance& call) -> std::unique_ptr<Kernel> { return std::make_unique<FillKernel>(call); },
    .gradient = Gradient::none("it has no tensor operands"),
    .lower = Lowering::none("it makes numbers before anything runs"),
    .sharding = +[](const OpInstance& call) { return written_at(0, pointwise_splits(call)); },
    .work = maker_work,
};

}  // namespace taskspec::fill_op
