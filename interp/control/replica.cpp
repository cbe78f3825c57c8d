#include "interp/control/replica.hpp"

#include "interp/control/rank_line.hpp"

namespace taskspec {

void AgreedValues::put(int part, std::uint64_t number, const Value& value) {
  const std::lock_guard lock(mutex_);
  values_.emplace(std::pair(part, number), value);
  changed_.notify_all();
}

Value AgreedValues::get(int part, std::uint64_t number) {
  std::unique_lock lock(mutex_);
  const std::pair key(part, number);
  changed_.wait(lock, [&] { return has_ended_ || values_.contains(key); });
  if (!values_.contains(key)) throw failure("E5009", {}, "the program has ended");
  return values_[key];
}

void AgreedValues::end() {
  const std::lock_guard lock(mutex_);
  has_ended_ = true;
  changed_.notify_all();
}

// One replica of each process asks the others.
Value Replica::agree(int part, std::uint64_t count, const Value& own) {
  if (agreed && number != 0) return agreed->get(part, count);
  const Value value = RankLine::here() ? RankLine::here()->agree(part, count, own) : own;
  if (agreed) agreed->put(part, count, value);
  return value;
}

namespace {

std::unique_ptr<RankLine>& line() {
  static std::unique_ptr<RankLine> ours;
  return ours;
}

}  // namespace

RankLine* RankLine::here() { return line().get(); }
void RankLine::set(std::unique_ptr<RankLine> ranks) { line() = std::move(ranks); }

}  // namespace taskspec
