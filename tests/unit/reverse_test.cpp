// The reverse of op lists against central differences, on random lists: values read several times, shapes that are
// stretched, places written again, several outputs, paths that end.
#include "ir/gradient/reverse.hpp"

#include <doctest/doctest.h>

#include "ir/verify/verify.hpp"
#include "tests/unit/op_list_cases.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::reverse_test {

namespace {

struct Case {
  OpList list;
  std::vector<Array> inputs, upstream;  // of all outputs
};

Case with_numbers(OpList list, std::uint64_t seed) {
  Case made{std::move(list), {}, {}};
  for (std::size_t i = 0; i < made.list.inputs.size(); ++i)
    made.inputs.push_back(random_array(concrete(made.list.types[i]), seed + i));
  for (const OpList::Output& output : made.list.outputs)
    made.upstream.push_back(random_array(concrete(made.list.type(output.value)), seed + 50 + made.upstream.size()));
  return made;
}

// The gradient of each input; none where nothing depends on it.
std::vector<std::optional<Array>> gradients(const Case& c, const Reverse& made) {
  const std::vector<Array> forward = run_list(c.list, c.inputs);
  std::vector<Array> given;
  for (std::size_t output : made.upstream) given.push_back(c.upstream[output]);
  for (ValueId value : made.reads) given.push_back(forward[value.index()]);
  const std::vector<Array> values = run_list(made.list, given);
  std::vector<std::optional<Array>> found(c.inputs.size());
  for (std::size_t k = 0; k < made.inputs.size(); ++k)
    found[made.inputs[k]] = values[made.list.outputs[k].value.index()];
  return found;
}

Reverse reverse_all(const OpList& list) {
  return reverse(list, {std::vector<bool>(list.outputs.size(), true), std::vector<bool>(list.inputs.size(), true)},
                 standard_ops());
}

double worst_of(const Case& c) {
  const Reverse made = reverse_all(c.list);
  CHECK(verify_op_list(made.list) == "");
  auto compute = [&](const std::vector<Array>& inputs) {
    const std::vector<Array> values = run_list(c.list, inputs);
    std::vector<Array> outputs;
    for (const OpList::Output& output : c.list.outputs) outputs.push_back(values[output.value.index()]);
    return weighted_sum(outputs, c.upstream);
  };
  return worst_difference(compute, c.inputs, gradients(c, made));
}

}  // namespace

TEST_CASE("reverses of random op lists equal central differences [ops-grad]") {
  for (std::uint64_t seed : random_seeds(200, 1000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    CHECK(worst_of(with_numbers(RandomList(random).list(), seed)) < 1e-6);
  }
}

TEST_CASE("a value read by several gets the sum of what they give") {
  OpListBuilder made;
  const ValueId x = made.input({"x", Privilege::in, {}}, f64_type({4}));
  const ValueId w = made.input({"w", Privilege::in, {}}, f64_type({4}));
  const ValueId h = emit(made, "mul", {x, w});
  const ValueId y = emit(made, "add", {emit(made, "mul", {h, h}), emit(made, "tanh", {h})});
  const Case c = with_numbers(std::move(made).finish(FunctionId(0), "fan", {{"y", y}, {"h", h}}), 3);
  CHECK(worst_of(c) < 1e-8);
}

TEST_CASE("only what is wanted is reversed, and only what its reverse reads is kept") {
  OpListBuilder made;
  const ValueId x = made.input({"x", Privilege::in, {}}, f64_type({2, 3}));
  const ValueId w = made.input({"w", Privilege::in, {}}, f64_type({3, 4}));
  const ValueId b = made.input({"b", Privilege::in, {}}, f64_type({4}));
  const ValueId y = emit(made, "relu", {emit(made, "add", {emit(made, "matmul", {x, w}), b})});
  const OpList list = std::move(made).finish(FunctionId(0), "dense", {{"y", y}});
  const Reverse bias = reverse(list, {{true}, {false, false, true}}, standard_ops());
  CHECK(bias.inputs == std::vector<std::size_t>{2});
  for (const OpList::Line& line : bias.list.lines) CHECK(line.op != &op_named("matmul"));
  for (ValueId value : bias.reads) CHECK(value != ValueId(0));
  CHECK(reverse(list, {{true}, {false, true, true}}, standard_ops()).inputs == std::vector<std::size_t>{1, 2});
  CHECK(reverse(list, {{false}, {false, true, true}}, standard_ops()).inputs.empty());
}

TEST_CASE("integers end a path, and an op without a gradient ends it with its line") {
  OpListBuilder made;
  const ValueId x = made.input({"x", Privilege::in, {}}, f64_type({4}));
  const ValueId w = made.input({"w", Privilege::in, {}}, f64_type({4}));
  const ValueId steps = emit(made, "floor", {w});
  const ValueId larger = emit(made, "gt", {x, Value(0.0)});
  const ValueId y = emit(made, "where", {larger, steps, x});
  const OpList list = std::move(made).finish(FunctionId(0), "steps", {{"y", y}});
  const Reverse found = reverse_all(list);
  CHECK(found.inputs == std::vector<std::size_t>{0});
  REQUIRE(found.ends.size() == 1);
  CHECK(found.ends[0].input == 1);
  CHECK(list.lines[found.ends[0].line].op == &op_named("floor"));
}

}  // namespace taskspec::reverse_test
