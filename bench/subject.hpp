// A text that benchmarks run: checked once, cut in two once.
//
//   Subject subject("for i in 0..1000 { ... }");
//   Sample s = measure([&] { subject.run_cut(); });
#pragma once
#include <string>

#include "interp/pipeline.hpp"
#include "ir/cut/cut_program.hpp"

namespace taskspec::bench {

class Subject {
 public:
  explicit Subject(const std::string& text);  // one that does not compile, or fails, is our mistake

  SessionReport run_cut() const { return run_cut(settings()); }
  SessionReport run_cut(const RunSettings& settings) const;
  void run_direct() const;
  std::size_t messages() const;   // of one run
  static RunSettings settings();  // one worker, so that two cores are there for the two programs; prints nothing

 private:
  SessionReport finish(const RunResult& result) const;

  Sources sources_;
  Program program_;
  CutProgram cut_;
};

}  // namespace taskspec::bench
