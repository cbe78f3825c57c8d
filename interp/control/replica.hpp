// A program that a backend runs several times at once, each time for another shard: what such a backend is told of the
// run that opens it, and what it asks of that.
#pragma once
#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>

#include "ir/base/diag.hpp"

namespace taskspec {

class RecordTarget;
class Interpreter;

// One run of a program. Others of the same are started when a backend first wants some; they end with the first.
struct Replica {
  std::size_t number = 0;                           // 0: the first, whose effects the world sees
  const std::atomic<bool>* ended = nullptr;         // of others: the first has ended
  std::function<void(std::shared_ptr<Replica> other)> start = {};  // of the first: runs the program once more
  std::shared_ptr<void> others = {};                // of the first: those that were started, for the backend alone
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
