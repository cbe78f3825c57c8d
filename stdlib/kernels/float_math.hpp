// Elementary functions for f32: computed in double by short polynomials without branches, so that loops over
// them vectorise, and rounded to float once. Relative error before that rounding: below 1e-9, so a result is
// the nearest float but for about one in a hundred. The same bits on every instruction set and in every
// position of a vector. Callers keep the arguments in the ranges given; beyond them they use libm.
//
//   float y = static_cast<float>(float_math::exp(x));
#pragma once
#include <bit>
#include <cmath>
#include <cstdint>

namespace taskspec::float_math {

#define TASKSPEC_INLINE [[gnu::always_inline]] inline

// Adding it rounds a double below 2^51 to an integer, which then stands in the low bits.
inline constexpr double rounder = 0x1.8p52;

TASKSPEC_INLINE double polynomial(double, double c) { return c; }
template <class... Rest>
TASKSPEC_INLINE double polynomial(double x, double c, Rest... rest) {
  return c + x * polynomial(x, rest...);
}

// e^x for |x| < 700: 2^k e^r with |r| <= ln(2) / 2.
TASKSPEC_INLINE double exp(double x) {
  double shifted = x * 0x1.71547652b82fep0 + rounder;
  double r = x - (shifted - rounder) * 0x1.62e42fefa39efp-1;
  double tail = polynomial(r, 0.5, 0.16666666719028935, 0.041666666719012259, 0.0083332984698005894,
                           0.001388885403566671, 0.00019899285575896282, 2.4859589834589054e-5);
  double fraction = 1 + (r + r * r * tail);
  return std::bit_cast<double>(std::bit_cast<std::int64_t>(fraction) + (std::bit_cast<std::int64_t>(shifted) << 52));
}

// ln(x) for normal x > 0: x = 2^k m with m in [sqrt(1/2), sqrt(2)), ln(m) = 2 artanh((m - 1) / (m + 1)).
TASKSPEC_INLINE double log(double x) {
  constexpr std::uint64_t root_half = 0x3fe6a09e667f3bcd;  // bits of sqrt(1/2)
  std::uint64_t bits = std::bit_cast<std::uint64_t>(x);
  std::uint64_t biased = (bits - root_half + (std::uint64_t{1024} << 52)) >> 52;  // k + 1024, never negative
  double k = std::bit_cast<double>(biased + std::bit_cast<std::uint64_t>(0x1p52)) - (0x1p52 + 1024);
  double m = std::bit_cast<double>(bits - (biased << 52) + (std::uint64_t{1024} << 52));
  double s = (m - 1) / (m + 1), z = s * s;
  double tail = polynomial(z, 0.66666666666662055, 0.40000000011263543, 0.2857142412022083, 0.22222864249374918,
                           0.18140107756610345, 0.16623116584283471);
  return k * 0x1.62e42fefa39efp-1 + (2 * s + s * z * tail);
}

// sin(x + quarters * pi / 2) for |x| < 2^20: pi / 2 in two parts, the first so short that its multiples are exact.
TASKSPEC_INLINE double sine(double x, std::int64_t quarters) {
  double shifted = x * 0x1.45f306dc9c883p-1 + rounder;
  double k = shifted - rounder;
  double r = (x - k * 1.5707963267341256142) - k * 6.0771005065061926e-11;
  double z = r * r;
  double sin_r = r + r * z *
                         polynomial(z, -0.16666666666663872, 0.0083333333310702096, -0.00019841266908224796,
                                    2.7555988280021415e-6, -2.4805390945766066e-8);
  double cos_r = 1 + z * polynomial(z, -0.49999999999999969, 0.041666666666630747, -0.0013888888882100918,
                                    2.4801582609336557e-5, -2.7555852592391735e-7, 2.0665294635775562e-9);
  std::int64_t quarter = std::bit_cast<std::int64_t>(shifted) + quarters;
  double value = (quarter & 1) ? cos_r : sin_r;
  return std::bit_cast<double>(std::bit_cast<std::int64_t>(value) ^ ((quarter & 2) << 62));  // the sign bit
}

// The lower tail of the normal distribution, for -26 < x <= 0: erfc(z) / 2 with z = -x / sqrt(2), as
// exp(-z^2) / (1 + 2 z) times a polynomial in t = (z - 2) / (z + 2) that is fitted up to z = 10.4, where the
// result no longer shows in a float.
TASKSPEC_INLINE double normal_tail(double x) {
  double z = x * -0x1.6a09e667f3bcdp-1;
  double t = (z - 2) / (z + 2);
  double scaled = polynomial(t, 1.2769783817221895, -0.092763830167370445, -0.16603042195348845, 0.16405141197573574,
                             -0.054219409131186956, -0.0080352366389358135, 0.0087172742312872832,
                             0.0012745431215696053, -0.0014347328131700384, -0.00044956249719365285,
                             0.00016622494272820905, 0.00011945009307785057, 1.9458774293896617e-5);
  return 0.5 * scaled / (1 + 2 * z) * exp(-z * z);
}

#undef TASKSPEC_INLINE

}  // namespace taskspec::float_math
