#include "stdlib/kernels/copy.hpp"

#include <algorithm>
#include <cstring>
#include <span>

#include "ir/base/instruction_sets.hpp"

namespace taskspec {

namespace {

constexpr std::int64_t copy_grain = 32768;  // elements that are worth handing to another worker

using Loops = std::vector<CopyLoop>;

// Fewer and longer loops that copy the same: single steps dropped, neighbours that continue each other
// joined, and for a transposition the loop that reads neighbours moved next to the one that writes them.
Loops simplified(const Loops& loops) {
  Loops out;
  for (const CopyLoop& loop : loops) {
    if (loop.extent == 1) continue;
    bool continues =
        !out.empty() && out.back().from == loop.extent * loop.from && out.back().to == loop.extent * loop.to;
    if (continues)
      out.back() = {out.back().extent * loop.extent, loop.from, loop.to};
    else
      out.push_back(loop);
  }
  if (out.empty()) out.push_back({1, 0, 0});
  if (out.size() > 2 && std::abs(out.back().from) > 1) {
    auto reader = std::find_if(out.begin(), out.end(), [](const CopyLoop& l) { return std::abs(l.from) == 1; });
    if (reader != out.end()) std::rotate(reader, reader + 1, out.end() - 1);
  }
  return out;
}

template <class T>
TASKSPEC_CLONES void copy_backwards(const T* from, T* to, std::int64_t count) {
#pragma GCC ivdep
  for (std::int64_t i = 0; i < count; ++i) to[i] = from[-i];
}

// Every element `times` times.
template <class T>
TASKSPEC_CLONES void repeat_line(const T* from, T* to, std::int64_t count, std::int64_t times) {
  if (times == 2)
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) to[2 * i] = to[2 * i + 1] = from[i];
  else
    for (std::int64_t i = 0; i < count; ++i)
      for (std::int64_t k = 0; k < times; ++k) to[i * times + k] = from[i];
}

template <class T>
void copy_line(const CopyLoop& loop, std::int64_t count, const T* from, T* to) {
  if (loop.to == 1 && loop.from == 1)
    std::memcpy(to, from, static_cast<std::size_t>(count) * sizeof(T));
  else if (loop.to == 1 && loop.from == 0)
    std::fill(to, to + count, *from);
  else if (loop.to == 1 && loop.from == -1)
    copy_backwards(from, to, count);
  else
    for (std::int64_t i = 0; i < count; ++i) to[i * loop.to] = from[i * loop.from];
}

// A square whose lines are lines of the cache, turned in a buffer: every line of memory is read and written at once,
// also where lines lie a power of two apart and would push each other out of the cache.
template <class T>
inline constexpr std::int64_t turned = 64 / sizeof(T);

template <class T, int direction>
TASKSPEC_CLONES void turn_square(const T* from, std::int64_t from_step, T* to, std::int64_t to_step) {
  constexpr std::int64_t size = turned<T>;
  T buffer[size][size];
  for (std::int64_t c = 0; c < size; ++c)
    for (std::int64_t i = 0; i < size; ++i) buffer[c][i] = from[c * from_step + direction * i];
  for (std::int64_t i = 0; i < size; ++i)
    for (std::int64_t c = 0; c < size; ++c) to[i * to_step + c] = buffer[c][i];
}

// The rows [begin, end) that make whole squares; returns where the rest begins.
template <class T, int direction>
std::int64_t turn_rows(const CopyLoop& rows, const CopyLoop& line, std::int64_t begin, std::int64_t end, const T* from,
                       T* to) {
  constexpr std::int64_t size = turned<T>;
  const std::int64_t whole = line.extent / size * size;
  for (; begin + size <= end; begin += size) {
    for (std::int64_t c = 0; c < whole; c += size)
      turn_square<T, direction>(from + begin * direction + c * line.from, line.from, to + begin * rows.to + c, rows.to);
    for (std::int64_t i = begin; i < begin + size; ++i)
      for (std::int64_t c = whole; c < line.extent; ++c) to[i * rows.to + c] = from[i * direction + c * line.from];
  }
  return begin;
}

// Squares of this size keep the lines that are read and those that are written in the first cache.
constexpr std::int64_t square = 32;

template <class T>
void copy_squares(const CopyLoop& rows, const CopyLoop& line, std::int64_t begin, std::int64_t end, const T* from,
                  T* to) {
  if (line.to == 1 && rows.from == 1) begin = turn_rows<T, 1>(rows, line, begin, end, from, to);
  if (line.to == 1 && rows.from == -1) begin = turn_rows<T, -1>(rows, line, begin, end, from, to);
  for (std::int64_t r = begin; r < end; r += square)
    for (std::int64_t c = 0; c < line.extent; c += square)
      for (std::int64_t i = r; i < std::min(end, r + square); ++i)
        copy_line(line, std::min(square, line.extent - c), from + i * rows.from + c * line.from,
                  to + i * rows.to + c * line.to);
}

// Turns [begin, end) of the first loop, all of the others.
template <class T>
void copy_loops(std::span<const CopyLoop> loops, std::int64_t begin, std::int64_t end, const T* from, T* to) {
  const CopyLoop& first = loops[0];
  if (loops.size() == 1) return copy_line(first, end - begin, from + begin * first.from, to + begin * first.to);
  if (loops.size() == 2 && std::abs(loops[1].from) > 1) return copy_squares(first, loops[1], begin, end, from, to);
  const bool repeats = loops.size() == 2 && loops[1].from == 0 && loops[1].to == 1 && loops[1].extent < 16;
  if (repeats && first.from == 1 && first.to == loops[1].extent)
    return repeat_line(from + begin, to + begin * first.to, end - begin, loops[1].extent);
  for (std::int64_t i = begin; i < end; ++i)
    copy_loops(loops.subspan(1), 0, loops[1].extent, from + i * first.from, to + i * first.to);
}

template <class T>
class CopyKernel final : public Kernel {
 public:
  CopyKernel(std::vector<CopyPart> parts, std::array<std::byte, 8> filling) : parts_(std::move(parts)) {
    std::memcpy(&filling_, filling.data(), sizeof(T));
  }

  std::optional<Fault> run(const KernelArgs& args) const override {
    for (const CopyPart& part : parts_) {
      const T* from = &filling_;
      if (part.input != CopyPart::filling) from = reinterpret_cast<const T*>(args.in[part.input]) + part.from;
      T* to = reinterpret_cast<T*>(args.out[0]) + part.to;
      std::int64_t inner = 1;
      for (std::size_t i = 1; i < part.loops.size(); ++i) inner *= part.loops[i].extent;
      args.parallel.for_each(
          part.loops[0].extent, std::max<std::int64_t>(1, copy_grain / inner),
          [&](std::int64_t begin, std::int64_t end) { copy_loops<T>(part.loops, begin, end, from, to); });
    }
    return std::nullopt;
  }

 private:
  std::vector<CopyPart> parts_;
  T filling_;
};

class SameBytes final : public Kernel {
 public:
  explicit SameBytes(std::size_t bytes) : bytes_(bytes) {}
  std::optional<Fault> run(const KernelArgs& args) const override {
    if (args.in[0] != args.out[0] && bytes_ > 0) std::memcpy(args.out[0], args.in[0], bytes_);
    return std::nullopt;
  }

 private:
  std::size_t bytes_;
};

}  // namespace

std::unique_ptr<Kernel> copy_kernel(std::size_t element_bytes, std::vector<CopyPart> parts,
                                    std::array<std::byte, 8> filling) {
  std::erase_if(parts, [](const CopyPart& part) {
    return std::any_of(part.loops.begin(), part.loops.end(), [](const CopyLoop& l) { return l.extent == 0; });
  });
  for (CopyPart& part : parts) part.loops = simplified(part.loops);
  switch (element_bytes) {
    case 1:
      return std::make_unique<CopyKernel<std::uint8_t>>(std::move(parts), filling);
    case 2:
      return std::make_unique<CopyKernel<std::uint16_t>>(std::move(parts), filling);
    case 4:
      return std::make_unique<CopyKernel<std::uint32_t>>(std::move(parts), filling);
    case 8:
      return std::make_unique<CopyKernel<std::uint64_t>>(std::move(parts), filling);
    default:
      bug("an element of unknown size");
  }
}

std::unique_ptr<Kernel> same_bytes_kernel(std::size_t bytes) { return std::make_unique<SameBytes>(bytes); }

std::vector<std::int64_t> steps_of(const Extents& extents) {
  std::vector<std::int64_t> steps(extents.size(), 1);
  for (std::size_t i = extents.size(); i > 1; --i) steps[i - 2] = steps[i - 1] * extents[i - 1];
  return steps;
}

}  // namespace taskspec
