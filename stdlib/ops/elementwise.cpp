#include "stdlib/ops/elementwise.hpp"

#include <atomic>
#include <cstring>

namespace taskspec {

Work elementwise_work(const OpInstance& call, double operations) {
  Work work{operations * static_cast<double>(call.out[0].elements()), static_cast<double>(call.out[0].bytes())};
  for (const ArrayType& in : call.in) work.bytes += static_cast<double>(in.bytes());
  return work;
}

namespace {

constexpr std::int64_t elementwise_grain = 32768;  // elements per part of the work
constexpr std::int64_t long_row = 128;             // rows from here on are walked one by one
constexpr std::int64_t buffer_size = 512;          // elements for which an operand is stretched at a time

// Fills `count` elements of `width` bytes with copies of the one at `from`.
void repeat(const std::byte* from, std::size_t width, std::int64_t count, std::byte* to) {
  auto fill = [&](auto element) {
    std::memcpy(&element, from, sizeof element);
    std::fill_n(reinterpret_cast<decltype(element)*>(to), count, element);
  };
  if (width == 1)
    fill(std::uint8_t{});
  else if (width == 2)
    fill(std::uint16_t{});
  else if (width == 4)
    fill(std::uint32_t{});
  else
    fill(std::uint64_t{});
}

}  // namespace

// ---- layout

ElementwiseKernel::ElementwiseKernel(const OpInstance& call, Fault fault)
    : operands_(call.in.size()),
      out_width_(info(call.out[0].precision).bytes),
      count_(call.out[0].elements()),
      fault_(std::move(fault)) {
  const Extents& out = call.out[0].extents;
  std::array<std::vector<std::int64_t>, max_operands> offsets;  // per operand and dimension of the result
  bool strips = true;
  for (std::size_t k = 0; k < operands_; ++k) {
    const ArrayType& in = call.in[k];
    widths_[k] = info(in.precision).bytes;
    offsets[k].assign(out.size(), 0);
    std::int64_t step = widths_[k];
    for (std::size_t d = in.extents.size(), o = out.size(); d-- > 0;) {
      --o;
      if (in.extents[d] != 1) offsets[k][o] = step;
      step *= in.extents[d];
    }
    bool single = in.elements() == 1;
    strips = strips && (single || in.elements() == count_);
    strip_steps_.push_back(single ? std::uint8_t{0} : widths_[k]);
  }
  if (!strips) strip_steps_.clear();
  for (std::size_t d = 0; d < out.size(); ++d) {
    std::array<std::int64_t, max_operands> here{};
    for (std::size_t k = 0; k < operands_; ++k) here[k] = offsets[k][d];
    if (out[d] != 1) add_dimension(out[d], here);
  }
  if (loop_nest_.extents.empty()) add_dimension(1, {});
  for (std::size_t k = 0; k < operands_; ++k) row_steps_[k] = static_cast<std::uint8_t>(loop_nest_.offsets.back()[k]);
}

// Becomes one with the dimension before it where every operand walks through both with even steps.
void ElementwiseKernel::add_dimension(std::int64_t extent, const std::array<std::int64_t, max_operands>& offsets) {
  bool even = !loop_nest_.extents.empty();
  for (std::size_t k = 0; even && k < operands_; ++k) even = loop_nest_.offsets.back()[k] == offsets[k] * extent;
  if (even) {
    loop_nest_.extents.back() *= extent;
    loop_nest_.offsets.back() = offsets;
  } else {
    loop_nest_.extents.push_back(extent);
    loop_nest_.offsets.push_back(offsets);
  }
}

// ---- walks

std::optional<Fault> ElementwiseKernel::run(const KernelArgs& args) const {
  std::atomic<bool> fine = true;
  bool by_row = loop_nest_.extents.size() == 1 || loop_nest_.extents.back() >= long_row;
  args.parallel.for_each(count_, elementwise_grain, [&](std::int64_t begin, std::int64_t end) {
    if (!(by_row ? rows(args, begin, end) : gathered(args, begin, end))) fine = false;
  });
  return fine ? std::nullopt : std::optional(fault_);
}

std::optional<Fault> ElementwiseKernel::run_strip(std::span<const std::byte* const> in, std::span<std::byte* const> out,
                                                  std::int64_t count) const {
  Pointers from{};
  std::copy(in.begin(), in.end(), from.begin());
  return spread(from, strip_steps_.data(), out[0], count) ? std::nullopt : std::optional(fault_);
}

// Elements [begin, end) of the result, one row (or what of it lies in the range) after the other.
bool ElementwiseKernel::rows(const KernelArgs& args, std::int64_t begin, std::int64_t end) const {
  std::int64_t row = loop_nest_.extents.back();
  while (begin < end) {
    std::int64_t column = begin % row, count = std::min(row - column, end - begin);
    Pointers from{};
    for (std::size_t k = 0; k < operands_; ++k) {
      from[k] = args.in[k] + column * row_steps_[k];
      std::int64_t rest = begin / row;
      for (std::size_t d = loop_nest_.extents.size() - 1; d-- > 0; rest /= loop_nest_.extents[d])
        from[k] += rest % loop_nest_.extents[d] * loop_nest_.offsets[d][k];
    }
    if (!spread(from, row_steps_.data(), args.out[0] + begin * out_width_, count)) return false;
    begin += count;
  }
  return true;
}

// One run in which every operand is either contiguous or a single element, which is repeated in a buffer.
bool ElementwiseKernel::spread(const Pointers& in, const std::uint8_t* steps, std::byte* out,
                               std::int64_t count) const {
  alignas(64) std::byte buffer[max_operands][buffer_size * 8];
  Pointers from = in;
  std::int64_t piece = count;
  for (std::size_t k = 0; k < operands_; ++k) {
    if (steps[k] != 0 || count == 1) continue;
    piece = std::min(count, buffer_size);
    repeat(in[k], widths_[k], piece, buffer[k]);
    from[k] = buffer[k];
  }
  for (std::int64_t done = 0; done < count; done += piece) {
    if (!loop(from, out + done * out_width_, std::min(piece, count - done))) return false;
    for (std::size_t k = 0; k < operands_; ++k) from[k] += steps[k] * piece;
  }
  return true;
}

// Short rows: the operands are laid out in buffers first, so that loops are long all the same.
bool ElementwiseKernel::gathered(const KernelArgs& args, std::int64_t begin, std::int64_t end) const {
  alignas(64) std::byte buffer[max_operands][buffer_size * 8];
  while (begin < end) {
    std::int64_t count = std::min(buffer_size, end - begin);
    Pointers from{};
    for (std::size_t k = 0; k < operands_; ++k) {
      gather(k, args.in[k], begin, begin + count, buffer[k]);
      from[k] = buffer[k];
    }
    if (!loop(from, args.out[0] + begin * out_width_, count)) return false;
    begin += count;
  }
  return true;
}

void ElementwiseKernel::gather(std::size_t operand, const std::byte* from, std::int64_t begin, std::int64_t end,
                               std::byte* to) const {
  std::size_t width = widths_[operand];
  std::int64_t row = loop_nest_.extents.back(), step = row_steps_[operand];
  while (begin < end) {
    std::int64_t column = begin % row, count = std::min(row - column, end - begin);
    const std::byte* start = from + column * step;
    std::int64_t rest = begin / row;
    for (std::size_t d = loop_nest_.extents.size() - 1; d-- > 0; rest /= loop_nest_.extents[d])
      start += rest % loop_nest_.extents[d] * loop_nest_.offsets[d][operand];
    if (step == 0)
      repeat(start, width, count, to);
    else
      std::memcpy(to, start, static_cast<std::size_t>(count) * width);
    to += static_cast<std::size_t>(count) * width;
    begin += count;
  }
}

}  // namespace taskspec
