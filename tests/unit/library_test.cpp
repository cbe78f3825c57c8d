// Libraries: a module packaged and imported again means what its text means, and brings nothing that is not used.
#include "ir/library/library.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <filesystem>
#include <random>

#include "interp/control/export_graph.hpp"
#include "ir/graph/chains.hpp"
#include "ir/json/json.hpp"
#include "ir/verify/verify.hpp"
#include "tests/unit/programs.hpp"
#include "tests/unit/random_cases.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace taskspec::library_test {

namespace {

// A folder with texts and one with the library alone: the same imports, found in either way.
class Shelf {
 public:
  void text(const std::string& name, const std::string& text) const {
    const std::filesystem::path path = texts_.path() / (name + ".task");
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }

  // Packages what `import name` finds among the texts, and the libraries before them.
  LibraryFile pack(const std::string& name, bool libraries_first = false) const {
    Program program = loaded("import " + name + "\n", libraries_first ? both() : texts()).value_or_throw();
    ModuleId module(program.main_module.index() - 1);
    LibraryOptions options;
    options.import_name = [&](ModuleId id) { return program.modules[id.index()].name; };
    return write_library(program, module, options);
  }
  void put(const std::string& name, const std::string& bytes) const {
    std::ofstream(libraries_ / (name + ".tasklib"), std::ios::binary | std::ios::trunc) << bytes;
  }
  void drop(const std::string& name) const { std::filesystem::remove(libraries_ / (name + ".tasklib")); }

  std::vector<std::string> texts() const { return {texts_.path().string()}; }
  std::vector<std::string> libraries() const { return {libraries_.path().string()}; }
  std::vector<std::string> both() const { return {libraries()[0], texts()[0]}; }

  static Result<Program> loaded(const std::string& text, const std::vector<std::string>& folders) {
    Sources sources;
    return check_text("main.task", text, {{}, folders}, standard_toolbox(), sources);
  }

  static std::string run(const std::string& text, const std::vector<std::string>& folders) {
    Result<Program> program = loaded(text, folders);
    if (!program) return errors(program.diags());
    std::string output;
    RunSettings settings;
    settings.output = [&](std::string_view part) { output += part; };
    RunResult result = run_program(*program, standard_toolbox(), settings);
    return output + errors(result.diags);
  }

  static std::string errors(const Diags& diags) {
    std::string text;
    for (const Diag& diag : diags.items()) {
      text += diag.code.text() + " " + diag.message + "\n";
      for (const std::string& note : diag.notes) text += "  note: " + note + "\n";
      if (!diag.help_text.empty()) text += "  help: " + diag.help_text + "\n";
    }
    return text;
  }

 private:
  TemporaryFolder texts_, libraries_;
};

std::string without_places(std::string json) { return json.substr(0, json.find("\n\"spans\"")); }

std::string exported(const std::string& text, const std::string& graph, const std::vector<std::string>& folders) {
  Result<Program> program = Shelf::loaded(text, folders);
  if (!program) return Shelf::errors(program.diags());
  std::string json;
  const FunctionId id = find_graph(*program, graph);
  with_graph(*program, id, standard_toolbox().ops,
             [&](const GraphView& view) { json = graph_json(*program, id, view.graph, aggregate(view.graph)); });
  return without_places(json);
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

// Everything that a library has to carry: lets, private names, defaults, agents with slots and members, closures,
// control flow, dimensions and ints in signatures, recursion, composition, host code.
constexpr const char* layers = R"(
let width = 4
let pair = (2, 0.5)
let _factor = 3.0
let twice_of: fn(int) -> int = x => x * 2
fn _helper(x: f32[N]) -> f32[N] { return x * _factor }
fn helped(x: f32[N], times: int = 2) -> f32[N] {
  var y = x
  for i in 0..times { y = _helper(y) }
  return y
}
fn filled(n: int, value: float = 1.5) -> f32[n, width] { return fill(f32[n, width], value) }
fn power(x: f32[N], n: int) -> f32[N] {
  if n == 0 { return fill(f32[N], 1.0) }
  if n % 2 == 0 { return power(x * x, n / 2) }
  return x * power(x, n - 1)
}
fn even(n: int) -> bool { if n == 0 { return true }; return odd(n - 1) }
fn odd(n: int) -> bool { if n == 0 { return false }; return even(n - 1) }
fn mapped(l: [int], more: int) -> [int] { return l.map(i => twice_of(i) + more) }
fn loud(x: f32[N]) -> float { print("loud", x.sum(0).scalar); return x.max(0).scalar }
task add(in a: f32[N], in b: f32[N]) -> (y: f32[N]) { y = a + b }
task halves(in x: f32[2 * N], in n: f32[N]) -> (left: f32[N], right: f32[N]) {
  left = x[0..N] + n
  right = x[N..2 * N] - n
}
task bump(inout r: f32[N]) -> (t: f32[1]) { r += 1.0; t = r.sum(0) }
agent Counter(start: int, step: int = 1 + 1, name: string = "a = b") {
  state n: i64[1] = constant(start)
  weight w: f32[start, 2] = glorot_uniform(seed: 7)
  task tick(in d: i64[1]) -> (now: i64[1]) { n += d * step; now = n }
  task weights() -> (sum: f32[1, 2]) { sum = w.sum(0) }
  fn doubled(x: int) -> int { return 2 * x * step }
  graph two(d: i64[1]) -> (now: i64[1]) { tick(d); now = tick(d).now }
  fn unused() -> int { return 1 }
}
agent Scale(k: float) { task apply(in x: f32[N]) -> (y: f32[N]) { y = k * x } }
graph chain(x: f32[N]) -> (y: f32[N]) { y = Scale(2.0).apply(add(x, x).y).y }
let both = Scale(2.0).apply >> Scale(0.5).apply
graph looped(x: f32[N], n: int) -> (y: f32[N]) {
  y = x
  for i in 0..n { y = add(y, x).y }
}
task never(in x: f32[N]) -> (y: f32[N]) { y = x * 17.0 }
)";

constexpr const char* user = R"(
import layers
let v = [1.0, 2.0, 3.0] as f32[3]
print(layers.helped(v).array, layers.helped(v, times: 1).array, layers.filled(2).array, layers.width, layers.pair)
print(layers.power(v, 5).array, layers.even(10), layers.mapped([1, 2], 3), layers.twice_of(4))
print(layers.loud(v))
let h = layers.halves([1.0, 2.0, 3.0, 4.0] as f32[4], [0.5, 0.25] as f32[2])
print(h.left.array, h.right.array)
var r = v
print(layers.bump(r).t.scalar, r.array)
let c = layers.Counter(3)
print(c, c.tick([1] as i64[1]).now.array, c.two([2] as i64[1]).now.array, c.doubled(4), c.weights().sum.array)
print(layers.Counter(1, step: 5), layers.add(v, v).y, layers.chain(v).y.array, layers.looped(v, 3).y.array)
print(layers.both.inputs, layers.both(v).array, chains(layers.chain))
graph mine(x: f32[A], y: f32[B]) -> (p: f32[A], q: f32[B]) {
  p = layers.add(layers.chain(x).y, layers.Scale(3.0).apply(x).y).y
  q = layers.chain(layers.chain(y).y).y
}
print(chains(mine), mine(v, [1.0] as f32[1]).q.array)
)";

}  // namespace

TEST_CASE("library: a packaged module says what its text says") {
  Shelf shelf;
  shelf.text("layers", layers);
  const LibraryFile file = shelf.pack("layers");
  shelf.put("layers", file.text);
  const std::string by_text = Shelf::run(user, shelf.texts());
  CHECK(by_text.find("E") == std::string::npos);
  CHECK(by_text.find("[9, 18, 27] [3, 6, 9] [[1.5, 1.5, 1.5, 1.5], [1.5, 1.5, 1.5, 1.5]] 4 (2, 0.5)") == 0);
  CHECK(Shelf::run(user, shelf.libraries()) == by_text);
  // What is exported is the same to the byte, but for its places.
  for (const char* graph : {"mine"}) {
    const std::string json = exported(user, graph, shelf.texts());
    CHECK(json.size() > 1000);
    CHECK(exported(user, graph, shelf.libraries()) == json);
  }
  // Extents of the caller go in, and tasks of both sides chain.
  CHECK(by_text.find("[[add, Scale.apply") != std::string::npos);
}

TEST_CASE("library: only what is used is linked") {
  Shelf shelf;
  shelf.text("layers", layers);
  shelf.put("layers", shelf.pack("layers").text);
  const std::string text =
      "import layers\ngraph g(x: f32[N]) -> (y: f32[N]) { y = layers.chain(x).y }\nprint(layers.width)\n";
  Program program = Shelf::loaded(text, shelf.libraries()).value_or_throw();
  std::vector<std::string> linked;
  for (std::size_t i = 0; i < program.functions.size(); ++i)
    if (program.functions[i].kind != FunctionKind::module && program.functions[i].name != "<closure>")
      linked.push_back(program.display_name(FunctionId(i)));
  std::sort(linked.begin(), linked.end());
  // `Scale.apply` and `twice_of` belong to lets of the module, which run with it.
  CHECK(linked == std::vector<std::string>{"Scale.apply", "add", "chain", "g"});
  CHECK(program.agents.size() == 1);
  CHECK(verify(program).empty());
  const std::string json = exported(text, "g", shelf.libraries());
  CHECK(count(json, "\"kind\":\"task\"") == 2);
  CHECK(json.find("never") == std::string::npos);
}

TEST_CASE("library: names that are not there, and private ones, are told as those of a text") {
  Shelf shelf;
  shelf.text("layers", layers);
  shelf.put("layers", shelf.pack("layers").text);
  for (const char* line :
       {"print(layers.hepled(1))", "print(layers._helper)", "print(layers.Counter(1).tock())", "print(layers.add(1))",
        "print(layers.Counter())", "let x = layers.filled(2) + 1.0 as f32[3]",
        "graph g(x: f32[1]) -> (y: f32[1]) { y = x * layers.loud(x) }"}) {
    CAPTURE(line);
    const std::string said = Shelf::run("import layers\n" + std::string(line), shelf.texts());
    CHECK(said.starts_with("E"));
    CHECK(Shelf::run("import layers\n" + std::string(line), shelf.libraries()) == said);
  }
}

TEST_CASE("library: what is local in it, and what it does with local values, is known to who imports it") {
  Shelf shelf;
  shelf.text("tools", R"(task step(in x: f32[N]) -> (y: f32[N]) { y = x + 1.0 }
fn now() -> float { return clock() }
fn steps(x: f32[N], n: int) -> f32[N] {
  var y = x
  for i in 0..n { y = step(y).y }
  return y
}
fn twice(f: fn(int) -> int) -> int {
  var n = 0
  if rank() == 0 { n = f(1) + f(2) }
  return n
})");
  shelf.put("tools", shelf.pack("tools").text);
  const std::string x = "import tools\nlet x = [1.0] as f32[1]\n";
  for (const auto& [line, expected] : std::vector<std::pair<std::string, std::string>>{
           {"if tools.now() > 1.0 { print(x.sum(0).scalar) }", "E1303 'tools.now()' is local to a shard and decides"},
           {"print(tools.steps(x, rank()).array)", "E1303 'rank()' is local to a shard and decides"},
           {"print(tools.twice(i => len(tools.steps(x, i).array)))", "E1303 'rank()' is local to a shard and decides"},
           {"print(tools.now() > 0.0, tools.steps(x, agree(rank()) + 2).array)", "true [3]\n"},
           {"print(tools.twice(i => i))", "3\n"},
       }) {
    CAPTURE(line);
    const std::string said = Shelf::run(x + line, shelf.texts());
    CHECK(said.starts_with(expected));
    CHECK(Shelf::run(x + line, shelf.libraries()) == said);
  }
}

TEST_CASE("library: hashes follow what is said, not how it is laid out") {
  Shelf shelf;
  auto hash_of = [&](const std::string& text, const std::string& name) {
    shelf.text("m", text);
    for (const LibraryFile::Entry& entry : shelf.pack("m").entries)
      if (entry.name == name) return entry.hash;
    return std::string("none");
  };
  const std::string f = "fn f(x: f32[N], k: float = 2.0) -> f32[N] { return g(x) * k }\n";
  const std::string g = "fn g(x: f32[N]) -> f32[N] { return x + 1.0 }\n";
  const std::string plain = hash_of(f + g, "f");
  CHECK(plain.size() == 32);
  CHECK(hash_of("// a comment\n\nfn f( x:f32[N],k:float=2.0 ) -> f32[N] {\n  return g(x)*k }\n" + g, "f") == plain);
  CHECK(hash_of("fn other() -> int { return 1 }\n" + g + f, "f") == plain);
  CHECK(hash_of("fn f(x: f32[N], k: float = 3.0) -> f32[N] { return g(x) * k }\n" + g, "f") != plain);
  CHECK(hash_of("fn f(x: f32[M], k: float = 2.0) -> f32[M] { return g(x) * k }\n" + g, "f") != plain);
  // What it uses is part of it; its own text is the same.
  CHECK(hash_of(f + "fn g(x: f32[N]) -> f32[N] { return x + 1.5 }\n", "f") != plain);
  const std::string agent =
      "agent A(k: int = 1) { state s: f32[1] = constant(2.0); task t() -> (y: f32[1]) { y = s } }";
  const std::string whole = hash_of(agent, "A.t");
  CHECK(hash_of("agent A( k: int=1 ) { state s: f32[1] = constant(2.0); task t() -> (y: f32[1]) { y = s } }", "A.t") ==
        whole);
  CHECK(hash_of("agent A(k: int = 2) { state s: f32[1] = constant(2.0); task t() -> (y: f32[1]) { y = s } }", "A.t") !=
        whole);
  CHECK(hash_of("agent A(k: int = 1) { state s: f32[1] = constant(3.0); task t() -> (y: f32[1]) { y = s } }", "A.t") !=
        whole);
}

TEST_CASE("library: what it was built with is compared when it is linked") {
  Shelf shelf;
  shelf.text("base",
             "let k = 2.0\nfn f(x: f32[N]) -> f32[N] { return x * k }\nagent A(s: float = 1.0) { task t(in x: f32[N]) "
             "-> (y: f32[N]) { y = s * x } }\n");
  shelf.text("layer",
             "import base\nfn g(x: f32[N]) -> f32[N] { return base.f(x) + base.k }\n"
             "graph h(x: f32[N]) -> (y: f32[N]) { y = base.A().t(x).y }\nfn apart() -> int { return 5 }\n");
  shelf.put("layer", shelf.pack("layer").text);
  const std::string text = "import layer\nlet x = [1.0] as f32[1]\nprint(layer.g(x).array, layer.h(x).y.array)\n";
  CHECK(Shelf::run(text, shelf.both()) == "[4] [1]\n");
  // Packaged on top of a package, it is the same.
  shelf.put("base", shelf.pack("base").text);
  CHECK(Shelf::run(text, shelf.libraries()) == "[4] [1]\n");
  CHECK(shelf.pack("base").text == shelf.pack("base").text);
  shelf.drop("base");
  shelf.text("base",
             "let k = 2.0\nfn f(x: f32[N]) -> f32[N] { return x * k * k }\nagent A(s: float = 1.0) { task t(in x: "
             "f32[N]) -> (y: f32[N]) { y = s * x } }\n");
  const std::string said = Shelf::run(text, shelf.both());
  CHECK(said.find("E7006 library 'layer' was built with another 'base.f'\n  note: stored hash ") == 0);
  CHECK(said.find("help: build it again in the folder '" + shelf.libraries()[0] + "': taskspec build --lib layer") !=
        std::string::npos);
  CHECK(Shelf::run("import layer\nprint(layer.apart())\n", shelf.both()) == "5\n");
  shelf.text("base", "let k = 2.0\n");
  CHECK(Shelf::run(text, shelf.both()).find("E7006 library 'layer' uses 'base.f', which is not there any more") == 0);
}

TEST_CASE("library: a file that was changed is told, with the function") {
  Shelf shelf;
  shelf.text("layers", layers);
  const std::string text = shelf.pack("layers").text;
  auto after = [&](const std::string& from, const std::string& to) {
    std::string changed = text;
    const std::size_t at = changed.find(from);
    REQUIRE(at != std::string::npos);
    changed.replace(at, from.size(), to);
    shelf.put("layers", changed);
    return Shelf::run("import layers\nprint(layers.even(2))\n", shelf.libraries());
  };
  CHECK(after("\"value\":17", "\"value\":18").find("E7006 task 'never' of library 'layers' is not what was built\n") ==
        0);
  CHECK(after("17.0", "18.0").find("E7006 library 'layers' was changed after it was built\n") == 0);
  CHECK(after("\"version\":1", "\"version\":2")
            .find("layers.tasklib' is no library that can be read: at /version: version 2 is newer than this program, "
                  "which reads up to 1\n  help: build the library again, or use a newer taskspec") !=
        std::string::npos);
  shelf.put("layers", text.substr(0, text.size() / 2));
  CHECK(Shelf::run("import layers\n", shelf.libraries()).find("layers.tasklib' is cut off at line ") !=
        std::string::npos);
  shelf.put("layers", "");
  CHECK(Shelf::run("import layers\n", shelf.libraries()).find("layers.tasklib' is cut off at line 1, column 1") !=
        std::string::npos);
  CHECK(after("\"taskspec-library\"", "\"taskspec-graph\"").find("E7003 ") == 0);
  CHECK(after("\"name\":\"layers\"", "\"name\":\"other\"").find("E7003 ") == 0);
  shelf.put("layers", text);
  CHECK(Shelf::run("import layers\nprint(layers.even(2))\n", shelf.libraries()) == "true\n");
  // A text in the same folder is what is imported.
  std::ofstream(std::filesystem::path(shelf.libraries()[0]) / "layers.task")
      << "fn even(n: int) -> string { return \"text\" }\n";
  CHECK(Shelf::run("import layers\nprint(layers.even(2))\n", shelf.libraries()) == "text\n");
}

TEST_CASE("library: broken files give errors, whatever is broken") {
  Shelf shelf;
  shelf.text("layers", layers);
  const std::string text = shelf.pack("layers").text;
  for (std::uint64_t seed : random_seeds(240, 3'000)) {
    CAPTURE(seed);
    std::mt19937_64 random(seed);
    std::string broken = text;
    const std::size_t at = random() % broken.size();
    switch (random() % 4) {
      case 0:
        broken.resize(at);
        break;
      case 1:
        broken[at] = static_cast<char>(random());
        break;
      case 2: {  // a number is another one
        std::size_t digit = broken.find_first_of("0123456789", at);
        if (digit != std::string::npos) broken[digit] = static_cast<char>('0' + random() % 10);
        break;
      }
      default: {  // one token is another one
        constexpr std::string_view tokens[] = {"null", "[]", "{}", "-1", "\"f32[N]\"", "4294967296", "true"};
        std::size_t from = broken.find(':', at);
        if (from == std::string::npos) break;
        std::size_t to = broken.find_first_of(",]}", from);
        broken.replace(from + 1, to - from - 1, tokens[random() % std::size(tokens)]);
      }
    }
    // Also when whoever broke it knew the hash of the file.
    if (std::size_t line = broken.find('\n'), key = broken.find("\"hash\":\"");
        line != std::string::npos && key + 40 < line)
      broken.replace(key + 8, 32, hash128(std::string_view(broken).substr(line)).text());
    shelf.put("layers", broken);
    Result<Program> program = Shelf::loaded(user, shelf.libraries());
    if (program) CHECK(verify(*program).empty());
    CHECK((program || !program.diags().empty()));
  }
}

}  // namespace taskspec::library_test
