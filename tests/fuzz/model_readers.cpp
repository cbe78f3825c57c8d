// The readers of model files, here in this process: what `taskspec-models` does with a file before it writes anything.
#include <optional>

#include "interp/embed/toolbox.hpp"
#include "interp/import/importer.hpp"
#include "interp/load.hpp"
#include "tests/fuzz/readers.hpp"
#include "tests/unit/onnx_builder.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace taskspec::fuzz {

namespace {

std::string convolutional() {
  OnnxModel model;
  model.input("x", {"batch", 3, 8, 8}).output("y", {"batch", 2});
  model.weight("c", array_of_reals({4, 3, 3, 3})).weight("b", array_of_reals({4})).weight("f", array_of_reals({16, 2}));
  model.node("Conv", {"x", "c", "b"}, {"a"},
             {attribute("pads", std::vector<std::int64_t>{1, 1, 0, 1}),
              attribute("strides", std::vector<std::int64_t>{2, 2})});
  model.node("MaxPool", {"a"}, {"p"},
             {attribute("kernel_shape", std::vector<std::int64_t>{2, 2}),
              attribute("strides", std::vector<std::int64_t>{2, 2}), attribute("ceil_mode", std::int64_t{1})});
  model.node("Flatten", {"p"}, {"l"}).node("Gemm", {"l", "f"}, {"g"}).node("Softmax", {"g"}, {"y"});
  return model.bytes();
}

// Shapes that are worked out at import.
std::string reshaping() {
  OnnxModel model;
  model.input("x", {"n", 2, 6}).output("y", {3, "n"});
  model.weight("zero", array_of_integers({0}))
      .weight("rest", array_of_integers({-1}))
      .weight("index", array_of_integers({1, -1, 3}));
  model.node("Shape", {"x"}, {"s"})
      .node("Gather", {"s", "zero"}, {"n"})
      .node("Concat", {"n", "rest"}, {"wanted"}, {attribute("axis", std::int64_t{0})});
  model.node("Reshape", {"x", "wanted"}, {"r"})
      .node("Gather", {"r", "index"}, {"g"}, {attribute("axis", std::int64_t{1})});
  model.node("Transpose", {"g"}, {"y"}, {attribute("perm", std::vector<std::int64_t>{1, 0})});
  return model.bytes();
}

std::string recurrent() {
  OnnxModel model;
  model.input("x", {5, 2, 3}).output("y", {5, 1, 2, 4});
  model.weight("w", array_of_reals({1, 16, 3}))
      .weight("r", array_of_reals({1, 16, 4}))
      .weight("b", array_of_reals({1, 32}));
  model.node("LSTM", {"x", "w", "r", "b"}, {"y"}, {attribute("hidden_size", std::int64_t{4})});
  return model.bytes();
}

std::string resizing() {
  OnnxModel model;
  model.input("x", {1, 2, 4, 4})
      .output("y", {1, 2, 8, 6})
      .weight("none", array_of_reals({0}))
      .weight("sizes", array_of_integers({1, 2, 8, 6}));
  model.node("Resize", {"x", "none", "none", "sizes"}, {"r"}, {attribute("mode", std::string("cubic"))});
  model.weight("pads", array_of_integers({0, 0, 1, 1, 0, 0, 1, 1}))
      .node("Pad", {"r", "pads"}, {"p"}, {attribute("mode", std::string("reflect"))});
  model.weight("from", array_of_integers({1, 1}))
      .weight("to", array_of_integers({9, 7}))
      .weight("axes", array_of_integers({2, 3}));
  model.node("Slice", {"p", "from", "to", "axes"}, {"y"});
  return model.bytes();
}

std::vector<std::string> onnx_samples() {
  return {onnx_mlp().bytes(), convolutional(), reshaping(), recurrent(), resizing()};
}

// Nothing for a model that is whole, but says what the language cannot: operators or extents that are not known,
// weights that lie nowhere, extents beyond all numbers.
std::optional<ModelText> read_or_refused(const std::string& path) {
  try {
    return importer_of(path).read(path, "net", {});
  } catch (const Error& error) {
    const Code code = error.diags().items().front().code;
    for (const Code refused : {Code("E7001"), Code("E7007"), Code("E7008"), Code("E5001")})
      if (code == refused) return std::nullopt;
    throw;
  }
}

bool read_onnx(const std::string& bytes) {
  static const TemporaryFolder folder;
  folder.put("net.onnx", bytes);
  const std::optional<ModelText> read = read_or_refused(folder / "net.onnx");
  if (!read) return false;
  const ModelText& made = *read;
  if (made.text.find("agent Net") == std::string::npos) throw Odd("the text of the model holds no agent");
  if (made.text.size() > 100'000) return true;
  static const Toolbox tools = standard_toolbox();
  // A model may contradict itself, but its text is one of the language.
  Sources sources;
  const Result<Program> program = check_text(folder / "net.task", made.text, {}, tools, sources);
  for (const Diag& diag : program.diags().items())
    if (diag.code.number() < 1000) throw Odd("the text of the model is none of the language: " + diag.message);
  return true;
}

}  // namespace

extern const Reader reader_onnx{Grain::bytes, onnx_samples, nullptr, read_onnx};

}  // namespace taskspec::fuzz
