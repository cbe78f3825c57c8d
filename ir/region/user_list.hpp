// A list of users, most of them short: six take no memory of their own.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <utility>

namespace taskspec {

class UserList {
 public:
  UserList() = default;
  UserList(const UserList& other) { assign(other.all()); }
  UserList(UserList&& other) noexcept { swap(other); }
  UserList& operator=(const UserList& other) {
    if (this != &other) assign(other.all());
    return *this;
  }
  UserList& operator=(UserList&& other) noexcept {
    swap(other);
    return *this;
  }
  ~UserList() {
    if (capacity_ > inside) delete[] there();
  }

  std::span<const std::uint32_t> all() const { return {data(), size_}; }
  void clear() { size_ = 0; }
  void set(std::uint32_t only) {
    size_ = 1;
    data()[0] = only;
  }
  // The one that came last is not entered twice.
  void add(std::uint32_t user) {
    if (size_ > 0 && data()[size_ - 1] == user) return;
    if (size_ == capacity_) grow(2 * capacity_);
    data()[size_++] = user;
  }
  void swap(UserList& other) noexcept {
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    std::swap_ranges(here_, here_ + inside, other.here_);
  }
  std::size_t bytes() const { return capacity_ > inside ? capacity_ * sizeof(std::uint32_t) : 0; }

 private:
  static constexpr std::uint32_t inside = 6;
  std::uint32_t* there() const {
    std::uint32_t* memory;
    std::memcpy(&memory, here_, sizeof memory);
    return memory;
  }
  std::uint32_t* data() { return capacity_ > inside ? there() : here_; }
  const std::uint32_t* data() const { return capacity_ > inside ? there() : here_; }
  void grow(std::uint32_t capacity) {
    auto* more = new std::uint32_t[capacity];
    std::copy_n(data(), size_, more);
    if (capacity_ > inside) delete[] there();
    std::memcpy(here_, &more, sizeof more);
    capacity_ = capacity;
  }
  void assign(std::span<const std::uint32_t> users) {
    size_ = 0;
    if (users.size() > capacity_) grow(static_cast<std::uint32_t>(users.size()));
    std::copy(users.begin(), users.end(), data());
    size_ = static_cast<std::uint32_t>(users.size());
  }

  std::uint32_t size_ = 0, capacity_ = inside;
  std::uint32_t here_[inside] = {};  // or, of longer lists, where they lie
};

}  // namespace taskspec
