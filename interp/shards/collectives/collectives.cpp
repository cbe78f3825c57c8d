#include "interp/shards/collectives/collectives.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "ir/base/diag.hpp"

namespace taskspec {
namespace {

void put_blocks(Bytes& into, std::span<const Bytes> blocks) {
  ByteWriter out(into);
  out.put(static_cast<std::uint32_t>(blocks.size()));
  for (const Bytes& block : blocks) out.block(block);
}

void get_blocks(ByteView bytes, std::vector<Bytes>& into) {
  ByteReader in(bytes);
  for (auto count = in.get<std::uint32_t>(); count > 0; --count) {
    const ByteView block = in.block();
    into.emplace_back(block.begin(), block.end());
  }
  if (!in.ok()) bug("blocks of a collective cannot be read");
}

}  // namespace

// A collective is a list of rounds. In each a shard sends at most one message, before it waits for at most one.
struct Collectives::Running {
  enum class Kind : std::uint8_t { unknown, dissemination, broadcast, reduce, all_gather, exchange };
  Kind kind = Kind::unknown;
  std::size_t self = 0, shards = 1, root = 0;
  unsigned rounds = 0, round = 0;
  bool has_sent = false;
  Bytes value;
  std::vector<Bytes> blocks;
  Combine combine;
  Ended ended;
  Got got;
  GotAll got_all;
  CallStamp stamp;
  std::map<std::uint32_t, Bytes> come;  // by round; of an exchange: by shard

  std::size_t place() const { return (self + shards - root) % shards; }  // counted from the root
  std::size_t at_place(std::size_t place) const { return (place + root) % shards; }
  std::size_t distance() const { return std::size_t{1} << round; }

  std::optional<std::size_t> to() const {
    const std::size_t d = distance(), at = place();
    switch (kind) {
      case Kind::dissemination:
        return (self + d) % shards;
      case Kind::all_gather:
        return (self + shards - d) % shards;
      case Kind::broadcast:
        if (at < d && at + d < shards) return at_place(at + d);
        return std::nullopt;
      case Kind::reduce:
        if (at % (2 * d) == d) return at_place(at - d);
        return std::nullopt;
      default:
        return std::nullopt;
    }
  }
  bool waits() const {
    const std::size_t d = distance(), at = place();
    if (kind == Kind::broadcast) return at >= d && at < 2 * d;
    if (kind == Kind::reduce) return at % (2 * d) == 0 && at + d < shards;
    return true;
  }
  Bytes payload() const {
    if (kind != Kind::all_gather) return value;
    Bytes bytes;
    put_blocks(bytes, std::span(blocks).first(std::min(distance(), shards - distance())));
    return bytes;
  }
  void absorb(const Bytes& other) {
    if (kind == Kind::all_gather) return get_blocks(other, blocks);
    if (kind == Kind::broadcast)
      value = other;
    else if (combine)
      combine(value, other);
  }
};

Collectives::Collectives(Transport& transport) : transport_(transport) {}
Collectives::~Collectives() = default;

unsigned Collectives::rounds() const { return static_cast<unsigned>(std::bit_width(shards() - 1)); }

void Collectives::barrier(CollectiveKey key, Ended ended, const CallStamp& stamp) {
  auto made = std::make_unique<Running>();
  made->kind = Running::Kind::dissemination;
  made->ended = std::move(ended);
  made->stamp = stamp;
  start(key, std::move(made));
}

void Collectives::all_reduce(CollectiveKey key, Bytes own, Combine combine, Got got, const CallStamp& stamp) {
  auto made = std::make_unique<Running>();
  made->kind = Running::Kind::dissemination;
  made->value = std::move(own);
  made->combine = std::move(combine);
  made->got = std::move(got);
  made->stamp = stamp;
  start(key, std::move(made));
}

void Collectives::broadcast(CollectiveKey key, ShardId root, Bytes own, Got got, const CallStamp& stamp) {
  auto made = std::make_unique<Running>();
  made->kind = Running::Kind::broadcast;
  made->root = root.index();
  if (root == self()) made->value = std::move(own);
  made->got = std::move(got);
  made->stamp = stamp;
  start(key, std::move(made));
}

void Collectives::reduce(CollectiveKey key, ShardId root, Bytes own, Combine combine, Got got, const CallStamp& stamp) {
  auto made = std::make_unique<Running>();
  made->kind = Running::Kind::reduce;
  made->root = root.index();
  made->value = std::move(own);
  made->combine = std::move(combine);
  made->got = std::move(got);
  made->stamp = stamp;
  start(key, std::move(made));
}

void Collectives::all_gather(CollectiveKey key, Bytes own, GotAll got, const CallStamp& stamp) {
  auto made = std::make_unique<Running>();
  made->kind = Running::Kind::all_gather;
  made->blocks.push_back(std::move(own));
  made->got_all = std::move(got);
  made->stamp = stamp;
  start(key, std::move(made));
}

void Collectives::exchange(CollectiveKey key, std::vector<Bytes> own, GotAll got, const CallStamp& stamp) {
  if (own.size() != shards()) bug("an exchange has a part for each shard");
  auto made = std::make_unique<Running>();
  made->kind = Running::Kind::exchange;
  made->blocks = std::move(own);
  made->got_all = std::move(got);
  made->stamp = stamp;
  start(key, std::move(made));
}

Collectives::Running& Collectives::known(CollectiveKey key) {
  std::unique_ptr<Running>& slot = running_[key];
  if (!slot) slot = std::make_unique<Running>();
  return *slot;
}

void Collectives::start(CollectiveKey key, std::unique_ptr<Running> made) {
  std::unique_ptr<Running>& slot = running_[key];
  if (slot && slot->kind != Running::Kind::unknown) bug("a collective of that purpose and number is in flight already");
  if (slot) made->come = std::move(slot->come);
  made->self = self().index();
  made->shards = shards();
  made->rounds = made->kind == Running::Kind::exchange ? (shards() > 1 ? 1 : 0) : rounds();
  slot = std::move(made);
  ++counts_.started;
  counts_.rounds += slot->rounds;
  advance(key, *slot);
}

void Collectives::send(ShardMessage message) {
  message.from = self();
  message.time = ++time_;
  count(message.payload.size(), message.purpose == Purpose::data);
  transport_.send(std::move(message));
}

void Collectives::send(CollectiveKey key, const Running& running, std::size_t to, ByteView payload) {
  send({.from = self(),
        .to = ShardId(to),
        .purpose = key.purpose,
        .step = static_cast<std::uint8_t>(running.kind),
        .part = key.part,
        .round = static_cast<std::uint16_t>(running.round),
        .number = key.number,
        .time = 0,
        .stamp = running.stamp,
        .payload = {payload.begin(), payload.end()}});
}

void Collectives::advance(CollectiveKey key, Running& running) {
  if (running.kind == Running::Kind::exchange) {
    if (!std::exchange(running.has_sent, true))
      for (std::size_t shard = 0; shard < running.shards; ++shard)
        if (shard != running.self) send(key, running, shard, running.blocks[shard]);
    if (running.come.size() + 1 < running.shards) return;
    for (auto& [shard, bytes] : running.come) running.blocks[shard] = std::move(bytes);
  } else {
    for (; running.round < running.rounds; ++running.round, running.has_sent = false) {
      if (!std::exchange(running.has_sent, true))
        if (const auto to = running.to()) send(key, running, *to, running.payload());
      if (!running.waits()) continue;
      const auto come = running.come.find(running.round);
      if (come == running.come.end()) return;
      running.absorb(come->second);
    }
  }
  // What is told may start others, also of this very key.
  const std::unique_ptr<Running> done = std::move(running_.extract(key).mapped());
  if (done->kind == Running::Kind::all_gather) {
    std::vector<Bytes> by_shard(done->shards);
    for (std::size_t i = 0; i < done->shards; ++i)
      by_shard[(done->self + i) % done->shards] = std::move(done->blocks[i]);
    done->got_all(std::move(by_shard));
  } else if (done->kind == Running::Kind::exchange) {
    done->got_all(std::move(done->blocks));
  } else if (done->got) {
    if (done->kind == Running::Kind::reduce && done->place() != 0) done->value.clear();
    done->got(std::move(done->value));
  } else if (done->ended) {
    done->ended();
  }
}

void Collectives::on_data(std::function<void(ShardMessage)> data) {
  data_ = std::move(data);
  if (!data_) return;
  for (ShardMessage& message : std::exchange(early_data_, {})) data_(std::move(message));
}

void Collectives::take(ShardMessage message) {
  time_ = std::max(time_, message.time) + 1;
  if (message.purpose == Purpose::failure) {
    if (failure_) failure_(message);
    return;
  }
  if (seen_) seen_(message);
  if (message.step == no_collective) {
    if (message.purpose == Purpose::data)
      return data_ ? data_(std::move(message)) : early_data_.push_back(std::move(message));
    if (message.purpose == Purpose::pieces) return pieces_ ? pieces_(std::move(message)) : void();
    if (other_) other_(message);
    return;
  }
  const CollectiveKey key{message.purpose, message.number, message.part};
  const bool is_first = !running_.contains(key);
  Running& running = known(key);
  const bool is_exchange = message.step == static_cast<std::uint8_t>(Running::Kind::exchange);
  const std::uint32_t place = is_exchange ? message.from.value : message.round;
  if (!running.come.emplace(place, std::move(message.payload)).second) bug("two messages of one round of a collective");
  if (running.kind != Running::Kind::unknown) return advance(key, running);
  if (is_first && early_) early_(key, message.stamp);
}

bool Collectives::poll_pieces() {
  bool was_there = false;
  while (auto message = transport_.receive()) {
    const bool is_of_pieces = message->purpose == Purpose::pieces && message->step == no_collective;
    if (is_of_pieces || message->purpose == Purpose::failure)
      take(std::move(*message));
    else
      left_.push_back(std::move(*message));
    was_there = was_there || is_of_pieces;
  }
  return was_there;
}

bool Collectives::poll() {
  bool was_there = false;
  for (; !left_.empty(); was_there = true) {
    ShardMessage message = std::move(left_.front());
    left_.pop_front();
    take(std::move(message));
  }
  while (auto message = transport_.receive()) {
    was_there = true;
    take(std::move(*message));
  }
  return was_there;
}

}  // namespace taskspec
