// The formulas of blocks in real numbers, as plain loops: what gradients run on (interp/exact/real.hpp). Results are
// rounded by the engine, where the block is one of integers.
#include <algorithm>
#include <cmath>

#include "ir/blocks/reverse.hpp"
#include "ir/blocks/windows.hpp"
#include "stdlib/blocks/families.hpp"

namespace taskspec::block_parts {

namespace {

using Reals = std::vector<double>;

struct RealPlane {
  BlockWindow y, x;
  std::int64_t f, r;
  explicit RealPlane(const TaskBlock& block)
      : y(window_of(block, BlockAxis::y)),
        x(window_of(block, BlockAxis::x)),
        f(std::max<std::int64_t>(1, block.shape.f)),
        r(std::max<std::int64_t>(1, block.shape.r)) {}

  // visit(output, input) for each output pixel and each place of its window that lies in the input, with the tap.
  template <class F>
  void each_tap(F&& visit) const {
    for (std::int64_t row = 0; row < y.out; ++row)
      for (std::int64_t column = 0; column < x.out; ++column)
        for (std::int64_t ky = 0; ky < y.kernel; ++ky)
          for (std::int64_t kx = 0; kx < x.kernel; ++kx) {
            const std::int64_t iy = row * y.stride + ky * y.dilation - y.before;
            const std::int64_t ix = column * x.stride + kx * x.dilation - x.before;
            if (iy < 0 || iy >= y.in || ix < 0 || ix >= x.in) continue;
            visit(row * x.out + column, iy * x.in + ix, ky * x.kernel + kx);
          }
  }
};

std::size_t at(std::int64_t place) { return static_cast<std::size_t>(place); }

// From the bias on: cluster `position`, or a constant.
void begin_with_bias(const TaskBlock& block, const RealArgs& args, std::size_t position) {
  const auto f = static_cast<std::int64_t>(std::max<std::int64_t>(1, block.shape.f));
  const bool is_vector = block.bias == BiasKind::vector && position < args.in.size() && !args.in[position].empty();
  const bool is_constant = block.bias == BiasKind::constant && block.def->find_attribute("constant_b");
  const double constant = is_constant ? static_cast<double>(block.attribute("constant_b")) : 0.0;
  for (std::size_t i = 0; i < args.out.size(); ++i) args.out[i] = is_vector ? args.in[position][i % at(f)] : constant;
}

}  // namespace

void RealValues::window_products(const TaskBlock& block, const RealArgs& args) {
  const RealPlane w(block);
  begin_with_bias(block, args, 2);
  const std::int64_t taps = w.y.kernel * w.x.kernel;
  const Reals &input = args.in[0], &weight = args.in[1];
  w.each_tap([&](std::int64_t out, std::int64_t in, std::int64_t tap) {
    for (std::int64_t f = 0; f < w.f; ++f)
      for (std::int64_t r = 0; r < w.r; ++r)
        args.out[at(out * w.f + f)] += input[at(in * w.r + r)] * weight[at((f * w.r + r) * taps + tap)];
  });
}

void RealValues::sums(const TaskBlock& block, const RealArgs& args) {
  begin_with_bias(block, args, block.branches);
  for (std::size_t k = 0; k < block.branches; ++k)
    for (std::size_t i = 0; i < args.out.size(); ++i) args.out[i] += args.in[k][i];
}

void RealValues::window_sums(const TaskBlock& block, const RealArgs& args) {
  const RealPlane w(block);
  begin_with_bias(block, args, 1);
  w.each_tap([&](std::int64_t out, std::int64_t in, std::int64_t) {
    for (std::int64_t f = 0; f < w.f; ++f) args.out[at(out * w.f + f)] += args.in[0][at(in * w.f + f)];
  });
}

void RealValues::array_products(const TaskBlock& block, const RealArgs& args) {
  const RealPlane w(block);
  begin_with_bias(block, args, 2);
  w.each_tap([&](std::int64_t out, std::int64_t in, std::int64_t) {
    for (std::int64_t f = 0; f < w.f; ++f)
      args.out[at(out * w.f + f)] += args.in[0][at(in * w.f + f)] * args.in[1][at(in * w.f + f)];
  });
}

void RealValues::channel_products(const TaskBlock& block, const RealArgs& args) {
  const RealPlane w(block);
  begin_with_bias(block, args, 2);
  w.each_tap([&](std::int64_t out, std::int64_t in, std::int64_t) {
    for (std::int64_t f = 0; f < w.f; ++f)
      args.out[at(out * w.f + f)] += args.in[0][at(in * w.f + f)] * args.in[1][at(f)];
  });
}

void RealValues::constant_products(const TaskBlock& block, const RealArgs& args) {
  const RealPlane w(block);
  begin_with_bias(block, args, 1);
  const auto factor = static_cast<double>(block.attribute("constant_a"));
  w.each_tap([&](std::int64_t out, std::int64_t in, std::int64_t) {
    for (std::int64_t f = 0; f < w.f; ++f) args.out[at(out * w.f + f)] += factor * args.in[0][at(in * w.f + f)];
  });
}

// CCMPB: scaled by the shift, the largest of the window, where zeros stand around the input, and of cmp. Of integers
// the shift rounds down; the engine does the rest.
void RealValues::compares(const TaskBlock& block, const RealArgs& args) {
  const RealPlane w(block);
  const double scale = std::ldexp(1.0, -static_cast<int>(block.attribute("shift")));
  const auto cmp = static_cast<double>(block.attribute("cmp"));
  const std::int64_t taps = w.y.kernel * w.x.kernel;
  std::vector<std::int64_t> seen(at(w.y.out * w.x.out));
  std::fill(args.out.begin(), args.out.end(), -INFINITY);
  w.each_tap([&](std::int64_t out, std::int64_t in, std::int64_t) {
    ++seen[at(out)];
    for (std::int64_t f = 0; f < w.f; ++f)
      args.out[at(out * w.f + f)] = std::max(args.out[at(out * w.f + f)], args.in[0][at(in * w.f + f)]);
  });
  const bool rounds = !is_float(block.precision);
  for (std::size_t i = 0; i < args.out.size(); ++i) {
    double best = args.out[i];
    if (seen[i / at(w.f)] < taps) best = std::max(best, 0.0);
    best *= scale;
    args.out[i] = std::max(rounds ? std::floor(best) : best, cmp);
  }
}

// CLIF without rest, windows, adaptive and random thresholds. Of floats nothing is cut to 28 bits.
void RealValues::neurons(const TaskBlock& block, const RealArgs& args) {
  auto number = [&](std::string_view name) { return static_cast<double>(block.attribute(name)); };
  const double least = number("vl"), threshold = std::max(number("vth0"), least);
  const double alpha = block.attribute("vleaky_adpt_en") != 0 ? number("vleaky_alpha") / 256 : 1.0;
  const std::int64_t mode = block.attribute("reset_mode"), type = block.attribute("fire_type");
  const bool has_state = args.states.size() > 1, rounds = !is_float(block.precision);
  auto kept = [&](double v) { return rounds ? std::clamp(std::floor(v), -134217728.0, 134217727.0) : v; };
  for (std::size_t i = 0; i < args.out.size(); ++i) {
    const double charged = kept(args.in[0][i] + args.in[1][i]);
    const bool fires = charged > threshold;
    const double resets[] = {number("vr"), charged - threshold, charged - number("dv"), charged};
    const double left = fires ? resets[mode] : charged;
    const double next = std::max(kept(kept(left * alpha) + number("vleaky_beta")), least);
    args.out[i] = type == 0 ? charged : type == 1 ? next : fires ? 1.0 : 0.0;
    if (has_state) args.states[1][i] = next;
  }
}

}  // namespace taskspec::block_parts
