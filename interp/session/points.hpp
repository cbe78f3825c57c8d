// A launch that is about to run becomes a task for each point, with an edge from every point before it that it must
// wait for, and from no other one.
//
//   mul_two#0, stencil#0 over 0..4  ->  mul_two#0[0] ... mul_two#0[3], stencil#0[0] ... stencil#0[3],
//                                       mul_two#0[0] -> stencil#0[0] (RAW c.flux), ...
//
// Where more than `most_edges` points come before many others, a task between them, joined#0, waits for all of those,
// and these for it.
//
// Contributions (`reduce`) go to a buffer of each point, whatever else happens to the field; a task of its own,
// stencil#0[2].fold, brings them into the field. Folds wait for one another where pieces meet: an element gets its
// contributions by launch and point.
#pragma once
#include <array>
#include <unordered_map>

#include "ir/graph/launch.hpp"
#include "ir/graph/task_graph.hpp"
#include "ir/region/users.hpp"

namespace taskspec {

// A launch of the session, as the graph that is being made knows its parts.
struct LaunchNode {
  NodeId node;  // of the session
  DefinitionId definition;
  ScopeId scope;
  InstanceId agent;
  std::span<const Ref> in;    // as in the session: other arguments, then fields by use
  std::span<const Ref> maps;  // inputs whose memory its outputs are, where it makes maps
};

class FieldMemory;

class Points {
 public:
  static constexpr std::size_t most_edges = 32;
  // `users` knows nobody of this graph yet.
  Points(const TaskGraph& session, TaskGraph& graph, FieldUsers& users, const FieldMemory* memory);

  NodeId add(const LaunchNode& launch);  // the first point

 private:
  struct Map {  // made by points of this graph
    NodeId first;
    std::uint32_t count = 0;
    PlaceId place;
    const Launch* made_by = nullptr;       // null: one task has to do with all elements
    bool has(std::uint32_t number) const;  // on a shard: it is a point of its own
    NodeId of(std::uint32_t number) const;
  };
  // What all its points do alike to others, so that no two launches have as many edges as their points multiplied.
  void announce(const LaunchNode& launch, const Launch& what);
  void share(const Launch& what, const LaunchUse& use, FieldUsers::Join join);
  FieldUsers::User add_join(const LaunchNode& launch, PlaceId place, std::span<const FieldUsers::Edge> before);
  // Of one partition, by colour: a page for some neighbours, as most partitions are taken from the first to the last.
  struct Pieces {
    static constexpr std::int64_t page = 64;
    std::unordered_map<std::int64_t, std::array<const IndexSpace*, page>> pages;
    std::int64_t last_number = -1;
    std::array<const IndexSpace*, page>* last = nullptr;
    const IndexSpace*& operator[](std::int64_t colour);
  };
  void add_point(const LaunchNode& launch, const Launch& what, std::uint32_t position);
  void add_fold(const LaunchNode& launch, const Launch& what, NodeId point);
  void add_folds(const LaunchNode& launch, const Launch& what, PointGroup points);
  void took_over(const LaunchNode& launch, const Launch& what, NodeId node);
  void add_messages(const LaunchNode& launch, const Launch& what, PointGroup points);
  void use(const Space& space, const LaunchUse& use, Privilege privilege);
  void take_reasons();
  void wait_for_maps(const LaunchNode& launch, const Launch& what, std::uint32_t position);
  void wait_for(const Map& map, NodeId from);
  PlaceId first_place(const LaunchUse& use);
  void add_pieces(const Launch& what, PointGroup& group);
  PlaceId place(RegionId region, std::uint32_t field);
  TypeId buffer_type(Precision precision, std::int64_t elements);

  const TaskGraph& session_;
  TaskGraph& graph_;
  FieldUsers& users_;
  const FieldMemory* const memory_;                    // null: as in graph_of
  std::unordered_map<std::uint32_t, Map> maps_;        // by input of the graph
  std::unordered_map<std::uint64_t, PlaceId> places_;  // by region and field
  std::unordered_map<std::uint32_t, Pieces> of_partition_;
  std::unordered_map<std::uint32_t, const IndexSpace*> of_region_;
  // Of a shard: messages are said in the order of the program, on all shards alike.
  void after_messages();
  NodeId last_message_;
  PlaceId messages_;
  std::shared_ptr<const Launch> join_;  // what a task is that does nothing but come after others
  // Of the task that is being added.
  std::vector<FieldUsers::Edge> before_;
  std::vector<TaskEdge> after_;
  std::vector<Ref> in_;
  std::vector<TypeId> out_;
};

}  // namespace taskspec
