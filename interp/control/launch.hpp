// Launches of tasks over regions: what the interpreter hands to its target, and what a program has of the outputs.
//
//   launch stencil(inn[i], gh[i], 2.0) for i in 0..4
//     -> {.task = stencil, .domain = [0, 4), .arguments = {piece inn[i], piece gh[i], value 2.0}}
//
// A launch is one task of the graph, whatever its domain is; it becomes a task for each point when it is about to run
// (interp/session/points.hpp). An output of it is a map over the domain.
#pragma once
#include "interp/control/objects.hpp"
#include "ir/region/field_mask.hpp"
#include "ir/region/forest.hpp"
#include "ir/region/projection.hpp"

namespace taskspec {

// Where something is done to a region or a map: in the text, and in which call of a graph or fn.
struct DataSite {
  Span span;
  ScopeId scope = ScopeId(0);
};

// One per parameter of the task, in order: those of its agent and the slots that it reads are values.
struct LaunchArgument {
  enum class Kind : std::uint8_t {
    piece,    // of a partition: that whose colour is projection(point); of no partition: `space`, for all points
    value,    // a tensor, a future, a host scalar
    element,  // of an output of a launch, that at projection(point)
  };
  Kind kind = Kind::value;
  Space space;
  PartitionId partition;
  Projection projection;
  Value value;
  Span span;
};

struct LaunchCall {
  FunctionId task;
  Span span;
  Agent* agent = nullptr;
  ScopeId scope = ScopeId(0);
  Rect domain;
  bool single = false;  // a plain call, `t(p[2])`: a group of one, and its outputs are tensors
  std::vector<LaunchArgument> arguments;
  std::vector<Type> outputs;  // of one point
  Value sharding;             // means nothing where there is one shard
};

// What messages call the partition, region or map of an argument: `gh` of `gh[i]`, as it stands in the text.
std::string written(const Program& program, const LaunchCall& call, const LaunchArgument& argument,
                    const std::string& otherwise);
// E5008 where a launch over this domain would have more than can be counted.
void require_few_points(const Rect& domain, Span span);

// What an output of a launch is good for.
enum class MapMember : std::uint8_t {
  sum,  // element-wise over the points, by the fixed tree of their order; so are the next three
  prod,
  min,
  max,
  gather,  // all of them along a new first axis
};

// Which shards have the elements of a map.
class MapHome {
 public:
  virtual ~MapHome() = default;
};

// An output of a launch: a tensor for each point of its domain. Names an entry of the launch's lookup table, as a
// tensor does, and keeps it.
class LaunchMap final : public Object {
 public:
  LaunchMap(std::shared_ptr<Tensor> all, Rect domain, Type element)
      : all(std::move(all)), domain(domain), element(std::move(element)) {}
  const std::shared_ptr<Tensor> all;  // those of all points along a first axis, in their order
  const Rect domain;
  const Type element;
  std::shared_ptr<MapHome> home = nullptr;  // null: they are all here
  std::string text() const override;        // "<map f64[1], 4 points>"
};

// A handle of a region of a target, which keeps its memory.
class RegionHandle final : public Object {
 public:
  RegionHandle(Recorder& recorder, RegionId region);
  ~RegionHandle() override;
  RegionHandle(const RegionHandle&) = delete;
  Recorder* recorder() const { return alive_.expired() ? nullptr : recorder_; }  // null: it is gone
  void retain(PartitionId partition) const;  // of the region; told to the recorder, if it is there
  void release(PartitionId partition) const;
  const RegionId region;
  std::string text() const override;  // "<region Cell[64]>"

  // The files of fields, as `attach` left them and `detach` wants them.
  struct Attachment {
    Space space;
    PartitionId partition;  // where there is one: each piece has its file
    FieldMask fields;
    std::vector<std::string> paths;
    std::vector<std::string> names{};  // as the program gave them: where a file lies, each process finds by itself
  };
  std::vector<Attachment> attachments;

 private:
  Recorder* const recorder_;
  const std::weak_ptr<const void> alive_;
  const std::string text_;
};

}  // namespace taskspec
