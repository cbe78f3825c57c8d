#include "hwsim/spikes/neurons.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "ir/base/instruction_sets.hpp"

namespace taskspec {

namespace {

constexpr std::int32_t truenorth_low = -(1 << 19), truenorth_high = (1 << 19) - 1;

// sign(x) * (|x| * keep >> 12) for |x| <= 2^23 and keep <= 2^12, in 32 bits: the upper and the lower half of x apart.
inline std::int32_t decayed(std::int32_t x, std::int32_t keep) {
  const std::int32_t size = x < 0 ? -x : x;
  const std::int32_t rest = (size >> 12) * keep + (((size & 4095) * keep) >> 12);
  return x < 0 ? -rest : rest;
}

// As a register of 24 bits holds it.
inline std::int32_t wrapped_24(std::uint32_t x) { return static_cast<std::int32_t>(x << 8) >> 8; }

TASKSPEC_CLONES void loihi_loop(std::int32_t keep_u, std::int32_t keep_v, std::int32_t threshold,
                                std::int32_t* __restrict sums, std::int32_t* __restrict u, std::int32_t* __restrict v,
                                const std::int32_t* __restrict bias, std::uint8_t* __restrict fires,
                                std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const std::uint32_t sum = static_cast<std::uint32_t>(sums[i]) << 6;
    const std::int32_t current = wrapped_24(static_cast<std::uint32_t>(decayed(u[i], keep_u)) + sum);
    std::int32_t charge = decayed(v[i], keep_v) + current + bias[i];
    charge = charge > loihi_end ? loihi_end : charge;
    charge = charge < -loihi_end ? -loihi_end : charge;
    const bool spikes = charge > threshold;
    sums[i] = 0;
    u[i] = current;
    v[i] = spikes ? 0 : charge;
    fires[i] = spikes ? 1 : 0;
  }
}

TASKSPEC_CLONES void truenorth_loop(const TrueNorthNeurons& model, std::int32_t* __restrict sums,
                                    std::int32_t* __restrict v, const std::int32_t* __restrict bias,
                                    std::uint8_t* __restrict fires, std::int64_t count) {
  constexpr std::int32_t enough = 1 << 28;  // leads to the same end, and leaves room for the rest
  const std::int32_t threshold = model.threshold, leak = model.leak, reset = model.reset;
  const std::int32_t keep = model.subtracts ? 1 : 0;
  const std::int32_t after = model.subtracts ? -threshold : reset;
  for (std::int64_t i = 0; i < count; ++i) {
    std::int32_t sum = sums[i];
    sum = sum > enough ? enough : sum;
    sum = sum < -enough ? -enough : sum;
    std::int32_t charge = v[i] + sum + leak + bias[i];
    charge = charge > truenorth_high ? truenorth_high : charge;
    charge = charge < truenorth_low ? truenorth_low : charge;
    const bool spikes = charge >= threshold;
    std::int32_t next = spikes ? charge * keep + after : charge;
    next = next > truenorth_high ? truenorth_high : next;  // a negative threshold
    sums[i] = 0;
    v[i] = next;
    fires[i] = spikes ? 1 : 0;
  }
}

TASKSPEC_CLONES void updated_loop(const std::uint8_t* __restrict arrived, const std::int32_t* __restrict u,
                                  const std::int32_t* __restrict v, const std::int32_t* __restrict bias,
                                  std::uint8_t* __restrict updated, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) updated[i] = arrived[i] | ((u[i] | v[i] | bias[i]) != 0 ? 1 : 0);
}

TASKSPEC_CLONES std::int64_t sum_loop(const std::uint8_t* flags, std::int64_t count) {
  std::int64_t sum = 0;
  for (std::int64_t i = 0; i < count; ++i) sum += flags[i];
  return sum;
}

}  // namespace

void step_loihi(const LoihiNeurons& model, const NeuronRow& row, std::int64_t count) {
  loihi_loop(4096 - model.du, 4096 - model.dv, model.threshold << 6, row.sums, row.u, row.v, row.bias, row.fires,
             count);
}

void step_truenorth(const TrueNorthNeurons& model, const NeuronRow& row, std::int64_t count) {
  truenorth_loop(model, row.sums, row.v, row.bias, row.fires, count);
}

void mark_updated(const std::uint8_t* arrived, const NeuronRow& row, std::uint8_t* updated, std::int64_t count) {
  updated_loop(arrived, row.u, row.v, row.bias, updated, count);
}

std::int64_t sum_of(const std::uint8_t* flags, std::int64_t count) { return sum_loop(flags, count); }

std::size_t compact(const std::uint8_t* flags, std::int64_t count, std::uint32_t first, std::uint32_t* list) {
  std::uint32_t* next = list;
  std::int64_t i = 0;
  // Eight flags make eight bits by one multiplication, 64 of them a word whose set bits are counted off.
  for (; i + 64 <= count; i += 64) {
    std::uint64_t word = 0;
    for (int k = 0; k < 8; ++k) {
      std::uint64_t bytes;
      std::memcpy(&bytes, flags + i + 8 * k, 8);
      word |= (bytes * 0x0102040810204080U >> 56) << (8 * k);
    }
    for (; word != 0; word &= word - 1) *next++ = first + static_cast<std::uint32_t>(i + std::countr_zero(word));
  }
  for (; i < count; ++i)
    if (flags[i] != 0) *next++ = first + static_cast<std::uint32_t>(i);
  return static_cast<std::size_t>(next - list);
}

namespace {

std::vector<std::int32_t> piece_of(const std::vector<std::int32_t>& values, std::int64_t begin, std::int64_t end) {
  if (values.empty()) return {};
  return {values.begin() + begin, values.begin() + end};
}

}  // namespace

ClifStepper::ClifStepper(const SpikePopulation& population, std::int64_t begin, std::int64_t end)
    : block_(std::get<ClifNeurons>(population.model).block),
      count_(end - begin),
      first_thresholds_(piece_of(std::get<ClifNeurons>(population.model).thresholds, begin, end)),
      masks_(piece_of(std::get<ClifNeurons>(population.model).masks, begin, end)) {
  block_.shape = {.f = count_};
  block_.precision = Precision::i8;
  block_.set(*block_.def->find_attribute("fire_type"), 4);
  block_.set(*block_.def->find_attribute("vtheta_const_en"), first_thresholds_.empty() ? 1 : 0);
  block_.set(*block_.def->find_attribute("vm_const_en"), masks_.empty() ? 1 : 0);
  const auto cluster = [&](Precision precision) {
    return BlockOperand{true, ArrayType{precision, {count_}}, range_of(precision), nullptr};
  };
  std::vector<BlockOperand> in{cluster(Precision::i32), cluster(Precision::i28), {}, {}, {}};
  if (!first_thresholds_.empty()) in[3] = cluster(Precision::i28);
  if (!masks_.empty()) in[4] = cluster(Precision::i32);
  runner_ = block_.def->numerics->prepare(block_, in, BlockMode::chip);
  std::size_t scratch = runner_->scratch_bytes();
  if (std::optional<TaskBlock> synapse = std::get<ClifNeurons>(population.model).synapse) {
    synapse->shape = {.f = count_};
    const std::vector<BlockOperand> kept{cluster(Precision::i32), cluster(Precision::i28), {}, {}, {}};
    synapse_ = synapse->def->numerics->prepare(*synapse, kept, BlockMode::chip);
    scratch = std::max(scratch, synapse_->scratch_bytes());
    currents_.resize(static_cast<std::size_t>(count_));
  }
  scratch_.resize(scratch + 64);
  reset();
}

void ClifStepper::reset() {
  thresholds_ = first_thresholds_;
  runner_->reset();
  if (synapse_) synapse_->reset();
}

void ClifStepper::step(const NeuronRow& row) {
  const auto bytes = [](auto* values) { return reinterpret_cast<std::byte*>(values); };
  auto* scratch =
      reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(scratch_.data()) + 63) & ~std::uintptr_t{63});
  const std::byte* current = bytes(row.sums);
  if (synapse_) {
    const std::byte* in[] = {bytes(row.sums), bytes(row.u), nullptr, nullptr, nullptr};
    std::byte* states[] = {nullptr, bytes(row.u), nullptr, nullptr, nullptr};
    synapse_->run({.in = in, .out = bytes(currents_.data()), .states = states, .scratch = scratch});
    current = bytes(currents_.data());
  }
  const std::byte* in[] = {current, bytes(row.v), nullptr, thresholds_.empty() ? nullptr : bytes(thresholds_.data()),
                           masks_.empty() ? nullptr : bytes(masks_.data())};
  std::byte* states[] = {nullptr, bytes(row.v), nullptr, thresholds_.empty() ? nullptr : bytes(thresholds_.data()),
                         nullptr};
  runner_->run({.in = in, .out = bytes(row.fires), .states = states, .scratch = scratch});
  std::copy_n(row.bias, count_, row.sums);
}

SumStepper::SumStepper(const GradedSums& model, std::int64_t count) : count_(count), table_(model.table) {
  if (!model.block) return;
  TaskBlock block = *model.block;
  block.shape = {.f = count};
  precision_ = block.precision;
  std::vector<BlockOperand> in{{true, ArrayType{Precision::i32, {count}}, range_of(Precision::i32), nullptr}};
  if (table_) in.push_back({true, table_->type(), range_of(table_->precision()), table_->raw()});
  runner_ = block.def->numerics->prepare(block, in, BlockMode::chip);
  scratch_.resize(runner_->scratch_bytes() + 64);
  given_.resize(static_cast<std::size_t>(count) * 4 + 64);
}

std::size_t SumStepper::step(const NeuronRow& row, std::uint32_t first, std::uint32_t* list, std::int32_t* values) {
  const auto aligned = [](std::vector<std::byte>& room) {
    return reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(room.data()) + 63) & ~std::uintptr_t{63});
  };
  std::byte* made = reinterpret_cast<std::byte*>(row.sums);
  if (runner_) {
    made = aligned(given_);
    const std::byte* in[] = {reinterpret_cast<const std::byte*>(row.sums), table_ ? table_->raw() : nullptr};
    runner_->run({.in = std::span(in).first(table_ ? 2 : 1), .out = made, .states = {}, .scratch = aligned(scratch_)});
  }
  std::size_t some = 0;
  for (std::int64_t i = 0; i < count_; ++i) {
    const std::int32_t value = info(precision_).bytes == 4 ? reinterpret_cast<const std::int32_t*>(made)[i]
                                                           : reinterpret_cast<const std::int8_t*>(made)[i];
    list[some] = first + static_cast<std::uint32_t>(i), values[some] = value;
    some += value != 0;
  }
  std::copy_n(row.bias, count_, row.sums);
  return some;
}

}  // namespace taskspec
