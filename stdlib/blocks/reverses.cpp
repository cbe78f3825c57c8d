// The reverses of compute blocks, made of the same kinds of blocks.
#include <algorithm>

#include "ir/blocks/windows.hpp"
#include "stdlib/blocks/parts.hpp"

namespace taskspec::block_parts {

namespace {

using Attributes = std::vector<std::pair<std::string_view, std::int64_t>>;

constexpr std::size_t input = 0, weight = 1;
constexpr const char* only_padding = "all of its windows lie in the padding";

std::int64_t one_or(std::int64_t extent) { return std::max<std::int64_t>(1, extent); }

std::optional<std::size_t> bias_of(const TaskBlock& block) {
  return block.bias == BiasKind::vector ? block.in_cluster_named("bias") : std::nullopt;
}

// The sum over all pixels, of each channel: storage SB [f].
BlockId over_pixels(ReverseMaker& to, BlockId plane) {
  const BlockShape s = to.at(plane).shape;
  const BlockId sum = to.add("CAVG", {.y = 1, .x = 1, .f = s.f, .ky = one_or(s.y), .kx = one_or(s.x)});
  const BlockId held = to.add("SI", {.y = one_or(s.y), .x = one_or(s.x), .f = s.f});
  to.edge(plane, held, "input");
  to.edge(held, sum, "input");
  return to.kept(sum, "SI");
}

void give_bias(ReverseMaker& to) {
  if (const std::optional<std::size_t> bias = bias_of(to.block())) to.give(*bias, over_pixels(to, to.upstream()));
}

// Along one axis, the window that goes back: over upstream with zeros between, so that it makes the input again.
struct BackWindow {
  std::int64_t spread = 1;             // places of upstream with zeros between
  std::int64_t begin = 0, size = 1;    // of them, those that it reads: others lie in the padding alone
  std::int64_t before = 0, after = 0;  // zeros around these
  bool is_possible() const { return size > 0; }
};

BackWindow back_window(const BlockWindow& w) {
  BackWindow back{.spread = (w.out - 1) * w.stride + 1};
  const std::int64_t before = w.reach() - 1 - w.before;
  const std::int64_t after = w.in + w.before - back.spread;  // rows that no window reaches have the gradient 0
  back.begin = std::max<std::int64_t>(0, -before);
  back.size = back.spread - back.begin - std::max<std::int64_t>(0, -after);
  back.before = std::max<std::int64_t>(0, before);
  back.after = std::max<std::int64_t>(0, after);
  return back;
}

// Upstream with zeros between its places where strides are more than 1, in storage of this kind.
BlockId spread(ReverseMaker& to, const BlockWindow& y, const BlockWindow& x, std::string_view kind) {
  const std::int64_t channels = one_or(to.block().shape.f);
  const BackWindow by = back_window(y), bx = back_window(x);
  const BlockId plane = to.add("SI", {.y = y.out, .x = x.out, .f = channels});
  to.edge(to.upstream(), plane, "input");
  const BlockId all = to.add("SI", {.y = by.spread, .x = bx.spread, .f = channels});
  if (y.stride == 1 && x.stride == 1)
    to.edge(plane, all, "input");
  else
    to.edge(plane, all, "input", {{"affine", {x.stride, 0, 0, 0, y.stride, 0}}});
  BlockShape shape{.y = by.size, .x = bx.size};
  (kind == "SIC" ? shape.r : shape.f) = channels;
  const BlockId made = to.add(kind, shape);
  to.edge(all, made, "input").from.box = Box{{by.begin, bx.begin, 0}, {by.size, bx.size, channels}};
  return made;
}

// A window that begins that far in front of the input and makes `outputs` outputs: pads, and the rows it reads.
struct KernelWindow {
  std::int64_t used = 0, after = 0;
};
KernelWindow kernel_window(const BlockWindow& w) {
  // Taps of the kernel are outputs, places of upstream are taps.
  const std::int64_t wanted = (w.kernel - 1) * w.dilation + (w.out - 1) * w.stride + 1 - w.before;
  return {std::clamp<std::int64_t>(wanted, 1, w.in), std::max<std::int64_t>(0, wanted - w.in)};
}

// ---- CC, CC2D ---------------------------------------------------------------------------------------

BlockId convolved_back(ReverseMaker& to, const BlockWindow& y, const BlockWindow& x) {
  const BlockShape s = to.block().shape;
  const BackWindow by = back_window(y), bx = back_window(x);
  const std::int64_t f = one_or(s.f), r = one_or(s.r);
  const BlockId from = spread(to, y, x, "SIC");
  const BlockId stored = to.contents(weight, "SW", {.f = f, .r = r, .ky = y.kernel, .kx = x.kernel});
  const BlockId turned = to.add("SW", {.f = r, .r = f, .ky = y.kernel, .kx = x.kernel});
  to.edge(stored, turned, "input", {{"permute", {1, 0, 2, 3}}, {"reflect", {2}}, {"reflect", {3}}});
  const Attributes windows{{"pad_up", by.before},   {"pad_down", by.after},     {"pad_left", bx.before},
                           {"pad_right", bx.after}, {"dilation_y", y.dilation}, {"dilation_x", x.dilation}};
  const BlockId made =
      to.add("CC", {.y = y.in, .x = x.in, .f = r, .r = f, .ky = y.kernel, .kx = x.kernel, .iy = by.size, .ix = bx.size},
             windows);
  to.edge(from, made, "input");
  to.edge(turned, made, "weight");
  return to.kept(made);
}

// Upstream as the kernel over each channel of the input: its outputs are the taps.
BlockId weights_back(ReverseMaker& to, const BlockWindow& y, const BlockWindow& x) {
  const BlockShape s = to.block().shape;
  const std::int64_t f = one_or(s.f), r = one_or(s.r);
  const KernelWindow wy = kernel_window(y), wx = kernel_window(x);
  const BlockId plane = to.add("SI", {.y = y.out, .x = x.out, .f = f});
  to.edge(to.upstream(), plane, "input");
  const BlockId kernel = to.add("SW", {.f = f, .r = 1, .ky = y.out, .kx = x.out});
  to.edge(plane, kernel, "input", {{"permute", {2, 0, 1}}});
  const BlockId all = to.contents(input, "SIC", {.y = y.in, .x = x.in, .r = r});
  const BlockId made = to.add("SW", {.f = f, .r = r, .ky = y.kernel, .kx = x.kernel});
  const Attributes windows{{"pad_up", y.before},     {"pad_down", wy.after},   {"pad_left", x.before},
                           {"pad_right", wx.after},  {"stride_y", y.dilation}, {"stride_x", x.dilation},
                           {"dilation_y", y.stride}, {"dilation_x", x.stride}};
  for (std::int64_t channel = 0; channel < r; ++channel) {
    const BlockId one = to.add("SIC", {.y = wy.used, .x = wx.used, .r = 1});
    to.edge(all, one, "input").from.box = Box{{0, 0, channel}, {wy.used, wx.used, 1}};
    const BlockId taps = to.add(
        "CC", {.y = y.kernel, .x = x.kernel, .f = f, .r = 1, .ky = y.out, .kx = x.out, .iy = wy.used, .ix = wx.used},
        windows);
    to.edge(one, taps, "input");
    to.edge(kernel, taps, "weight");
    to.edge(to.kept(taps), made, "input", {{"permute", {2, 0, 1}}}).to.box =
        Box{{0, channel, 0, 0}, {f, 1, y.kernel, x.kernel}};
  }
  return made;
}

std::string reverse_windows(ReverseMaker& to) {
  const BlockWindow y = window_of(to.block(), BlockAxis::y), x = window_of(to.block(), BlockAxis::x);
  if (!back_window(y).is_possible() || !back_window(x).is_possible()) return only_padding;
  to.give(input, convolved_back(to, y, x));
  to.give(weight, weights_back(to, y, x));
  give_bias(to);
  return {};
}

// ---- CVM --------------------------------------------------------------------------------------------

std::string reverse_product(ReverseMaker& to) {
  const std::int64_t f = to.block().shape.f, r = to.block().shape.r;
  const BlockId from = to.add("SIFC", {.r = f});
  to.edge(to.upstream(), from, "input");
  const BlockId stored = to.contents(weight, "SWFC", {.f = f, .r = r});
  const BlockId turned = to.add("SWFC", {.f = r, .r = f});
  to.edge(stored, turned, "input", {{"permute", {1, 0}}});
  const BlockId made = to.add("CVM", {.f = r, .r = f});
  to.edge(from, made, "input");
  to.edge(turned, made, "weight");
  to.give(input, to.kept(made));
  // Each element of upstream with each of the input: a convolution of one channel and windows of one place.
  const BlockId column = to.add("SIC", {.y = f, .x = 1, .r = 1});
  to.edge(to.upstream(), column, "input");
  const BlockId row = to.contents(input, "SIFC", {.r = r});
  const BlockId kernel = to.add("SW", {.f = r, .r = 1, .ky = 1, .kx = 1});
  to.edge(row, kernel, "input");
  const BlockId all = to.add("CC", {.y = f, .x = 1, .f = r, .r = 1, .ky = 1, .kx = 1, .iy = f, .ix = 1});
  to.edge(column, all, "input");
  to.edge(kernel, all, "weight");
  const BlockId weights = to.add("SWFC", {.f = f, .r = r});
  to.edge(to.kept(all), weights, "input", {{"reshape", {}}});
  to.give(weight, weights);
  if (const std::optional<std::size_t> bias = bias_of(to.block())) to.give(*bias, to.upstream());
  return {};
}

// ---- sums -------------------------------------------------------------------------------------------

std::string reverse_sum(ReverseMaker& to) {
  for (std::size_t k = 0; k < to.block().branches; ++k) to.give(k, to.upstream());
  give_bias(to);
  return {};
}

std::string reverse_window_sum(ReverseMaker& to) {
  const BlockWindow y = window_of(to.block(), BlockAxis::y), x = window_of(to.block(), BlockAxis::x);
  const BackWindow by = back_window(y), bx = back_window(x);
  if (!by.is_possible() || !bx.is_possible()) return only_padding;
  const BlockId from = spread(to, y, x, "SI");
  const BlockId made =
      to.add("CAVG",
             {.y = y.in,
              .x = x.in,
              .f = one_or(to.block().shape.f),
              .ky = y.kernel,
              .kx = x.kernel,
              .iy = by.size,
              .ix = bx.size},
             {{"pad_up", by.before}, {"pad_down", by.after}, {"pad_left", bx.before}, {"pad_right", bx.after}});
  to.edge(from, made, "input");
  to.give(input, to.kept(made));
  give_bias(to);
  return {};
}

// ---- products, point by point -----------------------------------------------------------------------

BlockShape plane_of(const TaskBlock& block) { return {.y = block.shape.y, .x = block.shape.x, .f = block.shape.f}; }

// Of its input: with strides more places than its outputs have.
BlockShape read_plane(const TaskBlock& block) {
  return {.y = read_extent(block, BlockAxis::y), .x = read_extent(block, BlockAxis::x), .f = block.shape.f};
}

bool has_strides(const TaskBlock& block) { return !(read_plane(block) == plane_of(block)); }

// Upstream where the input was read, zeros elsewhere.
BlockId over_input(ReverseMaker& to) {
  const TaskBlock block = to.block();
  if (!has_strides(block)) return to.upstream();
  const BlockWindow y = window_of(block, BlockAxis::y), x = window_of(block, BlockAxis::x);
  const BlockId plane = to.add("SI", {.y = y.out, .x = x.out, .f = block.shape.f});
  to.edge(to.upstream(), plane, "input");
  const BlockId made = to.add("SI", {.y = y.in, .x = x.in, .f = block.shape.f});
  to.edge(plane, made, "input", {{"affine", {x.stride, 0, 0, 0, y.stride, 0}}});
  return made;
}

BlockId product(ReverseMaker& to, BlockId a, BlockId b) {
  const BlockId made = to.add("CVVH", read_plane(to.block()));
  to.edge(a, made, "input");
  to.edge(b, made, "input2");
  return to.kept(made);
}

BlockId scaled(ReverseMaker& to, BlockId plane, double factor) {
  const BlockId made = to.add("CAX", read_plane(to.block()));
  to.edge(plane, made, "input");
  to.edge(to.constant(to.block().shape.f, factor), made, "alpha");
  return to.kept(made);
}

BlockId times(ReverseMaker& to, BlockId plane, std::int64_t factor) {
  const BlockId made = to.add("CVS", read_plane(to.block()), {{"constant_a", factor}});
  to.edge(plane, made, "input");
  return to.kept(made);
}

std::string reverse_arrays(ReverseMaker& to) {
  const BlockShape plane = read_plane(to.block());
  const BlockId upstream = over_input(to);
  to.give(0, product(to, upstream, to.contents(1, "SI", plane)));
  to.give(1, product(to, upstream, to.contents(0, "SI", plane)));
  give_bias(to);
  return {};
}

std::string reverse_channels(ReverseMaker& to) {
  const BlockShape plane = read_plane(to.block());
  const BlockId upstream = over_input(to);
  const BlockId made = to.add("CAX", plane);
  to.edge(upstream, made, "input");
  to.edge(to.contents(1, "SB", {.f = plane.f}), made, "alpha");
  to.give(input, to.kept(made));
  to.give(1, over_pixels(to, product(to, upstream, to.contents(input, "SI", plane))));
  give_bias(to);
  return {};
}

std::string reverse_constants(ReverseMaker& to) {
  to.give(input, times(to, over_input(to), to.block().attribute("constant_a")));
  give_bias(to);
  return {};
}

// ---- masks: a neuron without memory says what is above a threshold ------------------------------------

BlockId above(ReverseMaker& to, BlockId plane, std::int64_t threshold) {
  const BlockShape shape = plane_of(to.block());
  const BlockId rest = to.add("SI", shape);
  to.edge(to.constant(places_of(value_type(to.at(rest)).extents), 0), rest, "input", {{"reshape", {}}});
  const BlockId fire = to.add("CLIF", shape,
                              {{"vth0", std::clamp(threshold, attribute::least_28, attribute::most_28)},
                               {"vleaky_adpt_en", 1},
                               {"vleaky_alpha", 0}});
  to.edge(plane, fire, "input");
  to.edge(rest, fire, "state");
  return to.kept(fire);
}

BlockId sum_of(ReverseMaker& to, BlockId a, BlockId b) {
  const BlockId made = to.add("CADD", plane_of(to.block()));
  to.edge(a, made, "input");
  to.edge(b, made, "input2");
  return to.kept(made);
}

// 1 above the one and not above the other.
BlockId between(ReverseMaker& to, BlockId plane, std::int64_t low, std::int64_t high) {
  return sum_of(to, above(to, plane, low), times(to, above(to, plane, high), -1));
}

// ---- CCMPB of one place: slope 2^-shift above cmp, and, of integers, below what is cut off --------------

std::string reverse_relu(ReverseMaker& to) {
  const TaskBlock block = to.block();  // a copy: the graph grows
  const BlockWindow y = window_of(block, BlockAxis::y), x = window_of(block, BlockAxis::x);
  if (y.kernel > 1 || x.kernel > 1) return "no block says which place of a window the largest came from";
  if (has_strides(block)) return "it leaves out places by its strides, or has padding";
  const std::int64_t shift = block.attribute("shift"), unit = std::int64_t{1} << shift;
  const bool is_cut = !is_float(block.precision) && info(block.precision).bytes == 1;
  const std::int64_t most = block.precision == Precision::tern ? 2 : 128;
  const std::int64_t low = block.attribute("cmp") * unit, high = most * unit - 1;
  const BlockShape plane = plane_of(block);
  const BlockId before = to.contents(input, "SI", plane);
  const BlockId mask = is_cut ? between(to, before, low, high) : above(to, before, low);
  const BlockId made = product(to, to.upstream(), mask);
  to.give(input, shift == 0 ? made : scaled(to, made, 1.0 / static_cast<double>(unit)));
  return {};
}

void relu_as_real(TaskBlock& block, Precision in) {
  // Where nothing is converted nothing is shifted.
  const bool is_shifted =
      packed_bits(in) > packed_bits(block.precision) || (in == Precision::i8 && block.precision == Precision::u8);
  if (!is_shifted && block.has("shift")) block.set(attribute::shift, 0);
}

// ---- CLIF: 1 / (2 window) around the threshold, whatever the reset does --------------------------------

std::string reverse_neuron(ReverseMaker& to) {
  const TaskBlock block = to.block();
  const std::int64_t type = block.attribute("fire_type");
  const bool is_plain = block.attribute("vtheta_const_en") == 1 && block.attribute("vtheta_const") == 0 &&
                        block.attribute("vm_const_en") == 1 && block.attribute("vm_const") == 0 &&
                        block.attribute("ref_len") == 0 && block.attribute("tw_en") == 0 &&
                        block.attribute("vth_incre") == 0 && block.attribute("vth_beta") == 0;
  if (!is_plain) return "it rests, or its threshold moves";
  if (type != 4 && type != 5) return "it gives no spikes (fire_type 4 or 5)";
  const BlockShape plane = plane_of(block);
  const std::int64_t threshold = std::max(block.attribute("vth0"), block.attribute("vl")), window = to.options().window;
  const BlockId charged = sum_of(to, to.contents(0, "SI", plane), to.contents(1, "SI", plane));
  const BlockId near = between(to, charged, threshold - window, threshold + window);
  BlockId made = scaled(to, product(to, to.upstream(), near), 1.0 / (2.0 * static_cast<double>(window)));
  // The state that is left: nothing of it where a spike has reset it to a constant.
  const double leak =
      block.attribute("vleaky_adpt_en") != 0 ? static_cast<double>(block.attribute("vleaky_alpha")) / 256.0 : 1.0;
  BlockId left = to.next();
  if (block.attribute("reset_mode") == 0) {
    const BlockId quiet = to.add("CADD", plane, {{"constant_b", 1}});
    to.set_constant_bias(quiet);
    to.edge(times(to, above(to, charged, threshold), -1), quiet, "input");
    left = product(to, left, to.kept(quiet));
  }
  made = sum_of(to, made, scaled(to, left, leak));
  to.give(0, made);
  to.give(1, made);
  return {};
}

}  // namespace

constinit const BlockReverse reverse_window_products{.make = reverse_windows, .compute = RealValues::window_products};
constinit const BlockReverse reverse_matrix{.make = reverse_product, .compute = RealValues::window_products};
constinit const BlockReverse reverse_sums{.make = reverse_sum, .compute = RealValues::sums};
constinit const BlockReverse reverse_window_sums{.make = reverse_window_sum, .compute = RealValues::window_sums};
constinit const BlockReverse reverse_array_products{.make = reverse_arrays, .compute = RealValues::array_products};
constinit const BlockReverse reverse_channel_products{.make = reverse_channels,
                                                      .compute = RealValues::channel_products};
constinit const BlockReverse reverse_constant_products{.make = reverse_constants,
                                                       .compute = RealValues::constant_products};
constinit const BlockReverse reverse_relus{
    .make = reverse_relu, .compute = RealValues::compares, .as_real = relu_as_real};
constinit const BlockReverse reverse_neurons{.make = reverse_neuron, .compute = RealValues::neurons};
constinit const BlockReverse reverse_none_of_least{.why_not =
                                                       "what is cut from above is not learnt; CCMPB cuts from below"};
constinit const BlockReverse reverse_none_of_tables{.why_not = "a table has no slope"};
constinit const BlockReverse reverse_none_of_switches{.why_not = "it goes another way in each step"};
constinit const BlockReverse reverse_none_of_tests{.why_not = "a comparison has no slope"};

}  // namespace taskspec::block_parts
