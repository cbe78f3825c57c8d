// The way back of rearrangements.
#include <algorithm>

#include "ir/blocks/rearrange_rules.hpp"
#include "ir/blocks/reverse.hpp"

namespace taskspec {

namespace {

using Moves = std::vector<Rearrangement>;

std::vector<std::int64_t> inverse_order(std::span<const std::int64_t> order) {
  std::vector<std::int64_t> back(order.size());
  for (std::size_t k = 0; k < order.size(); ++k)
    back[static_cast<std::size_t>(order[k])] = static_cast<std::int64_t>(k);
  return back;
}

// From (x, y, 1) of the target of an affine map to its source, whole numbers but for a factor that a projection does
// not feel: what the target holds at the image of a place belongs to that place.
Moves projected_back(std::int64_t xx, std::int64_t xy, std::int64_t x0, std::int64_t yx, std::int64_t yy,
                     std::int64_t y0) {
  return {{&rearrange_project, {yy, -xy, xy * y0 - yy * x0, -yx, xx, yx * x0 - xx * y0, 0, 0, xx * yy - xy * yx}}};
}

// Natural order of the target, then the axes as they stood.
std::optional<Moves> reshaped_back(std::span<const std::int64_t> numbers, const Extents& source) {
  std::vector<std::int64_t> natural(source.size());
  for (std::size_t k = 0; k < natural.size(); ++k) natural[k] = static_cast<std::int64_t>(natural.size() - 1 - k);
  if (numbers.empty() || std::ranges::equal(numbers, natural)) return Moves{{&rearrange_reshape, {}}};
  if (numbers.size() != source.size()) return std::nullopt;
  // The flat order has the axes numbers[n - 1], ..., numbers[0].
  std::vector<std::int64_t> order(numbers.rbegin(), numbers.rend());
  if (std::ranges::any_of(order, [&](std::int64_t axis) { return axis < 0 || axis >= std::ssize(order); }))
    return std::nullopt;
  return Moves{{&rearrange_reshape, {}}, {&rearrange_permute, inverse_order(order)}};
}

std::optional<Moves> one_back(const Rearrangement& move, const Extents& source) {
  const std::vector<std::int64_t>& n = move.numbers;
  if (move.def == &rearrange_identity || move.def == &rearrange_reflect) return Moves{move};
  if (move.def == &rearrange_permute) return Moves{{move.def, inverse_order(n)}};
  if (move.def == &rearrange_reshape) return reshaped_back(n, source);
  if (move.def == &rearrange_rotate) return Moves{{move.def, {-n[0]}}};
  if (move.def == &rearrange_shift) {
    std::vector<std::int64_t> back{-n[0], -n[1]};
    if (n.size() > 2) back.push_back(n[2]);
    return Moves{{move.def, back}};
  }
  if (move.def == &rearrange_shear && n[0] >= 0 && n[1] >= 0) return projected_back(1, n[0], 0, n[1], 1, 0);
  if (move.def == &rearrange_affine) return projected_back(n[0], n[1], n[2], n[3], n[4], n[5]);
  return std::nullopt;
}

}  // namespace

std::optional<Moves> transposed(std::span<const Rearrangement> moves, const Extents& source, const Extents& target) {
  // Extents in front of each, as far as the way back needs them.
  Extents at = source;
  std::vector<Moves> backs;
  for (std::size_t k = 0; k < moves.size(); ++k) {
    std::optional<Moves> back = one_back(moves[k], at);
    if (!back) return std::nullopt;
    backs.push_back(*std::move(back));
    const bool is_last = k + 1 == moves.size();
    const Extents wanted = is_last ? target : moves[k + 1].def->before(moves[k + 1].numbers, target);
    const Result<Extents> made = moves[k].def->target({moves[k].numbers, at, wanted, moves[k].span});
    if (!made) return std::nullopt;
    at = *made;
  }
  Moves all;
  for (std::size_t k = backs.size(); k-- > 0;) all.insert(all.end(), backs[k].begin(), backs[k].end());
  return all;
}

}  // namespace taskspec
