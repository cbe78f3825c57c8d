#include "interp/host/view/lane_shapes.hpp"

#include <array>
#include <utility>

#include "ir/base/instruction_sets.hpp"

namespace taskspec {

namespace {

// ---- trees ----------------------------------------------------------------------------------------

// `text`: as find_shape wants it. value<first>(v): of operands v[first], v[first + 1]...
struct Operand {
  static constexpr int operands = 1;
  static constexpr std::array<char, 1> text{'x'};
  template <int first, class T>
  [[gnu::always_inline]] static T value(const T* v) {
    return v[first];
  }
};

template <char op, class Left, class Right>
struct Tree {
  static constexpr int operands = Left::operands + Right::operands;
  static constexpr auto text = [] {
    std::array<char, Left::text.size() + Right::text.size() + 1> all{};
    std::size_t at = 0;
    for (char c : Left::text) all[at++] = c;
    for (char c : Right::text) all[at++] = c;
    all[at] = op;
    return all;
  }();
  template <int first, class T>
  [[gnu::always_inline]] static T value(const T* v) {
    const T a = Left::template value<first>(v), b = Right::template value<first + Left::operands>(v);
    if constexpr (op == '+') return a + b;
    if constexpr (op == '-') return a - b;
    if constexpr (op == '*') return a * b;
    if constexpr (op == '/') return a / b;
  }
};

template <class Shape, class T, class... In>
TASKSPEC_CLONES void map(std::int64_t count, T* out, const In*... in) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < count; ++i) {
    const T v[] = {in[i]...};
    out[i] = Shape::template value<0>(v);
  }
}

template <class Shape, class T>
void run(const std::byte* const* in, std::byte* out, std::int64_t count) {
  [&]<std::size_t... k>(std::index_sequence<k...>) {
    map<Shape, T>(count, reinterpret_cast<T*>(out), reinterpret_cast<const T*>(in[k])...);
  }
  (std::make_index_sequence<Shape::operands>());
}

// ---- which there are ------------------------------------------------------------------------------

struct Entry {
  std::string_view shape;
  ShapeLoop single = nullptr, real = nullptr;
};

template <class... Shape>
struct List {
  static constexpr std::array<Entry, sizeof...(Shape)> entries{
      Entry{{Shape::text.data(), Shape::text.size()}, run<Shape, float>, run<Shape, double>}...};
};

template <class... Lists>
struct JoinOf;
template <class... A>
struct JoinOf<List<A...>> {
  using Type = List<A...>;
};
template <class... A, class... B, class... Rest>
struct JoinOf<List<A...>, List<B...>, Rest...> {
  using Type = typename JoinOf<List<A..., B...>, Rest...>::Type;
};
template <class... Lists>
using Join = typename JoinOf<Lists...>::Type;

template <char op, class Lefts, class Rights>
struct AllOf;
template <char op, class... Left, class Rights>
struct AllOf<op, List<Left...>, Rights> {
  template <class L, class R>
  struct Row;
  template <class L, class... Right>
  struct Row<L, List<Right...>> {
    using Type = List<Tree<op, L, Right>...>;
  };
  using Type = Join<typename Row<Left, Rights>::Type...>;
};
// Trees of one of these ops, with each of the left sides and each of the right ones.
template <class Lefts, class Rights, char... ops>
using All = Join<typename AllOf<ops, Lefts, Rights>::Type...>;

using None = List<Operand>;
using One = All<None, None, '+', '-', '*'>;
using OneOrQuotient = All<None, None, '+', '-', '*', '/'>;
using Two = Join<All<One, None, '+', '-', '*'>, All<None, One, '-'>>;
using TwoOrQuotients = Join<All<OneOrQuotient, None, '+', '-', '*', '/'>, All<None, OneOrQuotient, '-', '/'>>;
using Three = Join<All<Two, None, '+', '-', '*'>, All<None, Two, '-'>, All<One, One, '+', '-', '*'>>;

// Stars of two and three axes: the sum of the neighbours, less some of the middle; scaled; added to something.
template <class Sum, class Less = Tree<'-', Sum, Tree<'*', Operand, Operand>>>
using Star = List<Tree<'*', Sum, Operand>, Tree<'+', Tree<'*', Sum, Operand>, Operand>, Less, Tree<'*', Less, Operand>,
                  Tree<'+', Tree<'*', Less, Operand>, Operand>>;
using Sum4 = Tree<'+', Tree<'+', Tree<'+', Operand, Operand>, Operand>, Operand>;
using Sum5 = Tree<'+', Sum4, Operand>;
using Sum6 = Tree<'+', Sum5, Operand>;
using Shapes = Join<TwoOrQuotients, Three, List<Sum5, Sum6>, Star<Sum4>, Star<Sum6>>;

}  // namespace

ShapeLoop find_shape(std::string_view shape, Precision precision) {
  for (const Entry& entry : Shapes::entries)
    if (entry.shape == shape)
      return precision == Precision::f64 ? entry.real : precision == Precision::f32 ? entry.single : nullptr;
  return nullptr;
}

}  // namespace taskspec
