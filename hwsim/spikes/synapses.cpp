#include "hwsim/spikes/synapses.hpp"

#include <algorithm>
#include <cstdlib>

#include "hwsim/spikes/deliver.hpp"

namespace taskspec {

namespace {

template <class T>
std::vector<T> narrowed_to(const std::vector<std::int32_t>& values) {
  std::vector<T> narrow(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) narrow[i] = static_cast<T>(values[i]);
  return narrow;
}

// The distinct values, ascending; empty when there are more than 256.
std::vector<std::int32_t> code_book(const std::vector<std::int32_t>& values) {
  std::vector<std::int32_t> book;
  std::int32_t last = 0;
  for (const std::int32_t value : values) {
    if (!book.empty() && value == last) continue;
    last = value;
    const auto at = std::lower_bound(book.begin(), book.end(), value);
    if (at != book.end() && *at == value) continue;
    if (book.size() == 256) return {};
    book.insert(at, value);
  }
  return book;
}

PartSynapses::Weights pack(std::vector<std::int32_t> values, bool may_index, std::vector<std::int32_t>& book) {
  std::int32_t least = 0, most = 0;
  for (const std::int32_t value : values) least = std::min(least, value), most = std::max(most, value);
  if (least >= INT8_MIN && most <= INT8_MAX) return narrowed_to<std::int8_t>(values);
  if (may_index) book = code_book(values);
  if (!book.empty()) {
    std::vector<std::uint8_t> indices;
    indices.reserve(values.size());
    for (const std::int32_t value : values)
      indices.push_back(static_cast<std::uint8_t>(std::lower_bound(book.begin(), book.end(), value) - book.begin()));
    return indices;
  }
  if (least >= INT16_MIN && most <= INT16_MAX) return narrowed_to<std::int16_t>(values);
  return values;
}

}  // namespace

PartSynapses::PartSynapses(const SpikingNet& net, const SpikeConnection& connection, const PartPiece& piece)
    : kind_(connection.kind()), piece_(piece), from_(net[connection.from].shape), to_(net[connection.to].shape) {
  if (const auto* conv = std::get_if<ConvolutionSynapses>(&connection.synapses)) {
    kernel_ = *conv;
    weights_ = pack(std::move(kernel_.weights), false, codebook_);
    kernel_.weights = {};
    return;
  }
  const bool all = piece.begin == 0 && piece.end == to_.size();
  std::vector<std::int32_t> weights;
  if (const auto* dense = std::get_if<DenseSynapses>(&connection.synapses)) {
    if (all) weights = dense->weights;
    for (std::int64_t source = 0; source < from_.size() && !all; ++source) {
      const auto row = dense->weights.begin() + source * to_.size();
      weights.insert(weights.end(), row + piece.begin, row + piece.end);
    }
    weights_ = pack(std::move(weights), false, codebook_);
    return;
  }
  const auto& rows = std::get<SparseSynapses>(connection.synapses);
  const std::int64_t shift = piece.at - piece.begin;
  const auto local = [&](std::uint32_t target) { return static_cast<std::uint16_t>(target + shift); };
  if (all) {
    offsets_ = rows.offsets, delays_ = rows.delays;
    targets_.resize(rows.targets.size());
    for (std::size_t i = 0; i < rows.targets.size(); ++i) targets_[i] = local(rows.targets[i]);
    weights_ = pack(rows.weights, true, codebook_);
    return;
  }
  offsets_.push_back(0);
  for (std::size_t source = 0; source + 1 < rows.offsets.size(); ++source) {
    for (std::uint32_t i = rows.offsets[source]; i < rows.offsets[source + 1]; ++i) {
      if (rows.targets[i] < piece.begin || rows.targets[i] >= piece.end) continue;
      targets_.push_back(local(rows.targets[i]));
      weights.push_back(rows.weights[i]);
      if (!rows.delays.empty()) delays_.push_back(rows.delays[i]);
    }
    offsets_.push_back(static_cast<std::uint32_t>(targets_.size()));
  }
  weights_ = pack(std::move(weights), true, codebook_);
}

template <class Sums>
std::uint64_t PartSynapses::walk(std::span<const std::uint32_t> sources, const Sums& sums) const {
  return std::visit(
      [&](const auto& weights) -> std::uint64_t {
        const auto* w = weights.data();
        if (kind_ == SynapseKind::dense) {
          for (const std::uint32_t source : sources)
            add_run(sums, piece_.at, w + source * piece_.neurons(), piece_.neurons());
          return sources.size() * static_cast<std::uint64_t>(piece_.neurons());
        }
        if (kind_ == SynapseKind::convolution) return add_taps(sums, kernel_, from_, to_, piece_, sources, w);
        const SparseRows rows{offsets_.data(), targets_.data(), delays_.empty() ? nullptr : delays_.data(),
                              codebook_.data()};
        return add_rows(sums, rows, sources, w);
      },
      weights_);
}

std::uint64_t PartSynapses::deliver(std::span<const std::uint32_t> sources, const SpikeWheel& wheel,
                                    std::int32_t slot) const {
  return wheel.arrived ? walk(sources, PlainSums<true>(wheel, slot)) : walk(sources, PlainSums<false>(wheel, slot));
}

std::uint64_t PartSynapses::deliver_graded(std::span<const std::uint32_t> sources, std::span<const std::int32_t> values,
                                           const SpikeWheel& wheel, std::int32_t slot) const {
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < sources.size(); ++i)
    count += walk(sources.subspan(i, 1), GradedSumsOf(wheel, slot, values[i]));
  return count;
}

std::uint64_t PartSynapses::keep(std::uint32_t source, std::int32_t value, const LateAddition& next,
                                 std::vector<std::vector<LateAddition>>& slots, std::int32_t slot) const {
  return walk(std::span(&source, 1), KeptAdditions(slots, next.source, next.connection, slot, value));
}

std::int64_t PartSynapses::synapses() const {
  if (kind_ == SynapseKind::convolution) return 0;
  return std::visit([](const auto& weights) { return static_cast<std::int64_t>(weights.size()); }, weights_);
}

std::int64_t PartSynapses::bytes() const {
  const std::size_t weights = std::visit([](const auto& w) { return w.size() * sizeof(w[0]); }, weights_);
  return static_cast<std::int64_t>(weights + offsets_.size() * sizeof(offsets_[0]) +
                                   targets_.size() * sizeof(targets_[0]) + delays_.size() +
                                   codebook_.size() * sizeof(codebook_[0]));
}

void PartSynapses::add_bounds(const SpikeConnection& connection, std::int64_t most,
                              std::span<std::int64_t> bounds) const {
  const auto size = [most](std::int32_t weight) { return most * std::abs(std::int64_t{weight}); };
  if (const auto* rows = std::get_if<SparseSynapses>(&connection.synapses)) {
    const bool all = piece_.neurons() == to_.size();
    const std::int64_t shift = piece_.at - piece_.begin;
    for (std::size_t i = 0; i < rows->targets.size(); ++i)
      if (all || (rows->targets[i] >= piece_.begin && rows->targets[i] < piece_.end))
        bounds[static_cast<std::size_t>(rows->targets[i] + shift)] += size(rows->weights[i]);
    return;
  }
  if (const auto* dense = std::get_if<DenseSynapses>(&connection.synapses)) {
    for (std::int64_t source = 0; source < from_.size(); ++source)
      for (std::int64_t n = piece_.begin; n < piece_.end; ++n)
        bounds[static_cast<std::size_t>(piece_.at + n - piece_.begin)] +=
            size(dense->weights[static_cast<std::size_t>(source * to_.size() + n)]);
    return;
  }
  // Of a kernel: per output all of its weights, as if no pad hid any.
  const auto& conv = std::get<ConvolutionSynapses>(connection.synapses);
  std::vector<std::int64_t> channel(static_cast<std::size_t>(to_.f));
  for (std::size_t i = 0; i < conv.weights.size(); ++i) channel[i % channel.size()] += size(conv.weights[i]);
  for (std::int64_t n = piece_.begin; n < piece_.end; ++n)
    bounds[static_cast<std::size_t>(piece_.at + n - piece_.begin)] += channel[static_cast<std::size_t>(n % to_.f)];
}

}  // namespace taskspec
