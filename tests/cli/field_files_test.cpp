// attach and detach from outside: what goes wrong with a file is one message, and the file that was there stays.
#include <doctest/doctest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

#include "ir/files/files.hpp"
#include "tests/cli/process.hpp"

namespace taskspec::field_files_test {

using namespace std::chrono_literals;

namespace {

struct Ended {
  int code = -1;
  std::string out, err;
};

Ended run(const TemporaryFolder& folder, const std::string& text, const std::vector<std::string>& more = {}) {
  folder.put("x.task", text);
  std::vector<std::string> arguments{"run", "x.task"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  Process tool({.arguments = arguments, .folder = folder.path()});
  const int code = tool.wait(60s);
  return {code, tool.out(), tool.err()};
}

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

void check_one_error(const Ended& ended, std::string_view error) {
  CAPTURE(ended.err);
  CHECK(ended.code == 3);
  CHECK(holds(ended.err, error));
  CHECK(ended.err.find("error E", ended.err.find("error E") + 1) == std::string::npos);
}

std::vector<std::string> names_in(const TemporaryFolder& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder.path())) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

// Files that a process which is started meanwhile may write: what a full disk looks like to it.
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

const std::string cells = "fields Cell { state: f64 }\nlet cells = region Cell[4000]\n";
const std::string nodes = "fields Node { charge: f64, piece: i32 }\nlet nodes = region Node[2000]\n";

}  // namespace

TEST_CASE("a file that cannot be read is one error with the file, and what was expected there [files] [hostile]") {
  const TemporaryFolder folder;
  check_one_error(run(folder, cells + "attach(cells, file: \"cells.npy\")\n"), "error E7001: no file 'cells.npy'");
  check_one_error(run(folder, cells + "attach(cells, file: \"cells.csv\")\n"),
                  "error E7003: 'cells.csv' is no file of");
  check_one_error(run(folder, cells + "save([1.0], \"a.npy\")\nattach(cells, file: \"a.npy\")\n"),
                  "it holds f64[1], expected f64[4000]");
  folder.put("b.npy", taskspec::read_text(folder / "a.npy").substr(0, 130));
  check_one_error(run(folder, "fields Cell { state: f64 }\nlet c = region Cell[1]\nattach(c, file: \"b.npy\")\n"),
                  "error E7003: 'b.npy' is broken at byte");
  folder.put("c.h5", "nothing of the kind");
  check_one_error(run(folder, nodes + "attach(nodes, file: \"c.h5\")\n"), "error E7003: 'c.h5' is no HDF5 file");
  check_one_error(run(folder, nodes + "attach(nodes, file: \"c.npy\")\n"), "would hold one field, and these are 2");
  check_one_error(run(folder, nodes + "detach(nodes.charge, file: \"d.h5\")\nattach(nodes, file: \"d.h5\")\n"),
                  "it has no dataset 'piece'; it has charge");
  if (geteuid() != 0) {
    std::filesystem::permissions(folder / "a.npy", std::filesystem::perms::none);
    check_one_error(run(folder, cells + "attach(cells, file: \"a.npy\")\n"), "permission denied");
  }
}

TEST_CASE("where a file cannot be written the old one stays, and nothing is left beside it [files] [durable]") {
  const TemporaryFolder folder;
  REQUIRE(run(folder, cells + "fill(cells.state, 1.0)\ndetach(cells, file: \"cells.npy\")\n").code == 0);
  REQUIRE(run(folder, nodes + "fill(nodes.charge, 1.0)\ndetach(nodes, file: \"nodes.h5\")\n").code == 0);
  const std::string npy = taskspec::read_text(folder / "cells.npy"), h5 = taskspec::read_text(folder / "nodes.h5");
  const std::vector<std::string> names = names_in(folder);
  const auto changed = [](const std::string& data, const std::string& name, const std::string& field) {
    return "attach(" + data + ", file: \"" + name + "\")\nfill(" + data + "." + field + ", 2.0)\ndetach(" + data +
           ")\nprint(\"never\")\n";
  };
  Ended full_npy, full_h5;
  {
    const SmallDisk disk(20'000);
    full_npy = run(folder, cells + changed("cells", "cells.npy", "state"));
    full_h5 = run(folder, nodes + changed("nodes", "nodes.h5", "charge"));
  }
  check_one_error(full_npy, "error E7004: cannot write 'cells.npy': file too large");
  check_one_error(full_h5, "error E7004: cannot write 'nodes.h5': ");
  CHECK(full_npy.out == "");
  CHECK(taskspec::read_text(folder / "cells.npy") == npy);
  CHECK(taskspec::read_text(folder / "nodes.h5") == h5);
  CHECK(names_in(folder) == names);
  check_one_error(run(folder, cells + "detach(cells, file: \"nowhere/cells.npy\")\n"),
                  "error E7004: cannot write 'nowhere/cells.npy'");
  std::filesystem::create_symlink("/dev/full", folder / "full.npy");
  check_one_error(run(folder, cells + "detach(cells, file: \"full.npy\")\n"),
                  "error E7004: cannot write 'full.npy': no space left on device");
  std::filesystem::create_symlink("/dev/full", folder / "full.h5");
  check_one_error(run(folder, nodes + "detach(nodes, file: \"full.h5\")\n"), "error E7004: cannot write 'full.h5'");
}

TEST_CASE("of a group one file that fails is told with its point; the others are written [files]") {
  const TemporaryFolder folder;
  const std::string p = "let p = blocks(cells, 4)\n";
  check_one_error(run(folder, cells + p +
                                  "fill(cells.state, 1.0)\n"
                                  "detach(p, files: c => format(\"{}piece_{}.npy\", [\"\", \"no/\"][c / 3], c))\n"),
                  "cannot write 'no/piece_3.npy'");
  CHECK(std::filesystem::exists(folder / "piece_2.npy"));
  const Ended missing = run(folder, cells + p + "attach(p, files: c => format(\"piece_{}.npy\", c))\n");
  check_one_error(missing, "no file 'piece_3.npy'");
  CHECK(holds(missing.err, "it is the file of p[3]"));
  check_one_error(run(folder, cells + p + "detach(p, files: c => format(\"piece_{}.npy\", c / 2))\n"),
                  "error E3101: points 0 and 1 both write 'piece_0.npy'; a group must be independent");
}

TEST_CASE("every schedule and any number of threads write the same bytes [files]") {
  const TemporaryFolder folder;
  const std::string text =
      nodes +
      "task one(inout n: Node[_].{charge, piece}) { for i in n { n[i].charge += 0.1 * i; n[i].piece = i } }\n"
      "let p = blocks(nodes, 7)\n"
      "launch one(p[i]) for i in 0..7\n"
      "detach(p, files: c => format(\"n{}.h5\", c))\n"
      "launch one(p[i]) for i in 0..7\n"
      "attach(p, files: c => format(\"n{}.h5\", c))\n"
      "launch one(p[i]) for i in 0..7\n"
      "detach(nodes, file: \"all.h5\")\n"
      "print(nodes.charge[10].scalar, nodes.piece.sum(0).scalar)\n";
  std::string first;
  for (const char* schedule : {"push", "pull", "eager"})
    for (const char* threads : {"1", "2", "4"}) {
      const Ended ended = run(folder, text, {"--schedule", schedule, "--threads", threads});
      CAPTURE(ended.err);
      CHECK(ended.out == "2 1999000\n");
      std::string bytes = taskspec::read_text(folder / "all.h5");
      for (int c = 0; c < 7; ++c) bytes += taskspec::read_text(folder / ("n" + std::to_string(c) + ".h5"));
      if (first.empty()) first = bytes;
      CHECK(bytes == first);
    }
}

}  // namespace taskspec::field_files_test
