// Gradients of random nets against differences of their loss, in f64: weights read by several tasks, slices, states,
// loops, branches and recursion that tensors decide about, in tasks and in graphs. And the same bits whatever is
// computed again, on any schedule and number of threads.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <sstream>

#include "tests/unit/programs.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::train_programs_prop_test {

namespace {

class RandomNet {
 public:
  explicit RandomNet(std::uint64_t seed) : random_(seed) {}

  std::string text(const std::string& recompute = "none", int parts = 1) {
    std::string tasks, forward;
    for (int k = 0; k < 3; ++k) {
      const bool state = chance(3);
      tasks += fmt::format("  task t{}(in x: f64[2, 3], in w: f64[3, 3]) -> (y: f64[2, 3]) {{\n    var h = x\n", k);
      tasks += body("    ", static_cast<int>(between(random_, 1, 3)), 2);
      if (state) tasks += fmt::format("    s{} = s{} * 0.5 + h * 0.3\n    h = h + s{}\n", k, k, k);
      tasks += "    y = h\n  }\n";
    }
    for (auto steps = between(random_, 2, 4); steps-- > 0;) forward += statement("    ", 2, true);
    return fmt::format(R"(fn deep(x: f64[2, 3], turns: int) -> f64[2, 3] {{
  if turns == 0 {{ return x * 1.5 }}
  return deep(tanh(x) * 0.8, turns - 1)
}}
fn twice(x: f64[2, 3], w: f64[3, 3]) -> f64[2, 3] {{ return sin(x @ w) @ w }}
agent Net() {{
  weight a: f64[3, 3] = normal(seed: 1)
  weight b: f64[3, 3] = uniform(seed: 2)
  state s0: f64[2, 3] = constant(0.1)
  state s1: f64[2, 3] = constant(0.2)
  state s2: f64[2, 3] = constant(0.3)
  task anew(in z: f64[2, 3]) -> (y: f64[2, 3]) {{
    s0 = z + 0.1
    s1 = z + 0.2
    s2 = z + 0.3
    y = z
  }}
{}  graph forward(x: f64[2, 3], to_a: float, to_b: float) -> (y: f64[2, 3]) {{
    let w = a + uniform(f64[3, 3], seed: 3) * to_a
    let v = b + uniform(f64[3, 3], seed: 4) * to_b
    var h = x
{}    y = tanh(h @ w) + tanh(h @ v)
  }}
}}
let x = normal(f64[2, 3], seed: 5)
let t = normal(f64[2, 3], seed: 6)
let net = Net()
let m = train(net, loss: "mse_sum", optimizer: sgd(lr: 0.1), recompute: "{}", parts: {})
m.forward(x, 0.0, 0.0)
m.backward(t)
print((m.grad("a") * uniform(f64[3, 3], seed: 3)).sum().scalar, (m.grad("b") * uniform(f64[3, 3], seed: 4)).sum().scalar)
)",
                       tasks, forward, recompute, parts);
  }

  // The slope of the loss along both directions, by a coarse and by a fine difference: where they are not alike, a
  // branch changes in between.
  static std::string slopes() {
    return R"(fn loss(to_a: float, to_b: float) -> float {
  let reset = net.anew(x * 0.0).y
  let d = net.forward(x + reset, to_a, to_b).y - t
  return (d * d).sum().scalar
}
for h in [2e-4, 1e-4] {
  print((8.0 * (loss(h, 0.0) - loss(-h, 0.0)) - (loss(2.0 * h, 0.0) - loss(-2.0 * h, 0.0))) / (12.0 * h))
  print((8.0 * (loss(0.0, h) - loss(0.0, -h)) - (loss(0.0, 2.0 * h) - loss(0.0, -2.0 * h))) / (12.0 * h))
}
)";
  }

 private:
  bool chance(int one_in) { return between(random_, 1, one_in) == 1; }

  std::string body(const std::string& indent, int count, int depth) {
    std::string text;
    while (count-- > 0) text += statement(indent, depth, false);
    return text;
  }
  std::string block(const std::string& indent, int depth, bool graph) {
    return "{\n" + statement(indent + "  ", depth - 1, graph) + indent + "}";
  }
  std::string norm() { return fmt::format("(h * h).sum(0).sum(1) > 0.{}", between(random_, 2, 9)); }

  std::string statement(const std::string& indent, int depth, bool graph) {
    const std::string w = graph && chance(2) ? "v" : "w";
    switch (between(random_, 0, depth > 0 ? 10 : 5)) {
      case 0:
        return fmt::format("{}h = tanh(h @ {})\n", indent, w);
      case 1:
        return fmt::format("{}h = h * {}.sum(0) * 0.5 + x\n", indent, w);
      case 2:
        return fmt::format("{}h = concat([sin(h[.., 1..3]), h[.., 0..1] * {}[0..1, 2..3]], axis: 1)\n", indent, w);
      case 3:
        return fmt::format("{}h = deep(h, {})\n", indent, between(random_, 0, 3));
      case 4:
        return fmt::format("{}h = twice(h, {}) * 0.3 + h\n", indent, w);
      case 5:
        return graph ? fmt::format("{}h = t{}(h, {}).y\n", indent, between(random_, 0, 2), w)
                     : fmt::format("{}h = exp(h * -0.1) - {}[0..2, 0..3]\n", indent, w);
      case 6:
        return fmt::format("{}if {} {} else {}\n", indent, norm(), block(indent, depth, graph),
                           block(indent, depth, graph));
      case 7:
        return fmt::format("{}while {} {{ h = h * 0.7 }}\n", indent, norm());
      case 8:
        return fmt::format("{0}for i in 0..{1} {{\n{0}  h = tanh(h) * 0.9 + x * 0.1\n{2}{0}}}\n", indent,
                           between(random_, 1, 4), statement(indent + "  ", depth - 1, graph));
      case 9:
        return graph ? fmt::format("{}if {} {}\n", indent, norm(), block(indent, depth, graph))
                     : fmt::format("{0}for i in 0..6 {{\n{0}  h = h * 1.1\n{0}  if {1} {{ break }}\n{0}}}\n", indent,
                                   norm());
      default:
        return fmt::format("{}h = sigmoid(h @ {}) - 0.5\n", indent, w);
    }
  }

  std::mt19937_64 random_;
};

std::vector<double> numbers(const std::string& text) {
  std::istringstream in(text);
  std::vector<double> numbers;
  for (double number = 0; in >> number;) numbers.push_back(number);
  return numbers;
}

}  // namespace

TEST_CASE("[training] gradients of random nets equal differences of their loss") {
  int kinks = 0, compared = 0;
  for (std::uint64_t seed : random_seeds(25, 1000)) {
    CAPTURE(seed);
    const std::string text = RandomNet(seed).text() + RandomNet::slopes();
    CAPTURE(text);
    const Ran ran = run_text(text);
    REQUIRE(ran.errors == "");
    const std::vector<double> found = numbers(ran.output);
    REQUIRE(found.size() == 6);
    for (std::size_t weight = 0; weight < 2; ++weight) {
      const double gradient = found[weight], coarse = found[2 + weight], fine = found[4 + weight];
      const double scale = std::max(std::abs(fine), 0.01);
      if (std::abs(coarse - fine) > 1e-7 * scale) {
        ++kinks;
        continue;
      }
      ++compared;
      CHECK(std::abs(gradient - fine) < 1e-6 * scale);
    }
  }
  CHECK(compared > 10 * kinks);
}

TEST_CASE("[training] gradients of random nets have the same bits, computed again or not, on any schedule") {
  for (std::uint64_t seed : random_seeds(8, 200)) {
    CAPTURE(seed);
    const Ran wanted = run_text(RandomNet(seed).text());
    REQUIRE(wanted.errors == "");
    for (const Schedule schedule : {Schedule::push, Schedule::pull, Schedule::eager})
      for (const std::uint32_t threads : {1U, 2U, 4U}) {
        RunSettings settings;
        settings.schedule = schedule;
        settings.threads = threads;
        CHECK(run_text(RandomNet(seed).text("sqrt"), settings).output == wanted.output);
      }
  }
}

TEST_CASE("[training] gradients of random nets in parts [L19]: those of the whole, the same bits for as many parts") {
  for (std::uint64_t seed : random_seeds(6, 200)) {
    CAPTURE(seed);
    const std::vector<double> whole = numbers(run_text(RandomNet(seed).text()).output);
    for (const int parts : {2, 3, 5}) {
      const Ran wanted = run_text(RandomNet(seed).text("none", parts));
      REQUIRE(wanted.errors == "");
      const std::vector<double> found = numbers(wanted.output);
      REQUIRE(found.size() == whole.size());
      for (std::size_t k = 0; k < found.size(); ++k)
        CHECK(std::abs(found[k] - whole[k]) < 1e-9 * std::max(1.0, std::abs(whole[k])));
      for (const Schedule schedule : {Schedule::push, Schedule::pull, Schedule::eager})
        for (const std::uint32_t threads : {1U, 2U, 4U}) {
          RunSettings settings;
          settings.schedule = schedule;
          settings.threads = threads;
          CHECK(run_text(RandomNet(seed).text("sqrt", parts), settings).output == wanted.output);
        }
    }
  }
}

}  // namespace taskspec::train_programs_prop_test
