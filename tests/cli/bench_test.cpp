// Benchmarks are no tests, but they run: the one of training prints a row for each network.
#include <doctest/doctest.h>

#include "tests/guard/paths.hpp"
#include "tests/guard/tool.hpp"

namespace taskspec::bench_test {

namespace {

// False: there are none, which is said.
bool has_benchmarks(const ToolOutcome& ran) {
  if (ran.code == 2 && ran.err.find("not built") != std::string::npos) {
    MESSAGE("skipped: a build with a sanitizer has no benchmarks");
    return false;
  }
  return true;
}

}  // namespace

TEST_CASE("[cli] bench train prints a row for each network, and what stands beside it [bench]") {
  const ToolOutcome ran = in_shell("taskspec bench train --repeats 1 --threads 1", TemporaryFolder(), 120);
  if (!has_benchmarks(ran)) return;
  CHECK_MESSAGE(ran.code == 0, ran.err);
  for (const char* text : {"peer: ", "limit: ", "\nnet ", "\nmlp (", "\nlenet (", "\nresnet-20 (",
                           "\ntransformer block (", " of 4 rows take more"})
    CHECK_MESSAGE(ran.out.find(text) != std::string::npos, text << " is not in\n" << ran.out);
}

TEST_CASE("[cli] bench metg prints a row for each pattern and each way to run it [bench] [D26]") {
  const ToolOutcome ran = in_shell("taskspec bench metg --shards 1,3 -n 1 --repeats 1", TemporaryFolder(), 120);
  if (!has_benchmarks(ran)) return;
  CHECK_MESSAGE(ran.code == 0, ran.err);
  CHECK(ran.out.starts_with("3 shards are not timed: "));
  for (const char* text : {"measured: METG(50%)", "\nstencil_1d: host(threads: 2), one analysis ",
                           "\nfft: mpi(shards: 1), threads ", "\ntrivial: mpi(shards: 1), threads ", "over MPI:\n"})
    CHECK_MESSAGE(ran.out.find(text) != std::string::npos, text << " is not in\n" << ran.out);
  CHECK(ran.out.find("does not run") == std::string::npos);
  CHECK(in_shell("taskspec bench metg --shards x").code == 2);
}

TEST_CASE("[cli] bench validation prints bench/validation.md [bench] [validation]") {
  const ToolOutcome ran = in_shell("taskspec bench validation", TemporaryFolder(), 60);
  if (!has_benchmarks(ran)) return;
  CHECK_MESSAGE(ran.code == 0, ran.err);
  CHECK(ran.out == read_file("bench/validation.md"));
  for (const char* text : {"| by construction |", "| independent |", "| 5,024 clk | 4,998 clk | -0.52 % |"})
    CHECK_MESSAGE(ran.out.find(text) != std::string::npos, text);
}

TEST_CASE("[cli] bench chip prints the messages per second of each model of the network, which agree [bench] [noc]") {
  const ToolOutcome ran = in_shell("taskspec bench chip -n 20000 --repeats 1", TemporaryFolder(), 120);
  if (!has_benchmarks(ran)) return;
  CHECK_MESSAGE(ran.code == 0, ran.err);
  for (const char* text : {"20000 uniform messages", "\nmodel ", "\nideal ", "\ncontended ", "\ncontended, by events ",
                           "\nflit ", "agree: true"})
    CHECK_MESSAGE(ran.out.find(text) != std::string::npos, text << " is not in\n" << ran.out);
}

TEST_CASE("[cli] bench chip takes traffic that another mapper wrote [bench] [noc]") {
  const ToolOutcome ran = in_shell(
      R"(echo '{"chip_w": 1, "chip_h": 1, "core_w": 4, "core_h": 3, "phase_list": {"0": {"0": [
        {"core_id": {"chip_x": 0, "chip_y": 0, "core_x": 0, "core_y": 0}, "A2S2_mode": 0, "A_time": 9, "S1_time": 0,
         "S2_time": 0, "multicast_core": false, "packets": [
          {"dst_core_id": {"chip_x": 0, "chip_y": 0, "core_x": 3, "core_y": 2}, "pack_num": 40, "multicast_pack": false}]
        }]}}}' > traffic.json; taskspec bench chip:traffic.json --repeats 1; taskspec bench chip:none.json)",
      TemporaryFolder(), 120);
  if (!has_benchmarks(ran)) return;
  CHECK(ran.code == 1);
  CHECK_MESSAGE(ran.err.find("E7001 no file 'none.json'") != std::string::npos, ran.err);
  // Five hops, and the packets one behind the other.
  for (const char* text : {"1 phases, 40 packets in 3 segments on 4 x 3 cores", " 45 ", "agree: true"})
    CHECK_MESSAGE(ran.out.find(text) != std::string::npos, text << " is not in\n" << ran.out);
}

}  // namespace taskspec::bench_test
