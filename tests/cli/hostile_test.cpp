// Bad input and bad surroundings from outside: whatever is thrown at the tool, it ends in time with one clear
// diagnostic and the right exit code, and leaves no half-written file.
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <thread>

#include "ir/files/checkpoint.hpp"
#include "tests/cli/process.hpp"
#include "tests/guard/paths.hpp"
#include "tests/unit/random_cases.hpp"

namespace taskspec::hostile_test {

using namespace std::chrono_literals;

namespace {

struct Ended {
  int code = -1;
  std::string out, err;
};

Ended end_of(const TemporaryFolder& folder, std::vector<std::string> arguments, std::chrono::milliseconds limit = 60s) {
  Process tool({.arguments = std::move(arguments), .folder = folder.path()});
  Ended ended{tool.wait(limit), tool.out(), tool.err()};
  return ended;
}

Ended run_source(const std::string& text, const std::string& command = "run") {
  TemporaryFolder folder;
  folder.put("x.task", text);
  return end_of(folder, {command, "x.task"});
}

std::string repeated(std::string_view part, std::size_t times) {
  std::string text;
  text.reserve(part.size() * times);
  for (std::size_t i = 0; i < times; ++i) text += part;
  return text;
}

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// Names in a folder, sorted: to see that nothing was left behind.
std::vector<std::string> names_in(const TemporaryFolder& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

// The code and the place of it, and no second error.
void check_one_error(const Ended& ended, int code, std::string_view error) {
  CAPTURE(ended.err);
  CHECK(ended.code == code);
  CHECK(holds(ended.err, error));
  const std::size_t first = ended.err.find("error E");
  CHECK(first != std::string::npos);
  CHECK(ended.err.find("error E", first + 1) == std::string::npos);
  CHECK(ended.err.size() < 4000);
}

// Files that a test process starts must not grow above `bytes`: what a full disk looks like to them.
class SmallDisk {
 public:
  explicit SmallDisk(rlim_t bytes) {
    before_ = std::signal(SIGXFSZ, SIG_IGN);  // or the write would be a signal, not an error
    getrlimit(RLIMIT_FSIZE, &limit_);
    const rlimit small{bytes, limit_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallDisk() {
    setrlimit(RLIMIT_FSIZE, &limit_);
    std::signal(SIGXFSZ, before_);
  }

 private:
  rlimit limit_{};
  void (*before_)(int) = nullptr;
};

}  // namespace

// ---- sources ------------------------------------------------------------------------------------------

TEST_CASE("[hostile] a source nested 100,000 deep is refused, not run into the ground") {
  constexpr std::size_t deep = 100'000;
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"brackets", "let x = " + repeated("(", deep) + "1" + repeated(")", deep)},
      {"open brackets", "let x = " + repeated("(", deep)},
      {"lists", "let x = " + repeated("[", deep) + "1" + repeated("]", deep)},
      {"signs", "let x = " + repeated("-", deep) + "1"},
      {"nots", "let x = " + repeated("!", deep) + "true"},
      {"blocks", repeated("if true {\n", deep) + repeated("}\n", deep)},
      {"open blocks", repeated("while true { ", deep)},
      {"else if", repeated("if false { } else ", deep) + "{ }"},
      {"calls", "fn f(x: int) -> int { return x }\nlet x = " + repeated("f(", deep) + "1" + repeated(")", deep)},
      {"types", "fn f(x: " + repeated("[", deep) + "int" + repeated("]", deep) + ") { }"},
      {"closures", "let f = " + repeated("x => ", deep) + "1"},
      {"indices", "let x = a" + repeated("[a", deep) + repeated("]", deep)},
      {"right brackets", repeated(")", deep)},
      {"right braces", repeated("}", deep)},
      {"conversions", "let x = 1" + repeated(" as int", deep)},
      {"compositions", "let x = " + repeated("(a >> ", deep) + "a" + repeated(")", deep)},
  };
  for (const auto& [what, text] : cases) {
    CAPTURE(what);
    const Ended ended = run_source(text, "check");
    CAPTURE(ended.err);
    CHECK(ended.code == 1);
    CHECK((holds(ended.err, "error E0005") || holds(ended.err, "error E000")));
    CHECK(ended.err.size() < 20'000);
  }
}

TEST_CASE("[hostile] a source that is long but flat is taken") {
  constexpr std::size_t many = 50'000;
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"statements", "var x = 0\n" + repeated("x += 1\n", many) + "print(x)\n"},
      {"list", "let x = [" + repeated("1, ", many) + "1]\nprint(len(x))\n"},
      {"string", "let x = \"" + repeated("y", many) + "\"\nprint(len(x))\n"},
      {"comments", repeated("// nothing\n", many) + "print(50000)\n"},
  };
  for (const auto& [what, text] : cases) {
    CAPTURE(what);
    const Ended ended = run_source(text);
    CAPTURE(ended.err);
    CHECK(ended.code == 0);
    CHECK(holds(ended.out, "5000"));
  }
}

TEST_CASE("[hostile] ten thousand errors in a long source, or in one long line, give a short answer") {
  std::string unknown, wrong;
  for (int i = 0; i < 100'000; ++i) {
    const std::string number = std::to_string(i);
    unknown += i % 10 == 0 ? "let a" + number + " = missing" + number + "\n" : "let b" + number + " = 1\n";
    wrong += i % 10 == 0 ? "let = = " + number + "\n" : "let b" + number + " = 1\n";
  }
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"names", unknown},
      {"syntax", wrong},
      {"names in a line", repeated("let a = missing; ", 25'000) + "\n"},
      {"syntax in a line", "let a = [" + repeated("1 1, ", 50'000) + "1]\n"},
      {"brackets in a line", repeated("x ) ", 50'000) + "\n"},
  };
  for (const auto& [what, text] : cases) {
    CAPTURE(what);
    const Ended ended = run_source(text, "check");
    CAPTURE(ended.err);
    CHECK(ended.code == 1);
    CHECK(holds(ended.err, "error E"));
    CHECK(ended.err.size() < 20'000);
  }
}

TEST_CASE("[hostile] chains of operators and members are taken or refused, at any length") {
  for (const std::size_t length : {1'000, 100'000}) {
    const std::vector<std::string> texts = {
        "let x = 1" + repeated(" + 1", length) + "\nprint(x)\n",
        "let x = [1.0] as f32[1]\nlet y = x" + repeated(".abs()", length) + "\nprint(y.array)\n",
        "print(true" + repeated(" && true", length) + ")\n",
    };
    for (const std::string& text : texts) {
      CAPTURE(text.substr(0, 40));
      CAPTURE(length);
      const Ended ended = run_source(text);
      CAPTURE(ended.err.substr(0, 2000));
      if (length == 1'000 && ended.code != 1) CHECK(ended.code == 0);
      CHECK((ended.code == 0 || (ended.code == 1 && holds(ended.err, "error E0005"))));
    }
  }
}

TEST_CASE("[hostile] bytes that are no text are refused with their place") {
  check_one_error(run_source("let x = 1\nlet y = \"\xff\xfe\"\n", "check"), 1, "E0006");
  check_one_error(run_source("// caf\xe9\n", "check"), 1, "E0006");
  check_one_error(run_source("print(\"\xc0\x80\")\n", "check"), 1, "E0006");      // overlong
  check_one_error(run_source("print(\"\xed\xa0\x80\")\n", "check"), 1, "E0006");  // half of a pair
  CHECK(run_source(std::string("let x\0 = 1\n", 11), "check").code == 1);
  CHECK(run_source(std::string(1000, '\0'), "check").code == 1);
  std::string bytes;
  for (int i = 0; i < 5000; ++i) bytes += static_cast<char>((i * 7919 + i / 13) & 0xff);
  CHECK(run_source(bytes, "check").code == 1);
  CHECK(run_source(bytes, "fmt").code == 1);
  CHECK(run_source("\xef\xbb\xbfprint(1)\n", "check").code <= 1);  // a byte order mark: taken or refused, not a crash
}

TEST_CASE("[hostile] an empty source is a program") {
  for (const char* text : {"", "\n", "// only a comment", ";;;\n"}) {
    const Ended ended = run_source(text);
    CHECK(ended.code == 0);
    CHECK(ended.out == "");
    CHECK(ended.err == "");
  }
}

TEST_CASE("[hostile] a source that cannot be read is one error") {
  TemporaryFolder folder;
  check_one_error(end_of(folder, {"check", "absent.task"}), 1, "E7001");
  std::filesystem::create_directory(folder.path() / "folder.task");
  check_one_error(end_of(folder, {"check", "folder.task"}), 1, "error E7");
}

// ---- numbers and shapes -------------------------------------------------------------------------------

TEST_CASE("[hostile] shapes that no memory holds are refused") {
  check_one_error(run_source("print(fill(f64[1000000, 1000000], 1.0).sum().scalar)\n"), 3, "E5008");
  check_one_error(run_source("let n = 1000000\nprint(fill(f64[n, n, n, n], 1.0).sum().scalar)\n"), 3, "error E5");
  check_one_error(run_source("print(iota(9000000000000000000).sum().scalar)\n"), 3, "error E5");
  const Ended negative = run_source("fn g(n: int) { print(fill(f32[n], 1.0).sum().scalar) }\ng(-1)\n");
  CAPTURE(negative.err);
  CHECK(negative.code == 3);
  CHECK(holds(negative.err, "error E5"));
  // Through broadcasting and products, where no operand is large.
  check_one_error(run_source("let n = 2000000\nlet a = fill(f64[n, 1], 1.0)\nlet b = fill(f64[1, n], 1.0)\n"
                             "print((a + b).sum().scalar)\n"),
                  3, "E5008");
}

TEST_CASE("[hostile] arithmetic of the host that has no result ends the run") {
  check_one_error(run_source("var x = 9223372036854775807\nx += 1\nprint(x)\n"), 3, "E5001");
  check_one_error(run_source("var x = -9223372036854775807 - 1\nprint(-x)\n"), 3, "E5001");
  check_one_error(run_source("var x = -9223372036854775807 - 1\nvar y = -1\nprint(x / y)\n"), 3, "E5001");
  check_one_error(run_source("var y = 0\nprint(1 / y)\n"), 3, "E5002");
  check_one_error(run_source("var y = 0\nprint(1 % y)\n"), 3, "E5002");
  check_one_error(run_source("var l = [1]\nvar i = 7\nprint(l[i])\n"), 3, "E5003");
  check_one_error(run_source("var i = -1\nprint(\"abc\"[i])\n"), 3, "E5003");
  check_one_error(run_source("assert(1 == 2, msg: \"no\")\n"), 3, "E5005");
}

TEST_CASE("[hostile] a division by zero in a tensor poisons what depends on it, nothing else") {
  const Ended ended = run_source(
      "task divide(in x: i32[N], in d: i32[N]) -> (q: i32[N]) { q = x / d }\n"
      "task inc(in x: i32[N]) -> (y: i32[N]) { y = x + 1 }\n"
      "let x = [6, 8] as i32[2]\n"
      "let bad = divide(x, [2, 0] as i32[2])\n"
      "let good = divide(x, [2, 2] as i32[2])\n"
      "print(inc(good.q).y.array)\n"
      "print(inc(inc(bad.q).y).y.array)\n");
  check_one_error(ended, 3, "E5002");
  CHECK(ended.out == "[4, 5]\n");
  CHECK(holds(ended.err, "x.task:4"));  // the call that failed
  CHECK(holds(ended.err, "divide#0 -> inc#1 -> inc#2"));
}

TEST_CASE("[hostile] recursion without an end is an error, not a crash") {
  const std::string deep = "fn f(n: int) -> int { return f(n + 1) + 1 }\nprint(f(0))\n";
  check_one_error(run_source(deep), 3, "E5006");
  check_one_error(
      run_source("fn a(n: int) -> int { return b(n) }\nfn b(n: int) -> int { return a(n) + 1 }\nprint(a(0))\n"), 3,
      "E5006");
  // In the body of a task, which runs on a worker.
  check_one_error(run_source("fn f(n: int) -> int { return f(n + 1) + 1 }\n"
                             "task t(in x: f32[N], in n: int) -> (y: f32[N]) { y = x + f(n) }\n"
                             "print(t([1.0] as f32[1], 0).y.array)\n"),
                  3, "E5006");
}

TEST_CASE("recursion goes a million calls deep") {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  const std::string calls = "1000";  // their stack is not as deep
#else
  const std::string calls = "900000";
#endif
  const Ended ended =
      run_source("fn f(n: int) -> int { if n == 0 { return 0 }; return f(n - 1) + 1 }\nprint(f(" + calls + "))\n");
  CHECK(ended.err == "");
  CHECK(ended.code == 0);
  CHECK(ended.out == calls + "\n");
}

// ---- files --------------------------------------------------------------------------------------------

TEST_CASE("[hostile] broken data files are one error each, and cost neither time nor memory") {
  const std::string npy = "\x93NUMPY\x01";
  auto header = [&](std::string dictionary) {
    dictionary += std::string(117 - dictionary.size(), ' ') + "\n";
    return npy + std::string("\0\x76\0", 3) + dictionary;
  };
  const std::string png("\x89PNG\r\n\x1a\n", 8);
  // A picture that says it has 4 * 10^9 points of 64 bits.
  const std::string bomb = png + std::string("\0\0\0\x0dIHDR\0\0\xff\xff\0\0\xff\xff\x10\x06\0\0\0\0\0\0\0", 25);
  const std::vector<std::tuple<std::string, std::string, std::string>> cases = {
      {"a.npy", "f32[_]", ""},
      {"a.npy", "f32[_]", npy},
      {"a.npy", "f32[_]", header("{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }") + "1234"},
      {"a.npy", "f32[_]", header("{'descr': '<f4', 'fortran_order': False, 'shape': (1000000000,), }") + "1234"},
      {"a.npy", "f32[_, _]", header("{'descr': '<f4', 'fortran_order': False, 'shape': (9000000000, 9000000000), }")},
      {"a.npy", "f32[_]", header("{'descr': 'O', 'fortran_order': False, 'shape': (1,), }")},
      {"a.npy", "f32[_]", "not an array at all"},
      {"a.png", "u8[_, _, _]", ""},
      {"a.png", "u8[_, _, _]", png},
      {"a.png", "u16[_, _, _]", bomb},
      {"a.png", "u8[_, _, _]", "GIF89a"},
      {"a.jpg", "u8[_, _, _]", "\xff\xd8\xff\xe0"},
      {"a.jpg", "u8[_, _, _]",
       std::string("\xff\xd8\xff\xc0\0\x11\x08\xff\xff\xff\xff\x03\x01\x22\0\x02\x11\x01\x03\x11\x01", 21)},
      {"a.csv", "f64[_, _]", "1,2\n3\n"},
      {"a.csv", "f64[_, _]", "1,x\n"},
      {"a.xyz", "f64[_, _]", "1"},
  };
  for (const auto& [name, type, bytes] : cases) {
    TemporaryFolder folder;
    folder.put(name, bytes);
    folder.put("x.task", "let x = load(" + std::string(type) + ", \"" + name + "\")\nprint(x.sum().scalar)\n");
    CAPTURE(name);
    CAPTURE(bytes.size());
    check_one_error(end_of(folder, {"run", "x.task"}, 10s), 3, "error E");
  }
  TemporaryFolder folder;
  folder.put("x.task", "let x = load(f32[_], \"absent.npy\")\nprint(x.sum().scalar)\n");
  check_one_error(end_of(folder, {"run", "x.task"}), 3, "E7001");
}

TEST_CASE("[hostile] a picture cut off anywhere is an error or whole") {
  const std::string whole = read_file("examples/data/photo.png");
  const std::string jpeg = read_file("examples/data/photo.jpg");
  REQUIRE(whole.size() > 1000);
  REQUIRE(jpeg.size() > 1000);
  TemporaryFolder folder;
  folder.put("png.task", "print(load(u8[_, _, _], \"a.png\").shape)\n");
  folder.put("jpg.task", "print(load(u8[_, _, _], \"a.jpg\").shape)\n");
  for (const std::size_t part : {1, 3, 7, 9}) {
    folder.put("a.png", whole.substr(0, whole.size() * part / 10));
    check_one_error(end_of(folder, {"run", "png.task"}), 3, "E7003");
    folder.put("a.jpg", jpeg.substr(0, jpeg.size() * part / 10));
    check_one_error(end_of(folder, {"run", "jpg.task"}), 3, "E7003");
  }
}

// ---- what cannot be written ---------------------------------------------------------------------------

TEST_CASE("[hostile] a full disk is one error, and the old file stays") {
  if (!std::filesystem::exists("/dev/full")) return;
  TemporaryFolder folder;
  folder.put("out.task", "print(1)\n");
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"run", "out.task"},
                                             {"explain", "E2003"},
                                             {"doc", "sum"},
                                             {"graph", "out.task", "--stage", "ast"},
                                             {"fmt", "-"},
                                             {"test", "out.task"}}) {
    CAPTURE(arguments[0]);
    Process tool(
        {.arguments = arguments, .folder = folder.path(), .input = folder / "out.task", .output = "/dev/full"});
    const Ended ended{tool.wait(), "", tool.err()};
    check_one_error(ended, 3, "E7004");
  }
  folder.put("save.task", "save([1.0, 2.0], \"/dev/full\")\n");
  CHECK(end_of(folder, {"run", "save.task"}).code == 3);
  folder.put("write.task", "write(\"/dev/full\", \"text\")\nprint(1)\n");
  check_one_error(end_of(folder, {"run", "write.task"}), 3, "E7004");

  folder.put("big.npy", "old");
  folder.put("big.task", "save(fill(f32[100000], 1.0), \"big.npy\")\nprint(\"not reached\")\n");
  Ended ended;
  {
    SmallDisk disk(100'000);
    ended = end_of(folder, {"run", "big.task"});
  }
  check_one_error(ended, 3, "E7004");
  CHECK(ended.out == "");
  CHECK(names_in(folder) == std::vector<std::string>{"big.npy", "big.task", "out.task", "save.task", "write.task"});
  CHECK(read_file(folder / "big.npy") == "old");
}

TEST_CASE("[hostile] who is killed while he saves leaves a checkpoint that is whole") {
  for (std::uint64_t seed : random_seeds(6, 100)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    TemporaryFolder folder;
    folder.put("x.task",
               "agent Net {\n  state s: f64[200000] = zero()\n  task turn(in x: f64[1]) { s = s + x }\n}\n"
               "let net = Net()\nwhile true { net.turn([1.0] as f64[1])\n  save(net, \"net.npz\") }\n");
    Process tool({.arguments = {"run", "x.task"}, .folder = folder.path()});
    for (int i = 0; i < 20'000 && !std::filesystem::exists(folder / "net.npz"); ++i) std::this_thread::sleep_for(1ms);
    std::this_thread::sleep_for(std::chrono::microseconds(between(random, 0, 60'000)));
    tool.signal(SIGKILL);
    CHECK(tool.wait() == 128 + SIGKILL);
    const taskspec::Checkpoint found = taskspec::load_checkpoint(folder / "net.npz");
    REQUIRE(found.arrays.size() == 1);
    CHECK(found.sealed);
    const auto numbers = found.arrays[0].array.data<double>();
    CHECK(std::ranges::count(numbers, numbers[0]) == 200'000);  // of one turn
  }
}

TEST_CASE("[hostile] a reader that goes away ends every command at once, without a word, as Unix tools end") {
  TemporaryFolder folder;
  folder.put("x.task",
             "for i in 0..100000 { print(i, \"and some more text to fill a pipe\") }\nwrite(\"end\", \"reached\")\n");
  folder.put("graph_print.task",
             "for i in 0..2000 { graph_print(\"and some more text to fill a pipe\", [1.0] as f32[1]) }\n");
  folder.put("g.task", "graph g(x: f32[N]) -> (y: f32[N]) { y = x + 1.0 }\n");
  folder.put("session.txt", "for i in 0..100000 { print(i) }\n1 + 1\nwrite(\"end\", \"reached\")\n");
  const std::size_t files = names_in(folder).size();
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"run", "x.task"},
                                             {"run", "graph_print.task"},
                                             {"run", "g.task", "--name", "g", "-D", "x=[1.0]"},
                                             {"graph", "g.task"},
                                             {"slices", "x.task"},
                                             {"doc", "sum"},
                                             {"explain", "E2003"},
                                             {"fmt", "-"},
                                             {"test", "g.task"},
                                             {"repl"}}) {
    CAPTURE(arguments[0]);
    CAPTURE(arguments.back());
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    close(ends[0]);
    const std::string input = folder / (arguments[0] == "repl" ? "session.txt" : "g.task");
    Process tool({.arguments = arguments, .folder = folder.path(), .input = input, .output_descriptor = ends[1]});
    close(ends[1]);
    CHECK(tool.wait(20s) == 128 + SIGPIPE);
    CHECK(tool.err() == "");
    CHECK(names_in(folder).size() == files);  // it stopped there
  }
}

// ---- Ctrl-C -------------------------------------------------------------------------------------------

// What the tool needs to be in the middle of its program, and to end.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::chrono::milliseconds under_way = 3s,
                                    at_once = 60s;  // each kernel takes many times as long, and a start does
#else
constexpr std::chrono::milliseconds under_way = 500ms, at_once = 1s;
#endif

TEST_CASE("[hostile] Ctrl-C stops a run within a second, with 130 and nothing half-written") {
  const std::string task = "task t(in x: f32[1]) -> (y: f32[1]) { y = x; while y > 0.0 { y = y + 1.0 } }\n";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"a loop of the host", "while true { }\n"},
      {"recursion of the host",
       "fn f(n: int) -> int { if n == 0 { return 1 }; return f(n - 1) + f(n - 1) }\nprint(f(60))\n"},
      {"a loop in a task", task + "print(t([1.0] as f32[1]).y.scalar)\n"},
      {"a loop in a graph",
       "graph g(x: f32[1]) -> (y: f32[1]) { y = x; while y > 0.0 { y = y + 1.0 } }\n"
       "print(g([1.0] as f32[1]).y.scalar)\n"},
      {"many receives", "var x = [1.0] as f64[1]\nwhile x.scalar > 0.0 { x = x + 1.0 }\n"},
      {"long kernels", "var x = fill(f32[1500, 1500], 0.001)\nfor i in 0..1000 { x = x @ x }\nprint(x.sum().scalar)\n"},
      {"long kernels, one at a time", "let x = fill(f32[1500, 1500], 0.001)\nwhile (x @ x).sum().scalar >= 0.0 { }\n"},
      {"files", "let x = fill(f32[500000], 1.0)\nwhile true { save(x, \"x.npy\") }\n"},
      {"eager",
       "let x = fill(f32[100], 0.001)\nwhile true { let y = run g(x) on host(schedule: \"eager\") }\n"
       "graph g(x: f32[N]) -> (y: f32[N]) { y = x + 1.0 }\n"},
  };
  for (const auto& [what, text] : cases) {
    CAPTURE(what);
    TemporaryFolder folder;
    folder.put("loop.task", "print(\"started\")\n" + text);
    Process tool({.arguments = {"run", "loop.task"}, .folder = folder.path()});
    std::this_thread::sleep_for(under_way);  // it is in the middle of it, or soon will be
    tool.signal(SIGINT);
    const auto begin = std::chrono::steady_clock::now();
    const int code = tool.wait(20 * at_once);
    const auto took = std::chrono::steady_clock::now() - begin;
    CAPTURE(tool.err());
    CHECK(code == 130);
    CHECK(took < at_once);
    CHECK(tool.err().find("E5009") != std::string::npos);
    for (const std::string& name : names_in(folder)) CHECK((name == "loop.task" || name == "x.npy"));
    if (std::filesystem::exists(folder.path() / "x.npy")) CHECK(read_file(folder / "x.npy").size() == 2'000'128);
  }
}

TEST_CASE("[hostile] Ctrl-C stops the other commands too") {
  TemporaryFolder folder;
  folder.put("loop.task", "while true { }\n// expect: nothing\n");
  folder.put("graph.task",
             "fn endless() -> int { while true { }; return 1 }\nlet n = endless()\n"
             "graph g(x: f32[N]) -> (y: f32[N]) { y = x * n }\n");
  for (const std::vector<std::string>& arguments :
       std::vector<std::vector<std::string>>{{"test", "loop.task"}, {"graph", "graph.task"}}) {
    CAPTURE(arguments[0]);
    Process tool({.arguments = arguments, .folder = folder.path()});
    std::this_thread::sleep_for(300ms);
    tool.signal(SIGINT);
    CHECK(tool.wait(5s) == 130);
  }
}

}  // namespace taskspec::hostile_test
