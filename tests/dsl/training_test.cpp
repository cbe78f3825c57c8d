// Training from C++: the same bits as a text, and tasks in C++ that learn.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <thread>

#include "taskspec/taskspec.hpp"
#include "taskspec/workspace.hpp"
#include "tests/dsl/mistakes.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace taskspec::training_test {

namespace {

struct LearnerLayer : Agent {
  using Agent::Agent;
  Tensor i = param("i", integer), o = param("o", integer), seed = param("seed", integer);
  Var w = weight("w", f32("o", "i"), library("glorot_uniform", {arg("seed", seed)}));
  Var b = weight("b", f32("o"), zero());
  Task forward = task("forward").in("x", f32("B", "i")).out("y", f32("B", "o")).body([this](Tensor x) {
    return matmul(x, w.permute(1, 0)) + b;
  });
};

struct Learner : Agent {
  LearnerLayer hidden = layer("hidden", LearnerLayer(3, 8, 1));
  LearnerLayer last = layer("last", LearnerLayer(8, 1, 2));
  Graph forward = graph("forward").in("x", f32("B", 3)).out("y", f32("B", 1)).body([this](Tensor x) {
    return last.forward(tanh(hidden.forward(x)["y"]))["y"];
  });
};

const std::string net_in_text =
    "agent LearnerLayer(i: int, o: int, seed: int) {\n"
    "  weight w: f32[o, i] = glorot_uniform(seed: seed)\n"
    "  weight b: f32[o] = zero()\n"
    "  task forward(in x: f32[B, i]) -> (y: f32[B, o]) { y = x @ w.permute(1, 0) + b }\n"
    "}\n"
    "agent Learner() {\n"
    "  layer hidden = LearnerLayer(3, 8, 1)\n"
    "  layer last = LearnerLayer(8, 1, 2)\n"
    "  graph forward(x: f32[B, 3]) -> (y: f32[B, 1]) { y = last.forward(tanh(hidden.forward(x).y)).y }\n"
    "}\n"
    "fn rate(step: int) -> float { return 0.1 / (1.0 + 0.1 * step as float) }\n"
    "let x = normal(f32[16, 3], seed: 3)\n"
    "let y = x.sum(1)\n";

std::string entered(Workspace& work, const std::string& text) {
  const Workspace::Answer answer = work.enter(text);
  CHECK(answer.diagnostics == "");
  return answer.value;
}

// All elements of a tensor with all their digits.
std::string bits(const Tensor& tensor) { return fmt::format("[{}]", fmt::join(tensor.array<double>(), ", ")); }

std::string in_text(Workspace& work, const std::string& tensor, std::size_t elements) {
  return entered(work, fmt::format("({}.reshape({}) as f64[{}]).array", tensor, elements, elements));
}

// In a session where no Learner was made before: the random numbers of a second one are others.
void by_itself(const std::function<void()>& body) { std::thread(body).join(); }

// What a training in C++ and one in a text have learned.
void compare(const ModelTrainingInstance& m, Workspace& work) {
  TemporaryFolder folder;
  const std::string path = (folder.path() / "m.npz").string();
  entered(work, fmt::format("save(m.eval(), \"{}\");", path));
  CHECK(m.slots() == std::vector<std::string>{"hidden.w", "hidden.b", "last.w", "last.b"});
  for (const auto& [slot, rank, size] : {std::tuple("hidden.w", 2, 24), std::tuple("hidden.b", 1, 8),
                                         std::tuple("last.w", 2, 8), std::tuple("last.b", 1, 1)}) {
    CAPTURE(slot);
    const std::string type = rank == 2 ? "f32[_, _]" : "f32[_]";
    CHECK(bits(m.weight(slot)) == in_text(work, fmt::format("load({}, \"{}\", name: \"{}\")", type, path, slot), size));
  }
  CHECK(bits(m.loss()) == in_text(work, "m.loss", 1));
  CHECK(bits(m.metric("mae")) == in_text(work, "m.metrics.mae", 1));
}

}  // namespace

TEST_CASE("[training] a net learns in C++ what it learns in a text, to the last bit [dsl]") {
  struct Case {
    std::function<Operand()> optimizer;
    std::string text;
    double clip;
    int parts = 1;
    std::string recompute = "none";
  };
  const Fn rate =
      fn("rate").in("step", integer).returns(real).body([](Tensor step) { return 0.1 / (1.0 + 0.1 * step.as(real)); });
  const std::vector<Case> cases{
      {[] { return sgd(0.1, arg("momentum", 0.9), arg("nesterov", true), arg("weight_decay", 1e-4)); },
       "sgd(lr: 0.1, momentum: 0.9, nesterov: true, weight_decay: 1e-4)", 0},
      {[&] { return sgd(rate); }, "sgd(lr: rate)", 0.5, 3, "sqrt"},
      {[] { return adam(0.01, arg("beta1", 0.8)); }, "adam(lr: 0.01, beta1: 0.8)", 0},
      {[] { return adamw(); }, "adamw()", 0},
  };
  for (const Case& one : cases) {
    CAPTURE(one.text);
    Workspace work;
    entered(work, net_in_text);
    entered(work,
            fmt::format("let m = train(Learner(), loss: \"mse_avg\", optimizer: {}, metrics: [\"mae\"], clip: {:.1f}, "
                        "recompute: \"{}\", parts: {})",
                        one.text, one.clip, one.recompute, one.parts));
    entered(work, "for k in 0..7 { m.step(x, y) }");
    by_itself([&] {
      Tensor x = normal(f32(16, 3), arg("seed", 3));
      Tensor y = x.sum(1);
      Learner net;
      ModelTrainingInstance m =
          train(net, "mse_avg", one.optimizer(),
                {.metrics = {"mae"}, .clip = one.clip, .recompute = one.recompute, .parts = one.parts});
      for (int k = 0; k < 7; ++k) {
        forward(m, x);
        backward(m, y);
        update(m);
      }
      compare(m, work);
    });
  }
}

TEST_CASE("[training] fit, step, gradients, metrics and the trained net in C++ [dsl]") {
  Workspace work;
  entered(work, net_in_text);
  entered(work, "fn squares(p: f32[B, 1], t: f32[B, 1]) -> f32 { return ((p - t) * (p - t)).sum() }");
  entered(work, "let m = train(Learner(), loss: squares, optimizer: sgd(lr: 0.01), metrics: [\"mae\"])");
  entered(work, "m.fit([(x, y), (x * 0.5, y * 0.5)], epochs: 3)");
  by_itself([&] {
    Tensor x = normal(f32(16, 3), arg("seed", 3));
    Tensor y = x.sum(1);
    Learner net;
    const Fn squares =
        fn("squares").in("p", f32("B", 1)).in("t", f32("B", 1)).returns(f32).body([](Tensor p, Tensor t) {
          return ((p - t) * (p - t)).sum();
        });
    ModelTrainingInstance m = train(net, squares, sgd(0.01), {.metrics = {"mae"}});
    CHECK(m.text() == "<training of Learner(), sgd(lr: 0.01, momentum: 0, nesterov: false, weight_decay: 0)>");
    m.fit({{x, y}, {x * 0.5, y * 0.5}}, 3);
    compare(m, work);

    entered(work, "m.forward(x); m.backward(y);");
    Tensor prediction = m.forward(x)["y"];
    CHECK(prediction.shape() == std::vector<std::int64_t>{16, 1});
    m.backward(y);
    CHECK(bits(m.grad("hidden.w")) == in_text(work, "m.grad(\"hidden.w\")", 24));
    CHECK(bits(net.forward(x)["y"]) == in_text(work, "m.eval().forward(x).y", 16));
    CHECK(bits(prediction) == bits(net.forward(x)["y"]));  // nothing was updated since
    const double before = m.metric("mae").scalar<double>();
    m.reset_metrics();
    m.step(x, y);
    CHECK(m.metric("mae").scalar<double>() != before);
  });
}

TEST_CASE("[training] a training that C++ saved goes on in another one, and in a text, to the last bit [L13] [dsl]") {
  TemporaryFolder folder;
  const std::string path = folder / "m.npz";
  std::string whole, told;
  by_itself([&] {
    Tensor x = normal(f32(16, 3), arg("seed", 3)), y = x.sum(1);
    const TrainOptions options{.metrics = {"mae"}};
    Learner net;
    ModelTrainingInstance m = train(net, "mse_avg", adam(0.1), options);
    auto steps = [&](ModelTrainingInstance& of, int count) {
      for (int k = 0; k < count; ++k) of.step(x, y);
    };
    auto learned = [&](const ModelTrainingInstance& of) {
      return bits(of.weight("hidden.w")) + bits(of.weight("last.b")) + bits(of.loss()) + bits(of.metric("mae"));
    };
    steps(m, 2);
    m.save(path);
    steps(m, 2);
    whole = learned(m);
    Learner other_net;
    ModelTrainingInstance other = train(other_net, "mse_avg", adam(0.1), options);
    CHECK(bits(other.weight("hidden.w")) != bits(m.weight("hidden.w")));  // drawn anew
    other.load(path);
    steps(other, 2);
    CHECK(learned(other) == whole);
    told = bits(other.weight("hidden.w"));

    m.forward(x);
    m.backward(y);
    unsigned line = __LINE__ + 1;
    const Mistake early = mistake_of([&] { m.save(path); });
    CHECK(early.code == "E5007");
    CHECK(early.line == line);
    line = __LINE__ + 1;
    const Mistake missing = mistake_of([&] { m.load(folder / "none.npz"); });
    CHECK(missing.code == "E7001");
    CHECK(missing.line == line);
    LearnerLayer small(3, 2, 1);
    ModelTrainingInstance another = train(small, "mse_avg", adam(0.1), options);
    CHECK(mistake_of([&] { another.load(path); }).code == "E7003");
  });
  Workspace work;
  entered(work, net_in_text);
  entered(work, "let m = train(Learner(), loss: \"mse_avg\", optimizer: adam(lr: 0.1), metrics: [\"mae\"])");
  entered(work, fmt::format("load(m, \"{}\")", path));
  entered(work, "for k in 0..2 { m.step(x, y) }");
  CHECK(told == in_text(work, "m.weight(\"hidden.w\")", 24));
}

TEST_CASE("[training] a profile in C++ has the ops of a step, and changes nothing [L15] [dsl]") {
  by_itself([&] {
    Tensor x = normal(f32(16, 3), arg("seed", 3)), y = x.sum(1);
    Learner net;
    ModelTrainingInstance m = train(net, "mse_avg", adam(0.1));
    unsigned line = __LINE__ + 1;
    const Mistake early = mistake_of([&] { (void)m.profile(); });
    CHECK(early.code == "E5007");
    CHECK(early.line == line);
    m.step(x, y);
    const std::string before = bits(m.weight("hidden.w"));
    const TrainingProfile profile = m.profile(1, 3);
    CHECK(profile.steps == 3);
    CHECK(bits(m.weight("hidden.w")) == before);
    CHECK(profile.forward > 0);
    CHECK(profile.backward > 0);
    CHECK(profile.update > 0);
    auto product = [](const TrainingProfile::Op& op) { return op.op == "matmul" && op.pass == "forward"; };
    const auto first = std::ranges::find_if(profile.ops, product);
    REQUIRE(first != profile.ops.end());
    CHECK(first->in_task == "Learner.hidden.forward");
    CHECK(first->makes == "f32[16, 8]");
    CHECK(first->calls == 1);
    CHECK(first->bytes == 4 * (16 * 3 + 3 * 8 + 16 * 8));
    CHECK(first->min > 0);
    CHECK(first->median >= first->min);
    CHECK(first->line.find("training_test.cpp") != std::string::npos);
    CHECK(profile.text.find("3 steps, medians: forward") != std::string::npos);
    CHECK(mistake_of([&] { (void)m.profile(0, 0); }).code == "E1003");
  });
}

TEST_CASE("[training] what is wrong with a training is said at its line of C++ [dsl]") {
  Learner net;
  Tensor x = fill(f32(4, 3), 1.0), y = fill(f32(4, 1), 1.0);
  ModelTrainingInstance m = train(net, "mse_avg", sgd(0.1));
  unsigned line = 0;
  auto at = [&](const char* code, const std::function<void()>& wrong) {
    CAPTURE(code);
    const Mistake mistake = mistake_of(wrong);
    CHECK(mistake.code == code);
    CHECK(mistake.line == line);
  };
  at("E5007", [&] {
    line = __LINE__ + 1;
    m.backward(y);
  });
  at("E5007", [&] {
    line = __LINE__ + 1;
    m.update();
  });
  at("E5007", [&] {
    line = __LINE__ + 1;
    (void)m.loss();
  });
  at("E1002", [&] {
    line = __LINE__ + 1;
    (void)m.weight("first.w");
  });
  at("E1002", [&] {
    line = __LINE__ + 1;
    (void)m.grad("first.w");
  });
  at("E5003", [&] {
    line = __LINE__ + 1;
    m.fit({});
  });
  at("E1001", [&] {
    line = __LINE__ + 1;
    (void)train(net, "no_such_loss", sgd(0.1));
  });
  at("E1004", [&] {
    line = __LINE__ + 1;
    (void)train(net, "mse_avg", 0.1);
  });
  at("E2001", [&] {
    line = __LINE__ + 1;
    m.forward(fill(f32(4, 2), 1.0));
  });
  m.forward(x);
  at("E5004", [&] {
    line = __LINE__ + 1;
    m.backward(x);
  });
  m.forward(x);
  m.backward(y);
  m.update();  // after all that it goes on
  CHECK(std::isfinite(m.loss().scalar<double>()));
}

// ---- tasks in C++ ---------------------------------------------------------------------------------

namespace {

void scale_forward(std::span<const float> x, std::span<const float> k, std::span<float> y) {
  for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] * k[0];
}
void scale_backward(std::span<const float> x, std::span<const float> k, std::span<const float>,
                    std::span<const float> dy, std::span<float> dx, std::span<float> dk) {
  dk[0] = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    dx[i] = dy[i] * k[0];
    dk[0] += dy[i] * x[i];
  }
}

// A task in C++ between tasks of ops, and a residual around it; or the same in ops alone.
struct Scaled : Agent {
  explicit Scaled(const Task& scale) : scale(scale) {}
  Task scale;
  Var k = weight("k", f32(1), constant(0.5));
  Var w = weight("w", f32(1), constant(2.0));
  Task first = task("first").in("x", f32("N")).out("y", f32("N")).body([this](Tensor x) { return tanh(x * w); });
  Graph forward = graph("forward").in("x", f32("N")).out("y", f32("N")).body([this](Tensor x) {
    Tensor h = first(x)["y"];
    return scale(h, k)["y"] + h;
  });
};

Task scale_of_ops() {
  return task("scale").in("x", f32("N")).in("k", f32(1)).out("y", f32("N")).body([](Tensor x, Tensor k) {
    return x * k;
  });
}
Task scale_of_cpp() {
  return task("scale").in("x", f32("N")).in("k", f32(1)).out("y", f32("N")).native(scale_forward, scale_backward);
}

std::vector<double> learned(const Task& scale, const std::string& optimizer = "sgd") {
  Scaled net(scale);
  ModelTrainingInstance m = train(net, "mse_avg", optimizer == "adam" ? adam(0.05) : sgd(0.1));
  Tensor x = tensor({-1.0, -0.5, 0.25, 1.0}, f32);
  for (int step = 0; step < 5; ++step) m.step(x, x * 1.5);
  return {m.loss().scalar<double>(), m.weight("k").scalar<double>(), m.weight("w").scalar<double>()};
}

}  // namespace

TEST_CASE("[training] a task in C++ with its reverse learns as one of ops does [dsl]") {
  for (const std::string optimizer : {"sgd", "adam"}) {
    const std::vector<double> wanted = learned(scale_of_ops(), optimizer), got = learned(scale_of_cpp(), optimizer);
    CHECK(wanted[1] != 0.5);
    CHECK(wanted[2] != 2.0);
    for (std::size_t i = 0; i < wanted.size(); ++i) CHECK(got[i] == doctest::Approx(wanted[i]).epsilon(1e-5));
  }
}

TEST_CASE("[training] a task in C++ without a reverse ends the way of a gradient [dsl]") {
  Task scale = task("scale").in("x", f32("N")).in("k", f32(1)).out("y", f32("N")).native(scale_forward);
  const Mistake mistake = mistake_of([&] { (void)learned(scale); });
  CHECK(mistake.code == "E5013");
  CHECK(mistake.message == "'extern' has no gradient: it is a C++ function, and nobody said what its reverse is");
  // In front of all weights it needs none.
  struct Behind : Agent {
    explicit Behind(const Task& scale) : scale(scale) {}
    Task scale;
    Var w = weight("w", f32(1), constant(2.0));
    Graph forward = graph("forward").in("x", f32("N")).out("y", f32("N")).body([this](Tensor x) {
      return scale(x, fill(f32(1), 0.5))["y"] * w;
    });
  };
  Behind net(scale);
  ModelTrainingInstance m = train(net, "mse_avg", sgd(0.5));
  Tensor x = tensor({1, 2}, f32);
  for (int k = 0; k < 30; ++k) m.step(x, x * 4.0);
  CHECK(m.weight("w").scalar<double>() == doctest::Approx(8));
}

TEST_CASE("[training] an extern task of a text learns by the reverse that C++ gave it [dsl]") {
  define_extern("training_test.scale", scale_forward, scale_backward);
  auto learned_by = [](const std::string& body) {
    Workspace work;
    entered(work, "task scale(in x: f32[N], in k: f32[1]) -> (y: f32[N]) " + body +
                      "\nagent Learner() {\n"
                      "  weight k: f32[1] = constant(0.5)\n"
                      "  graph forward(x: f32[N]) -> (y: f32[N]) { y = tanh(scale(x, k).y) }\n"
                      "}\n"
                      "let m = train(Learner(), loss: \"mse_avg\", optimizer: sgd(lr: 0.5))\n"
                      "let x = [1.0, -2.0, 0.5] as f32[3]\n"
                      "for i in 0..10 { m.step(x, x * 0.25) }");
    return std::stod(entered(work, "m.loss.scalar"));
  };
  const double wanted = learned_by("{ y = x * k }"), got = learned_by("extern \"training_test.scale\"");
  CHECK(wanted < 0.1);
  CHECK(got == doctest::Approx(wanted).epsilon(1e-5));
}

namespace {

using P = Permission;

// y = x w k, z = x + w, and a count of its calls; the reverse reads x, w and k, and z has no reader.
void register_gate() {
  register_task({"training_test.gate"},
                TaskSignature().in("x").weight("w").in("k", SlotIs::untrainable).state("calls").out("y").out("z"),
                [](const TaskArgumentAccessor& a) {
                  std::span<const double> x = a.get_tensor<P::ro, double>("x"), w = a.get_tensor<P::ro, double>("w");
                  const std::int32_t k = a.get_tensor<P::ro, std::int32_t>("k")[0];
                  a.get_tensor<P::rw, double>("calls")[0] += 1;
                  for (std::size_t i = 0; i < x.size(); ++i) {
                    a.get_tensor<P::wo, double>("y")[i] = x[i] * w[i] * k;
                    a.get_tensor<P::wo, double>("z")[i] = x[i] + w[i];
                  }
                });
  register_task({"training_test.gate", Pass::backward},
                TaskSignature().in("x").weight("w").in("k").gradient("y").gradient("z").gradient("x").gradient("w"),
                [](const TaskArgumentAccessor& a) {
                  std::span<const double> x = a.get_tensor<P::ro, double>("x"), w = a.get_tensor<P::ro, double>("w");
                  std::span<const double> dy = a.get_gradient<P::ro, double>("y"),
                                          dz = a.get_gradient<P::ro, double>("z");
                  const std::int32_t k = a.get_tensor<P::ro, std::int32_t>("k")[0];
                  for (std::size_t i = 0; i < x.size(); ++i) {
                    a.get_gradient<P::wo, double>("x")[i] = dy[i] * k * w[i] + dz[i];  // as the ops do it
                    a.get_gradient<P::wo, double>("w")[i] = dy[i] * k * x[i] + dz[i];
                  }
                });
}

const std::string gate_signature =
    "task gate(in x: f64[N], in w: f64[N], in k: i32[1], inout calls: f64[1]) -> (y: f64[N], z: f64[N]) ";

std::string learned_by_gate(const std::string& body, const std::string& use) {
  Workspace work;
  entered(work, gate_signature + body +
                    "\nagent Net() {\n"
                    "  weight w: f64[2] = constant(0.5)\n"
                    "  weight v: f64[2] = constant(0.25)\n"
                    "  state calls: f64[1] = zero()\n"
                    "  task sums(in a: f64[N], in b: f64[N]) -> (y: f64[N]) { y = a + b }\n"
                    "  graph count() -> (n: f64[1]) { n = calls * 1.0 }\n"
                    "  graph forward(x: f64[2]) -> (y: f64[2]) {\n"
                    "    let g = gate(x * v, w, [3] as i32[1], calls)\n"
                    "    y = " +
                    use +
                    "\n"
                    "  }\n"
                    "}\n"
                    "let m = train(Net(), loss: \"mse_avg\", optimizer: sgd(lr: 0.05, momentum: 0.5))\n"
                    "let x = [1.0, -2.0] as f64[2]\n"
                    "for i in 0..6 { m.step(x, x * 2.0) }\n"
                    "m.forward(x); m.backward(x);");
  return entered(work, "(m.loss.scalar, m.grad(\"w\").array, m.grad(\"v\").array, m.eval().count().n.array)");
}

}  // namespace

TEST_CASE("[training] outputs without a reader, integers, a state and unread values of a task in C++ [L2] [dsl]") {
  register_gate();
  const std::string ops = "{\n  y = x * w * (k as f64[1])\n  z = x + w\n  calls = calls + 1.0\n}";
  for (const std::string use : {"g.y", "sums(g.y, g.z).y", "g.z"}) {
    CAPTURE(use);
    const std::string wanted = learned_by_gate(ops, use);
    CHECK(wanted.ends_with("[7])"));
    CHECK(learned_by_gate("extern \"training_test.gate\"", use) == wanted);
  }
}

}  // namespace taskspec::training_test
