// Who still needs what a session has recorded: the lookup tables of its tasks and its constants, with handles and
// readers counted. What nobody needs is freed at once.
//
//   Liveness live(backend, graph, false);
//   live.add(node);                          // its entries are pending
//   live.retain(Ref::future(node, 0));       // a handle names the first output
//   live.settled(node);                      // it ran: what it read may go
#pragma once
#include <functional>
#include <memory>

#include "interp/session/field_memory.hpp"
#include "ir/base/retiring_table.hpp"

namespace taskspec {

struct LaunchUse;

class Liveness {
 public:
  enum class State : std::uint8_t { pending, ready, poisoned, gone };
  struct Entry {  // one output in the task's lookup table
    State state = State::pending;
    std::uint32_t handles = 0;  // host handles that name it
    std::uint32_t readers = 0;  // tasks not run yet that read it
    std::uint32_t inside = 0;   // of them, those of the batch that is being cut
    Location location;
    std::uint32_t poison = 0;  // in Failures
  };
  struct Task {
    Entry first;                    // of its first output
    std::unique_ptr<Entry[]> more;  // of the others
    bool done = false, wanted = false;
  };
  struct Constant {  // one of the graph's; without a reader it goes with its last handle
    std::uint32_t handles = 0;
    std::uint32_t readers = 0;  // tasks not run yet that read it
    std::uint32_t inside = 0;   // as in an entry
    bool read = false;          // by a task, which the graph keeps
    bool in_call = false;       // its first handle came up inside of a call
    Location location;          // when written to the backend
  };

  struct Fields {  // of one region: they go with its last handle, when nobody uses them any more
    std::uint32_t handles = 0, users = 0;
  };

  // `forget`: nobody looks at the graph later, so constants that were read may go, too.
  // `gone` hears of a region when its last handle and its last user have gone; it takes no memory.
  Liveness(Backend& backend, TaskGraph& graph, bool forget, std::function<void(RegionId)> gone,
           std::function<void(PartitionId)> partition_gone)
      : backend_(backend),
        graph_(graph),
        forget_(forget),
        gone_(std::move(gone)),
        partition_gone_(std::move(partition_gone)),
        memory_(backend, graph) {}
  ~Liveness();  // frees what is left
  Liveness(const Liveness&) = delete;

  void add(NodeId node);  // takes memory: if it throws, `take_back` leaves no trace of the node
  void take_back(NodeId node) { tasks_.resize(node.index()); }
  void add_readers(NodeId node);  // of what it reads; takes no memory

  Task& task(NodeId node) { return tasks_[node.index()]; }
  Task* find(NodeId node) { return tasks_.find(node.index()); }
  bool is_done(NodeId node) { return !tasks_.contains(node.index()) || tasks_[node.index()].done; }
  Entry& entry(Ref ref) {
    Task& task = tasks_[ref.id];
    return ref.slot == 0 ? task.first : task.more[ref.slot - std::size_t{1}];
  }
  Entry& entry(NodeId node, std::size_t slot) { return entry(Ref::future(node, slot)); }
  bool is_named(NodeId node);                                    // a handle names one of its outputs
  void set(NodeId node, State state, std::uint32_t poison = 0);  // of all its outputs

  // While a batch of these tasks is cut: may what they read be written over, as nobody else needs it?
  class Cutting {
   public:
    Cutting(Liveness& live, const std::vector<NodeId>& nodes) : live_(live), nodes_(nodes) { count(1); }
    ~Cutting() { count(0); }
    Cutting(const Cutting&) = delete;
    bool is_last_use(Ref ref) const;

   private:
    void count(std::uint32_t by);  // 0: none
    Liveness& live_;
    const std::vector<NodeId>& nodes_;
  };
  // Its location belongs to something else now.
  void taken(Ref ref);

  void retain(RegionId region) { ++fields(region).handles; }
  void release(RegionId region);
  // Partitions go before their region does only where what is settled may be forgotten.
  void retain(PartitionId partition) {
    if (forget_) graph_.regions.retain(partition);
  }
  void release(PartitionId partition) {
    if (forget_) graph_.regions.release(partition, partition_gone_);
  }
  bool is_kept(RegionId region) { return fields(region).handles + fields(region).users > 0; }
  void retain(Ref ref, bool in_call = false);  // in a call of a graph or fn, that is
  bool is_of_call(Ref ref) { return ref.kind == Ref::Kind::constant && constant(ref).in_call; }
  // Bytes of a constant that no handle names any more, but pending tasks read.
  std::size_t release(Ref ref);
  void drop_if_unseen(Ref ref);
  // It ran, will never run, or cannot: it reads nothing any more.
  void settled(NodeId node);
  // Where a task finds it; writes a constant there first.
  Location location(Ref ref);
  FieldMemory& field_memory() { return memory_; }

  template <class Visit>
  void each_constant_in_use(Visit&& visit) const {
    constants_.each([&](std::size_t id, const Constant& constant) {
      if (constant.handles > 0 || constant.readers > 0) visit(static_cast<std::uint32_t>(id));
    });
  }
  void retire(const Staying& stays);
  std::size_t held() const { return tasks_.held() + constants_.held(); }

 private:
  Constant& constant(Ref ref) {
    if (constants_.size() <= ref.id) constants_.resize(graph_.constant_count());
    return constants_[ref.id];
  }
  Fields& fields(RegionId region) {
    if (fields_.size() <= region.index()) fields_.resize(region.index() + 1);
    return fields_[region.index()];
  }
  void drop_fields_if_unseen(RegionId region);
  void unused(RegionId region);
  std::span<const LaunchUse> uses(NodeId node) const;
  void drop_constant_if_unseen(Ref ref);
  void free(const Entry& entry);

  Backend& backend_;
  TaskGraph& graph_;
  const bool forget_;
  const std::function<void(RegionId)> gone_;
  const std::function<void(PartitionId)> partition_gone_;
  RetiringTable<Task> tasks_;  // by node
  RetiringTable<Constant> constants_;
  std::vector<Fields> fields_;  // by region
  FieldMemory memory_;
};

}  // namespace taskspec
