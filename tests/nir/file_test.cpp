// The files themselves: written and read back, packed, and broken in every place.
#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "ir/base/diag.hpp"
#include "tests/guard/paths.hpp"
#include "tests/nir/networks.hpp"
#include "tests/unit/temporary_folder.hpp"

namespace taskspec::file_test {

namespace {

nir::Model sample() {
  nir::Node fc{"fc.1", "Affine", {{"weight", random_numbers({20, 30}, 1, -1, 1)}, {"bias", number(0.5)}}, {}, {}};
  nir::Node lif{"0", "LIF", {}, {}, {}};
  for (const char* name : {"tau", "r", "v_leak", "v_threshold", "v_reset"})
    lif.parameters.emplace(name, random_numbers({20}, 2, 0.1, 1));
  nir::Node conv{"c", "Conv1d", {{"padding", std::string("same")}}, {}, {}};
  nir::Node empty{"empty", "NIRGraph", {}, {}, {}};
  return network({input("input", {30}), fc, lif, conv, empty, output("output", {20})},
                 {{"input", "fc.1"}, {"fc.1", "0"}, {"0", "output"}});
}

std::string bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

}  // namespace

TEST_CASE("what is written is read back equal [nir]") {
  TemporaryFolder folder;
  const std::string path = (folder.path() / "net.nir").string();
  const nir::Model model = sample();
  nir::write_model(model, path);
  const nir::Model again = nir::read_model(path);
  CHECK(again.version == "1.0.7");
  CHECK(nir::same(model.root, again.root));
  nir::Model other = model;
  other.root.nodes[1].parameters["bias"] = number(0.25);
  CHECK(!nir::same(other.root, again.root));
  const std::string bytes = bytes_of(path);
  nir::write_model(again, path);
  CHECK(bytes_of(path) == bytes);
}

TEST_CASE("arrays are packed [nir]") {
  TemporaryFolder folder;
  const std::string path = (folder.path() / "net.nir").string();
  nir::Node scale{"s", "Scale", {{"scale", Array::make({Precision::f64, {100'000}})}}, {}, {}};
  nir::write_model(chain({scale}, {100'000}, {100'000}), path);
  CHECK(std::filesystem::file_size(path) < 100'000);
  CHECK(std::get<Array>(nir::read_model(path).root.nodes[2].parameters.at("scale")).elements() == 100'000);
}

TEST_CASE("what is no model is refused [nir]") {
  TemporaryFolder folder;
  const std::string path = (folder.path() / "net.nir").string();
  auto says = [&] {
    try {
      (void)nir::read_model(path);
    } catch (const Error& error) {
      return std::string(error.diags().items().front().code.text());
    }
    return std::string();
  };
  CHECK(says() == "E7001");
  write_text(path, "no HDF5");
  CHECK(says() == "E7003");
  CHECK_THROWS_AS(nir::write_model(sample(), (folder.path() / "none" / "net.nir").string()), Error);
}

TEST_CASE("both precisions of the neurons are one text [nir]") {
  std::string narrow = read_file("stdlib/prelude/nir.task"), wide = read_file("stdlib/prelude/nir64.task");
  auto body = [](const std::string& text) { return text.substr(text.find("\n\n")); };
  narrow = body(narrow);
  for (std::size_t at = narrow.find("f32"); at != std::string::npos; at = narrow.find("f32", at))
    narrow.replace(at, 3, "f64");
  CHECK(narrow == body(wide));
}

namespace {

// What becomes of a file in a process of its own, as the tool reads them: libhdf5 itself does not stand everything.
enum class Fate { read, refused, crashed_in_library, wrong };
Fate read_apart(const std::string& path) {
  const pid_t child = fork();
  if (child == 0) {
    for (int fault : {SIGSEGV, SIGABRT, SIGBUS, SIGFPE}) std::signal(fault, SIG_DFL);  // not those of the tests
    alarm(20);  // a hang ends by a signal that no crash has
    try {
      (void)nir::read_model(path);
    } catch (const Error&) {
      _exit(1);
    } catch (...) {
      _exit(2);
    }
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return WTERMSIG(status) != SIGALRM ? Fate::crashed_in_library : Fate::wrong;
  return WEXITSTATUS(status) == 0 ? Fate::read : WEXITSTATUS(status) == 1 ? Fate::refused : Fate::wrong;
}

}  // namespace

TEST_CASE("broken files are refused, whatever is broken [nir]") {
  TemporaryFolder folder;
  const std::string path = (folder.path() / "net.nir").string();
  nir::write_model(sample(), path);
  const std::string whole = bytes_of(path);
  std::mt19937_64 random(5);
  std::map<Fate, int> fates;
  for (int turn = 0; turn < 400; ++turn) {
    std::string broken = whole;
    if (turn % 4 == 0) broken.resize(random() % whole.size());
    for (std::size_t k = random() % 8; k-- > 0 && !broken.empty();)
      broken[random() % broken.size()] = static_cast<char>(random());
    write_text(path, broken);
    const Fate fate = read_apart(path);
    CHECK_MESSAGE(fate != Fate::wrong, "turn " << turn);
    ++fates[fate];
  }
  CHECK(fates[Fate::refused] > 100);
  CHECK(fates[Fate::read] > 100);
  CHECK(fates[Fate::crashed_in_library] < 20);
  MESSAGE(fates[Fate::crashed_in_library] << " of 400 files crash libhdf5");
}

}  // namespace taskspec::file_test
