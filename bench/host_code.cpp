#include "bench/host_code.hpp"

#include <fmt/format.h>

#include <memory>

#include "bench/child.hpp"
#include "bench/subject.hpp"

namespace taskspec::bench {

namespace {

// The same function in the three languages; {} is the number of turns, or what to work out.
struct Case {
  const char* name;
  bool loops;  // else it recurses
  const char* task;
  const char* python;
  const char* lua;
};

constexpr std::size_t recursion = 30;

constexpr Case cases[] = {
    {"integer loop", true,
     "fn work(n: int) -> int {{\n  var s = 0\n  for i in 0..n {{ s = s + i * 3 % 7 }}\n  return "
     "s\n}}\nprint(work({}))\n",
     "def work(n):\n  s = 0\n  for i in range(n): s = s + i * 3 % 7\n  return s\nprint(work({}))\n",
     "local function work(n)\n  local s = 0\n  for i = 0, n - 1 do s = s + i * 3 % 7 end\n  return s\nend\n"
     "print(work({}))\n"},
    {"integer loop with branches", true,
     "fn work(n: int) -> int {{\n  var i = 0\n  var s = 0\n  while i < n {{\n"
     "    if i % 3 == 0 {{ s += i }} else {{ s -= 1 }}\n    i += 1\n  }}\n  return s\n}}\nprint(work({}))\n",
     "def work(n):\n  i = 0\n  s = 0\n  while i < n:\n    if i % 3 == 0: s += i\n    else: s -= 1\n    i += 1\n  "
     "return s\n"
     "print(work({}))\n",
     "local function work(n)\n  local i, s = 0, 0\n  while i < n do\n"
     "    if i % 3 == 0 then s = s + i else s = s - 1 end\n    i = i + 1\n  end\n  return s\nend\nprint(work({}))\n"},
    {"float loop", true,
     "fn work(n: int) -> float {{\n  var x = 0.0\n  for i in 0..n {{ x = x * 0.5 + i * 0.25 }}\n  return x\n}}\n"
     "print(work({}))\n",
     "def work(n):\n  x = 0.0\n  for i in range(n): x = x * 0.5 + i * 0.25\n  return x\nprint(work({}))\n",
     "local function work(n)\n  local x = 0.0\n  for i = 0, n - 1 do x = x * 0.5 + i * 0.25 end\n  return x\nend\n"
     "print(work({}))\n"},
    {"list loop: append, store, read", true,
     "fn work(n: int) -> int {{\n  var l: [int] = []\n  for i in 0..n {{ l += [i] }}\n"
     "  for i in 0..n {{ l[i] = l[i] * 2 }}\n  var s = 0\n  for x in l {{ s = s + x }}\n  return "
     "s\n}}\nprint(work({}))\n",
     "def work(n):\n  l = []\n  for i in range(n): l.append(i)\n  for i in range(n): l[i] = l[i] * 2\n  s = 0\n"
     "  for x in l: s = s + x\n  return s\nprint(work({}))\n",
     "local function work(n)\n  local l = {{}}\n  for i = 1, n do l[#l + 1] = i - 1 end\n"
     "  for i = 1, n do l[i] = l[i] * 2 end\n  local s = 0\n  for _, x in ipairs(l) do s = s + x end\n  return s\nend\n"
     "print(work({}))\n"},
    {"recursion: fib(30)", false,
     "fn fib(n: int) -> int {{\n  if n < 2 {{ return n }}\n  return fib(n - 1) + fib(n - 2)\n}}\nprint(fib({}))\n",
     "def fib(n):\n  if n < 2: return n\n  return fib(n - 1) + fib(n - 2)\nprint(fib({}))\n",
     "local function fib(n)\n  if n < 2 then return n end\n  return fib(n - 1) + fib(n - 2)\nend\nprint(fib({}))\n"},
    {"calls", true,
     "fn add(a: int, b: int) -> int {{ return a + b }}\n"
     "fn work(n: int) -> int {{\n  var s = 0\n  for i in 0..n {{ s = add(s, i) }}\n  return s\n}}\nprint(work({}))\n",
     "def add(a, b): return a + b\ndef work(n):\n  s = 0\n  for i in range(n): s = add(s, i)\n  return s\n"
     "print(work({}))\n",
     "local function add(a, b) return a + b end\nlocal function work(n)\n  local s = 0\n"
     "  for i = 0, n - 1 do s = add(s, i) end\n  return s\nend\nprint(work({}))\n"},
};

// An interpreter that runs files, as a process of its own; what it takes to start is measured in turns with the rest
// and not counted.
struct Peer {
  std::string program, ending;
  bool found = false;
  Repeats start = {};

  std::string file(const Folder& folder, const std::string& name, const std::string& text) const {
    return folder.file(name + "." + ending, text);
  }
  void find(const Folder& folder) {
    int status = -1;
    process({program, file(folder, "empty", "\n")}, &status);
    found = status == 0;
  }
  Sample run(const Folder& folder, const std::string& name) const { return process({program, file(folder, name, "")}); }
};

struct Row {
  const Case* what;
  std::string name;
  std::shared_ptr<Subject> ours;
  Repeats times = {};
  std::vector<Repeats> peers = {};
};

void print_rows(const std::vector<Row>& rows, const std::vector<Peer>& peers) {
  Table table({"", "ms", "CPython", "Lua", "of CPython", "of Lua"});
  for (const Row& row : rows) {
    std::vector<std::string> line{row.what->name, fmt::format("{:.1f}", row.times.min_wall() * 1e3)}, ratios;
    for (std::size_t p = 0; p < peers.size(); ++p) {
      const double wall = peers[p].found ? row.peers[p].min_wall() - peers[p].start.min_wall() : 0;
      line.push_back(peers[p].found ? fmt::format("{:.1f}", wall * 1e3) : "not installed");
      ratios.push_back(peers[p].found ? fmt::format("{:.2f}", row.times.min_wall() / wall) : "");
    }
    line.insert(line.end(), ratios.begin(), ratios.end());
    table.add(std::move(line));
  }
  fmt::print("{}", table.text());
}

}  // namespace

void host_code(std::size_t turns, int repeats) {
  const Folder folder;
  std::vector<Peer> peers{{"python3", "py"}, {"lua5.4", "lua"}};
  for (Peer& peer : peers) peer.find(folder);
  std::vector<Row> rows;
  for (const Case& what : cases) {
    const std::size_t count = what.loops ? turns : recursion;
    auto text = [&](const char* of) { return fmt::format(fmt::runtime(of), count); };
    Row& row = rows.emplace_back(Row{&what, fmt::format("host_code{}", rows.size()), {}});
    row.ours = std::make_shared<Subject>(text(what.task));
    row.peers.resize(peers.size());
    peers[0].file(folder, row.name, text(what.python));
    peers[1].file(folder, row.name, text(what.lua));
  }
  for (int i = 0; i < repeats; ++i) {
    for (Peer& peer : peers)
      if (peer.found) peer.start.add(peer.run(folder, "empty"));
    for (Row& row : rows) {
      row.times.add(measure([&] { row.ours->run_cut(); }));
      for (std::size_t p = 0; p < peers.size(); ++p)
        if (peers[p].found) row.peers[p].add(peers[p].run(folder, row.name));
    }
  }
  fmt::print("host code, loops of {} turns, minima of {} interleaved runs\n\n", turns, repeats);
  print_rows(rows, peers);
}

}  // namespace taskspec::bench
