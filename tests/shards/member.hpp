// One shard of a test of shared pieces: its end of the network, its part of the tables, and meetings.
//
//   Member member(transport);
//   forest.share(member.pieces);
//   ...
//   member.meet();
#pragma once
#include <initializer_list>

#include "interp/shards/data/shared_pieces.hpp"

namespace taskspec {

// A shard that shares tables of pieces with the others.
class Member {
  Collectives collectives_;

 public:
  explicit Member(Transport& transport) : collectives_(transport) {}

  std::shared_ptr<SharedPieces> pieces = std::make_shared<SharedPieces>(
      collectives_, SharedPieces::Waits{[this](FunctionRef<bool()> done) { wait(done); },
                                        [this] { collectives_.transport().wait(1'000'000'000); }});
  std::size_t self() const { return collectives_.self().index(); }
  std::size_t shards() const { return collectives_.shards(); }
  // Nobody leaves while another one may ask.
  void meet() {
    bool all = false;
    collectives_.barrier({Purpose::value, ++barriers_}, [&] { all = true; });
    wait([&] { return all; });
  }

 private:
  void wait(FunctionRef<bool()> done) {
    while (!done())
      if (!collectives_.poll()) collectives_.transport().wait(1'000'000'000);
  }
  std::uint64_t barriers_ = 0;
};

inline Bytes numbers_of(std::initializer_list<std::uint64_t> numbers) {
  Bytes bytes;
  for (const std::uint64_t number : numbers) ByteWriter(bytes).put(number);
  return bytes;
}

}  // namespace taskspec
