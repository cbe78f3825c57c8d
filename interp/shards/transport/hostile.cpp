#include "interp/shards/transport/hostile.hpp"

#include <algorithm>

#include "ir/base/diag.hpp"

namespace taskspec {

HostileTransport::HostileTransport(Transport& inner, const Options& options)
    : inner_(inner), longest_hold_(options.longest_hold), random_(options.seed * 1000003 + inner.self().index()) {}

void HostileTransport::send(ShardMessage message) { inner_.send(std::move(message)); }

std::optional<ShardMessage> HostileTransport::receive() {
  while (auto message = inner_.receive()) {
    Held held{{}, come_++, static_cast<std::uint32_t>(random_() % (longest_hold_ + 1))};
    put_message(held.bytes, *message);
    held_.push_back(std::move(held));
  }
  std::vector<std::size_t> ripe;
  for (std::size_t i = 0; i < held_.size(); ++i)
    if (held_[i].looks == 0 || --held_[i].looks == 0) ripe.push_back(i);
  if (ripe.empty()) return std::nullopt;
  const std::size_t chosen = ripe[random_() % ripe.size()];
  ShardMessage message;
  if (!get_message(held_[chosen].bytes, message)) bug("a message cannot be read again");
  overtaken_ +=
      std::any_of(held_.begin(), held_.end(), [&](const Held& held) { return held.number < held_[chosen].number; });
  held_.erase(held_.begin() + static_cast<std::ptrdiff_t>(chosen));
  return message;
}

// What is held becomes ripe by looking: so nobody sleeps on it.
void HostileTransport::wait(std::int64_t nanoseconds) {
  if (held_.empty()) inner_.wait(nanoseconds);
}

}  // namespace taskspec
