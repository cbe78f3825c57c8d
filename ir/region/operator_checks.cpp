#include "ir/region/operator_checks.hpp"

#include "ir/region/forms/open.hpp"
#include "ir/region/forms/shared_table.hpp"
#include "ir/region/forms/table.hpp"
#include "ir/region/made_here.hpp"

namespace taskspec {

void check_same_root(const RegionForest& forest, RegionId a, RegionId b, Span span) {
  if (a == b) return;
  Diag diag("E1003", Severity::error, span,
            "both sides must belong to one region; these are of " + forest[a].text() + " '" + forest[a].name +
                "' and " + forest[b].text() + " '" + forest[b].name + "'");
  label_made(diag, forest[a]);
  label_made(diag, forest[b]);
  throw Error(std::move(diag));
}

void check_same_colours(const RegionForest& forest, PartitionId p, PartitionId q, Span span) {
  check_same_root(forest, forest[p].parent.root, forest[q].parent.root, span);
  if (forest[p].colours == forest[q].colours) return;
  throw failure("E1003", span,
                "partitions are combined piece by piece and must have the same colours; these have " +
                    forest[p].colours.text() + " and " + forest[q].colours.text());
}

void check_integers(const IndexValues& values, Span span) {
  if (is_integer(values.precision)) return;
  throw failure(
      "E1003", span,
      "an index field holds integers, and '" + values.name + "' is " + std::string(info(values.precision).name));
}

namespace {

bool is_shared(const RegionForest& forest, const Rect& colours) { return forest.sharing() && colours.rank > 0; }

}  // namespace

Run own_colours(const RegionForest& forest, const Rect& colours) {
  return is_shared(forest, colours) ? share_of(colours.size(), *forest.sharing()) : Run{0, colours.size()};
}

PartitionId add_table(RegionForest& forest, const Space& parent, const Rect& colours, std::vector<IndexSpace> pieces,
                      const std::string& made_of, Span span) {
  const Rect root = forest.root(parent);
  const std::int64_t size = forest.points(parent).size();
  std::shared_ptr<const PieceForm> form;
  if (is_shared(forest, colours))
    form = std::make_shared<SharedTableForm>(root, colours, std::move(pieces), size, made_of, forest.sharing());
  else
    form = std::make_shared<TableForm>(root, colours, std::move(pieces), size);
  return forest.add(parent, colours, std::move(form), span);
}

PartitionId add_open(RegionForest& forest, const Space& parent, const Rect& colours, PieceOrigin origin, bool disjoint,
                     Span span) {
  const std::uint64_t serial = forest.partitions_made();
  return forest.add(parent, colours, std::make_shared<OpenForm>(std::move(origin), colours, disjoint, serial, span),
                    span);
}

bool is_open(const RegionForest& forest, PartitionId p) { return forest[p].form->is_open(); }

Rect colours_of(std::int64_t pieces) { return Rect::of({pieces}); }

}  // namespace taskspec
