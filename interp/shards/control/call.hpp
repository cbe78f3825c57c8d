// A call of the runtime with all its actual arguments, as the bytes that are hashed: numbers in little endian, a type
// tag before each value, nothing that could differ between replicas that agree (no address, no place in the text).
//
//   CallArguments arguments;
//   arguments.argument("task").created(Created::task, 3).argument("domain").domain(Rect::of({4}));
//   log.record(CallKind::launch, "stencil", arguments, span);
#pragma once
#include <bit>
#include <cstring>
#include <string>

#include "interp/shards/analysis/sharding.hpp"
#include "ir/region/projection.hpp"

namespace taskspec {

enum class CallKind : std::uint8_t {
  none,
  start,  // of the session: program text, arguments, shards, level
  region,
  partition,
  fill,
  launch,
  single,  // a task called alone
  future,
  receive,
  attach,
  detach,
  deletion,
};
std::string_view text(CallKind kind);

// What is known by the number of its creation.
enum class Created : std::uint8_t { region, partition, field, task, agent };

class CallArguments {
 public:
  CallArguments() { clear(); }
  void clear();

  // `name` must live as long as the program.
  CallArguments& argument(const char* name);
  CallArguments& integer(std::int64_t value);
  CallArguments& real(double value);  // one NaN; -0 is not 0
  CallArguments& boolean(bool value);
  CallArguments& text(std::string_view value);
  CallArguments& list(std::size_t count);  // its values follow
  CallArguments& created(Created what, std::uint64_t number);
  CallArguments& future(std::uint64_t call, std::uint32_t slot);
  CallArguments& domain(const Rect& value);
  CallArguments& sharding(const PointSharding& value);
  CallArguments& projection(const Projection& value);
  // Those of the others behind one's own, from that one of them on.
  CallArguments& append(const CallArguments& others, std::size_t first = 0);
  // The argument with that mark, an int or a real number, which may become another one; gives its bits as they are
  // hashed.
  struct Number {
    std::uint32_t begin = 0;     // in bytes()
    std::uint32_t position = 0;  // among all numbers
    bool is_real = false;
  };
  Number number(std::size_t mark) const;
  std::uint64_t put(Number number, std::uint64_t bits) {
    if (number.is_real) bits = bits_of(std::bit_cast<double>(bits));
    std::memcpy(bytes_.data() + number.begin, &bits, sizeof bits);
    return hashed_[head + number.position] = bits;
  }

  struct Mark {
    const char* name;
    std::uint32_t begin;  // in bytes()
  };
  ByteView bytes() const { return bytes_; }
  std::span<const Mark> marks() const { return marks_; }
  // h_n = XXH3_128(h_{n-1} || n || kind || shape || numbers), each but the hashes in 8 bytes. Numbers are ints and
  // reals alone; shape = XXH3_128(bytes() with zeros for them), which a call that comes again with others keeps.
  Hash128 hash(const Hash128& before, std::uint64_t number, CallKind kind) {
    if (!knows_shape_) hash_shape();
    hashed_[0] = before.low;
    hashed_[1] = before.high;
    hashed_[2] = number;
    hashed_[3] = static_cast<std::uint64_t>(kind);
    return hash128(std::as_bytes(std::span(hashed_)));
  }

 private:
  static std::uint64_t bits_of(double value) {
    constexpr std::uint64_t the_nan = 0x7ff8000000000000;
    return value == value ? std::bit_cast<std::uint64_t>(value) : the_nan;
  }
  ByteWriter write() {
    knows_shape_ = false;
    return ByteWriter(bytes_);
  }
  void write_number(std::uint64_t bits);
  std::uint32_t end() const { return static_cast<std::uint32_t>(bytes_.size()); }
  void hash_shape();

  static constexpr std::size_t head = 2 + 1 + 1 + 2;  // of hashed_: all in front of the numbers
  Bytes bytes_;
  std::vector<Mark> marks_;
  std::vector<std::uint32_t> numbers_;  // where they stand in bytes_
  std::vector<std::uint64_t> hashed_;
  bool knows_shape_ = false;  // it stands in hashed_
};

// As a message shows them: "0..4", "[1, 2.5]", "cyclic", "region 3".
std::string text_of_values(ByteView values);

}  // namespace taskspec
