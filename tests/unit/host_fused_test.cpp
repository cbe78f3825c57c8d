// Bodies of tasks compiled to passes: what fuses, what is written in place, what a fault does.
#include <doctest/doctest.h>

#include <numeric>

#include "interp/host/code_maker.hpp"
#include "interp/host/fused_code.hpp"
#include "interp/host/host_backend.hpp"
#include "interp/host/kernel_cache.hpp"
#include "tests/unit/host_ops.hpp"
#include "tests/unit/plain_plan.hpp"

namespace taskspec::host_fused_test {

namespace {

using namespace test_ops;
using Numbers = std::vector<std::int32_t>;

ArrayType ints(std::int64_t count) { return {Precision::i32, {count}}; }

Array ints(const Numbers& numbers) {
  Array array = Array::make(ints(static_cast<std::int64_t>(numbers.size())));
  std::copy(numbers.begin(), numbers.end(), array.data<std::int32_t>().begin());
  return array;
}

Numbers numbers(const Array& array) {
  auto data = array.data<std::int32_t>();
  return Numbers(data.begin(), data.end());
}

FusedCode compiled(FusedBody body) {
  KernelCache cache;
  std::vector<std::shared_ptr<const Kernel>> kernels;
  for (const FusedOp& op : body.ops) kernels.push_back(cache.get(op.instance));
  return FusedCode(std::move(body), std::move(kernels));
}

// Runs a body on arrays; operands with the same array lie in the same bytes.
std::vector<TaskFault> run(const FusedCode& code, const std::vector<Array*>& operands) {
  std::vector<std::byte> scratch(code.scratch_bytes() + 64);
  std::vector<std::byte*> pointers;
  for (Array* operand : operands) pointers.push_back(operand->raw());
  Serial serial;
  TaskContext context;
  auto aligned = (reinterpret_cast<std::uintptr_t>(scratch.data()) + 63) / 64 * 64;
  context.scratch = reinterpret_cast<std::byte*>(aligned);
  context.parallel = &serial;
  bool good = code.run(pointers.data(), context);
  CHECK(good == context.faults.empty());
  return context.faults;
}

// One task with the given op list, its operands in bytes of their own unless `bytes` says otherwise.
FusedBody one_task(const OpList& list, std::vector<std::uint32_t> bytes = {}) {
  FusedBody body;
  bytes.resize(list.inputs.size() + list.outputs.size());
  if (std::ranges::count(bytes, 0U) == static_cast<std::ptrdiff_t>(bytes.size()))
    std::iota(bytes.begin(), bytes.end(), 0U);
  std::vector<std::uint32_t> given;
  for (std::uint32_t i = 0; i < list.inputs.size(); ++i) given.push_back(body.input(concrete(list.types[i]), bytes[i]));
  std::vector<std::uint32_t> made = body.append(list, given);
  for (std::size_t k = 0; k < made.size(); ++k) body.output(made[k], bytes[list.inputs.size() + k]);
  return body;
}

}  // namespace

TEST_CASE("element-wise ops become one pass over strips") {
  ListWriter w({ints(10'000), ints(1)});
  std::uint32_t a = w.op(plus, {0, 1}), b = w.op(plus, {a, a}), c = w.op(plus, {b, 0});
  FusedCode code = compiled(one_task(w.finish({c})));
  CHECK(code.layout().passes.size() == 1);
  CHECK(code.layout().scratch_bytes == 0);
  Numbers x(10'000), expected;
  std::iota(x.begin(), x.end(), -5000);
  for (std::int32_t v : x) expected.push_back(2 * (v + 7) + v);
  Array in = ints(x), scalar = ints(Numbers{7}), out = ints(Numbers(10'000));
  whole_runs = strip_runs = 0;
  CHECK(run(code, {&in, &scalar, &out}).empty());
  CHECK(numbers(out) == expected);
  CHECK(whole_runs == 0);
  CHECK(strip_runs == 9);  // three strips of at most 4096 elements
}

TEST_CASE("what other ops read has bytes in the scratch, and those are taken over") {
  ListWriter w({ints(100)});
  std::uint32_t a = w.op(flip, {0}), b = w.op(flip, {a}), c = w.op(flip, {b}), d = w.op(plus, {c, 0}),
                e = w.op(flip, {d});
  FusedCode code = compiled(one_task(w.finish({e})));
  CHECK(code.layout().passes.size() == 5);
  CHECK(code.layout().scratch_bytes == 2 * 448);  // two neighbours at a time
  Numbers x(100);
  std::iota(x.begin(), x.end(), 0);
  Array in = ints(x), out = ints(Numbers(100));
  CHECK(run(code, {&in, &out}).empty());
  CHECK(numbers(out) == Numbers(100, 99));
}

TEST_CASE("an op that only changes the shape moves nothing, unless its input is to be kept") {
  ListWriter w({ints(8)});
  std::uint32_t a = w.op(view, {0}), b = w.op(plus, {a, 0}), c = w.op(view, {b});
  FusedCode code = compiled(one_task(w.finish({c, a})));
  Array in = ints({1, 2, 3, 4, 5, 6, 7, 8}), out = ints(Numbers(8)), kept = ints(Numbers(8));
  whole_runs = strip_runs = 0;
  CHECK(run(code, {&in, &out, &kept}).empty());
  CHECK(whole_runs == 1);
  CHECK(numbers(out) == Numbers{2, 4, 6, 8, 10, 12, 14, 16});
  CHECK(numbers(kept) == numbers(in));
}

TEST_CASE("an output in the bytes of an input is written after the last read of it") {
  // r = r + 1; s = old r + r: the sum must see the old r.
  ListWriter w({ints(3)});
  std::uint32_t one = w.constant(ints(Numbers{1}));
  std::uint32_t fresh = w.op(plus, {0, one}), sum = w.op(plus, {0, fresh});
  OpList list = w.finish({fresh, sum});
  for (bool in_place : {true, false}) {
    FusedCode code =
        compiled(one_task(list, in_place ? std::vector<std::uint32_t>{1, 1, 2} : std::vector<std::uint32_t>{}));
    Array r = ints({10, 20, 30}), apart = ints(Numbers(3)), s = ints(Numbers(3));
    CHECK(run(code, {&r, in_place ? &r : &apart, &s}).empty());
    CHECK(numbers(in_place ? r : apart) == Numbers{11, 21, 31});
    CHECK(numbers(s) == Numbers{21, 41, 61});
  }
}

TEST_CASE("two places may change their values with one another") {
  ListWriter w({ints(2), ints(2)});
  OpList list = w.finish({1, 0});
  FusedCode code = compiled(one_task(list, {1, 2, 1, 2}));
  Array a = ints({1, 2}), b = ints({3, 4});
  CHECK(run(code, {&a, &b, &a, &b}).empty());
  CHECK(numbers(a) == Numbers{3, 4});
  CHECK(numbers(b) == Numbers{1, 2});
}

TEST_CASE("an op that cannot work in place gets bytes beside") {
  ListWriter w({ints(3)});
  FusedCode code = compiled(one_task(w.finish({w.op(flip, {w.op(flip, {0})})}), {1, 1}));
  Array r = ints({1, 2, 3});
  CHECK(run(code, {&r, &r}).empty());
  CHECK(numbers(r) == Numbers{1, 2, 3});
  ListWriter once({ints(3)});
  FusedCode single = compiled(one_task(once.finish({once.op(flip, {0})}), {1, 1}));
  CHECK(run(single, {&r, &r}).empty());
  CHECK(numbers(r) == Numbers{3, 2, 1});
}

TEST_CASE("a strip is not taken over by wider elements") {
  ListWriter w({ints(9000)});
  std::uint32_t a = w.op(plus, {0, 0}), b = w.op(plus, {a, 0}), c = w.op(widen, {b}), d = w.op(plus, {a, b});
  FusedCode code = compiled(one_task(w.finish({c, d})));
  CHECK(code.layout().passes.size() == 1);
  Numbers x(9000);
  std::iota(x.begin(), x.end(), 0);
  Array in = ints(x), out = ints(Numbers(9000)), wide = Array::make({Precision::i64, {9000}});
  CHECK(run(code, {&in, &wide, &out}).empty());
  bool right = true;
  for (std::int32_t i = 0; i < 9000; ++i) {
    right = right && wide.data<std::int64_t>()[static_cast<std::size_t>(i)] == 3 * i;
    right = right && out.data<std::int32_t>()[static_cast<std::size_t>(i)] == 5 * i;
  }
  CHECK(right);
}

TEST_CASE("a fault in a fused pass names its task; tasks that do not read from it go on") {
  FusedBody body;
  ArrayType type = ints(10'000);
  std::uint32_t x = body.input(type, 0), y = body.input(type, 1);
  ListWriter divide({type, type});
  std::uint32_t quotient = body.append(divide.finish({divide.op(over, {0, 1})}), std::vector{x, y})[0];
  ListWriter reads({type});
  std::uint32_t doubled = body.append(reads.finish({reads.op(plus, {0, 0})}), std::vector{quotient})[0];
  ListWriter apart({type});
  std::uint32_t other = body.append(apart.finish({apart.op(plus, {0, 0})}), std::vector{x})[0];
  body.output(doubled, 2);
  body.output(other, 3);
  FusedCode code = compiled(std::move(body));
  CHECK(code.layout().passes.size() == 1);
  Numbers ones(10'000, 1), divisors(10'000, 1);
  divisors[9999] = divisors[5000] = 0;
  Array a = ints(ones), b = ints(divisors), out = ints(Numbers(10'000)), second = ints(Numbers(10'000));
  std::vector<TaskFault> faults = run(code, {&a, &b, &out, &second});
  REQUIRE(faults.size() == 1);
  CHECK(faults[0].task == 0);
  CHECK(faults[0].fault.code == Code("E5002"));
  CHECK(numbers(second) == Numbers(10'000, 2));
}

TEST_CASE("tasks of a chain with bodies are one dispatch and one pass; a fault poisons as if they ran alone [A2]") {
  auto graph = std::make_shared<TaskGraph>();
  auto define = [&](const std::string& name) {
    Definition definition;
    definition.kind = Definition::Kind::task;
    definition.name = name;
    return graph->define(definition);
  };
  ArrayType type = ints(50'000);
  TypeId id = graph->intern(type.type());
  Ref x = Ref::input(graph->add_input({"x", type.type(), Privilege::in}));
  Ref divisors = Ref::input(graph->add_input({"d", type.type(), Privilege::in}));
  auto add = [&](const std::string& name, std::vector<Ref> in) {
    return Ref::future(graph->add(define(name), {.in = in, .out = {&id, 1}}), 0);
  };
  Ref a = add("double", {x}), b = add("divide", {a, divisors}), c = add("double", {b});
  graph->add_result({"c", type.type(), c});
  WrittenBodies bodies;
  bodies.write = [&](const std::string& name) {
    if (name == "double") {
      ListWriter w({type});
      return w.finish({w.op(plus, {0, 0})});
    }
    ListWriter w({type, type});
    return w.finish({w.op(over, {0, 1})});
  };
  for (std::uint32_t threads : {1U, 2U}) {
    auto backend = make_host_backend({.threads = threads});
    auto ready = backend->prepare(make_plan(graph, aggregate(*graph)), bodies);
    std::vector<Location> inputs{backend->allocate(type), backend->allocate(type)};
    backend->write(inputs[0], ints(Numbers(50'000, 21)));
    for (bool zero : {false, true}) {
      Numbers d(50'000, 2);
      if (zero) d[49'999] = 0;
      backend->write(inputs[1], ints(d));
      for (Schedule schedule : {Schedule::push, Schedule::pull, Schedule::eager}) {
        whole_runs = strip_runs = 0;
        Outcome outcome = backend->execute(*ready, inputs, {.schedule = schedule});
        if (schedule != Schedule::eager) CHECK(outcome.dispatches == 1);
        if (schedule != Schedule::eager) CHECK(whole_runs == 0);
        if (zero) {
          CHECK(std::get<Poison>(outcome.results[0]).origin == b.node());
          CHECK(outcome.failed.size() == 1);
          CHECK(outcome.tasks_run == 2);
          continue;
        }
        Location result = std::get<Location>(outcome.results[0]);
        CHECK(numbers(backend->read(result)) == Numbers(50'000, 42));
        backend->free(result);
      }
    }
    for (Location location : inputs) backend->free(location);
    CHECK(backend->memory().allocations == backend->memory().frees);
  }
}

TEST_CASE("equal chains share their code, others do not") {
  auto graph = std::make_shared<TaskGraph>();
  const Type type = ints(8).type();
  const TypeId id = graph->intern(type);
  auto add = [&](const std::string& name, std::vector<Ref> in) {
    Definition definition;
    definition.kind = Definition::Kind::task;
    definition.name = name;
    return Ref::future(graph->add(graph->define(definition), {.in = in, .out = {&id, 1}}), 0);
  };
  std::vector<Ref> inputs;
  for (const char* name : {"a", "b", "c", "d", "e"})
    inputs.push_back(Ref::input(graph->add_input({name, type, Privilege::in})));
  auto chain = [&](const std::string& last, Ref x, Ref y) {
    Ref result = add(last, {add("sum", {x, y}), x});
    graph->add_result({"r", type, result});
  };
  chain("sum", inputs[0], inputs[1]);
  chain("sum", inputs[2], inputs[3]);
  chain("sum", inputs[4], inputs[4]);  // two operands are one
  chain("quotient", inputs[0], inputs[1]);
  WrittenBodies bodies;
  bodies.write = [&](const std::string& name) {
    ListWriter w({ints(8), ints(8)});
    return w.finish({w.op(name == "sum" ? plus : over, {0, 1})});
  };
  auto plan = make_plan(graph, aggregate(*graph));
  REQUIRE(plan->steps() == 4);
  ViewBodies views;
  CodeMaker maker(plan, bodies, views);
  std::vector<const TaskCode*> codes;
  std::vector<std::size_t> operands;
  for (std::size_t step = 0; step < 4; ++step) {
    std::vector<BufferId> of_code;
    codes.push_back(&maker.make(plan->step_starts[step], plan->step_starts[step + 1], of_code));
    operands.push_back(of_code.size());
  }
  CHECK(codes[0]->tasks == 2);
  CHECK(codes[0] == codes[1]);
  CHECK(codes[0] != codes[2]);
  CHECK(codes[0] != codes[3]);
  CHECK(operands == std::vector<std::size_t>{3, 3, 2, 3});
}

TEST_CASE("equal calls of an op share a kernel, others do not") {
  KernelCache cache;
  auto a = cache.get(call(plus, {ints(4), ints(4)}));
  CHECK(a == cache.get(call(plus, {ints(4), ints(4)})));
  CHECK(a != cache.get(call(plus, {ints(4), ints(1)})));
  CHECK(a != cache.get(call(over, {ints(4), ints(4)})));
  OpInstance with_zero = call(flip, {ints(4)}), with_minus_zero = with_zero;
  with_zero.attributes = {0.0};
  with_minus_zero.attributes = {-0.0};
  CHECK(cache.get(with_zero) != cache.get(with_minus_zero));
}

}  // namespace taskspec::host_fused_test
