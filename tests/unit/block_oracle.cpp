#include "tests/unit/block_oracle.hpp"

#include <algorithm>

namespace taskspec {

namespace {

using Numbers = std::vector<std::int64_t>;

struct PlainBlock {
  const TaskBlock& b;
  const std::vector<Array>& in;
  BlockMode mode;
  std::int64_t ny = std::max<std::int64_t>(1, b.shape.y), nx = std::max<std::int64_t>(1, b.shape.x),
               nf = std::max<std::int64_t>(1, b.shape.f), nr = std::max<std::int64_t>(1, b.shape.r),
               nky = std::max<std::int64_t>(1, b.shape.ky), nkx = std::max<std::int64_t>(1, b.shape.kx),
               iy = b.shape.iy > 0 ? b.shape.iy : ny, ix = b.shape.ix > 0 ? b.shape.ix : nx;

  std::int64_t given(std::string_view name, std::int64_t none) const {
    for (const BlockAttribute& a : b.attributes)
      if (a.def->name == name) return a.value;
    return none;
  }
  std::int64_t stride_y = std::max<std::int64_t>(1, given("stride_y", 1)),
               stride_x = std::max<std::int64_t>(1, given("stride_x", 1)),
               dilation_y = std::max<std::int64_t>(1, given("dilation_y", 1)),
               dilation_x = std::max<std::int64_t>(1, given("dilation_x", 1)), up = given("pad_up", 0),
               left = given("pad_left", 0), shift = given("shift", 0), cmp = given("cmp", 0);

  bool is(std::string_view name) const { return b.def->name == name; }
  bool chip() const { return mode == BlockMode::chip; }

  // The sum so far, with one more summand.
  std::int64_t add(std::int64_t sum, std::int64_t x) const {
    const std::int64_t total = sum + x;
    if (!chip()) return total;
    return total > 2147483647 ? 2147483647 : total < -2147483648LL ? -2147483648LL : total;
  }
  std::int64_t result(std::int64_t sum) const { return sum > 2147483647 || sum < -2147483648LL ? -2147483648LL : sum; }
  std::int64_t bias(std::size_t cluster, std::int64_t f) const {
    if (b.bias == BiasKind::vector) return in[cluster].integer(f);
    const bool knows = chip() && !is("CC") && !is("CC2D");
    return b.bias == BiasKind::constant && knows ? given("constant_b", 0) : 0;
  }
  // A place of an input [iy, ix, channels]; zero around it.
  std::int64_t at(const Array& x, std::int64_t row, std::int64_t column, std::int64_t c, std::int64_t channels) const {
    if (row < 0 || row >= iy || column < 0 || column >= ix) return 0;
    return x.integer((row * ix + column) * channels + c);
  }

  std::int64_t convolution(std::int64_t y, std::int64_t x, std::int64_t f) const {
    std::int64_t sum = bias(2, f);
    for (std::int64_t r = 0; r < nr; ++r)
      for (std::int64_t ky = 0; ky < nky; ++ky)
        for (std::int64_t kx = 0; kx < nkx; ++kx) {
          const std::int64_t v =
              at(in[0], y * stride_y + ky * dilation_y - up, x * stride_x + kx * dilation_x - left, r, nr);
          sum = add(sum, v * in[1].integer(((f * nr + r) * nky + ky) * nkx + kx));
        }
    return result(sum);
  }

  std::int64_t sum_of(std::int64_t y, std::int64_t x, std::int64_t f) const {
    std::int64_t sum = bias(is("CAVG") ? 1 : b.branches, f);
    if (is("CAVG"))
      for (std::int64_t ky = 0; ky < nky; ++ky)
        for (std::int64_t kx = 0; kx < nkx; ++kx)
          sum = add(sum, at(in[0], y * stride_y + ky - up, x * stride_x + kx - left, f, nf));
    else
      for (std::size_t k = 0; k < b.branches; ++k) sum = add(sum, in[k].integer((y * nx + x) * nf + f));
    return result(sum);
  }

  std::int64_t product(std::int64_t y, std::int64_t x, std::int64_t f) const {
    const std::int64_t a = at(in[0], y * stride_y, x * stride_x, f, nf);
    const std::int64_t other = is("CVVH")  ? at(in[1], y * stride_y, x * stride_x, f, nf)
                               : is("CAX") ? in[1].integer(f)
                                           : given("constant_a", 1);
    return result(add(bias(is("CVS") ? 1 : 2, f), a * other));
  }

  static int code(Precision p) {
    return p == Precision::i8 ? 1 : p == Precision::u8 ? 2 : p == Precision::tern ? 3 : 0;
  }
  static std::int64_t floor_shift(std::int64_t x, std::int64_t bits) {
    const std::int64_t by = std::int64_t{1} << bits;
    return x >= 0 ? x / by : -((-x + by - 1) / by);
  }

  std::int64_t best(std::int64_t a, std::int64_t c) const { return is("CCMPB") ? std::max(a, c) : std::min(a, c); }

  std::int64_t compared(std::int64_t y, std::int64_t x, std::int64_t f) const {
    const int to = code(b.precision), from = code(in[0].precision());
    const bool reference = !chip() && is("CCMPB");
    auto convert = [&](std::int64_t v) {
      if (reference || to <= from) return v;
      v = floor_shift(v, shift);
      return to == 3 ? std::clamp<std::int64_t>(v, -1, 1) : std::clamp<std::int64_t>(v, -128, 127);
    };
    std::optional<std::int64_t> kept;
    for (std::int64_t ky = 0; ky < nky; ++ky)
      for (std::int64_t kx = 0; kx < nkx; ++kx) {
        const std::int64_t v = convert(at(in[0], y * stride_y + ky - up, x * stride_x + kx - left, f, nf));
        kept = kept ? best(*kept, v) : v;
      }
    if (reference) {
      const bool is_vector = b.shape.y == 0 && b.shape.x == 0;
      const std::int64_t most = is_vector ? 127 : to == 3 ? 1 : to == 0 ? 2147483647 : 127;
      return stored(std::min(most, std::max(cmp, floor_shift(*kept, shift))));
    }
    const bool has_constant = (to == 0 && from == 0) || (to == 1 && from <= 1) || (to == 3 && from != 2);
    return stored(has_constant ? best(*kept, constant(to, f)) : *kept);
  }
  std::int64_t constant(int to, std::int64_t f) const {
    const bool is_word = cmp < -128 || cmp > 127;
    const auto word = static_cast<std::uint32_t>(cmp);
    if (to == 1 && is_word) return static_cast<std::int8_t>(word >> (f % 4 * 8));
    if (to != 3) return cmp;
    if (!is_word) return cmp > 0 ? 1 : cmp < 0 ? -1 : 0;
    const std::uint32_t pair = word >> (f % 16 * 2) & 3;
    return pair > 1 ? -1 : static_cast<std::int64_t>(pair);
  }
  std::int64_t stored(std::int64_t v) const {
    if (b.precision == Precision::u8) return static_cast<std::uint8_t>(v);
    return b.precision == Precision::i8 || b.precision == Precision::tern ? static_cast<std::int8_t>(v) : v;
  }

  std::int64_t looked_up(std::int64_t y, std::int64_t x, std::int64_t f) const {
    const std::int64_t bits = given("lut_dw", 8), half = std::int64_t{1} << (bits - 1);
    std::int64_t a = at(in[0], y, x, f, nf);
    const bool direct = !chip() || (in[0].precision() == Precision::i8 && bits == 8);
    if (!direct) a = floor_shift(a, shift);
    a = std::clamp(a, -half, half - 1);
    return in[1].integer(a >= 0 ? a : 2 * half + a);
  }

  std::int64_t one(std::int64_t y, std::int64_t x, std::int64_t f) const {
    if (is("CC") || is("CC2D") || is("CVM")) return convolution(y, x, f);
    if (is("CADD") || is("CAVG")) return sum_of(y, x, f);
    if (is("CVVH") || is("CAX") || is("CVS")) return product(y, x, f);
    if (is("CLUT")) return looked_up(y, x, f);
    return compared(y, x, f);
  }
};

}  // namespace

std::vector<std::int64_t> plain_block(const TaskBlock& block, const std::vector<Array>& in, BlockMode mode) {
  const PlainBlock plain{block, in, mode};
  Numbers out;
  for (std::int64_t y = 0; y < plain.ny; ++y)
    for (std::int64_t x = 0; x < plain.nx; ++x)
      for (std::int64_t f = 0; f < plain.nf; ++f) out.push_back(plain.one(y, x, f));
  return out;
}

}  // namespace taskspec
