// What a user sees of runs on crossbars and on cores of synapses: reports, phases that are too long, memory.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "hwsim/chip/chip.hpp"
#include "tests/guard/tool.hpp"

namespace taskspec::spike_report_test {

namespace {

// The file of a preset with other words in it; each stands there, and its first is changed.
std::string chip_file(std::string_view preset, const std::vector<std::pair<std::string, std::string>>& changes) {
  std::string text = find_chip(preset).value_or_throw().text;
  for (const auto& [from, to] : changes) {
    REQUIRE_MESSAGE(text.find(from) != std::string::npos, from);
    text.replace(text.find(from), from.size(), to);
  }
  return text;
}

// 64 inputs -> 16 neurons -> 16 neurons, which are busy. Types of axons want few weights.
std::string two_layers(const std::string& chip, int steps, const std::string& more = "print(r.report)") {
  const bool is_spiking = chip == "loihi" || chip == "truenorth", has_types = chip == "truenorth";
  return fmt::format(R"(agent Spiking(n: int) {{
  state v: i32[n] = zero()
  task forward(in cur: i32[n]) -> (spike: i8[n]) {{ spike = lif(cur, v, threshold: 40, leak: 2) }}
}}
graph snn(x: i8[64]) -> (s: i8[16]) {{
  let w = ({}).reshape(64, 16) as i8[64, 16]
  let u = ({}).reshape(16, 16) as i8[16, 16]
  s = Spiking(16).forward((Spiking(16).forward((x @ w) as i32[16]).spike @ u) as i32[16]).spike
}}
let r = run snn((iota(64) % {}) as i8[64]) on hw(chip: "{}", time_steps: {})
{}
)",
                     has_types ? "iota(1024) % 3 / 2" : "iota(1024) % 7 - 2",
                     has_types ? "iota(256) % 2 * 20" : "iota(256) % 5 + 20", is_spiking ? 2 : 5, chip, steps, more);
}

ToolOutcome run(TemporaryFolder& folder, const std::string& program, const std::string& options = "") {
  folder.put("p.task", program);
  return in_shell("taskspec run p.task " + options, folder);
}

std::int64_t number_behind(const std::string& text, const std::string& words) {
  const std::size_t at = text.find(words);
  return at == std::string::npos ? -1 : std::stoll(text.substr(at + words.size()));
}

std::string line_with(const std::string& text, const std::string& begin) {
  const std::size_t at = text.starts_with(begin) ? 0 : text.find("\n" + begin);
  if (at == std::string::npos) return "";
  const std::size_t first = at == 0 ? 0 : at + 1;
  return text.substr(first, text.find('\n', first) - first);
}

bool has(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }

}  // namespace

TEST_CASE("a phase that is too long is told with core and population, also the last ones, and what fits [snn]") {
  const std::string access = R"("access": {"v": 0, "unit": "clk")", phase = R"("phase_clk": {"v": 5050)";
  // Neurons are looked at from tick 1 on: a run of one step has only ticks that the next step would share.
  for (const int steps : {1, 2, 3}) {
    CAPTURE(steps);
    TemporaryFolder folder;
    folder.put("slow.json", chip_file("tianjic", {{access, R"("access": {"v": 1000, "unit": "clk")"}}));
    const ToolOutcome refused = run(folder, two_layers("./slow.json", steps));
    REQUIRE(refused.code != 0);
    CHECK_MESSAGE(has(refused.err,
                      "E5012: core 0, population 'lif': phase 1 takes 16001 clk, and a phase of tianjic has "
                      "5050; most for neurons: the last packet leaves after 16000 clk and arrives 1 clk "
                      "later; sync/phase_clk of 16001 suffices for what ran so far"),
                  refused.err);
    for (const int more : {0, -1}) {
      folder.put("slow.json", chip_file("tianjic", {{access, R"("access": {"v": 1000, "unit": "clk")"},
                                                    {phase, fmt::format(R"("phase_clk": {{"v": {})", 16001 + more)}}));
      const ToolOutcome again = run(folder, two_layers("./slow.json", steps));
      CHECK_MESSAGE((again.code == 0) == (more == 0), again.err);
    }
  }
}

TEST_CASE("a phase that is too short for packets or for what arrives names who they are of [snn]") {
  const std::string hop = R"("hop_clk": [{"v": 1, "unit": "clk", "src": "assumed"})",
                    phase = R"("phase_clk": {"v": 5050)", dense = R"("dense": {"v": 0, "unit")";
  struct Case {
    std::pair<std::string, std::string> change;
    std::string who, what;
  };
  const Case cases[] = {
      {{hop, R"("hop_clk": [{"v": 7000, "unit": "clk", "src": "assumed"})"},
       "core 0, population 'lif': ",
       "most for packets: the last packet leaves after "},
      {{dense, R"("dense": {"v": 100, "unit")"}, "core 0, population 'lif': ", "most for synapses: "}};
  for (const Case& one : cases) {
    CAPTURE(one.change.second);
    TemporaryFolder folder;
    folder.put("slow.json", chip_file("tianjic", {one.change}));
    const ToolOutcome refused = run(folder, two_layers("./slow.json", 6));
    REQUIRE(refused.code != 0);
    CHECK_MESSAGE(has(refused.err, "E5012: " + one.who), refused.err);
    CHECK_MESSAGE(has(refused.err, one.what), refused.err);
    const std::int64_t fits = number_behind(refused.err, "sync/phase_clk of ");
    REQUIRE(fits > 5050);
    folder.put("slow.json",
               chip_file("tianjic", {one.change, {phase, fmt::format(R"("phase_clk": {{"v": {})", fits)}}));
    const ToolOutcome again = run(folder, two_layers("./slow.json", 6));
    CHECK_MESSAGE(again.code == 0, again.err);
    folder.put("slow.json",
               chip_file("tianjic", {one.change, {phase, fmt::format(R"("phase_clk": {{"v": {})", fits - 1)}}));
    CHECK(run(folder, two_layers("./slow.json", 6)).code != 0);
  }
}

TEST_CASE("the report of spiking cores has layers, the limit, prices with other figures beside, and one hash [snn]") {
  TemporaryFolder folder;
  const ToolOutcome loihi = run(folder, two_layers("loihi", 10));
  REQUIRE_MESSAGE(loihi.code == 0, loihi.err);
  const std::string head = line_with(loihi.out, "layer ");
  for (const char* column : {"cycles", "busy %", "bytes", "spikes", "synapses", "packets", "pJ"})
    CHECK_MESSAGE(has(head, column), head);
  CHECK(has(loihi.out, "\nassumed: limits/weight_bits 9 bit\n"));
  const std::int64_t latency = number_behind(loihi.out, "; latency "),
                     interval = number_behind(loihi.out, ", interval ");
  CHECK(latency > 2 * 6000);
  CHECK(interval > 6000);
  const std::string limit = line_with(loihi.out, "limit: ");
  CHECK_MESSAGE(limit.starts_with(fmt::format(
                    "limit: a tick takes {} clk on average, of them 6000 for the barrier; core ", interval)),
                limit);
  CHECK_MESSAGE(has(limit, " clk, most of them on "), limit);
  CHECK(has(line_with(loihi.out, "loihi: 10 steps, "), " W"));
  CHECK(has(loihi.out, "\nevent "));
  for (const char* event : {"syn_dense ", "access ", "update ", "spike ", "msg ", "sum "})
    CHECK_MESSAGE(!line_with(loihi.out, event).empty(), event);
  CHECK(has(loihi.out, "another figure for syn_dense: 23.6 pJ, "));
  CHECK(has(loihi.out, "another figure for hop_y: 4 pJ, "));
  CHECK(has(loihi.out, "another figure for barrier: 1.13e-07 s, "));
  CHECK(has(loihi.out, " of values, cycles and energy"));
  for (const char* unused : {"noc/vcs", "noc/burst", "noc/multicast", "noc/chip_packet_clk", "energy/chip"})
    CHECK_MESSAGE(!has(loihi.out, unused), unused);

  const ToolOutcome truenorth = run(folder, two_layers("truenorth", 10));
  REQUIRE_MESSAGE(truenorth.code == 0, truenorth.err);
  const std::string other = line_with(truenorth.out, "another figure for syn_sparse: 2.5 pJ, ");
  CHECK_MESSAGE(other.ends_with(" pJ in all"), truenorth.out);
  CHECK(has(truenorth.out, "\nlimit: a tick takes 1000 clk, whatever happens in it\n"));
  CHECK(!has(line_with(truenorth.out, "layer "), "pJ"));

  const ToolOutcome tianjic = run(folder, two_layers("tianjic", 10));
  REQUIRE_MESSAGE(tianjic.code == 0, tianjic.err);
  CHECK_MESSAGE(has(line_with(tianjic.out, "layer "), "MAC %"), tianjic.out);
  CHECK(!has(line_with(tianjic.out, "layer "), "pJ"));
  CHECK(number_behind(tianjic.out, ", interval ") == 5050);
  CHECK(has(tianjic.out, "\nlimit: a phase takes 5050 clk, whatever happens in it\n"));
  CHECK(
      has(tianjic.out, "tianjic is lumped: one published figure of the whole chip; its parts cannot be told apart\n"));
}

TEST_CASE("steps are told to follow one another a tick apart, however short the run [snn]") {
  for (const int steps : {1, 2, 3, 30}) {
    CAPTURE(steps);
    TemporaryFolder folder;
    for (const std::string chip : {"tianjic", "loihi"}) {
      const ToolOutcome made = run(folder, two_layers(chip, steps, ""), "--report r.json >log && cat r.json");
      REQUIRE_MESSAGE(made.code == 0, made.err);
      const std::int64_t interval = number_behind(made.out, "\"interval\":"),
                         cycles = number_behind(made.out, "\"cycles\":");
      if (chip == "tianjic") CHECK(interval == 5050);
      // Of two populations the second is a tick late; the cores of one wait for the barrier of both.
      const std::int64_t ticks = steps + 2;
      CHECK(interval >= cycles / ticks * 9 / 10);
      CHECK(interval <= cycles / ticks * 3);
      if (steps < 3) CHECK(interval <= cycles / ticks + 1);
    }
  }
}

TEST_CASE("a crossbar that takes more than the memory of its file says so, with both numbers [snn]") {
  const std::string program = R"(graph g(x: i8[256]) -> (y: i8[256]) {
  y = ((iota(65536) % 7 - 3).reshape(256, 256) as i8[256, 256] @ x).shift_right(6) as i8[256]
}
let r = run g(fill(i8[256], 1)) on hw(chip: "CHIP")
print(r.report.memory)
print(r.report)
)";
  const auto on = [&](const std::string& chip) {
    std::string text = program;
    return text.replace(text.find("CHIP"), 4, chip);
  };
  TemporaryFolder folder;
  const ToolOutcome full = run(folder, on("tianjic"));
  REQUIRE_MESSAGE(full.code == 0, full.err);
  CHECK(full.out.starts_with("66560\n"));  // and 4 bytes for each neuron
  CHECK_MESSAGE(has(full.out,
                    "note: a core takes 66560 B, and the memory of tianjic has 22528 B a core: the 256 inputs x "
                    "256 neurons of its file take 65536 B with weights of 8 bits, and these are what cores are "
                    "checked for\n"),
                full.out);
  // With so much memory, or weights of 2 bits, the figures go together.
  folder.put("room.json", chip_file("tianjic", {{R"("bytes": {"v": 22528)", R"("bytes": {"v": 66560)"}}));
  const ToolOutcome room = run(folder, on("./room.json"));
  REQUIRE_MESSAGE(room.code == 0, room.err);
  CHECK(!has(room.out, "a core takes"));
  folder.put("none.json", chip_file("tianjic", {{R"("bytes": {"v": 22528)", R"("bytes": {"v": 64)"}}));
  const ToolOutcome none = run(folder, two_layers("./none.json", 2));
  REQUIRE_MESSAGE(none.code == 0, none.err);
  CHECK_MESSAGE(has(none.out, "note: a core takes 1088 B, and the memory of tianjic has 64 B a core"), none.out);
  CHECK(!has(run(folder, two_layers("tianjic", 2)).out, "a core takes"));
}

}  // namespace taskspec::spike_report_test
