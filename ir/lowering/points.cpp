// What is done to each number alone: functions, relu, bounds, precisions, tables, neurons.
#include <fmt/format.h>

#include "ir/lowering/evaluate.hpp"
#include "ir/lowering/state.hpp"

namespace taskspec {

namespace {

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

void BlockBuilder::pass(std::size_t input) { state_.keep(behind(state_, line_.in[input], line_.out[0])); }

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
      refuse("it is a function of two tensors, and tables are read by one number",
             "sums and products of two tensors have blocks");
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
    operands.push_back(k == input ? addresses(call_.in[k].precision, bits, value.scale)
                                  : state_.value(line_.in[k]).contents);
    if (k != input && operands.back().extents().size() > 1)
      operands.back() = Array::wrap({operands.back().precision(), {1}}, operands.back().storage());
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
      entry = std::isnan(number)
                  ? 0
                  : static_cast<std::int64_t>(std::clamp(std::floor(number * scale + 0.5), -128.0, 127.0));
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
  const BlockId data =
      state_.data("SB", state_.line_name + "_table", {.f = contents.elements()}, contents.precision(), entries);
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

// ---- neurons --------------------------------------------------------------------------------------

void BlockBuilder::fire(std::size_t current, std::size_t potential, const NeuronSettings& settings) {
  State& s = state_;
  if (s.scales()) refuse("its neurons are of integers, and this net is of floats", "a net of i8 and i32");
  const LoweredValue& v = s.value(line_.in[potential]);
  if (v.kind != LoweredValue::Kind::fixed)
    refuse("its potential is no state of the net", "a slot: state v: i32[n] = zero()");
  if (s.readers[line_.in[potential].index()] > 1)
    refuse("its potential is read by others, too", "read the spikes, or the potential after the run");
  for (const OpList::Line& other : list_.lines)
    if (std::ranges::find(other.in, line_.out[1]) != other.in.end())
      refuse("its new potential is read in the same step", "read the spikes, or the potential after the run");
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
  LoweredValue held = u;
  held.id = line_.in[potential], held.precision = width, held.scale = 1;
  LoweredPort port = s.port_of(held, s.block(state).name);
  port.block = state;
  s.made.states.push_back({line_.in[potential], line_.out[1], state, std::move(port)});
  LoweredValue made = u;
  made.id = made.base = line_.out[0];
  made.gather = BlockGather::of(id, u.gather.extents());
  made.precision = Precision::i8, made.range = {0, 1};
  s.keep(std::move(made));
}

}  // namespace taskspec
