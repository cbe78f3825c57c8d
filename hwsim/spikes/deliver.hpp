// The loops that add weights to sums; for synapses.cpp alone.
#pragma once
#include <algorithm>
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

// Sums to which weights are added so many times.
class GradedSumsOf {
 public:
  static constexpr bool vectorises = false;
  GradedSumsOf(const SpikeWheel& wheel, std::int32_t slot, std::int32_t value)
      : wheel_(wheel), slot_(slot), value_(value) {}
  void add(std::int64_t target, std::int32_t weight) const { add_later(target, weight, 0); }
  void add_later(std::int64_t target, std::int32_t weight, std::int32_t delay) const {
    const std::int64_t at = (slot_ + delay) % wheel_.slots * wheel_.neurons + target;
    wheel_.sums[at] += value_ * weight;
    if (wheel_.arrived) wheel_.arrived[at] = 1;
  }

 private:
  const SpikeWheel& wheel_;
  std::int32_t slot_, value_;
};

// Where additions are cut their order matters, and spikes of other ticks belong in between: so they are kept.
class KeptAdditions {
 public:
  static constexpr bool vectorises = false;
  KeptAdditions(std::vector<std::vector<LateAddition>>& slots, std::uint32_t source, std::uint32_t connection,
                std::int32_t slot, std::int32_t value)
      : slots_(slots), next_{source, connection, 0, 0, 0}, slot_(slot), value_(value) {}
  void add(std::int64_t target, std::int32_t weight) const { add_later(target, weight, 0); }
  void add_later(std::int64_t target, std::int32_t weight, std::int32_t delay) const {
    next_.target = static_cast<std::uint32_t>(target), next_.weight = weight * value_;
    slots_[static_cast<std::size_t>(slot_ + delay) % slots_.size()].push_back(next_);
    ++next_.synapse;
  }

 private:
  std::vector<std::vector<LateAddition>>& slots_;
  mutable LateAddition next_;
  std::int32_t slot_, value_;
};

// Sources ahead whose rows are fetched: rows lie anywhere in memory, and a few are on their way at a time.
inline constexpr std::size_t rows_ahead = 3;

// The lines of memory from begin to end, of a long row the first ones: the processor itself sees how it goes on.
inline void fetch_lines(const void* begin, const void* end) {
  constexpr std::ptrdiff_t line = 64, most = 512;
  if (begin == end) return;
  const char *at = static_cast<const char*>(begin), *last = static_cast<const char*>(end) - 1;
  last = last - at > most ? at + most : last;
  for (; at < last; at += line) __builtin_prefetch(at);
  __builtin_prefetch(last);
}

template <class W>
void fetch_row(const SparseRows& rows, const W* weights, std::uint32_t source) {
  const std::uint32_t begin = rows.offsets[source], end = rows.offsets[source + 1];
  fetch_lines(rows.targets + begin, rows.targets + end);
  fetch_lines(weights + begin, weights + end);
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
