// The cases that come with ONNX (Debian's libonnx-testdata): models of one operator and more, their inputs, and what
// they give. Each is imported, checked and run in this process. The gate is task-ir.md 5.4: all cases whose operators
// lie in tiers 1 and 2 and whose inputs and outputs are plain tensors.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include "interp/import/onnx/importer.hpp"
#include "interp/import/onnx/model.hpp"
#include "interp/pipeline.hpp"
#include "tests/unit/programs.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace taskspec::onnx_ops_test {

namespace {

namespace fs = std::filesystem;

const fs::path data_folder = "/usr/share/libonnx-testdata/data";

constexpr const char* tier_1 =
    "Conv Gemm MatMul Relu Add MaxPool AveragePool GlobalAveragePool Flatten Reshape BatchNormalization Clip Softmax "
    "Concat "
    "Constant Identity Dropout Sum Mul LRN Transpose Unsqueeze Squeeze Pad Sub Div Shape Gather Cast ConstantOfShape";
constexpr const char* tier_2 =
    "QuantizeLinear DequantizeLinear QLinearConv QLinearMatMul ConvInteger MatMulInteger DynamicQuantizeLinear Sigmoid "
    "Tanh "
    "LeakyRelu PRelu Elu Selu HardSigmoid HardSwish Gelu Softplus Softsign Swish Mish Celu ThresholdedRelu Exp Log "
    "Sqrt Abs "
    "Neg Pow Reciprocal Floor Ceil Round Sign Min Max Mean Erf Slice Split Expand Tile ReduceMean ReduceSum ReduceMax "
    "ReduceMin ReduceProd ReduceSumSquare ReduceL1 ReduceL2 ReduceLogSum ReduceLogSumExp ArgMax ArgMin GlobalMaxPool "
    "ConvTranspose Resize Upsample InstanceNormalization LayerNormalization GroupNormalization RMSNormalization "
    "LogSoftmax "
    "LpNormalization MeanVarianceNormalization Equal Less Greater LessOrEqual GreaterOrEqual Not And Or Xor Where "
    "Range Size "
    "DepthToSpace SpaceToDepth";

// What the suite expects of these is a draw of its own generator.
const std::set<std::string> random_draws = {"test_training_dropout", "test_training_dropout_default",
                                            "test_training_dropout_default_mask", "test_training_dropout_mask"};

std::set<std::string> words(const char* text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), std::istream_iterator<std::string>()};
}

int tier_of(const onnx::Model& model) {
  static const std::set<std::string> first = words(tier_1), second = words(tier_2);
  int tier = 1;
  for (const onnx::Node& node : model.graph.nodes)
    tier = std::max(tier, !node.domain.empty() ? 4 : first.contains(node.op) ? 1 : second.contains(node.op) ? 2 : 3);
  return tier;
}

bool is_plain(const onnx::Model& model) {
  auto plain = [](const onnx::Declared& d) { return d.precision && *d.precision != Precision::f16; };
  return std::ranges::all_of(model.graph.inputs, plain) && std::ranges::all_of(model.graph.outputs, plain);
}

// ---- one case -------------------------------------------------------------------------------------

struct Case {
  fs::path folder;
  onnx::Model model;
  std::vector<std::string> inputs;      // that are no initializers
  std::map<std::string, Array> arrays;  // of the first set, by name
  std::vector<Array> wanted;
};

Array stored(const fs::path& file) {
  onnx::Stored stored = onnx::read_tensor(file.string());
  if (!stored.array) throw failure("E7003", {}, "its data are " + stored.other);
  return *stored.array;
}

void read_data(Case& test) {
  const fs::path set = test.folder / "test_data_set_0";
  std::set<std::string> own;
  for (const onnx::Stored& weight : test.model.graph.initializers) own.insert(weight.name);
  for (const onnx::Declared& input : test.model.graph.inputs) {
    if (own.contains(input.name)) continue;
    test.arrays[input.name] = stored(set / ("input_" + std::to_string(test.inputs.size()) + ".pb"));
    test.inputs.push_back(input.name);
  }
  for (std::size_t i = 0; i < test.model.graph.outputs.size(); ++i)
    test.wanted.push_back(stored(set / ("output_" + std::to_string(i) + ".pb")));
}

std::string listed(const Array& array) {
  std::ostringstream out;
  out.precision(17);
  for (std::int64_t i = 0; i < array.elements(); ++i) {
    out << (i == 0 ? "" : ",");
    if (is_float(array.precision()))
      out << array.number(i);
    else
      out << array.integer(i);
  }
  return out.str();
}

// The input that a message speaks of, if it is one that is not bound yet.
std::string open_input(const std::string& message, const Case& test, const ImportOptions& options) {
  const std::size_t at = message.find("input '");
  if (at == std::string::npos) return "";
  const std::string name = message.substr(at + 7, message.find('\'', at + 7) - at - 7);
  const bool again = std::ranges::any_of(options.set, [&](const auto& set) { return set.first == name; });
  return test.arrays.contains(name) && !again ? name : "";
}

// Inputs that decide about shapes are bound to what the case gives, as a person would by -D: as parameters they could
// not be -1, which is what is left, or 0, which is the old one.
ModelText imported(const Case& test, ImportOptions& options) {
  for (;;) {
    std::string name;
    try {
      ModelText text = onnx::importer.read((test.folder / "model.onnx").string(), "net", options);
      for (const std::string& note : text.notes)
        if (name.empty()) name = open_input(note, test, options);
      if (name.empty()) return text;
    } catch (const Error& error) {
      const Diag& diag = error.diags().items().front();
      if (diag.code == Code("E7008")) name = open_input(diag.message, test, options);
      if (name.empty()) throw;
    }
    options.set.emplace_back(name, listed(test.arrays.at(name)));
  }
}

bool close(double a, double b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return a == b || std::fabs(a - b) <= 1e-7 + 1e-3 * std::fabs(b);
}

// What is wrong with a result; empty: nothing.
std::string difference(const Array& got, const Array& wanted) {
  if (!(got.type() == wanted.type())) return "is " + got.type().text() + ", not " + wanted.type().text();
  for (std::int64_t i = 0; i < got.elements(); ++i) {
    const bool same =
        is_float(got.precision()) ? close(got.number(i), wanted.number(i)) : got.integer(i) == wanted.integer(i);
    if (!same)
      return "element " + std::to_string(i) + " is " + std::to_string(got.number(i)) + ", not " +
             std::to_string(wanted.number(i));
  }
  return "";
}

std::string said(const Diags& diags) {
  return diags.empty() ? "" : diags.items().front().code.text() + " " + diags.items().front().message;
}

// What is wrong with a case; empty: it passes.
std::string outcome(Case& test, const TemporaryFolder& folder) {
  read_data(test);
  ImportOptions options;
  const ModelText text = imported(test, options);
  if (!text.arrays.empty()) save_arrays(folder / "net.npz", text.arrays);
  Sources sources;
  const Result<Program> program = check_text(folder / "net.task", text.text, {}, standard_toolbox(), sources);
  if (!program) return "does not check: " + said(program.diags());
  std::vector<Value> inputs;
  for (const std::string& name : test.inputs)
    if (std::ranges::none_of(options.set, [&](const auto& set) { return set.first == name; }))
      inputs.emplace_back(test.arrays.at(name));
  RunSettings settings;
  settings.threads = 1;
  const GraphRun run = run_graph(*program, find_graph(*program, "net"), inputs, standard_toolbox(), settings);
  if (run.exit_code != 0) return "does not run: " + said(run.diags);
  for (std::size_t i = 0; i < test.wanted.size(); ++i)
    if (const std::string wrong = difference(run.results[i].second, test.wanted[i]); !wrong.empty())
      return "output " + std::to_string(i) + " " + wrong;
  return "";
}

// ---- all of them ----------------------------------------------------------------------------------

struct Count {
  int passed = 0, all = 0;
};

struct Tally {
  std::map<std::string, Count> gate, total;  // by folder
  std::map<int, Count> tiers;                // of the cases of one node
  std::vector<std::string> failures;
};

void run_case(const fs::path& path, const std::string& kind, Tally& tally, const TemporaryFolder& folder) {
  const std::string name = path.filename().string();
  std::string wrong;
  bool in_gate = false;
  int tier = 0;
  try {
    Case test{path, onnx::read_model((path / "model.onnx").string()), {}, {}, {}};
    tier = tier_of(test.model);
    in_gate = tier <= 2 && is_plain(test.model);
    wrong = outcome(test, folder);
  } catch (const Error& error) {
    wrong = said(error.diags());
  }
  auto count = [&](Count& to) {
    ++to.all;
    to.passed += wrong.empty();
  };
  count(tally.total[kind]);
  if (kind == "node") count(tally.tiers[tier]);
  if (!in_gate) return;
  count(tally.gate[kind]);
  if (!wrong.empty()) tally.failures.push_back(name + ": " + wrong);
}

}  // namespace

TEST_CASE("the cases of ONNX give the results that come with them [onnx-ops]") {
  if (!fs::exists(data_folder)) {
    std::cout << "no cases of ONNX here: install libonnx-testdata\n";
    return;
  }
  Tally tally;
  const TemporaryFolder folder;
  for (const char* kind : {"node", "pytorch-converted", "pytorch-operator", "simple"}) {
    std::vector<fs::path> cases;
    for (const auto& entry : fs::directory_iterator(data_folder / kind)) cases.push_back(entry.path());
    std::ranges::sort(cases);
    for (const fs::path& path : cases) run_case(path, kind, tally, folder);
  }
  for (const auto& [kind, count] : tally.total) {
    const Count gate = tally.gate[kind];
    std::cout << kind << ": gate " << gate.passed << "/" << gate.all << ", all " << count.passed << "/" << count.all
              << "\n";
  }
  for (const auto& [tier, count] : tally.tiers)
    std::cout << "tier " << tier << ": " << count.passed << "/" << count.all << "\n";
  for (const std::string& failure : tally.failures) {
    std::cout << failure << "\n";
    const std::string name = failure.substr(0, failure.find(':'));
    CHECK_MESSAGE(random_draws.contains(name), failure);
  }
  CHECK(tally.gate["node"].all == 568);
  CHECK(tally.gate["pytorch-converted"].all == 82);
  CHECK(tally.gate["pytorch-operator"].all == 35);
  CHECK(tally.gate["simple"].all == 6);
}

}  // namespace taskspec::onnx_ops_test
