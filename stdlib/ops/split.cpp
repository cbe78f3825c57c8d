// split: equal parts along an axis.
#include <fmt/format.h>

#include "stdlib/ops/movement.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec {

extern const OpDef op_pad;  // its reverse is made of these

namespace {

constexpr Operand operands[] = {
    {"x"}, {.name = "parts", .kind = OperandKind::integer}, {.name = "axis", .kind = OperandKind::integer}};
constexpr std::string_view outputs[] = {"part"};

// A tuple of the parts where their number is known, a list of them where it is not.
Type type(RuleContext& c) {
  if (already_reported(c)) return Type::Kind::error;
  Type x = tensor_operand(c, "split", 0);
  std::optional<std::size_t> axis = axis_operand(c, 2, x.rank());
  const Value* count = c.constant(1);
  if (count && (count->integer() < 1 || count->integer() > 65535))
    refuse(c, "E1003", fmt::format("a tensor is split into 1 to 65535 parts, not {}", count->integer()), 1);
  std::optional<std::int64_t> extent = axis ? x.dims[*axis].constant() : std::nullopt;
  if (!axis) x.dims = unknown_dims(c, x.rank());
  if (axis && count && extent) {
    if (*extent % count->integer() != 0)
      refuse(c, "E2001", fmt::format("an axis of {} does not split into {} equal parts", *extent, count->integer()), 1,
             "slices of other lengths are cut by x[a..b]");
    x.dims[*axis] = *extent / count->integer();
  } else if (axis) {
    x.dims[*axis] = c.unknown("extent of a part");
  }
  return count ? Type::tuple(std::vector<Type>(static_cast<std::size_t>(count->integer()), x)) : Type::list(x);
}

class SplitKernel final : public Kernel {
 public:
  explicit SplitKernel(const OpInstance& call) {
    auto axis = static_cast<std::size_t>(call.attributes[2].integer());
    std::int64_t begin = 0;
    for (const ArrayType& out : call.out) {
      AxisPart part{.axis = axis, .count = out.extents[axis], .from = begin, .to = 0};
      copies_.push_back(copy_kernel(element_bytes(call), {axis_part(call.in[0], out, part)}));
      begin += part.count;
    }
  }

  std::optional<Fault> run(const KernelArgs& args) const override {
    for (std::size_t i = 0; i < copies_.size(); ++i)
      if (auto fault = copies_[i]->run({args.in, args.out.subspan(i, 1), args.scratch, args.parallel})) return fault;
    return std::nullopt;
  }

 private:
  std::vector<std::unique_ptr<Kernel>> copies_;
};

void gradient(GradientBuilder& g) {
  const OpInstance& call = g.call();
  if (call.out.size() == 1) return g.add(0, g.upstream(0));
  auto axis = static_cast<std::size_t>(call.attributes[2].integer());
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < call.out.size(); ++i) {
    std::int64_t end = begin + call.out[i].extents[axis];
    if (!g.has_upstream(i)) {
      begin = end;
      continue;
    }
    GradientBuilder::Var padded = g.emit(op_pad, {g.upstream(i), call.attributes[2], Value(begin),
                                                  Value(call.in[0].extents[axis] - end), Value(std::int64_t{0})});
    g.add(0, padded);
    begin = end;
  }
}

}  // namespace

extern constinit const OpDef op_split = OpFields{
    .name = "split",
    .operands = operands,
    .outputs = outputs,
    .doc =
        "Cuts x along an axis into `parts` equal parts: a list of tensors. An axis that does not split evenly is "
        "E2001. All precisions. Of a string `split` is the builtin.",
    .example =
        "let halves = ([[1, 2, 3, 4]] as i32[1, 4]).split(2, 1)\n"
        "print(halves[1].array, len(halves))\n"
        "// expect: [[3, 4]] 2\n",
    .type = type,
    .kernel = [](const OpInstance& call) -> std::unique_ptr<Kernel> { return std::make_unique<SplitKernel>(call); },
    .gradient = gradient,
    .lower = Lowering::later(),
    .sharding = Sharding::none(with_planner),
    .work = movement_work,
    .fusion = Fusion::movement};

}  // namespace taskspec
