// From sums to bytes: what was put off until now (shift, relu, saturation, pool) becomes one compare, or a table where
// a shift is odd or scales are no powers of 4 apart.
#include <fmt/format.h>

#include "ir/lowering/state.hpp"

namespace taskspec {

namespace {

Extents pooled_extents(const LoweredValue& value, const Extents& tensor) { return block_extents(tensor, value.layout); }

std::vector<std::int64_t> by_address(int bits, FunctionRef<std::int64_t(std::int64_t)> entry) {
  const std::int64_t half = std::int64_t{1} << (bits - 1);
  std::vector<std::int64_t> entries;
  for (std::int64_t k = 0; k < 2 * half; ++k) entries.push_back(entry(k < half ? k : k - 2 * half));
  return entries;
}

ValueRange shifted(ValueRange range, int bits) { return {range.least >> bits, range.most >> bits}; }

ValueRange rectified(ValueRange range) {
  return {std::max<std::int64_t>(range.least, 0), std::max<std::int64_t>(range.most, 0)};
}

}  // namespace

void BlockBuilder::State::became(LoweredValue& value, BlockId block, Precision precision, ValueRange range) {
  value.gather = BlockGather::of(block, value_type(made.graph[block]).extents);
  value.precision = precision;
  value.range = range;
}

// The stage as one compare: shift, relu, saturation, pool.
BlockId BlockBuilder::State::compare(const LoweredValue& value, Precision to, int shift) {
  const SomaStage& stage = value.stage;
  const BlockId from = stored(value.gather, value.precision, "SI", line_name + "_in");
  BlockShape shape = shape_of(stage.pools ? pooled_extents(value, type(value.id).extents) : value.gather.extents());
  if (stage.pools) {
    shape.ky = stage.y.kernel, shape.kx = stage.x.kernel;
    shape.iy = value.gather.extents()[0], shape.ix = value.gather.extents()[1];
  }
  const BlockId id = add("CCMPB", value.name, to, shape);
  if (stage.pools) set_windows(id, stage.y, stage.x, false);
  set_shift(id, shift);
  block(id).set(*options.blocks.attribute("cmp"), stage.rectifies ? 0 : info(to).minimum);
  connect(from, id, "input");
  return id;
}

BlockId BlockBuilder::State::table(const LoweredValue& value, int bits, int shift, Precision to,
                                   const std::vector<std::int64_t>& entries) {
  const BlockId from = stored(value.gather, value.precision, "SI", line_name + "_in");
  const BlockId contents =
      data("SB", line_name + "_table", {.f = static_cast<std::int64_t>(entries.size())}, to, entries);
  const BlockId id = add("CLUT", value.name, to, shape_of(value.gather.extents()));
  set(id, "lut_dw", bits);
  set_shift(id, shift);
  connect(from, id, "input");
  connect(contents, id, "table");
  return id;
}

// ---- integers -------------------------------------------------------------------------------------

void BlockBuilder::State::settle_integers(LoweredValue& value) {
  SomaStage& stage = value.stage;
  ValueRange after = shifted(value.range, stage.shift);
  if (stage.rectifies) after = rectified(after);
  const bool pads = stage.pools && (stage.y.before + stage.y.after + stage.x.before + stage.x.after) > 0;
  if (pads) after = {std::min<std::int64_t>(after.least, 0), std::max<std::int64_t>(after.most, 0)};
  const ValueRange bytes = range_of(Precision::i8);
  const bool fits = after.least >= bytes.least && after.most <= bytes.most;
  if (stage.shift == 0 && !stage.narrows) {
    became(value, compare(value, value.precision, 0), value.precision, after);
    return;
  }
  if (stage.narrows || fits) {
    if (stage.shift % 2 == 0) {
      became(value, compare(value, Precision::i8, stage.shift), Precision::i8, cut_to(after, Precision::i8));
      return;
    }
    // An odd shift: all but one bit on the way to the table, whose entries are halves.
    auto half = [](std::int64_t a) { return std::clamp<std::int64_t>(a >> 1, -128, 127); };
    became(value, table(value, 12, stage.shift - 1, Precision::i8, by_address(12, half)), Precision::i8,
           cut_to(shifted(value.range, stage.shift), Precision::i8));
    stage.shift = 0, stage.narrows = false;
    if (!stage.is_nothing()) settle_integers(value);
    return;
  }
  const int even = stage.shift / 2 * 2;
  const ValueRange address = shifted(value.range, even);
  if (address.least < -32768 || address.most > 32767)
    throw Refused{"E4011",
                  fmt::format("a shift by {} of numbers from {} to {} leaves more than a table of 16 bits reads",
                              stage.shift, value.range.least, value.range.most),
                  "put `as i8` behind the shift: both are one block then"};
  const int rest = stage.shift - even;
  became(value, table(value, 16, even, Precision::i32, by_address(16, [&](std::int64_t a) { return a >> rest; })),
         Precision::i32, shifted(value.range, stage.shift));
  stage.shift = 0;
  if (!stage.is_nothing()) settle_integers(value);
}

// ---- scales ---------------------------------------------------------------------------------------

void BlockBuilder::State::settle_scaled(LoweredValue& value) {
  const double wanted = scales()->of(value.id);
  const double ratio = value.scale / wanted;
  const bool by_table = scales()->cuts_by_table() && value.precision == Precision::i32 && ratio != 1;
  const int n = by_table ? -1 : power_of_four(ratio).value_or(-1);  // -1: a table
  SomaStage& stage = value.stage;
  const ValueRange after = stage.rectifies ? ValueRange{0, 127} : ValueRange{-128, 127};
  if (value.precision == Precision::i32) note_layer(value.id, value.name, wanted, value.scale, n);
  if (n >= 0 && (value.precision == Precision::i32 || ratio == 1)) {
    became(value, compare(value, Precision::i8, 2 * n), Precision::i8, after);
  } else {
    const bool is_wide = value.precision == Precision::i32;
    int s = 0;
    while (is_wide && 128 * ratio / std::pow(4.0, s) > 2047) ++s;
    const double step = std::pow(4.0, s);
    auto entry = [&](std::int64_t a) {
      const double sum = s == 0 ? static_cast<double>(a) : (static_cast<double>(a) + 0.5) * step;
      const std::int64_t cut = std::clamp<std::int64_t>(rounded(sum / ratio), -128, 127);
      return stage.rectifies ? std::max<std::int64_t>(cut, 0) : cut;
    };
    const int bits = is_wide ? 12 : 8;
    became(value, table(value, bits, 2 * s, Precision::i8, by_address(bits, entry)), Precision::i8, after);
    stage.rectifies = stage.narrows = false;
    value.scale = wanted;
    if (stage.pools) became(value, compare(value, Precision::i8, 0), Precision::i8, after);
  }
  value.scale = wanted;
}

// Its blocks are those of its own line.
Sums BlockBuilder::State::summed(const PendingSum& sum, double wanted, ValueId value) {
  const std::string name = std::exchange(line_name, sum.name);
  const Span place = std::exchange(span, sum.span);
  Sums sums = sum.make(wanted, value);
  line_name = name, span = place;
  return sums;
}

void BlockBuilder::State::settle(LoweredValue& value) {
  if (scales()) scales()->held(value.id);
  if (value.sum) {
    const Sums sums = summed(*value.sum, scales()->of(value.id), value.id);
    value.gather = sums.gather, value.layout = sums.layout, value.scale = sums.scale, value.range = sums.range;
    value.precision = Precision::i32;
    value.sum = nullptr;
    settle_scaled(value);
  } else if (scales()) {
    settle_scaled(value);
  } else {
    settle_integers(value);
  }
  value.stage = {};
  value.base = value.id;
  made.held.push_back({value.id, port_of(value, ""), value.gather.sources()[0].block, value.gather.is_whole()});
}

// The last sums of a net are not cut: 32 bits go outside.
LoweredValue& BlockBuilder::State::ready_as_output(ValueId id) {
  LoweredValue& it = value(id);
  if (it.kind != LoweredValue::Kind::made || !it.sum) return ready(id);
  const Sums sums = summed(*it.sum, 0, id);
  it.gather = sums.gather, it.layout = sums.layout, it.scale = sums.scale, it.range = sums.range;
  it.precision = Precision::i32;
  it.sum = nullptr;
  note_layer(id, sums.name, sums.scale, sums.scale, -2);
  if (!it.stage.is_nothing()) became(it, compare(it, Precision::i32, 0), Precision::i32, sums.range);
  it.stage = {};
  return it;
}

// ---- widths ---------------------------------------------------------------------------------------

LoweredValue BlockBuilder::State::narrowed(ValueId id, std::string_view what) {
  LoweredValue& it = ready(id);
  if (it.precision == Precision::i8) return it;
  if (auto known = narrow_.find(id.value); known != narrow_.end()) return known->second;
  const ValueRange bytes = range_of(Precision::i8);
  if (it.range.least < bytes.least || it.range.most > bytes.most)
    throw Refused{"E4011",
                  fmt::format("{} takes bytes, and this is {} that may be {} to {}", what, type(id).text(),
                              it.range.least, it.range.most),
                  "cut it to 8 bits before: x.shift_right(8) as i8"};
  LoweredValue copy = it;
  copy.stage.narrows = true;
  copy.name = line_name + "_bytes";
  settle_integers(copy);
  copy.stage = {};
  return narrow_.emplace(id.value, std::move(copy)).first->second;
}

LoweredValue BlockBuilder::State::widened(const LoweredValue& value) {
  if (value.precision == Precision::i32) return value;
  LoweredValue copy = value;
  const BlockId from = stored(value.gather, value.precision, "SI", line_name + "_in");
  const BlockId id = add("CADD", line_name + "_wide", Precision::i32, shape_of(value.gather.extents()));
  connect(from, id, "input");
  became(copy, id, Precision::i32, value.range);
  return copy;
}

}  // namespace taskspec
