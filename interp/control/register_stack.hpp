// The registers of calls that run, one frame on the other. All that nobody has taken are empty.
//
//   Value* registers = stack.take(5);  ...  stack.give_back(registers, 5);      // what was taken last first
#pragma once
#include <memory>
#include <vector>

#include "ir/types/value.hpp"

namespace taskspec {

class RegisterStack {
 public:
  RegisterStack() = default;
  RegisterStack(RegisterStack&&) = default;

  Value* take(std::size_t count) {
    if (static_cast<std::size_t>(end_ - top_) < count) enter_chunk(count);
    return std::exchange(top_, top_ + count);
  }
  void give_back(Value* registers, std::size_t count) noexcept {
    for (std::size_t i = 0; i < count; ++i) registers[i] = Value();
    top_ = registers;
    if (registers == begin_) leave_chunk();
  }

 private:
  struct Chunk {
    std::unique_ptr<Value[]> registers;
    std::size_t size = 0;
    Value* top = nullptr;  // when the next one was entered
  };
  void enter_chunk(std::size_t count);
  void leave_chunk() noexcept;

  Value *begin_ = nullptr, *top_ = nullptr, *end_ = nullptr;  // of the chunk that is filled
  std::vector<Chunk> chunks_;                                 // and perhaps one behind it
  std::size_t used_ = 0;
};

}  // namespace taskspec
