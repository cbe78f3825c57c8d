// Where an op that prints from the graph side writes: an attribute of its call, put there by whoever runs the program.
#pragma once
#include <functional>
#include <string_view>

#include "ir/types/value.hpp"

namespace taskspec {

class Console final : public Object {
 public:
  explicit Console(std::function<void(std::string_view)> write) : write_(std::move(write)) {}
  void write(std::string_view text) const { write_(text); }
  std::string text() const override { return "<console>"; }

 private:
  std::function<void(std::string_view)> write_;
};

}  // namespace taskspec
