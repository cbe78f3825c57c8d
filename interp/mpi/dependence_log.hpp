// --dump-dep: what the shards of one run found, put together: each point, its shard, whom it must wait for, and when
// (by Lamport's clock) the fine stage of each shard came to each operation. Its edges together are those that one
// analysis of all points would find.
//
//   DependenceLog log;                                   // of one shard
//   log.issued(op.number, "stencil", "f.task:21");  log.found(op, result, time);
//   write_text(file, dependences_json(packed logs of all shards));
#pragma once
#include <map>
#include <string>

#include "interp/shards/analysis/fine.hpp"
#include "interp/shards/bytes.hpp"
#include "interp/shards/traces/template.hpp"

namespace taskspec {

class DependenceLog {
 public:
  void issued(const Operation& op, std::string name, std::string place);
  // In place of what was said of the operation before.
  void found(const Operation& op, const FineResult& result, std::uint64_t time);
  void replayed(const Operation& op, const TemplateCall& call);  // no fine stage, and no time
  Bytes packed() const;

 private:
  friend std::string dependences_json(std::span<const Bytes> of_shards);
  struct Entry {
    CallKind kind{};
    std::string name, place;
    std::int64_t points = 0;
    std::uint64_t time = 0;  // 0: replayed
    std::vector<std::int64_t> own;
    std::vector<PointEdge> edges;
  };
  static DependenceLog unpacked(const Bytes& bytes);
  std::map<std::uint64_t, Entry> entries_;  // by call
};

// By shard. Each edge is told by the shard of the point that waits.
std::string dependences_json(std::span<const Bytes> of_shards);

}  // namespace taskspec
