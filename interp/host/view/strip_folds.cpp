// An element that goes to its own place again with something added, at a point that a field names:
//
//   %3 = n[%2].f;  %4 = add(%3, %1);  n[%2].f = %4      ->      n[%2].f = add of that and %1, in program order
//
// Where nothing else in the turn looks at that field, it is a contribution, and the values of all points may be there
// before the first of them is added.
#include <algorithm>
#include <array>
#include <set>

#include "interp/host/view/lane_maker.hpp"

namespace taskspec {

namespace {

using Step = ViewStep::Kind;

bool writes(const ViewStep& s) { return s.kind == Step::store || s.kind == Step::fold; }

class FoldFinder {
 public:
  FoldFinder(const ViewCode& code, const ViewBlock& body) : code_(code), body_(body), uses_(code.values.size(), 0) {
    made_by_.resize(code.values.size(), nullptr);
    for (const ViewStep& s : body) {
      for (ViewValue value : s.outs) made_by_[value.index()] = &s;
      for (ViewValue value : s.in) ++uses_[value.index()];
      if (writes(s)) written_.insert({s.view, s.field});
    }
  }

  // All that is done to this field, or nothing where some of that is no fold.
  std::optional<ViewBlock> folded(std::uint32_t view, std::uint32_t field) const {
    std::set<const ViewStep*> gone;
    ViewBlock made;
    std::size_t accesses = 0;
    for (const ViewStep& s : body_) {
      const bool mine = s.view == view && s.field == field;
      accesses += mine && (writes(s) || s.kind == Step::read || s.kind == Step::read_at);
      if (!mine || s.kind != Step::store) continue;
      const ViewStep* op = made_by_[s.in.back().index()];
      const ViewStep* old = op && is_fold(*op, s) ? made_by_[op->in[0].index()] : nullptr;
      if (!old || !is_its_read(*old, s) || is_written_between(*old, s)) return std::nullopt;
      gone.insert({op, old});
    }
    for (const ViewStep& s : body_) {
      if (gone.contains(&s)) continue;
      made.push_back(s);
      if (s.kind != Step::store || s.view != view || s.field != field) continue;
      const ViewStep& op = *made_by_[s.in.back().index()];
      made.back().kind = Step::fold;
      made.back().op = op.op;
      made.back().in.back() = op.in[1];
    }
    const auto left = std::ranges::count_if(
        made, [&](const ViewStep& s) { return s.view == view && s.field == field && s.kind == Step::fold; });
    return accesses == static_cast<std::size_t>(left) + gone.size() / 2 ? std::optional(made) : std::nullopt;
  }

 private:
  // Of two elements as wide as the field; what is there is the left one.
  bool is_fold(const ViewStep& op, const ViewStep& store) const {
    if (op.kind != Step::op || op.in.size() != 2 || op.in[0] == op.in[1] || uses_[op.out().index()] != 1) return false;
    if (op.op->operands.size() != 2 || op.op->sharing != Sharing::in_place) return false;
    const Precision precision = code_.views[store.view].fields[store.field].precision;
    return std::ranges::all_of(std::array{op.in[0], op.in[1], op.out()}, [&](ViewValue value) {
      const ViewCode::Item& item = code_[value];
      return item.precision == precision && item.kind == ViewCode::Item::Kind::element && !item.variable;
    });
  }

  bool is_its_read(const ViewStep& read, const ViewStep& store) const {
    if (read.kind != Step::read || read.view != store.view || read.field != store.field) return false;
    if (uses_[read.out().index()] != 1) return false;
    for (std::size_t axis = 0; axis < read.in.size(); ++axis)
      if (!same(read.in[axis], store.in[axis])) return false;
    return true;
  }

  bool is_written_between(const ViewStep& read, const ViewStep& store) const {
    return std::any_of(&read, &store,
                       [&](const ViewStep& s) { return writes(s) && s.view == store.view && s.field == store.field; });
  }

  // Certainly: the same place may be worked out twice, `n[w[i].a].f = max(n[w[i].a].f, e)`.
  bool same(ViewValue a, ViewValue b) const {
    if (code_[a].variable || code_[b].variable) return false;
    if (a == b) return true;
    const ViewStep *x = made_by_[a.index()], *y = made_by_[b.index()];
    if (!x || !y) return constant(a) && constant(a) == constant(b);
    if (x->kind != y->kind || x->in.size() != y->in.size()) return false;
    if (x->kind == Step::read) {
      if (x->view != y->view || x->field != y->field || written_.contains({x->view, x->field})) return false;
    } else if (x->kind != Step::number || x->op != y->op || x->in.size() != x->op->operands.size()) {
      return false;
    }
    for (std::size_t k = 0; k < x->in.size(); ++k)
      if (!same(x->in[k], y->in[k])) return false;
    return true;
  }

  std::optional<std::int64_t> constant(ViewValue value) const {
    for (const auto& [known, array] : code_.constants)
      if (known == value && array.precision() == Precision::i64) return array.integer(0);
    return std::nullopt;
  }

  const ViewCode& code_;
  const ViewBlock& body_;
  std::vector<const ViewStep*> made_by_;  // by value: in the turn
  std::vector<std::uint32_t> uses_;       // by value: in the turn
  std::set<std::pair<std::uint32_t, std::uint32_t>> written_;
};

}  // namespace

std::optional<ViewStep> with_folds(const ViewCode& code, const ViewStep& loop, std::uint32_t view,
                                   std::uint32_t field) {
  std::optional<ViewBlock> body = FoldFinder(code, loop.blocks[0]).folded(view, field);
  if (!body) return std::nullopt;
  ViewStep made = loop;
  made.blocks[0] = *std::move(body);
  return made;
}

}  // namespace taskspec
