// Who sends which bytes to whom: the messages of a program, out of where every value is made and read.
#pragma once
#include <map>

#include "hwsim/map/piece_buffers.hpp"

namespace taskspec {

// Where the values of a block are made: per element of its array, a sender, and the bit in that sender's buffer.
struct MadeValues {
  struct Maker {
    std::int32_t core = host_core, phase = -1, buffer = no_buffer;
    ChipLayout layout;
    Box box;  // of the block's array
  };
  std::vector<Maker> makers;
};

struct MessageTarget {
  std::int32_t core = host_core, buffer = no_buffer, delay = 0;
  ChipLayout layout;
  Box box;
  const NetCluster* cluster = nullptr;
  std::string name;  // for errors
  Span span;
  // Of a stream: what some sources bring of so many of their rows.
  std::vector<std::int32_t> sources = {};
  std::int64_t source_begin = 0, source_end = INT64_MAX;
};

class MessageMaker {
 public:
  MessageMaker(const BlockGraph& graph, const ChipLimits& limits, std::int64_t payload)
      : graph_(graph), limits_(limits), payload_(payload), made_(graph.blocks.size()) {}
  void makes(BlockId block, MadeValues::Maker maker);
  // Messages that bring all elements of that delay. E4044: sub-bytes that do not lie as they did, precisions that
  // differ, a state that others read.
  void bring(const MessageTarget& target, std::vector<ChipMessage>& messages, Diags& diags);

 private:
  struct Source {
    std::vector<std::int32_t> maker;  // by element of the block
    std::vector<std::int64_t> bit;
    std::int64_t per_row = 1;  // elements of a row of rank 3, else all
  };
  const Source& source(BlockId block);
  struct BitRun {
    std::int64_t from = 0, to = 0, bits = 0;
  };
  using RunsByMaker = std::map<std::pair<BlockId, std::int32_t>, std::vector<BitRun>>;
  // False: precisions differ, which is told.
  bool runs_of_boxes(const MessageTarget& target, RunsByMaker& runs, Diags& diags);
  bool runs_of_elements(const MessageTarget& target, const std::vector<std::int32_t>& places, RunsByMaker& runs,
                        Diags& diags);
  bool same_bits(const MessageTarget& target, BlockId from, std::int64_t bits, Diags& diags) const;

  const BlockGraph& graph_;
  const ChipLimits& limits_;
  std::int64_t payload_;
  std::vector<MadeValues> made_;
  std::vector<Source> sources_;
};

}  // namespace taskspec
