// Golden models on chips, beside what they do in real numbers. How far integers are from those is measured: the bounds
// here are what was seen, so that a change shows.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "hwsim/chip/chip.hpp"
#include "tests/cli/process.hpp"
#include "tests/guard/paths.hpp"
#include "tests/nir/networks.hpp"

namespace taskspec::chip_golden_test {

namespace {

std::string golden_models() {
  const char* named = std::getenv("TASKSPEC_GOLDEN");
  const std::filesystem::path folder =
      named ? std::filesystem::path(named) : source_root().parent_path() / "shared" / "golden";
  return std::filesystem::is_directory(folder / "nir") ? (folder / "nir").string() + "/" : "";
}

struct Model {
  std::string name, trace, agent, output, options;
};

struct Ran {
  int code = 0;
  std::string err;
  Array spikes;
};

// `chip`: a preset, or "wide": loihi, if its weights had 15 bits.
Ran run_on_chip(const std::string& folder, const Model& model, const std::string& chip, const Array& input) {
  TemporaryFolder here;
  const std::string place = here.path().string() + "/";
  std::filesystem::copy_file(folder + model.name + ".nir", place + "net.nir");
  save_array(input, place + "x.npy");
  const bool is_wide = chip == "wide";
  if (is_wide) {
    std::string text = find_chip("loihi").value_or_throw().text;
    const std::string narrow = "\"weight_bits\": {\"v\": 9,";
    REQUIRE(text.find(narrow) != std::string::npos);
    write_text(place + "wide.json", text.replace(text.find(narrow), narrow.size(), "\"weight_bits\": {\"v\": 15,"));
  }
  write_text(place + "run.task",
             "import \"net.nir\" as m\nlet x = load(" + input.type().text() + ", \"x.npy\")\n" + "let r = run m.Net(" +
                 model.options + ").forward(x) on hw(chip: \"" + chip + (is_wide ? ".json" : "") + "\", time_steps: " +
                 std::to_string(input.extents()[0]) + ")\nsave(r.steps." + model.output + ", \"y.npy\")\n");
  Process tool({.arguments = {"run", "run.task"}, .folder = here.path()});
  Ran ran;
  ran.code = tool.wait();
  ran.err = tool.err();
  if (ran.code == 0) ran.spikes = load_array(place + "y.npy");
  return ran;
}

// Spikes in all; steps and elements that differ.
struct Difference {
  std::int64_t spikes = 0, wanted = 0, differ = 0, first_step = -1;
};

Difference difference(const Array& made, const Array& wanted) {
  Difference found;
  const std::int64_t row = wanted.elements() / wanted.extents()[0];
  for (std::int64_t i = 0; i < wanted.elements(); ++i) {
    found.spikes += made.number(i) != 0;
    found.wanted += wanted.number(i) != 0;
    if (made.number(i) == wanted.number(i)) continue;
    ++found.differ;
    if (found.first_step < 0) found.first_step = i / row;
  }
  return found;
}

}  // namespace

TEST_CASE("golden models spike on chips about as in real numbers [nir][chip-snn]") {
  const std::string folder = golden_models();
  if (folder.empty()) {
    MESSAGE("skipped: no folder of golden data (TASKSPEC_GOLDEN)");
    return;
  }
  struct Case {
    Model model;
    std::string chip;
    std::int64_t most_differ;  // spikes that come in another step, or not, or too many
  };
  const Case cases[] = {
      {{"lif_norse", "lif_norse", "Net", "output", ""}, "loihi", 0},
      {{"lif_norse", "lif_norse", "Net", "output", ""}, "tianjicx", 8},
      {{"lif_norse", "lif_norse", "Net", "output", ""}, "tianjic", 8},
      {{"two_lif_neurons", "two_lif", "Net", "out_", ""}, "loihi", 0},
      {{"two_lif_neurons", "two_lif", "Net", "out_", ""}, "tianjicx", 0},
      {{"braille_noDelay_bias_zero", "braille_bias_zero", "Net", "output", ""}, "loihi", 760},
      {{"braille_noDelay_bias_zero", "braille_bias_zero", "Net", "output", ""}, "wide", 20},
      {{"braille_noDelay_bias_zero", "braille_bias_zero", "Net", "output", ""}, "tianjicx", 760},
      {{"braille_noDelay_bias_zero", "braille_bias_zero", "Net", "output", ""}, "tianjic", 760},
      {{"cnn_sinabs", "cnn_sinabs", "Net", "output", "reset: \"subtract\""}, "tianjic", 80},
  };
  for (const Case& one : cases) {
    CAPTURE(one.model.name);
    CAPTURE(one.chip);
    const Array *input = nullptr, *out = nullptr;
    const std::vector<NamedArray> trace = load_arrays(folder + one.model.trace + ".npz");
    for (const NamedArray& array : trace) {
      if (array.name == "input") input = &array.array;
      if (array.name == "out") out = &array.array;
    }
    REQUIRE(input);
    REQUIRE(out);
    const Ran ran = run_on_chip(folder, one.model, one.chip, *input);
    REQUIRE_MESSAGE(ran.code == 0, ran.err);
    const Difference found = difference(ran.spikes, *out);
    MESSAGE(one.model.name << " on " << one.chip << ": " << found.spikes << " spikes, " << found.wanted
                           << " in real numbers; " << found.differ << " differ, first in step " << found.first_step);
    CHECK(found.differ <= one.most_differ);
    CHECK(std::abs(found.spikes - found.wanted) <= 1 + found.wanted / 10);
  }
}

TEST_CASE("what a chip cannot do of a golden model is told by node [nir][chip-refuse]") {
  const std::string folder = golden_models();
  if (folder.empty()) {
    MESSAGE("skipped: no folder of golden data (TASKSPEC_GOLDEN)");
    return;
  }
  auto refused = [&](const Model& model, const std::string& chip) {
    for (const NamedArray& array : load_arrays(folder + model.trace + ".npz"))
      if (array.name == "input") return run_on_chip(folder, model, chip, array.array).err;
    return std::string();
  };
  // Five populations whose reset takes the threshold off.
  const std::string cnn = refused({"cnn_sinabs", "cnn_sinabs", "Net", "output", "reset: \"subtract\""}, "loihi");
  CHECK(cnn.find("E4052") != std::string::npos);
  for (const char* node : {"'v1'", "'v3'", "'v6'", "'v10'", "'v12'"})
    CHECK_MESSAGE(cnn.find(std::string(node) + ": a spike takes the threshold off") != std::string::npos, cnn);
  const std::string lif = refused({"lif_norse", "lif_norse", "Net", "output", ""}, "truenorth");
  CHECK_MESSAGE(lif.find("'v1': its potential leaks by a share of it") != std::string::npos, lif);
  const std::string braille =
      refused({"braille_noDelay_bias_zero", "braille_bias_zero", "Net", "output", ""}, "truenorth");
  for (const char* node : {"'lif1_lif'", "'lif2'"})
    CHECK_MESSAGE(braille.find(std::string(node) + ": its synapses keep a current") != std::string::npos, braille);
}

}  // namespace taskspec::chip_golden_test
