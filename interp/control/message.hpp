// What goes through a channel: one value, mostly, or several where communications were merged.
//
//   Message message{activation, {Value(true)}};
#pragma once
#include <initializer_list>
#include <utility>

#include "ir/types/value.hpp"

namespace taskspec {

// A list that allocates nothing for a single value.
class Values {
 public:
  Values() = default;
  Values(std::initializer_list<Value> values) {
    for (const Value& value : values) push_back(value);
  }
  Values(List values) : many_(std::move(values)), size_(many_.size()) {}
  Values(const Values&) = default;
  Values& operator=(const Values&) = default;
  Values(Values&& other) noexcept
      : one_(std::move(other.one_)), many_(std::move(other.many_)), size_(std::exchange(other.size_, 0)) {}
  Values& operator=(Values&& other) noexcept {
    one_ = std::move(other.one_);
    many_ = std::move(other.many_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  void push_back(Value value) {
    if (size_ == 0 && many_.empty()) {
      one_ = std::move(value);
    } else {
      if (many_.empty()) many_.push_back(std::move(one_));
      many_.push_back(std::move(value));
    }
    ++size_;
  }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  Value& operator[](std::size_t i) { return begin()[i]; }
  const Value& operator[](std::size_t i) const { return begin()[i]; }
  Value* begin() { return many_.empty() ? &one_ : many_.data(); }
  const Value* begin() const { return many_.empty() ? &one_ : many_.data(); }
  Value* end() { return begin() + size_; }
  const Value* end() const { return begin() + size_; }

 private:
  Value one_;  // the only one, while `many_` is empty
  List many_;
  std::size_t size_ = 0;
};

struct Message {
  std::uint64_t activation = 0;  // of the function whose communication this is
  Values values;
};

}  // namespace taskspec
