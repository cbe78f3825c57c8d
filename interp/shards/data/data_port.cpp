#include "interp/shards/data/data_port.hpp"

#include "ir/base/diag.hpp"

namespace taskspec {

DataPort::DataPort(Collectives& collectives) : collectives_(collectives), peers_(collectives.shards()) {
  collectives_.on_data([this](ShardMessage message) { put(std::move(message)); });
}

DataPort::~DataPort() { collectives_.on_data({}); }

void DataPort::send(ShardId to, Bytes payload, std::uint32_t mark) {
  ++counts_.messages;
  counts_.bytes += payload.size();
  collectives_.send({.to = to,
                     .purpose = Purpose::data,
                     .step = Collectives::no_collective,
                     .part = static_cast<std::uint8_t>(mark >> 16),
                     .round = static_cast<std::uint16_t>(mark),
                     .number = peers_[to.index()].sent++,
                     .payload = std::move(payload)});
}

void DataPort::put(ShardMessage message) {
  const std::uint32_t mark = std::uint32_t{message.part} << 16 | message.round;
  Peer& peer = peers_.at(message.from.index());
  Come come{std::move(message.payload), mark};
  if (message.number == peer.taken && !peer.has_next) {
    peer.next = std::move(come);
    peer.has_next = true;
  } else if (message.number <= peer.taken || !peer.later.emplace(message.number, std::move(come)).second) {
    bug("contents have come twice");
  }
}

std::optional<Bytes> DataPort::take(ShardId from, std::uint32_t mark) {
  Peer& peer = peers_[from.index()];
  if (!peer.has_next) return std::nullopt;
  if (peer.next.mark != mark)
    throw ContentsDiffer{"shard " + std::to_string(from.value) + " sends other elements than shard " +
                         std::to_string(self().value) + " waits for"};
  Bytes payload = std::move(peer.next.payload);
  ++peer.taken;
  const auto next = peer.later.begin();  // the least number
  peer.has_next = next != peer.later.end() && next->first == peer.taken;
  if (peer.has_next) peer.next = std::move(peer.later.extract(next).mapped());
  return payload;
}

Bytes DataPort::wait(ShardId from, FunctionRef<void()> meanwhile, std::uint32_t mark) {
  std::optional<Bytes> come;
  wait_until([&] { return (come = take(from, mark)).has_value(); }, meanwhile);
  return std::move(*come);
}

void DataPort::wait_until(FunctionRef<bool()> done, FunctionRef<void()> meanwhile) {
  while (!done()) {
    if (meanwhile) meanwhile();
    if (done()) return;
    if (!collectives_.poll()) collectives_.transport().wait(sleep_nanoseconds);
  }
}

}  // namespace taskspec
