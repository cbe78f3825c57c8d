// A table by position whose entries come and go: the position of one that was freed is given again, to the next one,
// so the table is as long as the most entries that were there at a time.
//
//   SlotTable<Region> regions;
//   regions.add(a);  regions.add(b);      // 0, 1
//   regions.free(0);
//   regions.add(c);                       // 0 again
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace taskspec {

template <class T>
class SlotTable {
 public:
  SlotTable() = default;
  SlotTable(SlotTable&& other) noexcept { swap(other); }
  SlotTable& operator=(SlotTable&& other) noexcept {
    swap(other);
    return *this;
  }

  std::size_t size() const { return static_cast<std::size_t>(end_ - begin_); }  // positions, the free ones too
  std::uint64_t made() const { return room_ ? room_->made : 0; }                // entries that were ever added
  T& operator[](std::size_t at) { return begin_[at]; }
  const T& operator[](std::size_t at) const { return begin_[at]; }

  std::size_t add(T entry) {
    if (!room_) room_ = std::make_unique<Room>();
    std::vector<T>& entries = room_->entries;
    if (!room_->free.empty()) {
      const std::uint32_t at = room_->free.back();
      entries[at] = std::move(entry);
      room_->free.pop_back();
      ++room_->made;
      return at;
    }
    entries.push_back(std::move(entry));
    begin_ = entries.data();
    end_ = begin_ + entries.size();
    room_->free.reserve(entries.capacity());
    ++room_->made;
    return entries.size() - 1;
  }
  // Takes no memory. What was there becomes a T() of nothing.
  void free(std::size_t at) {
    begin_[at] = T();
    room_->free.push_back(static_cast<std::uint32_t>(at));
  }
  std::size_t bytes() const {
    return room_ ? sizeof(Room) + room_->entries.capacity() * sizeof(T) + room_->free.capacity() * 4 : 0;
  }

 private:
  struct Room {
    std::vector<T> entries;
    std::vector<std::uint32_t> free;  // positions
    std::uint64_t made = 0;
  };
  void swap(SlotTable& other) {
    std::swap(begin_, other.begin_);
    std::swap(end_, other.end_);
    std::swap(room_, other.room_);
  }
  T* begin_ = nullptr;  // of the entries: an access costs one load
  T* end_ = nullptr;
  std::unique_ptr<Room> room_;
};

}  // namespace taskspec
