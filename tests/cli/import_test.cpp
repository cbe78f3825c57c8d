// `taskspec import` and `import "net.onnx" as net`: from a model file to a program that runs.
#include <doctest/doctest.h>

#include <filesystem>

#include "ir/files/files.hpp"
#include "tests/guard/tool.hpp"
#include "tests/unit/onnx_builder.hpp"

namespace taskspec::import_test {

namespace fs = std::filesystem;

namespace {

taskspec::Array scalar_of(std::int64_t value) {
  taskspec::Array array = taskspec::Array::make({taskspec::Precision::i64, {}});
  array.set_integer(0, value);
  return array;
}

// relu([1 2 3 4] w1' + b1) w2' + b2 with the weights of onnx_mlp, in double.
std::string wanted_of_mlp() {
  auto w = [](std::int64_t i) { return 0.1 + 0.1 * static_cast<double>(i % 7); };
  std::string text;
  for (std::int64_t o = 0; o < 3; ++o) {
    double y = w(o);
    for (std::int64_t h = 0; h < 5; ++h) {
      double sum = w(h);
      for (std::int64_t i = 0; i < 4; ++i) sum += w(h * 4 + i) * static_cast<double>(i + 1);
      y += w(o * 5 + h) * std::max(0.0, sum);
    }
    text += (o == 0 ? "" : ", ") + std::to_string(y);
  }
  return text;
}

const std::string program =
    "import \"net.onnx\" as net\n"
    "let x = [[1.0, 2.0, 3.0, 4.0]] as f32[1, 4]\n"
    "print(close(net.net(x).y.array, [[" +
    wanted_of_mlp() +
    "]], rel: 1e-5))\n"
    "let m = net.Net()\n"
    "print(m.forward(x).y.shape)\n";

}  // namespace

TEST_CASE("a program imports an ONNX model as a module [onnx]") {
  const TemporaryFolder folder;
  folder.put("net.onnx", onnx_mlp().bytes());
  folder.put("main.task", program);
  const ToolOutcome ran = in_shell("taskspec run main.task", folder);
  CHECK(ran.err == "");
  CHECK(ran.out == "true\n[1, 3]\n");
}

TEST_CASE("the module of a model has its weights wherever the program is started, and leaves nothing behind [onnx]") {
  const TemporaryFolder folder;
  fs::create_directories(folder.path() / "nets");
  fs::create_directories(folder.path() / "tmp");
  folder.put("nets/net.onnx", onnx_mlp().bytes());
  folder.put("nets/main.task", program);
  const ToolOutcome ran = in_shell("TMPDIR=$PWD/tmp taskspec run nets/main.task", folder);
  CHECK(ran.err == "");
  CHECK(ran.out == "true\n[1, 3]\n");
  CHECK(fs::is_empty(folder.path() / "tmp"));
}

TEST_CASE("import writes a program and its weights beside it [onnx]") {
  const TemporaryFolder folder;
  folder.put("net.onnx", onnx_mlp().bytes());
  fs::create_directories(folder.path() / "out");
  const ToolOutcome made = in_shell("taskspec import net.onnx -o out/mlp.task", folder);
  CHECK(made.code == 0);
  CHECK(made.out.starts_with("wrote out/mlp.npz: "));
  const std::string text = taskspec::read_text(folder / "out/mlp.task");
  CHECK(text.find("weight fc1_weight: f32[5, 4] = file(\"mlp.npz\", name: \"fc1.weight\")") != std::string::npos);
  CHECK(text.find("graph mlp(x: f32[Batch, 4]) -> (y: f32[Batch, 3])") != std::string::npos);
  CHECK(in_shell("taskspec fmt --check out/mlp.task", folder).code == 0);
  // The weights are found beside the text, from any folder.
  const ToolOutcome ran = in_shell("taskspec run out/mlp.task --name mlp -D 'x=[[1.0, 2.0, 3.0, 4.0]]'", folder);
  CHECK(ran.err == "");
  CHECK(ran.out.starts_with("y: [["));
  CHECK(in_shell("taskspec import net.onnx -o mlp.onnx", folder).code == 2);
}

TEST_CASE("an open extent and an input that decides about shapes are bound at import [onnx]") {
  const TemporaryFolder folder;
  folder.put("net.onnx", onnx_mlp().bytes());
  CHECK(in_shell("taskspec import net.onnx -o net.task -D batch=2", folder).code == 0);
  CHECK(taskspec::read_text(folder / "net.task").find("(x: f32[2, 4])") != std::string::npos);
  const ToolOutcome unknown = in_shell("taskspec import net.onnx -o net.task -D bach=2", folder);
  CHECK(unknown.code == 1);
  CHECK(unknown.err == "error E7008: 'net.onnx' has no input and no open extent 'bach'; there are: batch, x\n");
  OnnxModel shaped;
  shaped.input("x", {2, 3}).input("shape", {2}, 7).output("y", {3, 2}).node("Reshape", {"x", "shape"}, {"y"});
  folder.put("shaped.onnx", shaped.bytes());
  CHECK(in_shell("taskspec import shaped.onnx -o shaped.task -D shape=3,-1", folder).code == 0);
  CHECK(taskspec::read_text(folder / "shaped.task").find("x.reshape(3, 2)") != std::string::npos);
}

TEST_CASE("operators that are not known are told of all at once [onnx]") {
  const TemporaryFolder folder;
  OnnxModel model;
  model.input("x", {2}).output("y", {2});
  model.node("Frob", {"x"}, {"a"})
      .node("Frob", {"a"}, {"b"})
      .node("Relu", {"b"}, {"c"})
      .node("Twist", {"c"}, {"y"}, {}, "com.acme");
  folder.put("odd.onnx", model.bytes());
  const ToolOutcome odd = in_shell("taskspec import odd.onnx -o odd.task", folder);
  CHECK(odd.code == 1);
  CHECK(odd.err ==
        "error E7007: 'odd.onnx' uses 2 operators that are not known at opset 13\n"
        "  = note: Frob: 2 nodes: Frob_a, Frob_b\n"
        "  = note: com.acme.Twist: 1 node: Twist_y\n");
  CHECK_FALSE(fs::exists(folder.path() / "odd.task"));
}

TEST_CASE("files that are no models, or broken ones, end with a diagnostic [onnx] [hostile]") {
  const TemporaryFolder folder;
  const std::string whole = onnx_mlp().bytes();
  folder.put("cut.onnx", whole.substr(0, whole.size() / 2));
  CHECK(in_shell("taskspec import cut.onnx -o cut.task", folder).err.starts_with("error E7003: 'cut.onnx' is broken"));
  folder.put("text.txt", "hello");
  CHECK(in_shell("taskspec import text.txt -o text.task", folder)
            .err.starts_with("error E7003: 'text.txt' is no model file"));
  CHECK(in_shell("taskspec import none.onnx -o none.task", folder).err.starts_with("error E7001: no file 'none.onnx'"));
  folder.put("main.task", "import \"cut.onnx\" as net\n");
  const ToolOutcome in_program = in_shell("taskspec check main.task", folder);
  CHECK(in_program.code == 1);
  CHECK(in_program.err.find("main.task:1:8") != std::string::npos);
  folder.put("main.task", "import \"my-net.onnx\"\n");
  folder.put("my-net.onnx", whole);
  CHECK(in_shell("taskspec check main.task", folder).err.find("error E0001") != std::string::npos);
}

TEST_CASE("inputs that decide about shapes are parameters of the net [onnx]") {
  const TemporaryFolder folder;
  OnnxModel model;
  model.input("x", {2, 3}).input("shape", {2}, 7).input("times", {2}, 7).input("n", {}, 7).input("ends", {1}, 7);
  model.weight("0", array_of_integers({0})).weight("one", array_of_integers({1}));
  model.weight("zero", scalar_of(0)).weight("step", scalar_of(1));
  model.node("Reshape", {"x", "shape"}, {"y"}).node("Tile", {"y", "times"}, {"z"});
  model.node("Range", {"zero", "n", "step"}, {"counted"});
  // Worked out of an input: n + 1 in front, as many as the input says behind.
  model.node("Add", {"n", "step"}, {"longer"}).node("Reshape", {"longer", "one"}, {"list"});
  model.node("Concat", {"list", "ends"}, {"pads"}, {attribute("axis", std::int64_t{0})});
  model.node("Pad", {"counted", "pads"}, {"padded"}).node("Slice", {"padded", "0", "ends"}, {"part"});
  model.output("z", {"a", "b"}).output("padded", {"c"}, 7).output("part", {"d"}, 7);
  folder.put("shaped.onnx", model.bytes());
  CHECK(in_shell("taskspec import shaped.onnx -o shaped.task", folder).err ==
        "note: input 'ends' decides about shapes: it is a parameter of the network\n"
        "note: input 'n' decides about shapes: it is a parameter of the network\n"
        "note: input 'shape' decides about shapes: it is a parameter of the network\n"
        "note: input 'times' decides about shapes: it is a parameter of the network\n");
  const std::string text = taskspec::read_text(folder / "shaped.task");
  CHECK(text.find("agent Net(shape_0: int, shape_1: int, times_0: int, times_1: int, n: int, ends: int)") !=
        std::string::npos);
  folder.put("use.task",
             "import \"shaped.onnx\" as shaped\n"
             "let x = [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]] as f32[2, 3]\n"
             "for k in 1..3 {\n"
             "  let y = shaped.shaped(x, 6 / k, k, 1, k, n: 2, ends: k)\n"
             "  print(y.z.array, y.padded.array, y.part.array)\n"
             "}\n");
  const ToolOutcome ran = in_shell("taskspec run use.task", folder);
  CHECK(ran.out ==
        "[[1], [2], [3], [4], [5], [6]] [0, 0, 0, 0, 1, 0] [0]\n"
        "[[1, 2, 1, 2], [3, 4, 3, 4], [5, 6, 5, 6]] [0, 0, 0, 0, 1, 0, 0] [0, 0]\n");
  CHECK_MESSAGE(ran.code == 0, ran.err);
}

TEST_CASE("where signs and axes matter, numbers are asked for at import [onnx]") {
  const TemporaryFolder folder;
  OnnxModel sums, stretched;
  sums.input("x", {2, 3}).input("axes", {1}, 7).output("y", {1, 3}).node("ReduceSum", {"x", "axes"}, {"y"});
  stretched.input("x", {3, 1}).input("shape", {2}, 7).output("y", {3, 4}).node("Expand", {"x", "shape"}, {"y"});
  folder.put("sums.onnx", sums.bytes());
  folder.put("stretched.onnx", stretched.bytes());
  for (const std::string name : {"sums", "stretched"}) {
    const ToolOutcome open = in_shell("taskspec import " + name + ".onnx -o x.task", folder);
    CHECK(open.code == 1);
    CHECK(open.err.find("error E7008: '" + name + ".onnx': ") == 0);
    CHECK(open.err.find(name == "sums" ? "-D axes=" : "-D shape=") != std::string::npos);
  }
  CHECK(in_shell("taskspec import sums.onnx -o x.task -D axes=0", folder).code == 0);
  CHECK(in_shell("taskspec import stretched.onnx -o x.task -D shape=3,4", folder).code == 0);
}

// A few bytes that ask for billions of numbers.
TEST_CASE("what a model unfolds into is in proportion to its file [onnx] [hostile]") {
  const std::int64_t huge = std::int64_t{1} << 30;
  const TemporaryFolder folder;
  const auto refused = [&](OnnxModel& model) {
    folder.put("net.onnx", model.output("y", {1}).bytes());
    return in_shell("taskspec import net.onnx -o net.task", folder, 20).err;
  };
  const std::vector<Message> reflects{attribute("mode", std::string("reflect"))};
  OnnxModel border, resized, indices;
  border.input("x", {4}).weight("pads", array_of_integers({huge, huge})).node("Pad", {"x", "pads"}, {"y"}, reflects);
  CHECK(refused(border).find("more numbers than a model of its size is worth") != std::string::npos);
  resized.input("x", {1, 4}).weight("none", array_of_reals({0})).weight("sizes", array_of_integers({1, huge}));
  resized.node("Resize", {"x", "none", "none", "sizes"}, {"y"}, {attribute("mode", std::string("linear"))});
  CHECK(refused(resized).find("more numbers than a model of its size is worth") != std::string::npos);
  indices.input("x", {1, 1, 1 << 12, 1 << 12});
  indices.node("MaxPool", {"x"}, {"y", "i"}, {attribute("kernel_shape", std::vector<std::int64_t>{2, 2})});
  indices.node("Identity", {"i"}, {"z"}).output("z", {1});
  CHECK(refused(indices).find("E7003") != std::string::npos);
  OnnxModel nothing;
  folder.put("net.onnx", nothing.input("x", {4}).bytes());
  CHECK(in_shell("taskspec import net.onnx -o net.task", folder).err.find("has no output") != std::string::npos);
}

TEST_CASE("weights beside a model stay in its folder [onnx] [hostile]") {
  const TemporaryFolder folder;
  fs::create_directories(folder.path() / "in");
  folder.put("secret", std::string(16, 'x'));
  folder.put("in/w.bin", std::string(16, '\0'));
  auto model = [](const std::string& location) {
    OnnxModel made;
    made.input("x", {4}).output("y", {4}).weight_beside("w", {4}, location).node("Add", {"x", "w"}, {"y"});
    return made.bytes();
  };
  folder.put("in/net.onnx", model("w.bin"));
  CHECK(in_shell("taskspec import in/net.onnx -o net.task", folder).code == 0);
  fs::create_symlink("../secret", folder.path() / "in/link");
  for (const std::string location : {"../secret", "link", "/etc/passwd"}) {
    folder.put("in/net.onnx", model(location));
    CHECK(in_shell("taskspec import in/net.onnx -o net.task", folder).err.find("lie outside of the model's folder") !=
          std::string::npos);
  }
  folder.put("in/net.onnx", model("none.bin"));
  CHECK(in_shell("taskspec import in/net.onnx -o net.task", folder).err.starts_with("error E7001"));
  folder.put("in/w.bin", std::string(15, '\0'));
  folder.put("in/net.onnx", model("w.bin"));
  CHECK(in_shell("taskspec import in/net.onnx -o net.task", folder).err.starts_with("error E7003"));
}

TEST_CASE("an imported net is trained [onnx]") {
  const TemporaryFolder folder;
  folder.put("net.onnx", onnx_mlp().bytes());
  folder.put("main.task",
             "import \"net.onnx\" as net\n"
             "let x = [[1.0, 2.0, 3.0, 4.0]] as f32[1, 4]\n"
             "let m = train(net.Net(), loss: \"mse_avg\", optimizer: sgd(lr: 0.001))\n"
             "m.forward(x)\n"
             "m.backward(fill(f32[1, 3], 1.0))\n"
             "let before = m.loss.scalar\n"
             "m.update()\n"
             "for i in 0..5 {\n"
             "  m.forward(x)\n"
             "  m.backward(fill(f32[1, 3], 1.0))\n"
             "  m.update()\n"
             "}\n"
             "let after = m.loss.scalar\n"
             "print(after < before)\n");
  const ToolOutcome ran = in_shell("taskspec run main.task", folder);
  CHECK(ran.err == "");
  CHECK(ran.out == "true\n");
}

}  // namespace taskspec::import_test
