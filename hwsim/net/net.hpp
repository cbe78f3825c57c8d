// A block graph as the mapper sees it: only what computes is left. Each input of a work says, element by element, which
// place of which source it comes from, whatever storages and rearrangements lie between.
//
//   img -> pad | reflect -> conv.input         net.works[0].in[0].places[k] == {source 0 (img), place 27 - k}
//
// So a storage is no place on a chip: what a work reads lies where the work is, and what it makes goes there in
// packets.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "ir/base/result.hpp"
#include "ir/blocks/block_graph.hpp"

namespace taskspec {

// A block whose values others read: an input of the graph, data, a state, or a work.
struct NetSource {
  BlockId block;
  std::int32_t delay = 0;        // its value of so many steps ago
  std::optional<Array> initial;  // before there is one, of all its places; none: zeros
};

struct NetPlace {
  std::int32_t source = -1;  // of NetCluster::sources; -1: a hole, which is 0
  std::int32_t place = 0;    // in the array of that block
};

// Where each element comes from, row-major. Most clusters are a block's values as they are: that takes no list.
class NetPlaces {
 public:
  static NetPlaces all_of(std::int64_t elements);  // of source 0, each at its place
  NetPlace operator[](std::size_t i) const {
    return is_identity_ ? NetPlace{0, static_cast<std::int32_t>(i)} : places_[i];
  }
  std::size_t size() const { return is_identity_ ? size_ : places_.size(); }
  bool empty() const { return size() == 0; }
  bool is_identity() const { return is_identity_; }
  void resize(std::size_t elements);  // as they are, the new ones holes
  void set(std::size_t i, NetPlace place);

 private:
  void list_all();

  std::vector<NetPlace> places_;
  std::size_t size_ = 0;
  bool is_identity_ = false;
};

struct NetCluster {
  ArrayType type;  // of the storage that holds it
  BlockId holder;  // that storage; none: nothing fills the cluster
  std::vector<NetSource> sources;
  NetPlaces places;        // empty: nothing fills it
  bool has_holes = false;  // places that nothing fills
  bool is_state = false;   // the work leaves new contents in the holder
  bool is_there() const { return holder.valid(); }
  bool is_data = false;                          // all of it never changes
  bool is_array(const BlockGraph& graph) const;  // the array of its only source, as it is
};

struct NetWork {
  BlockId block;
  std::vector<NetCluster> in;  // by position of cluster
};

struct NetOutput {
  BlockId block;
  NetCluster in;
};

struct ChipNet {
  std::shared_ptr<const BlockGraph> graph;
  std::vector<NetWork> works;                // each behind what it reads without delay
  std::vector<BlockId> inputs;               // as BlockGraph::inputs()
  std::vector<NetOutput> outputs;            // as BlockGraph::outputs()
  std::size_t work_of(BlockId block) const;  // position; SIZE_MAX: it is none
};

// Places of a box of an array, row-major.
std::vector<std::int32_t> places_in(const Extents& extents, const Box& box);

// Errors: E3002; E4044, what no packet can do: a delay behind a delay; E4045: switches and triggers.
Result<ChipNet> chip_net(std::shared_ptr<const BlockGraph> graph);

}  // namespace taskspec
