// Host and graph program run at the same time: shown by tasks and host code that wait for each other, which would
// never end if one of them came after the other. Nothing here is timed; a limit turns a hang into a failure.
#include <doctest/doctest.h>

#include <condition_variable>
#include <mutex>

#include "frontend/check.hpp"
#include "interp/control/natives.hpp"
#include "ir/base/render.hpp"
#include "tests/unit/programs.hpp"

namespace taskspec::overlap_test {

namespace {

// Something that one thread says once and another one waits for.
class Signal {
 public:
  void give() {
    {
      std::lock_guard lock(mutex_);
      given_ = true;
    }
    changed_.notify_all();
  }
  bool wait() {  // false: it never came
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(60), [&] { return given_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool given_ = false;
};

// The task `meet` says that it runs and then waits until the host lets it go on. The host, when it prints "meet", waits
// until the task runs and lets it go on.
struct Meeting {
  bool seen = false, released = false;  // by the host, by the task
  std::string output, errors;
  int code = 0;

  Meeting(const std::string& text, std::size_t capacity) {
    Signal task_runs, host_is_there;
    Natives natives;
    natives.define("meet", [&](const NativeCall& call) {
      task_runs.give();
      released = host_is_there.wait();
      call.outputs[0].set_number(0, 42);
    });
    RunSettings settings;
    settings.threads = 1;
    settings.capacity = capacity;
    settings.natives = &natives;
    settings.output = [&](std::string_view part) {
      output += part;
      if (part.find("meet") == std::string_view::npos) return;
      seen = task_runs.wait();
      host_is_there.give();
    };
    Sources sources;
    const Toolbox& tools = standard_toolbox();
    const SourceId main = sources.add("test.task", text);
    const Result<Program> program = check(sources, main, {.ops = tools.ops, .builtins = tools.builtins});
    errors = render(sources, program.diags());
    if (!program) return;
    const RunResult result = run_program(*program, tools, settings);
    errors = render(sources, result.diags);
    code = result.exit_code;
  }
};

const std::string meeting_task = "task meet(in v: f32[1]) -> (w: f32[1]) extern \"meet\"\nvar x = fill(f32[1], 0.0)\n";

// The task and the host wait for each other, and both come.
void check_met(const std::string& text, const std::string& output) {
  for (std::size_t capacity : {1, 64}) {
    CAPTURE(capacity);
    const Meeting met(meeting_task + text, capacity);
    CHECK(met.errors == "");
    CHECK(met.seen);
    CHECK(met.released);
    CHECK(met.output == output);
    CHECK(met.code == 0);
  }
}

}  // namespace

TEST_CASE("a task runs before the host has come to where it is received [overlap]") {
  check_met("x = meet(x).w\nprint(\"meet\")\nprint(x.scalar)\n", "meet\n42\n");
}

TEST_CASE("before the graph waits for the host, what can run does [overlap]") {
  check_met("x = meet(x).w\nprint(\"meet\")\nif len(args()) == 0 { x = x + 1.0 }\nprint(x.scalar)\n", "meet\n43\n");
}

TEST_CASE("a task that nobody receives runs while the host goes on, and is waited for at the end [overlap]") {
  const Meeting met(
      meeting_task + "x = meet(x).w\ngraph_print(\"x\", x)\nfor i in 0..3 { print(i) }\nprint(\"meet\")\n", 64);
  CHECK(met.errors == "");
  CHECK(met.seen);
  CHECK(met.released);
  CHECK(met.output.find("0\n1\n2\nmeet\n") == 0);
  CHECK(met.output.find("42") != std::string::npos);
}

}  // namespace taskspec::overlap_test
