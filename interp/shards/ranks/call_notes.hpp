// A little memory that the ranks of a run and the process that started them share: who is at which call, who has come
// to its end, and whether somebody has told what ended the run. It outlives any of them.
//
//   CallNotes notes = CallNotes::make(2);                  // the starter; ranks get its descriptor
//   notes.rank(1).note(212, "launch step", "f.task:31");
#pragma once
#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace taskspec {

class CallNotes {
 public:
  // ending: it finalises MPI, which it does when it has nothing more to do; ended: it has.
  enum class State : std::uint32_t { unknown, begun, grouped, ending, ended };
  struct Call {
    std::uint64_t number = 0;
    std::string what, place;
  };
  // Written by its rank, one thread at a time; read by the starter when the rank is gone.
  class Rank {
   public:
    void note(std::uint64_t number, std::string_view what, std::string_view place);
    Call call() const;
    std::atomic<std::uint32_t> state;
    std::atomic<std::int32_t> process;

   private:
    std::atomic_flag is_written_;
    std::uint64_t number_;
    std::array<char, 64> what_;
    std::array<char, 128> place_;
  };

  static std::optional<CallNotes> make(std::size_t ranks);
  static std::optional<CallNotes> at(int descriptor);
  CallNotes(CallNotes&&) noexcept;
  CallNotes& operator=(CallNotes&&) = delete;
  ~CallNotes();

  int descriptor() const { return descriptor_; }
  std::size_t ranks() const;
  Rank& rank(std::size_t rank) const;
  // True for the first who asks.
  bool claim_last_word() const;
  bool has_last_word() const;

 private:
  struct Head;
  CallNotes(int descriptor, void* memory, std::size_t size) : descriptor_(descriptor), memory_(memory), size_(size) {}
  Head& head() const;
  int descriptor_ = -1;
  void* memory_ = nullptr;
  std::size_t size_ = 0;
};

// "; last call seen 212 'launch step' (f.task:31)"
std::string text_of(const CallNotes::Call& call);

}  // namespace taskspec
