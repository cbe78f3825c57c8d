// Benchmarks are no tests, but they run: the one of training prints a row for each network.
#include <doctest/doctest.h>

#include "tests/guard/paths.hpp"
#include "tests/guard/tool.hpp"

TEST_CASE("[cli] bench train prints a row for each network, and what stands beside it [bench]") {
  const Outcome ran = in_shell("taskspec bench train --repeats 1 --threads 1", TemporaryFolder(), 120);
  if (ran.code == 2 && ran.err.find("not built") != std::string::npos) {
    MESSAGE("skipped: a build with a sanitizer has no benchmarks");
    return;
  }
  CHECK_MESSAGE(ran.code == 0, ran.err);
  for (const char* text : {"peer: ", "limit: ", "\nnet ", "\nmlp (", "\nlenet (", "\nresnet-20 (",
                           "\ntransformer block (", " of 4 rows take more"})
    CHECK_MESSAGE(ran.out.find(text) != std::string::npos, text << " is not in\n" << ran.out);
}

TEST_CASE("[cli] bench validation prints bench/validation.md [bench] [validation]") {
  const Outcome ran = in_shell("taskspec bench validation", TemporaryFolder(), 60);
  if (ran.code == 2 && ran.err.find("not built") != std::string::npos) {
    MESSAGE("skipped: a build with a sanitizer has no benchmarks");
    return;
  }
  CHECK_MESSAGE(ran.code == 0, ran.err);
  CHECK(ran.out == read_file("bench/validation.md"));
  for (const char* text : {"| by construction |", "| independent |", "| 5,024 clk | 4,998 clk | -0.52 % |"})
    CHECK_MESSAGE(ran.out.find(text) != std::string::npos, text);
}

TEST_CASE("[cli] bench chip prints the messages per second of each model of the network, which agree [bench] [noc]") {
  const Outcome ran = in_shell("taskspec bench chip -n 20000 --repeats 1", TemporaryFolder(), 120);
  if (ran.code == 2 && ran.err.find("not built") != std::string::npos) {
    MESSAGE("skipped: a build with a sanitizer has no benchmarks");
    return;
  }
  CHECK_MESSAGE(ran.code == 0, ran.err);
  for (const char* text : {"20000 uniform messages", "\nmodel ", "\nideal ", "\ncontended ", "\ncontended, by events ",
                           "\nflit ", "agree: true"})
    CHECK_MESSAGE(ran.out.find(text) != std::string::npos, text << " is not in\n" << ran.out);
}
