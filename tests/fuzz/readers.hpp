// Everything that reads data from outside, as the fuzzer sees it: samples that the tool makes itself, and a function
// that takes any bytes and ends well, or by a diagnostic.
//
//   Trial trial(*find_reader("png"));
//   Taken taken = trial.run(trial.input(seed, 17));      // taken.wrong is empty, as it should be
//
// A new reader: one line in readers.def, and its record.
#pragma once
#include <span>
#include <stdexcept>

#include "tests/fuzz/mutate.hpp"

namespace taskspec::fuzz {

struct Reader {
  Grain grain = Grain::bytes;
  std::vector<std::string> (*samples)() = nullptr;
  std::string (*repaired)(std::string) = nullptr;    // checksums made true, so that what is behind them is reached
  bool (*read)(const std::string& bytes) = nullptr;  // accepted? May throw Error (it was not), or Odd
};

// What no input may lead to: the reader contradicts itself.
class Odd : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

struct Taken {
  bool accepted = false;  // it is good input
  std::string wrong;      // with how it was taken; empty: nothing
};

struct ReaderName {
  std::string_view name, what;
  const Reader* reader;
};
std::span<const ReaderName> all_readers();
const ReaderName* find_reader(std::string_view name);

// A reader with its samples. Input 0 and those after it are the samples as they are, then come changed ones.
class Trial {
 public:
  explicit Trial(const Reader& reader);
  std::string input(std::uint64_t seed, std::uint64_t number) const;
  Taken run(const std::string& input) const;  // does not come back when the reader crashes
  std::size_t samples() const { return mutate_.samples().size(); }

 private:
  const Reader& reader_;
  Mutator mutate_;
};

}  // namespace taskspec::fuzz
