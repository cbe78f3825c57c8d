// The modules below `data` that read files of the user, and what all of them say of wrong input.
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/guard/tool.hpp"

namespace taskspec::data_test {

namespace {

// A folder files/ in the formats of MNIST (5 and 3 images, the latter packed) and CIFAR-10 (2 in each file).
const std::string make_files = R"(
  mkdir files && cat > make.task <<'END'
save((iota(5 * 784) % 256).reshape(5, 28, 28) as u8[5, 28, 28], "files/train-images-idx3-ubyte")
save(tensor([3, 1, 4, 1, 5], "u8"), "files/train-labels-idx1-ubyte")
save(fill(u8[3, 28, 28], 51), "files/t10k-images-idx3-ubyte")
save(tensor([9, 2, 6], "u8"), "files/t10k-labels-idx1-ubyte")
for i in 1..6 {
  let labels = tensor([[i], [9 - i]], "u8")
  save(concat([labels, (iota(2 * 3072) % 256).reshape(2, 3072) as u8[2, 3072]], 1), format("files/data_batch_{}.bin", i))
}
save(concat([tensor([[7], [8]], "u8"), fill(u8[2, 3072], 255)], 1), "files/test_batch.bin")
END
  taskspec run make.task && gzip files/t10k-*-ubyte && export TASKSPEC_DATA=files && )";

ToolOutcome run_program(const std::string& text, const std::string& before) {
  return in_shell(before + " cat > main.task <<'END'\n" + text + "\nEND\ntaskspec run main.task");
}

// What it said of the first thing that went wrong.
std::string error_of(const std::string& text, const std::string& before = "unset TASKSPEC_DATA;") {
  const ToolOutcome ran = run_program(text, before);
  CHECK(ran.code == 3);
  CHECK(ran.out == "");
  return ran.err.substr(0, ran.err.find('\n'));
}

const std::string mnist = "import data.mnist as mnist\n";
const std::string cifar = "import data.cifar10 as cifar10\n";

}  // namespace

TEST_CASE("[data] mnist: where there are no files, generated digits and one note") {
  const ToolOutcome ran = run_program(
      mnist +
          "import data.digits as digits\n"
          "fn same(a: f32[N, 784], b: f32[N, 784]) -> bool { return (abs(a - b).max() == 0.0).scalar }\n"
          "let (x, y) = mnist.train(12)\nlet (u, v) = digits.train(12)\nprint(same(x, u), y.array == v.array)\n"
          "let (p, q) = mnist.held_back(3)\nlet (r, s) = digits.held_back(3)\nprint(same(p, r), q.array == s.array)\n"
          "for epoch in 0..2 { for (a, b) in mnist.batches(8, seed: epoch, rows: 12) { print(a.shape, b.array) } }\n"
          "for epoch in 0..2 { for (a, b) in digits.batches(8, seed: epoch, rows: 12) { print(a.shape, b.array) } }",
      "unset TASKSPEC_DATA;");
  CHECK(ran.code == 0);
  CHECK_MESSAGE(ran.out.starts_with("true true\ntrue true\n"), ran.out);
  const std::string batches = ran.out.substr(20);
  CHECK(batches.substr(0, batches.size() / 2) == batches.substr(batches.size() / 2));
  CHECK(ran.err == "note: data.mnist: TASKSPEC_DATA is not set; the digits are those that data.digits draws\n");
}

TEST_CASE("[data] mnist: the files of the user, as they are or packed") {
  const ToolOutcome ran = run_program(
      mnist +
          "let (x, y) = mnist.train()\nprint(x.shape, y.array, (x[0] * 255.0)[100..103].array, x.max().scalar)\n"
          "let (u, v) = mnist.held_back(2)\nprint(u.shape, v.array, close(u[1][783].scalar, 0.2))\n"
          "var sum = fill(f32, 0.0)\nlet labels = y.array\nvar seen: [int] = []\n"
          "for (a, b) in mnist.batches(2, seed: 3) { sum += a.sum()\n seen += b.array }\n"
          "print(sort(seen), close(sum.scalar, x.sum().scalar), len(mnist.batches(2, drop_last: true)))\n"
          "let batch = mnist.on_demand(2, seed: 3)\nlet (p, q) = batch(1)\nlet (r, s) = mnist.batches(2, seed: 3)[1]\n"
          "print(p.array == r.array, q.array == s.array)",
      make_files);
  CHECK_MESSAGE(ran.err == "", ran.err);
  CHECK(ran.out ==
        "[5, 784] [3, 1, 4, 1, 5] [100, 101, 102] 1\n[2, 784] [9, 2] true\n[1, 1, 3, 4, 5] true 2\ntrue true\n");
}

TEST_CASE("[data] mnist: what is wrong with the files is said with their names") {
  const std::string train = mnist + "let (x, y) = mnist.train()";
  CHECK(error_of(train, "export TASKSPEC_DATA=none;") == "error E7001: no folder 'none'");
  CHECK(error_of(train, "mkdir none; export TASKSPEC_DATA=none;") ==
        "error E7001: no file 'none/train-labels-idx1-ubyte'");
  CHECK(error_of(mnist + "mnist.batches(2, rows: 6)", make_files) ==
        "error E5005: assertion failed: 6 images of files/train-images-idx3-ubyte are wanted; there are 5");
  CHECK(error_of(mnist + "mnist.batches(2, rows: 0)", make_files) ==
        "error E5005: assertion failed: 0 images; at least 1 is needed");
  CHECK(error_of(train, make_files + "cp files/train-labels-idx1-ubyte x && gunzip -c files/t10k-labels-idx1-ubyte.gz "
                                     "> files/train-labels-idx1-ubyte &&") ==
        "error E5005: assertion failed: files/train-images-idx3-ubyte holds 5 images, "
        "files/train-labels-idx1-ubyte holds 3 labels");
  CHECK(error_of(train, make_files + "printf 'save(tensor([1, 2, 10, 3, 11], \"u8\"), "
                                     "\"files/train-labels-idx1-ubyte\")' | taskspec run - &&") ==
        "error E5005: assertion failed: files/train-labels-idx1-ubyte: the label of row 2 is 10, not in 0..10");
  CHECK(error_of(train, make_files + "printf 'save(fill(u8[5, 28, 29], 1), \"files/train-images-idx3-ubyte\")' | "
                                     "taskspec run - &&") ==
        "error E5004: 'files/train-images-idx3-ubyte' holds u8[5, 28, 29]; u8[_, 28, 28] is needed");
  CHECK(error_of(train, make_files + "truncate -s 1000 files/train-images-idx3-ubyte &&")
            .starts_with("error E7003: 'files/train-images-idx3-ubyte' "));
}

TEST_CASE("[data] cifar10: the records of its files, beside one another or in the folder they come in") {
  const std::string program =
      cifar +
      "let (x, y) = cifar10.train(10)\nprint(x.shape, y.array, (x[3] * 255.0)[0][1][0..3].array)\n"
      "let (u, v) = cifar10.held_back(2)\nprint(u.min().scalar, map(v.array, label => cifar10.names[label]))\n"
      "for (a, b) in cifar10.batches(4, seed: 1, rows: 10) { print(a.shape, len(b.array)) }\n"
      "let batch = cifar10.on_demand(4, seed: 1, rows: 10)\nlet (p, q) = batch(1)\n"
      "let (r, s) = cifar10.batches(4, seed: 1, rows: 10)[1]\nprint(p.array == r.array, q.array == s.array)";
  const std::string wanted =
      "[10, 3, 32, 32] [1, 8, 2, 7, 3, 6, 4, 5, 5, 4] [32, 33, 34]\n1 [\"horse\", \"ship\"]\n"
      "[4, 3, 32, 32] 4\n[4, 3, 32, 32] 4\n[2, 3, 32, 32] 2\ntrue true\n";
  const ToolOutcome beside = run_program(program, make_files);
  CHECK_MESSAGE(beside.out == wanted, beside.err);
  const ToolOutcome below =
      run_program(program, make_files + "mkdir files/cifar-10-batches-bin && mv files/*.bin files/cifar* &&");
  CHECK_MESSAGE(below.out == wanted, below.err);
}

TEST_CASE("[data] cifar10: what is wrong with the files is said with their names") {
  const std::string train = cifar + "let (x, y) = cifar10.train(10)";
  CHECK(error_of(train).starts_with("error E5005: assertion failed: data.cifar10 reads files; TASKSPEC_DATA must "));
  CHECK(error_of(train, make_files + "rm files/data_batch_4.bin &&")
            .starts_with("error E7001: no file 'files/data_batch_4.bin'"));
  CHECK(error_of(train, make_files + "truncate -s 3000 files/data_batch_2.bin &&")
            .starts_with("error E7003: 'files/data_batch_2.bin' "));
  CHECK(error_of(train,
                 make_files + "tr '\\003' '\\014' < files/data_batch_3.bin > x && mv x files/data_batch_3.bin &&") ==
        "error E5005: assertion failed: files/data_batch_3.bin: the label of row 0 is 12, not in 0..10");
  CHECK(error_of(cifar + "cifar10.batches(4)", make_files) ==
        "error E5005: assertion failed: 50000 photographs are wanted; there are 10");
}

TEST_CASE("[data] folders: a class for each folder, labels by name") {
  const std::string make =
      "mkdir -p photos/dogs photos/cats && cat > make.task <<'END'\n"
      "let picture = (iota(24).reshape(2, 4, 3) * 10) as u8[2, 4, 3]\n"
      "for name in [\"dogs/c.png\", \"cats/b.png\", \"cats/a.png\"] { save(picture, \"photos/\" + name) }\n"
      "END\ntaskspec run make.task && touch photos/cats/notes.txt photos/cats/.hidden photos/list && ";
  const std::string folders = "import data.folders as folders\n";
  const ToolOutcome ran = run_program(
      folders +
          "print(folders.classes(\"photos\"), folders.files(\"photos\"), folders.count(\"photos\"))\n"
          "let (x, y) = folders.all(\"photos\", 2, 4)\nprint(x.shape, y.array, (x[2] * 255.0).round().array)\n"
          "var seen: [int] = []\n"
          "for (a, b) in folders.batches(\"photos\", 2, 4, 2, seed: 1) { seen += b.array\n print(a.shape) }\n"
          "print(sort(seen), len(folders.batches(\"photos\", 2, 4, 2, drop_last: true)))\n"
          "let batch = folders.on_demand(\"photos\", 2, 4, 1, seed: 1)\nlet (p, q) = batch(2)\n"
          "let (r, s) = folders.batches(\"photos\", 2, 4, 1, seed: 1)[2]\n"
          "print(p.array == r.array, q.array == s.array)",
      make);
  CHECK_MESSAGE(ran.err == "", ran.err);
  CHECK(ran.out ==
        "[\"cats\", \"dogs\"] [(\"photos/cats/a.png\", 0), (\"photos/cats/b.png\", 0), (\"photos/dogs/c.png\", 1)] 3\n"
        "[3, 3, 2, 4] [0, 0, 1] [[[0, 30, 60, 90], [120, 150, 180, 210]], [[10, 40, 70, 100], [130, 160, 190, 220]], "
        "[[20, 50, 80, 110], [140, 170, 200, 230]]]\n"
        "[2, 3, 2, 4]\n[1, 3, 2, 4]\n[0, 0, 1] 1\ntrue true\n");
  const std::string all = folders + "let (x, y) = folders.all(\"photos\", 2, 4)";
  CHECK(error_of(all, "") == "error E7001: no folder 'photos'");
  CHECK(error_of(all, "mkdir photos;") ==
        "error E5005: assertion failed: photos holds no folders; there must be one for each class");
  CHECK(error_of(all, "mkdir -p photos/a;") ==
        "error E5005: assertion failed: photos/a/ holds no pictures (.png .jpg .jpeg)");
  CHECK(error_of(folders + "let (x, y) = folders.all(\"photos\", 4, 4)", make) ==
        "error E5004: 'photos/cats/a.png' holds u8[2, 4, 3]; u8[4, 4, 3] is needed");
}

TEST_CASE("[data] batches of none and of more than there is, and sets without rows") {
  const std::string said = "error E5005: assertion failed: ";
  for (const char* module : {"digits", "spirals", "blobs", "spikes"}) {
    CAPTURE(module);
    const std::string import = std::string("import data.") + module + " as d\n";
    CHECK(error_of(import + "d.batches(0)") == said + "0 rows in a batch; at least 1 is needed");
    CHECK(error_of(import + "d.batches(-3)") == said + "-3 rows in a batch; at least 1 is needed");
    CHECK(error_of(import + "d.batches(12, rows: 10)") == said + "12 rows in a batch are wanted; there are 10");
    CHECK(error_of(import + "d.batches(1, rows: 0)").starts_with(said));
    CHECK(error_of(import + "let b = d.on_demand(12, rows: 10)\nlet (x, y) = b(0)\nprint(y.array)") ==
          said + "12 rows in a batch are wanted; there are 10");
    CHECK(error_of(import + "let b = d.on_demand(4, rows: 10)\nlet (x, y) = b(2)").starts_with("error E5003: "));
    CHECK(error_of(import + "let (x, y) = d.train(0)").ends_with("at least 1 is needed"));
    CHECK(error_of(import + "let (x, y) = d.held_back(-1)").ends_with("at least 1 is needed"));
  }
  CHECK(error_of("import data.sets as sets\nsets.check_labels([0, 1, -2] as i32[3], 3, \"mine\")") ==
        said + "mine: the label of row 2 is -2, not in 0..3");
  CHECK(error_of("import data.blobs as d\nlet (x, y) = d.train(classes: 0)") ==
        said + "0 classes; at least 1 is needed");
}

}  // namespace taskspec::data_test
