#include "interp/control/exchange.hpp"

#include "ir/base/relax.hpp"

namespace taskspec {

namespace {

constexpr std::uint32_t host_ended = 1, graph_ended = 2, interrupted = 4, ended_early = 8, failing = 16;
// About twenty microseconds, as long as it takes to wake the other side: an answer that comes that soon is caught
// without a call of the system, and two sides that both sleep between messages get out of that habit. Where looking
// does not help, as on a core that both share, a side looks ever more seldom and mostly sleeps at once.
constexpr int looks = 800;
constexpr std::uint32_t most_skipped = 255;

}  // namespace

Exchange::Exchange(std::span<const Channel> channels, std::size_t capacity) {
  for (const Channel& channel : channels) lines_.emplace_back(channel, capacity);
}

std::uint32_t Exchange::ended(bool host) { return host ? host_ended : graph_ended; }

Exchange::Attempt Exchange::try_put(Line& line, Message& message) {
  const std::uint32_t over = over_.load(std::memory_order_seq_cst);
  if ((over & (interrupted | ended(line.to_host))) != 0) return Attempt::over;
  return line.queue.put(message) ? Attempt::done : Attempt::wait;
}

// Whether the writer has ended is asked first: then what it put before that is seen.
Exchange::Attempt Exchange::try_take(Line& line, std::optional<Message>& message) {
  const std::uint32_t over = over_.load(std::memory_order_seq_cst);
  if ((over & interrupted) != 0) return Attempt::over;
  if (line.queue.take(message)) return Attempt::done;
  return (over & ended(!line.to_host)) != 0 ? Attempt::over : Attempt::wait;
}

template <class F>
Exchange::Attempt Exchange::look(Side& self, F&& attempt) {
  if (self.skip > 0) {
    --self.skip;
    return Attempt::wait;
  }
  for (int i = 0; i < looks; ++i) {
    relax();
    if (Attempt made = attempt(); made != Attempt::wait) {
      self.in_vain /= 2;
      return made;
    }
  }
  self.in_vain = std::min(2 * self.in_vain + 1, most_skipped);
  self.skip = self.in_vain;
  return Attempt::wait;
}

// To sleep is first announced, then tried once more; the other side acts first and then looks who sleeps. So one of
// the two sees the other, and nobody sleeps beside what it waits for.
template <class F>
Exchange::Attempt Exchange::sleep(Side& self, ChannelId channel, F&& attempt) {
  const std::uint32_t place = channel.value + 1;
  for (;;) {
    self.sleeps_at.store(place, std::memory_order_seq_cst);
    if (Attempt made = attempt(); made != Attempt::wait) {
      self.sleeps_at.store(0, std::memory_order_relaxed);
      return made;
    }
    std::unique_lock lock(self.mutex);
    self.woken.wait(lock, [&] { return self.sleeps_at.load(std::memory_order_relaxed) == 0; });
  }
}

template <class F>
Exchange::Attempt Exchange::wait(Side& self, ChannelId channel, F&& attempt) {
  const Attempt made = look(self, attempt);
  return made == Attempt::wait ? sleep(self, channel, attempt) : made;
}

// Only the side itself says that it sleeps; so a call that comes late wakes it for nothing, and no more.
void Exchange::wake(Side& side) {
  {
    std::lock_guard lock(side.mutex);
    side.sleeps_at.store(0, std::memory_order_seq_cst);
  }
  side.woken.notify_one();
}

void Exchange::wake_at(Side& side, ChannelId channel) {
  if (side.sleeps_at.load(std::memory_order_seq_cst) == channel.value + 1) wake(side);
}

void Exchange::put(ChannelId channel, Message message) {
  Line& line = lines_[channel.index()];
  // Counted by the side that asks in the end; the other one asks only when it has seen that this one ended.
  if (line.orders) orders_.fetch_add(1, std::memory_order_relaxed);
  if (line.passes) passings_.fetch_add(1, std::memory_order_relaxed);
  Attempt made = try_put(line, message);
  if (made == Attempt::wait) {
    line.waits_to_put.fetch_add(1, std::memory_order_relaxed);
    made = wait(side(!line.to_host), channel, [&] { return try_put(line, message); });
  }
  if (made == Attempt::done) wake_at(side(line.to_host), channel);
}

std::optional<Message> Exchange::take(ChannelId channel) {
  Line& line = lines_[channel.index()];
  std::optional<Message> message;
  Attempt made = try_take(line, message);
  if (made == Attempt::wait) {
    line.waits_to_take.fetch_add(1, std::memory_order_relaxed);
    made = wait(side(line.to_host), channel, [&] { return try_take(line, message); });
  }
  if (made == Attempt::done) wake_at(side(!line.to_host), channel);
  return message;
}

bool Exchange::ready(ChannelId channel) const { return over(channel) || !lines_[channel.index()].queue.empty(); }

// As in try_take: whether the writer has ended is asked first.
bool Exchange::over(ChannelId channel) const {
  const Line& line = lines_[channel.index()];
  const std::uint32_t over = over_.load(std::memory_order_seq_cst);
  return (over & interrupted) != 0 || ((over & ended(!line.to_host)) != 0 && line.queue.empty());
}

void Exchange::end(Part side) {
  const bool host = side == Part::host;
  over_.fetch_or(ended(host), std::memory_order_seq_cst);
  wake(this->side(!host));
}

void Exchange::end_early() {
  over_.fetch_or(ended_early, std::memory_order_seq_cst);
  end(Part::host);
}

void Exchange::done() { orders_done_.fetch_add(1, std::memory_order_seq_cst); }

// One of the two sides finds it: the host's after it ended, or the graph's after what it did last.
bool Exchange::enough() const { return (over_.load(std::memory_order_seq_cst) & ended_early) != 0 && all_done(); }

bool Exchange::all_done() const {
  return orders_done_.load(std::memory_order_seq_cst) == orders_.load(std::memory_order_relaxed);
}

void Exchange::set_ahead() { ahead_.store(true, std::memory_order_seq_cst); }

void Exchange::set_passed() {
  ahead_.store(false, std::memory_order_seq_cst);
  passed_.fetch_add(1, std::memory_order_seq_cst);
}

bool Exchange::ahead() const {
  // In this order: once all is passed, it is ahead only where it waits again.
  return passed_.load(std::memory_order_seq_cst) == passings_.load(std::memory_order_relaxed) &&
         ahead_.load(std::memory_order_seq_cst);
}

void Exchange::fail() { over_.fetch_or(failing, std::memory_order_seq_cst); }

bool Exchange::fails() const { return (over_.load(std::memory_order_seq_cst) & failing) != 0; }

void Exchange::interrupt() {
  over_.fetch_or(interrupted, std::memory_order_seq_cst);
  wake(host_);
  wake(graph_);
}

Exchange::Count Exchange::count(ChannelId channel) const {
  const Line& line = lines_[channel.index()];
  return {line.queue.written(), line.waits_to_put.load(std::memory_order_relaxed),
          line.waits_to_take.load(std::memory_order_relaxed)};
}

}  // namespace taskspec
