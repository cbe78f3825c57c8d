// A program that a backend runs several times at once, each time for another shard: what such a backend is told of the
// run that opens it, and what it asks of that.
#pragma once
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>

#include "ir/base/diag.hpp"
#include "ir/types/value.hpp"

namespace taskspec {

class RecordTarget;
class Interpreter;

// What `agree` gives: the values of the first replica, by part of the program and in the order in which it asks.
class AgreedValues {
 public:
  void put(int part, std::uint64_t number, const Value& value);
  // Waits for it. Throws Error E5009 once the first replica has ended without.
  Value get(int part, std::uint64_t number);
  void end();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<int, std::uint64_t>, Value> values_;
  bool has_ended_ = false;
};

// One run of a program. Others of the same are started when a backend first wants some; they end with the first.
struct Replica {
  std::size_t number = 0;                                          // 0: the first, whose effects the world sees
  const std::atomic<bool>* ended = nullptr;                        // of others: the first has ended
  std::function<void(std::shared_ptr<Replica> other)> start = {};  // of the first: runs the program once more
  std::shared_ptr<void> others = {};    // of the first: those that were started, for the backend alone
  std::atomic<std::int64_t> shards{1};  // of the part of it that runs
  std::shared_ptr<AgreedValues> agreed = {};
  std::function<void()> meet = {};  // inside of a run on shards: all of them come here; throws what that failed with

  bool is_hidden = false;                                     // another process shows what this one would
  bool is_seen() const { return number == 0 && !is_hidden; }  // what it writes, files too
  Value agree(int part, std::uint64_t count, const Value& own);
};

class ReplicatedBackend {
 public:
  virtual ~ReplicatedBackend() = default;
  // Before anything is recorded. `replica` outlives the backend.
  virtual void join(const std::shared_ptr<Replica>& replica, RecordTarget& target, const Interpreter& interpreter,
                    Span span) = 0;
  virtual void finish() = 0;  // the program records no more; throws where the shards are not one
  // This replica fails: nobody is to wait for it.
  virtual void fail(const Diags& why) = 0;
};

}  // namespace taskspec
