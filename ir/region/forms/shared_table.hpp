// The form of pieces that no formula gives, where several run the program: each keeps the pieces of its share of the
// colours, and of the points of its share of the root which pieces have them. Both are blocks. What a member looks for
// elsewhere it asks the others for, once: it keeps what they said of points, up to some shares of the root, and some of
// the pieces that it was given.
#pragma once
#include <memory>
#include <unordered_map>

#include "ir/base/hash.hpp"
#include "ir/region/forms/run_index.hpp"
#include "ir/region/piece_form.hpp"
#include "ir/region/piece_sharing.hpp"

namespace taskspec {

// The block share of a member.
Run share_of(std::int64_t things, const PieceSharing& sharing);
std::size_t member_of(std::int64_t thing, std::int64_t things, const PieceSharing& sharing);
// A run of things, cut where the share of another member begins.
void each_share(Run run, std::int64_t things, const PieceSharing& sharing,
                FunctionRef<void(std::size_t member, Run part)> visit);

class SharedTableForm final : public PieceForm {
 public:
  // By all members in one order: `pieces` are those of its own share of the colours. From a member that makes it of
  // something else it takes nothing.
  SharedTableForm(const Rect& root, const Rect& colours, std::vector<IndexSpace> pieces, std::int64_t parent_size,
                  const std::string& made_of, std::shared_ptr<PieceSharing> sharing);
  ~SharedTableForm() override;

  IndexSpace piece(const RegionForest& forest, const Point& colour) const override;
  bool touching(const RegionForest& forest, const IndexSpace& points,
                FunctionRef<bool(const Rect&)> visit) const override;
  void meeting(const RegionForest& forest, const Partition& own, const IndexSpace& points, Meets visit) const override;
  std::optional<bool> disjoint(const RegionForest&) const override { return disjoint_; }
  std::optional<bool> complete(const RegionForest&) const override { return complete_; }
  std::optional<std::int64_t> middle(const RegionForest&, const Rect&, std::size_t) const override {
    return std::nullopt;
  }
  PieceOrigin origin() const override { return {.op = "pieces"}; }
  void put_key(std::string& key, const RegionForest& forest) const override;
  Hash128 made_of() const override { return made_of_; }
  bool is_table() const override { return true; }
  bool knows(const Point& colour) const override;
  std::size_t bytes() const override;

 private:
  struct Kept;
  const RunIndex& near(const Intervals& points, RunIndex& once) const;

  const Rect root_, colours_;
  const std::shared_ptr<PieceSharing> sharing_;
  std::shared_ptr<const Kept> kept_;  // what others may ask for
  std::uint64_t table_ = 0;           // its number there
  bool disjoint_ = false, complete_ = false;
  Hash128 content_, made_of_;
  // What others said.
  mutable Intervals known_;  // of all points of these it is known which pieces have them
  mutable RunIndex near_;
  mutable std::unordered_map<std::int64_t, IndexSpace> given_;  // by colour
  mutable std::size_t given_runs_ = 0;
};

}  // namespace taskspec
