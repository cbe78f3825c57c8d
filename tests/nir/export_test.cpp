// Programs as NIR files: what was imported goes back to a file that says the same, and whatever is no network is
// refused.
#include <doctest/doctest.h>

#include <algorithm>

#include "ir/base/diag.hpp"
#include "tests/cli/process.hpp"
#include "tests/guard/tool.hpp"
#include "tests/nir/networks.hpp"

namespace taskspec::export_test {

namespace {

nir::Node node(const std::string& name, const std::string& type, std::map<std::string, nir::Parameter> parameters) {
  return {name, type, std::move(parameters), {}, {}};
}

nir::Node affine(const std::string& name, std::int64_t out, std::int64_t in, std::uint64_t seed) {
  return node(name, "Affine",
              {{"weight", random_numbers({out, in}, seed, -1, 1)}, {"bias", random_numbers({out}, seed + 1, -1, 1)}});
}

nir::Node neuron(const std::string& name, const std::string& type, Extents shape, std::uint64_t seed) {
  std::map<std::string, nir::Parameter> all{
      {"tau", {}}, {"r", {}}, {"v_leak", {}}, {"v_threshold", {}}, {"v_reset", {}}};
  if (type == "IF") all = {{"r", {}}, {"v_threshold", {}}, {"v_reset", {}}};
  if (type == "I") all = {{"r", {}}};
  if (type == "LI") all = {{"tau", {}}, {"r", {}}, {"v_leak", {}}};
  if (type == "Threshold") all = {{"threshold", {}}};
  if (type.starts_with("Cuba")) {
    all = {{"tau_syn", {}}, {"tau_mem", {}}, {"r", {}}, {"v_leak", {}}, {"w_in", {}}};
    if (type == "CubaLIF") all["v_threshold"], all["v_reset"];
  }
  for (auto& [parameter, value] : all) value = random_numbers(shape, ++seed, 1e-3, 0.5);
  return node(name, type, std::move(all));
}

nir::Node window(const std::string& name, const std::string& type, std::vector<std::int64_t> k,
                 std::vector<std::int64_t> s, std::vector<std::int64_t> p) {
  return node(name, type, {{"kernel_size", counts(k)}, {"stride", counts(s)}, {"padding", counts(p)}});
}

nir::Node convolution(const std::string& name, Extents weight, nir::Parameter padding, std::vector<std::int64_t> stride,
                      std::int64_t groups, std::vector<std::int64_t> in) {
  const bool plane = weight.size() == 4;
  return node(name, plane ? "Conv2d" : "Conv1d",
              {{"weight", random_numbers(weight, 3, -1, 1)},
               {"bias", random_numbers({weight[0]}, 4, -1, 1)},
               {"padding", std::move(padding)},
               {"stride", counts(std::move(stride))},
               {"dilation", counts(std::vector<std::int64_t>(plane ? 2 : 1, 1))},
               {"groups", counts({groups})},
               {"input_shape", counts(std::move(in))}});
}

}  // namespace

TEST_CASE("neurons go through a program and come back [nir]") {
  for (const std::string type : {"I", "IF", "LI", "LIF", "CubaLI", "CubaLIF", "Threshold"}) {
    CAPTURE(type);
    const nir::Model model =
        nir::completed(chain({affine("a", 4, 3, 1), neuron("b", type, {4}, 5), affine("c", 2, 4, 9)}, {3}, {2}));
    check_same(model, through_a_program(model, "--precision f64"));
  }
}

TEST_CASE("layers with windows go through a program and come back [nir]") {
  const nir::Model model = chain(
      {convolution("a", {4, 1, 2, 3}, std::string("same"), {1, 1}, 2, {8, 8}), neuron("b", "IF", {4, 8, 8}, 2),
       window("c", "SumPool2d", {2, 2}, {2, 2}, {0, 0}),
       convolution("d", {3, 4, 3, 3}, counts({1, 1}), {2, 1}, 1, {4, 4}),
       window("e", "AvgPool2d", {2, 2}, {1, 1}, {1, 0}),
       node("f", "Scale", {{"scale", random_numbers({3, 3, 3}, 6, 1, 2)}}),
       node("g", "Flatten", {{"start_dim", counts({0})}, {"end_dim", counts({-1})}, {"input_type", counts({3, 3, 3})}}),
       affine("h", 5, 27, 7)},
      {2, 8, 8}, {5});
  check_same(model, through_a_program(model, "--precision f64"));
  const nir::Model pooled =
      chain({window("p", "AvgPool2d", {2, 3}, {2, 3}, {0, 1}), neuron("q", "IF", {2, 3, 2}, 2)}, {2, 7, 4}, {2, 3, 2});
  check_same(pooled, through_a_program(pooled, "--precision f64"));
  const nir::Model line =
      chain({convolution("a", {4, 2, 3}, counts({1}), {2}, 1, {9}), neuron("b", "LIF", {4, 5}, 2)}, {2, 9}, {4, 5});
  check_same(line, through_a_program(line, "--precision f64"));
}

TEST_CASE("loops and delays go through a program and come back [nir] [delay]") {
  std::vector<nir::Node> nodes{input("input", {3}),
                               affine("ff", 4, 3, 1),
                               affine("rec", 4, 4, 3),
                               neuron("cells", "CubaLIF", {4}, 5),
                               node("late", "Delay", {{"delay", numbers({1e-4, 0, 3e-4, 2e-4})}}),
                               node("same", "Delay", {{"delay", numbers({2e-4, 2e-4, 2e-4, 2e-4})}}),
                               output("output", {4})};
  const nir::Model model = network(nodes, {{"input", "ff"},
                                           {"ff", "cells"},
                                           {"cells", "rec"},
                                           {"rec", "cells"},
                                           {"cells", "late"},
                                           {"late", "same"},
                                           {"same", "output"}});
  const nir::Model again = through_a_program(model, "--precision f64");
  check_same(model, again);
  CHECK(std::ranges::find(again.root.edges, std::pair<std::string, std::string>("rec", "cells")) !=
        again.root.edges.end());
  check_same(model, through_a_program(model, "--precision f64 --feedback 3"),
             {{"precision", "f64"}, {"feedback", "3"}});
}

TEST_CASE("a nested graph comes back flat, under the names of its program [nir]") {
  nir::Node inner{
      "block", "NIRGraph", {}, {input("input", {4}), neuron("lif", "LIF", {4}, 5), output("output", {4})}, {}};
  inner.edges = {{"input", "lif"}, {"lif", "output"}};
  const nir::Model model = network({input("input", {3}), affine("fc", 4, 3, 1), inner, output("output", {4})},
                                   {{"input", "fc"}, {"fc", "block"}, {"block", "output"}});
  const nir::Model again = through_a_program(model, "--precision f64");
  const auto lif = std::ranges::find(again.root.nodes, std::string("LIF"), &nir::Node::type);
  REQUIRE(lif != again.root.nodes.end());
  CHECK(lif->name == "block_lif");
  check_same(again, through_a_program(again, "--precision f64"));
  CHECK(again.version == "1.0.7");
}

TEST_CASE("a graph is exported by a program, and what the file leaves open is told [nir]") {
  const TemporaryFolder folder;
  folder.put("net.task", R"(import nir
agent Net() {
  weight w: f32[2, 3] = constant(0.5)
  state v: f32[2] = zero()
  graph forward(x: f32[3]) -> (spikes: f32[2]) {
    let fc = w @ x
    spikes = nir.lif(fc, v, nir.factor(fill(f32[2], 0.01), 1e-3, "exact").k, fill(f32[2], 1.0), fill(f32[2], 0.0),
                     fill(f32[2], 1.0), fill(f32[2], 0.0), "zero").y
  }
}
let net = Net()
export(net.forward, "net.nir")
)");
  CHECK(in_shell("taskspec run net.task", folder).err == "");
  const nir::Model model = nir::read_model(folder / "net.nir");
  std::vector<std::string> names;
  for (const nir::Node& one : model.root.nodes) names.push_back(one.name + " " + one.type);
  CHECK(names == std::vector<std::string>{"fc Linear", "lif LIF", "spikes Output", "x Input"});
  const ToolOutcome told = in_shell("taskspec export net.task --name Net.forward -o again.nir", folder);
  CHECK(told.err ==
        "note: dt 0.001 is not in the file: who imports it says so\n"
        "note: integrator exact is not in the file: who imports it says so\n"
        "note: reset zero is not in the file: who imports it says so\n");
  CHECK(nir::same(model.root, nir::read_model(folder / "again.nir").root));
}

TEST_CASE("an imported model is called as its net, with options of its import [nir]") {
  const TemporaryFolder folder;
  nir::write_model(chain({affine("fc", 2, 3, 1), neuron("b", "LIF", {2}, 5)}, {3}, {2}), folder / "m.nir");
  folder.put("main.task", R"(import "m.nir" as m
let slow = m(dt: 1e-4)
let fine = m(dt: 1e-4, precision: "f64", record: "all")
let x = fill(f32[3], 2.0)
print(slow.forward(x))
let r = run fine.forward(x as f64[3]) on host(time_steps: 5)
print(r.steps.b_voltages.shape, r.steps.b_voltages.precision, r.steps.output.shape)
)");
  const ToolOutcome ran = in_shell("taskspec run main.task", folder);
  CHECK(ran.err == "");
  CHECK(ran.out == "<M.forward#0.output : f32[2], 1 step>\n[5, 2] f64 [5, 2]\n");
  folder.put("wrong.task", "import \"m.nir\" as m\nlet n = m(speed: 3)\n");
  CHECK(in_shell("taskspec check wrong.task", folder).err.find("a NIR model has no option 'speed'") !=
        std::string::npos);
  folder.put("late.task", "import \"m.nir\" as m\nfn f(p: string) { let n = m(precision: p) }\nf(\"f64\")\n");
  CHECK(in_shell("taskspec check late.task", folder).err.find("error E1003: 'precision' is an option of the import") !=
        std::string::npos);
}

TEST_CASE("what no node of NIR does is refused, all of it [nir]") {
  const TemporaryFolder folder;
  folder.put("net.task",
             "graph g(x: f32[3], y: f32[3]) -> (z: f32[3]) {\n  let a = tanh(x)\n  let b = x * y\n  z = a + b\n}\n"
             "graph h(x: f32[N]) -> (z: f32[N]) { z = x * 2.0 }\n");
  const ToolOutcome both = in_shell("taskspec export net.task --name g -o g.nir", folder);
  CHECK(both.code == 1);
  CHECK(both.err.find("error E4037: 'tanh#0': NIR has no node for it") != std::string::npos);
  CHECK(both.err.find("error E4037: 'mul#0': it multiplies two values, and a scale is known") != std::string::npos);
  CHECK(in_shell("taskspec export net.task --name h -o h.nir", folder).err.find("NIR wants numbers for its extents") !=
        std::string::npos);
  CHECK(in_shell("taskspec export net.task -o h.nir", folder).err ==
        "taskspec: choose a graph with --name; there are g, h\n");
}

}  // namespace taskspec::export_test
