// The registry of tasks in C++: signatures, permissions, and what stands behind which agent and pass.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "taskspec/taskspec.hpp"
#include "taskspec/workspace.hpp"
#include "tests/dsl/mistakes.hpp"

namespace taskspec::registry_test {

namespace {

constexpr Permission NONE = Permission::none, RO = Permission::ro, WO = Permission::wo, RW = Permission::rw;

void nothing(const TaskArgumentAccessor&) {}

std::string entered(Workspace& work, const std::string& text) {
  const Workspace::Answer answer = work.enter(text);
  CHECK(answer.diagnostics == "");
  return answer.value;
}

}  // namespace

// ---- permissions ----------------------------------------------------------------------------------

TEST_CASE("permissions are a lattice [L3] [dsl]") {
  const Permission all[] = {NONE, RO, WO, RW};
  const Permission joins[4][4] = {{NONE, RO, WO, RW}, {RO, RO, RW, RW}, {WO, RW, WO, RW}, {RW, RW, RW, RW}};
  const Permission meets[4][4] = {
      {NONE, NONE, NONE, NONE}, {NONE, RO, NONE, RO}, {NONE, NONE, WO, WO}, {NONE, RO, WO, RW}};
  for (int a = 0; a < 4; ++a)
    for (int b = 0; b < 4; ++b) {
      CHECK(to_text(join(all[a], all[b])) == to_text(joins[a][b]));
      CHECK(to_text(meet(all[a], all[b])) == to_text(meets[a][b]));
      CHECK(allows(all[a], all[b]) == (joins[a][b] == all[a]));
    }
  CHECK(to_text(NONE) + to_text(RO) + to_text(WO) + to_text(RW) == "NONEROWORW");
}

TEST_CASE("a role has its permission in each pass, or is none of its roles [L2] [L3] [dsl]") {
  using R = SlotRole;
  const std::pair<SlotRole, std::array<Permission, 4>> wanted[] = {
      {R::in, {RO, RO, NONE, RO}},       {R::weight, {RO, RO, RW, NONE}},   {R::state, {RW, RO, NONE, NONE}},
      {R::out, {WO, RO, NONE, NONE}},    {R::gradient, {NONE, WO, RO, WO}}, {R::optimizer, {NONE, NONE, RW, NONE}},
      {R::loss, {NONE, NONE, NONE, WO}},
  };
  for (const auto& [role, permissions] : wanted)
    for (const Pass pass : {Pass::forward, Pass::backward, Pass::update, Pass::loss}) {
      const Permission permission = permissions[static_cast<std::size_t>(pass)];
      CHECK(to_text(permission_of(role, pass)) == to_text(permission));
      TaskStore store;
      TaskSignature signature;
      signature.add(role, "s", SlotIs::required);
      if (pass == Pass::backward) {  // against a forward task that has the slot
        TaskSignature forward;
        forward.add(role == R::gradient ? R::in : role, "s", SlotIs::required);
        if (permission == NONE) continue;  // nor can a forward task have it
        store.register_task({"t"}, forward, nothing);
        if (role == R::weight) signature.gradient("s");
      }
      CAPTURE(static_cast<int>(role));
      CAPTURE(static_cast<int>(pass));
      CHECK(mistake_of([&] {
              store.register_task({"t", pass}, signature, nothing);
            }).code == (permission == NONE ? "E1003" : ""));
    }
}

TEST_CASE("a slot has the modifiers of its role [L2] [dsl]") {
  using R = SlotRole;
  const std::pair<SlotRole, std::array<bool, 3>> takes[] = {
      // optional, untrainable, variadic
      {R::in, {true, true, true}},      {R::weight, {true, true, true}},      {R::state, {false, false, false}},
      {R::out, {false, false, true}},   {R::gradient, {false, false, false}}, {R::optimizer, {true, false, false}},
      {R::loss, {false, false, false}},
  };
  const SlotIs modifiers[] = {SlotIs::optional, SlotIs::untrainable, SlotIs::variadic};
  for (const auto& [role, taken] : takes)
    for (std::size_t i = 0; i < 3; ++i) {
      CAPTURE(static_cast<int>(role));
      CAPTURE(i);
      CHECK(mistake_of([&] { TaskSignature().add(role, "s", modifiers[i]); }).code == (taken[i] ? "" : "E1003"));
    }
  CHECK(mistake_of([] { TaskSignature().in("x").weight("x"); }).code == "E1005");
  CHECK(mistake_of([] { TaskSignature().in("x").argument<double>("x"); }).code == "E1005");
  CHECK(mistake_of([] { TaskSignature().in("").out("y"); }).code == "E1001");
  CHECK(mistake_of([] { TaskSignature().in("x", SlotIs::variadic).weight("w", SlotIs::variadic); }).code == "E1003");
  CHECK(mistake_of([] { TaskSignature().in("x", SlotIs::variadic).out("y", SlotIs::variadic); }).code == "");
}

TEST_CASE("a reverse is one of its forward task [L2] [dsl]") {
  const TaskSignature forward =
      TaskSignature().in("x").weight("w").in("fixed", SlotIs::untrainable).state("s").out("y");
  auto refused = [&](const TaskSignature& reverse) {
    TaskStore store;
    store.register_task({"t"}, forward, nothing);
    return mistake_of([&] { store.register_task({"t", Pass::backward}, reverse, nothing); });
  };
  CHECK(refused(infer_bwd_signature(forward)).code == "");
  CHECK(refused(TaskSignature().gradient("y").gradient("w")).code == "");  // reads nothing, x gets no gradient
  CHECK(refused(TaskSignature().gradient("y").gradient("x")).message ==
        "backward of 't' gives no gradient of weight 'w'");
  CHECK(refused(TaskSignature().gradient("y").gradient("w").gradient("fixed")).code == "E1003");
  CHECK(refused(TaskSignature().gradient("y").gradient("w").gradient("s")).code == "E1003");
  CHECK(refused(TaskSignature().gradient("y").gradient("w").in("z")).code == "E1003");
  CHECK(refused(TaskSignature().gradient("y").gradient("w").weight("x")).code == "E1003");
  TaskStore store;
  CHECK(mistake_of([&] { store.register_task({"t", Pass::backward}, forward, nothing); }).code == "E1006");
  store.register_task({"t"}, forward, nothing);
  CHECK(mistake_of([&] { store.register_task({"t"}, forward, nothing); }).code == "E1005");
  CHECK(mistake_of([&] { store.register_task({"", Pass::forward}, forward, nothing); }).code == "E1001");
  CHECK(mistake_of([&] { store.register_task({"u"}, forward, nullptr); }).code == "E1006");
  CHECK(store.get_signature({"t"}).get_tensor_slots().size() == 5);
  CHECK(mistake_of([&] { (void)store.get_signature({"u"}); }).code == "E7001");
}

// ---- calls ----------------------------------------------------------------------------------------

namespace {

// y = k * x + b, and the number of calls so far.
const TaskSignature affine =
    TaskSignature().in("x").weight("b", SlotIs::optional).state("calls").out("y").argument<double>("k");

void run_affine(const TaskArgumentAccessor& a) {
  std::span<const float> x = a.get_tensor<RO, float>("x");
  std::span<float> y = a.get_tensor<WO, float>("y");
  a.get_tensor<RW, float>("calls")[0] += 1;
  for (std::size_t i = 0; i < x.size(); ++i)
    y[i] =
        static_cast<float>(a.get_argument<double>("k")) * x[i] + (a.has("b") ? a.get_tensor<RO, float>("b")[i] : 0.0f);
}

struct Given {
  std::vector<float> x{1, 2}, b{10, 20}, y{0, 0}, calls{0};
  std::span<const float> read(const std::vector<float>& v) const { return v; }
};

}  // namespace

TEST_CASE("a call is held against its signature [L2] [L3] [dsl]") {
  TaskStore store;
  store.register_task({"affine"}, affine, run_affine);
  Given g;
  auto whole = [&] {
    return TaskBinding()
        .tensor("x", g.read(g.x))
        .tensor("calls", std::span(g.calls))
        .tensor("y", std::span(g.y))
        .argument("k", 2.0);
  };
  store.execute({"affine"}, whole());
  CHECK(g.y == std::vector<float>{2, 4});
  store.execute({"affine"}, whole().tensor("b", std::span(g.b)));  // RO of what may be written is a view to read
  CHECK(g.y == std::vector<float>{12, 24});
  CHECK(g.calls == std::vector<float>{2});

  auto refused = [&](const TaskBinding& binding) { return mistake_of([&] { store.execute({"affine"}, binding); }); };
  CHECK(refused(TaskBinding().tensor("x", g.read(g.x)).tensor("y", std::span(g.y)).argument("k", 2.0)).message ==
        "forward of 'affine': nothing is given for 'calls'");
  CHECK(refused(whole().tensor("z", g.read(g.x))).code == "E1003");
  CHECK(refused(whole().tensor("x", g.read(g.x))).code == "E1003");  // twice
  CHECK(refused(whole().gradient("y", g.read(g.y))).code == "E1003");
  TaskBinding no_number = whole(), other_number = whole();
  no_number.arguments.clear();
  CHECK(refused(no_number).code == "E1003");
  other_number.arguments.clear();
  CHECK(refused(other_number.argument("k", 2)).code == "E1004");
  // What may only be read: an output, and a state.
  CHECK(refused(TaskBinding()
                    .tensor("x", g.read(g.x))
                    .tensor("calls", std::span(g.calls))
                    .tensor("y", g.read(g.y))
                    .argument("k", 2.0))
            .message == "forward of 'affine': 'y' is RO here, and the slot is WO");
  CHECK(refused(TaskBinding()
                    .tensor("x", g.read(g.x))
                    .tensor("calls", g.read(g.calls))
                    .tensor("y", std::span(g.y))
                    .argument("k", 2.0))
            .code == "E1401");
  CHECK(mistake_of([&] { store.execute({"other"}, whole()); }).code == "E7001");
}

TEST_CASE("a function gets what its signature says, and no more [L3] [dsl]") {
  Given g;
  auto asked = [&](const TaskImpl& ask) {
    TaskStore store;
    store.register_task({"t"}, TaskSignature().in("x").out("y").argument<std::int64_t>("n"), ask);
    return mistake_of([&] {
      store.execute({"t"}, TaskBinding().tensor("x", std::span(g.x)).tensor("y", std::span(g.y)).argument("n", 1));
    });
  };
  CHECK(asked([](const auto& a) { (void)a.template get_tensor<RO, float>("x"); }).code == "");
  CHECK(asked([](const auto& a) { (void)a.template get_tensor<WO, float>("x"); }).message ==
        "'x' is RO in task 't', which asks for WO");
  CHECK(asked([](const auto& a) { (void)a.template get_tensor<RW, float>("x"); }).code == "E1401");
  CHECK(asked([](const auto& a) { (void)a.template get_tensor<RO, float>("y"); }).code == "E1401");
  CHECK(asked([](const auto& a) { (void)a.template get_tensor<RW, float>("y"); }).code == "E1401");
  CHECK(asked([](const auto& a) { (void)a.template get_tensor<RO, double>("x"); }).code == "E1004");
  CHECK(asked([](const auto& a) { (void)a.template get_tensor<RO, float>("z"); }).code == "E1003");
  CHECK(asked([](const auto& a) { (void)a.template get_tensor<RO, float>("x", 1); }).code == "E1003");
  CHECK(asked([](const auto& a) { (void)a.template get_gradient<RO, float>("x"); }).code == "E1003");
  CHECK(asked([](const auto& a) { (void)a.template get_argument<double>("n"); }).code == "E1004");
  CHECK(asked([](const auto& a) { (void)a.template get_argument<std::int64_t>("m"); }).code == "E1003");
  CHECK(asked([](const auto&) { throw std::runtime_error("no paper"); }).code == "E5011");
}

TEST_CASE("passes that a store calls by itself: an update and a loss [L2] [dsl]") {
  TaskStore store;
  store.register_task({"sgd", Pass::update},
                      TaskSignature().weight("w").gradient("w").optimizer("v", SlotIs::optional).argument<double>("lr"),
                      [](const TaskArgumentAccessor& a) {
                        std::span<float> w = a.get_tensor<RW, float>("w");
                        std::span<const float> g = a.get_gradient<RO, float>("w");
                        for (std::size_t i = 0; i < w.size(); ++i) {
                          const float by = a.has("v") ? a.get_tensor<RW, float>("v")[i] =
                                                            0.5f * a.get_tensor<RW, float>("v")[i] + g[i]
                                                      : g[i];
                          w[i] -= static_cast<float>(a.get_argument<double>("lr")) * by;
                        }
                      });
  std::vector<float> w{1, 2}, g{1, -1}, v{2, 2};
  store.execute({"sgd", Pass::update},
                TaskBinding().tensor("w", std::span(w)).gradient("w", std::span(g)).argument("lr", 0.5));
  CHECK(w == std::vector<float>{0.5, 2.5});
  store.execute({"sgd", Pass::update}, TaskBinding()
                                           .tensor("w", std::span(w))
                                           .gradient("w", std::span(g))
                                           .tensor("v", std::span(v))
                                           .argument("lr", 0.5));
  CHECK(v == std::vector<float>{2, 0});
  CHECK(w == std::vector<float>{-0.5, 2.5});

  store.register_task({"mse", Pass::loss}, TaskSignature().in("y").in("t").loss("l").gradient("y"),
                      [](const TaskArgumentAccessor& a) {
                        std::span<const float> y = a.get_tensor<RO, float>("y"), t = a.get_tensor<RO, float>("t");
                        std::span<float> l = a.get_tensor<WO, float>("l"), dy = a.get_gradient<WO, float>("y");
                        l[0] = (y[0] - t[0]) * (y[0] - t[0]);
                        dy[0] = 2 * (y[0] - t[0]);
                      });
  std::vector<float> y{3}, t{1}, l{0}, dy{0};
  store.execute({"mse", Pass::loss}, TaskBinding()
                                         .tensor("y", std::span(y))
                                         .tensor("t", std::span(t))
                                         .tensor("l", std::span(l))
                                         .gradient("y", std::span(dy)));
  CHECK(l[0] == 4);
  CHECK(dy[0] == 4);

  // No program calls them: the store of the process says so, and keeps nothing.
  for (const Pass pass : {Pass::update, Pass::loss}) {
    const Mistake refused = mistake_of([&] { register_task({"no_pass", pass}, TaskSignature(), nothing); });
    CHECK(refused.code == "E1009");
    CHECK(refused.message.find(pass == Pass::update ? "update of 'no_pass'" : "loss of 'no_pass'") == 0);
    CHECK(mistake_of([&] { (void)task_store().get_signature({"no_pass", pass}); }).code == "E7001");
  }
}

// ---- in programs ----------------------------------------------------------------------------------

namespace {

// y = factor * w * x; of an agent of its own, another factor.
void register_linear(const TaskKey& key, float factor) {
  const TaskSignature signature = TaskSignature().in("x").weight("w").out("y");
  register_task(key, signature, [factor](const TaskArgumentAccessor& a) {
    std::span<const float> x = a.get_tensor<RO, float>("x"), w = a.get_tensor<RO, float>("w");
    std::span<float> y = a.get_tensor<WO, float>("y");
    for (std::size_t i = 0; i < x.size(); ++i) y[i] = factor * w[0] * x[i];
  });
  register_task({key.task, Pass::backward, key.instance}, infer_bwd_signature(signature),
                [factor](const TaskArgumentAccessor& a) {
                  std::span<const float> x = a.get_tensor<RO, float>("x"), w = a.get_tensor<RO, float>("w");
                  std::span<const float> dy = a.get_gradient<RO, float>("y");
                  std::span<float> dx = a.get_gradient<WO, float>("x"), dw = a.get_gradient<WO, float>("w");
                  dw[0] = 0;
                  for (std::size_t i = 0; i < x.size(); ++i) {
                    dx[i] = factor * w[0] * dy[i];
                    dw[0] += factor * x[i] * dy[i];
                  }
                });
}

const std::string two_layers =
    "agent Linear() {\n"
    "  weight w: f32[1] = constant(1.0)\n"
    "  task product(in x: f32[N], in w: f32[1]) -> (y: f32[N]) extern \"registry_test.linear\"\n"
    "  graph forward(x: f32[N]) -> (y: f32[N]) { y = product(x, w).y }\n"
    "}\n"
    "agent Net() {\n"
    "  layer a = Linear()\n"
    "  layer b = Linear()\n"
    "  graph forward(x: f32[N]) -> (y: f32[N]) { y = b.forward(a.forward(x).y).y }\n"
    "}\n";

}  // namespace

TEST_CASE("two Linear layers do not mix: function, weight, gradient and moment are those of each [L1] [dsl]") {
  register_linear({"registry_test.linear"}, 2);
  register_linear({"registry_test.linear", Pass::forward, "Net.b"}, 3);
  Workspace work;
  entered(work, two_layers);
  entered(work, "let n = Net()");
  entered(work, "let x = [1.0, -1.0] as f32[2]");
  CHECK(entered(work, "n.forward(x).y.array") == "[6, -6]");
  entered(work, "let m = train(n, loss: \"mse_sum\", optimizer: sgd(lr: 0.01, momentum: 0.5))");
  entered(work, "m.forward(x); m.backward(x * 5.0);");
  // dL/dy = 2 (6 - 5) x; of b: 3 (2 x) dy; of a: 2 x (3 dy)
  CHECK(entered(work, "m.grad(\"a.w\").array") == "[24]");
  CHECK(entered(work, "m.grad(\"b.w\").array") == "[24]");
  entered(work, "m.update()");
  CHECK(entered(work, "n.forward([1.0] as f32[1]).y.round().array") == "[3]");  // 6 * 0.76 * 0.76 = 3.47
  // A gradient of one layer alone: the other keeps its weight and its moment.
  CHECK(entered(work, "Linear().forward(x).y.array") == "[2, -2]");
}

TEST_CASE("two agents of one struct whose C++ bodies have captures do not mix [L1] [dsl]") {
  struct Times : Agent {
    explicit Times(float k) : k(k) {}
    float k;
    Task apply = task("apply")
                     .in("x", f32("N"))
                     .out("y", f32("N"))
                     .native([k = k](std::span<const float> x, std::span<float> y) { y[0] = k * x[0]; },
                             [k = k](std::span<const float>, std::span<const float>, std::span<const float> dy,
                                     std::span<float> dx) { dx[0] = k * dy[0]; });
  };
  struct Both : Agent {
    Times two = layer("two", Times(2)), three = layer("three", Times(3));
    Var w = weight("w", f32(1), constant(1.0));
    Graph forward = graph("forward").in("x", f32(1)).out("y", f32(1)).body([this](Tensor x) {
      return three.apply(two.apply(x * w)["y"])["y"] + two.apply(x * w)["y"];
    });
  };
  Times two(2), three(3);
  Tensor x = tensor({1}, f32);
  CHECK(two.apply(x).array<float>() == std::vector<float>{2});
  CHECK(three.apply(x).array<float>() == std::vector<float>{3});
  CHECK(two.apply(x * 2.0).array<float>() == std::vector<float>{4});
  Both net;
  ModelTrainingInstance m = train(net, "mse_sum", sgd(0.01));
  CHECK(m.forward(x)["y"].array<float>() == std::vector<float>{8});
  m.backward(x * 7.0);
  CHECK(m.grad("w").array<float>() == std::vector<float>{16});  // 2 (8 - 7) * (3 * 2 + 2)
}

TEST_CASE("the slots of a signature and the parameters of a task find one another by name [L2] [dsl]") {
  register_task({"registry_test.sum"},
                TaskSignature().in("xs", SlotIs::variadic).weight("b", SlotIs::optional).out("y"),
                [](const TaskArgumentAccessor& a) {
                  std::span<float> y = a.get_tensor<WO, float>("y");
                  for (std::size_t i = 0; i < y.size(); ++i) {
                    y[i] = a.has("b") ? a.get_tensor<RO, float>("b")[i] : 0;
                    for (std::size_t k = 0; k < a.count("xs"); ++k) y[i] += a.get_tensor<RO, float>("xs", k)[i];
                  }
                });
  const Tensor x = tensor({1, 2}, f32);
  auto sum = [](const char* name) { return task(name).in("a", f32("N")).in("c", f32("N")); };
  Task two = sum("two").out("y", f32("N")).external("registry_test.sum");
  Task three = sum("three").in("b", f32("N")).out("y", f32("N")).external("registry_test.sum");
  CHECK(two(x, x).array<float>() == std::vector<float>{2, 4});
  CHECK(three(x, x, x * 10.0).array<float>() == std::vector<float>{12, 24});
  auto wrong = [&](const Task& t) { return mistake_of([&] { (void)t(x).array<float>(); }); };
  CHECK(wrong(task("w").in("b", f32("N")).out("y", f32("N")).external("registry_test.sum")).message ==
        "forward of 'registry_test.sum': nothing is given for 'xs'");
  CHECK(wrong(task("other").in("a", f32("N")).out("z", f32("N")).external("registry_test.sum")).message ==
        "'z' of task 'other' is none of the slots of forward of 'registry_test.sum'");
  CHECK(wrong(task("w").in("y", f32("N")).out("xs", f32("N")).external("registry_test.sum")).code == "E1401");
  CHECK(wrong(task("w").in("a", f32("N")).out("y", f32("N")).external("registry_test.none")).code == "E7001");
}

TEST_CASE("a state is a place of the task: a slot of an agent, or a var [L3] [dsl]") {
  register_task({"registry_test.count"}, TaskSignature().in("x").state("calls").out("y"),
                [](const TaskArgumentAccessor& a) {
                  std::span<float> calls = a.get_tensor<RW, float>("calls");
                  calls[0] += 1;
                  std::span<const float> x = a.get_tensor<RO, float>("x");
                  std::span<float> y = a.get_tensor<WO, float>("y");
                  for (std::size_t i = 0; i < x.size(); ++i) y[i] = x[i] * calls[0];
                });
  Task count =
      task("count").in("x", f32("N")).inout("calls", f32(1)).out("y", f32("N")).external("registry_test.count");
  Var calls = var("calls", fill(f32(1), 0.0));
  Tensor x = tensor({1, 2}, f32);
  count(x, calls);
  CHECK(count(x, calls)["y"].array<float>() == std::vector<float>{2, 4});
  CHECK(Tensor(calls).array<float>() == std::vector<float>{2});
  Task reads = task("reads").in("x", f32("N")).in("calls", f32(1)).out("y", f32("N")).external("registry_test.count");
  CHECK(mistake_of([&] { (void)reads(x, x[range(0, 1)]).array<float>(); }).message ==
        "forward of 'registry_test.count': 'calls' is RO here, and the slot is RW");
  Task spans = task("spans")
                   .inout("calls", f32(1))
                   .in("by", f32(1))
                   .out("y", f32(1))
                   .native([](std::span<float> calls, std::span<const float> by, std::span<float> y) {
                     y[0] = calls[0] += by[0];
                   });
  CHECK(spans(calls, tensor({5}, f32)).array<float>() == std::vector<float>{7});
  CHECK(Tensor(calls).array<float>() == std::vector<float>{7});
}

TEST_CASE("what a function did is looked at while that is asked for [L3] [dsl]") {
  const Tensor x = tensor({1, 2, 3}, f32);
  Task writes =
      task("writes").in("x", f32("N")).out("y", f32("N")).native([](std::span<const float> x, std::span<float> y) {
        std::copy(x.begin(), x.end(), y.begin());
        const_cast<float&>(x[1]) = 7;
      });
  Task leaves =
      task("leaves").in("x", f32("N")).out("y", f32("N")).native([](std::span<const float> x, std::span<float> y) {
        for (std::size_t i = 0; i < x.size(); ++i)
          if (i != 1) y[i] = x[i];
      });
  // 0xA5 in each byte: what lies there before a checked call. It counts as written all the same.
  Task odd = task("odd")
                 .in("x", i8("N"))
                 .out("y", i8("N"))
                 .native([](std::span<const std::int8_t> x, std::span<std::int8_t> y) {
                   std::fill(y.begin(), y.end(), x[0]);
                 });
  check_native_tasks(true);
  Mistake mistake = mistake_of([&] { (void)writes(x).array<float>(); });
  CHECK(mistake.code == "E1401");
  CHECK(mistake.message == "'x' is read-only in task 'writes', and its C++ function wrote it");
  mistake = mistake_of([&] { (void)leaves(x).array<float>(); });
  CHECK(mistake.code == "E1006");
  CHECK(mistake.message == "element 1 of output 'y' of task 'leaves' is not set by its C++ function");
  CHECK(x.array<float>() == std::vector<float>{1, 2, 3});  // nothing that it did stays
  CHECK(odd(tensor(std::vector<std::int8_t>{-91, 0})).array<int>() == std::vector<int>{-91, -91});

  // In training, the reverse as well.
  struct Forgetful : Agent {
    explicit Forgetful(const Task& t) : t(t) {}
    Task t;
    Var w = weight("w", f32(3), constant(1.0));
    Graph forward = graph("forward").in("x", f32(3)).out("y", f32(3)).body([this](Tensor x) { return t(x * w)["y"]; });
  };
  auto copy = [](std::span<const float> x, std::span<float> y) { std::copy(x.begin(), x.end(), y.begin()); };
  Task forgets = task("forgets")
                     .in("x", f32(3))
                     .out("y", f32(3))
                     .native(copy, [](std::span<const float>, std::span<const float>, std::span<const float> dy,
                                      std::span<float> dx) { dx[0] = dy[0]; });
  Forgetful net(forgets);
  ModelTrainingInstance m = train(net, "mse_avg", sgd(0.1));
  m.step(x, x * 2.0);
  mistake = mistake_of([&] { (void)m.weight("w"); });
  CHECK(mistake.message ==
        "element 1 of the gradient of 'x' of the reverse of task 'forgets' is not set by its C++ function");
  check_native_tasks(false);
  CHECK(leaves(x).array<float>()[2] == 3);
}

}  // namespace taskspec::registry_test
