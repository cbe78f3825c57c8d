// The loops that add weights to sums; for synapses.cpp alone.
#pragma once
#include <algorithm>
#include <limits>
#include <type_traits>

#include "hwsim/spikes/synapses.hpp"

namespace taskspec {

struct SparseRows {
  const std::uint32_t* offsets;
  const std::uint16_t* targets;
  const std::uint8_t* delays;    // null: none
  const std::int32_t* codebook;  // of weights that are indices
};

// Sums of one slot, and of those behind it. A proof says that nothing overflows.
template <bool marks>
class PlainSums {
 public:
  static constexpr bool vectorises = !marks;
  PlainSums(const SpikeWheel& wheel, std::int32_t slot)
      : wheel_(wheel),
        slot_(slot),
        sums_(wheel.sums + slot * wheel.neurons),
        arrived_(marks ? wheel.arrived + slot * wheel.neurons : nullptr) {}
  std::int32_t* sums() const { return sums_; }
  void add(std::int64_t target, std::int32_t weight) const {
    sums_[target] += weight;
    if constexpr (marks) arrived_[target] = 1;
  }
  void add_later(std::int64_t target, std::int32_t weight, std::int32_t delay) const {
    std::int32_t slot = slot_ + delay;
    if (slot >= wheel_.slots) slot -= wheel_.slots;
    wheel_.sums[slot * wheel_.neurons + target] += weight;
    if constexpr (marks) wheel_.arrived[slot * wheel_.neurons + target] = 1;
  }

 private:
  const SpikeWheel& wheel_;
  std::int32_t slot_;
  std::int32_t* sums_;
  std::uint8_t* arrived_;
};

// Each addition cut to 32 bits.
template <bool marks>
class CutSums {
 public:
  static constexpr bool vectorises = false;
  CutSums(const SpikeWheel& wheel, std::int32_t slot) : wheel_(wheel), slot_(slot) {}
  std::int32_t* sums() const { return nullptr; }
  void add(std::int64_t target, std::int32_t weight) const { add_later(target, weight, 0); }
  void add_later(std::int64_t target, std::int32_t weight, std::int32_t delay) const {
    std::int32_t slot = slot_ + delay;
    if (slot >= wheel_.slots) slot -= wheel_.slots;
    std::int32_t& sum = wheel_.sums[slot * wheel_.neurons + target];
    sum = static_cast<std::int32_t>(std::clamp<std::int64_t>(std::int64_t{sum} + weight,
                                                             std::numeric_limits<std::int32_t>::min(),
                                                             std::numeric_limits<std::int32_t>::max()));
    if constexpr (marks) wheel_.arrived[slot * wheel_.neurons + target] = 1;
  }

 private:
  const SpikeWheel& wheel_;
  std::int32_t slot_;
};

// Sources ahead whose rows are fetched: rows lie anywhere in memory, and a few are on their way at a time.
inline constexpr std::size_t rows_ahead = 4;

template <class W>
void fetch_row(const SparseRows& rows, const W* weights, std::uint32_t source) {
  const std::uint32_t begin = rows.offsets[source], end = rows.offsets[source + 1];
  constexpr std::uint32_t line = 64;
  const std::uint32_t last = std::min(end, begin + 512);
  for (std::uint32_t i = begin; i < last; i += line / sizeof(std::uint16_t)) __builtin_prefetch(rows.targets + i);
  for (std::uint32_t i = begin; i < last; i += line / sizeof(W)) __builtin_prefetch(weights + i);
}

template <class Sums, class W>
std::uint64_t add_rows(const Sums& sums, const SparseRows& rows, std::span<const std::uint32_t> sources,
                       const W* weights) {
  const auto weight = [&](std::uint32_t i) -> std::int32_t {
    if constexpr (std::is_same_v<W, std::uint8_t>)
      return rows.codebook[weights[i]];
    else
      return weights[i];
  };
  std::uint64_t count = 0;
  for (std::size_t s = 0; s < sources.size(); ++s) {
    if (s + rows_ahead < sources.size()) fetch_row(rows, weights, sources[s + rows_ahead]);
    const std::uint32_t begin = rows.offsets[sources[s]], end = rows.offsets[sources[s] + 1];
    count += end - begin;
    if (rows.delays) {
      for (std::uint32_t i = begin; i < end; ++i) sums.add_later(rows.targets[i], weight(i), rows.delays[i]);
    } else {
#pragma GCC unroll 8
      for (std::uint32_t i = begin; i < end; ++i) sums.add(rows.targets[i], weight(i));
    }
  }
  return count;
}

template <class Sums, class W>
void add_run(const Sums& sums, std::int64_t first, const W* weights, std::int64_t count) {
  if constexpr (Sums::vectorises) {
    std::int32_t* __restrict to = sums.sums() + first;
    for (std::int64_t i = 0; i < count; ++i) to[i] += weights[i];
  } else {
    for (std::int64_t i = 0; i < count; ++i) sums.add(first + i, static_cast<std::int32_t>(weights[i]));
  }
}

template <class Sums, class W>
std::uint64_t add_taps(const Sums& sums, const ConvolutionSynapses& kernel, SpikeShape from, SpikeShape to,
                       const PartPiece& piece, std::span<const std::uint32_t> sources, const W* weights) {
  std::uint64_t count = 0;
  const std::int64_t shift = piece.at - piece.begin;
  for (const std::uint32_t source : sources)
    for_each_tap(kernel, from, to, source, [&](std::int64_t first, std::int64_t at) {
      const std::int64_t begin = std::max(first, piece.begin), end = std::min(first + to.f, piece.end);
      if (begin >= end) return;
      add_run(sums, begin + shift, weights + at + (begin - first), end - begin);
      count += static_cast<std::uint64_t>(end - begin);
    });
  return count;
}

}  // namespace taskspec
