#include "interp/control/replica.hpp"

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

Value Replica::agree(int part, std::uint64_t count, const Value& own) {
  if (!agreed) return own;
  if (number != 0) return agreed->get(part, count);
  agreed->put(part, count, own);
  return own;
}

}  // namespace taskspec
