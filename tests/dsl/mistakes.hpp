// What a wrong call throws, told with the line of C++ that stands in the test itself.
//
//   const Mistake moved = mistake_of([&] { inc()(later); });      moved.code == "E1006"
#pragma once
#include <doctest/doctest.h>

#include <functional>
#include <source_location>
#include <string>

#include "taskspec/taskspec.hpp"

struct Mistake {
  std::string code, message;
  unsigned line = 0;
};

inline Mistake mistake_of(const std::function<void()>& wrong,
                          std::source_location test = std::source_location::current()) {
  const std::string path = test.file_name(), file = path.substr(path.rfind('/') + 1);
  try {
    wrong();
  } catch (const taskspec::Error& error) {
    REQUIRE_FALSE(error.diagnostics().empty());
    const taskspec::Diagnostic& first = error.diagnostics()[0];
    CHECK_MESSAGE(first.file.ends_with(file), first.file);
    const std::string place = file + ":" + std::to_string(first.line);
    CHECK_MESSAGE(std::string(error.what()).find(place) != std::string::npos, error.what());
    return {first.code, first.message, first.line};
  }
  return {};
}
