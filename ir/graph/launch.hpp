// A launch as one task of a graph: for all points of a domain the same body, each on its own pieces of regions. It is
// the first argument of its node, whose inputs are tensors and maps first, then the fields of each use. When it is
// about to run it becomes a task for each point (interp/session/points.hpp).
//
//   launch stencil(inn[i], gh[i]) for i in 0..4
//     -> {.domain = [0, 4), .uses = {inout inn[i].{state}, in gh[i].{flux}}}, inputs c.state, c.flux
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph/task_graph.hpp"
#include "ir/region/independence.hpp"
#include "ir/types/type.hpp"
#include "ir/types/value.hpp"

namespace taskspec {

// The files of a launch, one for each of its points, which brings the fields of its use from there, or there.
class LaunchFiles {
 public:
  struct Piece {
    const IndexSpace& points;
    const Rect& root;
    std::span<std::byte* const> fields;             // by field of the region
    std::span<const std::byte* const> inputs = {};  // of the launch
    const PackedPlaces* packed = nullptr;           // where elements lie in `fields`; null: each at its root index
  };
  virtual ~LaunchFiles() = default;
  virtual void transfer(std::size_t position, const Piece& piece) const = 0;  // of a point; throws Error
  // One that is made again and again for a piece whose fields stay where they are. Null: nothing is gained by it.
  class Bound {
   public:
    virtual ~Bound() = default;
    virtual void transfer() = 0;
  };
  virtual std::unique_ptr<Bound> bind(std::size_t /*position*/, const Piece&) const { return nullptr; }
  virtual std::string key() const = 0;  // equal ones do the same
};

// What a shard does between its points: what it makes goes to others, what they make comes here. It is called once in a
// run, by one thread, and may wait for others.
class LaunchMessages {
 public:
  // A buffer of contributions, of one field of one use of one of its own points.
  struct Buffer {
    const IndexSpace& piece;
    const std::byte* bytes;  // as PieceMemory::own(piece) has them
  };
  struct Fields {
    std::span<const Rect> roots;                  // by use: of its region
    std::span<std::byte* const> bases;            // by use and field of it that contributions go to
    std::span<const Buffer> buffers;              // by own point, then as `bases`
    std::span<const PackedPlaces* const> packed;  // by use: where elements lie behind `bases`
  };
  virtual ~LaunchMessages() = default;
  virtual void maps(std::span<std::byte* const>) const {}  // whole, by input: work `share`
  virtual void total(const std::byte* /*field*/, const PackedPlaces*, std::byte* /*into*/) const {}
  virtual void fold(const Fields&) const {}  // contributions become part of fields, here and elsewhere
  virtual std::string key() const = 0;       // equal ones do the same
};

struct Launch final : Object {
  enum class Work : std::uint8_t {
    task,      // the body of a task of the program
    native,    // a C++ function that works on pieces, known by its symbol: tests and benchmarks
    fill,      // a number, or the elements of a tensor, become the contents of a field
    read,      // those of a field become a tensor
    total,     // they become one number, in the fixed order of the region (interp/host/root_tree.hpp)
    reduce,    // a map becomes the tensor that its points make by the fixed tree
    gather,    // a map becomes one tensor with a new first axis
    element,   // one point of a map
    join,      // nothing: it only comes after others, and before others; in graphs that are about to run
    files,     // fields are read from files (use `out`) or written to some (`in`)
    exchange,  // what other shards have of fields comes here, and what they need goes to them
    share,     // the same of elements of maps
  };
  Work work = Work::task;
  FunctionId task;
  std::string symbol;  // native
  Rect domain;
  bool single = false;  // its outputs are tensors; else maps, along the points of the domain
  // On a shard: the numbers of its own points in the domain, ascending; null: it has all of them.
  std::shared_ptr<const std::vector<std::uint32_t>> own = {};
  std::vector<LaunchUse> uses;  // by piece argument
  std::vector<bool> each;       // by other argument: of a map every point takes one element
  struct Taken {                // which one, where it is not its own
    Rect points;                // of the map
    Projection at;
  };
  std::vector<std::optional<Taken>> taken;         // by other argument, as far as there are such
  std::vector<std::optional<Projection>> numbers;  // likewise: of an int that differs, what it is at each point
  ReduceOp op{};                                   // reduce, total
  std::int64_t position = 0;                       // element
  std::shared_ptr<const Intervals> held;           // read: those of its points alone; null: all
  std::shared_ptr<const LaunchFiles> files;        // files, exchange
  // Of contributions: they are folded by these, all at once, and not point by point; share: what brings the elements;
  // total: what makes one of what each shard has.
  std::shared_ptr<const LaunchMessages> messages;

  std::size_t points() const { return own ? own->size() : static_cast<std::size_t>(domain.size()); }
  // Points of the launch are counted by position; in the domain they have numbers.
  std::uint32_t number(std::uint32_t position) const { return own ? (*own)[position] : position; }
  Point point(std::uint32_t position) const { return domain.point(number(position)); }
  template <class Visit>
  void each_point(Visit&& visit) const {
    if (!own) {
      taskspec::each_point(domain, std::forward<Visit>(visit));
      return;
    }
    for (const std::uint32_t one : *own)
      if (!visit(domain.point(one))) return;
  }
  // Where the element stands in the map `argument` that the point at this position takes.
  std::uint32_t element(std::size_t argument, std::uint32_t position) const;
  bool writes() const;  // to fields
  bool reduces() const;
  std::string key() const;  // equal ones do the same with equal inputs, as long as what they name is there
  // Equal ones do the same to regions of equal extents, whichever they are: one plan serves both.
  std::string shape(const RegionForest& forest) const;
  std::string shape_of_uses(const RegionForest& forest) const;  // of which piece each of its points takes, alone
  std::string text() const override { return "<launch>"; }

 private:
  static void put_use(std::string& key, const LaunchUse& use);
  void put_rest(std::string& key) const;
};

bool is_launch(const TaskGraph& graph, NodeId node);
// Work that only shards have: another number of them on each.
inline bool is_message(const Launch& launch) {
  return launch.work == Launch::Work::exchange || launch.work == Launch::Work::share;
}
// As a task it waits for other shards; contributions go round behind the points that make them.
inline bool talks(const Launch& launch) { return is_message(launch) || (launch.messages && !launch.reduces()); }
// The task that stands for the contributions of all points, where messages fold them.
inline bool folds_all(const PointGroup& group) { return group.folds && group.launch->messages; }
inline bool is_join(const PointGroup& group) { return group.launch->work == Launch::Work::join; }

}  // namespace taskspec
