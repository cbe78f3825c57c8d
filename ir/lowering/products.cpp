// Products with weights: convolutions, dense layers, factors per channel. On the quantised road the weights are chosen
// with the scale of the result, so a product waits until somebody reads it.
#include <fmt/format.h>

#include <numeric>

#include "ir/lowering/state.hpp"

namespace taskspec {

namespace {

constexpr std::int64_t group_outputs = 32;  // that a convolution of a chip makes side by side

// Weights [outputs, ...] and summands of a layer, as numbers.
struct Factors {
  std::vector<double> weights, bias;
  std::size_t per_output() const { return weights.size() / bias.size(); }
  double largest() const {
    double most = 0;
    for (const double w : weights) most = std::max(most, std::abs(w));
    return most;
  }
};

// As they are computed with.
struct IntegerFactors {
  std::vector<std::int64_t> weights, bias;
  double sum_scale = 1;
  bool has_bias() const {
    return std::ranges::any_of(bias, [](std::int64_t b) { return b != 0; });
  }
};

std::string thousands(std::int64_t number) { return fmt::format("{}", number); }

// What sums of an output may be, and whether all on the way fits into 32 bits.
ValueRange sum_range(const IntegerFactors& factors, ValueRange input, std::string_view what) {
  ValueRange all{INT64_MAX, INT64_MIN};
  const std::size_t each = factors.weights.size() / factors.bias.size();
  for (std::size_t o = 0; o < factors.bias.size(); ++o) {
    std::int64_t least = factors.bias[o], most = factors.bias[o], bound = std::abs(factors.bias[o]);
    for (std::size_t k = 0; k < each; ++k) {
      const std::int64_t w = factors.weights[o * each + k];
      // Zero is a value of the input where windows reach over its border.
      const std::int64_t a = w * std::min<std::int64_t>(input.least, 0), b = w * std::max<std::int64_t>(input.most, 0);
      least += std::min(a, b), most += std::max(a, b);
      bound += std::abs(w) * input.magnitude();
    }
    if (bound > INT32_MAX)
      throw Refused{
          "E4012",
          fmt::format("sums of {} may reach {}, and blocks hold at most {}: the host wraps around, they saturate", what,
                      thousands(bound), INT32_MAX),
          "smaller weights, or inputs that are cut to fewer bits before"};
    all = {std::min(all.least, least), std::max(all.most, most)};
  }
  return all;
}

// Scales of 5.3: the largest n for which weights times So * 4^n / Si are bytes; half a unit so that the cut rounds.
IntegerFactors scaled_factors(BlockBuilder::State& state, const Factors& factors, double in_scale, double wanted,
                              ValueId value) {
  double weight_scale = factors.largest() > 0 ? 127 / factors.largest() : 1;
  std::int64_t half = 0;
  if (wanted > 0 && !state.scales()->cuts_by_table()) {
    int n = 15;
    auto at = [&](int power) { return wanted * std::pow(4.0, power) / in_scale; };
    while (n > 0 && factors.largest() * at(n) > 127) --n;
    if (factors.largest() * at(n) > 127 * (1 + 1e-12))
      state.scales()->at_most(value, in_scale * 127 / factors.largest());
    else
      weight_scale = at(n), half = n > 0 ? std::int64_t{1} << (2 * n - 1) : 0;
  }
  IntegerFactors made{.weights = {}, .bias = {}, .sum_scale = in_scale * weight_scale};
  for (const double w : factors.weights)
    made.weights.push_back(std::clamp<std::int64_t>(rounded(w * weight_scale), -128, 127));
  const std::vector<double> error = state.scales()->error_of(value);
  for (std::size_t o = 0; o < factors.bias.size(); ++o) {
    const double b = factors.bias[o] - (o < error.size() ? error[o] : 0);
    if (std::abs(b * made.sum_scale) >= 2147483647.0 - static_cast<double>(half))
      throw Refused{"E4012", fmt::format("a bias of {:.4g} is beyond 32 bits at the scale of its sums", b),
                    "a smaller bias"};
    made.bias.push_back(rounded(b * made.sum_scale) + half);
  }
  return made;
}

IntegerFactors plain_factors(const Factors& factors, std::string_view what) {
  IntegerFactors made;
  for (const double w : factors.weights) {
    if (w < -128 || w > 127)
      throw Refused{"E4011", fmt::format("a weight of {} is {:.0f}: blocks multiply bytes, -128 to 127", what, w),
                    "weights of i8"};
    made.weights.push_back(static_cast<std::int64_t>(w));
  }
  for (const double b : factors.bias) made.bias.push_back(static_cast<std::int64_t>(b));
  return made;
}

// Makes the blocks of one product again and again, as its scales change.
struct ProductMaker {
  BlockBuilder::State* state;
  WeightedSum sum;  // weights and bias are those of `factors`
  Factors factors;
  ValueId input;
  ArrayType out;
  std::string name;
  bool is_per_channel = false;  // CAX: a factor for each, no sum

  Sums make(double wanted, ValueId value) const {
    BlockBuilder::State& s = *state;
    LoweredValue in = s.scales() ? s.ready(input, &sum.layout) : (s.ready(input, &sum.layout), s.narrowed(input, name));
    const IntegerFactors integers =
        s.scales() ? scaled_factors(s, factors, in.scale, wanted, value) : plain_factors(factors, name);
    const ValueRange range = sum_range(integers, in.range, name);
    const double scale = s.scales() ? integers.sum_scale : 1;
    if (is_per_channel) return scaled_channels(in, integers, scale, range);
    const BlockGather gather = s.arranged(in, sum.layout);
    if (gather.extents().size() == 1 && sum.groups == 1) return dense(gather, in.precision, integers, scale, range);
    return windows(gather, in, integers, scale, range);
  }

  void connect_bias(BlockId axon, const std::vector<std::int64_t>& bias) const {
    if (std::ranges::all_of(bias, [](std::int64_t b) { return b == 0; })) return;
    state->block(axon).bias = BiasKind::vector;
    const BlockId data =
        state->data("SB", name + "_b", {.f = static_cast<std::int64_t>(bias.size())}, Precision::i32, bias);
    state->connect(data, axon, "bias");
  }

  // A permuted vector, as of a flattened image, is read as it lies: the columns of the weights change places.
  Sums dense(const BlockGather& gather, Precision precision, const IntegerFactors& integers, double scale,
             ValueRange range) const {
    BlockBuilder::State& s = *state;
    const auto r = gather.size(), f = static_cast<std::int64_t>(integers.bias.size());
    std::vector<std::int64_t> weights = integers.weights;
    BlockGather read = gather;
    if (gather.is_permutation() && !gather.is_whole()) {
      for (std::int64_t o = 0; o < f; ++o)
        for (std::int64_t k = 0; k < r; ++k)
          weights[static_cast<std::size_t>(o * r + gather.at(k).place)] =
              integers.weights[static_cast<std::size_t>(o * r + k)];
      read = BlockGather::of(gather.sources()[0].block, gather.sources()[0].extents).seen_as({r});
    }
    const BlockId from = s.stored(read, precision, "SIFC", name + "_in");
    const BlockId w = s.data("SWFC", name + "_w", {.f = f, .r = r}, Precision::i8, weights);
    const BlockId axon = s.add("CVM", name, Precision::i32, {.f = f, .r = r});
    s.connect(from, axon, "input");
    s.connect(w, axon, "weight");
    connect_bias(axon, integers.bias);
    return s.summed_by(axon, out, sum.result, scale, range);
  }

  Sums windows(const BlockGather& gather, const LoweredValue& in, const IntegerFactors& integers, double scale,
               ValueRange range) const {
    BlockBuilder::State& s = *state;
    const BlockGather plane = gather.extents().size() == 3 ? gather : gather.seen_as({1, 1, gather.size()});
    const bool is_first = s.block(plane.sources()[0].block).def->kind == BlockKind::input && plane.is_whole();
    const bool is_flat = is_first && plane.extents()[2] < 8 && sum.groups == 1;
    const Extents extents = block_extents(out.extents, sum.result);
    const std::int64_t f = extents.back(), of_group = f / sum.groups;
    const std::int64_t step = sum.groups == 1 ? f : std::min<std::int64_t>(f, group_outputs);
    std::vector<BlockGather> parts;
    for (std::int64_t begin = 0; begin < f; begin += step) {
      const std::int64_t end = std::min(f, begin + step);
      const std::int64_t seen = plane.extents()[2] / sum.groups;
      const std::int64_t first = begin / of_group * seen, last = ((end - 1) / of_group + 1) * seen;
      parts.push_back(part(plane, in, integers, {begin, end, first, last, is_flat}));
    }
    if (parts.size() == 1) {
      Sums made = s.summed_by(parts[0].sources()[0].block, out, sum.result, scale, range);
      made.gather = made.gather.seen_as(extents);
      return made;
    }
    return {side_by_side(parts, extents), sum.result, scale, range, name};
  }

  struct Slice {
    std::int64_t begin, end;   // outputs
    std::int64_t first, last;  // inputs that they see
    bool is_flat;              // few channels of an image: CC2D
  };

  BlockGather part(const BlockGather& plane, const LoweredValue& in, const IntegerFactors& integers,
                   const Slice& slice) const {
    BlockBuilder::State& s = *state;
    const Extents& read = plane.extents();
    const std::int64_t r = slice.last - slice.first, f = slice.end - slice.begin;
    const Extents extents = block_extents(out.extents, sum.result);
    BlockShape shape{.f = f, .r = r, .ky = sum.y.kernel, .kx = sum.x.kernel};
    const BlockShape weights = shape;
    shape.y = extents.size() == 3 ? extents[0] : 1, shape.x = extents.size() == 3 ? extents[1] : 1;
    shape.iy = read[0], shape.ix = read[1];
    const BlockId from = s.stored(channels(plane, slice), in.precision, slice.is_flat ? "SIC2D" : "SIC", name + "_in");
    const BlockId w =
        s.data(slice.is_flat ? "SW2D" : "SW", name + "_w", weights, Precision::i8, block_weights(integers, slice));
    const BlockId axon = s.add(slice.is_flat ? "CC2D" : "CC", name, Precision::i32, shape);
    s.set_windows(axon, sum.y, sum.x, true);
    s.connect(from, axon, "input");
    s.connect(w, axon, "weight");
    connect_bias(axon, {integers.bias.begin() + slice.begin, integers.bias.begin() + slice.end});
    return BlockGather::of(axon, {shape.y, shape.x, shape.f});
  }

  // [f, r, ky, kx] of the slice; what an output does not see has weight 0.
  std::vector<std::int64_t> block_weights(const IntegerFactors& integers, const Slice& slice) const {
    const std::int64_t taps = sum.y.kernel * sum.x.kernel, each = static_cast<std::int64_t>(factors.per_output());
    const std::int64_t seen = each / taps;
    const std::int64_t of_group = static_cast<std::int64_t>(integers.bias.size()) / sum.groups;
    const std::int64_t r = slice.last - slice.first;
    std::vector<std::int64_t> weights(static_cast<std::size_t>((slice.end - slice.begin) * r * taps));
    for (std::int64_t o = slice.begin; o < slice.end; ++o)
      for (std::int64_t k = 0; k < each; ++k) {
        const std::int64_t channel = o / of_group * seen + k / taps - slice.first;
        weights[static_cast<std::size_t>(((o - slice.begin) * r + channel) * taps + k % taps)] =
            integers.weights[static_cast<std::size_t>(o * each + k)];
      }
    return weights;
  }

  static BlockGather channels(const BlockGather& plane, const Slice& slice) {
    const Extents& all = plane.extents();
    if (slice.first == 0 && slice.last == all[2]) return plane;
    std::vector<BlockGather::Place> places;
    for (std::int64_t pixel = 0; pixel < all[0] * all[1]; ++pixel)
      for (std::int64_t c = slice.first; c < slice.last; ++c) places.push_back({0, pixel * all[2] + c});
    return plane.picked({all[0], all[1], slice.last - slice.first}, places);
  }

  // Channels of several blocks as one plane.
  static BlockGather side_by_side(const std::vector<BlockGather>& parts, const Extents& extents) {
    const Extents plane = extents.size() == 3 ? extents : Extents{1, 1, extents[0]};
    std::vector<BlockGather::Place> places(static_cast<std::size_t>(plane[0] * plane[1] * plane[2]));
    std::int64_t before = 0, place = 0;
    for (const BlockGather& part : parts) {
      const std::int64_t f = part.extents()[2];
      for (std::int64_t k = 0; k < part.size(); ++k, ++place)
        places[static_cast<std::size_t>(k / f * plane[2] + before + k % f)] = {0, place};
      before += f;
    }
    return BlockGather::joined(parts).picked(extents, places);
  }

  Sums scaled_channels(const LoweredValue& in, const IntegerFactors& integers, double scale, ValueRange range) const {
    BlockBuilder::State& s = *state;
    const BlockGather gather = s.arranged(in, sum.layout);
    const BlockId from = s.stored(gather, in.precision, "SI", name + "_in");
    const bool is_one = std::ranges::all_of(integers.weights, [&](std::int64_t w) { return w == integers.weights[0]; });
    const BlockId axon = s.add(is_one ? "CVS" : "CAX", name, Precision::i32, shape_of(gather.extents()));
    s.connect(from, axon, "input");
    if (is_one) {
      s.set(axon, "constant_a", integers.weights[0]);
    } else {
      const auto f = static_cast<std::int64_t>(integers.weights.size());
      s.connect(s.data("SB", name + "_a", {.f = f}, Precision::i8, integers.weights), axon, "alpha");
    }
    connect_bias(axon, integers.bias);
    return s.summed_by(axon, out, sum.layout, scale, range);
  }
};

// What a batch norm behind a product does to its weights.
void fold_into(Factors& factors, const std::vector<double>& factor, const std::vector<double>& shift) {
  const std::size_t each = factors.per_output();
  for (std::size_t o = 0; o < factors.bias.size(); ++o) {
    for (std::size_t k = 0; k < each; ++k) factors.weights[o * each + k] *= factor[o];
    factors.bias[o] = factors.bias[o] * factor[o] + shift[o];
  }
}

LoweredValue pending_product(std::shared_ptr<ProductMaker> maker, ValueId value) {
  LoweredValue made;
  made.id = value;
  made.layout = maker->sum.result;
  made.name = maker->name + "_cut";
  auto pending = std::make_shared<PendingSum>();
  pending->name = maker->name, pending->span = maker->state->span;
  pending->make = [maker](double wanted, ValueId v) { return maker->make(wanted, v); };
  pending->fold = [maker](const std::vector<double>& factor, const std::vector<double>& shift) {
    fold_into(maker->factors, factor, shift);
  };
  made.sum = std::move(pending);
  return made;
}

// Integers are summed at once, so that the line of a sum that may overflow is the one at hand.
void keep_product(BlockBuilder::State& state, std::shared_ptr<ProductMaker> maker, ValueId value) {
  if (state.scales()) {
    state.keep(pending_product(std::move(maker), value));
    return;
  }
  const Sums sums = maker->make(0, value);
  LoweredValue made;
  made.id = made.base = value;
  made.gather = sums.gather, made.layout = sums.layout, made.range = sums.range;
  made.name = maker->name + "_cut";
  state.keep(std::move(made));
}

}  // namespace

void BlockBuilder::weigh(const WeightedSum& sum) {
  if (is_fixed(sum.input)) bug("a product of what is known is known");
  auto maker = std::make_shared<ProductMaker>();
  maker->state = &state_;
  maker->sum = sum;
  maker->factors.weights = state_.contents_of(sum.weights);
  const auto outputs = static_cast<std::size_t>(sum.weights.extents()[0]);
  maker->factors.bias = sum.bias ? state_.contents_of(*sum.bias) : std::vector<double>(outputs);
  maker->input = line_.in[sum.input];
  maker->out = call_.out[0];
  maker->name = state_.line_name;
  keep_product(state_, std::move(maker), line_.out[0]);
}

void BlockBuilder::affine(std::size_t axis, const std::vector<double>& factor, const std::vector<double>& shift,
                          std::size_t input) {
  const ValueId in = line_.in[input], out = line_.out[0];
  LoweredValue& value = state_.value(in);
  const Extents& tensor = state_.type(in).extents;
  const bool folds = state_.scales() && value.sum && value.sum->fold && value.stage.is_nothing() &&
                     state_.readers[in.index()] == 1 && (factor.size() == 1 || value.layout.f == axis);
  if (folds) {
    const std::size_t outputs = value.layout.f == no_axis ? 1 : static_cast<std::size_t>(tensor[value.layout.f]);
    auto each = [&](const std::vector<double>& n) { return n.size() == 1 ? std::vector<double>(outputs, n[0]) : n; };
    value.sum->fold(each(factor), each(shift));
    LoweredValue moved = value;
    moved.id = out;
    state_.keep(std::move(moved));
    return;
  }
  auto maker = std::make_shared<ProductMaker>();
  maker->state = &state_;
  LoweredValue& ready = state_.ready(in);
  BlockLayout layout = ready.layout;
  if (axis != no_axis && layout.f != axis) {
    // The axis of the channels becomes f; what was f takes its place.
    (layout.y == axis ? layout.y : layout.x) = layout.f;
    layout.f = axis;
  }
  maker->sum.layout = maker->sum.result = layout;
  const std::size_t channels = layout.f == no_axis ? 1 : static_cast<std::size_t>(state_.type(in).extents[layout.f]);
  maker->factors = {factor, shift};
  if (factor.size() == 1)
    maker->factors.weights.assign(channels, factor[0]), maker->factors.bias.assign(channels, shift[0]);
  maker->input = in;
  maker->out = call_.out[0];
  maker->name = state_.line_name;
  maker->is_per_channel = true;
  keep_product(state_, std::move(maker), out);
}

}  // namespace taskspec
