// Reductions: one fold per op; axes, blocks and threads are written here once.
//
//   template <class T> struct Longest {                      // T: how an element is stored
//     using Acc = float;                                     // what is carried along
//     using Out = float;                                     // how a result is stored
//     static constexpr bool lanes = true;                    // elements may be folded in 32 separate lanes
//     static Acc start();                                    // of no elements at all
//     static Acc add(Acc a, T x, std::int64_t position);     // position along the reduced axis
//     static Acc merge(Acc a, Acc b);                        // b comes after a
//     static Out finish(Acc a, std::int64_t count);          // of `count` elements
//   };
//
// What is folded with what depends on the shape alone, so results are the same on any number of threads.
#pragma once
#include <array>

#include "ir/base/instruction_sets.hpp"
#include "stdlib/ops/dispatch.hpp"

namespace taskspec {

inline constexpr Operand reduction_operands[] = {
    {"x"}, {.name = "axis", .kind = OperandKind::axes, .standard = Default::absent()}};

// The shape that remains: reduced axes are 1; without an axis, rank 0.
std::vector<Dim> reduced_dims(RuleContext& c, const std::vector<Dim>& dims);

// Demands at least one element along each reduced axis (E2004): max has no value of nothing.
void require_elements(RuleContext& c, std::string_view name);

// The element type of a host list, the only host operand of sum, max and min: else E1004.
Type list_element(RuleContext& c, std::string_view name, bool strings);

// The axes that this call reduces.
std::vector<std::size_t> reduced_axes(const OpInstance& call);

Work reduction_work(const OpInstance& call);

// ---- the kernel -----------------------------------------------------------------------------------

class ReductionKernel : public Kernel {
 public:
  std::size_t scratch_bytes() const final { return regions_[0] + regions_[1]; }
  std::optional<Fault> run(const KernelArgs& args) const final;

 protected:
  ReductionKernel(const OpInstance& call, std::size_t acc_bytes);

  // `rows` rows of `columns` elements, one row `step` elements after the other; the first has this position.
  struct Piece {
    std::int64_t rows, columns, step, position;
  };
  virtual void fold(const Piece& piece, const std::byte* in, std::byte* acc) const = 0;   // elements
  virtual void merge(const Piece& piece, const std::byte* in, std::byte* acc) const = 0;  // accumulators
  virtual void finish(const std::byte* acc, std::int64_t begin, std::int64_t end, std::byte* out) const = 0;

  std::int64_t folded() const { return folded_; }  // elements that go into one result

 private:
  // [outer, rows, inner] to [outer, blocks, inner], where a block is `block` rows.
  struct Pass {
    std::int64_t outer, rows, inner, block;
    std::int64_t blocks() const;
    std::int64_t results() const { return outer * blocks() * inner; }
  };
  void add_passes(std::int64_t outer, std::int64_t rows, std::int64_t inner);
  void run_pass(const Pass& pass, bool first, const std::byte* in, std::byte* out, Parallel& parallel) const;

  std::vector<Pass> passes_;
  std::size_t in_bytes_, acc_bytes_;
  std::array<std::size_t, 2> regions_{};  // bytes of the two scratch areas that passes write in turn
  std::int64_t folded_, results_;
};

// A fold may also have `static Acc row(const T* x, std::int64_t count, std::int64_t position)`, for neighbours.
namespace reduction_detail {

// A row of single elements: in lanes, so that additions do not wait for one another.
template <class Acc, class In, class Add, class Merge>
[[gnu::always_inline]] inline Acc fold_row(const In* in, std::int64_t count, Acc start, bool lanes, Add add,
                                           Merge merge) {
  constexpr std::int64_t width = 32;
  Acc total = start;
  std::int64_t i = 0;
  if (lanes && count >= width) {
    Acc lane[width];
    for (Acc& a : lane) a = start;
    for (; i + width <= count; i += width)
      for (std::int64_t l = 0; l < width; ++l) lane[l] = add(lane[l], in[i + l], i + l);
    for (std::int64_t half = width / 2; half > 0; half /= 2)
      for (std::int64_t l = 0; l < half; ++l) lane[l] = merge(lane[l], lane[l + half]);
    total = lane[0];
  }
  for (; i < count; ++i) total = add(total, in[i], i);
  return total;
}

template <class Acc, class In, class Add>
[[gnu::always_inline]] inline void fold_columns(const In* in, std::int64_t rows, std::int64_t columns,
                                                std::int64_t step, Acc start, Acc* acc, Add add) {
  for (std::int64_t c = 0; c < columns; ++c) acc[c] = start;
  for (std::int64_t r = 0; r < rows; ++r)
#pragma GCC ivdep
    for (std::int64_t c = 0; c < columns; ++c) acc[c] = add(acc[c], in[r * step + c], r);
}

template <class R, class T>
TASKSPEC_CLONES void fold(const T* in, std::int64_t rows, std::int64_t columns, std::int64_t step,
                          std::int64_t position, typename R::Acc* acc) {
  auto add = [position](typename R::Acc a, T x, std::int64_t i) { return R::add(a, x, position + i); };
  if (step == 1 && columns == 1) {
    if constexpr (requires { R::row(in, rows, position); })
      *acc = rows > 0 ? R::row(in, rows, position) : R::start();
    else
      *acc = fold_row(in, rows, R::start(), R::lanes, add, R::merge);
  } else {
    fold_columns(in, rows, columns, step, R::start(), acc, add);
  }
}

template <class R>
TASKSPEC_CLONES void merge(const typename R::Acc* in, std::int64_t rows, std::int64_t columns, std::int64_t step,
                           typename R::Acc* acc) {
  auto add = [](typename R::Acc a, typename R::Acc b, std::int64_t) { return R::merge(a, b); };
  if (step == 1 && columns == 1)
    *acc = fold_row(in, rows, R::start(), R::lanes, add, R::merge);
  else
    fold_columns(in, rows, columns, step, R::start(), acc, add);
}

template <class R, class T>
class FoldKernel final : public ReductionKernel {
  using Acc = typename R::Acc;
  using Out = typename R::Out;

 public:
  explicit FoldKernel(const OpInstance& call) : ReductionKernel(call, sizeof(Acc)) {}

 protected:
  void fold(const Piece& p, const std::byte* in, std::byte* acc) const override {
    reduction_detail::fold<R, T>(reinterpret_cast<const T*>(in), p.rows, p.columns, p.step, p.position,
                                 reinterpret_cast<Acc*>(acc));
  }
  void merge(const Piece& p, const std::byte* in, std::byte* acc) const override {
    reduction_detail::merge<R>(reinterpret_cast<const Acc*>(in), p.rows, p.columns, p.step,
                               reinterpret_cast<Acc*>(acc));
  }
  void finish(const std::byte* acc, std::int64_t begin, std::int64_t end, std::byte* out) const override {
    for (std::int64_t i = begin; i < end; ++i)
      reinterpret_cast<Out*>(out)[i] = R::finish(reinterpret_cast<const Acc*>(acc)[i], folded());
  }
};

}  // namespace reduction_detail

// The kernel of R<T>, T being the type that stores the elements of x.
template <template <class> class R, Takes takes = Takes::ordered>
std::unique_ptr<Kernel> reduction_kernel(const OpInstance& call) {
  return with_taken<takes>(call.in[0].precision, [&](auto element) {
    using T = decltype(element);
    return std::make_unique<reduction_detail::FoldKernel<R<T>, T>>(call);
  });
}

// ---- widening of sums and products ----------------------------------------------------------------

// Integers narrower than 32 bits, and bool, give i32.
Precision widened(Precision precision);

template <class T>
using Widened = std::conditional_t<is_float_storage<T> || sizeof(T) >= 4, T, std::int32_t>;

// Floats are carried in double, integers modulo 2^n.
template <class T>
using WidenedAcc =
    std::conditional_t<is_float_storage<T>, double, std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>>;

}  // namespace taskspec
