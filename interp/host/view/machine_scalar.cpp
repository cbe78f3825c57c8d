// Code that goes element by element.
#include <cstring>
#include <functional>

#include "interp/host/view/machine.hpp"

namespace taskspec {

namespace {

template <class T>
T get(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
void put(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

// On the scratch that begins there.
template <class T, class Op>
void apply(std::byte* s, const ScalarStep& i) {
  put<T>(s + i.out, Op()(get<T>(s + i.a), get<T>(s + i.b)));
}
template <class T, class Op>
void compare(std::byte* s, const ScalarStep& i) {
  s[i.out] = std::byte{Op()(get<T>(s + i.a), get<T>(s + i.b))};
}

struct Add {
  bool operator()(std::int64_t a, std::int64_t b, std::int64_t& made) { return __builtin_add_overflow(a, b, &made); }
};
struct Sub {
  bool operator()(std::int64_t a, std::int64_t b, std::int64_t& made) { return __builtin_sub_overflow(a, b, &made); }
};
struct Mul {
  bool operator()(std::int64_t a, std::int64_t b, std::int64_t& made) { return __builtin_mul_overflow(a, b, &made); }
};
template <class Op>
void wrapping(std::byte* s, const ScalarStep& i) {
  std::int64_t made = 0;
  Op()(get<std::int64_t>(s + i.a), get<std::int64_t>(s + i.b), made);
  put(s + i.out, made);
}
// False: the result is too large.
template <class Op>
bool fits(std::byte* s, const ScalarStep& i) {
  std::int64_t made = 0;
  if (Op()(get<std::int64_t>(s + i.a), get<std::int64_t>(s + i.b), made)) return false;
  put(s + i.out, made);
  return true;
}

template <std::size_t bytes>
void move(std::byte* to, const std::byte* from) {
  std::memcpy(to, from, bytes);
}

}  // namespace

// Of a rectangle whose elements lie as they do in the root.
bool LaneMachine::index_one(const ScalarStep& i) {
  const LaneAccess& access = program_.accesses[i.access];
  const IndexSpace& points = *view(access.view).points;
  const PieceMemory& memory = access_[i.access].memory;
  if (!points.is_rect() || !memory.is_box()) return false;
  const auto point = get<std::int64_t>(scratch_ + i.a);
  if (point < points.rect().lo[0] || point >= points.rect().hi[0]) return false;
  put(scratch_ + i.out, point - memory.box->lo[0]);
  return true;
}

template <std::size_t bytes>
std::byte* LaneMachine::at_place(const ScalarStep& i) const {
  return base(program_.accesses[i.access]) + get<std::int64_t>(scratch_ + i.a) * std::int64_t{bytes};
}

LaneMachine::Left LaneMachine::scalar(std::span<const LaneInstruction> code, std::span<const ScalarStep> steps,
                                      const Turn& turn) {
  using Kind = ScalarStep::Kind;
  using std::int64_t;
  std::byte* const s = scratch_;
  for (const ScalarStep* at = steps.data();;) {
    const ScalarStep& i = *at++;
    bool is_done = true;  // else the instruction does it
    switch (i.kind) {
      case Kind::end:
        return Left::no;
      case Kind::leave:
        return Left::loop;
      case Kind::jump_back:
        if (++jumps_ % 1024 == 0) look_for_interrupt();
        [[fallthrough]];
      case Kind::jump:
        at = steps.data() + i.to;
        break;
      case Kind::jump_unless:
        if (s[i.a] == std::byte{}) at = steps.data() + i.to;
        break;
      case Kind::jump_if_empty:
        if (view(i.access).points->empty()) at = steps.data() + i.to;
        break;
      case Kind::count: {
        const auto next = get<int64_t>(s + i.a);
        if (next >= get<int64_t>(s + i.b)) {
          at = steps.data() + i.to;
          break;
        }
        put(s + i.out, next);
        put(s + i.a, next + 1);
        break;
      }
      case Kind::copy_1:
        s[i.out] = s[i.a];
        break;
      case Kind::copy_4:
        move<4>(s + i.out, s + i.a);
        break;
      case Kind::copy_8:
        move<8>(s + i.out, s + i.a);
        break;
      case Kind::load_1:
        move<1>(s + i.out, element(i.access, turn.segments[0].at));
        break;
      case Kind::load_4:
        move<4>(s + i.out, element(i.access, turn.segments[0].at));
        break;
      case Kind::load_8:
        move<8>(s + i.out, element(i.access, turn.segments[0].at));
        break;
      case Kind::index:
        is_done = index_one(i);
        break;
      case Kind::gather_1:
        move<1>(s + i.out, at_place<1>(i));
        break;
      case Kind::gather_4:
        move<4>(s + i.out, at_place<4>(i));
        break;
      case Kind::gather_8:
        move<8>(s + i.out, at_place<8>(i));
        break;
      case Kind::scatter_1:
        move<1>(at_place<1>(i), s + i.b);
        break;
      case Kind::scatter_4:
        move<4>(at_place<4>(i), s + i.b);
        break;
      case Kind::scatter_8:
        move<8>(at_place<8>(i), s + i.b);
        break;
      case Kind::f64_add:
        apply<double, std::plus<>>(s, i);
        break;
      case Kind::f64_sub:
        apply<double, std::minus<>>(s, i);
        break;
      case Kind::f64_mul:
        apply<double, std::multiplies<>>(s, i);
        break;
      case Kind::f64_div:
        apply<double, std::divides<>>(s, i);
        break;
      case Kind::f64_lt:
        compare<double, std::less<>>(s, i);
        break;
      case Kind::f64_le:
        compare<double, std::less_equal<>>(s, i);
        break;
      case Kind::f64_gt:
        compare<double, std::greater<>>(s, i);
        break;
      case Kind::f64_ge:
        compare<double, std::greater_equal<>>(s, i);
        break;
      case Kind::f64_eq:
        compare<double, std::equal_to<>>(s, i);
        break;
      case Kind::f64_ne:
        compare<double, std::not_equal_to<>>(s, i);
        break;
      case Kind::f32_add:
        apply<float, std::plus<>>(s, i);
        break;
      case Kind::f32_sub:
        apply<float, std::minus<>>(s, i);
        break;
      case Kind::f32_mul:
        apply<float, std::multiplies<>>(s, i);
        break;
      case Kind::f32_div:
        apply<float, std::divides<>>(s, i);
        break;
      case Kind::f32_lt:
        compare<float, std::less<>>(s, i);
        break;
      case Kind::f32_le:
        compare<float, std::less_equal<>>(s, i);
        break;
      case Kind::f32_gt:
        compare<float, std::greater<>>(s, i);
        break;
      case Kind::f32_ge:
        compare<float, std::greater_equal<>>(s, i);
        break;
      case Kind::f32_eq:
        compare<float, std::equal_to<>>(s, i);
        break;
      case Kind::f32_ne:
        compare<float, std::not_equal_to<>>(s, i);
        break;
      case Kind::i64_add:
        wrapping<Add>(s, i);
        break;
      case Kind::i64_sub:
        wrapping<Sub>(s, i);
        break;
      case Kind::i64_mul:
        wrapping<Mul>(s, i);
        break;
      case Kind::i64_lt:
        compare<int64_t, std::less<>>(s, i);
        break;
      case Kind::i64_le:
        compare<int64_t, std::less_equal<>>(s, i);
        break;
      case Kind::i64_gt:
        compare<int64_t, std::greater<>>(s, i);
        break;
      case Kind::i64_ge:
        compare<int64_t, std::greater_equal<>>(s, i);
        break;
      case Kind::i64_eq:
        compare<int64_t, std::equal_to<>>(s, i);
        break;
      case Kind::i64_ne:
        compare<int64_t, std::not_equal_to<>>(s, i);
        break;
      case Kind::int_add:
        is_done = fits<Add>(s, i);
        break;
      case Kind::int_sub:
        is_done = fits<Sub>(s, i);
        break;
      case Kind::int_mul:
        is_done = fits<Mul>(s, i);
        break;
      case Kind::instruction:
        is_done = false;
    }
    if (!is_done) instruction(code[static_cast<std::size_t>(at - steps.data()) - 1], turn);
  }
}

}  // namespace taskspec
