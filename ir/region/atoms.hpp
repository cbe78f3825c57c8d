// The points of a root region taken apart into atoms: points that all spaces asked for so far either have together or
// have not. A space is looked up once, in a tree of cuts along the axes; from then on it is a list of atoms, which
// follows when one of them is split.
//
//   Atoms atoms(Rect::of({8}));
//   atoms.of(forest, piece(forest, halves, 0));    // two atoms now: 0..4, and the rest
#pragma once
#include <memory>
#include <unordered_map>

#include "ir/region/forest.hpp"

namespace taskspec {

class Atoms {
 public:
  using Atom = std::uint32_t;
  explicit Atoms(const Rect& root);

  // The atoms that together are the space; valid until the next call. `split` is told of each new atom, and of the one
  // that it was a part of.
  std::span<const Atom> of(const RegionForest& forest, const Space& space, FunctionRef<void(Atom from, Atom to)> split);
  void forget(PartitionId partition);  // its pieces will not be asked for again
  std::size_t count() const { return parts_.size(); }
  bool is_worn() const { return pool_.size() > 4096 && pool_.size() > 4 * listed_; }  // most of it is no list any more
  std::size_t bytes() const;

 private:
  static constexpr std::uint32_t none = UINT32_MAX;
  struct Node {  // of the tree: a leaf has an atom, another one two children that lie side by side
    std::int64_t cut = 0;
    std::uint32_t child = 0;  // or the atom
    std::uint8_t axis = leaf;
  };
  static constexpr std::uint8_t leaf = 255;
  struct Part {
    std::int64_t size = 0, covered = 0;              // points; those that the present search found
    Atom split_to = none;                            // in the present search
    Atom newest_child = none, older_sibling = none;  // atoms that were split off
  };
  struct List {  // of one space, in pool_
    std::uint32_t begin = 0, count = 0;
    std::uint32_t known = 0;  // atoms there were when it was right; 0: not looked up yet
  };
  struct Page {
    static constexpr std::int64_t size = 64;
    List lists[size];
  };
  struct Keys {  // of one partition
    std::unordered_map<std::int64_t, std::unique_ptr<Page>> pages;
    std::int64_t last_number = -1;
    Page* last = nullptr;
    std::size_t listed = 0;  // atoms in its lists
  };
  struct Found {
    std::uint32_t node;
    std::int64_t size;
  };

  List& list(const RegionForest& forest, const Space& space);
  Keys& keys(PartitionId partition);
  void note_listed(const Space& space, std::uint32_t count);
  void look_up(const RegionForest& forest, const Space& space, List& list, FunctionRef<void(Atom, Atom)> split);
  void follow(List& list);
  void find(const RegionForest& forest, const Rect& rect);
  void find_all(const RegionForest& forest, std::span<const Rect> rects);
  void cut(const RegionForest& forest, std::uint32_t node, const Rect& box, const Rect& rect);

  Rect root_;
  std::vector<Node> nodes_;
  std::vector<Part> parts_;
  List whole_;
  std::unordered_map<std::uint32_t, std::unique_ptr<Keys>> keys_;  // by partition
  PartitionId last_partition_;
  Keys* last_keys_ = nullptr;
  std::vector<Atom> pool_;
  std::size_t listed_ = 0;  // atoms in all lists
  // Of the present search.
  std::vector<PartitionId> guides_;  // partitions whose borders are good places to cut, the outermost first
  std::vector<Found> found_;
  struct Pending {
    std::uint32_t node;
    Rect box, rect;
  };
  std::vector<Pending> stack_;
};

}  // namespace taskspec
