#include <doctest/doctest.h>

#include "interp/host/bound_calls.hpp"

namespace taskspec::host_bound_calls_test {

namespace {

// Says what it was bound to; how often, its maker counts.
struct Bound final : BoundCode {
  Bound(std::byte* const* operands, bool scratch) : operand(operands[0]), scratch(scratch) {}
  bool run(TaskContext&) override { return true; }
  bool needs_scratch() const override { return scratch; }
  const std::byte* const operand;
  const bool scratch;
};

struct Code final : TaskCode {
  enum class Kind : std::uint8_t { plain, with_scratch, scratch_until_bound, never };
  explicit Code(Kind kind) : TaskCode(1, 0), kind(kind) {}
  bool run(std::byte* const*, TaskContext&) const override { return true; }
  std::size_t scratch_bytes() const override { return kind == Kind::plain ? 0 : 8; }
  std::unique_ptr<BoundCode> bind(std::byte* const* operands, TaskContext&) const override {
    ++bindings;
    return kind == Kind::never ? nullptr : std::make_unique<Bound>(operands, kind == Kind::with_scratch);
  }
  const Kind kind;
  mutable int bindings = 0;
};

struct Fixture {
  std::byte bytes[4] = {};
  std::byte* operands[1] = {bytes};
  TaskContext context;
  BoundCalls calls;
  std::uint64_t moves = 1;
  // Where the operand of the bound code is; null: it is not bound.
  const std::byte* run(const Code& code, const std::byte* scratch = nullptr) {
    calls.begin_run(moves, 1);
    return ask(code, scratch);
  }
  const std::byte* ask(const Code& code, const std::byte* scratch) {
    const auto* bound = static_cast<const Bound*>(calls.of(0, code, operands, context, scratch));
    return bound ? bound->operand : nullptr;
  }
  int runs_until_bound(const Code& code) {
    for (int k = 1; k < 10'000; ++k)
      if (run(code)) return k;
    return 0;
  }
  void move() {
    ++moves;
    operands[0] = bytes + moves % 4;
  }
};

}  // namespace

TEST_CASE("[bound] a call that comes again is bound once, to where its operands lie") {
  Fixture f;
  const Code code(Code::Kind::plain);
  CHECK(f.runs_until_bound(code) == 5);
  for (int k = 0; k < 100; ++k) CHECK(f.run(code) == f.operands[0]);
  CHECK(code.bindings == 1);
  f.move();
  CHECK(f.run(code) == nullptr);
  CHECK(f.runs_until_bound(code) == 4);
  CHECK(f.run(code) == f.operands[0]);
  CHECK(code.bindings == 2);
}

TEST_CASE("[bound] what moves again and again is bound more and more seldom, and as before when it rests") {
  Fixture f;
  const Code code(Code::Kind::plain);
  int last = 0;
  for (int k = 0; k < 6; ++k) {
    const int runs = f.runs_until_bound(code);
    CHECK(runs > last);
    last = runs;
    f.move();
  }
  CHECK(last > 100);
  for (int k = 0; k < 100'000; ++k) f.run(code);
  f.move();
  CHECK(f.runs_until_bound(code) == 5);
}

TEST_CASE("[bound] only what needs scratch is bound anew when the lane has another one") {
  std::byte one, other;
  Fixture f;
  const Code with(Code::Kind::with_scratch), until(Code::Kind::scratch_until_bound), never(Code::Kind::never);
  while (!f.run(with, &one)) continue;
  CHECK(f.ask(with, nullptr) == nullptr);
  CHECK(f.ask(with, &one));
  CHECK(with.bindings == 1);
  CHECK(f.ask(with, &other));
  CHECK(with.bindings == 2);
  for (int k = 0; k < 100; ++k) f.ask(with, k % 2 ? &one : &other);
  CHECK(with.bindings <= 8);

  f.move();
  while (!f.run(until, &one)) continue;
  CHECK(f.ask(until, nullptr));
  CHECK(f.ask(until, &other));
  CHECK(until.bindings == 1);

  f.move();
  for (int k = 0; k < 100; ++k) CHECK(f.run(never, &one) == nullptr);
  CHECK(never.bindings == 1);
}

TEST_CASE("[bound] all calls stand together when each is bound, and none needs scratch") {
  std::byte scratch;
  for (const Code::Kind second : {Code::Kind::plain, Code::Kind::never, Code::Kind::with_scratch}) {
    Fixture f;
    const Code codes[] = {Code(Code::Kind::plain), Code(second)};
    const auto run = [&] {
      f.calls.begin_run(f.moves, 2);
      for (std::size_t k = 0; k < 2; ++k) f.calls.of(k, codes[k], f.operands, f.context, &scratch);
    };
    for (int round = 0; round < 2; ++round) {
      for (int k = 0; k < 5; ++k) {
        run();
        CHECK(f.calls.all().empty());
      }
      run();
      REQUIRE(f.calls.all().size() == (second == Code::Kind::plain ? 2 : 0));
      for (const BoundCode* code : f.calls.all()) CHECK(static_cast<const Bound*>(code)->operand == f.operands[0]);
      f.move();
      f.calls.begin_run(f.moves, 2);
      CHECK(f.calls.all().empty());
      f.move();  // once more before it was bound: no reason to wait
      f.calls.begin_run(f.moves, 2);
      for (int k = 0; k < 1000; ++k) run();
      f.move();
    }
  }
}

TEST_CASE("[bound] of a plan of very many calls none is bound") {
  Fixture f;
  const Code code(Code::Kind::plain);
  for (int k = 0; k < 100; ++k) {
    f.calls.begin_run(1, 1 << 20);
    CHECK(f.ask(code, nullptr) == nullptr);
  }
  CHECK(code.bindings == 0);
}

}  // namespace taskspec::host_bound_calls_test
