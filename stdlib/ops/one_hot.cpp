// one_hot: a row of zeros with one 1 for each index.
#include <cstring>

#include "ir/records/scalar.hpp"
#include "stdlib/ops/dispatch.hpp"
#include "stdlib/ops/indexing.hpp"
#include "stdlib/ops/movement.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::one_hot_op {

namespace {

constexpr Operand operands[] = {
    {"i"}, {.name = "n", .kind = OperandKind::integer}, {.name = "p", .kind = OperandKind::string, .standard = "f32"}};

Type type(RuleContext& c) {
  if (already_reported(c)) return Type::Kind::error;
  Type index = index_operand(c, "one_hot", 0);
  const Value* name = c.constant(2);
  if (!name) refuse(c, "E1003", "the precision must be a constant", 2);
  std::optional<Precision> precision = precision_of(name->string());
  if (!precision) refuse(c, "E1001", "unknown precision " + name->string(), 2);
  index.dims.push_back(extent_operand(c, 1));
  return Type::tensor(*precision, index.dims);
}

class OneHot final : public Kernel {
 public:
  explicit OneHot(const OpInstance& call)
      : read_(index_reader(call.in[0].precision)),
        shape_{.extent = call.out[0].extents.back(), .indices = call.in[0].elements()},
        one_(scalar_array(call.out[0].precision == Precision::boolean ? Value(true) : Value(std::int64_t{1}),
                          call.out[0].precision)) {}

  std::optional<Fault> run(const KernelArgs& args) const override {
    if (std::optional<Fault> fault = index_fault(read_, args.in[0], shape_)) return fault;
    const std::size_t width = one_.bytes(), row = width * static_cast<std::size_t>(shape_.extent);
    std::int64_t grain = std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(1, shape_.extent));
    args.parallel.for_each(shape_.indices, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        std::byte* out = args.out[0] + static_cast<std::size_t>(i) * row;
        std::memset(out, 0, row);
        std::memcpy(out + static_cast<std::size_t>(read_(args.in[0], i)) * width, one_.raw(), width);
      }
    });
    return std::nullopt;
  }

 private:
  IndexReader read_;
  AroundAxis shape_;
  Array one_;
};

Work work(const OpInstance& call) {
  return {0, static_cast<double>(call.in[0].bytes()) + static_cast<double>(call.out[0].bytes())};
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "one_hot",
    .operands = operands,
    .doc =
        "For each index of an integer tensor i a row of n numbers on a new last axis: 1 at the index, 0 elsewhere; an "
        "index outside 0..n is E5003. f32 unless the string p names another precision.",
    .example =
        "print(([2, 0] as i32[2]).one_hot(3).array, one_hot(1 as i64, 2, \"bool\").array)\n"
        "// expect: [[0, 0, 1], [1, 0, 0]] [false, true]\n",
    .type = type,
    .kernel = [](const OpInstance& call) -> std::unique_ptr<Kernel> { return std::make_unique<OneHot>(call); },
    .gradient = Gradient::none("its operand is an index"),
    .lower = Lowering::none("cores do not pick by data"),
    .sharding = Sharding::none(with_planner),
    .work = work,
    .fusion = Fusion::movement};

}  // namespace taskspec::one_hot_op
