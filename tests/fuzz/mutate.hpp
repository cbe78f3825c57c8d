// Changed samples for the fuzzer. The same seed and number always give the same bytes, so a case that fails can be
// made again by itself.
//
//   Mutator mutate(samples, Grain::tokens);
//   std::string input = mutate(seed, 17);        // often a broken sample, sometimes a good one of another kind
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace taskspec::fuzz {

enum class Grain : std::uint8_t {
  bytes,   // bits, bytes, chunks, numbers of 1 to 8 bytes
  tokens,  // also words, strings, numbers and what stands in brackets: programs, JSON
};

// A token of a text: a word or number, a string with its quotes, or one other character.
struct Piece {
  std::size_t begin = 0, end = 0;
  std::size_t partner = SIZE_MAX;  // of a bracket: the token that closes or opens it
};
std::vector<Piece> pieces_of(std::string_view text);

class Mutator {
 public:
  // No sample is empty; there is at least one.
  Mutator(std::vector<std::string> samples, Grain grain);

  std::string operator()(std::uint64_t seed, std::uint64_t number) const;
  const std::vector<std::string>& samples() const { return samples_; }

 private:
  std::vector<std::string> samples_;
  std::vector<std::vector<Piece>> pieces_;  // by sample; empty where only bytes count
  Grain grain_;
};

}  // namespace taskspec::fuzz
