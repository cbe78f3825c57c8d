// The channels between the host program and the graph program of one run: bounded queues that block. Each side is
// one thread, so every channel has one writer and one reader. On the fast path there is no lock and no allocation;
// who must wait looks again for some microseconds, if that helped lately, and then sleeps until the other side wakes
// it.
//
//   Exchange exchange(cut.channels, 64);
//   host thread:  exchange.put(channel, {activation, {Value(true)}});  ...  exchange.end(Part::host);
//   graph thread: while (auto message = exchange.take(channel)) ...;        exchange.end(Part::graph);
//
// Messages that nobody took live until the exchange goes: it must go before what their values name.
#pragma once
#include <condition_variable>
#include <deque>
#include <mutex>
#include <span>

#include "interp/control/message_queue.hpp"
#include "ir/cut/cut_program.hpp"

namespace taskspec {

class Exchange {
 public:
  // Up to `capacity` messages wait in each channel, at least one.
  Exchange(std::span<const Channel> channels, std::size_t capacity);

  // Waits while the channel is full. Drops the message when the reader's side has ended.
  void put(ChannelId channel, Message message);
  // Waits while the channel is empty. Nothing when the writer's side has ended and everything is read.
  std::optional<Message> take(ChannelId channel);
  bool ready(ChannelId channel) const;  // by the reader: take would not wait
  bool over(ChannelId channel) const;   // by the reader: nothing comes any more
  void end(Part side);                  // it puts and takes nothing any more; wakes the other

  // How a program ends early. The host's side has failed:
  void end_early();
  // By the graph's side: it sends a failure, and ends by itself.
  void fail();
  bool fails() const;
  // By the graph's side: what the last order let it do is done.
  void done();
  bool all_done() const;  // of what the host has ordered
  bool enough() const;    // and the host's side has failed
  // By the graph's side: it comes to where the program may end, and all that stands before is done; it has passed that.
  void set_ahead();
  void set_passed();
  // It waits there for what the host's side, which has ended, never sent: what it has begun meanwhile does not count.
  bool ahead() const;

  // From any thread: waits return, and from then on puts drop and takes give nothing, on both sides.
  void interrupt();

  struct Count {
    std::uint64_t messages = 0;  // put, not dropped
    std::uint64_t waits_to_put = 0, waits_to_take = 0;
  };
  Count count(ChannelId channel) const;  // exact after both sides ended

 private:
  struct Line {
    Line(const Channel& channel, std::size_t capacity)
        : to_host(channel.to_host),
          orders(channel.orders()),
          passes(channel.carries_nothing() && !orders),
          queue(capacity) {}
    const bool to_host, orders, passes;
    std::atomic<std::uint64_t> waits_to_put{0}, waits_to_take{0};
    MessageQueue queue;
  };
  struct alignas(64) Side {
    std::atomic<std::uint32_t> sleeps_at{0};  // 0: awake; else 1 + the channel that it wants to go on with
    // Its own: for how many waits it does not look before it sleeps, now and when it looks in vain again.
    std::uint32_t skip = 0, in_vain = 0;
    std::mutex mutex;  // taken to sleep and to wake only
    std::condition_variable woken;
  };
  enum class Attempt : std::uint8_t { done, wait, over };

  Attempt try_put(Line& line, Message& message);
  Attempt try_take(Line& line, std::optional<Message>& message);
  template <class F>
  static Attempt look(Side& self, F&& attempt);
  template <class F>
  static Attempt sleep(Side& self, ChannelId channel, F&& attempt);
  template <class F>
  static Attempt wait(Side& self, ChannelId channel, F&& attempt);
  static void wake(Side& side);
  static void wake_at(Side& side, ChannelId channel);
  static std::uint32_t ended(bool host);
  Side& side(bool host) { return host ? host_ : graph_; }

  std::deque<Line> lines_;  // by channel
  Side host_, graph_;
  std::atomic<std::uint64_t> orders_{0}, orders_done_{0};  // messages `order`: sent, and what they allow done
  std::atomic<std::uint64_t> passings_{0}, passed_{0};     // messages `passed`: sent, and taken
  std::atomic<bool> ahead_{false};
  alignas(64) std::atomic<std::uint32_t> over_{0};  // bits: who ended and how, see the names of them
};

}  // namespace taskspec
