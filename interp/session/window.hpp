// Where the pending tasks of a loop are cut, so that its batches are alike and share a plan: at a step from one place
// of the text to the next that is not taken often, the turn of the outermost loop that fits into a window; if it can
// be, at the one where the window began.
//
//   Window window(4096);
//   if (window.ends(site, pending)) { ... window.begin(); }    // before each task
#pragma once
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "ir/base/source.hpp"

namespace taskspec {

class Window {
 public:
  explicit Window(std::size_t tasks) : tasks_(tasks) {}  // 0: it never ends
  // Asked before each task that stands at `site`, with how many there are: from `tasks` on it may end, soon it does.
  bool ends(Span site, std::size_t count);
  void begin();  // what was pending ran

 private:
  bool is_turn(std::uint64_t step);

  std::size_t tasks_;
  Span last_;
  std::uint64_t step_ = 0, first_step_ = 0;                 // to the last task; to the first one of the window
  std::unordered_map<std::uint64_t, std::uint32_t> taken_;  // how often each step was, in the half before `tasks`
  std::uint32_t rarest_ = 0;                                // count of the rarest that came again; 0: not known
};

}  // namespace taskspec
