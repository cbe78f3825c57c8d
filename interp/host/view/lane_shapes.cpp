#include "interp/host/view/lane_shapes.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "ir/base/instruction_sets.hpp"

namespace taskspec {

namespace {

// ---- trees ----------------------------------------------------------------------------------------

// `text`: as find_shape wants it. value<first>(v): of operands v[first], v[first + 1]...
template <char letter>
struct Leaf {
  static constexpr int operands = 1;
  static constexpr std::array<char, 1> text{letter};
  template <int first, class T>
  [[gnu::always_inline]] static T value(const T* v) {
    return v[first];
  }
};
using Operand = Leaf<'x'>;
using Gathered = Leaf<'g'>;

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

// ---- operands that are gathered -------------------------------------------------------------------

// Of each operand: how many of its kind, gathered or not, stand before it.
template <class Shape>
constexpr auto order_of = [] {
  std::array<std::pair<bool, std::size_t>, Shape::operands> all{};
  std::size_t operand = 0, gathered = 0, plain = 0;
  for (char c : Shape::text)
    if (c == 'x' || c == 'g') all[operand++] = {c == 'g', c == 'g' ? gathered++ : plain++};
  return all;
}();

template <class Shape>
constexpr std::size_t gathered_in = [] {
  std::size_t count = 0;
  for (char c : Shape::text) count += c == 'g';
  return count;
}();

// A value is outside where one of the two differences is negative: they may wrap, but never both to where they hide it.
TASKSPEC_CLONES bool inside(const std::int64_t* values, std::int64_t count, std::int64_t lo, std::int64_t hi) {
  const auto first = static_cast<std::uint64_t>(lo), last = static_cast<std::uint64_t>(hi) - 1;
  std::uint64_t signs = 0;
  for (std::int64_t e = 0; e < count; ++e) {
    const auto value = static_cast<std::uint64_t>(values[e]);
    signs |= (value - first) | (last - value);
  }
  return signs >> 63 == 0;
}

// Elements [first, end), whose places are all inside.
template <class Shape, class T>
void gather_some(const T* const* in, const Gathering* gatherings, T* out, std::int64_t first, std::int64_t end) {
  constexpr auto order = order_of<Shape>;
  [&]<std::size_t... k>(std::index_sequence<k...>) {
    const std::int64_t* const places[] = {order[k].first ? gatherings[order[k].second].places : nullptr...};
    const T* const from[] = {order[k].first ? reinterpret_cast<const T*>(gatherings[order[k].second].from)
                                            : in[order[k].second]...};
#pragma GCC ivdep
    for (std::int64_t e = first; e < end; ++e) {
      const T v[] = {from[k][order[k].first ? places[k][e] : e]...};
      out[e] = Shape::template value<0>(v);
    }
  }
  (std::make_index_sequence<order.size()>());
}

// For the baseline alone: the gathers of wider sets take longer than single loads, and a quotient takes as long for
// each element whatever the width (Zen 3 and 4). Some elements at a time, so that what comes from memory comes once.
template <class Shape, class T>
std::int64_t gather(const std::byte* const* in, const Gathering* gatherings, std::byte* out, std::int64_t count) {
  constexpr std::int64_t block = 64;
  constexpr std::size_t plain = Shape::operands - gathered_in<Shape>;
  const T* from[plain + 1] = {};
  for (std::size_t k = 0; k < plain; ++k) from[k] = reinterpret_cast<const T*>(in[k]);
  for (std::int64_t done = 0; done < count; done += block) {
    const std::int64_t end = std::min(count, done + block);
    for (std::size_t g = 0; g < gathered_in<Shape>; ++g)
      if (!all_inside(gatherings[g].places + done, end - done, gatherings[g].lo, gatherings[g].hi)) return done;
    gather_some<Shape>(from, gatherings, reinterpret_cast<T*>(out), done, end);
  }
  return count;
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

// Of all that have one or two ops, with any of their operands gathered.
using Either = List<Operand, Gathered>;
using OneOfEither = All<Either, Either, '+', '-', '*', '/'>;
using GatheredShapes =
    Join<OneOfEither, All<OneOfEither, Either, '+', '-', '*', '/'>, All<Either, OneOfEither, '-', '/'>>;

struct GatherEntry {
  std::string_view shape;
  GatherLoop single = nullptr, real = nullptr;
};

template <class Shape>
constexpr GatherEntry gather_entry() {
  if constexpr (gathered_in < Shape >> 0)
    return {{Shape::text.data(), Shape::text.size()}, gather<Shape, float>, gather<Shape, double>};
  else
    return {};
}

template <class List>
struct GatherList;
template <class... Shape>
struct GatherList<List<Shape...>> {
  static constexpr std::array<GatherEntry, sizeof...(Shape)> entries{gather_entry<Shape>()...};
};

template <class Entries>
auto found(const Entries& entries, std::string_view shape, Precision precision) {
  for (const auto& entry : entries)
    if (entry.shape == shape)
      return precision == Precision::f64 ? entry.real : precision == Precision::f32 ? entry.single : nullptr;
  return decltype(entries[0].real){};
}

}  // namespace

ShapeLoop find_shape(std::string_view shape, Precision precision) { return found(Shapes::entries, shape, precision); }

bool all_inside(const std::int64_t* values, std::int64_t count, std::int64_t lo, std::int64_t hi) {
  return count == 0 || (lo < hi && inside(values, count, lo, hi));
}

GatherLoop find_gather(std::string_view shape, Precision precision) {
  return found(GatherList<GatheredShapes>::entries, shape, precision);
}

}  // namespace taskspec
