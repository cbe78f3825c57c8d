// What this process is among the ranks of a run: by the environment that mpirun made, and by the starter, if it was
// run_under_mpirun.
#pragma once
#include <cstddef>
#include <optional>
#include <string>

#include "interp/shards/ranks/call_notes.hpp"
#include "interp/shards/transport/ranks.hpp"
#include "ir/base/result.hpp"

namespace taskspec {

// Names of the environment.
inline constexpr const char* rank_variable = "OMPI_COMM_WORLD_RANK";
inline constexpr const char* ranks_variable = "OMPI_COMM_WORLD_SIZE";
inline constexpr const char* ranks_of_machine_variable = "OMPI_COMM_WORLD_LOCAL_SIZE";
inline constexpr const char* starter_variable = "TASKSPEC_STARTER";

std::optional<std::size_t> number_in_environment(const char* name);
// Where the module that sees MPI lies; empty: this product was built without it.
std::string mpi_module();
// The notes of the starter; null: there is none.
CallNotes* starter_notes();
// MPI of this process, which is initialised when it is first asked for, and finalised with the process.
Result<MpiLine*> mpi_line();
bool has_mpi_line();                          // it was asked for
void fit_facts(const MpiPort::Facts& facts);  // throws Error E6002 where this MPI is too little

}  // namespace taskspec
