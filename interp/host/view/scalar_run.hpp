// The code of a scalar program (scalar_code.hpp) with the machine of one bound body: says where things lie, and does
// what the code asks for.
#pragma once
#include <exception>
#include <vector>

#include "interp/host/view/machine.hpp"
#include "interp/host/view/scalar_code.hpp"

namespace taskspec {

class ScalarRun {
 public:
  // Both outlive it. It stays where it is: the frame knows it.
  ScalarRun(const ScalarCode& code, LaneMachine& machine);
  ScalarRun(const ScalarRun&) = delete;
  void run();  // as LaneMachine::scalar of the code around all loops; throws what that throws

 private:
  static std::int32_t instruction(ScalarFrame* frame, std::uint32_t loop, std::uint32_t position, std::int64_t at);
  static ScalarFrame::Entered enter(ScalarFrame* frame, std::uint32_t loop);
  static std::int32_t look(ScalarFrame* frame);
  template <class Do>
  static bool keeps_thrown(ScalarFrame* frame, Do&& what);
  ScalarFrame::Access access(std::uint32_t a) const;
  bool settle(std::uint32_t l);

  const ScalarCode& code_;
  LaneMachine& machine_;
  std::vector<ScalarFrame::Loop> loops_;
  std::vector<ScalarFrame::Access> accesses_;
  ScalarFrame frame_;
  std::exception_ptr thrown_;
};

}  // namespace taskspec
