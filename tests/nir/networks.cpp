#include "tests/nir/networks.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "ir/base/diag.hpp"
#include "tests/cli/process.hpp"
#include "tests/guard/tool.hpp"

using namespace taskspec;

Array numbers(std::vector<double> values, Extents shape) {
  if (shape.empty()) shape = {static_cast<std::int64_t>(values.size())};
  Array array = Array::make({Precision::f64, shape});
  std::ranges::copy(values, array.data<double>().begin());
  return array;
}

Array number(double value) {
  Array array = Array::make({Precision::f64, {}});
  array.data<double>()[0] = value;
  return array;
}

Array counts(std::vector<std::int64_t> values) {
  Array array = Array::make({Precision::i64, {static_cast<std::int64_t>(values.size())}});
  std::ranges::copy(values, array.data<std::int64_t>().begin());
  return array;
}

nir::Node input(const std::string& name, std::vector<std::int64_t> shape) {
  return {name, "Input", {{"shape", counts(std::move(shape))}}, {}, {}};
}
nir::Node output(const std::string& name, std::vector<std::int64_t> shape) {
  return {name, "Output", {{"shape", counts(std::move(shape))}}, {}, {}};
}

nir::Model network(std::vector<nir::Node> nodes, std::vector<std::pair<std::string, std::string>> edges) {
  return {nir::written_version, {"", "NIRGraph", {}, std::move(nodes), std::move(edges)}};
}

nir::Model chain(std::vector<nir::Node> nodes, std::vector<std::int64_t> in, std::vector<std::int64_t> out) {
  std::vector<std::pair<std::string, std::string>> edges;
  std::string last = "input";
  for (const nir::Node& node : nodes) {
    edges.emplace_back(last, node.name);
    last = node.name;
  }
  edges.emplace_back(last, "output");
  nodes.push_back(input("input", std::move(in)));
  nodes.push_back(output("output", std::move(out)));
  return network(std::move(nodes), std::move(edges));
}

namespace {

std::string driver(const Array& input, const std::vector<std::string>& wanted) {
  std::string text = "import net as net\nlet x = load(" + input.type().text() + ", \"x.npy\")\n";
  text += "let r = run net.Net().forward(x) on host(time_steps: " + std::to_string(input.extents()[0]) + ")\n";
  for (const std::string& name : wanted) text += "save(r.steps." + name + ", \"" + name + ".npy\")\n";
  return text;
}

}  // namespace

Outputs run(const nir::Model& model, const Options& options, const Array& input, std::vector<std::string> wanted) {
  TemporaryFolder folder;
  const std::string place = folder.path().string() + "/";
  nir::write_model(model, place + "net.nir");
  const ModelText made = nir::importer.read(place + "net.nir", "net", {options});
  write_text(place + "net.task", made.text);
  if (!made.arrays.empty()) save_arrays(place + "net.npz", made.arrays);
  save_array(input, place + "x.npy");
  write_text(place + "run.task", driver(input, wanted));
  Process tool({.arguments = {"run", "run.task"}, .folder = folder.path()});
  REQUIRE_MESSAGE(tool.wait() == 0, tool.err() << made.text);
  Outputs outputs;
  for (const std::string& name : wanted) outputs[name] = load_array(place + name + ".npy");
  return outputs;
}

// As a person does it: the model becomes a program, the program a file.
nir::Model through_a_program(const nir::Model& model, const std::string& flags) {
  const TemporaryFolder folder;
  nir::write_model(model, folder / "net.nir");
  const ToolOutcome in = in_shell("taskspec import net.nir -o net.task " + flags, folder);
  REQUIRE_MESSAGE(in.code == 0, in.err);
  const ToolOutcome out = in_shell("taskspec export net.task --name net -o again.nir", folder);
  REQUIRE_MESSAGE(out.code == 0, out.err << read_text(folder / "net.task"));
  return nir::read_model(folder / "again.nir");
}

void check_same(const nir::Model& a, const nir::Model& b, const Options& options) {
  const ModelText one = nir::program_of(a, "net.nir", "net", {options}),
                  two = nir::program_of(b, "net.nir", "net", {options});
  CHECK(one.text == two.text);
  REQUIRE(one.arrays.size() == two.arrays.size());
  for (std::size_t i = 0; i < one.arrays.size(); ++i) {
    CHECK(one.arrays[i].name == two.arrays[i].name);
    CHECK_MESSAGE(largest_difference(one.arrays[i].array, two.arrays[i].array) == 0, one.arrays[i].name);
  }
}

std::string refusal(const nir::Model& model, const Options& options) {
  try {
    nir::program_of(model, "net.nir", "net", {options});
  } catch (const Error& error) {
    const Diag& diag = error.diags().items().front();
    std::string text = std::string(diag.code.text()) + " " + diag.message;
    for (const std::string& note : diag.notes) text += "\n" + note;
    return text;
  }
  return "";
}

Array random_numbers(Extents shape, std::uint64_t seed, double low, double high) {
  Array array = Array::make({Precision::f64, std::move(shape)});
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> between(low, high);
  for (double& value : array.data<double>()) value = between(random);
  return array;
}

double largest_difference(const Array& a, const Array& b) {
  REQUIRE(a.type() == b.type());
  double largest = 0;
  for (std::int64_t i = 0; i < a.elements(); ++i) {
    const double difference = std::abs(a.number(i) - b.number(i));
    if (!(difference <= largest)) largest = difference;
  }
  return largest;
}
