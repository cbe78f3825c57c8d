// The `run e on ...` that opens a session just now, on this thread: a backend that runs it several times at once asks
// where it stands.
//
//   const RunSite::Mark mark({interpreter, frame, call});       // around what opens it
//   if (const RunSite* site = RunSite::current()) ...
#pragma once
#include "ir/program/program.hpp"

namespace taskspec {

class Interpreter;
struct Frame;

struct RunSite {
  Interpreter& interpreter;
  Frame& frame;
  CallId call;

  static const RunSite* current();  // null: no such call opens one
  class Mark;
};

class RunSite::Mark {
 public:
  explicit Mark(const RunSite& site);
  Mark(const Mark&) = delete;
  ~Mark();

 private:
  const RunSite site_;
  const RunSite* const outer_;
};

}  // namespace taskspec
