// Random programs for the movement of data: launches, and what every shard writes, gathers or collects by itself; and
// what one memory has before each step when all points run one after another.
#pragma once
#include <cmath>
#include <cstring>
#include <map>

#include "interp/host/fold.hpp"
#include "interp/shards/data/data_state.hpp"
#include "interp/shards/data/pack.hpp"
#include "tests/shards/random_programs.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec {

struct DataStep {
  enum class Kind : std::uint8_t { launch, everywhere, fill, gather, collect, total } kind = Kind::launch;
  Operation op{};  // launch
  Space space{};   // the others
  std::uint32_t field = 0;
  ShardId to{};
  ReduceOp fold{};  // total
};

using LaneNumbers = std::pair<std::uint32_t, std::uint32_t>;  // root, field
using Memory = std::map<LaneNumbers, Bytes>;

inline Precision precision_of(LaneNumbers lane, std::uint64_t seed) {
  constexpr Precision all[] = {Precision::f64, Precision::f32, Precision::i32};
  return all[(lane.first * 2 + lane.second + seed) % 3];
}

// Numbers whose sums depend on the order of adding.
inline double noise(std::uint64_t a, std::uint64_t b, std::uint64_t c) {
  std::mt19937_64 random(a * 1'000'003 + b * 1009 + c);
  return static_cast<double>(between(random, -1'000'000, 1'000'000)) *
         std::pow(2.0, static_cast<double>(between(random, -9, 9)));
}

inline void put_number(std::byte* at, Precision precision, double number) {
  auto put = [&](auto value) { std::memcpy(at, &value, sizeof value); };
  if (precision == Precision::f64) return put(number);
  if (precision == Precision::f32) return put(static_cast<float>(number));
  put(static_cast<std::int32_t>(std::fmod(number, 1e9)));
}

class DataProgram {
 public:
  // `exact`: of 1 and -1 alone, whatever is made of them is exact in any order.
  DataProgram(std::uint64_t seed, std::size_t count, bool exact = false)
      : grown(seed), shards(1 + seed % 8), seed_(seed), exact_(exact) {
    for (int i = 0; i < 6; ++i) grown.grow();
    if (grown.nodes.empty()) return;
    for (Operation& op : random_program(grown, count)) {
      for (LaunchUse& use : op.uses) use.op = static_cast<ReduceOp>(grown.number(0, 3));
      if (conflict(grown.forest, op.domain, op.uses) || contributes_twice(op)) continue;
      steps.push_back({.op = std::move(op)});
      if (grown.number(0, 3) == 0) {
        DataStep step;
        step.kind = static_cast<DataStep::Kind>(grown.number(1, 5));
        step.space = grown.spaces[grown.pick(grown.spaces.size())].first;
        step.field = static_cast<std::uint32_t>(grown.number(0, 1));
        step.to = ShardId(grown.pick(shards));
        step.fold = static_cast<ReduceOp>(grown.number(0, 3));
        steps.push_back(std::move(step));
      }
    }
    for (DataStep& step : steps) step.op.number = static_cast<std::uint64_t>(&step - steps.data()) + 1;
  }

  Precision precision(LaneKey lane) const { return precision_of({lane.root.value, lane.field}, seed_); }
  std::size_t width(LaneKey lane) const { return info(precision(lane)).bytes; }
  std::int64_t elements(RegionId root) const { return grown.forest[root].extents.size(); }
  Memory zeros() const {
    Memory memory;
    for (std::uint32_t root = 0; root < 2; ++root)
      for (std::uint32_t field = 0; field < 2; ++field)
        memory[{root, field}].resize(static_cast<std::size_t>(elements(RegionId(root))) *
                                     width({RegionId(root), field}));
    return memory;
  }
  static Bytes& at(Memory& memory, LaneKey lane) { return memory.at({lane.root.value, lane.field}); }

  template <class Visit>
  static void each_lane(const LaunchUse& use, Visit visit) {
    use.fields.each([&](std::uint32_t field) { visit(LaneKey{use.space.root, field}); });
  }
  void each_element(const Space& space, FunctionRef<void(std::int64_t)> visit) const {
    grown.forest.points(space).runs(grown.forest.root(space), [&](Run run) {
      for (std::int64_t i = run.lo; i < run.hi; ++i) visit(i);
    });
  }

  // What the point of a launch does to a use that it writes, and to a field that is written by all.
  void write(Memory& memory, LaneKey lane, const Space& space, Privilege privilege, std::uint64_t number) const {
    Bytes& bytes = at(memory, lane);
    each_element(space, [&](std::int64_t element) {
      std::byte* to = bytes.data() + static_cast<std::size_t>(element) * width(lane);
      Bytes made(width(lane));
      put_number(made.data(), precision(lane), made_of(number, lane.field, static_cast<std::uint64_t>(element)));
      if (privilege == Privilege::inout)
        fold_of(precision(lane), ReduceOp::sum).into(to, made.data(), 1);
      else
        std::copy(made.begin(), made.end(), to);
    });
  }
  // What the step of that number fills a field with.
  Bytes filled(LaneKey lane, std::uint64_t number) const {
    Bytes made(width(lane));
    put_number(made.data(), precision(lane), made_of(number, lane.field, 5));
    return made;
  }
  void fill(Memory& memory, LaneKey lane, const Run& run, std::uint64_t number) const {
    const Bytes element = filled(lane, number);
    for (std::int64_t i = run.lo; i < run.hi; ++i)
      std::copy(element.begin(), element.end(), at(memory, lane).data() + static_cast<std::size_t>(i) * element.size());
  }
  // What a point contributes, in memory of its piece.
  Bytes contribution(LaneKey lane, const Space& space, ReduceOp op, std::uint64_t number, std::int64_t point) const {
    const IndexSpace piece = grown.forest.points(space);
    const Rect& root = grown.forest.root(space);
    const PieceMemory memory = PieceMemory::own(piece);
    const auto count = static_cast<std::size_t>(memory.elements());
    Bytes made(count * width(lane));
    const Fold fold = fold_of(precision(lane), op);
    fold.clear(made.data(), count);
    each_element(space, [&](std::int64_t element) {
      Bytes one(width(lane));
      put_number(one.data(), precision(lane),
                 made_of(number + 77, static_cast<std::uint64_t>(point), static_cast<std::uint64_t>(element)));
      fold.into(made.data() + static_cast<std::size_t>(memory.place(root, root.point(element))) * width(lane),
                one.data(), 1);
    });
    return made;
  }

  // One memory, all points in order: what it has before each step.
  std::vector<Memory> in_order() const {
    std::vector<Memory> before;
    Memory memory = zeros();
    for (const DataStep& step : steps) {
      before.push_back(memory);
      if (step.kind == DataStep::Kind::everywhere)
        write(memory, {step.space.root, step.field}, step.space, Privilege::out, step.op.number);
      if (step.kind == DataStep::Kind::fill)
        each_element(step.space, [&](std::int64_t element) {
          fill(memory, {step.space.root, step.field}, {element, element + 1}, step.op.number);
        });
      if (step.kind != DataStep::Kind::launch) continue;
      for (const bool folds : {false, true})
        for (std::int64_t point = 0; point < step.op.domain.size(); ++point)
          for (const LaunchUse& use : step.op.uses)
            if (use.privilege != Privilege::in && folds == (use.privilege == Privilege::reduce))
              each_lane(use, [&](LaneKey lane) {
                const Space space = use.at(step.op.domain.point(point));
                if (!folds) return write(memory, lane, space, use.privilege, step.op.number);
                fold_in(memory, lane, space, use.op, contribution(lane, space, use.op, step.op.number, point));
              });
    }
    return before;
  }

  GrownForest grown;
  std::size_t shards;
  std::vector<DataStep> steps;

 private:
  double made_of(std::uint64_t a, std::uint64_t b, std::uint64_t c) const {
    const double made = noise(a, b, c);
    return !exact_ ? made : made < 0 ? -1 : 1;
  }
  static bool contributes_twice(const Operation& op) {
    for (const LaunchUse& a : op.uses)
      for (const LaunchUse& b : op.uses)
        if (&a != &b && a.privilege == Privilege::reduce && b.privilege == Privilege::reduce &&
            a.space.root == b.space.root && a.fields.meets(b.fields))
          return true;
    return false;
  }
  void fold_in(Memory& memory, LaneKey lane, const Space& space, ReduceOp op, const Bytes& buffer) const {
    const IndexSpace piece = grown.forest.points(space);
    const Rect& root = grown.forest.root(space);
    const PieceMemory own = PieceMemory::own(piece);
    each_element(space, [&](std::int64_t element) {
      fold_of(precision(lane), op)
          .into(at(memory, lane).data() + static_cast<std::size_t>(element) * width(lane),
                buffer.data() + static_cast<std::size_t>(own.place(root, root.point(element))) * width(lane), 1);
    });
  }
  std::uint64_t seed_;
  bool exact_;
};

}  // namespace taskspec
