// Element-wise ops: one number function per op; loops, broadcasting, strips and threads are written here once.
//
//   struct Add { template <class T> T operator()(T a, T b) const { return wrapped(a, b, std::plus<>{}); } };
//   .kernel = binary_kernel<Add, Takes::numbers>
//
// A function object F sees f16 as float and bool as 0 or 1. It may also have
//   bool allows(x...)     false where it fails (division by zero): then the whole output is poisoned
//   bool regular(float)   where `fast` holds: loops whose elements are all regular vectorise with it, and give
//   float fast(float)     the same bits as mixed ones
//   static constexpr bool one_set = true    where no further instruction set is worth the minutes of the compiler
#pragma once
#include <algorithm>
#include <array>

#include "ir/base/instruction_sets.hpp"
#include "stdlib/ops/dispatch.hpp"

namespace taskspec {

inline constexpr Operand unary_operands[] = {{"x"}};
inline constexpr Operand binary_operands[] = {{"a"}, {"b"}};

// `Operations` arithmetic operations per element; every operand is read and every result written once.
Work elementwise_work(const OpInstance& call, double operations);
template <int Operations = 1>
Work work_per_element(const OpInstance& call) {
  return elementwise_work(call, Operations);
}

// ---- the kernel -----------------------------------------------------------------------------------

// What all element-wise kernels share: how operands are stretched, and the walk over them in long runs.
class ElementwiseKernel : public Kernel {
 public:
  ElementwiseKernel(const OpInstance& call, Fault fault);
  std::optional<Fault> run(const KernelArgs& args) const final;
  std::span<const std::uint8_t> strip_steps() const final { return strip_steps_; }
  std::optional<Fault> run_strip(std::span<const std::byte* const> in, std::span<std::byte* const> out,
                                 std::int64_t count) const final;

 protected:
  static constexpr std::size_t max_operands = 3;
  using Pointers = std::array<const std::byte*, max_operands>;
  // `count` elements, contiguous in every operand; false when the op fails on one of them.
  virtual bool loop(const Pointers& in, std::byte* out, std::int64_t count) const = 0;

 private:
  struct LoopNest {
    std::vector<std::int64_t> extents;                            // outermost first, merged where possible
    std::vector<std::array<std::int64_t, max_operands>> offsets;  // bytes from one index to the next
  };
  void add_dimension(std::int64_t extent, const std::array<std::int64_t, max_operands>& offsets);
  bool rows(const KernelArgs& args, std::int64_t begin, std::int64_t end) const;
  bool spread(const Pointers& in, const std::uint8_t* steps, std::byte* out, std::int64_t count) const;
  bool gathered(const KernelArgs& args, std::int64_t begin, std::int64_t end) const;
  void gather(std::size_t operand, const std::byte* from, std::int64_t begin, std::int64_t end, std::byte* to) const;

  LoopNest loop_nest_;
  std::size_t operands_;
  std::array<std::uint8_t, max_operands> widths_{};  // bytes of an element
  std::uint8_t out_width_;
  std::int64_t count_;
  std::vector<std::uint8_t> strip_steps_;  // empty when operands are stretched along some axes only
  std::array<std::uint8_t, max_operands> row_steps_{};
  Fault fault_;
};

namespace elementwise_detail {

template <class F, class... T>
concept Failing = requires(const F& f, T... x) {
  f.allows(x...);
};

template <class F, class... T>
concept Fast = requires(const F& f, T... x) {
  f.fast(x...);
};

// Unsigned integers above 8 bits are rare: they take the minutes of one instruction set alone.
template <class T>
constexpr bool is_rare = std::is_unsigned_v<T> && sizeof(T) > 1;

template <class F, class... In>
concept OneSet = (is_rare<In> && ...) || requires {
  requires F::one_set;
};

template <class F, class... In>
TASKSPEC_CLONES bool allowed(const F& f, std::int64_t count, const In*... in) {
  bool all = true;
  for (std::int64_t i = 0; i < count; ++i) all &= f.allows(convert<Computed<In>>(in[i])...);
  return all;
}

template <class F, class Out, class... In>
[[gnu::always_inline]] inline void map_each(const F& f, std::int64_t count, Out* out, const In*... in) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < count; ++i) out[i] = convert<Out>(f(convert<Computed<In>>(in[i])...));
}

template <class F, class Out, class... In>
TASKSPEC_CLONES void map(const F& f, std::int64_t count, Out* out, const In*... in) {
  map_each(f, count, out, in...);
}

// Short blocks, so that one irregular element costs little. An element gives the same bits either way.
template <class F, class Out, class... In>
TASKSPEC_CLONES void map_fast(const F& f, std::int64_t count, Out* out, const In*... in) {
  constexpr std::int64_t block = 64;
  for (std::int64_t begin = 0; begin < count; begin += block) {
    std::int64_t end = std::min(begin + block, count);
    bool regular = true;
    for (std::int64_t i = begin; i < end; ++i) regular &= f.regular(convert<Computed<In>>(in[i])...);
    if (regular) {
#pragma GCC ivdep
      for (std::int64_t i = begin; i < end; ++i) out[i] = convert<Out>(f.fast(convert<Computed<In>>(in[i])...));
    } else {
      for (std::int64_t i = begin; i < end; ++i)
        out[i] = convert<Out>(f.regular(convert<Computed<In>>(in[i])...) ? f.fast(convert<Computed<In>>(in[i])...)
                                                                         : f(convert<Computed<In>>(in[i])...));
    }
  }
}

template <class F, class Out, class... In>
class MapKernel final : public ElementwiseKernel {
 public:
  MapKernel(const OpInstance& call, F f, Fault fault) : ElementwiseKernel(call, std::move(fault)), f_(f) {}

 protected:
  bool loop(const Pointers& in, std::byte* out, std::int64_t count) const override {
    return loop(in, out, count, std::index_sequence_for<In...>{});
  }

 private:
  template <std::size_t... I>
  bool loop(const Pointers& in, std::byte* out, std::int64_t count, std::index_sequence<I...>) const {
    if constexpr (Failing<F, Computed<In>...>)
      if (!allowed<F>(f_, count, reinterpret_cast<const In*>(in[I])...)) return false;
    if constexpr (Fast<F, Computed<In>...> && (std::is_same_v<Computed<In>, float> && ...))
      map_fast<F, Out>(f_, count, reinterpret_cast<Out*>(out), reinterpret_cast<const In*>(in[I])...);
    else if constexpr (OneSet<F, In...>)
      map_each<F, Out>(f_, count, reinterpret_cast<Out*>(out), reinterpret_cast<const In*>(in[I])...);
    else
      map<F, Out>(f_, count, reinterpret_cast<Out*>(out), reinterpret_cast<const In*>(in[I])...);
    return true;
  }

  F f_;
};

}  // namespace elementwise_detail

// The kernel of f on operands stored as In..., with a result stored as Out.
template <class Out, class... In, class F>
std::unique_ptr<Kernel> map_kernel(const OpInstance& call, F f, Fault fault = {"E5002", "division by zero"}) {
  return std::make_unique<elementwise_detail::MapKernel<F, Out, In...>>(call, f, std::move(fault));
}

template <class F, Takes takes>
std::unique_ptr<Kernel> unary_kernel(const OpInstance& call) {
  return with_taken<takes>(call.in[0].precision, [&](auto x) {
    using T = decltype(x);
    return map_kernel<T, T>(call, F{});
  });
}

template <class F, Takes takes>
std::unique_ptr<Kernel> binary_kernel(const OpInstance& call) {
  return with_taken<takes>(call.in[0].precision, [&](auto x) {
    using T = decltype(x);
    return map_kernel<T, T, T>(call, F{});
  });
}

// Gives bool.
template <class F>
std::unique_ptr<Kernel> comparison_kernel(const OpInstance& call) {
  return with_taken<Takes::any>(call.in[0].precision, [&](auto x) {
    using T = decltype(x);
    return map_kernel<std::uint8_t, T, T>(call, F{});
  });
}

}  // namespace taskspec
