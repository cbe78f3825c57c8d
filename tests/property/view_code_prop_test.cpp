// Bodies over views, strips and scalar code, against an interpreter of single steps that is written apart.
#include <doctest/doctest.h>

#include "stdlib/ops.hpp"
#include "tests/unit/random_cases.hpp"
#include "tests/unit/view_oracle.hpp"

namespace taskspec::view_code_prop_test {

namespace {

using Step = ViewStep;
using Kind = ViewStep::Kind;
using Item = ViewCode::Item;

// ---- data -----------------------------------------------------------------------------------------

struct Data {  // of one region
  Rect root;
  std::vector<Precision> precisions;
  std::vector<std::vector<std::byte>> fields;

  Data(const Rect& extents, std::vector<Precision> of) : root(extents), precisions(std::move(of)) {
    for (Precision p : precisions) fields.emplace_back(static_cast<std::size_t>(root.size()) * info(p).bytes);
  }
  std::vector<ViewField> bases() {
    std::vector<ViewField> all;
    for (std::vector<std::byte>& field : fields) all.push_back({field.data()});
    return all;
  }
};

void fill(Data& data, std::mt19937_64& random, std::int64_t places) {
  for (std::size_t f = 0; f < data.fields.size(); ++f)
    for (std::int64_t i = 0; i < data.root.size(); ++i) {
      std::byte* to = data.fields[f].data() + i * info(data.precisions[f]).bytes;
      const std::int64_t integer = between(random, 0, places - 1);
      const double real = static_cast<double>(between(random, -1000, 1000)) / 7;  // so that the order of sums shows
      if (data.precisions[f] == Precision::f64) std::memcpy(to, &real, 8);
      if (data.precisions[f] == Precision::i64) std::memcpy(to, &integer, 8);
    }
}

IndexSpace random_points(std::mt19937_64& random, const Rect& root) {
  Rect rect = root;
  for (std::size_t axis = 0; axis < root.rank; ++axis) {
    rect.lo[axis] = between(random, 0, root.hi[axis] / 3);
    rect.hi[axis] = between(random, rect.lo[axis], root.hi[axis]);
  }
  if (between(random, 0, 1) == 0) return rect;
  std::vector<Run> runs;
  const std::int64_t longest = between(random, 0, 3) == 0 ? 200 : 6;
  for (std::int64_t at = between(random, 0, 9); at < root.size();) {
    runs.push_back({at, std::min(root.size(), at + between(random, 1, longest))});
    at = runs.back().hi + between(random, 1, 9);
  }
  return {root, Intervals::of(std::move(runs))};
}

// ---- bodies ---------------------------------------------------------------------------------------

enum : std::uint32_t { own, other, target };  // views
enum : std::uint32_t { x, y, count };         // fields of `own`
enum : std::uint32_t { p, place };            // of `other`
constexpr std::uint32_t farthest = 2;

class RandomBody {
 public:
  RandomBody(std::mt19937_64& random, std::uint8_t rank, bool wild) : random_(random), wild_(wild) {
    const std::vector<ViewCode::Field> first = {
        {"x", Precision::f64}, {"y", Precision::f64}, {"count", Precision::i64}};
    code.task = "random";
    code.views = {{"own", rank, first},
                  {"other", rank, {{"p", Precision::f64}, {"place", Precision::i64}}},
                  {"target", 1, {{"sum", Precision::f64}}}};
    scale_ = code.add({.precision = Precision::f64});
    code.inputs = 1;
    total_ = code.add({.precision = Precision::f64, .variable = true, .name = "total"});
    code.constants.emplace_back(total_, real_array(0));
    Step loop{.kind = Kind::each_point, .view = own};
    for (std::uint8_t axis = 0; axis < rank; ++axis) loop.outs.push_back(host());
    point_ = loop.outs;
    ViewBlock body;
    for (std::int64_t n = between(random, 1, 4); n > 0; --n) statement(body, wild ? 2 : 0);
    loop.blocks.push_back(std::move(body));
    code.body.push_back(std::move(loop));
    code.outputs.push_back({total_});
  }
  ViewCode code;

 private:
  static const OpDef* op(std::string_view name) { return standard_ops().find(name); }
  static Array real_array(double value) {
    Array array = Array::make({Precision::f64, {}});
    array.data<double>()[0] = value;
    return array;
  }
  ViewValue host() { return code.add({.kind = Item::Kind::host, .precision = Precision::i64}); }
  ViewValue element(Precision precision) { return code.add({.precision = precision}); }
  ViewValue integer(std::int64_t value) {
    const ViewValue made = host();
    Array array = Array::make({Precision::i64, {}});
    array.data<std::int64_t>()[0] = value;
    code.constants.emplace_back(made, array);
    return made;
  }
  bool one_in(std::int64_t n) { return between(random_, 0, n - 1) == 0; }

  ViewValue emit(ViewBlock& to, Step step, ViewValue out) {
    step.outs = {out};
    to.push_back(std::move(step));
    return out;
  }
  std::vector<ViewValue> near(ViewBlock& to, bool moved) {
    std::vector<ViewValue> index = point_;
    if (!moved) return index;
    for (ViewValue& axis : index)
      if (const std::int64_t by = between(random_, -1, 1); by != 0)
        axis = emit(to, {.kind = Kind::number, .in = {axis, integer(by)}, .op = op("add")}, host());
    return index;
  }
  ViewValue read(ViewBlock& to, std::uint32_t view, std::uint32_t field, std::vector<ViewValue> index) {
    const Precision precision = code.views[view].fields[field].precision;
    return emit(to, {.kind = Kind::read, .in = std::move(index), .view = view, .field = field}, element(precision));
  }
  // A point of `other` that a field names; all of its places are in one axis.
  std::vector<ViewValue> named(ViewBlock& to) {
    const bool again = !wild_ && !axes_.empty() && one_in(2);
    const ViewValue axis = again       ? axes_.back()
                           : one_in(8) ? read(to, own, count, point_)
                                       : read(to, other, place, near(to, false));
    axes_.push_back(axis);
    return std::vector<ViewValue>(point_.size(), axis);
  }

  ViewValue expression(ViewBlock& to, int depth) {
    if (!wild_ && !earlier_.empty() && one_in(6))
      return earlier_[static_cast<std::size_t>(between(random_, 0, std::ssize(earlier_) - 1))];
    const ViewValue made = new_expression(to, depth);
    earlier_.push_back(made);
    return made;
  }
  ViewValue new_expression(ViewBlock& to, int depth) {
    const std::int64_t choice = between(random_, 0, depth > 0 ? 13 : 7);
    if (choice == 0) return scale_;
    if (choice == 1) return emit(to, {.kind = Kind::convert, .in = {point_[0]}}, element(Precision::f64));
    if (choice <= 3) return read(to, own, one_in(2) ? x : y, near(to, wild_ && one_in(4)));
    if (choice <= 5) return read(to, other, p, near(to, true));
    if (choice == 6) {
      std::vector<ViewValue> in = near(to, true);
      in.push_back(one_in(2) ? scale_ : read(to, own, x, point_));
      return emit(to, {.kind = Kind::read_at, .in = in, .view = other, .field = p}, element(Precision::f64));
    }
    if (choice == 7) return read(to, other, p, named(to));
    if (choice == 8) return star(to);
    const ViewValue a = expression(to, depth - 1), b = expression(to, depth - 1);
    constexpr std::string_view names[] = {"add", "mul", "sub", "div", "maximum", "minimum"};
    return arithmetic(to, names[between(random_, 0, 5)], a, b);
  }
  ViewValue arithmetic(ViewBlock& to, std::string_view name, ViewValue a, ViewValue b) {
    return emit(to, {.kind = Kind::op, .in = {a, b}, .op = op(name)}, element(Precision::f64));
  }
  // Of some neighbours: their sum, perhaps less some of the middle, scaled, added to what was there.
  ViewValue star(ViewBlock& to) {
    auto neighbour = [&] { return read(to, other, p, near(to, true)); };
    ViewValue sum = neighbour();
    for (std::int64_t more = between(random_, 2, 6); more > 0; --more) sum = arithmetic(to, "add", sum, neighbour());
    if (one_in(2)) sum = arithmetic(to, "sub", sum, arithmetic(to, "mul", scale_, neighbour()));
    if (one_in(2)) sum = arithmetic(to, "mul", scale_, sum);
    return one_in(2) ? arithmetic(to, "add", read(to, own, x, point_), sum) : sum;
  }

  void keep(ViewBlock& to, std::uint32_t field, ViewValue value) {
    Step store{.kind = Kind::store, .in = point_, .view = own, .field = field};
    store.in.push_back(value);
    to.push_back(std::move(store));
  }
  // What is somewhere, read, changed and stored there; now and then in ways that are no fold.
  void change(ViewBlock& to) {
    constexpr std::string_view names[] = {"add", "add", "sub", "mul", "maximum", "div"};
    const bool odd = one_in(8);
    const ViewValue value = expression(to, 2);
    const bool by_point = one_in(3);
    const bool by_count = one_in(3);  // which statements change
    auto where = [&] {
      return by_point   ? point_.back()
             : by_count ? read(to, own, count, point_)
                        : read(to, other, place, near(to, false));
    };
    const ViewValue at = where();
    ViewValue old = read(to, target, 0, {at});
    if (odd && one_in(2)) keep(to, y, old);
    if (by_count && one_in(4)) keep(to, count, read(to, other, place, near(to, true)));
    const ViewValue again = one_in(3) ? where() : at;
    if (odd && one_in(2)) old = arithmetic(to, "add", old, read(to, target, 0, {one_in(2) ? again : point_.back()}));
    if (odd && one_in(2)) change(to);  // in between
    const std::string_view name = names[between(random_, 0, 5)];
    const bool turned = odd && one_in(2);
    Step store{.kind = Kind::store, .in = {again}, .view = target, .field = 0};
    store.in.push_back(turned ? arithmetic(to, name, value, old) : arithmetic(to, name, old, value));
    if (odd && one_in(3)) keep(to, x, store.in.back());
    if (odd && one_in(2)) store.in.back() = arithmetic(to, "add", store.in.back(), old);
    to.push_back(std::move(store));
  }

  void statement(ViewBlock& to, int depth) {
    const std::int64_t choice = between(random_, 0, depth > 0 ? 9 : 6);
    if (choice <= 3) {
      const ViewValue value = expression(to, 3);
      Step store{.kind = Kind::store, .in = near(to, wild_ && one_in(6)), .view = own, .field = one_in(2) ? x : y};
      store.in.push_back(value);
      to.push_back(std::move(store));
    } else if (choice == 4) {
      const ViewValue old = read(to, own, count, point_);
      const ViewValue made =
          emit(to, {.kind = Kind::op, .in = {old, read(to, other, place, near(to, true))}, .op = op("add")},
               element(Precision::i64));
      Step store{.kind = Kind::store, .in = point_, .view = own, .field = count};
      store.in.push_back(made);
      to.push_back(std::move(store));
    } else if (choice <= 6) {
      if (by_store_) return change(to);
      Step fold{.kind = Kind::fold, .op = op(folds_), .view = target, .field = 0};
      fold.in = {one_in(3) ? point_.back() : read(to, other, place, near(to, false))};
      fold.in.push_back(expression(to, 2));
      to.push_back(std::move(fold));
    } else if (choice == 7) {
      const ViewValue a = expression(to, 1), b = expression(to, 1);
      Step branch{.kind = Kind::if_};
      branch.in = {emit(to, {.kind = Kind::op, .in = {a, b}, .op = op("lt")}, element(Precision::boolean))};
      branch.blocks.resize(2);
      statement(branch.blocks[0], depth - 1);
      if (one_in(2)) statement(branch.blocks[1], depth - 1);
      if (one_in(5)) branch.blocks[1].push_back({.kind = one_in(2) ? Kind::next : Kind::leave});
      to.push_back(std::move(branch));
    } else if (choice == 8) {
      const ViewValue sum =
          emit(to, {.kind = Kind::op, .in = {total_, expression(to, 1)}, .op = op("add")}, element(Precision::f64));
      emit(to, {.kind = Kind::move, .in = {sum}}, total_);
    } else {
      Step loop{.kind = Kind::each_int, .in = {integer(0), integer(between(random_, 0, 3))}, .outs = {host()}};
      loop.blocks.resize(1);
      statement(loop.blocks[0], depth - 1);
      to.push_back(std::move(loop));
    }
  }

  std::mt19937_64& random_;
  const bool wild_;
  std::string_view folds_ = one_in(2) ? "add" : "maximum";
  bool by_store_ = one_in(2);  // else contributions
  ViewValue scale_, total_;
  std::vector<ViewValue> point_;
  std::vector<ViewValue> earlier_, axes_;  // values, and places, that a straight body has made so far
};

// ---- both ways ------------------------------------------------------------------------------------

struct World {
  Data first, second, third;
  IndexSpace own_points, other_points, all;
  double scale = 0.75, total = 0;
  bool own_memory = false;  // of what contributions go to: that of the piece, and not that of the region
  bool is_packed = false;   // the others: memory of their points alone, and of some more

  // Those of a view, and whatever else its memory has.
  static std::unique_ptr<PackedPlaces> packed(const IndexSpace& points, const Rect& root) {
    Intervals held = points.as_intervals(root);
    for (std::int64_t at = 3; at < root.size(); at += 29)
      held = held | Intervals::of({{at, std::min(root.size(), at + at % 5)}});
    return held.empty() ? nullptr : std::make_unique<PackedPlaces>(held);
  }
  // The elements to there, or back.
  static void move(Data& all, const PackedPlaces& places, Data& few, bool back) {
    for (std::size_t f = 0; f < all.fields.size(); ++f) {
      const std::int64_t width = info(all.precisions[f]).bytes;
      few.fields[f].resize(static_cast<std::size_t>(places.held().size() * width));
      for (const Run& run : places.held().runs()) {
        std::byte *const at = all.fields[f].data() + run.lo * width, *const there = few.fields[f].data() +
                                                                                    places.place(run.lo) * width;
        std::copy_n(back ? there : at, run.size() * width, back ? at : there);
      }
    }
  }

  bool run_packed(const ViewCode& code, const ViewBody& body, std::vector<TaskFault>& faults) {
    const auto a = packed(own_points, first.root), b = packed(other_points, second.root);
    if (!a || !b) return run(code, &body, faults);
    World few = *this;
    move(first, *a, few.first, false);
    move(second, *b, few.second, false);
    const bool good = few.run(code, &body, faults, a.get(), b.get());
    move(first, *a, few.first, true);
    move(second, *b, few.second, true);
    third = few.third;
    total = few.total;
    return good;
  }
  bool run(const ViewCode& code, const ViewBody* body, std::vector<TaskFault>& faults,
           const PackedPlaces* own_places = nullptr, const PackedPlaces* other_places = nullptr) {
    const std::vector<ViewField> a = first.bases(), b = second.bases(), c = third.bases();
    const ViewMemory views[] = {
        {&own_points, &first.root, a, PieceMemory::inside(first.root, own_places)},
        {&other_points, &second.root, b, PieceMemory::inside(second.root, other_places)},
        {&all, &third.root, c, own_memory ? PieceMemory::own(all) : PieceMemory::inside(third.root)}};
    const std::byte* inputs[] = {reinterpret_cast<const std::byte*>(&scale)};
    std::byte* outputs[] = {reinterpret_cast<std::byte*>(&total)};
    const ViewRun run{.views = views, .inputs = inputs, .outputs = outputs, .checks_membership = true};
    if (!body) return ViewOracle(code, run).run();
    std::vector<std::byte> scratch(body->scratch_bytes() + 64);
    TaskContext context;
    Serial serial;
    context.parallel = &serial;
    context.scratch = reinterpret_cast<std::byte*>((reinterpret_cast<std::uintptr_t>(scratch.data()) + 63) / 64 * 64);
    const bool good = body->run(run, context);
    faults = context.faults;
    return good;
  }
};

World random_world(std::mt19937_64& random, std::uint8_t rank) {
  const std::int64_t side = rank == 1 ? between(random, 1, 1500) : between(random, 1, 40);
  const Rect root = rank == 1 ? Rect::of({side}) : Rect::of({side, between(random, side, 60)});
  // Another width, so that neighbours lie elsewhere.
  Rect wider = root;
  for (std::size_t axis = 0; axis < rank; ++axis) wider.hi[axis] += between(random, 1, 5);
  // Contributions go to all points that a body may name, or to all but a few; of a scattered piece far away is one
  // more.
  const std::int64_t named = wider.hi[rank - 1u];
  const std::int64_t kind = between(random, 0, 3), begin = kind == 1 ? between(random, 0, 1) : 0;
  const Rect target = Rect::of({kind < 2 ? named : 6 * named + 2});
  IndexSpace piece(Rect{{begin}, {named}, 1});
  if (kind > 1) {
    const std::int64_t hole = kind == 2 ? named : between(random, 0, named - 1);
    piece = IndexSpace(target, Intervals::of({{0, hole}, {hole + 1, named}, {target.hi[0] - 1, target.hi[0]}}));
  }
  World world{{root, {Precision::f64, Precision::f64, Precision::i64}},
              {wider, {Precision::f64, Precision::i64}},
              {target, {Precision::f64}},
              random_points(random, root),
              IndexSpace(wider),
              piece};
  world.own_memory = kind > 0;
  world.is_packed = between(random, 0, 2) == 0;
  if (between(random, 0, 3) == 0) world.other_points = random_points(random, wider);
  fill(world.first, random, 100);
  fill(world.second, random, between(random, 0, 9) == 0 ? side + 9 : side);
  fill(world.third, random, 100);
  return world;
}

bool reads_target(const ViewBlock& block) {
  return std::ranges::any_of(block, [](const Step& s) {
    return (s.kind == Kind::read && s.view == target) || std::ranges::any_of(s.blocks, reads_target);
  });
}

}  // namespace

TEST_CASE("[strips] random bodies give what the loop gives, bit for bit") {
  int strips = 0, scalars = 0, faults = 0, changed = 0;
  for (std::uint64_t seed : random_seeds(1500, 30'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    const auto rank = static_cast<std::uint8_t>(between(random, 1, 2));
    const RandomBody body(random, rank, between(random, 0, 1) == 0);
    auto made = ViewBody::of(body.code, standard_ops());
    REQUIRE(made);
    World world = random_world(random, rank), expected = world;
    std::vector<TaskFault> failed;
    const bool good =
        world.is_packed ? world.run_packed(body.code, **made, failed) : world.run(body.code, made->get(), failed);
    std::vector<TaskFault> none;
    CAPTURE((*made)->why_not_strip());
    CHECK(good == expected.run(body.code, nullptr, none));
    ((*made)->form() == "strip" ? strips : scalars) += 1;
    faults += !good;
    changed += good && (*made)->form() == "strip" && reads_target(body.code.body);
    if (!good) {
      REQUIRE(failed.size() == 1);
      CHECK(failed[0].fault.code == Code("E5003"));
      continue;
    }
    CHECK(world.first.fields == expected.first.fields);
    CHECK(world.second.fields == expected.second.fields);
    CHECK(world.third.fields == expected.third.fields);
    CHECK(std::memcmp(&world.total, &expected.total, sizeof world.total) == 0);
  }
  MESSAGE(strips, " strips, ", scalars, " scalar, ", faults, " faults, ", changed, " change what they read elsewhere");
  CHECK(strips > 300);
  CHECK(scalars > 300);
  CHECK(changed > 100);
  CHECK(faults > 50);
  CHECK(faults < 2 * strips);
}

}  // namespace taskspec::view_code_prop_test
