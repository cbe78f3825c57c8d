// The tool under limits on address space: it does its work in less, or says with E5008 what is missing.
#include <doctest/doctest.h>
#include <sys/resource.h>

#include "tests/cli/process.hpp"

namespace taskspec::limits_test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool sanitized = true;  // they reserve terabytes of address space themselves
#else
constexpr bool sanitized = false;
#endif

namespace {

// Of the processes that are started while it lives; ours uses less.
class AddressSpace {
 public:
  explicit AddressSpace(rlim_t bytes) {
    getrlimit(RLIMIT_AS, &before_);
    const rlimit less{bytes, before_.rlim_max};
    setrlimit(RLIMIT_AS, &less);
  }
  ~AddressSpace() { setrlimit(RLIMIT_AS, &before_); }

 private:
  rlimit before_{};
};

constexpr rlim_t mega = rlim_t{1} << 20;

struct Ended {
  int code = -1;
  std::string out, err;
};

Ended run_with(rlim_t bytes, const std::string& text) {
  TemporaryFolder folder;
  folder.put("x.task", text);
  const AddressSpace limit(bytes);
  Process tool({.arguments = {"run", "x.task"}, .folder = folder.path()});
  const int code = tool.wait();
  return {code, tool.out(), tool.err()};
}

}  // namespace

TEST_CASE("[limits] a short program runs in a few gigabytes of address space" * doctest::skip(sanitized)) {
  const std::string text =
      "var x = fill(f32[4], 1.0)\n"
      "for i in 0..3 { x = x + x.sum(0).scalar }\n"
      "print(x.array)\n";
  for (const rlim_t megas : {1500, 3000, 4400, 5000, 6000, 7000, 8000, 8500})
    for (int round = 0; round < 3; ++round) {
      CAPTURE(megas);
      const Ended ended = run_with(megas * mega, text);
      CHECK_MESSAGE(ended.code == 0, ended.err);
      CHECK(ended.out == "[125, 125, 125, 125]\n");
    }
}

// Each has threads of its own.
TEST_CASE("[limits] sessions that nobody names any more are closed" * doctest::skip(sanitized)) {
  const Ended ended = run_with(8000 * mega,
                               "graph g(x: f32[N]) -> (y: f32[N]) { y = step(x + 1.0, 2.0) }\n"
                               "task step(x: f32[N], rate: float) -> (y: f32[N]) { y = x * rate }\n"
                               "let x = fill(f32[4], 1.0)\n"
                               "for i in 0..2000 { let y = run g(x) on host(threads: 2) }\n"
                               "print(\"ended\")\n");
  CHECK_MESSAGE(ended.code == 0, ended.err);
  CHECK(ended.out == "ended\n");
}

TEST_CASE("[limits] recursion without an end is E5006 in little address space, too" * doctest::skip(sanitized)) {
  const Ended ended = run_with(2000 * mega, "fn f(n: int) -> int { return f(n + 1) + 1 }\nprint(f(len(args())))\n");
  CHECK(ended.code == 3);
  CHECK_MESSAGE(ended.err.find("E5006") != std::string::npos, ended.err);
}

// Memory that runs out in the interpreter itself is told with the line that the program had come to.
TEST_CASE("[limits] a list that grows without an end is E5008 at its place" * doctest::skip(sanitized)) {
  const Ended ended = run_with(2000 * mega,
                               "fn grow(n: int) -> int {\n"
                               "  var l = [n]\n"
                               "  for i in 0..1000000000 {\n"
                               "    l += [i]\n"
                               "  }\n"
                               "  return len(l)\n"
                               "}\n"
                               "print(grow(len(args())))\n");
  CHECK(ended.code == 3);
  CHECK_MESSAGE(ended.err.find("error E5008: no memory left") != std::string::npos, ended.err);
  CHECK_MESSAGE(ended.err.find("x.task:4:") != std::string::npos, ended.err);
}

TEST_CASE("[limits] threads that cannot be started are E5008" * doctest::skip(sanitized)) {
  for (const std::string text : {"let r = run fill(f32[4], 1.0) on host(threads: 1024)\nprint(r.value.array)\n"}) {
    const Ended ended = run_with(3000 * mega, text);
    CHECK(ended.code == 3);
    CHECK_MESSAGE(ended.err.find("error E5008") != std::string::npos, ended.err);
    CHECK(ended.err.find("of 1024 threads could be started") != std::string::npos);
    CHECK(ended.err.find("x.task:1") != std::string::npos);
  }
}

}  // namespace taskspec::limits_test
