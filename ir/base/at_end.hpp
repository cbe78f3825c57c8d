// Does something when its scope ends, however it ends. What it does must not throw.
//
//   const AtEnd unmark([&] { marked = false; });
#pragma once
#include <utility>

namespace taskspec {

template <class F>
class AtEnd {
 public:
  explicit AtEnd(F does) : does_(std::move(does)) {}
  AtEnd(const AtEnd&) = delete;
  AtEnd& operator=(const AtEnd&) = delete;
  ~AtEnd() { does_(); }

 private:
  F does_;
};

}  // namespace taskspec
