// What is done to each number alone: functions, sums and products of tensors, relu, bounds, precisions, tables, neurons.
#include <fmt/format.h>

#include "ir/lowering/state.hpp"
#include "ir/lowering/evaluate.hpp"

namespace taskspec {

namespace {

void require_range(ValueRange range, Precision host, std::string_view what) {
  const PrecisionInfo& p = info(host);
  if (range.least >= p.minimum && range.most <= p.maximum) return;
  const std::int64_t value = range.most > p.maximum ? range.most : range.least;
  throw Refused{"E4012",
                fmt::format("{} may be {}, and {} holds {} to {}: the host wraps around, blocks saturate", what, value, p.name,
                            p.minimum, p.maximum),
                "cut the numbers before: x.shift_right(2) as i8"};
}

// A value of which nothing is put off, so that a stage can begin behind it.
LoweredValue behind(BlockBuilder::State& state, ValueId in, ValueId out) {
  LoweredValue& value = state.value(in);
  if (value.kind == LoweredValue::Kind::missing) throw MissingValue{};
  const bool is_only_reader = state.readers[in.index()] == 1;
  const bool is_open = value.kind == LoweredValue::Kind::made && (value.sum || !value.stage.is_nothing());
  if (!(is_open && is_only_reader)) state.ready(in);
  LoweredValue next = state.value(in);
  next.id = out;
  if (!next.sum) next.name = state.line_name;
  // Its integers are those of `base`: relu and pools keep the scale.
  if (state.scales() && !next.sum) state.scales()->same(next.base, out);
  if (state.scales() && next.sum && next.sum->scaled_as) state.scales()->same(*next.sum->scaled_as, out);
  return next;
}

}  // namespace

void BlockBuilder::pass(std::size_t input) {
  state_.keep(behind(state_, line_.in[input], line_.out[0]));
}

void BlockBuilder::rectify() {
  LoweredValue value = behind(state_, line_.in[0], line_.out[0]);
  value.stage.rectifies = true;
  state_.keep(std::move(value));
}

void BlockBuilder::convert(Precision to) {
  const Precision from = call_.in[0].precision;
  const bool floats = is_float(from) && is_float(to) && state_.scales();
  if (from == to || floats || (from == Precision::i8 && to == Precision::i32)) return pass();
  if (from != Precision::i32 || to != Precision::i8)
    refuse(fmt::format("blocks make no {} of {}", info(to).name, info(from).name),
           "i32 as i8, and i8 as i32; other conversions are the host's");
  LoweredValue value = behind(state_, line_.in[0], line_.out[0]);
  if (value.precision != Precision::i8) value.stage.narrows = true;
  state_.keep(std::move(value));
}

void BlockBuilder::shift_right(std::int64_t bits) {
  if (bits == 0) return pass();
  LoweredValue value = behind(state_, line_.in[0], line_.out[0]);
  const bool is_wide = call_.in[0].precision == Precision::i32 && !value.stage.narrows;
  if (!is_wide || bits > 30 || value.precision == Precision::i8) return map();
  value.stage.shift += static_cast<int>(bits);
  state_.keep(std::move(value));
}

// ---- functions ------------------------------------------------------------------------------------

namespace {

struct Tabled {
  std::size_t input = 0;  // the operand that is not known
  OpInstance call;        // of `length` numbers at once
  std::vector<Array> operands;
};

// The numbers that a table of so many bits stands for, as an operand of the call.
Array addresses(Precision precision, int bits, double scale) {
  const std::int64_t half = std::int64_t{1} << (bits - 1);
  Array all = Array::make({precision, {2 * half}});
  for (std::int64_t k = 0; k < 2 * half; ++k) {
    const std::int64_t a = k < half ? k : k - 2 * half;
    if (is_float(precision))
      all.set_number(k, static_cast<double>(a) / scale);
    else
      all.set_integer(k, std::clamp(a, info(precision).minimum, info(precision).maximum));
  }
  return all;
}

}  // namespace

void BlockBuilder::map() {
  std::size_t input = call_.in.size();
  for (std::size_t k = 0; k < call_.in.size(); ++k) {
    if (is_fixed(k)) continue;
    if (input != call_.in.size())
      refuse("it is a function of two tensors, and tables are read by one number", "sums and products of two tensors have blocks");
    input = k;
  }
  const ArrayType out = call_.out[0];
  for (std::size_t k = 0; k < call_.in.size(); ++k)
    if (k != input && call_.in[k].elements() != 1)
      refuse("its other operand differs from element to element: a block has one table for all of them",
             "one number in its place");
  LoweredValue& value = state_.ready(line_.in[input]);
  int bits = 8;
  LoweredValue read = value;
  if (!state_.scales()) {
    const ValueRange r = value.range;
    auto within = [&](std::int64_t limit) { return r.least >= -limit && r.most < limit; };
    if (value.precision != Precision::i8 && within(128)) read = state_.narrowed(line_.in[input], state_.line_name);
    if (value.precision != Precision::i8 && !within(128)) bits = within(2048) ? 12 : 16;
    if (!within(32768))
      refuse(fmt::format("its input may be {} to {}, and tables have at most 16 bits", r.least, r.most),
             "cut the numbers before: x.shift_right(2) as i8");
  }
  OpInstance call = call_;
  std::vector<Array> operands;
  for (std::size_t k = 0; k < call_.in.size(); ++k) {
    operands.push_back(k == input ? addresses(call_.in[k].precision, bits, value.scale) : state_.value(line_.in[k]).contents);
    if (k != input && operands.back().extents().size() > 1) operands.back() = Array::wrap({operands.back().precision(), {1}}, operands.back().storage());
    call.in[k] = operands.back().type();
  }
  call.out[0].extents = {std::int64_t{1} << bits};
  Array results;
  try {
    results = evaluate(call, operands)[0];
  } catch (const Error& error) {
    refuse(fmt::format("its table cannot be made: {}", error.diags().items().front().message), "");
  }
  if (!state_.scales() && out.precision != Precision::i8 && out.precision != Precision::i32)
    refuse(fmt::format("it makes {}, and blocks make i8 and i32", info(out.precision).name), "the host can do it");
  ValueRange range{INT64_MAX, INT64_MIN};
  std::vector<std::int64_t> entries;
  if (state_.scales()) state_.scales()->held(line_.out[0]);
  const double scale = state_.scales() ? state_.scales()->of(line_.out[0]) : 1;
  const std::int64_t half = std::int64_t{1} << (bits - 1);
  for (std::int64_t k = 0; k < results.elements(); ++k) {
    std::int64_t entry = 0;
    if (state_.scales()) {
      const double number = results.number(k);
      entry = std::isnan(number) ? 0 : static_cast<std::int64_t>(std::clamp(std::floor(number * scale + 0.5), -128.0, 127.0));
    } else {
      entry = results.integer(k);
    }
    entries.push_back(entry);
    const std::int64_t address = k < half ? k : k - 2 * half;
    if (address >= read.range.least && address <= read.range.most)
      range = {std::min(range.least, entry), std::max(range.most, entry)};
  }
  // Entries that nothing reads need not fit.
  const bool is_narrow = state_.scales() || (range.least >= -128 && range.most <= 127);
  const Precision to = is_narrow ? Precision::i8 : Precision::i32;
  if (is_narrow)
    for (std::int64_t& entry : entries) entry = std::clamp<std::int64_t>(entry, -128, 127);
  const BlockId from = state_.stored(read, read.layout, "SI");
  const BlockId table = state_.data("SB", state_.line_name + "_table", {.f = results.elements()}, to, entries);
  const BlockId id = state_.add("CLUT", state_.line_name, to, shape_of(read.gather.extents()));
  state_.set(id, "lut_dw", bits);
  state_.connect(from, id, "input");
  state_.connect(table, id, "table");
  LoweredValue made = read;
  made.id = made.base = line_.out[0];
  made.gather = BlockGather::of(id, read.gather.extents());
  made.precision = to, made.scale = scale, made.range = range, made.name = state_.line_name;
  if (state_.scales()) state_.note_layer(made.id, state_.block(id).name, scale, value.scale, -1);
  if (state_.scales()) state_.made.held.push_back({made.id, state_.port_of(made, ""), id, true});
  state_.keep(std::move(made));
}

void BlockBuilder::look_up(std::size_t table, std::size_t input) {
  if (state_.scales() || !is_fixed(table)) refuse("tables of blocks hold integers that are known before the run", "");
  const Array& contents = state_.value(line_.in[table]).contents;
  int bits = 0;
  while ((std::int64_t{1} << bits) < contents.elements()) ++bits;
  LoweredValue value = state_.ready(line_.in[input]);
  if (value.precision == Precision::i8 && bits > 8) value = state_.widened(value);
  std::vector<std::int64_t> entries;
  for (std::int64_t k = 0; k < contents.elements(); ++k) entries.push_back(contents.integer(k));
  const BlockId from = state_.stored(value, value.layout, "SI");
  const BlockId data = state_.data("SB", state_.line_name + "_table", {.f = contents.elements()}, contents.precision(), entries);
  const BlockId id = state_.add("CLUT", state_.line_name, contents.precision(), shape_of(value.gather.extents()));
  state_.set(id, "lut_dw", bits);
  state_.connect(from, id, "input");
  state_.connect(data, id, "table");
  LoweredValue made = value;
  made.id = made.base = line_.out[0];
  made.gather = BlockGather::of(id, value.gather.extents());
  made.precision = contents.precision();
  made.range = {*std::ranges::min_element(entries), *std::ranges::max_element(entries)};
  state_.keep(std::move(made));
}

// ---- bounds ---------------------------------------------------------------------------------------

// A lower bound is a compare with the largest, an upper one with the smallest.
void BlockBuilder::bound(std::optional<double> least, std::optional<double> most) {
  if (least && *least == 0 && !most) return rectify();
  LoweredValue value = behind(state_, line_.in[0], line_.out[0]);
  if (value.sum || !value.stage.is_nothing()) {
    state_.ready(line_.in[0]);
    value = behind(state_, line_.in[0], line_.out[0]);
  }
  auto step = [&](std::string_view type, double limit, bool is_least) {
    const std::int64_t cmp = state_.scales() ? std::clamp<std::int64_t>(rounded(limit * value.scale), -128, 127)
                                             : static_cast<std::int64_t>(limit);
    const PrecisionInfo& p = info(value.precision);
    const std::int64_t bound = std::clamp(cmp, p.minimum, p.maximum);
    const BlockId from = state_.stored(value.gather, value.precision, "SI", state_.line_name + "_in");
    const BlockId id = state_.add(type, state_.line_name, value.precision, shape_of(value.gather.extents()));
    // One byte stands for all four channels of the constant's word: a plain number.
    state_.block(id).set(*state_.options.blocks.attribute("cmp"), bound);
    state_.connect(from, id, "input");
    value.gather = BlockGather::of(id, value.gather.extents());
    auto cut = [&](std::int64_t n) { return is_least ? std::max(n, bound) : std::min(n, bound); };
    value.range = {cut(value.range.least), cut(value.range.most)};
  };
  if (least) step("CCMPB", *least, true);
  if (most) step("CCMPS", *most, false);
  value.base = line_.out[0];
  if (state_.scales()) state_.scales()->held(line_.out[0]);
  state_.keep(std::move(value));
}

// ---- sums -----------------------------------------------------------------------------------------

namespace {

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

  void keep_pending(BlockLayout layout, std::function<Sums(double, ValueId)> make, std::optional<ValueId> scaled_as = {}) {
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
      if (!bias) b.refuse("it adds a tensor that is known and differs from place to place", "give it as an input");
      const auto [least, most] = std::ranges::minmax(*bias);
      range = {static_cast<std::int64_t>(least), static_cast<std::int64_t>(most)};
    }
    const bool is_wide = std::ranges::any_of(values, [](const LoweredValue& v) { return v.precision == Precision::i32; }) ||
                         std::ranges::any_of(signs, [](double f) { return f < 0; });
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
    const BlockId data = s.data("SB", name + "_b", {.f = static_cast<std::int64_t>(integers.size())}, Precision::i32, integers);
    s.connect(data, axon, "bias");
  }

  // A residual add: both sides and the sum have one scale, so the sum needs no cut.
  void add_scaled(double sign) {
    for (std::size_t k : {0U, 1U}) s.scales()->same(in(k), out);
    const BlockLayout layout = layout_of_result();
    keep_pending(layout, [self = *this, layout, sign, a = in(0), c = in(1)](double, ValueId) mutable {
      State& state = self.s;
      const Extents& tensor = state.type(self.out).extents;
      const Extents extents = block_extents(tensor, layout);
      const LoweredValue left = state.ready(a), right = state.ready(c);
      std::vector<BlockGather> parts{stretched_gather(state, left, tensor, layout),
                                     stretched_gather(state, right, tensor, layout)};
      if (sign < 0) parts = {self.times(left, parts[0], 1), self.times(right, parts[1], -1)};
      const BlockId axon = self.sum_of(parts, sign < 0 ? Precision::i32 : Precision::i8, extents);
      return Sums{BlockGather::of(axon, extents), layout, left.scale, {-256, 256}, state.block(axon).name};
    }, out);
  }

  void add_known(double sign) {
    const std::size_t k = b.is_fixed(0) ? 1 : 0;
    const LoweredValue& value = s.value(in(k));
    if (value.kind == LoweredValue::Kind::missing) throw MissingValue{};
    const BlockLayout layout = value.sum ? value.layout : s.ready(in(k)).layout;
    if (b.call_.in[k].extents != type.extents) b.refuse("it stretches a tensor by one that is known", "give both the same shape");
    std::vector<double> shift = stretched(s.value(in(1 - k)).contents, type.extents);
    for (double& number : shift) number *= k == 0 ? sign : 1;
    const std::optional<std::vector<double>> channels = by_channel(shift, type.extents, layout);
    const double factor = k == 0 ? 1 : sign;
    if (!channels) b.refuse("it adds a tensor that is known and differs from place to place", "give it as an input, or one number per channel");
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
    if (call_.in[k].extents != call_.out[0].extents) refuse("it stretches a tensor by one that is known", "give both the same shape");
    const auto factor = by_channel(stretched(s.value(line_.in[1 - k]).contents, call_.out[0].extents), call_.out[0].extents, layout);
    if (!factor) refuse("it multiplies by a tensor that is known and differs from place to place", "one number per channel");
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
    s.connect(s.stored(stretched_gather(s, left, tensor, layout), Precision::i8, "SI", impl.name + "_in"), axon, "input");
    s.connect(s.stored(stretched_gather(s, right, tensor, layout), Precision::i8, "SI", impl.name + "_in"), axon, "input2");
    const std::int64_t corners[] = {left.range.least * right.range.least, left.range.least * right.range.most,
                                    left.range.most * right.range.least, left.range.most * right.range.most};
    const auto [least, most] = std::ranges::minmax(corners);
    return Sums{BlockGather::of(axon, extents), layout, left.scale * right.scale, {least, most}, s.block(axon).name};
  };
  const ValueId a = line_.in[0], c = line_.in[1];
  if (s.scales())
    return impl.keep_pending(layout, [&s, a, c, product](double, ValueId) mutable { return product(s.ready(a), s.ready(c)); });
  Sums sums = product(s.narrowed(a, s.line_name), s.narrowed(c, s.line_name));
  require_range(sums.range, call_.out[0].precision, s.line_name);
  impl.keep(sums, call_.out[0].precision == Precision::i8);
}

// ---- neurons --------------------------------------------------------------------------------------

void BlockBuilder::fire(std::size_t current, std::size_t potential, const NeuronSettings& settings) {
  State& s = state_;
  if (s.scales()) refuse("its neurons are of integers, and this net is of floats", "a net of i8 and i32");
  const LoweredValue& v = s.value(line_.in[potential]);
  if (v.kind != LoweredValue::Kind::fixed) refuse("its potential is no state of the net", "a slot: state v: i32[n] = zero()");
  const LoweredValue u = s.widened(s.ready(line_.in[current]));
  const BlockShape shape = shape_of(u.gather.extents());
  const std::vector<std::int64_t> order = tensor_places(call_.in[potential].extents, u.layout);
  std::vector<std::int64_t> first;
  for (const std::int64_t place : order) first.push_back(v.contents.integer(place));
  const Precision width = call_.in[potential].precision;
  const BlockId state = s.data("SI", s.line_name + "_v", shape, width, first);
  const BlockId id = s.add("CLIF", s.line_name, Precision::i8, shape);
  s.set(id, "vth0", settings.threshold), s.set(id, "vleaky_beta", -settings.leak);
  s.set(id, "reset_mode", settings.reset), s.set(id, "dv", settings.dv), s.set(id, "ref_len", settings.refractory);
  s.set(id, "vr", settings.vr), s.set(id, "vl", settings.vl), s.set(id, "vinit", settings.vinit);
  if (settings.decay) s.set(id, "vleaky_adpt_en", 1), s.set(id, "vleaky_alpha", *settings.decay);
  s.set(id, "fire_type", 4);
  s.connect(s.stored(u, u.layout, "SI"), id, "input");
  s.connect(state, id, "state");
  LoweredValue made = u;
  made.id = made.base = line_.out[0];
  made.gather = BlockGather::of(id, u.gather.extents());
  made.precision = Precision::i8, made.range = {0, 1};
  s.keep(std::move(made));
}

}  // namespace taskspec
