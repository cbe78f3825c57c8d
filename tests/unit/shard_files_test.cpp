// attach and detach of one file on shards: the first shard alone reads it, its elements go to who uses them, and what
// it cannot read all shards tell alike.
#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "ir/files/files.hpp"
#include "tests/unit/programs.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace taskspec::shard_files_test {

namespace {

constexpr const char* program = R"(
fields Cell { state: f64, n: int, sum: f64 }
task bump(inout c: Cell[_].{state}, in w: Cell[_].{n}) { for i in c { c[i].state += 0.5 * (w[i].n as f64) } }
task near(inout c: Cell[_].{sum}, in w: Cell[_].{state}) { for i in c { c[i].sum += at(w, i + 1, 0.25).state } }
fn made(name: string, one: string) {
  let cells = region Cell[48]
  fill(cells.state, iota(48) as f64 * 0.75)
  fill(cells.n, iota(48) * 5 % 17)
  detach(cells, file: name)
  detach(blocks(cells, 6)[2].state, file: one)
}
fn main(name: string, one: string, how: sharding) -> float {
  let cells = region Cell[48]
  let p = blocks(cells, 6)
  let q = halo(p, 1)
  fill(cells.state, 7.0)
  launch bump(p[i], p[i]) for i in 0..6 by how
  attach(cells, file: name)
  for t in 0..3 {
    launch bump(p[i], p[i]) for i in 0..6 by how
    launch near(p[i], q[i]) for i in 0..6 by how
    if t == 1 { attach(p[2].state, file: one) }
  }
  detach(cells)
  return cells.state.sum(0).scalar
}
)";

std::size_t errors_in(const std::string& text) {
  std::size_t count = 0;
  for (std::size_t at = 0; (at = text.find("error E", at)) != std::string::npos; ++at) ++count;
  return count;
}

// How often a file is opened meanwhile.
class Opened {
 public:
  explicit Opened(const std::string& path) : from_(inotify_init1(IN_NONBLOCK)) {
    REQUIRE(inotify_add_watch(from_, path.c_str(), IN_OPEN | IN_CLOSE) >= 0);
  }
  ~Opened() { close(from_); }
  std::size_t count() {
    alignas(inotify_event) char events[1 << 16];
    const ssize_t size = read(from_, events, sizeof events);
    std::size_t count = 0;
    for (ssize_t at = 0; at < size;) {
      const auto* event = reinterpret_cast<const inotify_event*>(events + at);
      count += (event->mask & IN_OPEN) != 0;
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
    }
    return count;
  }

 private:
  const int from_;
};

}  // namespace

TEST_CASE("a file that is attached comes to the same on any number of shards, byte for byte [files][D21]") {
  const TemporaryFolder folder;
  const std::string cells = folder / "cells.h5", one = folder / "one.npy";
  const auto run = [&](const std::string& how, const std::string& on) {
    const Ran ran = run_text(std::string(program) + "made(\"" + cells + "\", \"" + one + "\")\nprint((run main(\"" +
                             cells + "\", \"" + one + "\", " + how + ") on " + on + ").value)\n");
    CHECK_MESSAGE(ran.code == 0, ran.errors);
    return ran.output + read_text(cells);
  };
  const std::string expected = run("block", "host");
  for (const char* how : {"block", "cyclic"})
    for (const int shards : {1, 2, 3, 4, 7})
      for (const char* more : {"", ", traces: false", ", plans: \"all\", level: \"every\"", ", level: \"off\""}) {
        const std::string on = fmt::format("mpi(shards: {}{})", shards, more);
        CAPTURE(on);
        CHECK(run(how, on) == expected);
      }
}

TEST_CASE("one shard opens a file, and what it reads goes to who uses it [files][messages]") {
  const TemporaryFolder folder;
  const std::string file = folder / "x.npy";
  const std::string text =
      "fields F { a: f64 }\ntask up(inout v: F[_].{a}) { for i in v { v[i].a += 1.0 } }\n"
      "fn made() { detach(region F[64], file: \"" +
      file +
      "\") }\n"
      "fn main() {\n  let r = region F[64]\n  let p = blocks(r, 8)\n  attach(r, file: \"" +
      file + "\")\n  launch up(p[i]) for i in 0..8\n  launch up(p[i]) for i in 0..8\n}\n";
  REQUIRE(run_text(text + "made()\n").code == 0);
  Opened opened(file);
  REQUIRE(run_text(text + "run main() on host\n").code == 0);
  const std::size_t by_host = opened.count();
  CHECK(by_host > 0);
  for (const int shards : {1, 2, 4, 16}) {
    const Ran ran = run_text(text + fmt::format("let r = run main() on mpi(shards: {})\nprint(r.report.fences, "
                                                "r.report.messages, r.report.bytes)\n",
                                                shards));
    CHECK_MESSAGE(ran.code == 0, ran.errors);
    CHECK(opened.count() == by_host);
    // All but what the first one uses itself, once; shards beyond the eighth have no points.
    const int others = std::min(shards, 8) - 1;
    CHECK(ran.output == fmt::format("1 {} {}\n", others, others * 64 / std::min(shards, 8) * 8));
  }
}

TEST_CASE("a file that cannot be read is the error of the host on any number of shards, once [files][dead-rank]") {
  const TemporaryFolder folder;
  save_array(Array::make({Precision::f64, {64}}), folder / "whole.npy");
  folder.put("short.npy", read_text(folder / "whole.npy").substr(0, 300));
  folder.put("no.h5", "nothing of the kind");
  const auto program = [&](const char* name, int points) {
    return fmt::format(
        "fields F {{ a: f64 }}\ntask up(inout v: F[_].{{a}}) {{ for i in v {{ v[i].a += 1.0 }} }}\n"
        "fn main() {{\n  let r = region F[{}]\n  let p = blocks(r, 8)\n  launch up(p[i]) for i in 0..8\n"
        "  print(r.a.sum(0).scalar)\n  attach(r, file: \"{}\")\n  launch up(p[i]) for i in 0..8\n  "
        "print(\"never\")\n}}\n",
        points, folder / name);
  };
  for (const auto& [name, points, code] : {std::tuple("none.npy", 64, "E7001"),
                                           {"short.npy", 64, "E7003"},
                                           {"whole.npy", 65, "E7003"},
                                           {"no.h5", 64, "E7003"}}) {
    CAPTURE(name);
    const Ran host = run_text(program(name, points) + "run main() on host\n");
    REQUIRE(host.errors.find(std::string("error ") + code) != std::string::npos);
    for (const int shards : {1, 2, 4, 16})
      for (const char* more : {"", ", level: \"off\"", ", traces: false"}) {
        const Ran ran =
            run_text(program(name, points) + fmt::format("run main() on mpi(shards: {}{})\n", shards, more));
        CHECK(ran.code == host.code);
        CHECK(ran.errors == host.errors);
        CHECK(errors_in(ran.errors) == 1);
        CHECK(ran.output == host.output);
      }
  }
}

TEST_CASE("a shard that attaches another file is named [files][inject][D17]") {
  const TemporaryFolder folder;
  const std::string text =
      "fields F { a: f64 }\nfn main(name: string) -> float {\n  let r = region F[4]\n"
      "  detach(r, file: name)\n  attach(r, file: name)\n  return r.a.sum(0).scalar\n}\n";
  for (const char* level : {"batch", "every"}) {
    const Ran ran =
        run_text(text + fmt::format("run main(\"{}\") on mpi(shards: 3, level: \"{}\", inject: \"1:4:files\")\n",
                                    folder / "f.npy", level));
    CHECK(ran.code == 3);
    CHECK_MESSAGE(ran.errors.find("call 4 'attach attach'") != std::string::npos, ran.errors);
    CHECK(errors_in(ran.errors) == 1);
  }
}

}  // namespace taskspec::shard_files_test
