// Agents change before, between and behind what saves and loads them, in loops, branches and fns: random programs print
// what a plain calculation says, with every schedule, cut in two and not.
#include <doctest/doctest.h>

#include <array>
#include <map>
#include <optional>

#include "tests/unit/programs.hpp"
#include "tests/unit/random_cases.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace taskspec::checkpoints_prop_test {

namespace {

constexpr const char* agents = R"(
agent Count {
  state s: f64[1] = zero()
  task add(in x: f64[1]) -> (y: f64[1]) { s = s + x; y = s }
}
agent Pair {
  state s: f64[1] = constant(1.0)
  layer c = Count()
  task add(in x: f64[1]) -> (y: f64[1]) { s = s + x; y = s }
  graph both(x: f64[1]) -> (y: f64[1]) { y = c.add(x).y + s }
}
let pair = Pair()
let count = Count()
let one = [1.0] as f64[1]
)";

struct Slots {
  std::int64_t own = 1, layer = 0, count = 0;
};

// Writes a program and knows what it prints.
class Story {
 public:
  Story(std::uint64_t seed, std::string folder) : random_(seed), folder_(std::move(folder)) {}

  std::string text() {
    std::string main = std::string(agents) + "var later = one * 0.0\n";
    for (int file = 0; file < 2; ++file) {
      main += saved("pair", file) + saved("count", file);
      pairs_[file] = now_, counts_[file] = now_.count;
    }
    const Block block = made(3);
    std::string body = written(block, "");
    for (const std::string& fn : fns_) main += fn;
    main += body + "print(later.array)\n";
    std::int64_t later = 0;
    run(block, later);
    print(later);
    return main;
  }
  const std::string& output() const { return output_; }

 private:
  enum class Kind : std::uint8_t {
    add,
    both,
    count,
    print,
    save,
    load,
    save_count,
    load_count,
    tensor,
    loop,
    branch,
    fn
  };
  struct Step;
  using Block = std::vector<Step>;
  struct Step {
    Kind kind;
    int number;  // what is added, which file, how many turns, the bound of a branch
    Block inner = {};
  };

  Block made(int depth) {
    Block block;
    for (std::int64_t i = between(random_, 3, 6); i > 0; --i) {
      const auto kind = static_cast<Kind>(between(random_, 0, depth > 0 ? 11 : 8));
      Step step{kind, static_cast<int>(between(random_, 1, 3))};
      if (kind >= Kind::save && kind < Kind::tensor) step.number = static_cast<int>(between(random_, 0, 1));
      if (kind >= Kind::loop) step.inner = made(depth - 1);
      block.push_back(std::move(step));
    }
    return block;
  }

  // ---- as a text ----

  std::string path(const std::string& of, int file) const { return folder_ + "/" + of + std::to_string(file) + ".npz"; }
  std::string saved(const std::string& of, int file) const { return "save(" + of + ", \"" + path(of, file) + "\")\n"; }
  std::string loaded(const std::string& of, int file) const { return "load(" + of + ", \"" + path(of, file) + "\")\n"; }

  std::string written(const Block& block, const std::string& indent) {
    std::string text;
    for (const Step& step : block) text += indent + written(step, indent);
    return text;
  }

  std::string written(const Step& step, const std::string& indent) {
    const std::string number = std::to_string(step.number), more = "(one * " + number + ".0).y\n";
    auto inside = [&] { return written(step.inner, indent + "  ") + indent + "}\n"; };
    switch (step.kind) {
      case Kind::add:
        return "later = pair.add" + more;
      case Kind::both:
        return "later = pair.both" + more;
      case Kind::count:
        return "later = count.add" + more;
      case Kind::print:
        return "print(later.array)\n";
      case Kind::save:
        return saved("pair", step.number);
      case Kind::load:
        return loaded("pair", step.number);
      case Kind::save_count:
        return saved("count", step.number);
      case Kind::load_count:
        return loaded("count", step.number);
      case Kind::tensor:
        return "save(later * " + number + ".0, \"" + path("count", 0) + "\", name: \"s\")\n";
      case Kind::loop:
        return "for i in 0.." + number + " {\n" + inside();
      case Kind::branch:
        return "if pair.add(one).y.sum(0).scalar > " + number + ".0 {\n" + inside();
      case Kind::fn:
        break;
    }
    const std::string body = written(step.inner, "  ");  // which may need fns of its own
    const std::string name = "step" + std::to_string(fns_.size());
    fns_.push_back("fn " + name + "() {\n  var later = one * 0.0\n" + body + "  print(later.array)\n}\n");
    return name + "()\n";
  }

  // ---- what it does ----

  void print(std::int64_t value) { output_ += "[" + std::to_string(value) + "]\n"; }
  void run(const Block& block, std::int64_t& later) {
    for (const Step& step : block) run(step, later);
  }

  void run(const Step& step, std::int64_t& later) {
    const int n = step.number;
    switch (step.kind) {
      case Kind::add:
        later = now_.own += n;
        return;
      case Kind::both:
        later = (now_.layer += n) + now_.own;
        return;
      case Kind::count:
        later = now_.count += n;
        return;
      case Kind::print:
        return print(later);
      case Kind::save:
        pairs_[n] = now_;
        return;
      case Kind::load:
        now_.own = pairs_[n].own, now_.layer = pairs_[n].layer;
        return;
      case Kind::save_count:
        counts_[n] = now_.count;
        return;
      case Kind::load_count:
        now_.count = counts_[n];
        return;
      case Kind::tensor:
        counts_[0] = later * n;
        return;
      case Kind::loop:
        for (int i = 0; i < n; ++i) run(step.inner, later);
        return;
      case Kind::branch:
        if (++now_.own > n) run(step.inner, later);
        return;
      case Kind::fn: {
        std::int64_t own = 0;
        run(step.inner, own);
        return print(own);
      }
    }
  }

  std::mt19937_64 random_;
  const std::string folder_;
  std::vector<std::string> fns_;
  Slots now_;
  std::map<int, Slots> pairs_;
  std::map<int, std::int64_t> counts_;
  std::string output_;
};

}  // namespace

TEST_CASE("checkpoints in random programs: saved and loaded in program order, on every schedule [checkpoints]") {
  for (std::uint64_t seed : random_seeds(15, 1000)) {
    CAPTURE(seed);
    TemporaryFolder folder;
    Story story(seed, folder.path());
    const std::string text = story.text();
    CAPTURE(text);
    for (std::optional<Schedule> schedule :
         {std::optional<Schedule>(), {Schedule::push}, {Schedule::pull}, {Schedule::eager}}) {
      RunSettings settings;
      settings.schedule = schedule;
      const Ran ran = run_text(text, settings);
      CHECK(ran.errors == "");
      CHECK(ran.output == story.output());
    }
    CHECK(run_text_directly(text).output == story.output());
  }
}

TEST_CASE("a load that fails changes no slot, and what fails in order stands in order [checkpoints]") {
  TemporaryFolder folder;
  const std::string path = folder / "x.npz";
  const std::string text = std::string(agents) + "let first = pair.add(one).y\nsave(count, \"" + path +
                           "\")\nprint(1)\nload(pair, \"" + path + "\")\nprint(2)\n";
  for (const Ran& ran : {run_text(text), run_text_directly(text)}) {
    CHECK(ran.output == "1\n");
    CHECK(ran.code == 3);
    CHECK(ran.errors.find("does not fit Pair(): 1 difference") != std::string::npos);
    CHECK(ran.errors.find("note: missing: 'c.s', f64[1]") != std::string::npos);
    CHECK(ran.errors.find("error", ran.errors.find("error") + 1) == std::string::npos);
  }
  // A slot that cannot be computed cannot be saved, and nothing is written.
  const std::string broken =
      "agent A {\n  state s: i32[1] = constant(1)\n  task divide(in x: i32[1]) { s = s / x }\n}\nlet a = A()\n"
      "a.divide([0] as i32[1])\nsave(a, \"" +
      (folder / "broken.npz") + "\")\n";
  for (const Ran& ran : {run_text(broken), run_text_directly(broken)}) {
    CHECK(ran.errors.find("E5002") != std::string::npos);
    CHECK(!std::filesystem::exists(folder / "broken.npz"));
  }
}

}  // namespace taskspec::checkpoints_prop_test
