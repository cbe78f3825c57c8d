// Sums and products of two tensors, element by element, with broadcasting.
#include <fmt/format.h>

#include "ir/lowering/state.hpp"

namespace taskspec {

namespace {

void require_range(ValueRange range, Precision host, std::string_view what) {
  const PrecisionInfo& p = info(host);
  if (range.least >= p.minimum && range.most <= p.maximum) return;
  const std::int64_t value = range.most > p.maximum ? range.most : range.least;
  throw Refused{"E4012",
                fmt::format("{} may be {}, and {} holds {} to {}: the host wraps around, blocks saturate", what, value,
                            p.name, p.minimum, p.maximum),
                "cut the numbers before: x.shift_right(2) as i8"};
}

// A tensor that is known, stretched to what the sum makes.
std::vector<double> stretched(const Array& array, const Extents& out) {
  const Extents& in = array.extents();
  std::vector<double> numbers;
  Extents index(out.size());
  std::int64_t count = 1;
  for (const std::int64_t extent : out) count *= extent;
  for (std::int64_t k = 0; k < count; ++k) {
    std::int64_t place = 0;
    for (std::size_t axis = 0; axis < in.size(); ++axis) {
      const std::size_t at = axis + out.size() - in.size();
      place = place * in[axis] + (in[axis] == 1 ? 0 : index[at]);
    }
    numbers.push_back(array.number(place));
    for (std::size_t axis = out.size(); axis-- > 0 && ++index[axis] == out[axis];) index[axis] = 0;
  }
  return numbers;
}

// The same number at every place of an f? Then one for each f.
std::optional<std::vector<double>> by_channel(const std::vector<double>& numbers, const Extents& tensor,
                                              const BlockLayout& layout) {
  const std::vector<std::int64_t> places = tensor_places(tensor, layout);
  const std::size_t f = layout.f == no_axis ? 1 : static_cast<std::size_t>(tensor[layout.f]);
  std::vector<double> channels(f);
  for (std::size_t k = 0; k < places.size(); ++k) {
    const double number = numbers[static_cast<std::size_t>(places[k])];
    if (k < f) channels[k] = number;
    if (channels[k % f] != number) return std::nullopt;
  }
  return channels;
}

// A value stretched along axes of extent 1.
BlockGather stretched_gather(const BlockBuilder::State& state, const LoweredValue& value, const Extents& out,
                             const BlockLayout& layout) {
  const Extents& in = state.type(value.id).extents;
  const std::vector<std::int64_t> is = tensor_places(in, value.layout);
  std::int64_t count = 1;
  for (const std::int64_t extent : in) count *= extent;
  std::vector<std::int64_t> at(static_cast<std::size_t>(count));
  for (std::size_t k = 0; k < is.size(); ++k) at[static_cast<std::size_t>(is[k])] = static_cast<std::int64_t>(k);
  std::vector<BlockGather::Place> places;
  for (std::int64_t place : tensor_places(out, layout)) {
    std::int64_t from = 0, step = 1;
    for (std::size_t axis = out.size(); axis-- > 0; place /= out[axis]) {
      if (axis + in.size() < out.size()) continue;
      const std::size_t k = axis + in.size() - out.size();
      from += (in[k] == 1 ? 0 : place % out[axis]) * step;
      step *= in[k];
    }
    places.push_back({0, at[static_cast<std::size_t>(from)]});
  }
  return value.gather.picked(block_extents(out, layout), places);
}

}  // namespace

namespace {

// A tensor that is known and differs from place to place, as integers of a scale.
BlockGather constant_gather(const BlockGather& like, const std::vector<double>& numbers, double scale,
                            const Extents& tensor, const BlockLayout& layout) {
  std::vector<BlockGather::Place> places;
  for (const std::int64_t place : tensor_places(tensor, layout))
    places.push_back({BlockGather::constant, rounded(numbers[static_cast<std::size_t>(place)] * scale)});
  return like.picked(block_extents(tensor, layout), places);
}

double largest_of(const std::vector<double>& numbers) {
  double most = 0;
  for (const double number : numbers) most = std::max(most, std::abs(number));
  return most;
}

}  // namespace

struct BlockBuilder::Impl {
  BlockBuilder& b;
  State& s = b.state_;
  ValueId out = b.line_.out[0];
  const ArrayType& type = s.type(b.line_.out[0]);
  std::string name = s.line_name;

  ValueId in(std::size_t k) const { return b.line_.in[k]; }

  // The layout of the operand that is as large as the result.
  BlockLayout layout_of_result() {
    for (std::size_t k = 0; k < b.call_.in.size(); ++k)
      if (!b.is_fixed(k) && b.call_.in[k].extents == type.extents) return s.ready(in(k)).layout;
    return plain_layout(type.extents);
  }

  void keep(const Sums& sums, bool is_narrow) {
    LoweredValue made;
    made.id = made.base = out;
    made.gather = sums.gather, made.layout = sums.layout, made.range = sums.range;
    made.stage.narrows = is_narrow;
    made.name = name + "_cut";
    s.keep(std::move(made));
  }

  void keep_pending(BlockLayout layout, std::function<Sums(double, ValueId)> make,
                    std::optional<ValueId> scaled_as = {}) {
    LoweredValue made;
    made.id = out;
    made.layout = layout;
    made.name = name + "_cut";
    auto pending = std::make_shared<PendingSum>();
    pending->make = std::move(make);
    pending->name = name, pending->span = s.span;
    pending->scaled_as = scaled_as;
    made.sum = std::move(pending);
    s.keep(std::move(made));
  }

  BlockId sum_of(const std::vector<BlockGather>& parts, Precision precision, const Extents& extents) {
    const BlockId axon = s.add("CADD", name, Precision::i32, shape_of(extents));
    s.block(axon).branches = static_cast<std::uint16_t>(parts.size());
    for (std::size_t k = 0; k < parts.size(); ++k)
      s.connect(s.stored(parts[k], precision, "SI", name + "_in"), axon, s.block(axon).in_cluster_name(k));
    return axon;
  }

  // Times -1 or 1, in 32 bits.
  BlockGather times(const LoweredValue& value, const BlockGather& gather, std::int64_t factor) {
    const BlockId from = s.stored(gather, value.precision, "SI", name + "_in");
    const BlockId id = s.add("CVS", name + "_side", Precision::i32, shape_of(gather.extents()));
    s.set(id, "constant_a", factor);
    s.connect(from, id, "input");
    return BlockGather::of(id, gather.extents());
  }

  void add_integers(double sign) {
    const BlockLayout layout = layout_of_result();
    const Extents extents = block_extents(type.extents, layout);
    ValueRange range{0, 0};
    std::vector<BlockGather> parts;
    std::optional<std::vector<double>> bias;
    std::vector<double> constants;  // that differ from place to place
    std::vector<LoweredValue> values;
    std::vector<double> signs;
    for (std::size_t k = 0; k < 2; ++k) {
      const double factor = k == 0 ? 1 : sign;
      if (!b.is_fixed(k)) {
        values.push_back(factor < 0 ? s.narrowed(in(k), "a difference") : s.ready(in(k)));
        signs.push_back(factor);
        continue;
      }
      std::vector<double> numbers = stretched(s.value(in(k)).contents, type.extents);
      for (double& number : numbers) number *= factor;
      bias = by_channel(numbers, type.extents, layout);
      const auto [least, most] = std::ranges::minmax(numbers);
      if (!bias) constants = numbers;
      range = {static_cast<std::int64_t>(least), static_cast<std::int64_t>(most)};
    }
    const bool is_wide =
        std::ranges::any_of(values, [](const LoweredValue& v) { return v.precision == Precision::i32; }) ||
        std::ranges::any_of(signs, [](double f) { return f < 0; }) || !constants.empty();
    for (std::size_t k = 0; k < values.size(); ++k) {
      LoweredValue& value = values[k];
      BlockGather gather = stretched_gather(s, value, type.extents, layout);
      if (signs[k] < 0)
        gather = times(value, gather, -1), value.range = {-value.range.most, -value.range.least};
      else if (is_wide && value.precision == Precision::i8)
        gather = times(value, gather, 1);
      parts.push_back(std::move(gather));
      range = {range.least + value.range.least, range.most + value.range.most};
    }
    if (!constants.empty()) parts.push_back(constant_gather(parts[0], constants, 1, type.extents, layout));
    require_range(range, Precision::i32, name);
    require_range(range, type.precision, name);
    const BlockId axon = sum_of(parts, is_wide ? Precision::i32 : Precision::i8, extents);
    if (bias) connect_bias(axon, *bias);
    keep({BlockGather::of(axon, extents), layout, 1, range, ""}, type.precision == Precision::i8);
  }

  void connect_bias(BlockId axon, const std::vector<double>& bias) {
    std::vector<std::int64_t> integers;
    for (const double number : bias) integers.push_back(static_cast<std::int64_t>(number));
    if (std::ranges::all_of(integers, [](std::int64_t n) { return n == 0; })) return;
    s.block(axon).bias = BiasKind::vector;
    const BlockId data =
        s.data("SB", name + "_b", {.f = static_cast<std::int64_t>(integers.size())}, Precision::i32, integers);
    s.connect(data, axon, "bias");
  }

  // A residual add: both sides and the sum have one scale, so the sum needs no cut.
  void add_scaled(double sign) {
    for (std::size_t k : {0U, 1U}) s.scales()->same(in(k), out);
    const BlockLayout layout = layout_of_result();
    keep_pending(
        layout,
        [self = *this, layout, sign, a = in(0), c = in(1)](double, ValueId) mutable {
          State& state = self.s;
          const Extents& tensor = state.type(self.out).extents;
          const Extents extents = block_extents(tensor, layout);
          const LoweredValue left = state.ready(a), right = state.ready(c);
          std::vector<BlockGather> parts{stretched_gather(state, left, tensor, layout),
                                         stretched_gather(state, right, tensor, layout)};
          if (sign < 0) parts = {self.times(left, parts[0], 1), self.times(right, parts[1], -1)};
          const BlockId axon = self.sum_of(parts, sign < 0 ? Precision::i32 : Precision::i8, extents);
          return Sums{BlockGather::of(axon, extents), layout, left.scale, {-256, 256}, state.block(axon).name};
        },
        out);
  }

  void add_constants(std::size_t k, const std::vector<double>& numbers, const BlockLayout& layout) {
    s.scales()->same(in(k), out);
    if (const double most = largest_of(numbers); most > 0) s.scales()->at_most(out, 127 / most);
    auto make = [self = *this, layout, numbers, x = in(k)](double, ValueId) mutable {
      State& state = self.s;
      const Extents& tensor = state.type(self.out).extents;
      const LoweredValue value = state.ready(x);
      const BlockGather gather = state.arranged(value, layout);
      const BlockId axon = self.sum_of({gather, constant_gather(gather, numbers, value.scale, tensor, layout)},
                                       Precision::i8, gather.extents());
      return Sums{BlockGather::of(axon, gather.extents()), layout, value.scale, {-256, 256}, state.block(axon).name};
    };
    keep_pending(layout, make, out);
  }

  void add_known(double sign) {
    const std::size_t k = b.is_fixed(0) ? 1 : 0;
    const LoweredValue& value = s.value(in(k));
    if (value.kind == LoweredValue::Kind::missing) throw MissingValue{};
    const BlockLayout layout = value.sum ? value.layout : s.ready(in(k)).layout;
    if (b.call_.in[k].extents != type.extents)
      b.refuse("it stretches a tensor by one that is known", "give both the same shape");
    std::vector<double> shift = stretched(s.value(in(1 - k)).contents, type.extents);
    for (double& number : shift) number *= k == 0 ? sign : 1;
    const std::optional<std::vector<double>> channels = by_channel(shift, type.extents, layout);
    const double factor = k == 0 ? 1 : sign;
    if (!channels && factor < 0)
      b.refuse("it takes a tensor from one that is known and differs from place to place", "-x + c");
    if (!channels) return add_constants(k, shift, layout);
    b.affine(layout.f, std::vector<double>(channels->size(), factor), *channels, k);
  }
};

void BlockBuilder::add(double sign) {
  Impl impl{*this};
  if (!state_.scales()) return impl.add_integers(sign);
  if (is_fixed(0) || is_fixed(1)) return impl.add_known(sign);
  impl.add_scaled(sign);
}

void BlockBuilder::multiply() {
  Impl impl{*this};
  State& s = state_;
  if (is_fixed(0) || is_fixed(1)) {
    const std::size_t k = is_fixed(0) ? 1 : 0;
    const LoweredValue& value = s.value(line_.in[k]);
    if (value.kind == LoweredValue::Kind::missing) throw MissingValue{};
    const BlockLayout layout = value.sum ? value.layout : s.ready(line_.in[k]).layout;
    if (call_.in[k].extents != call_.out[0].extents)
      refuse("it stretches a tensor by one that is known", "give both the same shape");
    const std::vector<double> numbers = stretched(s.value(line_.in[1 - k]).contents, call_.out[0].extents);
    const auto factor = by_channel(numbers, call_.out[0].extents, layout);
    if (!factor)
      refuse("it multiplies by a tensor that is known and differs from place to place", "one number per channel");
    affine(layout.f, *factor, std::vector<double>(factor->size()), k);
    if (!s.scales()) {
      LoweredValue& made = s.value(line_.out[0]);
      require_range(made.range, call_.out[0].precision, s.line_name);
      made.stage.narrows = call_.out[0].precision == Precision::i8;
    }
    return;
  }
  const BlockLayout layout = impl.layout_of_result();
  auto product = [impl, layout, &s](const LoweredValue& left, const LoweredValue& right) mutable {
    const Extents& tensor = s.type(impl.out).extents;
    const Extents extents = block_extents(tensor, layout);
    const BlockId axon = s.add("CVVH", impl.name, Precision::i32, shape_of(extents));
    s.connect(s.stored(stretched_gather(s, left, tensor, layout), Precision::i8, "SI", impl.name + "_in"), axon,
              "input");
    s.connect(s.stored(stretched_gather(s, right, tensor, layout), Precision::i8, "SI", impl.name + "_in"), axon,
              "input2");
    const std::int64_t corners[] = {left.range.least * right.range.least, left.range.least * right.range.most,
                                    left.range.most * right.range.least, left.range.most * right.range.most};
    const auto [least, most] = std::ranges::minmax(corners);
    return Sums{BlockGather::of(axon, extents), layout, left.scale * right.scale, {least, most}, s.block(axon).name};
  };
  const ValueId a = line_.in[0], c = line_.in[1];
  if (s.scales())
    return impl.keep_pending(layout,
                             [&s, a, c, product](double, ValueId) mutable { return product(s.ready(a), s.ready(c)); });
  Sums sums = product(s.narrowed(a, s.line_name), s.narrowed(c, s.line_name));
  require_range(sums.range, call_.out[0].precision, s.line_name);
  impl.keep(sums, call_.out[0].precision == Precision::i8);
}

}  // namespace taskspec
