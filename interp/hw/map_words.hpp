// What the mapper is told in words: the options that map(net, ...) and hw(...) have in common.
//
//   MapOptions options = map_options({.chips = v[2], .cores = v[3], ...}, span);      the chip is left to the caller
#pragma once
#include "hwsim/map/mapping_file.hpp"
#include "interp/control/builtins/builtins.hpp"

namespace taskspec {

#define MAP_WORDS_DOC                                                                                                 \
  "chips: how many side by side and in rows; cores: only the first n; objective: throughput, latency (of one step), " \
  "energy or cores; slabs: in how many batches of rows inputs come, so that layers make rows as they come (1: "       \
  "nothing streams; none: as the mapper finds best); depth: 2 gives receive buffers room for a second item where "    \
  "memory suffices; step_groups: groups of cores are dealt into so many, whose members start each step together; "    \
  "a2s2: with a depth of 2, cores move in what came a phase before, and wait for no packets of this one"

inline constexpr const char* default_chip = "tianjicx";

struct MapWords {  // none: as in MapOptions
  const Value &chips, &cores, &objective, &slabs, &depth, &step_groups, &a2s2;
};

// Error E5003: what no net could be mapped with.
MapOptions map_options(const MapWords& words, Span span);

// Which of them somebody wrote, be it what they are anyway.
struct WrittenWords {
  bool chip = false, chips = false, cores = false, objective = false, slabs = false, depth = false, step_groups = false,
       a2s2 = false;
};
// Beside a mapping: it keeps what it was made with, so that another option would change nothing. Error E5003.
void require_alike(const MapOptions& asked, const WrittenWords& written, const ChipMapping& made);
// Beside one of a file, which tells of some of them; an objective is that of a search (`searches`), or of nothing.
void require_alike(const MapOptions& asked, const WrittenWords& written, const MapFile& made, bool searches);

// Of a rule: the operand is an objective, as far as that is known.
void want_objective(RuleContext& c, std::size_t operand);

}  // namespace taskspec
