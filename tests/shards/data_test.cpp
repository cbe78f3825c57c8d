// What moves between shards, on real bytes: whatever a point reads is what one memory would have had there, bit for
// bit; nothing is sent to whom has it; and planted faults are seen.
#include <doctest/doctest.h>

#include <atomic>
#include <cmath>
#include <set>

#include "interp/host/root_tree.hpp"
#include "tests/shards/data_programs.hpp"
#include "tests/shards/networks.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::data_test {

namespace {

constexpr std::size_t steps = 14;

struct Shard {
  Shard(DataProgram& program, Transport& transport, DataState::Folds folds)
      : program(program),
        collectives(transport),
        port(collectives),
        state(program.grown.forest, keys, transport.shards(), transport.self(), DataState::Plans::own, folds),
        memory(program.zeros()) {}

  const DataProgram& program;
  Collectives collectives;
  DataPort port;
  KeyTable keys;
  DataState state;
  Memory memory;
  std::size_t wrong = 0;  // elements that a reader saw otherwise
  std::size_t moves = 0;

  void run(const DataStep& step, Memory before) {
    const LaneKey lane{step.space.root, step.field};
    switch (step.kind) {
      case DataStep::Kind::launch:
        return launch(step.op, before);
      case DataStep::Kind::everywhere:
        program.write(memory, lane, step.space, Privilege::out, step.op.number);
        return state.everywhere(lane, step.space);
      case DataStep::Kind::fill:  // nothing is written yet
        return state.fill(lane, step.space, Value(static_cast<std::int64_t>(step.op.number)));
      case DataStep::Kind::gather:
        move(lane, state.gather(lane, step.space));
        return check(lane, step.space, before);
      case DataStep::Kind::collect:
        move(lane, state.collect(lane, step.space, step.to));
        if (step.to == port.self()) check(lane, step.space, before);
        return;
      case DataStep::Kind::total:
        return total(step, lane, before);
    }
  }

 private:
  void total(const DataStep& step, LaneKey lane, Memory& before) {
    const Precision precision = program.precision(lane);
    Bytes told(program.width(lane)), wanted(told.size());
    fill(lane, state.fills(lane, step.space));
    add_up(port, *state.total(lane, step.space), step.fold, precision, DataProgram::at(memory, lane).data(), nullptr,
           told.data(), [] {});
    RootTree tree(step.fold, precision);
    program.each_element(step.space, [&](std::int64_t element) {
      tree.add(element, DataProgram::at(before, lane).data() + static_cast<std::size_t>(element) * told.size(), 1);
    });
    tree.finish(precision, wanted.data());
    wrong += told != wanted;
  }
  // Every second time in memory that has nothing but the elements that move.
  void in_memory(const std::vector<LaneKey>& lanes, const Intervals& moved,
                 FunctionRef<void(std::span<std::byte* const>, const PackedPlaces*)> run) {
    std::vector<std::byte*> bases;
    if (moved.empty() || ++moves_in_memory % 2 == 0) {
      for (const LaneKey lane : lanes) bases.push_back(DataProgram::at(memory, lane).data());
      return run(bases, nullptr);
    }
    const PackedPlaces packed(moved);
    std::vector<Bytes> own;
    const auto each_run = [&](bool back) {
      for (std::size_t i = 0; i < lanes.size(); ++i) {
        const auto width = static_cast<std::int64_t>(program.width(lanes[i]));
        Bytes& all = DataProgram::at(memory, lanes[i]);
        for (const Run& run : moved.runs()) {
          const auto at = all.begin() + run.lo * width, there = own[i].begin() + packed.place(run.lo) * width;
          back ? std::copy_n(there, run.size() * width, at) : std::copy_n(at, run.size() * width, there);
        }
      }
    };
    for (const LaneKey lane : lanes) own.emplace_back(static_cast<std::size_t>(moved.size()) * program.width(lane));
    for (Bytes& bytes : own) bases.push_back(bytes.data());
    each_run(false);
    run(bases, &packed);
    each_run(true);
  }
  std::size_t moves_in_memory = 0;
  void fill(LaneKey lane, const std::shared_ptr<const Movement>& movement) {
    if (!movement) return;
    for (const Movement::Fill& fill : movement->fills)
      for (const Run& run : fill.runs.runs())
        program.fill(memory, lane, run, static_cast<std::uint64_t>(state.contents(lane, fill.number).integer()));
  }
  void move(LaneKey lane, const std::shared_ptr<const Movement>& movement) {
    move(std::vector{lane}, std::vector{movement});
  }
  void move(const std::vector<LaneKey>& lanes, const std::vector<std::shared_ptr<const Movement>>& movements) {
    std::vector<const Movement*> fields;
    std::vector<std::size_t> widths;
    Intervals moved;
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      fill(lanes[i], movements[i]);
      fields.push_back(movements[i].get());
      widths.push_back(program.width(lanes[i]));
      if (!movements[i]) continue;
      for (const auto* parts : {&movements[i]->send, &movements[i]->receive})
        for (const Movement::Part& part : *parts) moved = moved | part.runs;
    }
    const Packing packing(fields, widths);
    in_memory(lanes, moved, [&](std::span<std::byte* const> bases, const PackedPlaces* packed) {
      BoundPacking bound(packing, port, bases, packed);
      const std::vector<const std::byte*> from(bases.begin(), bases.end());
      // Either end may be bound.
      moves % 2 == 0 ? bound.send() : packing.send(port, from, packed);
      (moves + port.self().index()) % 3 == 0 ? bound.receive([] {}) : packing.receive(port, bases, packed, [] {});
    });
    ++moves;
  }
  void check(LaneKey lane, const Space& space, Memory& before) {
    const std::size_t width = program.width(lane);
    program.each_element(space, [&](std::int64_t element) {
      const std::size_t at = static_cast<std::size_t>(element) * width;
      wrong +=
          std::memcmp(DataProgram::at(memory, lane).data() + at, DataProgram::at(before, lane).data() + at, width) != 0;
    });
  }
  void launch(const Operation& op, Memory& before) {
    const OwnPoints own = own_points(op.sharding, op.domain.size(), port.shards(), port.self());
    for (const LaunchUse& use : op.uses) {
      if (use.privilege != Privilege::in && use.privilege != Privilege::inout) continue;
      std::vector<LaneKey> lanes;
      std::vector<std::shared_ptr<const Movement>> movements;
      DataProgram::each_lane(use, [&](LaneKey lane) {
        lanes.push_back(lane);
        movements.push_back(state.read(lane, keys.of(op, use)));
      });
      move(lanes, movements);
      for (std::int64_t i = 0; i < own.count(); ++i)
        for (const LaneKey lane : lanes) check(lane, use.at(op.domain.point(own[i])), before);
    }
    for (const LaunchUse& use : op.uses)
      if (use.privilege == Privilege::out || use.privilege == Privilege::inout)
        DataProgram::each_lane(use, [&](LaneKey lane) {
          for (std::int64_t i = 0; i < own.count(); ++i)
            program.write(memory, lane, use.at(op.domain.point(own[i])), use.privilege, op.number);
          state.write(lane, keys.of(op, use));
        });
    for (const LaunchUse& use : op.uses)
      if (use.privilege == Privilege::reduce) contribute(op, use, own);
  }
  void contribute(const Operation& op, const LaunchUse& use, const OwnPoints& own) {
    std::vector<LaneKey> lanes;
    std::vector<std::shared_ptr<const FoldMovement>> movements;
    std::vector<const FoldMovement*> fields;
    std::vector<Precision> precisions;
    Intervals folded;
    std::map<std::pair<std::size_t, std::int64_t>, Bytes> buffers;
    std::map<std::int64_t, IndexSpace> pieces;
    DataProgram::each_lane(use, [&](LaneKey lane) {
      for (std::int64_t i = 0; i < own.count(); ++i) {
        const Space space = use.at(op.domain.point(own[i]));
        pieces[own[i]] = program.grown.forest.points(space);
        buffers[{lanes.size(), own[i]}] = program.contribution(lane, space, use.op, op.number, own[i]);
      }
      lanes.push_back(lane);
      fill(lane, state.fills(lane, bound(program.grown.forest, use)));
      movements.push_back(state.reduce(lane, keys.of(op, use)));
      fields.push_back(movements.back().get());
      for (std::size_t k = 0; fields.back() && k < fields.back()->steps.size(); ++k)
        folded = folded | fields.back()->steps[k].runs;
      precisions.push_back(program.precision(lane));
    });
    auto buffer = [&](std::size_t field, std::int64_t point) {
      return OwnBuffer{buffers.at({field, point}).data(), &pieces.at(point)};
    };
    const Rect& root = program.grown.forest.root(use.space);
    send_contributions(port, fields, precisions, use.op, root, buffer);
    in_memory(lanes, folded, [&](std::span<std::byte* const> bases, const PackedPlaces* packed) {
      fold_contributions(port, fields, bases, packed, precisions, use.op, root, buffer, [] {});
    });
  }
};

std::size_t wrong_elements(const DataProgram& program, const std::vector<Memory>& before, std::uint64_t seed,
                           bool is_hostile, DataState::Folds folds = DataState::Folds::points) {
  auto run = [&](Transport& transport) {
    // A forest is asked by one thread.
    DataProgram replica(seed, steps, folds == DataState::Folds::shard);
    Shard shard(replica, transport, folds);
    for (std::size_t i = 0; i < replica.steps.size(); ++i) shard.run(replica.steps[i], before[i]);
    Bytes wrong;
    ByteWriter(wrong).put(shard.wrong);
    return wrong;
  };
  std::size_t sum = 0;
  for (const Bytes& wrong : is_hostile ? run_hostile(program.shards, seed, run) : run_in_threads(program.shards, run))
    sum += ByteReader(wrong).get<std::size_t>();
  return sum;
}

// ---- nothing is sent in vain ----------------------------------------------------------------------

// Which change of each element a shard has, by element.
class Versions {
 public:
  Versions(const DataProgram& program) : program_(program) {
    for (std::uint32_t root = 0; root < 2; ++root)
      for (std::uint32_t field = 0; field < 2; ++field)
        for (auto* of : {&newest_, &home_})
          (*of)[{root, field}].resize(static_cast<std::size_t>(program.elements(RegionId(root))));
    has_.assign(program.shards, newest_);
  }
  void move(LaneKey lane, std::span<const std::shared_ptr<const Movement>> of_shards) {
    const LaneNumbers key{lane.root.value, lane.field};
    for (std::size_t to = 0; to < of_shards.size(); ++to) {
      if (!of_shards[to]) continue;
      for (const Movement::Fill& fill : of_shards[to]->fills)
        each(fill.runs, [&](std::size_t i) {
          in_vain += has_[to][key][i] == newest_[key][i];
          has_[to][key][i] = newest_[key][i];
        });
      for (const Movement::Part& part : of_shards[to]->receive) {
        each(part.runs, [&](std::size_t i) {
          in_vain += has_[to][key][i] == newest_[key][i];
          stale += has_[part.peer.index()][key][i] != newest_[key][i];
          has_[to][key][i] = newest_[key][i];
        });
        matched += is_sent(of_shards[part.peer.index()].get(), to, part);
        ++parts;
      }
      sent += of_shards[to]->send.size();
    }
  }
  void fold(LaneKey lane, std::span<const std::shared_ptr<const FoldMovement>> of_shards) {
    const LaneNumbers key{lane.root.value, lane.field};
    std::map<std::size_t, std::size_t> homes;
    for (std::size_t to = 0; to < of_shards.size(); ++to)
      if (of_shards[to])
        for (const FoldMovement::Step& step : of_shards[to]->steps)
          each(step.runs, [&](std::size_t i) {
            stale += !homes.contains(i) && has_[to][key][i] != newest_[key][i] && !filled_.contains({to, i});
            two_homes += !homes.emplace(i, to).second && homes[i] != to;
          });
    for (const auto& [element, home] : homes) has_[home][key][element] = ++newest_[key][element];
    filled_.clear();
  }
  // What homes fill in before contributions. A lane does not keep in mind who has it, it may be filled in again.
  void fill_in(std::span<const std::shared_ptr<const Movement>> of_shards) {
    for (std::size_t to = 0; to < of_shards.size(); ++to)
      if (of_shards[to])
        for (const Movement::Fill& fill : of_shards[to]->fills)
          each(fill.runs, [&](std::size_t i) { filled_.emplace(to, i); });
  }
  void write(LaneKey lane, const Space& space, std::size_t shard, bool everywhere) {
    const LaneNumbers key{lane.root.value, lane.field};
    program_.each_element(space, [&](std::int64_t element) {
      const auto i = static_cast<std::size_t>(element);
      ++newest_[key][i];
      for (std::size_t to = 0; to < has_.size(); ++to)
        if (everywhere || to == shard) has_[to][key][i] = newest_[key][i];
    });
  }

  // No shard has it yet.
  void fill(LaneKey lane, const Space& space) {
    program_.each_element(space, [&](std::int64_t i) {
      ++newest_[{lane.root.value, lane.field}][static_cast<std::size_t>(i)];
    });
  }

  std::size_t in_vain = 0, stale = 0, two_homes = 0, parts = 0, sent = 0, matched = 0;

 private:
  static void each(const Intervals& runs, FunctionRef<void(std::size_t)> visit) {
    for (const Run& run : runs.runs())
      for (std::int64_t i = run.lo; i < run.hi; ++i) visit(static_cast<std::size_t>(i));
  }
  static bool is_sent(const Movement* from, std::size_t to, const Movement::Part& part) {
    if (!from) return false;
    for (const Movement::Part& sent : from->send)
      if (sent.peer.index() == to) return sent.runs == part.runs && sent.mark == part.mark;
    return false;
  }
  const DataProgram& program_;
  std::map<LaneNumbers, std::vector<std::uint64_t>> newest_, home_;
  std::set<std::pair<std::size_t, std::size_t>> filled_;  // shard and element, of the contributions that follow
  std::vector<std::map<LaneNumbers, std::vector<std::uint64_t>>> has_;
};

bool is_same(const Movement* a, const Movement* b) {
  if (!a || !b) return !a && !b;
  auto same = [](const std::vector<Movement::Part>& x, const std::vector<Movement::Part>& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const Movement::Part& p, const Movement::Part& q) {
      return p.peer == q.peer && p.runs == q.runs;
    });
  };
  return (a->id == b->id || !a->fills.empty()) && same(a->send, b->send) && same(a->receive, b->receive);
}
bool is_same(const FoldMovement* a, const FoldMovement* b) {
  if (!a || !b) return !a && !b;
  return a->id == b->id && a->receive_from == b->receive_from && a->steps.size() == b->steps.size() &&
         a->send.size() == b->send.size();
}
bool is_same(const TotalShare* a, const TotalShare* b) { return a->id() == b->id() && a->parts() == b->parts(); }

struct Judged {
  Judged(DataProgram& program, DataState::Folds folds) : versions(program) {
    for (std::size_t shard = 0; shard < program.shards; ++shard)
      for (auto* states : {&own, &all})
        states->push_back(std::make_unique<DataState>(program.grown.forest, keys, program.shards, ShardId(shard),
                                                      states == &own ? DataState::Plans::own : DataState::Plans::all,
                                                      folds));
  }
  template <class Decide>
  auto decide(LaneKey lane, Decide decide) {
    std::vector<decltype(decide(*own[0]))> made;
    for (std::size_t shard = 0; shard < own.size(); ++shard) {
      made.push_back(decide(*own[shard]));
      const auto judge = decide(*all[shard]);
      unlike += !is_same(made.back().get(), judge.get());
      if constexpr (requires { judge->fills; })
        unlike += fills_by_contents(lane, *own[shard], made.back().get()) !=
                  fills_by_contents(lane, *all[shard], judge.get());
    }
    return made;
  }
  auto fills(LaneKey lane, const Space& space) {
    return decide(lane, [&](DataState& state) { return state.fills(lane, space); });
  }
  // The two may number fills otherwise.
  using Fills = std::map<std::int64_t, std::vector<std::pair<std::int64_t, std::int64_t>>>;
  static Fills fills_by_contents(LaneKey lane, DataState& state, const Movement* movement) {
    Fills by_contents;
    if (movement)
      for (const Movement::Fill& fill : movement->fills)
        for (const Run& run : fill.runs.runs())
          by_contents[state.contents(lane, fill.number).integer()].emplace_back(run.lo, run.hi);
    return by_contents;
  }
  void each(const std::function<void(DataState&)>& visit) {
    for (auto* states : {&own, &all})
      for (auto& state : *states) visit(*state);
  }
  void run(const DataStep& step, const DataProgram& program) {
    const LaneKey lane{step.space.root, step.field};
    if (step.kind == DataStep::Kind::gather)
      return versions.move(lane, decide(lane, [&](DataState& state) { return state.gather(lane, step.space); }));
    if (step.kind == DataStep::Kind::collect)
      return versions.move(lane,
                           decide(lane, [&](DataState& state) { return state.collect(lane, step.space, step.to); }));
    if (step.kind == DataStep::Kind::total) {
      (void)fills(lane, step.space);
      return void(decide(lane, [&](DataState& state) { return state.total(lane, step.space); }));
    }
    if (step.kind == DataStep::Kind::fill) {
      versions.fill(lane, step.space);
      return each(
          [&](DataState& state) { state.fill(lane, step.space, Value(static_cast<std::int64_t>(step.op.number))); });
    }
    if (step.kind == DataStep::Kind::everywhere) {
      versions.write(lane, step.space, 0, true);
      return each([&](DataState& state) { state.everywhere(lane, step.space); });
    }
    const Operation& op = step.op;
    auto each_use = [&](std::initializer_list<Privilege> privileges, auto visit) {
      for (const LaunchUse& use : op.uses)
        if (std::find(privileges.begin(), privileges.end(), use.privilege) != privileges.end())
          DataProgram::each_lane(use, [&](LaneKey lane) { visit(lane, use, keys.of(op, use)); });
    };
    each_use({Privilege::in, Privilege::inout}, [&](LaneKey lane, const LaunchUse&, KeyId key) {
      versions.move(lane, decide(lane, [&](DataState& state) { return state.read(lane, key); }));
    });
    each_use({Privilege::out, Privilege::inout}, [&](LaneKey lane, const LaunchUse& use, KeyId key) {
      for (std::int64_t point = 0; point < op.domain.size(); ++point)
        versions.write(lane, use.at(op.domain.point(point)),
                       op.sharding.shard(point, op.domain.size(), program.shards).index(), false);
      each([&](DataState& state) { state.write(lane, key); });
    });
    each_use({Privilege::reduce}, [&](LaneKey lane, const LaunchUse& use, KeyId key) {
      versions.fill_in(fills(lane, bound(program.grown.forest, use)));
      versions.fold(lane, decide(lane, [&](DataState& state) { return state.reduce(lane, key); }));
    });
  }

  KeyTable keys;
  std::vector<std::unique_ptr<DataState>> own, all;
  Versions versions;
  std::size_t unlike = 0;
};

}  // namespace

TEST_CASE("[data] whatever a point reads is what one memory has, bit for bit, over threads and unkind transports") {
  for (const std::uint64_t seed : random_seeds(500, 10'000)) {
    CAPTURE(seed);
    const DataProgram program(seed, steps);
    const std::vector<Memory> before = program.in_order();
    CHECK(wrong_elements(program, before, seed, seed % 4 != 0) == 0);
  }
}

TEST_CASE("[data] contributions that each shard adds up first come to the same, where no order matters") {
  for (const std::uint64_t seed : random_seeds(500, 10'000)) {
    CAPTURE(seed);
    const DataProgram program(seed, steps, true);
    const std::vector<Memory> before = program.in_order();
    CHECK(wrong_elements(program, before, seed, seed % 4 != 0, DataState::Folds::shard) == 0);
  }
}

TEST_CASE("[data] nothing is sent to whom has it, both ends mean the same, and the judge's plans are equal") {
  std::size_t parts = 0, forgotten = 0;
  for (const std::uint64_t seed : random_seeds(500, 10'000)) {
    CAPTURE(seed);
    DataProgram program(seed, steps);
    if (program.steps.empty()) continue;
    Judged judged(program, seed % 2 ? DataState::Folds::shard : DataState::Folds::points);
    for (const DataStep& step : program.steps) {
      judged.run(step, program);
      if (seed % 3 || step.kind == DataStep::Kind::launch) continue;
      // A partition may go at any time: what is known by its pieces stays known.
      const PartitionId gone = program.grown.nodes[(seed + step.op.number) % program.grown.nodes.size()].id;
      for (auto& state : judged.own) state->forget(gone);
      ++forgotten;
    }
    CHECK(judged.versions.in_vain == 0);
    CHECK(judged.versions.stale == 0);
    CHECK(judged.versions.two_homes == 0);
    CHECK(judged.versions.matched == judged.versions.parts);
    CHECK(judged.versions.sent == judged.versions.parts);
    CHECK(judged.unlike == 0);
    parts += judged.versions.parts;
  }
  CHECK(parts > 1000);
  CHECK(forgotten > 100);
}

TEST_CASE("[data] contents arrive in the order in which they were sent, whatever overtakes what") {
  std::atomic<std::size_t> wrong = 0;
  (void)run_hostile(4, random_seed(), [&](Transport& transport) {
    Collectives collectives(transport);
    DataPort port(collectives);
    for (std::uint64_t i = 0; i < 50; ++i)
      for (std::size_t to = 0; to < 4; ++to) {
        Bytes bytes;
        ByteWriter(bytes).put(i * 4 + port.self().index());
        if (ShardId(to) != port.self()) port.send(ShardId(to), bytes, static_cast<std::uint32_t>(i) << 15);
      }
    for (std::uint64_t i = 0; i < 50; ++i)
      for (std::size_t from = 0; from < 4; ++from) {
        if (ShardId(from) == port.self()) continue;
        const Bytes come = port.wait(
            ShardId(from), [] {}, static_cast<std::uint32_t>(i) << 15);
        wrong += ByteReader(come).get<std::uint64_t>() != i * 4 + from;
      }
    CHECK(port.counts().messages == 150);
    CHECK(port.counts().bytes == 1200);
    return Bytes();
  });
  CHECK(wrong == 0);
}

}  // namespace taskspec::data_test
