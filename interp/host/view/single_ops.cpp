#include "interp/host/view/single_ops.hpp"

#include <cstdint>
#include <cstring>
#include <functional>

namespace taskspec {

namespace {

template <class T>
T at(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T, class Op>
bool floats(const std::byte* const* in, std::byte* out) {
  const T made = Op()(at<T>(in[0]), at<T>(in[1]));
  std::memcpy(out, &made, sizeof made);
  return true;
}

template <class T, class Op>
bool compared(const std::byte* const* in, std::byte* out) {
  *out = std::byte{Op()(at<T>(in[0]), at<T>(in[1]))};
  return true;
}

using Overflows = bool (*)(std::int64_t a, std::int64_t b, std::int64_t* made);
bool add(std::int64_t a, std::int64_t b, std::int64_t* made) { return __builtin_add_overflow(a, b, made); }
bool sub(std::int64_t a, std::int64_t b, std::int64_t* made) { return __builtin_sub_overflow(a, b, made); }
bool mul(std::int64_t a, std::int64_t b, std::int64_t* made) { return __builtin_mul_overflow(a, b, made); }

template <Overflows op, bool wraps>
bool ints(const std::byte* const* in, std::byte* out) {
  std::int64_t made = 0;
  if (op(at<std::int64_t>(in[0]), at<std::int64_t>(in[1]), &made) && !wraps) return false;
  std::memcpy(out, &made, sizeof made);
  return true;
}

template <class T>
SingleOp comparison(std::string_view symbol) {
  if (symbol == "<") return compared<T, std::less<>>;
  if (symbol == "<=") return compared<T, std::less_equal<>>;
  if (symbol == ">") return compared<T, std::greater<>>;
  if (symbol == ">=") return compared<T, std::greater_equal<>>;
  if (symbol == "==") return compared<T, std::equal_to<>>;
  if (symbol == "!=") return compared<T, std::not_equal_to<>>;
  return nullptr;
}

template <class T>
SingleOp of_floats(std::string_view symbol, bool of_host) {
  if (symbol == "+") return floats<T, std::plus<>>;
  if (symbol == "-") return floats<T, std::minus<>>;
  if (symbol == "*") return floats<T, std::multiplies<>>;
  if (symbol == "/" && !of_host) return floats<T, std::divides<>>;
  return comparison<T>(symbol);
}

template <bool wraps>
SingleOp of_ints(std::string_view symbol) {
  if (symbol == "+") return ints<add, wraps>;
  if (symbol == "-") return ints<sub, wraps>;
  if (symbol == "*") return ints<mul, wraps>;
  return comparison<std::int64_t>(symbol);
}

template <std::size_t bytes>
bool copied(const std::byte* const* in, std::byte* out) {
  std::memcpy(out, in[0], bytes);
  return true;
}

}  // namespace

SingleOp find_single(std::string_view symbol, Precision precision, bool of_host) {
  if (precision == Precision::f64) return of_floats<double>(symbol, of_host);
  if (precision == Precision::f32) return of_floats<float>(symbol, of_host);
  if (precision == Precision::i64) return of_host ? of_ints<false>(symbol) : of_ints<true>(symbol);
  return nullptr;
}

SingleOp find_copy(std::size_t bytes) {
  if (bytes == 8) return copied<8>;
  if (bytes == 4) return copied<4>;
  if (bytes == 1) return copied<1>;
  return nullptr;
}

}  // namespace taskspec
