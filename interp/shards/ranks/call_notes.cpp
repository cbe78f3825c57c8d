#include "interp/shards/ranks/call_notes.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace taskspec {
namespace {

template <std::size_t N>
void put(std::array<char, N>& into, std::string_view text) {
  const std::size_t size = std::min(text.size(), N - 1);
  std::memcpy(into.data(), text.data(), size);
  into[size] = '\0';
}

template <std::size_t N>
std::string get(const std::array<char, N>& from) {
  return {from.data(), strnlen(from.data(), N)};
}

}  // namespace

// Fresh memory is zero, and that is how all of this begins.
struct CallNotes::Head {
  std::uint64_t ranks;
  std::atomic<std::uint32_t> is_claimed;
};

// Shards of a rank take turns. One that dies here leaves the flag set: nobody waits for it.
void CallNotes::Rank::note(std::uint64_t number, std::string_view what, std::string_view place) {
  if (is_written_.test_and_set(std::memory_order_acquire)) return;  // a call of another shard is as good
  if (number >= number_) {
    number_ = number;
    put(what_, what);
    put(place_, place);
  }
  is_written_.clear(std::memory_order_release);
}

CallNotes::Call CallNotes::Rank::call() const { return {number_, get(what_), get(place_)}; }

std::string text_of(const CallNotes::Call& call) {
  if (call.number == 0) return "; it has made no call";
  const std::string text = "; last call seen " + std::to_string(call.number) + " '" + call.what + "'";
  return call.place.empty() ? text : text + " (" + call.place + ")";
}

std::optional<CallNotes> CallNotes::make(std::size_t ranks) {
  const int descriptor = memfd_create("taskspec-ranks", MFD_CLOEXEC);
  if (descriptor < 0) return std::nullopt;
  const std::size_t size = sizeof(Head) + ranks * sizeof(Rank);
  if (ftruncate(descriptor, static_cast<off_t>(size)) != 0) {
    ::close(descriptor);
    return std::nullopt;
  }
  std::optional<CallNotes> made = at(descriptor);
  if (made) made->head().ranks = ranks;
  return made;
}

std::optional<CallNotes> CallNotes::at(int descriptor) {
  struct stat facts {};
  if (fstat(descriptor, &facts) != 0) return std::nullopt;
  const auto size = static_cast<std::size_t>(facts.st_size);
  if (size < sizeof(Head) + sizeof(Rank)) return std::nullopt;
  void* const memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (memory == MAP_FAILED) return std::nullopt;
  return CallNotes(descriptor, memory, size);
}

CallNotes::CallNotes(CallNotes&& other) noexcept
    : descriptor_(std::exchange(other.descriptor_, -1)),
      memory_(std::exchange(other.memory_, nullptr)),
      size_(other.size_) {}

CallNotes::~CallNotes() {
  if (memory_) munmap(memory_, size_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

CallNotes::Head& CallNotes::head() const { return *static_cast<Head*>(memory_); }
std::size_t CallNotes::ranks() const { return head().ranks; }

CallNotes::Rank& CallNotes::rank(std::size_t rank) const {
  auto* const first = reinterpret_cast<Rank*>(static_cast<std::byte*>(memory_) + sizeof(Head));
  return first[rank];
}

bool CallNotes::claim_last_word() const { return head().is_claimed.exchange(1) == 0; }
bool CallNotes::has_last_word() const { return head().is_claimed.load() != 0; }

}  // namespace taskspec
