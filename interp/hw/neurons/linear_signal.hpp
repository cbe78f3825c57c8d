// What is between spikes and the neurons that they reach, as numbers: each element of a tensor is a sum of weighted
// spikes, each some steps old, and a constant. Ops that are linear in one tensor make such signals of such signals.
//
//   LinearSignal x = spikes_of(source, {2, 34, 34});
//   std::optional<LinearSignal> y = applied(conv2d, 0, {x, weights, bias});       // none: it is not linear
#pragma once
#include <memory>

#include "hwsim/spikes/real_net.hpp"
#include "ir/records/op.hpp"

namespace taskspec {

struct SignalTerm {
  std::uint32_t source = 0;  // population
  std::int32_t element = 0;  // of its tensor
  std::int32_t delay = 0;    // steps
  double weight = 0;
};

// A convolution of all spikes of a source as they are: [c, y, x] -> [f, y, x].
struct SignalKernel {
  std::uint32_t source = 0;
  std::int32_t delay = 0;
  ConvolutionSynapses windows;  // without weights
  Extents in, out, weights_of;  // [c, y, x], [f, y, x], [f, c, ky, kx]
  std::vector<double> weights;
};

struct LinearSignal {
  Extents extents;
  std::vector<std::uint32_t> offsets{0};                 // [elements + 1]
  std::vector<SignalTerm> terms;                         // by element, then by source, element, delay
  std::vector<double> constants;                         // by element
  std::shared_ptr<const SignalKernel> kernel = nullptr;  // the same as the terms, constants aside

  std::int64_t elements() const { return static_cast<std::int64_t>(constants.size()); }
  std::span<const SignalTerm> of(std::int64_t element) const {
    const auto e = static_cast<std::size_t>(element);
    return std::span(terms).subspan(offsets[e], offsets[e + 1] - offsets[e]);
  }
  bool is_constant() const { return terms.empty(); }
};

LinearSignal spikes_of(std::uint32_t source, const Extents& extents);
LinearSignal constant_signal(const Array& numbers);
LinearSignal late(LinearSignal signal, std::int32_t steps);
LinearSignal late(LinearSignal signal, const std::vector<std::int32_t>& steps);  // by element
// Elements side by side on a new first axis.
LinearSignal stacked(const std::vector<LinearSignal>& rows);
// One spike that is passed on as it is; none: a sum, a weight, an old one.
std::optional<SignalTerm> plain_spike(const LinearSignal& signal, std::int64_t element);
// All spikes of one source in order, equally old.
std::optional<SignalTerm> plain_source(const LinearSignal& signal);

// An op with one operand that is a signal; the others are contents. None: it is no linear function of it.
std::optional<LinearSignal> applied(const OpInstance& call, std::size_t operand, const LinearSignal& signal,
                                    const std::vector<Array>& contents);
// An op of two signals of equal extents, element by element. None: it is no sum of multiples of them.
std::optional<LinearSignal> joined(const OpInstance& call, const LinearSignal& a, const LinearSignal& b);

}  // namespace taskspec
