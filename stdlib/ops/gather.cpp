// gather: elements along an axis picked by an index tensor.
#include <algorithm>
#include <cstring>

#include "stdlib/ops/indexing.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/movement.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::gather_op {

namespace {

constexpr Operand operands[] = {{"x"}, {"index"}, {.name = "axis", .kind = OperandKind::integer, .standard = 0}};

Type type(RuleContext& ctx) {
  if (already_reported(ctx)) return Type::Kind::error;
  Type x = tensor_operand(ctx, "gather", 0);
  const Type& index = index_operand(ctx, "gather", 1);
  std::optional<std::size_t> axis = axis_operand(ctx, 2, x.rank());
  if (x.rank() == 0) refuse(ctx, "E2004", "gather picks along an axis, and " + x.text() + " has none", 0);
  if (!axis) return Type::tensor(x.precision, unknown_dims(ctx, x.rank() - 1 + index.rank()));
  auto place = x.dims.erase(x.dims.begin() + static_cast<std::ptrdiff_t>(*axis));
  x.dims.insert(place, index.dims.begin(), index.dims.end());
  return x;
}

class Gather final : public Kernel {
 public:
  Gather(AroundAxis shape, IndexReader read, std::size_t element) : shape_(shape), read_(read), element_(element) {}

  std::optional<Fault> run(const KernelArgs& args) const override {
    if (std::optional<Fault> fault = index_fault(read_, args.in[1], shape_)) return fault;
    std::size_t line = static_cast<std::size_t>(shape_.inner) * element_;
    std::int64_t grain = std::max<std::int64_t>(1, 32768 / std::max<std::int64_t>(1, shape_.inner));
    args.parallel.for_each(shape_.outer * shape_.indices, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        std::int64_t from = i / shape_.indices * shape_.extent + read_(args.in[1], i % shape_.indices);
        std::memcpy(args.out[0] + static_cast<std::size_t>(i) * line,
                    args.in[0] + static_cast<std::size_t>(from) * line, line);
      }
    });
    return std::nullopt;
  }

 private:
  AroundAxis shape_;
  IndexReader read_;
  std::size_t element_;
};

std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  auto axis = static_cast<std::size_t>(call.attributes[2].integer());
  return std::make_unique<Gather>(around_axis(call.in[0], axis, call.in[1]), index_reader(call.in[1].precision),
                                  element_bytes(call));
}

void gradient(GradientBuilder& g) {
  Value zeros(Type::of(g.call().in[0].type()));
  g.add(0, g.emit(op_scatter_add,
                  {g.emit(op_fill, {zeros, Value(0.0)}), g.input(1), g.upstream(), g.call().attributes[2]}));
}

// Axes of the index; and those of x along which nothing is picked.
std::vector<Split> splits(const OpInstance& call) {
  const Extents &x = call.in[0].extents, &index = call.in[1].extents;
  const int axis = static_cast<int>(call.attributes[2].integer()), rank = static_cast<int>(index.size());
  std::vector<Split> splits;
  for (int d = 0; d < rank; ++d)
    if (index[static_cast<std::size_t>(d)] > 1) splits.push_back({{Split::whole, d}, {axis + d}});
  for (int d = 0; d < static_cast<int>(x.size()); ++d)
    if (d != axis && x[static_cast<std::size_t>(d)] > 1)
      splits.push_back({{d, Split::whole}, {d < axis ? d : d - 1 + rank}});
  return splits;
}

void lower(BlockBuilder& b, const OpInstance&) {
  if (b.is_fixed(0) || !b.is_fixed(1))
    b.refuse("cores do not pick by data", "an index that is known: then it is an edge; else the host can run it");
  b.move();
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "gather",
    .serves = Serves::picks,
    .operands = operands,
    .doc =
        "Picks elements of x along an axis by an integer tensor, whose shape takes the place of that axis: a rank-0 "
        "index drops it, as x[i] does. An index outside the axis is E5003. All precisions of x, all integers for "
        "the index.",
    .example =
        "let m = [[1, 2], [3, 4], [5, 6]] as i32[3, 2]\n"
        "let rows = [2, 0] as i64[2]\n"
        "print(m.gather(rows, 0).array, m.gather(1 as i64, 1).array)\n"
        "// expect: [[5, 6], [1, 2]] [2, 4, 6]\n",
    .type = type,
    .kernel = kernel,
    .gradient = {gradient, {.inputs = 0b10}},
    .lower = lower,
    .sharding = splits,
    .work = movement_work,
    .fusion = Fusion::movement};

}  // namespace taskspec::gather_op
