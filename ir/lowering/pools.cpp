// Maxima and sums over windows, and over whole axes.
#include <fmt/format.h>

#include "ir/lowering/state.hpp"

namespace taskspec {

namespace {

bool has_pads(const WindowSide& y, const WindowSide& x) { return y.before + y.after + x.before + x.after > 0; }

// A border of numbers that no maximum takes.
BlockGather bordered(const BlockGather& plane, const WindowSide& y, const WindowSide& x, std::int64_t number) {
  const Extents& in = plane.extents();
  const Extents out{in[0] + y.before + y.after, in[1] + x.before + x.after, in[2]};
  std::vector<BlockGather::Place> places;
  for (std::int64_t row = -y.before; row < in[0] + y.after; ++row)
    for (std::int64_t column = -x.before; column < in[1] + x.after; ++column)
      for (std::int64_t f = 0; f < in[2]; ++f) {
        const bool is_inside = row >= 0 && row < in[0] && column >= 0 && column < in[1];
        places.push_back(is_inside ? BlockGather::Place{0, (row * in[1] + column) * in[2] + f}
                                   : BlockGather::Place{BlockGather::constant, number});
      }
  return plane.picked(out, places);
}

BlockGather as_plane(const BlockGather& gather) {
  return gather.extents().size() == 3 ? gather : gather.seen_as({1, 1, gather.size()});
}

}  // namespace

void BlockBuilder::window_maximum(const BlockLayout& layout, const WindowSide& y, const WindowSide& x) {
  State& s = state_;
  const ValueId in = line_.in[0], out = line_.out[0];
  LoweredValue value = s.value(in);
  if (value.kind == LoweredValue::Kind::missing) throw MissingValue{};
  // Blocks pad with 0: as no pad at all where nothing is negative.
  const bool is_open = value.kind == LoweredValue::Kind::made && !value.stage.pools && s.readers[in.index()] == 1 &&
                       value.layout == layout && (!has_pads(y, x) || value.stage.rectifies) &&
                       (value.sum || !value.stage.is_nothing()) && value.stage.shift % 2 == 0;
  if (!is_open) {
    value = s.ready(in, &layout);
    value.gather = as_plane(s.arranged(value, layout));
    value.layout = layout;
  }
  value.id = out;
  if (s.scales() && !value.sum) s.scales()->same(value.base, out);
  if (s.scales() && value.sum && value.sum->scaled_as) s.scales()->same(*value.sum->scaled_as, out);
  value.stage.pools = true;
  value.stage.y = y, value.stage.x = x;
  if (!value.sum) value.name = s.line_name;
  if (has_pads(y, x) && !value.stage.rectifies && value.range.least < 0) {
    value.gather = bordered(value.gather, y, x, info(value.precision).minimum);
    value.stage.y.before = value.stage.y.after = value.stage.x.before = value.stage.x.after = 0;
  }
  s.keep(std::move(value));
}

namespace {

// How many of a window's rows lie inside.
std::int64_t inside(const WindowSide& side, std::int64_t extent, std::int64_t output) {
  const std::int64_t begin = output * side.stride - side.before;
  return std::min(extent, begin + side.kernel) - std::max<std::int64_t>(0, begin);
}

// Sums over windows of which some reach over the border: means as if all counted, in bytes, times a map of area /
// count.
template <class Sum>
Sums evened(BlockBuilder::State& s, const Sum& sum, const LoweredValue& value, const WindowSide& y,
            const WindowSide& x) {
  const double area = static_cast<double>(y.kernel * x.kernel);
  const int n = static_cast<int>(std::ceil(std::log2(area) / 2 - 1e-12));
  Sums sums = sum(value, n > 0 ? std::int64_t{1} << (2 * n - 1) : 0);
  const Extents extents = sums.gather.extents(), read = s.type(value.id).extents;
  const BlockId cut = s.add("CCMPB", s.line_name + "_bytes", Precision::i8, shape_of(extents));
  s.set_shift(cut, 2 * n);
  s.block(cut).set(*s.options.blocks.attribute("cmp"), -128);
  s.connect(s.stored(sums.gather, Precision::i32, "SI", s.line_name + "_sums"), cut, "input");
  std::vector<double> factors;
  for (std::int64_t row = 0; row < extents[0]; ++row)
    for (std::int64_t column = 0; column < extents[1]; ++column)
      factors.push_back(
          area / static_cast<double>(inside(y, read[sums.layout.y], row) * inside(x, read[sums.layout.x], column)));
  const double factor_scale = 127 / *std::ranges::max_element(factors);
  std::vector<std::int64_t> map;
  for (const double factor : factors)
    map.insert(map.end(), static_cast<std::size_t>(extents[2]), rounded(factor * factor_scale));
  const BlockId by = s.data("SI", s.line_name + "_counts", shape_of(extents), Precision::i8, map);
  const BlockId axon = s.add("CVVH", s.line_name + "_even", Precision::i32, shape_of(extents));
  s.connect(s.stored(BlockGather::of(cut, extents), Precision::i8, "SI", s.line_name + "_in"), axon, "input");
  s.connect(by, axon, "input2");
  sums.gather = BlockGather::of(axon, extents);
  sums.scale = value.scale * area / std::pow(4.0, n) * factor_scale;
  sums.range = {-128 * 127, 128 * 127};
  return sums;
}

}  // namespace

void BlockBuilder::window_sum(const BlockLayout& layout, const WindowSide& y, const WindowSide& x, bool is_mean) {
  State& s = state_;
  const ValueId in = line_.in[0], out = line_.out[0];
  const ArrayType type = call_.out[0];
  const bool is_uneven = is_mean && has_pads(y, x);  // means of fewer numbers at the border
  auto sum = [&s, layout, y, x, type, name = s.line_name](LoweredValue value, std::int64_t half) {
    const BlockGather plane = as_plane(s.arranged(value, layout));
    const Extents extents = block_extents(type.extents, layout);
    BlockShape shape = shape_of(extents.size() == 3 ? extents : Extents{1, 1, extents[0]});
    shape.ky = y.kernel, shape.kx = x.kernel, shape.iy = plane.extents()[0], shape.ix = plane.extents()[1];
    const BlockId axon = s.add("CAVG", name, Precision::i32, shape);
    s.set_windows(axon, y, x, false);
    s.connect(s.stored(plane, value.precision, "SI", name + "_in"), axon, "input");
    if (half > 0) {
      s.block(axon).bias = BiasKind::vector;
      const std::vector<std::int64_t> bias(static_cast<std::size_t>(shape.f), half);
      s.connect(s.data("SB", name + "_b", {.f = shape.f}, Precision::i32, bias), axon, "bias");
    }
    const std::int64_t area = y.kernel * x.kernel;
    const ValueRange range{area * std::min<std::int64_t>(value.range.least, 0) + half,
                           area * std::max<std::int64_t>(value.range.most, 0) + half};
    if (range.magnitude() > INT32_MAX)
      throw Refused{
          "E4012",
          fmt::format("sums of {} may reach {}, and blocks hold at most {}: the host wraps around, they saturate", name,
                      range.magnitude(), INT32_MAX),
          "cut the numbers before: x.shift_right(8) as i8"};
    Sums made{BlockGather::of(axon, {shape.y, shape.x, shape.f}).seen_as(extents), layout, value.scale, range,
              s.block(axon).name};
    return made;
  };
  LoweredValue made;
  made.id = out;
  made.layout = layout;
  made.name = s.line_name + "_cut";
  if (!s.scales()) {
    if (is_mean) refuse("means of integers are no integers", "the sum, then shift_right");
    const Sums sums = sum(s.ready(in, &layout), 0);
    made.base = out, made.gather = sums.gather, made.range = sums.range;
    s.keep(std::move(made));
    return;
  }
  const double area = is_mean ? static_cast<double>(y.kernel * x.kernel) : 1;
  if (is_mean && !is_uneven) {
    const int n = static_cast<int>(std::ceil(std::log2(area) / 2 - 1e-12));
    s.scales()->prefers(out, in, area / std::pow(4.0, n));
  }
  auto pending = std::make_shared<PendingSum>();
  pending->name = s.line_name, pending->span = s.span;
  pending->make = [&s, in, layout, sum, area, is_uneven, y, x](double wanted, ValueId) {
    const LoweredValue value = s.ready(in, &layout);
    const double scale = value.scale * area;
    if (is_uneven) return evened(s, sum, value, y, x);
    const std::optional<int> n = wanted > 0 ? power_of_four(scale / wanted) : std::nullopt;
    const bool rounds = n && *n > 0 && !s.scales()->cuts_by_table();
    Sums sums = sum(value, rounds ? std::int64_t{1} << (2 * *n - 1) : 0);
    sums.scale = scale;
    return sums;
  };
  made.sum = std::move(pending);
  s.keep(std::move(made));
}

namespace {

// A layout in which the axes that go away are y and x.
std::optional<BlockLayout> across(const Extents& tensor, const std::vector<std::size_t>& axes) {
  std::vector<std::size_t> gone, stay;
  for (std::size_t k = 0; k < tensor.size(); ++k) {
    if (tensor[k] == 1) continue;
    (std::ranges::find(axes, k) != axes.end() ? gone : stay).push_back(k);
  }
  if (gone.empty() || gone.size() > 2 || gone.size() + stay.size() > 3) return std::nullopt;
  BlockLayout layout{.y = no_axis, .x = gone.back(), .f = stay.empty() ? no_axis : stay.back()};
  if (gone.size() == 2) layout.y = gone[0];
  if (gone.size() == 1 && stay.size() == 2) layout.y = stay[0];
  return layout;
}

WindowSide all_of(const Extents& tensor, std::size_t axis, const std::vector<std::size_t>& axes) {
  if (axis == no_axis || std::ranges::find(axes, axis) == axes.end()) return {};
  return {.kernel = tensor[axis], .stride = tensor[axis]};
}

// Without axes a reduction makes a tensor of rank 0.
void require_axes(const BlockBuilder& b) {
  if (b.call().out[0].extents.empty())
    b.refuse("it reduces all axes to rank 0", "name the axes: they stay with extent 1");
}

}  // namespace

void BlockBuilder::reduce(const std::vector<std::size_t>& axes, bool is_mean) {
  const Extents& tensor = call_.in[0].extents;
  require_axes(*this);
  if (std::ranges::all_of(axes, [&](std::size_t axis) { return tensor[axis] == 1; })) return pass();
  const std::optional<BlockLayout> layout = across(tensor, axes);
  if (!layout)
    refuse(fmt::format("it goes over more axes of {} than a window has", call_.in[0].text()), "two axes at a time");
  window_sum(*layout, all_of(tensor, layout->y, axes), all_of(tensor, layout->x, axes), is_mean);
}

void BlockBuilder::reduce_maximum(const std::vector<std::size_t>& axes) {
  const Extents& tensor = call_.in[0].extents;
  require_axes(*this);
  if (std::ranges::all_of(axes, [&](std::size_t axis) { return tensor[axis] == 1; })) return pass();
  const std::optional<BlockLayout> layout = across(tensor, axes);
  if (!layout)
    refuse(fmt::format("it goes over more axes of {} than a window has", call_.in[0].text()), "two axes at a time");
  window_maximum(*layout, all_of(tensor, layout->y, axes), all_of(tensor, layout->x, axes));
}

}  // namespace taskspec
