// blocks, by_weight, cover: a space taken apart by counts, by weights, by a list.
#include <algorithm>
#include <cmath>
#include <optional>

#include "ir/region/forms/split.hpp"
#include "ir/region/forms/table.hpp"
#include "ir/region/operator_checks.hpp"
#include "ir/region/piece_sharing.hpp"
#include "ir/region/region_key.hpp"

namespace taskspec {

PartitionId blocks(RegionForest& forest, const Space& space, const Point& counts, Span span) {
  const Rect& root = forest.root(space);
  for (std::size_t axis = 0; axis < counts.rank; ++axis)
    if (counts.at[axis] < 1)
      throw failure("E1003", span, "blocks wants at least one piece, not " + std::to_string(counts.at[axis]));
  if (counts.rank != 1 && counts.rank != root.rank)
    throw failure("E1003", span,
                  "blocks wants one number of pieces, or one for each axis: " + std::to_string(counts.rank) +
                      " are given for " + forest[space.root].text());
  Rect colours{{}, counts.at, counts.rank};
  if (colours.size() == INT64_MAX) throw failure("E5008", span, "more pieces than can be counted");
  const IndexSpace points = forest.points(space);
  if (points.is_rect())
    return forest.add(space, colours, std::make_shared<BlocksForm>(points.rect(), counts, counts.rank), span);
  if (counts.rank != 1)
    throw failure("E1003", span,
                  "points that are no rectangle can be taken apart into one number of blocks, not along axes");
  return forest.add(space, colours, std::make_shared<SparseBlocksForm>(root, points.intervals(), counts.at[0]), span);
}

PartitionId by_weight(RegionForest& forest, const Space& space, std::span<const double> weights, Span span) {
  if (weights.empty()) throw failure("E1003", span, "by_weight wants at least one weight");
  double total = 0;
  for (const double weight : weights) {
    if (!(weight >= 0) || std::isinf(weight)) throw failure("E1003", span, "a weight is a number from 0 on");
    total += weight;
  }
  if (total <= 0 || std::isinf(total)) throw failure("E1003", span, "weights must have a sum above 0 that is finite");
  const Rect& root = forest.root(space);
  const IndexSpace points = forest.points(space);
  const std::int64_t things = points.is_rect() ? points.rect().extent(0) : points.size();
  const Rect colours = colours_of(static_cast<std::int64_t>(weights.size()));
  const Run own = own_colours(forest, colours);
  std::vector<IndexSpace> pieces;
  std::int64_t begin = 0;
  double sum = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    sum += weights[i];
    // The last one has what is left, whatever was rounded.
    const double share = std::floor(sum / total * static_cast<double>(things));
    const std::int64_t end =
        i + 1 == weights.size() ? things : std::clamp(static_cast<std::int64_t>(share), begin, things);
    if (const auto colour = static_cast<std::int64_t>(i); colour < own.lo || colour >= own.hi) {
      // another one keeps it
    } else if (points.is_rect()) {
      Rect rect = points.rect();
      rect.hi[0] = rect.lo[0] + end;
      rect.lo[0] += begin;
      pieces.emplace_back(rect);
    } else {
      pieces.emplace_back(root, points.intervals().ranked(begin, end));
    }
    begin = end;
  }
  std::string made_of = "weights";
  put_hash(made_of, hash128(std::as_bytes(weights)));
  return add_table(forest, space, colours, std::move(pieces), made_of, span);
}

PartitionId cover(RegionForest& forest, const Space& space, const std::vector<std::vector<Run>>& pieces, Span span) {
  return cover(
      forest, space, static_cast<std::int64_t>(pieces.size()),
      [&](std::int64_t colour) { return pieces[static_cast<std::size_t>(colour)]; }, span);
}

namespace {

// Those of the own colours. Where one cannot be made, all members say what the first of them all is refused for.
std::vector<IndexSpace> own_pieces(PieceSharing& sharing, Run own, FunctionRef<IndexSpace(std::int64_t)> piece_of,
                                   Span span) {
  using Numbers = PieceSharing::Numbers;
  std::vector<IndexSpace> made;
  std::optional<std::int64_t> refused;
  for (std::int64_t colour = own.lo; colour < own.hi && !refused; ++colour) try {
      made.push_back(piece_of(colour));
    } catch (const Error&) {
      refused = colour;
    }
  if (sharing.sum({refused.has_value()}).at(0) == 0) return made;
  const Numbers said = refused ? Numbers{*refused} : Numbers{};
  for (const Numbers& heard : sharing.exchange(std::vector<Numbers>(sharing.members(), said)))
    if (!heard.empty() && (!refused || heard[0] < *refused)) refused = heard[0];
  if (!refused) return made;  // another one asks for something else
  piece_of(*refused);
  throw failure("E6001", span,
                "control determinism violated: piece " + std::to_string(*refused) +
                    " of cover can be made here, and not on another shard");
}

}  // namespace

PartitionId cover(RegionForest& forest, const Space& space, std::int64_t pieces,
                  FunctionRef<std::vector<Run>(std::int64_t)> runs_of, Span span, std::string_view name) {
  const Rect root = forest.root(space);  // the function may make partitions, too
  const IndexSpace points = forest.points(space);
  const std::int64_t size = root.size();
  check_table_size(pieces, span);
  const auto piece_of = [&](std::int64_t colour) {
    std::vector<Run> runs = runs_of(colour);
    for (const Run& run : runs)
      if (run.lo < run.hi && (run.lo < 0 || run.hi > size))
        throw failure("E5003", span,
                      "piece " + std::to_string(colour) + " of cover names the points " + std::to_string(run.lo) +
                          ".." + std::to_string(run.hi) + ", and " + forest[space.root].text() + " has 0.." +
                          std::to_string(size));
    IndexSpace piece(root, Intervals::of(std::move(runs)));
    if (!includes(root, points, piece))
      throw failure("E5003", span,
                    "piece " + std::to_string(colour) + " of cover has point " +
                        first_point(root, subtract(root, piece, points))->text() +
                        ", which is not in the piece that is taken apart");
    return piece;
  };
  const Rect colours = colours_of(pieces);
  const Run own = own_colours(forest, colours);
  std::string made_of = "cover";
  if (forest.sharing() && !name.empty()) {
    put_hash(made_of, hash128(name));
    return add_table(forest, space, colours, own_pieces(*forest.sharing(), own, piece_of, span), made_of, span);
  }
  std::vector<IndexSpace> made;
  for (std::int64_t colour = 0; colour < pieces; ++colour) {
    IndexSpace piece = piece_of(colour);
    if (forest.sharing()) {
      std::string all;
      put_hash(all, hash128(made_of));
      put_space(all, piece);
      made_of = std::move(all);
    }
    if (colour >= own.lo && colour < own.hi) made.push_back(std::move(piece));
  }
  return add_table(forest, space, colours, std::move(made), made_of, span);
}

}  // namespace taskspec
