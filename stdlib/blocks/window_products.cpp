// The sums of products of CC, CC2D and CVM: over windows, from the bias on, r outermost, then ky, then kx.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "ir/blocks/windows.hpp"
#include "stdlib/blocks/families.hpp"
#include "stdlib/blocks/operands.hpp"
#include "stdlib/kernels/integer_dots.hpp"
#include "stdlib/kernels/saturating.hpp"

namespace taskspec::block_parts {

namespace {

// Where pixels and taps lie in an input with its zeros around it, packed row by row, channels innermost.
struct WindowPlaces {
  BlockWindow y, x;
  std::int64_t channels = 1, outputs = 1;
  std::int64_t pitch = 0, elements = 0;    // of a row; of all of them
  std::vector<std::int32_t> pixels;        // where the windows of outputs begin
  std::vector<std::int32_t> runs;          // taps that lie side by side, from there
  std::int64_t run_length = 0;             // elements of a run
  std::vector<std::int32_t> ordered_taps;  // r outermost, then ky, then kx

  explicit WindowPlaces(const TaskBlock& block)
      : y(window_of(block, BlockAxis::y)),
        x(window_of(block, BlockAxis::x)),
        channels(std::max<std::int64_t>(1, block.shape.r)),
        outputs(std::max<std::int64_t>(1, block.shape.f)) {
    pitch = (x.in + x.before + x.after) * channels;
    elements = (y.in + y.before + y.after) * pitch;
    if (elements > INT32_MAX) bug("a block whose input has more than 2^31 elements");
    for (std::int64_t row = 0; row < y.out; ++row)
      for (std::int64_t column = 0; column < x.out; ++column)
        pixels.push_back(static_cast<std::int32_t>(row * y.stride * pitch + column * x.stride * channels));
    const bool is_dense = x.dilation == 1;
    run_length = is_dense ? x.kernel * channels : channels;
    for (std::int64_t ky = 0; ky < y.kernel; ++ky)
      for (std::int64_t kx = 0; kx < (is_dense ? 1 : x.kernel); ++kx) runs.push_back(place(ky, kx, 0));
    for (std::int64_t r = 0; r < channels; ++r)
      for (std::int64_t ky = 0; ky < y.kernel; ++ky)
        for (std::int64_t kx = 0; kx < x.kernel; ++kx) ordered_taps.push_back(place(ky, kx, r));
  }

  std::int64_t depth() const { return channels * y.kernel * x.kernel; }
  bool has_pads() const { return y.before + y.after + x.before + x.after > 0; }
  // Of the weights [f, r, ky, kx] of output 0: what the element of a run multiplies.
  std::int64_t weight(std::size_t run, std::int64_t element) const {
    const auto turn = static_cast<std::int64_t>(run);
    const std::int64_t per_row = static_cast<std::int64_t>(runs.size()) / y.kernel;
    const std::int64_t ky = turn / per_row, kx = turn % per_row + element / channels, r = element % channels;
    return (r * y.kernel + ky) * x.kernel + kx;
  }

 private:
  std::int32_t place(std::int64_t ky, std::int64_t kx, std::int64_t r) const {
    return static_cast<std::int32_t>(ky * y.dilation * pitch + kx * x.dilation * channels + r);
  }
};

// The input with zeros around it, as `To`, `offset` added.
template <class To, class From>
void pack_rows(const WindowPlaces& w, const From* from, To* to, int offset) {
  std::fill(to, to + w.elements, static_cast<To>(offset));
  const std::int64_t line = w.x.in * w.channels;
  for (std::int64_t row = 0; row < w.y.in; ++row) {
    To* at = to + (row + w.y.before) * w.pitch + w.x.before * w.channels;
    const From* source = from + row * line;
    for (std::int64_t i = 0; i < line; ++i) at[i] = static_cast<To>(source[i] + offset);
  }
}

template <class To>
void pack_input(const WindowPlaces& w, Precision precision, const std::byte* from, To* to, int offset) {
  if (precision == Precision::i8 || precision == Precision::tern)
    return pack_rows(w, reinterpret_cast<const std::int8_t*>(from), to, offset);
  if (precision == Precision::u8 || precision == Precision::u4)
    return pack_rows(w, reinterpret_cast<const std::uint8_t*>(from), to, offset);
  std::vector<std::int32_t> wide(static_cast<std::size_t>(w.y.in * w.x.in * w.channels));
  pack_rows(w, widened(precision, from, static_cast<std::int64_t>(wide.size()), wide.data()), to, offset);
}

class WindowProducts final : public BlockRunner {
 public:
  WindowProducts(const TaskBlock& block, std::span<const BlockOperand> in, BlockMode mode)
      : w_(block),
        mode_(mode),
        in_(in[0].type.precision),
        weight_(in[1].type.precision),
        input_range_(in[0].range),
        bias_(block, in, 2, mode, block.def->find_attribute("constant_b") != nullptr),
        set_(&best_dot_set(weight_ == Precision::i8 || weight_ == Precision::tern)) {
    if (w_.has_pads())
      input_range_ = {std::min<std::int64_t>(0, input_range_.least), std::max<std::int64_t>(0, input_range_.most)};
    is_wide_ = is_wide(in_) || is_wide(weight_);
    offset_ = in_ == Precision::u8 ? 0 : set_->offset;
    groups_ = rounded_up(w_.run_length, set_->group) / set_->group;
    for (std::int32_t run : w_.runs)
      for (std::int64_t g = 0; g < groups_; ++g)
        group_places_.push_back(run + static_cast<std::int32_t>(g * set_->group));
    const auto outputs = static_cast<std::size_t>(w_.outputs);
    const auto padded = static_cast<std::size_t>(rounded_up(w_.outputs, saturating_lanes));
    weights_.resize(outputs * static_cast<std::size_t>(w_.depth()));
    magnitudes_.resize(outputs);
    sums_.resize(outputs);
    start_.resize(padded);
    if (!is_wide_)
      packed_.resize(static_cast<std::size_t>(
          packed_weights(*set_, w_.outputs, static_cast<std::int64_t>(group_places_.size())) * set_->element_bytes()));
    input_bytes_ = rounded_up((w_.elements + 64) * static_cast<std::int64_t>(sizeof(std::int32_t)), 64);
    scratch_ = static_cast<std::size_t>(input_bytes_);
    is_fixed_ = in[1].fixed != nullptr;
    if (is_fixed_) take_weights(in[1].fixed);
    find_range(in[1].range);
  }

  BlockRun run(const BlockArgs& args) override {
    if (!is_fixed_) take_weights(args.in[1]);
    const std::int32_t* bias = bias_.at(args.in);
    const bool fits = !args.force_ordered && !is_wide_ && (is_proven() || holds(bias, args.in[0]));
    if (fits) {
      run_fast(args, bias);
      return {};
    }
    return run_ordered(args, bias);
  }

 private:
  std::int64_t bound(std::int64_t f, std::int64_t bias, std::int64_t most) const {
    return std::abs(bias) + magnitudes_[static_cast<std::size_t>(f)] * most;
  }

  // Weights as they are multiplied: [f][r][ky][kx] of 32 bits, and packed for the fast loops.
  void take_weights(const std::byte* data) {
    const std::int64_t depth = w_.depth();
    const std::int32_t* from = widened(weight_, data, w_.outputs * depth, weights_.data());
    if (from != weights_.data()) std::copy_n(from, weights_.size(), weights_.data());
    for (std::int64_t f = 0; f < w_.outputs; ++f) {
      std::int64_t magnitude = 0, sum = 0;
      for (std::int64_t k = 0; k < depth; ++k) {
        const std::int64_t w = weights_[static_cast<std::size_t>(f * depth + k)];
        magnitude += std::abs(w);
        sum += w;
      }
      magnitudes_[static_cast<std::size_t>(f)] = magnitude;
      sums_[static_cast<std::size_t>(f)] = sum;
    }
    ordered_.clear();
    if (is_wide_) return;
    if (set_->group == 2)
      pack(reinterpret_cast<std::int16_t*>(packed_.data()));
    else
      pack(reinterpret_cast<std::int8_t*>(packed_.data()));
  }

  template <class To>
  void pack(To* to) {
    std::fill(to, to + packed_.size() / sizeof(To), To{});
    const std::int64_t lanes = set_->lanes, group = set_->group, depth = w_.depth();
    const auto runs = static_cast<std::int64_t>(w_.runs.size());
    for (std::int64_t first = 0; first < w_.outputs; first += set_->block()) {
      const std::int64_t width = w_.outputs - first > lanes ? 2 * lanes : lanes;
      for (std::int64_t f = first; f < std::min(first + width, w_.outputs); ++f)
        for (std::int64_t run = 0; run < runs; ++run)
          for (std::int64_t e = 0; e < w_.run_length; ++e) {
            const std::int64_t place = w_.weight(static_cast<std::size_t>(run), e);
            To* block = to + first * runs * groups_ * group;
            block[((run * groups_ + e / group) * width + (f - first)) * group + e % group] =
                static_cast<To>(weights_[static_cast<std::size_t>(f * depth + place)]);
          }
    }
  }

  // For the ordered loop, which runs seldom: made when it is first needed.
  void arrange_ordered() {
    if (!ordered_.empty()) return;
    const std::int64_t depth = w_.depth();
    ordered_.assign(static_cast<std::size_t>(rounded_up(w_.outputs, saturating_lanes) * depth), 0);
    for (std::int64_t f = 0; f < w_.outputs; ++f)
      for (std::int64_t k = 0; k < depth; ++k)
        ordered_[static_cast<std::size_t>((f / saturating_lanes * depth + k) * saturating_lanes +
                                          f % saturating_lanes)] = weights_[static_cast<std::size_t>(f * depth + k)];
  }

  // What sums may be, and the proof before anything runs.
  void find_range(const ValueRange& weight) {
    const std::int64_t most = input_range_.magnitude();
    if (!is_fixed_) std::fill(magnitudes_.begin(), magnitudes_.end(), w_.depth() * weight.magnitude());
    const std::int32_t* fixed = bias_.is_fixed() ? bias_.at({}) : nullptr;
    ValueRange all{INT64_MAX, INT64_MIN};
    std::int64_t worst = -1, worst_output = 0;
    for (std::int64_t f = 0; f < w_.outputs; ++f) {
      const ValueRange bias = fixed ? ValueRange{fixed[f], fixed[f]} : bias_.range();
      const std::int64_t reach = bound(f, bias.magnitude(), most);
      if (reach > worst) worst = reach, worst_output = f;
      all.least = std::min(all.least, bias.least - magnitudes_[static_cast<std::size_t>(f)] * most);
      all.most = std::max(all.most, bias.most + magnitudes_[static_cast<std::size_t>(f)] * most);
    }
    range_ = {cut_32(all.least), cut_32(all.most)};
    if (worst < beyond_32) return;
    range_ = range_of(Precision::i32);
    reason_ = failed_proof(worst, worst_output, fmt::format("|bias| + sum |w| * {}", most));
  }

  // The proof again, with what the weights, the bias and the input really are.
  bool holds(const std::int32_t* bias, const std::byte* input) const {
    auto fits = [&](std::int64_t most) {
      for (std::int64_t f = 0; f < w_.outputs; ++f)
        if (bound(f, bias[f], most) >= beyond_32) return false;
      return true;
    };
    if (fits(input_range_.magnitude())) return true;
    return fits(range_of(in_, input, w_.y.in * w_.x.in * w_.channels).magnitude());
  }

  void run_fast(const BlockArgs& args, const std::int32_t* bias) {
    for (std::int64_t f = 0; f < w_.outputs; ++f) {
      const auto place = static_cast<std::size_t>(f);
      start_[place] = static_cast<std::int32_t>(static_cast<std::uint32_t>(bias[f]) -
                                                static_cast<std::uint32_t>(offset_ * sums_[place]));
    }
    if (set_->group == 2)
      pack_input(w_, in_, args.in[0], reinterpret_cast<std::int16_t*>(args.scratch), 0);
    else
      pack_input(w_, in_, args.in[0], reinterpret_cast<std::uint8_t*>(args.scratch), offset_);
    set_->run({.input = args.scratch,
               .pixels = w_.pixels.data(),
               .pixel_count = static_cast<std::int64_t>(w_.pixels.size()),
               .groups = group_places_.data(),
               .group_count = static_cast<std::int64_t>(group_places_.size()),
               .weights = packed_.data(),
               .start = start_.data(),
               .out = reinterpret_cast<std::int32_t*>(args.out),
               .outputs = w_.outputs});
  }

  BlockRun run_ordered(const BlockArgs& args, const std::int32_t* bias) {
    arrange_ordered();
    std::copy_n(bias, w_.outputs, start_.begin());
    std::fill(start_.begin() + w_.outputs, start_.end(), 0);
    OrderedTask task{.pixels = w_.pixels.data(),
                     .pixel_count = static_cast<std::int64_t>(w_.pixels.size()),
                     .taps = w_.ordered_taps.data(),
                     .tap_count = w_.depth(),
                     .weights = ordered_.data(),
                     .start = start_.data(),
                     .out = reinterpret_cast<std::int32_t*>(args.out),
                     .outputs = w_.outputs};
    if (mode_ == BlockMode::rabbit) {
      pack_input(w_, in_, args.in[0], reinterpret_cast<std::int32_t*>(args.scratch), 0);
      task.wide_input = reinterpret_cast<const std::int32_t*>(args.scratch);
      return {.ordered = true, .saturations = reference_dots(task)};
    }
    pack_input(w_, in_, args.in[0], reinterpret_cast<std::int16_t*>(args.scratch), 0);
    task.input = reinterpret_cast<const std::int16_t*>(args.scratch);
    return {.ordered = true, .saturations = saturating_dots(task)};
  }

  WindowPlaces w_;
  BlockMode mode_;
  Precision in_, weight_;
  ValueRange input_range_;
  BlockBias bias_;
  const DotSet* set_;
  bool is_wide_ = false, is_fixed_ = false;
  int offset_ = 0;
  std::int64_t groups_ = 0, input_bytes_ = 0;
  std::vector<std::int32_t> weights_, ordered_, start_, group_places_;
  std::vector<std::int64_t> magnitudes_, sums_;  // per output: of |w|, of w
  std::vector<std::byte> packed_;
};

}  // namespace

constinit const BlockNumerics window_products{
    [](const TaskBlock& block, std::span<const BlockOperand> in, BlockMode mode) -> std::unique_ptr<BlockRunner> {
      if (in[0].sparse || in[1].sparse) return sparse_products(block, in, mode);
      return std::make_unique<WindowProducts>(block, in, mode);
    }};

}  // namespace taskspec::block_parts
