// How fast this machine is, measured once in a run of a program; and what the records of ops let expect of it.
//
//   MachineRates rates = measure_rates(program, ops, trial);
//   estimated_ms(row, rates)      // of one call, before it ever ran
#pragma once
#include "interp/control/host_context.hpp"
#include "interp/control/interpreter.hpp"
#include "interp/control/trial.hpp"

namespace taskspec {

MachineRates measure_rates(const Program& program, const OpTable& ops, Trial& trial);

// The longer one of what its arithmetic takes and what its bytes take on their way, and a call. Nobody knows what a
// task does that is no list of ops: that counts as a call.
double estimated_ms(const OpRow& row, const MachineRates& rates);

// An array of one type that stands for contents nobody has: floats in [0, 0.01), all other precisions 0, which is a
// label and an index wherever there is one.
Array made_up(const ArrayType& type, std::uint64_t seed);

}  // namespace taskspec
