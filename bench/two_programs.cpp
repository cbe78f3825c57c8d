#include "bench/two_programs.hpp"

#include <fmt/format.h>

#include "bench/subject.hpp"

namespace taskspec::bench {

namespace {

// ---- what a turn costs ----------------------------------------------------------------------------

struct Case {
  const char* name;
  const char* text;  // {} is the number of turns
  double bar;        // ns, 0: none
};

constexpr const char* given = "fn same(v: f32[4]) -> f32[4] {{ return v }}\nvar x = fill(f32[4], 1.0)\n";
constexpr const char* wanted = "print(x.sum(0).scalar)\n";

constexpr Case cases[] = {
    {"graph loop, nothing but a name in its body", "for i in 0..{} {{ x = x }}\n", 200},
    {"graph loop, a branch that is not taken", "for i in 0..{} {{ if i < 0 {{ x = x + 1.0 }} }}\n", 0},
    {"graph call: the first one with a call in its body", "for i in 0..{} {{ x = same(x) }}\n", 0},
    {"send: a branch that the host decides",
     "let no = len(args()) > 0\nvar turn = no\nfor i in 0..{} {{\n  if turn {{ x = x + 1.0 }}\n  turn = no\n}}\n",
     1000},
    {"receive: the host adds up a scalar that is there",
     "let y = x.sum(0)\nvar s = 0.0\nfor i in 0..{} {{ s = s + y.scalar }}\nprint(s)\n", 1000},
    {"round trip: the host decides after each receive",
     "let y = x.min(0)\nlet limit = [{}.0][len(args())]\nvar s = 0.0\n"
     "while s < limit {{\n  s = s + y.scalar\n  x = same(x)\n}}\n",
     0},
    {"round trip, and an operation runs each time",
     "let limit = [{}.0][len(args())]\nvar s = 0.0\n"
     "while s < limit {{\n  x = x + 1.0\n  s = x.min(0).scalar\n}}\n",
     0},
};

std::string text_of(const Case& what, std::size_t turns) {
  return fmt::format(fmt::runtime(std::string(given) + what.text + wanted), turns);
}

// Both ways of running a text; what does not belong to the turns is taken off.
class TurnRow {
 public:
  TurnRow(const Case& c, std::size_t turns) : what(c), turns_(turns), subject_(text_of(c, turns)) {
    const Subject almost_none(text_of(c, 2));
    for (int i = 0; i < 5; ++i) {
      cut_start_.add(measure([&] { almost_none.run_cut(); }));
      direct_start_.add(measure([&] { almost_none.run_direct(); }));
    }
  }
  void repeat() {
    cut.add(per_turn(measure([&] { subject_.run_cut(); }), cut_start_));
    direct.add(per_turn(measure([&] { subject_.run_direct(); }), direct_start_));
  }
  double messages() const { return static_cast<double>(subject_.messages()) / static_cast<double>(turns_); }

  const Case& what;
  Repeats cut, direct;  // ns per turn

 private:
  Sample per_turn(const Sample& all, const Repeats& start) const {
    const double ns = 1e9 / static_cast<double>(turns_);
    return {(all.wall - start.min_wall()) * ns, (all.cpu - start.min_cpu()) * ns};
  }
  std::size_t turns_;
  Subject subject_;
  Repeats cut_start_, direct_start_;
};

// ---- overlap --------------------------------------------------------------------------------------

constexpr const char* host_work = "var n = 1\nfor i in 0..{} {{ n = n * 3 % 1000 }}\n";
constexpr const char* graph_work =
    "task smooth(in v: f32[N]) -> (w: f32[N]) {{ w = tanh(v) }}\nvar x = fill(f32[100000], 1.0)\n"
    "for i in 0..{} {{ x = smooth(x).w }}\n";
constexpr const char* host_end = "print(n)\n";
constexpr const char* graph_end = "print(x.sum(0).scalar)\n";

std::string host_text(std::size_t turns) { return fmt::format(fmt::runtime(host_work), turns); }
std::string graph_text(std::size_t turns) { return fmt::format(fmt::runtime(graph_work), turns); }

// How many turns take so long.
template <class F>
std::size_t turns_for(double seconds, std::size_t first, F&& text) {
  std::size_t turns = first;
  for (int i = 0; i < 3; ++i) {
    const Subject trial(text(turns));
    const double took = measure([&] { trial.run_cut(); }).wall;
    turns = std::max<std::size_t>(1, static_cast<std::size_t>(static_cast<double>(turns) * seconds / took));
  }
  return turns;
}

}  // namespace

void show_program_costs(const Settings& settings) {
  const std::size_t turns = std::max<std::size_t>(settings.tasks / 10, 1000);
  const int repeats = settings.repeats > 0 ? settings.repeats : 10;
  std::vector<TurnRow> rows;
  for (const Case& what : cases) rows.emplace_back(what, turns);
  for (int i = 0; i < repeats; ++i)
    for (TurnRow& row : rows) row.repeat();

  fmt::print("\nprograms cut in two, {} turns of a loop; ns per turn of {} interleaved runs, beside one interpreter\n",
             turns, repeats);
  fmt::print("that does both parts\n\n");
  Table table({"", "messages", "min", "median", "CPU median", "one interpreter", "of the bar"});
  for (const TurnRow& row : rows) {
    table.add({row.what.name, fmt::format("{:.1f}", row.messages()), fmt::format("{:.0f}", row.cut.min_wall()),
               fmt::format("{:.0f}", row.cut.median_wall()), fmt::format("{:.0f}", row.cut.median_cpu()),
               fmt::format("{:.0f}", row.direct.median_wall()),
               row.what.bar > 0 ? fmt::format("{:.2f}", row.cut.median_wall() / row.what.bar) : ""});
  }
  fmt::print("{}", table.text());
}

void show_overlap(const Settings& settings) {
  constexpr double seconds = 0.3, bar = 1.3;
  const int repeats = settings.repeats > 0 ? settings.repeats : 10;
  const std::size_t host_turns = turns_for(seconds, 100'000, [](std::size_t n) { return host_text(n) + host_end; });
  const std::size_t graph_turns = turns_for(seconds, 100, [](std::size_t n) { return graph_text(n) + graph_end; });
  const Subject host(host_text(host_turns) + host_end), graph(graph_text(graph_turns) + graph_end),
      both(graph_text(graph_turns) + host_text(host_turns) + host_end + graph_end);
  Repeats alone_host, alone_graph, beside, after;
  for (int i = 0; i < repeats; ++i) {
    alone_host.add(measure([&] { host.run_cut(); }));
    alone_graph.add(measure([&] { graph.run_cut(); }));
    beside.add(measure([&] { both.run_cut(); }));
    after.add(measure([&] { both.run_direct(); }));
  }
  const double d = std::max(alone_host.min_wall(), alone_graph.min_wall());
  fmt::print("\na host part and a graph part of {} s each, {} interleaved runs; bar {} of the longer one\n\n", seconds,
             repeats, bar);
  Table table({"seconds", "min", "median", "CPU median", "of the longer one", "of the bar"});
  auto row = [&](const char* name, const Repeats& r, bool judged) {
    table.add({name, fmt::format("{:.3f}", r.min_wall()), fmt::format("{:.3f}", r.median_wall()),
               fmt::format("{:.3f}", r.median_cpu()), fmt::format("{:.2f}", r.min_wall() / d),
               judged ? fmt::format("{:.2f}", r.min_wall() / d / bar) : ""});
  };
  row("host part alone", alone_host, false);
  row("graph part alone", alone_graph, false);
  row("both, two programs", beside, true);
  row("both, one interpreter", after, false);
  fmt::print("{}", table.text());
}

}  // namespace taskspec::bench
