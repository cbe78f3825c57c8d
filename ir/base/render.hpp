// Diagnostics as text for people, and as plain structs for editors.
//
//   std::fputs(render(sources, diags, {.colour = is_terminal}).c_str(), stderr);
//
//   error E2001: shapes differ: f32[4] + f32[5]; dimension 0 is 4 against 5
//    --> hello.task:3:11
//     |
//   3 | let c = a + b
//     |         - ^ - f32[5]
//     |         |
//     |         f32[4]
//     = help: make both the same length
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "ir/base/diag.hpp"

namespace taskspec {

struct RenderOptions {
  bool colour = false;       // never the only carrier of meaning: primary spans are ^^^, others ---
  std::size_t at_most = 20;  // errors, and as many warnings; the rest is counted
};

// In source order, a blank line between two, ending with a line end; empty if there are none.
std::string render(const Sources& sources, const Diags& diags, RenderOptions options = {});
std::string render(const Sources& sources, const Diag& diag, RenderOptions options = {});

// The same as data, places resolved: what `--diagnostics=json` writes.
struct PlainLabel {
  std::string path;  // empty: no place
  Position begin, end;
  std::string text;
};

struct PlainDiag {
  std::string code;
  std::string severity;  // "error" or "warning"
  std::string message;
  PlainLabel primary;
  std::vector<PlainLabel> labels;
  std::vector<std::string> notes;
  std::string help;
};

std::vector<PlainDiag> plain(const Sources& sources, const Diags& diags);

}  // namespace taskspec
