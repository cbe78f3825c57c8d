// Frames on their way through a chip: when each went in and came out, and whether that has become the same each time.
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
  // Latency and distance of the last three: once there were more than `stages` of them beside, or if
  // `keeps_pace(distance)` says that all stages go on so. Asked anew only when another one has come out.
  template <class Pace>
  bool is_steady(std::int64_t stages, Pace keeps_pace) {
    if (out_ == looked_at_) return false;
    looked_at_ = out_;
    if (out_ <= steady) return false;
    for (std::int64_t i = 1; i < steady; ++i) {
      const Frame &a = at(out_ - i), &b = at(out_ - i - 1), &c = at(out_ - i - 2);
      if (a.end - a.begin != b.end - b.begin || a.end - b.end != b.end - c.end) return false;
    }
    return out_ > steady + stages || keeps_pace(interval());
  }

  // Of the last one that came out, and from the first to the last one; both ends counted.
  std::int64_t latency() const { return at(out_ - 1).end - at(out_ - 1).begin + 1; }
  std::int64_t interval() const { return out_ < 2 ? 0 : at(out_ - 1).end - at(out_ - 2).end; }
  std::int64_t cycles() const { return at(out_ - 1).end - std::max<std::int64_t>(0, at(0).begin) + 1; }

 private:
  static constexpr std::int64_t steady = 3;
  struct Frame {
    std::int64_t begin = -1, end = 0, parts = 0;
  };
  Frame& frame(std::int64_t number) {
    if (frames_.size() <= static_cast<std::size_t>(number)) frames_.resize(static_cast<std::size_t>(number) + 1);
    return frames_[static_cast<std::size_t>(number)];
  }
  const Frame& at(std::int64_t number) const { return frames_[static_cast<std::size_t>(number)]; }

  std::int64_t parts_, out_ = 0, looked_at_ = 0;
  std::vector<Frame> frames_;
};

}  // namespace taskspec
