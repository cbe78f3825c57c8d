#include "interp/shards/data/data_port.hpp"

#include "interp/shards/transport/content_line.hpp"
#include "interp/shards/transport/sleeper_fence.hpp"
#include "ir/base/diag.hpp"
#include "ir/base/relax.hpp"

namespace taskspec {

namespace {

// Contents that another shard is just about to send: some 20 us, after which others that wait for this shard are
// looked after.
constexpr int most_looks = 1000;

}  // namespace

DataPort::DataPort(Collectives& collectives, Idle* idle)
    : collectives_(collectives),
      idle_(idle),
      network_(collectives.transport().network()),
      looks_(collectives.transport().may_look() ? most_looks : 1),
      peers_(collectives.shards()) {
  collectives_.on_data([this](ShardMessage message) { put(std::move(message)); });
}

DataPort::~DataPort() { collectives_.on_data({}); }

void DataPort::send(ShardId to, Bytes payload, std::uint32_t mark) {
  ++counts_.messages;
  counts_.bytes += payload.size();
  ShardMessage message = contents_message(to, peers_[to.index()].sent++, mark);
  message.payload = std::move(payload);
  collectives_.send(std::move(message));
}

std::byte* DataPort::room(ShardId to, std::size_t bytes) {
  Peer& peer = peers_[to.index()];
  room_ = {&peer, peer.line};
  if (!peer.line.line) {
    room_.by = collectives_.transport().line_to(to);
    if (room_.by.stays) peer.line = room_.by;
    peer.last = room_.by.line;
  }
  return room_.by.line ? room_.by.line->room(bytes) : nullptr;
}

void DataPort::send_room(ShardId to, std::size_t bytes, std::uint32_t mark) {
  ++counts_.messages;
  counts_.bytes += bytes;
  room_.by.line->send({network_, mark, room_.to->sent++, collectives_.sends_by_line(bytes), bytes});
  if (!room_.by.sleeps) return;
  writers_fence();
  if (room_.by.sleeps->load(std::memory_order_relaxed)) collectives_.transport().wake_reader(to);
}

const std::byte* DataPort::come(ShardId from, std::size_t bytes, std::uint32_t mark) {
  const Peer& peer = peers_[from.index()];
  if (peer.has_next) return nullptr;
  come_ = collectives_.transport().line_from(from);
  if (!come_) return nullptr;
  for (int k = 0; k < looks_; ++k) {
    const ContentLine::Head* const head = come_->next();
    if (!head) {
      if (!idle_ || !idle_->work()) relax();
      continue;
    }
    const bool is_next = head->number == peer.taken && head->mark == mark && head->bytes == bytes;
    return is_next && head->network == network_ ? come_->contents() : nullptr;
  }
  return nullptr;
}

void DataPort::took(ShardId from) {
  collectives_.takes_from_line(come_->next()->time);
  come_->take();
  Peer& peer = peers_[from.index()];
  ++peer.taken;
  if (peer.last) peer.last->fetch_room();  // mostly an answer follows
  if (!peer.later.empty()) find_next(peer);
}

void DataPort::put(ShardMessage message) {
  const std::uint32_t mark = mark_of_contents(message);
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
  find_next(peer);
  return payload;
}

// Among those that came before it.
void DataPort::find_next(Peer& peer) {
  const auto next = peer.later.begin();  // the least number
  peer.has_next = next != peer.later.end() && next->first == peer.taken;
  if (peer.has_next) peer.next = std::move(peer.later.extract(next).mapped());
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
