// lookup: a table read by small integers, as the chip does it.
#include <algorithm>

#include "ir/base/instruction_sets.hpp"
#include "stdlib/ops/dispatch.hpp"
#include "stdlib/ops/lowerings.hpp"
#include "stdlib/ops/splits.hpp"

namespace taskspec::lookup_op {

namespace {

constexpr Operand operands[] = {{"table"}, {"x"}};

bool is_table_length(std::int64_t length) { return length == 16 || length == 256 || length == 4096 || length == 65536; }

Type type(RuleContext& c) {
  if (already_reported(c)) return Type::Kind::error;
  const Type &table = tensor_operand(c, "lookup", 0, Takes::integers), &x = tensor_operand(c, "lookup", 1);
  if (table.precision != Precision::i8 && table.precision != Precision::i32)
    refuse(c, "E2002", "a table holds i8 or i32, not " + table.text(), 0);
  if (!is_integer(x.precision)) refuse(c, "E2002", "a table is read by integers, not by " + x.text(), 1);
  bool fits = table.rank() == 1 && (!table.dims[0].constant() || is_table_length(*table.dims[0].constant()));
  if (!fits) refuse(c, "E2001", "a table has 16, 256, 4096 or 65536 elements; this is " + table.text(), 0);
  return Type::tensor(table.precision, x.dims);
}

// A negative address counts from the end of the table: two's complement, so its low bits are the position.
template <class T, class X>
TASKSPEC_CLONES void look_up(const T* table, std::int64_t length, const X* x, T* out, std::int64_t count) {
  // Wide enough for both bounds, no wider: narrow ones vectorise better.
  using Address = std::conditional_t<(sizeof(X) < 4), std::int32_t,
                                     std::conditional_t<std::is_same_v<X, std::int32_t>, X, std::int64_t>>;
  const auto low = static_cast<Address>(-length / 2), high = static_cast<Address>(length / 2 - 1);
  const auto mask = static_cast<Address>(length - 1);
  auto address = [](X value) {
    if constexpr (std::is_same_v<X, std::uint64_t>)
      return static_cast<Address>(std::min<X>(value, INT64_MAX));
    else
      return static_cast<Address>(value);
  };
  for (std::int64_t i = 0; i < count; ++i) out[i] = table[std::clamp(address(x[i]), low, high) & mask];
}

template <class T, class X>
class Lookup final : public Kernel {
 public:
  Lookup(std::int64_t length, std::int64_t count) : length_(length), count_(count) {}

  std::optional<Fault> run(const KernelArgs& args) const override {
    const T* table = reinterpret_cast<const T*>(args.in[0]);
    const X* x = reinterpret_cast<const X*>(args.in[1]);
    T* out = reinterpret_cast<T*>(args.out[0]);
    args.parallel.for_each(count_, 32768, [&](std::int64_t begin, std::int64_t end) {
      look_up(table, length_, x + begin, out + begin, end - begin);
    });
    return std::nullopt;
  }

 private:
  std::int64_t length_, count_;
};

std::unique_ptr<Kernel> kernel(const OpInstance& call) {
  const std::int64_t length = call.in[0].extents[0], count = call.in[1].elements();
  return with_taken<Takes::integers>(call.in[1].precision, [&](auto x) -> std::unique_ptr<Kernel> {
    using X = decltype(x);
    if (call.in[0].precision == Precision::i8) return std::make_unique<Lookup<std::int8_t, X>>(length, count);
    return std::make_unique<Lookup<std::int32_t, X>>(length, count);
  });
}

Work work(const OpInstance& call) {
  return {static_cast<double>(call.out[0].elements()),
          static_cast<double>(call.in[1].bytes() + call.out[0].bytes() + call.in[0].bytes())};
}

}  // namespace

extern constinit const OpDef record = OpFields{
    .name = "lookup",
    .operands = operands,
    .doc =
        "table[x] for each element of an integer tensor x, clamped to what the table holds: a table of 2^W elements "
        "(W 4, 8, 12 or 16; i8 or i32) is read from -2^(W-1) to 2^(W-1) - 1, negative ones from its end. `lut(f)` "
        "makes one of a function.",
    .example =
        "let t = iota(16) as i8[16]\n"
        "print(t.lookup([3, -1, 99] as i32[3]).array)\n"
        "// expect: [3, 15, 7]\n",
    .type = type,
    .kernel = kernel,
    .gradient = Gradient::none("its table holds integers"),
    .lower = +[](BlockBuilder& b, const OpInstance&) { b.look_up(0, 1); },
    .sharding = Sharding::none(with_planner),
    .work = work,
    .fusion = Fusion::opaque};

}  // namespace taskspec::lookup_op
