#include "ir/region/intervals.hpp"

#include <algorithm>

namespace taskspec {
namespace {

using Runs = std::span<const Run>;

constexpr std::size_t galloping_ratio = 16;

// Walks along a sorted list of runs. Beside a much shorter list it gallops: doubled steps, then a search in the last.
class Walk {
 public:
  Walk(Runs runs, Runs beside) : runs_(runs), gallops_(runs.size() / galloping_ratio > beside.size()) {}
  bool done() const { return at_ == runs_.size(); }
  const Run& operator*() const { return runs_[at_]; }
  const Run* operator->() const { return &runs_[at_]; }
  void next() { ++at_; }
  // To the first run that ends behind `index`.
  void pass(std::int64_t index) {
    if (!gallops_) {
      while (!done() && runs_[at_].hi <= index) ++at_;
      return;
    }
    std::size_t step = 1, from = at_;
    while (from + step < runs_.size() && runs_[from + step].hi <= index) {
      from += step;
      step *= 2;
    }
    const auto begin = runs_.begin() + static_cast<std::ptrdiff_t>(from);
    const auto end = runs_.begin() + static_cast<std::ptrdiff_t>(std::min(runs_.size(), from + step + 1));
    at_ = static_cast<std::size_t>(std::partition_point(begin, end, [&](Run r) { return r.hi <= index; }) -
                                   runs_.begin());
  }

 private:
  Runs runs_;
  std::size_t at_ = 0;
  bool gallops_;
};

void append(std::vector<Run>& runs, Run run) {
  if (run.lo >= run.hi) return;
  if (!runs.empty() && run.lo <= runs.back().hi)
    runs.back().hi = std::max(runs.back().hi, run.hi);
  else
    runs.push_back(run);
}

}  // namespace

Intervals::Intervals(std::vector<Run> merged) {
  if (merged.empty()) return;
  Data data;
  data.before.reserve(merged.size() + 1);
  std::int64_t points = 0;
  for (const Run& run : merged) {
    data.before.push_back(points);
    points += run.size();
  }
  data.before.push_back(points);
  data.runs = std::move(merged);
  data_ = std::make_shared<const Data>(std::move(data));
}

Intervals Intervals::of_sorted(std::vector<Run> runs) {
  std::vector<Run> merged;
  merged.reserve(runs.size());
  for (const Run& run : runs) append(merged, run);
  return Intervals(std::move(merged));
}

Intervals Intervals::of(std::vector<Run> runs) {
  auto by_begin = [](const Run& a, const Run& b) { return a.lo < b.lo; };
  if (!std::is_sorted(runs.begin(), runs.end(), by_begin)) std::sort(runs.begin(), runs.end(), by_begin);
  return of_sorted(std::move(runs));
}

bool Intervals::contains(std::int64_t index) const {
  const Runs all = runs();
  const auto found = std::partition_point(all.begin(), all.end(), [&](Run r) { return r.hi <= index; });
  return found != all.end() && found->lo <= index;
}

std::int64_t Intervals::rank_of(std::int64_t index) const {
  if (!data_) return 0;
  const Runs all = runs();
  const auto found = std::partition_point(all.begin(), all.end(), [&](Run r) { return r.hi <= index; });
  const std::int64_t before = data_->before[static_cast<std::size_t>(found - all.begin())];
  return found == all.end() || found->lo >= index ? before : before + index - found->lo;
}

std::int64_t Intervals::nth(std::int64_t count) const {
  const auto& before = data_->before;
  const auto behind = std::upper_bound(before.begin(), before.end() - 1, count);
  const auto run = static_cast<std::size_t>(behind - before.begin() - 1);
  return data_->runs[run].lo + count - before[run];
}

Intervals Intervals::ranked(std::int64_t from, std::int64_t to) const {
  if (from >= to) return {};
  const Intervals window = Intervals(std::vector<Run>{{nth(from), nth(to - 1) + 1}});
  return *this & window;
}

Intervals operator&(const Intervals& a, const Intervals& b) {
  std::vector<Run> both;
  for (Walk x(a.runs(), b.runs()), y(b.runs(), a.runs());;) {
    if (x.done() || y.done()) break;
    x.pass(y->lo);
    if (x.done()) break;
    y.pass(x->lo);
    if (y.done()) break;
    append(both, {std::max(x->lo, y->lo), std::min(x->hi, y->hi)});
    if (x->hi < y->hi)
      x.next();
    else
      y.next();
  }
  return Intervals(std::move(both));
}

Intervals operator|(const Intervals& a, const Intervals& b) {
  if (a.empty() || a.data_ == b.data_) return b;
  if (b.empty()) return a;
  std::vector<Run> either;
  either.reserve(a.runs().size() + b.runs().size());
  Walk x(a.runs(), b.runs()), y(b.runs(), a.runs());
  while (!x.done() || !y.done()) {
    Walk& first = y.done() || (!x.done() && x->lo <= y->lo) ? x : y;
    append(either, *first);
    first.next();
  }
  return Intervals(std::move(either));
}

Intervals operator-(const Intervals& a, const Intervals& b) {
  if (a.empty() || b.empty()) return a;
  std::vector<Run> left;
  Walk y(b.runs(), a.runs());
  for (Run run : a.runs()) {
    for (y.pass(run.lo); !y.done() && y->lo < run.hi; y.next()) {
      append(left, {run.lo, y->lo});
      run.lo = y->hi;
      if (run.lo >= run.hi) break;  // the next run may meet it too
    }
    append(left, run);
  }
  return Intervals(std::move(left));
}

bool operator==(const Intervals& a, const Intervals& b) {
  return a.data_ == b.data_ || std::equal(a.runs().begin(), a.runs().end(), b.runs().begin(), b.runs().end());
}

std::optional<std::int64_t> common_point(const Intervals& a, const Intervals& b) {
  for (Walk x(a.runs(), b.runs()), y(b.runs(), a.runs());;) {
    if (x.done() || y.done()) return std::nullopt;
    x.pass(y->lo);
    if (x.done()) return std::nullopt;
    if (x->lo <= y->lo) return y->lo;
    y.pass(x->lo);
    if (y.done()) return std::nullopt;
    if (y->lo <= x->lo) return x->lo;
  }
}

}  // namespace taskspec
