// What runs inside of a loop, a branch or a fn that is one node of a graph: rows for a profile, so that the node is no
// black box.
//
//   InnerProfile inside;                                  // of a session; nodes run on many threads
//   WatchedTarget target(interpreter.program());          // of one run of a node, in place of ImmediateTarget
//   ... the body runs on it ...
//   inside.add(graph, node, target, ns);
//   inside.rows();
//
// Rows are those of ops (OpRow); `task` is the way to the op: "for", "for > step". The op `turn` counts the turns of a
// loop, `run` how often a branch or fn ran; they have the time of all of it, and what they make is the memory that all
// of it took at once.
// `task` is all of a task inside, with its ops.
#pragma once
#include <map>
#include <mutex>

#include "interp/control/immediate.hpp"
#include "interp/control/trial.hpp"

namespace taskspec {

class WatchedTarget final : public ImmediateTarget {
 public:
  explicit WatchedTarget(const Program& program) : program_(program) {}
  void op(const Frame& frame, const Call& call, std::span<Value> operands, const Type& type, List& made) override;
  TaskResult task(Interpreter& interpreter, const TaskCall& call) override;

  struct Entry {
    std::string way;  // the tasks around it: "", "step", "step > inner"
    OpRow row;
    Work work;  // of one call, as the first one had it
  };
  const std::vector<Entry>& entries() const { return entries_; }
  std::uint64_t most_alive() const { return most_alive_; }  // bytes, of what its ops made

 private:
  // Where it is, and what runs there.
  struct Key {
    std::size_t around;  // 1 + the entry of the task, or 0
    const void* what;
    std::uint32_t source, begin, end;
    auto operator<=>(const Key&) const = default;
  };
  Key key(const void* what, Span span) const;
  void note_alive(const List& made);

  const Program& program_;
  std::map<Key, std::size_t> known_;
  std::vector<Entry> entries_;  // in the order in which they came first
  std::size_t around_ = 0;
  std::vector<std::pair<std::weak_ptr<std::byte>, std::uint64_t>> alive_;  // and their bytes
  std::uint64_t most_alive_ = 0;
};

class InnerProfile {
 public:
  void add(const Program& program, const TaskGraph& graph, NodeId node, const WatchedTarget& target, std::int64_t ns);
  std::vector<OpRow> rows() const;

 private:
  std::size_t row(OpRow like);

  mutable std::mutex mutex_;
  std::map<std::string, std::size_t> known_;  // by what tells two rows apart
  std::vector<OpRow> rows_;
  std::map<std::size_t, std::uint64_t> alive_;  // by row of "turn" and "run": bytes at once
};

}  // namespace taskspec
