#include "interp/shards/message.hpp"

namespace taskspec {

ShardMessage contents_message(ShardId to, std::uint64_t number, std::uint32_t mark) {
  return {.to = to,
          .purpose = Purpose::data,
          .step = no_collective,
          .part = static_cast<std::uint8_t>(mark >> 16),
          .round = static_cast<std::uint16_t>(mark),
          .number = number};
}

std::uint32_t mark_of_contents(const ShardMessage& message) {
  return std::uint32_t{message.part} << 16 | message.round;
}

void put_message(Bytes& into, const ShardMessage& message) {
  ByteWriter out(into);
  out.put(message.from.value)
      .put(message.to.value)
      .put(message.purpose)
      .put(message.step)
      .put(message.part)
      .put(message.round);
  out.put(message.number).put(message.time);
  out.put(message.stamp.call).put(message.stamp.hash_low).put(message.stamp.kind);
  out.block(message.payload);
}

bool get_message(ByteView bytes, ShardMessage& into) {
  ByteReader in(bytes);
  into.from.value = in.get<std::uint32_t>();
  into.to.value = in.get<std::uint32_t>();
  into.purpose = in.get<Purpose>();
  into.step = in.get<std::uint8_t>();
  into.part = in.get<std::uint8_t>();
  into.round = in.get<std::uint16_t>();
  into.number = in.get<std::uint64_t>();
  into.time = in.get<std::uint64_t>();
  into.stamp.call = in.get<std::uint64_t>();
  into.stamp.hash_low = in.get<std::uint64_t>();
  into.stamp.kind = in.get<std::uint8_t>();
  const ByteView payload = in.block();
  into.payload.assign(payload.begin(), payload.end());
  return in.ok() && in.left() == 0 && into.purpose <= Purpose::failure;
}

}  // namespace taskspec
