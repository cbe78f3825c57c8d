// How rows of ops are told to people: what stands behind the numbers of each row, in columns as wide as they need to
// be.
//
//   backward  matmul  f32[64, 10]  Net.forward  net.task:7:14
#pragma once
#include <string>
#include <vector>

#include "interp/control/trial.hpp"
#include "ir/base/source.hpp"

namespace taskspec {

std::string bytes_text(double bytes);  // "1.5 KiB"
// "net.task:7:14"; of a file with an absolute path, such as one of the prelude, the name. "-": it stands in none of
// these.
std::string place_text(const Sources& sources, Span span);

// One text per row, and in front of them the heads of the columns.
std::vector<std::string> op_texts(const std::vector<OpRow>& rows, const Sources& sources);

}  // namespace taskspec
