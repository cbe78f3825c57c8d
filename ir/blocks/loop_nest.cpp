#include "ir/blocks/loop_nest.hpp"

#include <algorithm>
#include <numeric>

namespace taskspec {

// ---- plain loops -------------------------------------------------------------------------------------

namespace {

std::int64_t cut_to_32(std::int64_t x) { return std::clamp<std::int64_t>(x, INT32_MIN, INT32_MAX); }

// The place in the array; -1: outside.
std::int64_t place_of(const NestAccess& access, const std::vector<std::int64_t>& at) {
  std::int64_t place = 0;
  for (std::size_t axis = 0; axis < access.indices.size(); ++axis) {
    const AffineIndex& index = access.indices[axis];
    const std::int64_t here = std::inner_product(index.factors.begin(), index.factors.end(), at.begin(), index.offset);
    if (here < 0 || here >= access.extents[axis]) return -1;
    place = place * access.extents[axis] + here;
  }
  return place;
}

std::int64_t value_at(const NestAccess& access, const std::vector<Array>& arrays, const std::vector<std::int64_t>& at) {
  const std::int64_t place = place_of(access, at);
  return place < 0 ? 0 : arrays[access.array].integer(place);
}

// Calls `visit` with loops begin..end running, the others fixed.
template <class F>
void each_turn(const std::vector<std::int64_t>& loops, std::size_t begin, std::size_t end,
               std::vector<std::int64_t>& at, F&& visit) {
  if (begin == end) return visit();
  for (at[begin] = 0; at[begin] < loops[begin]; ++at[begin]) each_turn(loops, begin + 1, end, at, visit);
}

std::int64_t reduced(const LoopNest& nest, const std::vector<Array>& arrays, std::vector<std::int64_t>& at) {
  const bool adds = nest.reduce == NestReduce::sum;
  std::optional<std::int64_t> so_far;
  if (adds) so_far = nest.bias ? value_at(*nest.bias, arrays, at) : nest.start;
  each_turn(nest.loops, nest.outer, nest.loops.size(), at, [&] {
    for (const LoopNest::Term& term : nest.terms) {
      std::int64_t value = term.factor;
      for (const NestAccess& read : term.reads) value *= value_at(read, arrays, at);
      if (adds)
        so_far = cut_to_32(*so_far + value);
      else if (!so_far)
        so_far = value;
      else
        so_far = nest.reduce == NestReduce::most ? std::max(*so_far, value) : std::min(*so_far, value);
    }
  });
  if (nest.reduce == NestReduce::most) return std::max(*so_far, nest.start);
  if (nest.reduce == NestReduce::least) return std::min(*so_far, nest.start);
  return *so_far;
}

}  // namespace

std::vector<std::int64_t> run_nest(const LoopNest& nest, const std::vector<Array>& arrays) {
  std::vector<std::int64_t> out(static_cast<std::size_t>(places_of(nest.out.extents)));
  std::vector<std::int64_t> at(nest.loops.size());
  each_turn(nest.loops, 0, nest.outer, at,
            [&] { out[static_cast<std::size_t>(place_of(nest.out, at))] = reduced(nest, arrays, at); });
  return out;
}

// ---- other orders ------------------------------------------------------------------------------------

namespace {

void reorder(NestAccess& access, const std::vector<std::size_t>& order) {
  for (AffineIndex& index : access.indices) {
    std::vector<std::int64_t> factors;
    for (const std::size_t old : order) factors.push_back(index.factors[old]);
    index.factors = std::move(factors);
  }
}

}  // namespace

LoopNest with_loops(const LoopNest& nest, const std::vector<std::size_t>& order) {
  LoopNest made = nest;
  for (std::size_t k = 0; k < order.size(); ++k) made.loops[k] = nest.loops[order[k]];
  reorder(made.out, order);
  for (LoopNest::Term& term : made.terms)
    for (NestAccess& read : term.reads) reorder(read, order);
  if (made.bias) reorder(*made.bias, order);
  return made;
}

// ---- the way back ------------------------------------------------------------------------------------

namespace {

// The loop that an index is, and nothing else.
std::optional<std::size_t> loop_of(const AffineIndex& index) {
  std::optional<std::size_t> found;
  for (std::size_t k = 0; k < index.factors.size(); ++k) {
    if (index.factors[k] == 0) continue;
    if (found || index.factors[k] != 1) return std::nullopt;
    found = k;
  }
  return index.offset == 0 ? found : std::nullopt;
}

// What a kind of block would have to be like, guessed from extents and indices; whether it is one is seen from the nest
// that its record makes of the guess.
class NestMatch {
 public:
  NestMatch(const LoopNest& nest, const BlockDef& def) : nest_(nest), def_(def) {}

  std::optional<TaskBlock> block() {
    if (!orders_outputs()) return std::nullopt;
    made_.def = &def_;
    made_.name = "nest";
    made_.precision = nest_.precision;
    made_.branches = static_cast<std::uint16_t>(def_.in[0].repeated ? nest_.terms.size() : 1);
    if (nest_.terms.empty() || nest_.terms[0].reads.empty()) return std::nullopt;
    sort_reads();
    const NestAccess& input = nest_.terms[0].reads[0];
    give_outputs();
    give_reduced();
    if (input.indices.size() == 3 || (input.indices.size() == 2 && made_.shape.y == 0 && made_.shape.x != 0))
      give_windows(input);
    give_constants();
    return is_same() ? std::optional(made_) : std::nullopt;
  }

 private:
  // Outer loops as the axes of the output come: y, x, f.
  bool orders_outputs() {
    std::vector<std::size_t> order;
    for (const AffineIndex& index : nest_.out.indices) {
      const std::optional<std::size_t> loop = loop_of(index);
      if (!loop || *loop >= nest_.outer || std::ranges::find(order, *loop) != order.end()) return false;
      order.push_back(*loop);
    }
    if (order.size() != nest_.outer || nest_.out.indices.size() > 3) return false;
    for (std::size_t k = nest_.outer; k < nest_.loops.size(); ++k) order.push_back(k);
    nest_ = with_loops(nest_, order);
    return true;
  }

  // Factors by the cluster that they read.
  void sort_reads() {
    for (LoopNest::Term& term : nest_.terms) std::ranges::stable_sort(term.reads, {}, &NestAccess::array);
  }

  bool has_axis(BlockAxis axis) const { return std::ranges::find(def_.axes, axis) != def_.axes.end(); }
  void set(std::string_view attribute, std::int64_t value) {
    if (const BlockAttributeDef* def = def_.find_attribute(attribute); def && value != def->standard)
      made_.set(*def, value);
  }

  void give_outputs() {
    if (nest_.outer == 1 && !has_axis(BlockAxis::y)) {
      made_.shape.f = nest_.loops[0];
      return;
    }
    constexpr BlockAxis axes[] = {BlockAxis::y, BlockAxis::x, BlockAxis::f};
    for (std::size_t k = 0; k < nest_.outer; ++k) made_.shape[axes[3 - nest_.outer + k]] = nest_.loops[k];
  }

  // r, ky, kx, as many of them as there are: r if something but the output's channels is read innermost.
  void give_reduced() {
    std::size_t loop = nest_.outer;
    const std::size_t count = nest_.loops.size() - loop;
    if (has_axis(BlockAxis::r) && count > 0) made_.shape.r = nest_.loops[loop++];
    if (has_axis(BlockAxis::ky) && nest_.loops.size() - loop == 2) made_.shape.ky = nest_.loops[loop++];
    if (has_axis(BlockAxis::kx) && nest_.loops.size() - loop == 1) made_.shape.kx = nest_.loops[loop++];
  }

  void give_windows(const NestAccess& input) {
    const bool is_plane = input.indices.size() == 3;
    const std::size_t taps = nest_.loops.size() - (made_.shape.kx != 0 ? 1 : 0) - (made_.shape.ky != 0 ? 1 : 0);
    auto window = [&](std::size_t axis, bool is_y) {
      const AffineIndex& index = input.indices[axis];
      const std::int64_t kernel = is_y ? made_.shape.ky : made_.shape.kx;
      const std::size_t tap = is_y || made_.shape.ky == 0 ? taps : taps + 1;
      const std::int64_t stride = index.factors[axis], dilation = kernel != 0 ? index.factors[tap] : 1;
      const std::int64_t out = nest_.loops[axis], in = input.extents[axis];
      const std::int64_t reach = (std::max<std::int64_t>(1, kernel) - 1) * dilation + 1;
      set(is_y ? "stride_y" : "stride_x", stride);
      set(is_y ? "dilation_y" : "dilation_x", dilation);
      set(is_y ? "pad_up" : "pad_left", -index.offset);
      set(is_y ? "pad_down" : "pad_right", std::max<std::int64_t>(0, (out - 1) * stride + reach + index.offset - in));
      if (has_axis(is_y ? BlockAxis::iy : BlockAxis::ix)) (is_y ? made_.shape.iy : made_.shape.ix) = in;
    };
    if (is_plane) window(0, true);
    window(is_plane ? 1 : 0, false);
  }

  void give_constants() {
    if (nest_.reduce != NestReduce::sum) {
      set("cmp", nest_.start);
    } else if (nest_.bias) {
      made_.bias = BiasKind::vector;
    } else if (nest_.start != 0 && def_.find_attribute("constant_b")) {
      made_.bias = BiasKind::constant;
      set("constant_b", nest_.start);
    }
    set("constant_a", nest_.terms[0].factor);
  }

  bool is_same() const {
    LoopNest own = def_.nest(made_);
    for (LoopNest::Term& term : own.terms) std::ranges::stable_sort(term.reads, {}, &NestAccess::array);
    return own == nest_;
  }

  LoopNest nest_;
  const BlockDef& def_;
  TaskBlock made_;
};

}  // namespace

std::vector<TaskBlock> matching_blocks(const LoopNest& nest, const BlockTable& blocks) {
  std::vector<TaskBlock> found;
  for (const BlockDef* def : blocks.all())
    if (def->nest)
      if (std::optional<TaskBlock> block = NestMatch(nest, *def).block()) found.push_back(*std::move(block));
  return found;
}

}  // namespace taskspec
