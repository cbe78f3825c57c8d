#include "stdlib/ops/reduction.hpp"

#include <algorithm>

namespace taskspec {

// ---- types ----------------------------------------------------------------------------------------

std::vector<Dim> reduced_dims(RuleContext& c, const std::vector<Dim>& dims) {
  if (c.type(1).is(Type::Kind::none)) return {};
  std::optional<std::vector<std::size_t>> axes = axes_operand(c, 1, dims.size());
  std::vector<Dim> result = dims;
  if (axes)
    for (std::size_t axis : *axes) result[axis] = 1;
  else
    for (Dim& dim : result) dim = c.unknown("extent of a reduction");
  return result;
}

void require_elements(RuleContext& c, std::string_view name) {
  const Type& x = c.type(0);
  std::optional<std::vector<std::size_t>> axes = axes_operand(c, 1, x.rank());
  if (!axes) return;
  for (std::size_t axis : *axes)
    if (x.dims[axis] == Dim(0))
      refuse(c, "E2004",
             std::string(name) + " needs an element; axis " + std::to_string(axis) + " of " + x.text() + " has none",
             0);
}

Type list_element(RuleContext& c, std::string_view name, bool strings) {
  const Type& list = c.type(0);
  bool fine = list.is(Type::Kind::list) && c.type(1).is(Type::Kind::none);
  if (fine && list.parts[0].is(Type::Kind::error)) return Type::Kind::integer;  // the empty list
  fine = fine && (list.parts[0].is_number() || (strings && list.parts[0].is(Type::Kind::string)));
  if (!fine)
    refuse(c, "E1004",
           "'" + std::string(name) + "' takes a tensor and an axis, or a list of numbers; here it is " +
               call_text(c, name),
           -1,
           c.type(0).is_number() && (name == "max" || name == "min")
               ? "of two numbers: " + std::string(name) + "imum(a, b); of several: " + std::string(name) + "([a, b, c])"
               : "");
  return list.parts[0];
}

std::vector<std::size_t> reduced_axes(const OpInstance& call) {
  return axes_of(call.attributes[1], call.in[0].extents.size());
}

Work reduction_work(const OpInstance& call) {
  return {static_cast<double>(call.in[0].elements()),
          static_cast<double>(call.in[0].bytes()) + static_cast<double>(call.out[0].bytes())};
}

Precision widened(Precision precision) {
  return is_float(precision) || info(precision).bytes >= 4 ? precision : Precision::i32;
}

// ---- passes ---------------------------------------------------------------------------------------

namespace {

constexpr std::int64_t reduction_grain = 32768;  // elements per part of the work
constexpr std::int64_t block_size = 16384;       // elements that are folded without a pause
constexpr std::int64_t rows_per_block = 256;     // at least that many rows of them
constexpr std::int64_t tile = 1024;  // columns that are folded at a time: their accumulators stay in the cache

std::int64_t parts(std::int64_t count, std::int64_t size) { return (count + size - 1) / size; }

// Neighbouring axes that are reduced, or kept, together.
struct Group {
  std::int64_t extent;
  bool reduced;
};

std::vector<Group> groups_of(const OpInstance& call) {
  std::vector<std::size_t> axes = reduced_axes(call);
  const Extents& extents = call.in[0].extents;
  std::vector<Group> groups;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    bool reduced = std::find(axes.begin(), axes.end(), d) != axes.end();
    if (extents[d] == 1) continue;
    if (groups.empty() || groups.back().reduced != reduced) groups.push_back({1, reduced});
    groups.back().extent *= extents[d];
  }
  return groups;
}

}  // namespace

std::int64_t ReductionKernel::Pass::blocks() const { return std::max<std::int64_t>(1, parts(rows, block)); }

ReductionKernel::ReductionKernel(const OpInstance& call, std::size_t acc_bytes)
    : in_bytes_(info(call.in[0].precision).bytes), acc_bytes_(acc_bytes), folded_(1), results_(call.out[0].elements()) {
  for (std::size_t axis : reduced_axes(call)) folded_ *= call.in[0].extents[axis];
  std::vector<Group> groups = groups_of(call);
  std::int64_t inner = 1;
  for (std::size_t g = groups.size(); g-- > 0;) {
    if (!groups[g].reduced) {
      inner *= groups[g].extent;
      continue;
    }
    std::int64_t outer = 1;
    for (std::size_t before = 0; before < g; ++before) outer *= groups[before].extent;
    add_passes(outer, groups[g].extent, inner);
  }
  if (passes_.empty()) passes_.push_back({results_, 1, 1, 1});  // nothing to fold: every element is a result
  for (std::size_t i = 0; i < passes_.size(); ++i) {
    std::size_t bytes = static_cast<std::size_t>(passes_[i].results()) * acc_bytes_;
    regions_[i % 2] = std::max(regions_[i % 2], (bytes + 63) / 64 * 64);
  }
}

// Long columns are folded block by block and the blocks then again: parts for the threads, and rounding errors
// that grow with the logarithm of the length.
void ReductionKernel::add_passes(std::int64_t outer, std::int64_t rows, std::int64_t inner) {
  std::int64_t block = std::max(rows_per_block, block_size / std::max<std::int64_t>(inner, 1));
  Pass pass{outer, rows, inner, block};
  passes_.push_back(pass);
  if (pass.blocks() > 1) add_passes(outer, pass.blocks(), inner);
}

std::optional<Fault> ReductionKernel::run(const KernelArgs& args) const {
  const std::byte* from = args.in[0];
  for (std::size_t i = 0; i < passes_.size(); ++i) {
    std::byte* to = args.scratch + (i % 2) * regions_[0];
    run_pass(passes_[i], i == 0, from, to, args.parallel);
    from = to;
  }
  args.parallel.for_each(results_, reduction_grain,
                         [&](std::int64_t begin, std::int64_t end) { finish(from, begin, end, args.out[0]); });
  return std::nullopt;
}

// A unit of work is one block of one tile of columns.
void ReductionKernel::run_pass(const Pass& pass, bool first, const std::byte* in, std::byte* out,
                               Parallel& parallel) const {
  std::int64_t blocks = pass.blocks(), tiles = parts(pass.inner, tile);
  std::int64_t elements = std::max<std::int64_t>(1, std::min(pass.block, pass.rows) * std::min(pass.inner, tile));
  auto bytes = static_cast<std::int64_t>(first ? in_bytes_ : acc_bytes_);
  auto units = [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t unit = begin; unit < end; ++unit) {
      std::int64_t column = unit % tiles * tile, block = unit / tiles % blocks, o = unit / tiles / blocks;
      std::int64_t row = block * pass.block;
      Piece piece{std::min(pass.block, pass.rows - row), std::min(tile, pass.inner - column), pass.inner, row};
      const std::byte* from = in + ((o * pass.rows + row) * pass.inner + column) * bytes;
      std::byte* to = out + ((o * blocks + block) * pass.inner + column) * static_cast<std::int64_t>(acc_bytes_);
      if (first)
        fold(piece, from, to);
      else
        merge(piece, from, to);
    }
  };
  parallel.for_each(pass.outer * blocks * tiles, std::max<std::int64_t>(1, reduction_grain / elements), units);
}

}  // namespace taskspec
