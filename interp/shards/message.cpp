#include "interp/shards/message.hpp"

namespace taskspec {

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
