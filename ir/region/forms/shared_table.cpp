#include "ir/region/forms/shared_table.hpp"

#include <algorithm>

#include "ir/base/diag.hpp"
#include "ir/region/forms/split.hpp"
#include "ir/region/region_key.hpp"

namespace taskspec {
namespace {

using Numbers = PieceSharing::Numbers;
using Question = PieceSharing::Question;

enum Asked : std::int64_t { piece, points };

Shares shares_of(std::int64_t things, const PieceSharing& sharing) {
  return {things, static_cast<std::int64_t>(sharing.members())};
}

void put(Numbers& into, const ColourRun& one) { into.insert(into.end(), {one.colour, one.run.lo, one.run.hi}); }

template <class Visit>
void each_colour_run(std::span<const std::int64_t> numbers, Visit visit) {
  if (numbers.size() % 3 != 0) bug("runs of pieces cannot be read");
  for (std::size_t i = 0; i < numbers.size(); i += 3) visit(ColourRun{{numbers[i + 1], numbers[i + 2]}, numbers[i]});
}

// A piece as it is kept: a rectangle stays one, since what is made of it depends on that.
Numbers told(const Rect& root, const IndexSpace& piece) {
  Numbers numbers;
  if (piece.is_rect()) {
    for (std::size_t axis = 0; axis < piece.rect().rank; ++axis)
      numbers.insert(numbers.end(), {piece.rect().lo[axis], piece.rect().hi[axis]});
  } else {
    numbers.push_back(0);  // an odd count
    piece.runs(root, [&](Run run) { numbers.insert(numbers.end(), {run.lo, run.hi}); });
  }
  return numbers;
}

IndexSpace piece_told(const Rect& root, const Numbers& numbers) {
  const std::size_t first = numbers.size() % 2;
  if (first == 0) {
    Rect rect;
    rect.rank = static_cast<std::uint8_t>(numbers.size() / 2);
    if (rect.rank > highest_rank) bug("a piece cannot be read");
    for (std::size_t axis = 0; axis < rect.rank; ++axis) {
      rect.lo[axis] = numbers[2 * axis];
      rect.hi[axis] = numbers[2 * axis + 1];
    }
    return rect;
  }
  std::vector<Run> runs;
  for (std::size_t i = first; i < numbers.size(); i += 2) runs.push_back({numbers[i], numbers[i + 1]});
  return {root, Intervals::of_sorted(std::move(runs))};
}

}  // namespace

Run share_of(std::int64_t things, const PieceSharing& sharing) {
  const Shares shares = shares_of(things, sharing);
  const auto self = static_cast<std::int64_t>(sharing.self());
  return {shares.begin(self), shares.begin(self + 1)};
}

std::size_t member_of(std::int64_t thing, std::int64_t things, const PieceSharing& sharing) {
  return static_cast<std::size_t>(shares_of(things, sharing).of(thing));
}

void each_share(Run run, std::int64_t things, const PieceSharing& sharing,
                FunctionRef<void(std::size_t member, Run part)> visit) {
  const Shares shares = shares_of(things, sharing);
  while (run.lo < run.hi) {
    const std::int64_t member = shares.of(run.lo), end = std::min(run.hi, shares.begin(member + 1));
    visit(static_cast<std::size_t>(member), Run{run.lo, end});
    run.lo = end;
  }
}

struct SharedTableForm::Kept {
  Rect root;
  Run colours, points;             // the own shares
  std::vector<IndexSpace> pieces;  // of the colours
  RunIndex index;                  // of the points

  Numbers answer(const Numbers& question) const {
    if (question.empty()) return {};
    if (question.front() == Asked::piece) {
      const std::int64_t colour = question.at(1);
      const bool is_own = colour >= colours.lo && colour < colours.hi;
      return is_own ? told(root, pieces[static_cast<std::size_t>(colour - colours.lo)]) : Numbers{0};
    }
    Numbers said;
    for (std::size_t i = 1; i + 1 < question.size(); i += 2)
      index.each_in(Intervals::of({{question[i], question[i + 1]}}), [&](const ColourRun& one) { put(said, one); });
    return said;
  }
};

SharedTableForm::SharedTableForm(const Rect& root, const Rect& colours, std::vector<IndexSpace> pieces,
                                 std::int64_t parent_size, const std::string& made_of,
                                 std::shared_ptr<PieceSharing> sharing)
    : root_(root), colours_(colours), sharing_(std::move(sharing)) {
  std::string told = made_of;
  put_rect(told, root);
  put_rect(told, colours);
  made_of_ = hash128(told);
  auto kept = std::make_shared<Kept>();
  kept->root = root;
  kept->colours = share_of(colours.size(), *sharing_);
  kept->points = share_of(root.size(), *sharing_);
  kept->pieces = std::move(pieces);
  if (static_cast<std::int64_t>(kept->pieces.size()) != kept->colours.size()) bug("a piece for each own colour");

  // What it is comes to the same whoever has which piece.
  Hash128 content;
  const Numbers header = {static_cast<std::int64_t>(made_of_.low), static_cast<std::int64_t>(made_of_.high)};
  std::vector<Numbers> runs(sharing_->members(), header);
  for (std::int64_t colour = kept->colours.lo; colour < kept->colours.hi; ++colour) {
    std::string key;
    put_signed(key, colour);
    kept->pieces[static_cast<std::size_t>(colour - kept->colours.lo)].runs(root, [&](Run run) {
      put_signed(key, run.lo);
      put_signed(key, run.hi);
      each_share(run, root.size(), *sharing_, [&](std::size_t member, Run part) { put(runs[member], {part, colour}); });
    });
    const Hash128 piece = hash128(key);
    content.low += piece.low;
    content.high += piece.high;
  }
  std::vector<ColourRun> found;
  for (const Numbers& heard : sharing_->exchange(std::move(runs)))
    if (heard.size() >= header.size() && std::equal(header.begin(), header.end(), heard.begin()))
      each_colour_run(std::span(heard).subspan(header.size()), [&](const ColourRun& one) { found.push_back(one); });
  // As a table has them: by where they begin, then by colour.
  std::ranges::sort(found, {}, [](const ColourRun& one) { return one.colour; });
  kept->index = RunIndex(std::move(found));
  known_ = Intervals::of({kept->points});

  const Numbers all = sharing_->sum({kept->index.elements(), kept->index.covered(),
                                     static_cast<std::int64_t>(content.low), static_cast<std::int64_t>(content.high)});
  disjoint_ = all[0] == all[1];
  complete_ = all[1] == parent_size;
  content_ = {static_cast<std::uint64_t>(all[2]), static_cast<std::uint64_t>(all[3])};
  near_ = kept->index;
  kept_ = std::move(kept);
  table_ = sharing_->serve([kept = kept_](const Numbers& question) { return kept->answer(question); });
}

SharedTableForm::~SharedTableForm() { sharing_->withdraw(table_); }

bool SharedTableForm::knows(const Point& colour) const {
  const std::int64_t number = colours_.linear(colour);
  return (number >= kept_->colours.lo && number < kept_->colours.hi) || given_.contains(number);
}

IndexSpace SharedTableForm::piece(const RegionForest&, const Point& colour) const {
  constexpr std::size_t most_runs = 4096;  // that others gave, or as many as are own
  const std::int64_t number = colours_.linear(colour);
  if (number >= kept_->colours.lo && number < kept_->colours.hi)
    return kept_->pieces[static_cast<std::size_t>(number - kept_->colours.lo)];
  if (const auto known = given_.find(number); known != given_.end()) return known->second;
  const std::size_t keeper = member_of(number, colours_.size(), *sharing_);
  IndexSpace given = piece_told(root_, sharing_->ask(table_, {{keeper, {Asked::piece, number}}}).front());
  if (given_runs_ > std::max(most_runs, kept_->index.runs().size())) {
    given_.clear();
    given_runs_ = 0;
  }
  given_runs_ += given.intervals().runs().size() + 1;
  return given_.emplace(number, std::move(given)).first->second;
}

// The runs of all pieces in these points; `once` has them where they are too many to be kept.
const RunIndex& SharedTableForm::near(const Intervals& points, RunIndex& once) const {
  constexpr std::int64_t most_shares = 4, least_kept = 4096;
  const Intervals wanted = points - known_;
  if (wanted.empty()) return near_;
  std::vector<Question> questions;
  for (const Run& run : wanted.runs())
    each_share(run, root_.size(), *sharing_, [&](std::size_t member, Run part) {
      if (questions.empty() || questions.back().member != member) questions.push_back({member, {Asked::points}});
      questions.back().text.insert(questions.back().text.end(), {part.lo, part.hi});
    });
  std::vector<ColourRun> runs(near_.runs().begin(), near_.runs().end());
  for (const Numbers& said : sharing_->ask(table_, std::move(questions)))
    each_colour_run(said, [&](const ColourRun& one) { runs.push_back(one); });
  Intervals all = known_ | wanted;
  if (all.size() > std::max(least_kept, most_shares * std::max<std::int64_t>(1, kept_->points.size()))) {
    once = RunIndex(std::move(runs));
    return once;
  }
  known_ = std::move(all);
  near_ = RunIndex(std::move(runs));
  return near_;
}

bool SharedTableForm::touching(const RegionForest&, const IndexSpace& points,
                               FunctionRef<bool(const Rect&)> visit) const {
  RunIndex once;
  std::vector<std::int64_t> found;
  const Intervals set = points.as_intervals(root_);
  near(set, once).each_in(set, [&](const ColourRun& one) { found.push_back(one.colour); });
  std::ranges::sort(found);
  found.erase(std::ranges::unique(found).begin(), found.end());
  return std::ranges::all_of(found, [&](std::int64_t colour) { return visit(Rect::at(colours_.point(colour))); });
}

void SharedTableForm::meeting(const RegionForest&, const Partition&, const IndexSpace& points, Meets visit) const {
  RunIndex once;
  const Intervals set = points.as_intervals(root_);
  std::vector<ColourRun> found;
  near(set, once).each_in(set, [&](const ColourRun& one) { found.push_back(one); });
  visit_by_colour(root_, colours_, std::move(found), visit);
}

void SharedTableForm::put_key(std::string& key, const RegionForest&) const {
  key += 's';
  put_hash(key, content_);
}

std::size_t SharedTableForm::bytes() const {
  std::size_t bytes = sizeof(*this) + kept_->pieces.capacity() * sizeof(IndexSpace) + kept_->index.bytes() +
                      near_.bytes() + known_.runs().size() * 24 + given_.size() * (sizeof(IndexSpace) + 48) +
                      given_runs_ * 24;
  for (const IndexSpace& piece : kept_->pieces) bytes += piece.intervals().runs().size() * 24;
  return bytes;
}

}  // namespace taskspec
