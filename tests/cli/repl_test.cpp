// The prompt as people meet it: a session whose transcript is a test, and a real terminal with its keys.
#include <doctest/doctest.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>

#include "tests/cli/process.hpp"
#include "tests/guard/paths.hpp"

namespace taskspec::repl_test {

using namespace std::chrono_literals;

namespace {

bool holds(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

std::string repl_of(const std::string& input) {
  TemporaryFolder folder;
  folder.put("input.txt", input);
  Process tool({.arguments = {"repl"}, .folder = folder.path(), .input = (folder.path() / "input.txt").string()});
  CHECK(tool.wait() == 0);
  CHECK(tool.err() == "");
  return tool.out();
}

// The tool in a terminal of its own.
class Terminal {
 public:
  Terminal(const std::filesystem::path& folder, unsigned short columns = 80) {
    winsize size{24, columns, 0, 0};
    id_ = forkpty(&terminal_, nullptr, nullptr, &size);
    REQUIRE(id_ >= 0);
    if (id_ != 0) return;
    const std::string tool = taskspec_binary().string();
    setenv("TERM", "xterm", 1);
    setenv("LC_ALL", "C.UTF-8", 1);
    setenv("NO_COLOR", "1", 1);
    setenv("TASKSPEC_HISTORY", (folder / "history").c_str(), 1);
    if (chdir(folder.c_str()) == 0) execl(tool.c_str(), "taskspec", static_cast<char*>(nullptr));
    _exit(127);
  }
  ~Terminal() {
    if (id_ > 0) {
      kill(id_, SIGKILL);
      waitpid(id_, nullptr, 0);
    }
    close(terminal_);
  }

  void type(std::string_view keys) {
    seen_.clear();
    REQUIRE(write(terminal_, keys.data(), keys.size()) == static_cast<ssize_t>(keys.size()));
  }

  // Reads until this text has come since the last keys; what came then.
  std::string until(std::string_view text, std::chrono::milliseconds limit = 20s) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (!holds(seen_, text) && std::chrono::steady_clock::now() < end) {
      pollfd input{terminal_, POLLIN, 0};
      if (poll(&input, 1, 100) <= 0) continue;
      char bytes[4096];
      const ssize_t got = read(terminal_, bytes, sizeof bytes);
      if (got <= 0) break;
      seen_.append(bytes, static_cast<std::size_t>(got));
    }
    CHECK_MESSAGE(holds(seen_, text), "waited for '" << text << "', saw '" << seen_ << "'");
    return seen_;
  }

  // Leaves by Ctrl-D; the exit code. More than once: a key that comes between the prompt and the mode in which it is
  // read is lost, which no person is quick enough to see.
  int leave() {
    int status = -1;
    until("> ");
    for (int i = 0; i < 1000; ++i) {
      if (i % 50 == 0 && write(terminal_, "\x04", 1) != 1) break;
      until_quiet();
      if (waitpid(id_, &status, WNOHANG) == id_) {
        id_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      }
      usleep(20000);
    }
    return -1;
  }

 private:
  void until_quiet() {
    pollfd input{terminal_, POLLIN, 0};
    char bytes[4096];
    while (poll(&input, 1, 10) > 0 && read(terminal_, bytes, sizeof bytes) > 0) {
    }
  }

  int terminal_ = -1;
  pid_t id_ = -1;
  std::string seen_;
};

}  // namespace

TEST_CASE("[repl] a let that only the run knows sizes a task") {
  const std::string out = repl_of(
      "let base = parse_int(\"4\")\ntask inc(in x: i32[base]) -> (y: i32[base]) { y = x + 1 }\n"
      "print(inc([1, 2, 3, 4] as i32[4]).array)\n");
  CHECK_MESSAGE(holds(out, "[2, 3, 4, 5]\n"), out);
}

TEST_CASE("[S3] a session and its transcript are the same") {
  const std::string text = read_file(source_root() / "tests/session.txt");
  REQUIRE(text.size() > 1000);
  CHECK(repl_of(text) == text);
}

TEST_CASE("[H8] a session on a mapping and its transcript are the same") {
  const std::string text = read_file(source_root() / "tests/mapping_session.txt");
  REQUIRE(text.size() > 1000);
  CHECK(repl_of(text) == text);
}

TEST_CASE("[repl] a session over regions and its transcript are the same") {
  const std::string text = read_file(source_root() / "tests/regions_session.txt");
  REQUIRE(text.size() > 1000);
  CHECK(repl_of(text) == text);
}

TEST_CASE("[repl] a text of several lines is shown as its lines, all other strings in quotes") {
  auto shown = [](const std::string& entry) {
    const std::string out = repl_of(entry + "\n"), echo = "> " + entry + "\n";
    REQUIRE(out.starts_with(echo));
    return out.substr(echo.size());
  };
  CHECK(shown(R"("one")") == "\"one\"\n");
  CHECK(shown(R"("one\n  two")") == "one\n  two\n");
  CHECK(shown(R"("one\ntwo\n")") == "one\ntwo\n");
  for (const char* quoted : {R"("one\n")",         // one line
                             R"("one\ntwo\n\n")",  // the end could not be seen
                             R"("one\ntwo\r")",    // nor this
                             R"(["one\ntwo"])"})   // within another value as ever
    CHECK(shown(quoted) == std::string(quoted) + "\n");
}

TEST_CASE("[repl] lines of a pipe are echoed, and answers of pasted sessions passed over") {
  CHECK(repl_of("1 + 1\n\nlet x = [1,\n2]\nx\n") == "> 1 + 1\n2\n> \n> let x = [1,\n. 2]\n> x\n[1, 2]\n");
  CHECK(repl_of("> 1 + 1\n3\n> 2 + 2\n4\n") == "> 1 + 1\n2\n> 2 + 2\n4\n");
  CHECK(repl_of("let x = [1,\n").find("error E0002") != std::string::npos);  // never finished
  CHECK(repl_of("exit(0)\nprint(1)\n") == "> exit(0)\n");
  CHECK(repl_of("\xff\xfe\n1\n").find("> 1\n1\n") != std::string::npos);
}

TEST_CASE("[repl] what the graph prints is there after the entry, also when it fails or ends the session") {
  const std::string shown = repl_of(
      "let x = fill(f32[2], 1.0)\ngraph_print(\"one\", x)\n"
      "for i in 0..3 { graph_print(\"turn\", x * i); assert(i < 1) }\n"
      "for i in 0..2 { graph_print(\"next\", 1 / fill(i32[1], i)) }\n"
      "graph_print(\"last\", x)\nexit(0)\n");
  auto at = [&](std::string_view part) { return shown.find(part); };
  CHECK(at("\none: [1, 1]\n+ new task graph_print#0") != std::string::npos);
  CHECK(at("turn: [0, 0]\nturn: [1, 1]\nerror E5005: assertion failed") != std::string::npos);
  CHECK(at("turn: [2, 2]") == std::string::npos);
  CHECK(at("error E5002: division by zero") < at("\nlast: [1, 1]\n"));  // once, and the next entry is as good as ever
  CHECK(shown.find("E5002", at("E5002") + 1) == std::string::npos);
}

TEST_CASE("[repl] exit(code) is the exit code, an unknown backend wrong usage") {
  TemporaryFolder folder;
  folder.put("input.txt", "exit(7)\n");
  Process tool({.arguments = {"repl"}, .folder = folder.path(), .input = (folder.path() / "input.txt").string()});
  CHECK(tool.wait() == 7);
  Process wrong({.arguments = {"repl", "--on", "nothing"}, .folder = folder.path()});
  CHECK(wrong.wait() == 2);
}

TEST_CASE("[repl] a command refuses what it does not take") {
  const std::string out = repl_of(
      "let x = fill(f32[2], 1.0)\nfn f(x: f32[2]) -> f32[2] {\n  print(x.sum(0).scalar)\n  return x\n}\n"
      "let y = f(x)\n:reset junk\n:help me\n:profile all\n:quit now\nprint(x.array)\n:slices nope\n:slices f\n"
      ":slices --metrics f\n:slices f g\n");
  for (const char* told : {":reset takes nothing, and was given 'junk'", ":help takes nothing, and was given 'me'",
                           ":profile takes nothing, and was given 'all'", ":quit takes nothing, and was given 'now'",
                           "\n[1, 1]\n", "no function 'nope' is part of the two programs",
                           ":slices takes --metrics and the name of one function, not 'g'"})
    CHECK_MESSAGE(holds(out, told), told << " is not in\n" << out);
  CHECK(!holds(out, "everything is forgotten"));
  const std::string one = out.substr(out.find("> :slices f\n"));
  CHECK_MESSAGE(one.starts_with("> :slices f\nfn f\n  host\n"), one);
  CHECK_MESSAGE(holds(one.substr(0, one.find("> :slices --metrics f")), "f:0 <-- to the host"), one);
  CHECK_MESSAGE(!holds(one, "host program:"), one);
  CHECK_MESSAGE(holds(one.substr(one.find("--metrics f")), "\nmetrics\n  f\n"), one);
}

TEST_CASE("[repl] in a terminal: a banner, completion, Ctrl-C and Ctrl-D") {
  TemporaryFolder folder;
  Terminal terminal(folder.path());
  const std::string banner = terminal.until("> ");
  CHECK(holds(banner, "taskspec"));
  CHECK(holds(banner, "Ctrl-D leaves"));
  terminal.type("let abacus = 41\n");
  terminal.until("> ");
  terminal.type("aba\t");  // a tab with more behind it was pasted, and completes nothing
  terminal.until("cus");
  terminal.type(" + 1\n");
  terminal.until("42");
  terminal.until("> ");
  terminal.type("let unfinished = (1 +\n");
  terminal.until(". ");
  terminal.type("\x03");  // gives the whole entry up
  terminal.until("> ");
  terminal.type("abacus + 2\n");
  terminal.until("43");
  terminal.type("var i = 0\n");
  terminal.until("> ");
  terminal.type("while true { i += 1 }\n");
  usleep(300000);
  terminal.type("\x03");
  terminal.until("interrupted");
  terminal.until("> ");
  terminal.type("i > 0\n");
  terminal.until("true");
  terminal.type("> abacus + 3\n");  // a prompt that was pasted with its line
  terminal.until("44");
  CHECK(terminal.leave() == 0);
}

TEST_CASE("[repl] the history lasts, one entry per statement, and a broken one is put aside") {
  TemporaryFolder folder;
  {
    Terminal terminal(folder.path());
    terminal.until("> ");
    terminal.type("let f = [1,\n");
    terminal.until(". ");
    terminal.type("2]\n");
    CHECK(terminal.leave() == 0);
  }
  {
    Terminal terminal(folder.path());
    terminal.until("> ");
    terminal.type("\x1b[A");  // up: the whole statement
    terminal.until("2]");
    terminal.type("\n");
    terminal.until("> ");
    terminal.type("f\n");
    terminal.until("[1, 2]");
    CHECK(terminal.leave() == 0);
  }
  folder.put("history", std::string("\x01\x02 not a history\n\xff\n", 20));
  Terminal terminal(folder.path());
  CHECK(holds(terminal.until("> "), "history.broken"));
  terminal.type("1 + 1\n");
  terminal.until("2");
}

TEST_CASE("[repl] in a terminal: a block of the history is moved through by lines, words stay whole") {
  TemporaryFolder folder;
  Terminal terminal(folder.path());
  terminal.until("> ");
  terminal.type("let first = 1\n");
  terminal.until("> ");
  terminal.type("let l = [1,\n");
  terminal.until(". ");
  terminal.type("22]\n");
  terminal.until("> ");
  terminal.type("\x1b[A");  // the block; the cursor is at its end
  terminal.until("22]");
  terminal.type("\x1b[A");  // its first line, not the entry before
  terminal.type("0");       // behind "let", as far in as "22]" is long
  terminal.type("\x1b[B");  // its last line again
  terminal.type("\x1b[B");  // below it there is no line, and no entry either
  terminal.type("\x03");
  terminal.until("> ");
  terminal.type("\x1b[A");
  terminal.until("22]");
  terminal.type("\x1b[A\x1b[A");  // out of the block at its top
  terminal.until("first");
  terminal.type("\x03");
  terminal.until("> ");
  terminal.type("?topk\n");
  const std::string told = terminal.until("[1, 3, 2]");
  CHECK(holds(told, "left out, in\r\nfalling order"));
  terminal.type("\"abc\n");  // a string ends on its line
  terminal.until("string is never closed");
  terminal.until("> ");
  terminal.type("conv2d(");
  usleep(300000);
  terminal.type("\t");
  terminal.until("groups: 1)");
  terminal.type("\x03");
  CHECK(terminal.leave() == 0);
}

TEST_CASE("[repl] a terminal of 20 columns") {
  TemporaryFolder folder;
  Terminal terminal(folder.path(), 20);
  terminal.until("> ");
  terminal.type("iota(1000)\n");
  terminal.until("...]");
  terminal.type("let a_name_that_is_long = 12345678901234\n");
  terminal.until("> ");
  terminal.type("a_name_that_is_long\n");
  terminal.until("\n12345678901234");
  CHECK(terminal.leave() == 0);
}

}  // namespace taskspec::repl_test
