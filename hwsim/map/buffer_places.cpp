#include "hwsim/map/buffer_places.hpp"

#include <algorithm>
#include <numeric>

namespace taskspec {

namespace {

constexpr std::int64_t line = 16;  // addresses are those of lines

bool lives_in(const ChipBuffer& buffer, std::int32_t phase) {
  if (buffer.is_persistent) return true;
  if (buffer.first_phase <= buffer.last_phase) return phase >= buffer.first_phase && phase <= buffer.last_phase;
  return phase >= buffer.first_phase || phase <= buffer.last_phase;
}

struct Interval {
  std::int64_t begin = 0, end = 0;
};

// Banks with the role; neighbours are one.
std::vector<Interval> rooms(const Chip& chip, BankRole role, const ChipBank* without) {
  std::vector<Interval> found;
  for (const ChipBank& bank : chip.banks) {
    if (!bank.holds(role) || &bank == without) continue;
    if (!found.empty() && found.back().end == bank.base)
      found.back().end = bank.end();
    else
      found.push_back({bank.base, bank.end()});
  }
  return found;
}

class BufferPlacer {
 public:
  BufferPlacer(const Chip& chip, std::span<ChipBuffer> buffers, std::int32_t phases)
      : chip_(chip), buffers_(buffers), phases_(phases) {}

  BufferFit place() {
    std::vector<std::size_t> order(buffers_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    // Weights first: inputs then avoid their bank.
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
      const bool fixed_a = buffers_[a].use == BufferUse::fixed, fixed_b = buffers_[b].use == BufferUse::fixed;
      return fixed_a != fixed_b ? fixed_a : buffers_[a].bytes > buffers_[b].bytes;
    });
    BufferFit fit{.fits = true};
    for (std::size_t i : order) {
      if (put(i)) continue;
      fit.fits = false;
      if (!fit.first) fit.first = &buffers_[i];
    }
    for (std::int32_t phase = 0; phase < phases_; ++phase) {
      std::int64_t bytes = 0;
      for (const ChipBuffer& buffer : buffers_) bytes += lives_in(buffer, phase) ? buffer.bytes : 0;
      fit.bytes = std::max(fit.bytes, bytes);
    }
    if (fit.first) {
      for (const Interval& room : rooms(chip_, role_of(*fit.first), nullptr)) fit.there += room.end - room.begin;
    }
    return fit;
  }

 private:
  bool put(std::size_t i) {
    const ChipBank* weights = buffers_[i].use == BufferUse::input ? weight_bank_ : nullptr;
    if (weights && put_without(i, weights)) return true;
    if (!put_without(i, nullptr)) return false;
    if (role_of(buffers_[i]) == BankRole::weight && !weight_bank_) weight_bank_ = chip_.bank_at(buffers_[i].address);
    return true;
  }

  bool put_without(std::size_t i, const ChipBank* bank) {
    ChipBuffer& buffer = buffers_[i];
    for (const Interval& room : rooms(chip_, role_of(buffer), bank)) {
      std::int64_t at = room.begin;
      for (bool moved = true; moved;) {
        moved = false;
        for (std::size_t k : placed_) {
          const ChipBuffer& other = buffers_[k];
          if (at >= other.address + other.bytes || at + buffer.bytes <= other.address) continue;
          if (!live_together(buffer, other, phases_)) continue;
          at = (other.address + other.bytes + line - 1) / line * line;
          moved = true;
        }
      }
      if (at + buffer.bytes > room.end) continue;
      buffer.address = at;
      placed_.push_back(i);
      return true;
    }
    return false;
  }

  const Chip& chip_;
  std::span<ChipBuffer> buffers_;
  std::int32_t phases_;
  std::vector<std::size_t> placed_;
  const ChipBank* weight_bank_ = nullptr;
};

}  // namespace

BankRole role_of(const ChipBuffer& buffer) {
  switch (buffer.use) {
    case BufferUse::fixed:
      return BankRole::weight;
    case BufferUse::state:
    case BufferUse::memory:
      return BankRole::state;
    case BufferUse::input:
      return BankRole::input;
    case BufferUse::receive:
      return BankRole::receive;
    case BufferUse::sum:
    case BufferUse::result:
      break;
  }
  return BankRole::output;
}

bool live_together(const ChipBuffer& a, const ChipBuffer& b, std::int32_t phases) {
  for (std::int32_t phase = 0; phase < phases; ++phase)
    if (lives_in(a, phase) && lives_in(b, phase)) return true;
  return false;
}

bool may_be_one(const ChipBuffer& a, const ChipBuffer& b) {
  if (a.use != BufferUse::fixed || b.use != BufferUse::fixed || !a.data || !b.data || a.bytes != b.bytes ||
      a.box != b.box)
    return false;
  const ChipLayout &x = a.layout, &y = b.layout;
  if (x.type != y.type || x.bits != y.bits || x.strides != y.strides || x.grouped != y.grouped || x.group != y.group ||
      x.group_stride != y.group_stride)
    return false;
  for (std::int64_t i = 0; i < a.data->elements(); ++i)
    if (a.data->integer(i) != b.data->integer(i)) return false;
  return true;
}

BufferFit place_buffers(const Chip& chip, std::span<ChipBuffer> buffers, std::int32_t phases) {
  return BufferPlacer(chip, buffers, phases).place();
}

}  // namespace taskspec
