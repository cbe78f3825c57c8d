#include "ir/region/independence.hpp"

#include <algorithm>

#include "ir/region/made_here.hpp"
#include "ir/region/piece_form.hpp"
#include "ir/region/shared_independence.hpp"
#include "ir/region/users.hpp"

namespace taskspec {
namespace {

// Which points it takes is seen when the graph runs.
bool is_open(const RegionForest& forest, const LaunchUse& use) {
  const PartitionId of = use.partition.valid() ? use.partition : use.space.partition;
  return of.valid() && forest[of].form->is_open();
}

bool may_interfere(const LaunchUse& a, const LaunchUse& b) {
  return a.space.root == b.space.root && a.fields.meets(b.fields) &&
         hazard(a.privilege, a.op, b.privilege, b.op) != Hazard::none;
}

// By formula: two different points never have a point of the region in common.
bool points_apart(const RegionForest& forest, const Rect& domain, const LaunchUse& a, const LaunchUse& b) {
  if (domain.size() < 2) return true;
  const Space of_a = a.partition.valid() ? forest[a.partition].parent : a.space;
  const Space of_b = b.partition.valid() ? forest[b.partition].parent : b.space;
  if (forest.statically_disjoint(of_a, of_b)) return true;
  if (!a.partition.valid() || a.partition != b.partition || !forest.disjoint(a.partition)) return false;
  if (a.projection == b.projection) return a.projection.injective(domain);
  const auto colours_a = a.projection.image(domain), colours_b = b.projection.image(domain);
  return colours_a && colours_b && !meet(*colours_a, *colours_b);
}

// By formula: a point never has the two arguments in common.
bool arguments_apart(const RegionForest& forest, const Rect& domain, const LaunchUse& a, const LaunchUse& b) {
  const Space of_a = a.partition.valid() ? forest[a.partition].parent : a.space;
  const Space of_b = b.partition.valid() ? forest[b.partition].parent : b.space;
  if (forest.statically_disjoint(of_a, of_b)) return true;
  if (!a.partition.valid() || a.partition != b.partition || !forest.disjoint(a.partition)) return false;
  const auto colours_a = a.projection.image(domain), colours_b = b.projection.image(domain);
  return colours_a && colours_b && !meet(*colours_a, *colours_b);
}

class ByPoints {
 public:
  ByPoints(const RegionForest& forest, std::span<const LaunchUse> uses) : forest_(forest), uses_(uses) {}

  std::optional<Conflict> find(const Rect& domain, const UsePairs& pairs, Span span) {
    if (domain.size() >= UINT32_MAX)
      throw failure("E5008", span,
                    "the independence of " + std::to_string(domain.size()) +
                        " points cannot be checked one by one; take a disjoint partition and an affine index");
    std::vector<bool> takes_part(uses_.size());
    for (const UsePair& pair : pairs.across) takes_part[pair.first] = takes_part[pair.second] = true;
    std::optional<Conflict> found;
    std::uint32_t number = 0;
    each_point(domain, [&](const Point& point) {
      for (const UsePair& pair : pairs.within)
        if (found = conflict(point, point, pair); found) return false;
      before_.clear();
      for (std::size_t i = 0; i < uses_.size(); ++i)
        if (takes_part[i])
          users_.add(forest_, number, {uses_[i].at(point), uses_[i].fields, uses_[i].privilege, uses_[i].op}, before_);
      ++number;
      if (before_.empty()) return true;
      const auto earliest = std::min_element(before_.begin(), before_.end(),
                                             [](const auto& a, const auto& b) { return a.user < b.user; });
      found = conflict(domain.point(earliest->user), point);
      return false;
    });
    return found;
  }

 private:
  std::optional<Conflict> conflict(const Point& a, const Point& b, const UsePair& pair) const {
    const LaunchUse &first = uses_[pair.first], &second = uses_[pair.second];
    if (!may_interfere(first, second)) return std::nullopt;
    const Space x = first.at(a), y = second.at(b);
    if (forest_.statically_disjoint(x, y)) return std::nullopt;
    const auto shared = common_point(forest_.root(x), forest_.points(x), forest_.points(y));
    if (!shared) return std::nullopt;
    return Conflict{a, b, pair.first, pair.second, *shared};
  }

  std::optional<Conflict> conflict(const Point& a, const Point& b) const {
    for (std::size_t i = 0; i < uses_.size(); ++i)
      for (std::size_t j = 0; j < uses_.size(); ++j)
        if (auto found = conflict(a, b, {i, j})) return found;
    return std::nullopt;
  }

  const RegionForest& forest_;
  std::span<const LaunchUse> uses_;
  FieldUsers users_;
  std::vector<FieldUsers::Edge> before_;
};

std::string_view verb(Privilege privilege, bool several) {
  if (privilege == Privilege::reduce) return several ? "reduce into" : "reduces into";
  if (privilege == Privilege::in) return several ? "read" : "reads";
  return several ? "write" : "writes";
}

std::string argument(const LaunchUse& use, const Point& point) {
  return use.partition.valid() ? use.name + "[" + use.projection(point).index() + "]" : use.name;
}

}  // namespace

void check_colours(const RegionForest& forest, const Rect& domain, const LaunchUse& use, Span span) {
  if (!use.partition.valid() || domain.empty()) return;
  const Partition& partition = forest[use.partition];
  const Rect& colours = partition.colours;
  if (use.projection.in != domain.rank)
    throw failure("E1003", span,
                  "points of the launch have rank " + std::to_string(domain.rank) + ", and the index of '" + use.name +
                      "' takes points of rank " + std::to_string(use.projection.in));
  if (use.projection.out != colours.rank)
    throw failure("E1003", span,
                  "'" + use.name + "' has colours of rank " + std::to_string(colours.rank) +
                      ", and its index gives rank " + std::to_string(use.projection.out),
                  partition);
  require_inside(use.projection, domain, {use.name, colours, false, partition.made}, span);
}

Error beyond(const TakenOf& of, const Point& point, const Point& taken, Span span) {
  const std::string what = of.is_map ? "map" : "partition";
  Diag diag("E5003", Severity::error, span,
            "point " + point.text() + " of the launch takes " + of.name + "[" + taken.index() +
                "], which is beyond the " + what + ": its " + (of.is_map ? "points" : "colours") + " are " +
                of.all.text());
  label_made(diag, of.made, "the " + what);
  return Error(std::move(diag));
}

void require_inside(const Projection& projection, const Rect& domain, const TakenOf& of, Span span) {
  const auto image = projection.image(domain);
  if (image && of.all.contains(*image)) return;
  each_point(domain, [&](const Point& point) {
    const Point taken = projection(point);
    if (!of.all.contains(taken)) throw beyond(of, point, taken, span);
    return true;
  });
}

std::optional<Conflict> conflict(const RegionForest& forest, const Rect& domain, std::span<const LaunchUse> uses,
                                 Span span) {
  for (const LaunchUse& use : uses) check_colours(forest, domain, use, span);
  UsePairs pairs;
  for (std::size_t i = 0; i < uses.size(); ++i)
    for (std::size_t j = i; j < uses.size(); ++j) {
      if (!may_interfere(uses[i], uses[j]) || is_open(forest, uses[i]) || is_open(forest, uses[j])) continue;
      if (!points_apart(forest, domain, uses[i], uses[j])) pairs.across.push_back({i, j});
      if (i != j && !arguments_apart(forest, domain, uses[i], uses[j])) pairs.within.push_back({i, j});
    }
  if ((pairs.across.empty() && pairs.within.empty()) || domain.empty()) return std::nullopt;
  PieceSharing* const sharing = forest.sharing().get();
  if (sharing && !check_together(forest, domain, uses, pairs, *sharing).has_conflict) return std::nullopt;
  // Whose points they are is told as where one looks at all of them. None: another member has another launch.
  return ByPoints(forest, uses).find(domain, pairs, span);
}

Diag diagnostic(const RegionForest&, std::span<const LaunchUse> uses, const Conflict& conflict, Span span) {
  const LaunchUse &a = uses[conflict.first_use], &b = uses[conflict.second_use];
  const std::string piece_a = argument(a, conflict.first), piece_b = argument(b, conflict.second);
  const std::string first = conflict.first.text(), second = conflict.second.text();
  if (conflict.within_point()) {
    const LaunchUse& writer = writes(a.privilege) ? a : b;
    return {"E1403", Severity::error, span,
            "point " + first + " takes " + piece_a + " and " + piece_b + ", which share point " +
                conflict.shared.text() + ", and " + std::string(verb(writer.privilege, false)) + " " +
                (writes(a.privilege) ? piece_a : piece_b)};
  }
  const bool same_verb = verb(a.privilege, true) == verb(b.privilege, true);
  if (same_verb && piece_a == piece_b)
    return {"E3101", Severity::error, span,
            "points " + first + " and " + second + " both " + std::string(verb(a.privilege, true)) + " " + piece_a +
                "; a group must be independent"};
  return {"E3101", Severity::error, span,
          "point " + first + " " + std::string(verb(a.privilege, false)) + " " + piece_a + " and point " + second +
              " " + std::string(verb(b.privilege, false)) + " " + piece_b + ", which share point " +
              conflict.shared.text() + "; a group must be independent"};
}

}  // namespace taskspec
