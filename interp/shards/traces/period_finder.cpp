#include "interp/shards/traces/period_finder.hpp"

namespace taskspec {

// A few neighbours are looked at; where all are taken the oldest goes.
PeriodFinder::Slot& PeriodFinder::slot(std::uint64_t token) {
  const std::size_t home = (token * 0x9E3779B97F4A7C15 >> 20) % table_.size();
  Slot* oldest = &table_[home];
  for (std::size_t i = 0; i < probes; ++i) {
    Slot& at = table_[(home + i) % table_.size()];
    if (at.position > 0 && at.token == token) return at;
    if (at.position < oldest->position) oldest = &at;
  }
  return *oldest;
}

bool PeriodFinder::feed(std::uint64_t token, bool is_launch) {
  const std::uint64_t position = ++count_;
  Slot& last = slot(token);
  broke_ = false;
  if (period_ > 0 && position > from_ + period_ && this->token(period_ + 1) == token) {
    ++matched_;
  } else {
    broke_ = period_ > 0;
    const bool is_known = last.position > from_ && last.token == token && position - last.position < remembered;
    period_ = is_known ? position - last.position : 0;
    matched_ = is_known;
  }
  last = {token, position};
  launches_ += is_launch;
  calls_[(position - 1) % remembered] = {token, launches_};
  return period_ > 0 && matched_ >= period_;
}

// What was before counts no more; positions go on, so that nothing need be emptied.
void PeriodFinder::reset() {
  from_ = count_;
  period_ = matched_ = 0;
  broke_ = false;
}

std::size_t PeriodFinder::turn() const {
  const std::uint64_t before = calls_[(count_ - period_ - 1) % remembered].launches;
  const std::uint64_t launches = count_ > period_ ? launches_ - before : launches_;
  if (launches == 0) return 0;
  const std::size_t turn = launches >= 2 ? period_ : 2 * period_;
  return turn <= remembered / 2 ? turn : 0;
}

}  // namespace taskspec
