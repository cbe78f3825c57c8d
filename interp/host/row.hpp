// A list of a length that is known when it is made: of a few entries it lies on the stack. For what each point of a
// launch makes anew.
//
//   Row<std::byte*> bases(views.size());
//   Row<std::byte*> all(views.size(), unset);    // the caller sets each of them
#pragma once
#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

namespace taskspec {

struct Unset {};
inline constexpr Unset unset;

template <class T>
class Row {
 public:
  Row(std::size_t size, Unset) : size_(size) {
    static_assert(std::is_trivially_destructible_v<T> && std::is_trivially_copyable_v<T>);
    if (size > few) many_.resize(size);
  }
  explicit Row(std::size_t size) : size_(size) {
    static_assert(std::is_trivially_destructible_v<T>);
    if (size > few)
      many_.resize(size);
    else
      std::uninitialized_value_construct_n(data(), size);  // of the others nothing is touched
  }
  Row(const Row&) = delete;
  Row& operator=(const Row&) = delete;
  T* data() { return size_ > few ? many_.data() : reinterpret_cast<T*>(few_); }
  T& operator[](std::size_t i) { return data()[i]; }
  operator std::span<T>() { return {data(), size_}; }
  operator std::span<const T>() { return {data(), size_}; }
  std::span<const T> from(std::size_t first, std::size_t count) { return {data() + first, count}; }

 private:
  static constexpr std::size_t few = 16;
  std::size_t size_;
  alignas(T) std::byte few_[few * sizeof(T)];
  std::vector<T> many_;
};

}  // namespace taskspec
