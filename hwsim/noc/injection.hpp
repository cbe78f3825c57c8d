// How packets get into the network, under `ideal` and `contended`. An injection port that is free takes, of what is
// ready, the packet that has been so for longest (then of the lowest flow), and with it those behind it in its flow as
// long as each is ready at its turn, at most `burst`: a segment, which nothing interrupts.
#pragma once
#include <cstdint>

#include "hwsim/noc/noc.hpp"

namespace taskspec {

// The packets of a flow that are still to leave: the k-th is ready at begin + ceil((k + 1) * span / packets).
class NocDepartures {
 public:
  NocDepartures() = default;
  explicit NocDepartures(const NocFlow& flow)
      : left_(flow.packets), packets_(flow.packets), step_(flow.span / flow.packets), rest_(flow.span % flow.packets) {
    ready_ = flow.begin;
    over_ = packets_ - 1;  // so that what is rounded down is rounded up
    advance();
  }
  std::int64_t left() const { return left_; }
  std::int64_t ready() const { return ready_; }  // the next packet

  // Packets that leave from `now` on, one every `pace` ticks, at most `most`; the first is ready.
  std::int64_t take(std::int64_t now, std::int64_t pace, std::int64_t most) {
    std::int64_t taken = 0;
    do {
      ++taken, --left_, now += pace;
      advance();
    } while (taken < most && left_ > 0 && ready_ <= now);
    return taken;
  }

 private:
  void advance() {
    ready_ += step_;
    over_ += rest_;
    if (over_ >= packets_) over_ -= packets_, ++ready_;
  }

  std::int64_t left_ = 0, packets_ = 1, step_ = 0, rest_ = 0, ready_ = 0;
  std::int64_t over_ = 0;  // parts of 1 / packets_
};

}  // namespace taskspec
