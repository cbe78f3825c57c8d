// Models and traces of other programs: the folder TASKSPEC_GOLDEN, else ../shared/golden beside the tree.
#include <doctest/doctest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>

#include "interp/import/names.hpp"
#include "ir/base/diag.hpp"
#include "tests/guard/paths.hpp"
#include "tests/nir/networks.hpp"

namespace taskspec::golden_test {

namespace {

std::string golden() {
  const char* named = std::getenv("TASKSPEC_GOLDEN");
  const std::filesystem::path folder =
      named ? std::filesystem::path(named) : source_root().parent_path() / "shared" / "golden";
  return std::filesystem::is_directory(folder / "nir") ? (folder / "nir").string() + "/" : "";
}

struct Case {
  const char* model;
  const char* trace;
  const char* reset;
};
constexpr Case cases[] = {{"lif_norse", "lif_norse", "file"},
                          {"two_lif_neurons", "two_lif", "file"},
                          {"braille_noDelay_bias_zero", "braille_bias_zero", "file"},
                          {"cnn_sinabs", "cnn_sinabs", "subtract"}};

Array in_f64(const Array& array) {
  Array made = Array::make({Precision::f64, array.extents()});
  for (std::int64_t i = 0; i < array.elements(); ++i) made.set_number(i, array.number(i));
  return made;
}

void compare_voltages(const Array& all, const Array& last, const std::string& name) {
  const std::int64_t count = last.elements(), first = all.elements() - count;
  double worst = 0;
  for (std::int64_t i = 0; i < count; ++i)
    worst = std::max(worst, std::abs(all.number(first + i) - last.number(i)) / std::max(1.0, std::abs(last.number(i))));
  CHECK_MESSAGE(worst < 1e-9, name << " differs by " << worst);
}

void compare(const Case& one, const std::string& folder) {
  const std::vector<NamedArray> trace = load_arrays(folder + one.trace + ".npz");
  std::vector<std::string> wanted;
  const Array* input = nullptr;
  for (const NamedArray& array : trace) {
    if (array.name == "input") input = &array.array;
    if (array.name.starts_with("spk:")) wanted.push_back(identifier(array.name.substr(4)) + "_spikes");
    if (array.name.starts_with("v:")) wanted.push_back(identifier(array.name.substr(2)) + "_voltages");
  }
  REQUIRE(input);
  const nir::Model model = nir::read_model(folder + one.model + ".nir");
  Outputs ran = run(model, {{"precision", "f64"}, {"record", "all"}, {"reset", one.reset}}, in_f64(*input), wanted);
  std::size_t compared = 0;
  for (const NamedArray& array : trace) {
    if (array.name.starts_with("spk:")) {
      CHECK_MESSAGE(largest_difference(ran[identifier(array.name.substr(4)) + "_spikes"], in_f64(array.array)) == 0,
                    one.model << " " << array.name);
      ++compared;
    }
    if (array.name.starts_with("v:"))
      compare_voltages(ran[identifier(array.name.substr(2)) + "_voltages"], array.array, array.name);
  }
  CHECK(compared > 0);
}

}  // namespace

TEST_CASE("golden models give the same spikes in every step [nir]") {
  const std::string folder = golden();
  if (folder.empty()) {
    MESSAGE("skipped: no folder of golden data (TASKSPEC_GOLDEN)");
    return;
  }
  for (const Case& one : cases) {
    CAPTURE(one.model);
    compare(one, folder);
  }
}

TEST_CASE("golden models go through a program and come back [nir]") {
  const std::string folder = golden();
  if (folder.empty()) {
    MESSAGE("skipped: no folder of golden data (TASKSPEC_GOLDEN)");
    return;
  }
  for (const Case& one : cases) {
    CAPTURE(one.model);
    const nir::Model model = nir::read_model(folder + one.model + ".nir");
    check_same(model, through_a_program(model, "--precision f64"));
  }
}

TEST_CASE("golden models are written and read back equal [nir]") {
  const std::string folder = golden();
  if (folder.empty()) {
    MESSAGE("skipped: no folder of golden data (TASKSPEC_GOLDEN)");
    return;
  }
  const std::string copy = (std::filesystem::temp_directory_path() / "taskspec_golden_copy.nir").string();
  for (const Case& one : cases) {
    const nir::Model model = nir::completed(nir::read_model(folder + one.model + ".nir"));
    nir::write_model(model, copy);
    const nir::Model again = nir::read_model(copy);
    CHECK_MESSAGE(nir::same(model.root, again.root), one.model);
    CHECK(nir::program_of(model, copy, "net", {}).text == nir::program_of(again, copy, "net", {}).text);
  }
  std::filesystem::remove(copy);
}

}  // namespace taskspec::golden_test
