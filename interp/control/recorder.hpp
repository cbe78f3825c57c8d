// Where tensor operations of the host program go: a taskGraph in the making. A session adds execution to it,
// the static view of a graph (chains, export) does not.
#pragma once
#include <memory>

#include "interp/control/objects.hpp"
#include "interp/control/trial.hpp"
#include "ir/graph/chains.hpp"
#include "ir/graph/task_graph.hpp"

namespace taskspec {

// Told when a handle of the program begins and ends to name a region or a partition, beside the recorder.
class DataHandles {
 public:
  virtual ~DataHandles() = default;
  virtual void named(RegionId region) = 0;
  virtual void unnamed(RegionId region) = 0;
  virtual void named(PartitionId partition) = 0;
  virtual void unnamed(PartitionId partition) = 0;
};

// What the program has made, and what was kept back from its recorder: it comes before all else that is asked of that.
class HeldBack {
 public:
  virtual ~HeldBack() = default;
  virtual bool holds() const = 0;
  virtual void hand_over() = 0;
};

// Launches that ran as one batch, to run again: on the same pieces, with other numbers. It outlives no backend.
class RepeatedBatch {
 public:
  virtual ~RepeatedBatch() = default;
  // By the bits of the numbers of all its launches, in their order. What fails, the backend tells.
  virtual void run(std::span<const std::uint64_t> numbers) = 0;
};

class Recorder {
 public:
  Recorder() = default;
  Recorder(const Recorder&) = delete;
  virtual ~Recorder();  // handles that are left know it: their end needs it no more
  TaskGraph graph;
  std::size_t handles = 0;                                            // Tensors that name something in it
  const std::shared_ptr<const void> life = std::make_shared<char>();  // ends with it
  ChainLinks links;
  DataHandles* data_handles = nullptr;  // outlives it; null: nobody asks
  HeldBack* held_back = nullptr;        // null: nothing is

  // Before a node that stands at `site` is made. What was recorded may run now and be given back: only what handles
  // name is there afterwards, and agents that no recorded task needed have lost their instance.
  virtual void adding(Span /*site*/) {}
  // Called once for each new node, with what it does to places. If it throws, there is no such node.
  virtual void added(NodeId, std::span<const Requirement>) {}
  // A handle appears or goes: what nobody can name any more may be freed.
  virtual void retain(Ref) {}
  virtual void release(Ref) {}
  // The same of the handles of a region, with which its fields go.
  virtual void retain(RegionId) {}
  virtual void release(RegionId) {}
  // What is recorded from now on touches these elements of a region, and all that was recorded so far: the others need
  // no memory. Null: all elements.
  virtual void want_memory(RegionId, std::shared_ptr<const PackedPlaces>) {}
  virtual bool executes() const { return true; }      // false: its graph is only looked at
  virtual void run_pending() {}                       // runs what somebody may still ask for
  virtual bool has_pending() const { return false; }  // something recorded has not run yet
  virtual bool due() const { return false; }          // so much is pending that it should not wait for something else
  virtual void repeats(DefinitionId) {}               // a task of unknown length: its body loops or calls
  // Runs what is pending, so many launches and what stands between them, as one batch. Null: it does not repeat itself.
  virtual std::unique_ptr<RepeatedBatch> run_to_repeat(std::size_t /*launches*/) { return nullptr; }
  virtual void run_prints() {}             // runs what prints
  virtual void run_effects() {}            // runs what has effects
  virtual void carry_out(NodeId, Span) {}  // this effect has happened then; throws what kept it
  virtual void opened(ScopeId) {}          // a call: until it is closed, tasks may be recorded in it
  virtual void closed(ScopeId) {}
  virtual std::unique_ptr<Trial> trial() { return nullptr; }  // where something can be tried out; none: nothing runs
  virtual bool forgets() const { return false; }  // nobody looks at its graph later: equal constants may be one
  // The contents; forces what is pending. A recorder that does not execute has none.
  virtual Array receive(const Tensor& tensor, Span place) = 0;
  // The contents for somebody who only looks: what the program prints later does not tell that anybody did.
  virtual Array look(const Tensor& tensor, Span place) { return receive(tensor, place); }
  // What becomes a constant here of a tensor that another recorder made.
  virtual Value from_elsewhere(const Tensor& tensor, Span place) {
    return Value(tensor.recorder().receive(tensor, place));
  }
  // Partitions that a handle names: they go with the last one, as tensors do.
  virtual void retain(PartitionId) {}
  virtual void release(PartitionId) {}

  Value handle(Ref ref, std::shared_ptr<const Type> type) {
    return Value(std::static_pointer_cast<Object>(tensor(ref, std::move(type))));
  }
  Value handle(Ref ref, Type type) { return handle(ref, std::make_shared<const Type>(std::move(type))); }
  std::shared_ptr<Tensor> tensor(Ref ref, std::shared_ptr<const Type> type) {
    return std::make_shared<Tensor>(*this, ref, std::move(type));
  }
  std::shared_ptr<Tensor> tensor(Ref ref, Type type) {
    return tensor(ref, std::make_shared<const Type>(std::move(type)));
  }
  // One of its types, shared by the handles of all values that have it.
  const std::shared_ptr<const Type>& shared_type(TypeId id) {
    if (types_.size() <= id.index()) types_.resize(id.index() + 1);
    std::shared_ptr<const Type>& type = types_[id.index()];
    if (!type) type = std::make_shared<const Type>(graph.type(id));
    return type;
  }
  template <class Visit>
  void each_handle(Visit&& visit) const {
    for (const Tensor* tensor = newest_handle; tensor; tensor = tensor->older_) visit(*tensor);
  }
  Tensor* newest_handle = nullptr;  // the list of all, which they keep themselves

 protected:
  void take_held_back() {
    if (held_back) std::exchange(held_back, nullptr)->hand_over();
  }

 private:
  std::vector<std::shared_ptr<const Type>> types_;  // that handles had so far
};

}  // namespace taskspec
