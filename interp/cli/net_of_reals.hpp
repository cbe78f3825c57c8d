// `taskspec run net.task --name net -D x=x.npy --on hw` of a net of real numbers: a chip computes in integers, so the
// net is quantised with what comes in, by the scales that it brings or by the ranges of its numbers. Not so what has
// states, neurons say: chips have these of their own.
#pragma once
#include <optional>
#include <string>

#include "ir/program/program.hpp"

namespace taskspec::cli {

// How the net is written in a call of `quantize`; empty: it computes in integers, or has states. A graph that hands all
// that comes in to a graph of an agent, and gives what this makes, as imported files have them, is that one.
std::optional<std::string> net_of_reals(const Program& program, FunctionId graph);

}  // namespace taskspec::cli
