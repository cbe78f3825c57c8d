// cast: `as`, between precisions and from host values to tensors.
#include <cstring>

#include "ir/records/scalar.hpp"
#include "stdlib/ops/convert.hpp"
#include "stdlib/ops/elementwise.hpp"
#include "stdlib/ops/gradients.hpp"
#include "stdlib/ops/list_shape.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/records.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::cast_op {

namespace {

// ---- type

Type to_host(RuleContext& c, const Type& from, const Type& to) {
  if (from.is_tensor())
    refuse(c, "E1301", "a tensor does not become " + to.text() + " by 'as'; host code needs an explicit receive", 0,
           fmt::format("receive it with .scalar; the body of a task has none: there it is 'as {}'",
                       to.is(Type::Kind::integer) ? "i64"
                       : to.is(Type::Kind::real)  ? "f64"
                                                  : "bool"));
  bool fine = (from.is_number() || from.is(Type::Kind::boolean)) && (to.is_number() || to.is(Type::Kind::boolean));
  if (!fine) refuse(c, "E1004", "'as' does not convert " + from.text() + " to " + to.text(), 0);
  return to.kind;
}

// A bare precision keeps the shape, whatever it is; a written shape must be the one that is there.
Type of_shape(RuleContext& c, const Type& to, const std::vector<Dim>& dims) {
  if (to.rank() == 0) return Type::tensor(to.precision, dims);
  require_same_dims(c, c.type(0).text() + " as " + to.text(), dims, to.dims);
  return to;
}

Type type(RuleContext& c) {
  if (already_reported(c)) return Type::Kind::error;
  const Type &from = c.type(0), &to = c.type(1).parts[0];
  if (!to.is_tensor()) return to_host(c, from, to);
  require_extents(c, to.dims, 1);
  if (from.is_tensor()) return of_shape(c, to, from.dims);
  std::size_t depth = list_depth(from);
  const Type& element = list_element_type(from);
  if (!element.is_number() && !element.is(Type::Kind::boolean) && !element.is(Type::Kind::error))
    refuse(c, "E1004", "'as' does not convert " + from.text() + " to " + to.text(), 0);
  if (const Value* value = c.constant(0)) {
    if (depth > 0) return of_shape(c, to, list_dims(c, 0, *value, depth));
  } else if (depth > 0 && to.rank() == 0) {
    std::vector<Dim> dims;
    for (std::size_t d = 0; d < depth; ++d) dims.push_back(c.unknown("extent of a list"));
    return Type::tensor(to.precision, dims);
  }
  // A scalar fills every shape of one element; of a list that is not known yet the rank is.
  std::vector<Dim> dims = depth > 0 ? to.dims : std::vector<Dim>(to.rank(), Dim(1));
  if (depth > 0 && depth != to.rank()) dims.resize(depth, Dim(1));
  return of_shape(c, to, dims);
}

// ---- kernels

template <class In, class Out>
struct Cast {
  static constexpr bool one_set = !is_float_storage<In> && !is_float_storage<Out>;
  Convert<Computed<In>, Computed<Out>> convert;

  Computed<Out> operator()(Computed<In> x) const {
    if constexpr (std::is_same_v<In, double> && std::is_same_v<Out, Half>)
      return rounded_to_odd(x);
    else
      return convert(x);
  }
};

template <class In>
struct ToBool {
  static constexpr bool one_set = !is_float_storage<In>;
  bool operator()(Computed<In> x) const { return x != 0; }
};

std::unique_ptr<Kernel> between_precisions(const OpInstance& call) {
  Precision to = call.out[0].precision;
  return with_storage(call.in[0].precision, [&](auto x) -> std::unique_ptr<Kernel> {
    using In = decltype(x);
    if (to == Precision::boolean) return map_kernel<std::uint8_t, In>(call, ToBool<In>{});
    return with_storage(to, [&](auto y) -> std::unique_ptr<Kernel> {
      using Out = decltype(y);
      return map_kernel<Out, In>(call, Cast<In, Out>{Convert<Computed<In>, Computed<Out>>(to)});
    });
  });
}

// A host value, converted once when the kernel is made.
class ConstantKernel final : public Kernel {
 public:
  explicit ConstantKernel(Array array) : array_(std::move(array)) {}
  std::optional<Fault> run(const KernelArgs& args) const override {
    std::memcpy(args.out[0], array_.raw(), array_.bytes());
    return std::nullopt;
  }

 private:
  Array array_;
};

Array as_written(const Value& value, const Extents& extents) {
  if (value.is_array()) return value.array();
  Array array = Array::make({natural_precision(value), extents});
  std::int64_t position = 0;
  store_leaves(value, array, position);
  return array;
}

std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  if (!call.in.empty()) return between_precisions(call);
  Array source = as_written(call.attributes[0], call.out[0].extents);
  Array result = Array::make(call.out[0]);
  ArrayType source_type{source.precision(), call.out[0].extents};
  const std::byte* in[] = {source.raw()};
  std::byte* out[] = {result.raw()};
  Serial serial;
  between_precisions({call.op, {source_type}, {{}, call.attributes[1]}, call.out})->run({in, out, nullptr, serial});
  return std::make_unique<ConstantKernel>(std::move(result));
}

// ---- gradient

void gradient(GradientBuilder& g) {
  if (g.call().in.empty() || !differentiable(g, 0) || !is_float(g.call().out[0].precision)) return;
  g.add(0, g.emit(op_cast, {g.upstream(), Value(Type::tensor(g.call().in[0].precision, {}))}));
}

constexpr Operand operands[] = {{.name = "x", .kind = OperandKind::value}, {.name = "T", .kind = OperandKind::type}};

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "cast",
    .symbol = "as",
    .operands = operands,
    .doc =
        "x in another precision: rounded half to even, saturated for integers, nan to 0; bool is x != 0. Makes a "
        "tensor of a host number, bool or nested list, whose lists must be rectangular (E5004). The number of "
        "elements never changes: a written shape must be that of x (E2001, or a guard), a bare precision keeps it. "
        "Also between host numbers and bools. Every precision.",
    .example =
        "print(([-1.5, 2.5, 300.0] as f32[3] as i8).array, 2.5 as int)\n"
        "// expect: [-2, 2, 127] 2\n",
    .type = type,
    .kernel = kernel,
    .scalar = scalar::convert,
    .gradient = gradient,
    .lower = +[](BlockBuilder& b, const OpInstance& call) { b.convert(call.out[0].precision); },
    .sharding = +[](const OpInstance& call) { return written_at(1, pointwise_splits(call)); },
    .work = work_per_element<>,
    .fusion = Fusion::pointwise,
};

}  // namespace taskspec::cast_op
