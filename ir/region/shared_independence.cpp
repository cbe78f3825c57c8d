#include "ir/region/shared_independence.hpp"

#include <algorithm>
#include <set>

#include "ir/base/key.hpp"
#include "ir/region/forms/shared_table.hpp"
#include "ir/region/region_key.hpp"

namespace taskspec {
namespace {

using Numbers = PieceSharing::Numbers;

// Of a piece that a point takes.
struct Taken {
  Run run;
  std::int64_t use = 0;
  std::int64_t point = 0;  // its number in the domain
};
constexpr std::int64_t every_point = -1;

// Which launch it is, of all that is compared here.
std::int64_t launch_key(const RegionForest& forest, const Rect& domain, std::span<const LaunchUse> uses) {
  std::string key;
  put_rect(key, domain);
  for (const LaunchUse& use : uses) {
    for (const PartitionId of : {use.partition, use.space.partition})
      put_hash(key, of.valid() ? forest[of].content : Hash128{});
    put_number(key, use.space.root.value);
    put_number(key, static_cast<std::uint64_t>(use.privilege) * 4 + static_cast<std::uint64_t>(use.op));
    if (use.partition.valid()) put_projection(key, use.projection);
    use.fields.each([&](std::uint32_t field) { put_number(key, field); });
  }
  return static_cast<std::int64_t>(hash128(key).low);
}

// Of one root region: what points take of it goes to the members in whose shares it lies. From a member that looks at
// another launch nothing is taken: calls that differ are found elsewhere.
class TakenOfRoot {
 public:
  TakenOfRoot(const RegionForest& forest, RegionId root, std::int64_t launch, PieceSharing& sharing)
      : forest_(forest),
        root_(forest[root].extents),
        launch_(launch),
        sharing_(sharing),
        said_(sharing.members(), {launch}) {}

  // What all points take is known everywhere.
  void take_at_every_point(std::size_t use, const Space& space) {
    const Intervals share = Intervals::of({share_of(root_.size(), sharing_)});
    const Intervals own = forest_.points(space).as_intervals(root_) & share;
    for (const Run& run : own.runs()) here_.push_back({run, static_cast<std::int64_t>(use), every_point});
  }
  void take(std::size_t use, std::int64_t point, const Space& space) {
    forest_.points(space).runs(root_, [&](Run run) {
      ++looked_at_;
      each_share(run, root_.size(), sharing_, [&](std::size_t member, Run part) {
        said_[member].insert(said_[member].end(), {static_cast<std::int64_t>(use), point, part.lo, part.hi});
      });
    });
  }
  // All that lies in the own share, ascending by where it begins.
  std::vector<Taken> exchange() {
    for (const Numbers& heard : sharing_.exchange(std::move(said_))) {
      if (heard.empty() || heard.front() != launch_) continue;
      for (std::size_t i = 1; i + 3 < heard.size(); i += 4)
        here_.push_back({{heard[i + 2], heard[i + 3]}, heard[i], heard[i + 1]});
    }
    looked_at_ += here_.size();
    std::ranges::sort(here_, {}, [](const Taken& taken) { return taken.run.lo; });
    return std::move(here_);
  }
  std::size_t looked_at() const { return looked_at_; }

 private:
  const RegionForest& forest_;
  const Rect root_;
  const std::int64_t launch_;
  PieceSharing& sharing_;
  std::vector<Numbers> said_;
  std::vector<Taken> here_;
  std::size_t looked_at_ = 0;
};

// Which uses must not meet.
class Rules {
 public:
  Rules(std::size_t uses, const UsePairs& pairs) : uses_(uses), across_(uses * uses), within_(uses * uses) {
    for (const auto& [list, into] : {std::pair(&pairs.across, &across_), std::pair(&pairs.within, &within_)})
      for (const UsePair& pair : *list)
        (*into)[pair.first * uses + pair.second] = (*into)[pair.second * uses + pair.first] = true;
  }
  bool may_matter(std::int64_t a, std::int64_t b) const { return across_[at(a, b)] || within_[at(a, b)]; }
  bool forbid(const Taken& a, const Taken& b) const {
    const bool is_any = a.point == every_point || b.point == every_point;
    if ((is_any || a.point != b.point) && across_[at(a.use, b.use)]) return true;
    return (is_any || a.point == b.point) && a.use != b.use && within_[at(a.use, b.use)];
  }

 private:
  std::size_t at(std::int64_t a, std::int64_t b) const {
    return static_cast<std::size_t>(a) * uses_ + static_cast<std::size_t>(b);
  }
  const std::size_t uses_;
  std::vector<bool> across_, within_;
};

// From the front: what reaches as far as the next one meets it.
bool meet_forbidden(std::span<const Taken> ascending, std::size_t uses, const Rules& rules) {
  std::vector<std::vector<Taken>> open(uses);  // by use
  for (const Taken& next : ascending) {
    for (std::size_t use = 0; use < uses; ++use) {
      if (!rules.may_matter(next.use, static_cast<std::int64_t>(use))) continue;
      std::vector<Taken>& those = open[use];
      std::erase_if(those, [&](const Taken& taken) { return taken.run.hi <= next.run.lo; });
      if (std::ranges::any_of(those, [&](const Taken& taken) { return rules.forbid(taken, next); })) return true;
    }
    open[static_cast<std::size_t>(next.use)].push_back(next);
  }
  return false;
}

}  // namespace

SharedVerdict check_together(const RegionForest& forest, const Rect& domain, std::span<const LaunchUse> uses,
                             const UsePairs& pairs, PieceSharing& sharing) {
  std::vector<bool> takes_part(uses.size());
  bool writes_twice = false;
  for (const std::vector<UsePair>* list : {&pairs.across, &pairs.within})
    for (const UsePair& pair : *list) takes_part[pair.first] = takes_part[pair.second] = true;
  for (const UsePair& pair : pairs.across)  // all points take one space, and change it
    if (pair.first == pair.second && !uses[pair.first].partition.valid())
      writes_twice |= forest.points(uses[pair.first].space).size() > 0;
  std::set<RegionId> roots;
  for (std::size_t use = 0; use < uses.size(); ++use)
    if (takes_part[use]) roots.insert(uses[use].space.root);
  SharedVerdict verdict;
  const Rules rules(uses.size(), pairs);
  const std::int64_t launch = launch_key(forest, domain, uses);
  const Run own = share_of(domain.size(), sharing);
  for (const RegionId root : roots) {
    TakenOfRoot taken(forest, root, launch, sharing);
    for (std::size_t use = 0; use < uses.size(); ++use)
      if (takes_part[use] && uses[use].space.root == root && !uses[use].partition.valid())
        taken.take_at_every_point(use, uses[use].space);
    for (std::int64_t point = own.lo; point < own.hi; ++point)
      for (std::size_t use = 0; use < uses.size(); ++use)
        if (takes_part[use] && uses[use].space.root == root && uses[use].partition.valid())
          taken.take(use, point, uses[use].at(domain.point(point)));
    verdict.has_conflict |= meet_forbidden(taken.exchange(), uses.size(), rules);
    verdict.looked_at += taken.looked_at();
  }
  verdict.has_conflict = sharing.sum({verdict.has_conflict || writes_twice})[0] > 0;
  return verdict;
}

}  // namespace taskspec
