// scatter_add: the reverse of gather, adding where indices meet.
#include <algorithm>
#include <cstring>

#include "stdlib/kernels/product.hpp"
#include "stdlib/kernels/storage.hpp"
#include "stdlib/ops/indexing.hpp"
#include "stdlib/ops/movement.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::scatter_add_op {

namespace {

constexpr Operand operands[] = {
    {"x"}, {"index"}, {"updates"}, {.name = "axis", .kind = OperandKind::integer, .standard = 0}};

Type type(RuleContext& ctx) {
  if (already_reported(ctx)) return Type::Kind::error;
  const Type& x = tensor_operand(ctx, "scatter_add", 0, Takes::numbers);
  const Type& index = index_operand(ctx, "scatter_add", 1);
  const Type& updates = tensor_operand(ctx, "scatter_add", 2, Takes::numbers);
  constexpr std::size_t added[] = {0, 2};
  common_precision(ctx, "scatter_add", added, Takes::numbers);
  if (x.rank() == 0) refuse(ctx, "E2004", "scatter_add works along an axis, and " + x.text() + " has none", 0);
  if (std::optional<std::size_t> axis = axis_operand(ctx, 3, x.rank())) {
    Type wanted = x;
    auto place = wanted.dims.erase(wanted.dims.begin() + static_cast<std::ptrdiff_t>(*axis));
    wanted.dims.insert(place, index.dims.begin(), index.dims.end());
    require_same_dims(ctx, wanted.text() + " and " + updates.text(), wanted.dims, updates.dims);
  }
  return x;
}

// What sums are made with: integers wrap, f16 goes through float.
template <class T>
auto added(T a, T b) {
  if constexpr (std::is_same_v<T, Half>)
    return convert<Half>(convert<float>(a) + convert<float>(b));
  else if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint64_t>(a) + static_cast<std::uint64_t>(b));
  else
    return a + b;
}

// In order of the indices, since several may hit one element: each part of the work has rows of the result of its own,
// and picks from all indices those of its rows.
template <class T>
class ScatterAdd final : public Kernel {
 public:
  ScatterAdd(AroundAxis shape, IndexReader read) : shape_(shape), read_(read) {
    constexpr std::int64_t most = 4;        // each reads all indices
    constexpr double work_per_element = 4;  // reading, adding and writing, in operations of a product
    const auto elements = static_cast<double>(shape.outer * (shape.extent + shape.indices) * shape.inner);
    parts_ = std::min(most, lane_count(shape.extent, work_per_element * elements));
  }

  std::optional<Fault> run(const KernelArgs& args) const override {
    if (std::optional<Fault> fault = index_fault(read_, args.in[1], shape_)) return fault;
    args.parallel.for_each(parts_, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t part = begin; part < end; ++part)
        add(args, shape_.extent * part / parts_, shape_.extent * (part + 1) / parts_);
    });
    return std::nullopt;
  }

 private:
  // To rows [first, last) of each plane.
  void add(const KernelArgs& args, std::int64_t first, std::int64_t last) const {
    const T *x = reinterpret_cast<const T*>(args.in[0]), *updates = reinterpret_cast<const T*>(args.in[2]);
    T* out = reinterpret_cast<T*>(args.out[0]);
    const std::int64_t plane = shape_.extent * shape_.inner, count = (last - first) * shape_.inner;
    for (std::int64_t o = 0; o < shape_.outer; ++o) {
      const std::int64_t rows = o * plane + first * shape_.inner;
      std::memcpy(out + rows, x + rows, static_cast<std::size_t>(count) * sizeof(T));
      for (std::int64_t k = 0; k < shape_.indices; ++k, updates += shape_.inner) {
        const std::int64_t row = read_(args.in[1], k);
        if (row < first || row >= last) continue;
        T* line = out + o * plane + row * shape_.inner;
        for (std::int64_t i = 0; i < shape_.inner; ++i) line[i] = added(line[i], updates[i]);
      }
    }
  }

  AroundAxis shape_;
  IndexReader read_;
  std::int64_t parts_;
};

std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  auto axis = static_cast<std::size_t>(call.attributes[3].integer());
  return with_storage(call.out[0].precision, [&](auto element) -> std::unique_ptr<Kernel> {
    return std::make_unique<ScatterAdd<decltype(element)>>(around_axis(call.in[0], axis, call.in[1]),
                                                           index_reader(call.in[1].precision));
  });
}

void gradient(GradientBuilder& g) {
  g.add(0, g.upstream());
  g.add(2, g.emit(op_gather, {g.upstream(), g.input(1), g.call().attributes[3]}));
}

Work work(const OpInstance& call) {
  return {static_cast<double>(call.in[2].elements()),
          static_cast<double>(2 * call.in[0].bytes() + call.in[1].bytes() + 3 * call.in[2].bytes())};
}

// Indices with their updates, which are added up; and axes along which nothing is picked.
std::vector<Split> splits(const OpInstance& call) {
  const Extents &x = call.in[0].extents, &index = call.in[1].extents;
  const int axis = static_cast<int>(call.attributes[3].integer()), rank = static_cast<int>(index.size());
  std::vector<Split> splits;
  for (int d = 0; d < rank; ++d)
    if (index[static_cast<std::size_t>(d)] > 1)
      splits.push_back({.in = {Split::whole, d, axis + d}, .out = {Split::whole}, .sums = true, .once = 0});
  for (int d = 0; d < static_cast<int>(x.size()); ++d)
    if (d != axis && x[static_cast<std::size_t>(d)] > 1)
      splits.push_back({{d, Split::whole, d < axis ? d : d - 1 + rank}, {d}});
  return splits;
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "scatter_add",
    .operands = operands,
    .doc =
        "x with updates added at the places along an axis that an integer tensor names, in the order of the indices; "
        "the gradient of gather. Updates have the shape that gather would give (E2001) and the precision of x "
        "(E2002). An index outside the axis is E5003. Integers and floats.",
    .example =
        "let x = [10, 20, 30] as i32[3]\n"
        "let at = [2, 0, 2] as i64[3]\n"
        "print(x.scatter_add(at, [1, 2, 3] as i32[3], 0).array)\n"
        "// expect: [12, 20, 34]\n",
    .type = type,
    .kernel = kernel,
    .gradient = {gradient, {.inputs = 0b10}},
    .lower = Lowering::none("cores do not pick by data"),
    .sharding = splits,
    .work = work,
    .fusion = Fusion::opaque};

}  // namespace taskspec::scatter_add_op
