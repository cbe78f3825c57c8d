// iota: 0, 1, 2, ... as a tensor.
#include "stdlib/ops/makers.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::iota_op {

namespace {

class IotaKernel final : public Kernel {
 public:
  explicit IotaKernel(std::int64_t count) : count_(count) {}

  std::optional<Fault> run(const KernelArgs& args) const override {
    auto* out = reinterpret_cast<std::int64_t*>(args.out[0]);
    args.parallel.for_each(count_, makers_grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) out[i] = i;
    });
    return std::nullopt;
  }

 private:
  std::int64_t count_;
};

constexpr Operand operands[] = {{.name = "n", .kind = OperandKind::integer}};

Type type(RuleContext& c) {
  if (already_reported(c)) return Type::Kind::error;
  std::optional<Dim> n = c.dim(0);
  if (!n) refuse(c, "E1004", "'iota' takes an int, not " + c.type(0).text(), 0);
  require_extents(c, {&*n, 1}, 0);
  return Type::tensor(Precision::i64, {*n});
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "iota",
    .operands = operands,
    .doc = "The numbers 0, 1, ..., n - 1 as i64[n]. A negative n is E2004.",
    .example =
        "print(iota(4).array)\n"
        "// expect: [0, 1, 2, 3]\n",
    .type = type,
    .kernel = [](const OpInstance& call) -> std::unique_ptr<Kernel> {
      return std::make_unique<IotaKernel>(call.out[0].elements());
    },
    .gradient = Gradient::none("it has no tensor operands"),
    .lower = Lowering::none("it makes numbers before anything runs"),
    .sharding = Sharding::none(numbered_elements),
    .work = maker_work,
};

}  // namespace taskspec::iota_op
