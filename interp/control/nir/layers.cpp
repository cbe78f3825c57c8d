// Ops as layers of NIR: products, convolutions, pools, reshapes.
#include <algorithm>

#include "interp/control/nir/walk.hpp"

namespace taskspec::nir_walk {

namespace {

using Here = Walk::Here;
using Made = std::vector<Seen>;

Array counts(const std::vector<std::int64_t>& values) {
  Array array = Array::make({Precision::i64, {static_cast<std::int64_t>(values.size())}});
  for (std::size_t i = 0; i < values.size(); ++i) array.set_integer(static_cast<std::int64_t>(i), values[i]);
  return array;
}
Array count(std::int64_t value) {
  Array array = Array::make({Precision::i64, {}});
  array.set_integer(0, value);
  return array;
}

// An int, or one for each axis.
std::vector<std::int64_t> by_axis(const Value& value, std::size_t axes) {
  if (value.is_integer()) return std::vector<std::int64_t>(axes, value.integer());
  std::vector<std::int64_t> all;
  for (const Value& item : value.is_list() ? value.list() : value.tuple().items) all.push_back(item.integer());
  return all;
}

bool has_border(const Signal& signal) { return !signal.before.empty(); }

void refuse_border(const Signal& signal) {
  if (has_border(signal) || !signal.windows.empty())
    throw Problem{"zeros or windows around a value belong to a convolution or a pool right behind it"};
}

// ---- shapes ---------------------------------------------------------------------------------------

// The axes that one shape has as one axis of the other: first and last of them.
std::optional<std::pair<std::size_t, std::size_t>> flattened(const Extents& from, const Extents& to) {
  if (to.size() >= from.size()) return std::nullopt;
  std::size_t first = 0;
  while (first < to.size() && from[first] == to[first]) ++first;
  first = std::min(first, to.size() - 1);
  const std::size_t last = first + (from.size() - to.size());
  const Extents tail(from.begin() + static_cast<std::ptrdiff_t>(last) + 1, from.end());
  const bool fits = std::equal(tail.begin(), tail.end(), to.end() - static_cast<std::ptrdiff_t>(tail.size()));
  return fits ? std::optional(std::pair(first, last)) : std::nullopt;
}

Signal flatten(Walk& walk, const Signal& from, const Extents& to) {
  const auto axes = flattened(from.whole, to);
  if (!axes) return from;
  Signal whole = from;
  whole.shape = from.whole;
  return walk.add("Flatten", whole, to,
                  {{"start_dim", count(static_cast<std::int64_t>(axes->first))},
                   {"end_dim", count(static_cast<std::int64_t>(axes->second))},
                   {"input_type", counts(from.whole)}});
}

// In the shape that a node wants: other tools know no reshape but Flatten.
Signal in_shape(Walk& walk, const Signal& from, const Extents& wanted) {
  return from.whole == wanted ? from : flatten(walk, from, wanted);
}

// [C, H, W] as [C, h, rows, w, columns], cut off where windows do not reach.
bool splits_windows(const Signal& from, const Extents& to) {
  return from.whole.size() == 3 && from.shape.size() == 3 && to.size() == 5 && to[0] == from.shape[0] &&
         to[1] * to[2] == from.shape[1] && to[3] * to[4] == from.shape[2];
}

Seen read_reshape(Walk& walk, const Here& here) {
  Signal signal = walk.signal(here, 0);
  const Extents to = walk.extents(here);
  const bool is_lift = to.size() == signal.shape.size() + 1 && to[0] == 1 &&
                       std::equal(signal.shape.begin(), signal.shape.end(), to.begin() + 1);
  if (splits_windows(signal, to)) {
    signal.windows = {to[2], to[4]};
  } else if (!is_lift) {
    refuse_border(signal);
    // A let of its own is a Flatten; others are in between, for blocks of code that want another shape.
    if (walk.let_of(here) && signal.shape == signal.whole && flattened(signal.whole, to))
      return flatten(walk, signal, to);
  }
  signal.shape = to;
  return signal;
}

Seen read_pad(Walk& walk, const Here& here) {
  Signal signal = walk.signal(here, 0);
  if (!here.arguments[4].is_none() && here.arguments[4].real() != 0)
    throw Problem{"it pads with something else than 0"};
  if (signal.shape.size() != signal.whole.size()) throw Problem{"what it pads is seen in another shape"};
  const auto axis = static_cast<std::size_t>(here.arguments[1].integer());
  signal.before.resize(signal.whole.size());
  signal.after.resize(signal.whole.size());
  signal.before[axis] += here.arguments[2].integer();
  signal.after[axis] += here.arguments[3].integer();
  signal.shape = walk.extents(here);
  return signal;
}

// Only what windows leave over may go.
Seen read_slice(Walk& walk, const Here& here) {
  Signal signal = walk.signal(here, 0);
  const std::string& spec = here.arguments[1].string();
  const bool is_line = spec == "i" && std::ranges::all_of(signal.sources, &Source::back);
  if (is_line) {  // the oldest of the values that are on their way back
    signal.whole = signal.shape = walk.extents(here);
    return signal;
  }
  for (std::size_t axis = 0; axis < spec.size(); ++axis)
    if (spec[axis] == 'i' || (spec[axis] == 'r' && here.arguments[2 + 2 * axis].integer() != 0))
      throw Problem{"NIR has no node that takes a part of a value"};
  signal.before.resize(signal.whole.size());
  signal.after.resize(signal.whole.size());
  signal.shape = walk.extents(here);
  return signal;
}

// ---- sums and products ----------------------------------------------------------------------------

bool fits_bias(const Known& bias, const Extents& shape) {
  return bias.array.elements() == 1 || bias.array.elements() == volume(shape);
}

Seen with_bias(Walk& walk, const Here& here, std::size_t slot) {
  const Signal& from = walk.signal(here, slot);
  NirNode* layer = walk.only_source(from, here, slot);
  if (!layer || layer->type != "Linear" || !fits_bias(walk.known(here, 1 - slot), from.shape))
    throw Problem{"it adds a constant to what is no product with a weight (Affine)"};
  layer->type = "Affine";
  layer->name.clear();
  layer->parameters.emplace_back("bias", walk.known(here, 1 - slot).written);
  return from;
}

Seen read_add(Walk& walk, const Here& here) {
  for (const std::size_t slot : {0, 1})
    if (walk.is_known(here, 1 - slot)) return with_bias(walk, here, slot);
  Signal sum = walk.signal(here, 0);
  const Signal& other = walk.signal(here, 1);
  refuse_border(sum), refuse_border(other);
  if (sum.shape != other.shape) throw Problem{"it adds values of different shapes"};
  const bool is_back = std::ranges::all_of(sum.sources, &Source::back);
  if (is_back) sum.whole = other.whole;
  for (const Source& source : other.sources) {
    if (std::ranges::find(sum.sources, source) != sum.sources.end())
      throw Problem{"it adds a value to itself, and an edge counts once: a Scale of 2 does it"};
    sum.sources.push_back(source);
  }
  return sum;
}

Array transposed(const Array& array) {
  const std::int64_t rows = array.extents()[0], columns = array.extents()[1];
  Array made = Array::make({array.precision(), {columns, rows}});
  for (std::int64_t i = 0; i < rows; ++i)
    for (std::int64_t k = 0; k < columns; ++k) made.set_number(k * rows + i, array.number(i * columns + k));
  return made;
}

Seen read_matmul(Walk& walk, const Here& here) {
  const bool left = walk.is_known(here, 0);
  if (!left && !walk.is_known(here, 1)) throw Problem{"it multiplies two values, and a weight is known"};
  const Signal& from = walk.signal(here, left ? 1 : 0);
  refuse_border(from);
  Array weight = left ? walk.known(here, 0).array : walk.known(here, 1).array;
  if (!left && (weight.extents().size() != 2 || from.shape.size() != 1))
    throw Problem{"a weight stands on the left of one vector, or is a matrix on its right"};
  if (!left) weight = transposed(weight);
  if (weight.extents().size() < 2) throw Problem{"its weight is no matrix"};
  Extents wanted = weight.extents(), gives = weight.extents();
  wanted.erase(wanted.end() - 2), gives.pop_back();
  if (volume(from.shape) != volume(wanted)) throw Problem{"it multiplies a batch, and a step of NIR has one sample"};
  Signal made = walk.add("Linear", in_shape(walk, from, wanted), gives, {{"weight", weight}});
  made.shape = walk.extents(here);
  return made;
}

Seen read_mul(Walk& walk, const Here& here) {
  const std::size_t slot = walk.is_known(here, 1) ? 0 : 1;
  if (!walk.is_known(here, 1 - slot)) throw Problem{"it multiplies two values, and a scale is known"};
  const Signal& from = walk.signal(here, slot);
  const Known& scale = walk.known(here, 1 - slot);
  refuse_border(from);
  if (!fits_bias(scale, from.shape)) throw Problem{"its scale has another shape than the value"};
  return walk.add("Scale", from, from.whole, {{"scale", scale.written}});
}

// ---- windows --------------------------------------------------------------------------------------

// Zeros on both sides alike are numbers; one more behind is "same".
std::variant<Array, std::string> padding(const Signal& from, const std::vector<std::int64_t>& own,
                                         const std::vector<std::int64_t>& kernel,
                                         const std::vector<std::int64_t>& stride,
                                         const std::vector<std::int64_t>& dilation) {
  const std::size_t axes = kernel.size(), first = from.whole.size() - axes;
  std::vector<std::int64_t> sides = own;
  bool even = true, same = true;
  for (std::size_t i = 0; i < axes; ++i) {
    const std::int64_t before = (has_border(from) ? from.before[first + i] : 0) + own[i];
    const std::int64_t after = (has_border(from) ? from.after[first + i] : 0) + own[i];
    const std::int64_t whole = dilation[i] * (kernel[i] - 1);
    even = even && before == after;
    same = same && stride[i] == 1 && before == whole / 2 && after == whole - whole / 2;
    sides[i] = before;
  }
  if (even) return axes == 1 ? count(sides[0]) : counts(sides);
  if (same) return std::string("same");
  throw Problem{"it pads its sides by different numbers, and NIR knows one for both"};
}

bool is_all(const Array& array, double value) {
  for (std::int64_t i = 0; i < array.elements(); ++i)
    if (array.number(i) != value) return false;
  return true;
}

// Windows that overlap are summed by a convolution with ones, channel by channel.
bool sums_windows(const Known& weight, const Known* bias, std::int64_t groups) {
  return weight.array.extents().size() == 4 && groups == weight.array.extents()[0] && weight.array.extents()[1] == 1 &&
         is_all(weight.array, 1) && (!bias || is_all(bias->array, 0));
}

Seen read_convolution(Walk& walk, const Here& here, std::size_t axes) {
  enum : std::size_t { stride_at = 3, pad_at, dilation_at, groups_at };
  Signal from = walk.signal(here, 0);
  const Known& weight = walk.known(here, 1);
  const Known* bias = walk.inputs(here) > 2 ? &walk.known(here, 2) : nullptr;
  const Extents gives_all = walk.extents(here);
  if (from.shape.size() != axes + 2 || from.shape[0] != 1)
    throw Problem{"it convolves a batch, and a step of NIR has one sample"};
  Extents in(from.shape.begin() + 1, from.shape.end());
  if (has_border(from))
    for (std::size_t i = 0; i < in.size(); ++i) in[i] -= from.before[i] + from.after[i];
  if (volume(in) != volume(from.whole)) throw Problem{"it convolves a part of a value"};
  const std::int64_t groups = here.arguments[groups_at].integer();
  const auto stride = by_axis(here.arguments[stride_at], axes), dilation = by_axis(here.arguments[dilation_at], axes);
  const Extents& w = weight.array.extents();
  const std::vector<std::int64_t> kernel(w.begin() + 2, w.end());
  auto pads = padding(from, by_axis(here.arguments[pad_at], axes), kernel, stride, dilation);
  from.before.clear(), from.after.clear();
  from.shape = from.whole;
  const Extents gives(gives_all.begin() + 1, gives_all.end());
  auto sizes = [&](const std::vector<std::int64_t>& numbers) {
    return axes == 1 ? count(numbers[0]) : counts(numbers);
  };
  Signal made;
  if (axes == 2 && sums_windows(weight, bias, groups)) {
    made = walk.add("SumPool2d", from, gives,
                    {{"kernel_size", counts(kernel)}, {"stride", counts(stride)}, {"padding", std::move(pads)}});
  } else {
    std::vector<std::pair<std::string, std::variant<Array, std::string>>> parameters{
        {"weight", weight.written},    {"stride", sizes(stride)}, {"padding", std::move(pads)},
        {"dilation", sizes(dilation)}, {"groups", count(groups)}, {"input_shape", sizes({in.begin() + 1, in.end()})}};
    if (bias) parameters.emplace_back("bias", bias->written);
    made = walk.add(axes == 1 ? "Conv1d" : "Conv2d", from, gives, std::move(parameters));
  }
  made.shape = gives_all;
  return made;
}

Seen read_conv1d(Walk& walk, const Here& here) { return read_convolution(walk, here, 1); }
Seen read_conv2d(Walk& walk, const Here& here) { return read_convolution(walk, here, 2); }

// Over windows that stand as axes of their own.
Seen read_sum(Walk& walk, const Here& here) {
  Signal from = walk.signal(here, 0);
  if (from.windows.empty() || by_axis(here.arguments[1], 2) != std::vector<std::int64_t>{2, 4})
    throw Problem{"NIR has no sum but that of windows"};
  const std::vector<std::int64_t> kernel = from.windows;
  const Extents gives{from.shape[0], from.shape[1], from.shape[3]};
  const std::vector<std::int64_t> none(2, 0), ones(2, 1);
  auto pads = padding(from, none, kernel, kernel, ones);
  from.windows.clear(), from.before.clear(), from.after.clear();
  from.shape = from.whole;
  Signal made = walk.add("SumPool2d", from, gives,
                         {{"kernel_size", counts(kernel)}, {"stride", counts(kernel)}, {"padding", std::move(pads)}});
  made.shape = walk.extents(here);
  return made;
}

// By the size of its windows a sum becomes a mean.
Seen read_div(Walk& walk, const Here& here) {
  const Signal& from = walk.signal(here, 0);
  NirNode* pool = walk.is_known(here, 1) ? walk.only_source(from, here, 0) : nullptr;
  if (!pool || pool->type != "SumPool2d") throw Problem{"NIR has no division"};
  const Array& kernel = std::get<Array>(pool->parameters[0].second);
  const double area = static_cast<double>(kernel.integer(0) * kernel.integer(1));
  if (!is_all(walk.known(here, 1).array, area))
    throw Problem{"it divides a sum of windows by something else than their size"};
  pool->type = "AvgPool2d";
  pool->name.clear();
  return from;
}

struct LayerReader {
  std::string_view op;
  Seen (*read)(Walk& walk, const Here& here);
};
constexpr LayerReader readers[] = {{"reshape", read_reshape}, {"lift", read_reshape},  {"drop", read_reshape},
                                   {"pad", read_pad},         {"slice", read_slice},   {"add", read_add},
                                   {"matmul", read_matmul},   {"mul", read_mul},       {"div", read_div},
                                   {"conv1d", read_conv1d},   {"conv2d", read_conv2d}, {"sum", read_sum}};

}  // namespace

std::optional<std::vector<Seen>> read_layer(Walk& walk, const Here& here) {
  const auto reader = std::ranges::find(readers, here.definition.name, &LayerReader::op);
  if (reader == std::end(readers)) return std::nullopt;
  return Made{reader->read(walk, here)};
}

}  // namespace taskspec::nir_walk
