// split: parts along an axis, equal ones or of given extents.
#include <fmt/format.h>

#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/movement.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::split_op {

namespace {

constexpr Operand operands[] = {
    {"x"}, {.name = "parts", .kind = OperandKind::value}, {.name = "axis", .kind = OperandKind::integer}};
constexpr std::string_view outputs[] = {"part"};
constexpr std::size_t parts = 1, axis = 2;
constexpr std::int64_t most = 65535;

bool is_extents(const Type& type) { return type.is(Type::Kind::list) && type.parts[0].is(Type::Kind::integer); }

void require_count(RuleContext& c, std::int64_t count) {
  if (count < 1 || count > most)
    refuse(c, "E1003", fmt::format("a tensor is split into 1 to {} parts, not {}", most, count), parts);
}

// Equal parts of an axis whose extent may be unknown.
Type equal_parts(RuleContext& c, Type x, std::optional<std::size_t> along, std::int64_t count) {
  require_count(c, count);
  if (along) {
    const std::optional<std::int64_t> extent = x.dims[*along].constant();
    if (extent && *extent % count != 0)
      refuse(c, "E2001", fmt::format("an axis of {} does not split into {} equal parts", *extent, count), parts,
             "parts of other extents are written as a list: [1, 2]");
    x.dims[*along] = extent ? Dim(*extent / count) : c.unknown("extent of a part");
  }
  return Type::tuple(std::vector<Type>(static_cast<std::size_t>(count), x));
}

// Parts of the extents that are written, which fill the axis.
Type written_parts(RuleContext& c, const Type& x, std::optional<std::size_t> along, const List& extents) {
  require_count(c, static_cast<std::int64_t>(extents.size()));
  std::vector<Type> types;
  Dim sum(0);
  for (const Value& extent : extents) {
    if (extent.integer() < 0)
      refuse(c, "E1003", fmt::format("a part has an extent of at least 0, not {}", extent.integer()), parts);
    sum = sum + Dim(extent.integer());
    types.push_back(x);
    if (along) types.back().dims[*along] = Dim(extent.integer());
  }
  if (along)
    c.require_same(x.dims[*along], sum,
                   fmt::format("parts of {} in all do not fill an axis of {}", sum.text(), x.dims[*along].text()));
  return Type::tuple(std::move(types));
}

// A tuple of the parts where their number is known, a list of them where it is not.
Type type(RuleContext& c) {
  if (already_reported(c)) return Type::Kind::error;
  Type x = tensor_operand(c, "split", 0);
  const Type& given = c.type(parts);
  if (!given.is(Type::Kind::integer) && !is_extents(given))
    refuse(c, "E1004", "'split' takes a number of parts or a list of their extents, not " + given.text(), parts);
  const std::optional<std::size_t> along = axis_operand(c, axis, x.rank());
  const Value* known = c.constant(parts);
  if (!along) x.dims = unknown_dims(c, x.rank());
  if (known)
    return known->is_list() ? written_parts(c, x, along, known->list()) : equal_parts(c, x, along, known->integer());
  if (along) x.dims[*along] = c.unknown("extent of a part");
  return Type::list(x);
}

class SplitKernel final : public Kernel {
 public:
  explicit SplitKernel(const OpInstance& call) {
    auto along = static_cast<std::size_t>(call.attributes[axis].integer());
    std::int64_t begin = 0;
    for (const ArrayType& out : call.out) {
      AxisPart part{.axis = along, .count = out.extents[along], .from = begin, .to = 0};
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
  auto along = static_cast<std::size_t>(call.attributes[axis].integer());
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < call.out.size(); ++i) {
    std::int64_t end = begin + call.out[i].extents[along];
    if (!g.has_upstream(i)) {
      begin = end;
      continue;
    }
    GradientBuilder::Var padded = g.emit(op_pad, {g.upstream(i), call.attributes[axis], Value(begin),
                                                  Value(call.in[0].extents[along] - end), Value(std::int64_t{0})});
    g.add(0, padded);
    begin = end;
  }
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "split",
    .serves = Serves::cuts,
    .operands = operands,
    .outputs = outputs,
    .doc =
        "Cuts x along an axis into `parts` equal parts, or into parts of the extents of the list `parts`: a list of "
        "tensors. An axis that does not split evenly, or is not filled by its parts, is E2001. All precisions. Of a "
        "string `split` is the builtin.",
    .example =
        "let x = [[1, 2, 3, 4]] as i32[1, 4]\n"
        "print(x.split(2, 1)[1].array, x.split([1, 3], 1)[1].array)\n"
        "// expect: [[3, 4]] [[2, 3, 4]]\n",
    .type = type,
    .kernel = [](const OpInstance& call) -> std::unique_ptr<Kernel> { return std::make_unique<SplitKernel>(call); },
    .gradient = gradient,
    .lower = lowering::moved,
    .sharding =
        +[](const OpInstance& call) {
          return splits_beside(call, {static_cast<std::size_t>(call.attributes[axis].integer())});
        },
    .work = movement_work,
    .fusion = Fusion::movement};

}  // namespace taskspec::split_op
