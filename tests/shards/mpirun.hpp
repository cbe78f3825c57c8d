// Ranks under mpirun alone: their tests are left out where there is none.
#pragma once
#include <doctest/doctest.h>

#include "tests/shards/marked_runs.hpp"

namespace marked {

// What no sanitizer knows from the inside: MPI's own threads.
#if defined(__SANITIZE_THREAD__)
inline constexpr bool is_watched = true;
#else
inline constexpr bool is_watched = false;
#endif

inline bool has_mpirun() {
  static const bool has = !is_watched && std::system("command -v mpirun >/dev/null 2>&1") == 0;
  if (!has) MESSAGE("skipped: there is no mpirun here, or MPI cannot be watched");
  return has;
}

inline const std::string mpirun =
    "exec mpirun --oversubscribe" + std::string(::geteuid() == 0 ? " --allow-run-as-root" : "");

// Two processes of the tool in a folder, a rank each, with words of their own. The one that leaves first takes the
// other with it, on a busy machine now and then before that one was heard: then once more.
inline MarkedOutcome run_two(const fs::path& folder, const std::string& tool, const std::string& one,
                             const std::string& other) {
  MarkedOutcome outcome;
  for (int k = 0; k < 4; ++k) {
    outcome = run_marked(
        "cd " + folder.string() + " && " + mpirun + " -np 1 \"$0\" run " + one + " : -np 1 \"$0\" run " + other, tool);
    if (outcome.status != 3 || outcome.err.find("error E") != std::string::npos) break;
  }
  return outcome;
}

}  // namespace marked
