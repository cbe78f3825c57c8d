// Which fields of a region: a set of their numbers. The first 64 take no memory of their own.
//
//   FieldMask::of({0, 2}).meets(FieldMask::of({2}))
#pragma once
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <vector>

namespace taskspec {

class FieldMask {
 public:
  FieldMask() = default;
  static FieldMask of(std::initializer_list<std::uint32_t> fields) {
    FieldMask mask;
    for (const std::uint32_t field : fields) mask.add(field);
    return mask;
  }

  void add(std::uint32_t field) {
    if (field < 64) {
      first_ |= std::uint64_t{1} << field;
      return;
    }
    if (more_.size() < field / 64) more_.resize(field / 64);
    more_[field / 64 - 1] |= std::uint64_t{1} << field % 64;
  }
  bool has(std::uint32_t field) const {
    if (field < 64) return first_ >> field & 1;
    return field / 64 <= more_.size() && (more_[field / 64 - 1] >> field % 64 & 1);
  }
  bool empty() const {
    for (const std::uint64_t word : more_)
      if (word) return false;
    return first_ == 0;
  }
  bool meets(const FieldMask& other) const {
    if (first_ & other.first_) return true;
    for (std::size_t i = 0; i < more_.size() && i < other.more_.size(); ++i)
      if (more_[i] & other.more_[i]) return true;
    return false;
  }
  // Ascending.
  template <class Visit>
  void each(Visit visit) const {
    each_in(first_, 0, visit);
    for (std::size_t i = 0; i < more_.size(); ++i) each_in(more_[i], static_cast<std::uint32_t>(64 * (i + 1)), visit);
  }
  friend bool operator==(const FieldMask& a, const FieldMask& b) {
    for (std::size_t i = 0; i < a.more_.size() || i < b.more_.size(); ++i)
      if ((i < a.more_.size() ? a.more_[i] : 0) != (i < b.more_.size() ? b.more_[i] : 0)) return false;
    return a.first_ == b.first_;
  }

 private:
  template <class Visit>
  static void each_in(std::uint64_t word, std::uint32_t base, Visit& visit) {
    for (; word; word &= word - 1) visit(base + static_cast<std::uint32_t>(std::countr_zero(word)));
  }
  std::uint64_t first_ = 0;
  std::vector<std::uint64_t> more_;
};

}  // namespace taskspec
