// Frames on their way through a chip: when each went in and came out, and whether that has become the same each time,
// or in turns.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

namespace taskspec {

class SeenFrames {
 public:
  // `parts`: messages to the host that a frame ends with.
  explicit SeenFrames(std::int64_t parts) : parts_(parts) {}

  void entered(std::int64_t number, std::int64_t at) {
    std::int64_t& first = frame(number).begin;
    first = first < 0 ? at : std::min(first, at);
  }
  void left(std::int64_t number, std::int64_t at) {
    Frame& done = frame(number);
    done.end = std::max(done.end, at);
    if (++done.parts == parts_) ++out_;
  }

  std::int64_t out() const { return out_; }
  std::int64_t begin(std::int64_t number) const { return at(number).begin; }
  std::int64_t end(std::int64_t number) const { return at(number).end; }
  // Is what comes out the same in every turn? A turn is one frame, or a few: where packets of different frames queue at
  // the same links, frames may differ and do so again and again. Looks at the last turns: once there were more frames
  // than `stages` beside them, no closer than `slowest` by which some stage goes on, or if `keeps_pace(distance, frames
  // of a turn)` says that all stages go on so. Asked anew only when another frame has come out.
  template <class Pace>
  bool is_steady(std::int64_t stages, std::int64_t slowest, Pace keeps_pace) {
    if (out_ == looked_at_) return false;
    looked_at_ = out_;
    for (std::int64_t frames = 1; frames <= longest_turn; ++frames) {
      if (!repeats(frames)) continue;
      const bool is_late = out_ > frames * turns + stages && distance(frames) >= frames * slowest;
      if (!is_late && !keeps_pace(distance(frames), frames)) continue;
      turn_ = frames;
      return true;
    }
    return false;
  }

  std::int64_t turn() const { return turn_; }  // frames of it; 0: none has been found
  // Without a turn: of the half in the middle, when the chip was full.
  void look_at_middle() {
    looked_over_ = out_ / 2;
    looked_to_ = out_ - out_ / 4;
  }
  // The longest of a turn, both ends counted; without one that of the last frame.
  std::int64_t latency() const {
    std::int64_t longest = 0;
    for (std::int64_t i = 1; i <= looked_over(); ++i) longest = std::max(longest, latency(looked_to() - i));
    return longest;
  }
  // Between two frames, in a turn in the mean, rounded up.
  std::int64_t interval() const {
    const std::int64_t frames = looked_over(), last = looked_to() - 1;
    return last < frames ? 0 : (at(last).end - at(last - frames).end + frames - 1) / frames;
  }
  // From the first to the last one, both ends counted.
  std::int64_t cycles() const { return at(out_ - 1).end - std::max<std::int64_t>(0, at(0).begin) + 1; }

 private:
  static constexpr std::int64_t turns = 3;  // that are the same, behind the first one
  static constexpr std::int64_t longest_turn = 8;
  struct Frame {
    std::int64_t begin = -1, end = 0, parts = 0;
  };
  Frame& frame(std::int64_t number) {
    if (frames_.size() <= static_cast<std::size_t>(number)) frames_.resize(static_cast<std::size_t>(number) + 1);
    return frames_[static_cast<std::size_t>(number)];
  }
  std::int64_t looked_over() const { return looked_over_ > 0 ? looked_over_ : std::max<std::int64_t>(1, turn_); }
  std::int64_t looked_to() const { return looked_to_ > 0 ? looked_to_ : out_; }
  std::int64_t latency(std::int64_t number) const { return at(number).end - at(number).begin + 1; }
  std::int64_t distance(std::int64_t frames) const { return at(out_ - 1).end - at(out_ - 1 - frames).end; }
  // The last `turns` of so many frames, by latency and by distance to the one before.
  bool repeats(std::int64_t frames) const {
    if (out_ < frames * (turns + 1)) return false;
    for (std::int64_t i = 1; i <= frames * (turns - 1); ++i)
      if (latency(out_ - i) != latency(out_ - i - frames) ||
          at(out_ - i).end - at(out_ - i - frames).end != at(out_ - i - frames).end - at(out_ - i - 2 * frames).end)
        return false;
    return true;
  }
  const Frame& at(std::int64_t number) const { return frames_[static_cast<std::size_t>(number)]; }

  std::int64_t parts_, out_ = 0, looked_at_ = 0, turn_ = 0, looked_over_ = 0, looked_to_ = 0;
  std::vector<Frame> frames_;
};

}  // namespace taskspec
