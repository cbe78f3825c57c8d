// The families of codes, one file each, put together by ir/codes/codes.cpp.
#pragma once
#include <algorithm>
#include <span>

#include "ir/codes/codes.hpp"

namespace taskspec {

std::span<const CodeInfo> syntax_codes();  // E0xxx
std::span<const CodeInfo> name_codes();    // E1xxx
std::span<const CodeInfo> shape_codes();   // E2xxx
std::span<const CodeInfo> graph_codes();   // E3xxx
std::span<const CodeInfo> block_codes();   // E4xxx
std::span<const CodeInfo> chip_codes();    // E404x
std::span<const CodeInfo> run_codes();     // E5xxx
std::span<const CodeInfo> shard_codes();   // E6xxx
std::span<const CodeInfo> file_codes();    // E7xxx

// A record with a gap, or out of order, or in the wrong file does not compile.
consteval bool is_family(std::span<const CodeInfo> codes, int thousand) {
  auto complete = [&](const CodeInfo& c) {
    return c.code.number() / 1000 == thousand && !c.summary.empty() && !c.program.empty() && !c.cause.empty() &&
           !c.fix.empty() && c.summary.back() != '.';
  };
  auto ascending = [](const CodeInfo& a, const CodeInfo& b) { return a.code < b.code; };
  return std::all_of(codes.begin(), codes.end(), complete) && std::is_sorted(codes.begin(), codes.end(), ascending);
}

}  // namespace taskspec
