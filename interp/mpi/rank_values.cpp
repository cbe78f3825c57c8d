#include "interp/mpi/rank_values.hpp"

#include <chrono>
#include <thread>

#include "interp/shards/ranks/rank_process.hpp"

namespace taskspec {

namespace {

enum class Kind : std::uint8_t { none, boolean, integer, real, string, list, tuple };
enum class Word : std::uint8_t { value, end };

}  // namespace

void put_value(Bytes& into, const Value& value) {
  ByteWriter out(into);
  const auto all = [&](Kind kind, const List& items) {
    out.put(kind).put(static_cast<std::uint64_t>(items.size()));
    for (const Value& item : items) put_value(into, item);
  };
  if (value.is_list()) return all(Kind::list, value.list());
  if (value.is_tuple()) return all(Kind::tuple, value.tuple().items);
  if (value.is_bool())
    out.put(Kind::boolean).put(static_cast<std::uint8_t>(value.boolean()));
  else if (value.is_integer())
    out.put(Kind::integer).put(value.integer());
  else if (value.is_real())
    out.put(Kind::real).put(value.real());
  else if (value.is_string())
    out.put(Kind::string).text(value.string());
  else
    out.put(Kind::none);
}

Value get_value(ByteReader& in) {
  const auto all = [&] {
    List items;
    for (auto left = in.get<std::uint64_t>(); left > 0 && in.ok(); --left) items.push_back(get_value(in));
    return items;
  };
  switch (in.get<Kind>()) {
    case Kind::none:
      return {};
    case Kind::boolean:
      return Value(in.get<std::uint8_t>() != 0);
    case Kind::integer:
      return Value(in.get<std::int64_t>());
    case Kind::real:
      return Value(in.get<double>());
    case Kind::string:
      return Value(std::string(in.text()));
    case Kind::list:
      return Value(all());
    case Kind::tuple:
      return Value(Tuple{all()});
  }
  return {};
}

RankValues::RankValues()
    : rank_(number_in_environment(rank_variable).value_or(0)),
      ranks_(number_in_environment(ranks_variable).value_or(1)) {}

void RankValues::hear(const Bytes& bytes) {
  ByteReader in(bytes);
  const auto word = in.get<Word>();
  const std::lock_guard lock(mutex_);
  if (word == Word::end) {
    has_ended_ = true;
    return;
  }
  const auto part = in.get<std::int32_t>();
  const auto number = in.get<std::uint64_t>();
  come_.emplace(std::pair(part, number), get_value(in));
}

void RankValues::tell(const Bytes& bytes) {
  MpiLine& line = *mpi_line().value_or_throw();
  const std::lock_guard lock(line.mutex);
  for (std::size_t rank = 1; rank < ranks_; ++rank) line.say_beside(rank, bytes);
}

Value RankValues::agree(int part, std::uint64_t number, const Value& own) {
  if (ranks_ <= 1) return own;
  if (rank_ == 0) {
    Bytes bytes;
    ByteWriter(bytes).put(Word::value).put(static_cast<std::int32_t>(part)).put(number);
    put_value(bytes, own);
    tell(bytes);
    return own;
  }
  MpiLine& line = *mpi_line().value_or_throw();
  const std::pair key(static_cast<std::int32_t>(part), number);
  for (std::chrono::microseconds pause{20};; pause = std::min(2 * pause, std::chrono::microseconds(1000))) {
    std::deque<Bytes> said;
    {
      const std::lock_guard lock(line.mutex);
      line.look();
      said = std::exchange(line.beside, {});
    }
    for (const Bytes& bytes : said) hear(bytes);
    {
      const std::lock_guard lock(mutex_);
      if (const auto at = come_.find(key); at != come_.end()) {
        const Value value = at->second;
        come_.erase(at);
        return value;
      }
      if (has_ended_) throw failure("E5009", {}, "the program has ended on rank 0, which had not come here");
    }
    std::this_thread::sleep_for(pause);
  }
}

// Only where somebody may wait: MPI is not begun for it.
void RankValues::end() {
  if (rank_ != 0 || ranks_ <= 1 || !has_mpi_line()) return;
  Bytes bytes;
  ByteWriter(bytes).put(Word::end);
  tell(bytes);
}

}  // namespace taskspec
