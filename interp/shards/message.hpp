// What shards say to one another. Nothing else joins two of them: a message is bytes, and may be delayed and overtaken
// by later ones of the same sender.
//
//   ShardMessage{.from = ShardId(0), .to = ShardId(2), .purpose = Purpose::fence, .number = 17, .payload = {...}}
#pragma once
#include "interp/shards/bytes.hpp"
#include "ir/base/ids.hpp"

namespace taskspec {

struct ShardTag;
using ShardId = Id<ShardTag>;

// Who a message is for. Each purpose counts its collectives for itself.
enum class Purpose : std::uint8_t {
  fence,      // of the coarse stage; the number is that of the operation
  check,      // of control determinism; the number is that of the call
  diagnosis,  // which call differs, and in what
  value,      // contents: reductions, receives, broadcasts
  alarm,      // a difference was seen; beats
  data,       // contents of regions and maps, in order for each pair of shards
  pieces,     // of partitions that are tables: questions, and what is answered
  failure,    // a run has failed, and what with
};

// At which call the sender stood: compared with the receiver's own log, so that shards that part are seen even where
// nothing is hashed. Call 0: the message belongs to no call.
struct CallStamp {
  std::uint64_t call = 0;
  std::uint64_t hash_low = 0;  // of all calls up to it; 0 where nothing is hashed
  std::uint8_t kind = 0;       // CallKind
  friend bool operator==(const CallStamp&, const CallStamp&) = default;
};

inline constexpr std::uint8_t no_collective = 255;  // ShardMessage::step of what belongs to none

struct ShardMessage {
  ShardId from{}, to{};
  Purpose purpose{};
  std::uint8_t step = 0;     // of a protocol: which kind of collective, or of alarm
  std::uint8_t part = 0;     // of a collective that is several
  std::uint16_t round = 0;   // of a collective
  std::uint64_t number = 0;  // of the purpose
  std::uint64_t time = 0;    // Lamport's clock of the sender
  CallStamp stamp{};
  Bytes payload{};
};

// Contents that belong to no collective: the number counts those of the sender for this shard, the mark has 24 bits.
ShardMessage contents_message(ShardId to, std::uint64_t number, std::uint32_t mark);
std::uint32_t mark_of_contents(const ShardMessage& message);

void put_message(Bytes& into, const ShardMessage& message);
// False: these bytes are no message.
bool get_message(ByteView bytes, ShardMessage& into);

}  // namespace taskspec
