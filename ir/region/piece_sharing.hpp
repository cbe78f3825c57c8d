// Several that run one program, each with a forest of its own, and share tables of pieces out: each *member* keeps the
// pieces of its share of the colours, and which pieces have something of its share of the points. What else it needs it
// asks for.
//
//   forest.share(sharing);            // from here on; every member makes the same partitions in the same order
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace taskspec {

class PieceSharing {
 public:
  using Numbers = std::vector<std::int64_t>;  // what they say to one another
  // Asked for as long as somebody may ask; whatever it needs, it holds itself.
  using Answer = std::function<Numbers(const Numbers& question)>;
  struct Question {
    std::size_t member = 0;
    Numbers text;
  };

  virtual ~PieceSharing() = default;
  virtual std::size_t members() const = 0;
  virtual std::size_t self() const = 0;

  // These are called by all members in one order.
  virtual std::vector<Numbers> exchange(std::vector<Numbers> own) = 0;  // own[k] is for member k; by who gave it
  virtual Numbers sum(Numbers own) = 0;                                 // number by number, modulo 2^64
  virtual std::uint64_t serve(Answer answer) = 0;                       // gives the number of a new table

  // By question. Throws Error where nobody is left to be asked.
  virtual std::vector<Numbers> ask(std::uint64_t table, std::vector<Question> questions) = 0;
  virtual void withdraw(std::uint64_t table) noexcept = 0;  // no more questions come from here
};

}  // namespace taskspec
