// Movements and products of two tensors.
#include <fmt/format.h>

#include "ir/lowering/evaluate.hpp"
#include "ir/lowering/state.hpp"

namespace taskspec {

namespace {

// The op on numbers that say where they come from: kernels of movements are the same for all precisions.
class MovedPlaces {
 public:
  struct From {
    std::size_t operand = SIZE_MAX;  // none: a constant
    std::int64_t place = 0;
    double number = 0;
  };

  MovedPlaces(const OpInstance& call, const std::vector<const Array*>& known) : call_(call), known_(known) {
    for (std::size_t k = 0; k < call_.in.size(); ++k)
      if (!known_[k]) data_ = call_.in[k].precision;
    as_numbers(call_.in), as_numbers(call_.out);
    const std::vector<Array> low = run(0), high = run(apart);
    for (std::size_t slot = 0; slot < low.size(); ++slot) outputs_.push_back(compared(low[slot], high[slot]));
  }
  const std::vector<From>& output(std::size_t slot) const { return outputs_[slot]; }

 private:
  static constexpr double apart = 1 << 30, each = 1LL << 32;

  void as_numbers(std::vector<ArrayType>& types) const {
    for (ArrayType& type : types)
      if (type.precision == data_) type.precision = Precision::f64;
  }

  std::vector<Array> run(double offset) const {
    std::vector<Array> in;
    for (std::size_t k = 0; k < call_.in.size(); ++k) {
      if (known_[k] && call_.in[k].precision == known_[k]->precision()) {
        in.push_back(*known_[k]);
        continue;
      }
      Array numbers = Array::make(call_.in[k]);
      for (std::int64_t place = 0; place < numbers.elements(); ++place)
        numbers.set_number(place, known_[k] ? known_[k]->number(place)
                                            : offset + each * static_cast<double>(k + 1) + static_cast<double>(place));
      in.push_back(std::move(numbers));
    }
    return evaluate(call_, in);
  }

  static std::vector<From> compared(const Array& low, const Array& high) {
    std::vector<From> all;
    for (std::int64_t place = 0; place < low.elements(); ++place) {
      const double a = low.number(place), b = high.number(place);
      if (b - a != apart) {
        all.push_back({SIZE_MAX, 0, a});
        continue;
      }
      const auto operand = static_cast<std::int64_t>(std::floor(a / each));
      all.push_back({static_cast<std::size_t>(operand - 1),
                     static_cast<std::int64_t>(a - each * static_cast<double>(operand)), 0});
    }
    return all;
  }

  OpInstance call_;
  std::vector<const Array*> known_;
  Precision data_ = Precision::f64;
  std::vector<std::vector<From>> outputs_;
};

// Layouts that a tensor may have, the usual one first.
std::vector<BlockLayout> layouts_of(const Extents& tensor) {
  std::vector<BlockLayout> all{plain_layout(tensor)};
  std::vector<std::size_t> axes;
  for (std::size_t k = 0; k < tensor.size(); ++k)
    if (tensor[k] != 1) axes.push_back(k);
  if (axes.size() > 3 || tensor.empty()) return all;
  for (std::size_t k = 0; axes.size() < 3 && k < tensor.size(); ++k)
    if (tensor[k] == 1) axes.push_back(k);
  if (axes.size() < 3) return all;
  std::ranges::sort(axes);
  do {
    all.push_back({axes[0], axes[1], axes[2]});
  } while (std::ranges::next_permutation(axes).found);
  return all;
}

}  // namespace

void BlockBuilder::move() {
  State& s = state_;
  std::vector<const Array*> known;
  std::vector<BlockGather> gathers;
  std::vector<std::int64_t> first(call_.in.size());
  std::vector<std::vector<std::int64_t>> at(call_.in.size());
  LoweredValue sample;
  std::int64_t count = 0;
  for (std::size_t k = 0; k < call_.in.size(); ++k) {
    known.push_back(is_fixed(k) ? &s.value(line_.in[k]).contents : nullptr);
    if (known[k] && s.scales() && is_float(known[k]->precision())) {
      double most = 0;
      for (const double number : s.contents_of(*known[k])) most = std::max(most, std::abs(number));
      for (ValueId out : line_.out)
        if (most > 0) s.scales()->at_most(out, 127 / most);
    }
    if (known[k]) continue;
    LoweredValue& value = s.ready(line_.in[k]);
    // Moved again, parts of several blocks would be ever smaller boxes: storage holds them in between.
    if (!value.gather.is_permutation())
      value.gather =
          BlockGather::of(s.stored(value.gather, value.precision, "SI", s.line_name + "_in"), value.gather.extents());
    if (s.scales())
      for (ValueId out : line_.out) s.scales()->same(line_.in[k], out);
    gathers.push_back(value.gather);
    const std::vector<std::int64_t> places = tensor_places(call_.in[k].extents, value.layout);
    at[k].resize(places.size());
    for (std::size_t p = 0; p < places.size(); ++p)
      at[k][static_cast<std::size_t>(places[p])] = static_cast<std::int64_t>(p);
    first[k] = count;
    count += value.gather.size();
    const ValueRange before = sample.range;
    const bool is_first = gathers.size() == 1;
    if (!is_first && value.precision != sample.precision)
      refuse("its operands are held in bytes and in 32 bits", "cut all of them alike");
    sample = value;
    if (!is_first) sample.range = {std::min(before.least, value.range.least), std::max(before.most, value.range.most)};
  }
  const BlockGather all = gathers.size() == 1 ? gathers[0] : BlockGather::joined(gathers);
  const MovedPlaces moved(call_, known);
  const PrecisionInfo& limits = info(sample.precision);
  for (std::size_t slot = 0; slot < line_.out.size(); ++slot) {
    const Extents& tensor = call_.out[slot].extents;
    if (!covers(tensor, layouts_of(tensor)[0]) && layouts_of(tensor).size() == 1)
      refuse(fmt::format("it makes {}, and blocks have y, x and f, of one sample", call_.out[slot].text()),
             "a batch of 1");
    LoweredValue made = sample;
    made.stage = {};
    std::vector<BlockGather::Place> by_tensor;
    for (const MovedPlaces::From& from : moved.output(slot)) {
      if (from.operand != SIZE_MAX) {
        by_tensor.push_back({0, first[from.operand] + at[from.operand][static_cast<std::size_t>(from.place)]});
        continue;
      }
      const double scaled = s.scales() ? std::floor(from.number * sample.scale + 0.5) : from.number;
      const auto number = static_cast<std::int64_t>(
          std::clamp(scaled, static_cast<double>(limits.minimum), static_cast<double>(limits.maximum)));
      by_tensor.push_back({BlockGather::constant, number});
      made.range = {std::min(made.range.least, number), std::max(made.range.most, number)};
    }
    bool is_found = false;
    for (const BlockLayout& layout : layouts_of(tensor)) {
      if (!covers(tensor, layout)) continue;
      std::vector<BlockGather::Place> places;
      for (const std::int64_t place : tensor_places(tensor, layout))
        places.push_back(by_tensor[static_cast<std::size_t>(place)]);
      BlockGather gather = all.picked(block_extents(tensor, layout), places);
      const bool is_better = !is_found || (gather.is_whole() && gather.extents() == gather.sources()[0].extents);
      if (!is_better) continue;
      made.gather = std::move(gather), made.layout = layout;
      const bool is_best = made.gather.is_whole();
      is_found = true;
      if (is_best) break;
    }
    made.id = made.base = line_.out[slot];
    made.name = s.line_name;
    s.keep(std::move(made));
  }
}

// ---- products of two tensors ----------------------------------------------------------------------

namespace {

Array transposed(const Array& matrix) {
  const Extents& in = matrix.extents();
  Array made = Array::make({matrix.precision(), {in[1], in[0], 1, 1}});
  for (std::int64_t k = 0; k < in[0]; ++k)
    for (std::int64_t n = 0; n < in[1]; ++n) made.set_number(n * in[0] + k, matrix.number(k * in[1] + n));
  return made;
}

}  // namespace

// A vector and a matrix, which is known.
void BlockBuilder::vector_product() {
  const Extents &a = call_.in[0].extents, &b = call_.in[1].extents;
  const std::size_t vector = a.size() == 1 ? 0 : 1;
  const Extents& matrix = vector == 0 ? b : a;
  if (matrix.size() != 2 || !is_fixed(1 - vector))
    refuse("one side has rank 1", "reshape it to a matrix: x.reshape(1, n)");
  Array weights = fixed(1 - vector);
  weights =
      vector == 0 ? transposed(weights) : Array::wrap({weights.precision(), {a[0], a[1], 1, 1}}, weights.storage());
  weigh({.input = vector, .weights = weights, .bias = {}, .layout = {.f = 0}, .result = {.f = 0}});
}

void BlockBuilder::matrix_product() {
  State& s = state_;
  const Extents &a = call_.in[0].extents, &b = call_.in[1].extents;
  auto batches = [](const Extents& e) {
    std::int64_t count = 1;
    for (std::size_t k = 0; k + 2 < e.size(); ++k) count *= e[k];
    return count;
  };
  if (batches(a) != 1 || batches(b) != 1)
    refuse("it is several products side by side, and a block does one", "a matmul for each of them, joined by concat");
  if (a.size() < 2 || b.size() < 2) return vector_product();
  const std::size_t row = a.size() - 2, inner = a.size() - 1, out_rank = call_.out[0].extents.size();
  const bool is_one_row = a[row] == 1;
  const BlockLayout left{.x = is_one_row ? no_axis : row, .f = inner};
  const BlockLayout result{.x = is_one_row ? no_axis : out_rank - 2, .f = out_rank - 1};
  if (is_fixed(1)) {
    Array matrix = s.value(line_.in[1]).contents;
    matrix = Array::wrap({matrix.precision(), {b[b.size() - 2], b.back()}}, matrix.storage());
    return weigh({.input = 0, .weights = transposed(matrix), .bias = {}, .layout = left, .result = result});
  }
  if (is_fixed(0)) {
    // (a b)' = b' a': a is the weights, columns of b are pixels.
    Array matrix = s.value(line_.in[0]).contents;
    matrix = Array::wrap({matrix.precision(), {a[row], a[inner], 1, 1}}, matrix.storage());
    return weigh({.input = 1,
                  .weights = matrix,
                  .bias = {},
                  .layout = {.x = b.size() - 1, .f = b.size() - 2},
                  .result = {.x = out_rank - 1, .f = out_rank - 2}});
  }
  // Weights that are computed: the second matrix, columns as outputs.
  const BlockLayout rows{.x = row, .f = inner}, columns{.x = b.size() - 1, .f = b.size() - 2};
  const BlockLayout made_layout{.x = out_rank - 2, .f = out_rank - 1};
  const ArrayType out = call_.out[0];
  auto product = [&s, rows, columns, made_layout, out, name = s.line_name](const LoweredValue& x,
                                                                           const LoweredValue& w) {
    const BlockGather read = s.arranged(x, rows), weights = s.arranged(w, columns);
    const std::int64_t t = read.extents()[1], r = read.extents()[2], f = weights.extents()[1];
    const BlockId from = s.stored(read, Precision::i8, "SIC", name + "_in");
    const BlockId held = s.stored(weights.seen_as({1, f, r}), Precision::i8, "SI", name + "_w_in");
    const BlockId kernel = s.add("SW", name + "_w", Precision::i8, {.f = f, .r = r, .ky = 1, .kx = 1});
    s.connect(held, kernel, "input");
    const BlockId axon =
        s.add("CC", name, Precision::i32, {.y = 1, .x = t, .f = f, .r = r, .ky = 1, .kx = 1, .iy = 1, .ix = t});
    s.connect(from, axon, "input");
    s.connect(kernel, axon, "weight");
    const std::int64_t most = r * x.range.magnitude() * w.range.magnitude();
    if (most > INT32_MAX)
      throw Refused{
          "E4012",
          fmt::format("sums of {} may reach {}, and blocks hold at most {}: the host wraps around, they saturate", name,
                      most, INT32_MAX),
          "cut the numbers before: x.shift_right(8) as i8"};
    return s.summed_by(axon, out, made_layout, x.scale * w.scale, {-most, most});
  };
  const ValueId x = line_.in[0], w = line_.in[1];
  LoweredValue made;
  made.id = line_.out[0];
  made.layout = made_layout;
  made.name = s.line_name + "_cut";
  if (s.scales()) {
    auto pending = std::make_shared<PendingSum>();
    pending->name = s.line_name, pending->span = s.span;
    pending->make = [&s, x, w, product](double, ValueId) {
      const LoweredValue left_value = s.ready(x), right_value = s.ready(w);
      return product(left_value, right_value);
    };
    made.sum = std::move(pending);
  } else {
    const LoweredValue left_value = s.narrowed(x, s.line_name), right_value = s.narrowed(w, s.line_name);
    const Sums sums = product(left_value, right_value);
    made.base = made.id, made.gather = sums.gather, made.range = sums.range;
  }
  s.keep(std::move(made));
}

}  // namespace taskspec
