// S shards on R processes. Under mpirun each process is a rank of MPI and holds some of the shards; otherwise all
// shards are threads of this process, and MPI is never touched.
//
//   if (ranks_asked && !started_by_mpirun()) return run_under_mpirun(*ranks_asked, arguments);
//   auto group = RankGroup::open(4, ranks_asked);         // E6002 where that does not fit
//   for (ShardId shard : (*group)->layout().here()) ... (*group)->transport(shard) ...  // a thread for each
//   (*group)->close();                                     // when all of them are done
#pragma once
#include <optional>
#include <string>

#include "interp/shards/transport/ranks.hpp"
#include "ir/base/result.hpp"

namespace taskspec {

class CallNotes;

bool started_by_mpirun();  // by its environment
// Said once by a program whose runs are those of all ranks, where mpirun started it. Else its shards stay in this
// process, and MPI is left to whoever started it: a prompt, a library in somebody's program.
void take_part_as_rank();
// E6002: so many ranks were asked for, and mpirun started another number.
Diags misfit_of_ranks(std::size_t asked, std::size_t started);
// The first of the ranks, or a process that was not started by mpirun: who alone prints what is the same on all.
bool is_first_rank();

class RankGroup {
 public:
  // `shards` 0: as many as there are ranks, or 4 without mpirun.
  static Result<std::unique_ptr<RankGroup>> open(std::size_t shards, std::optional<std::size_t> ranks_asked);
  ~RankGroup();

  const RankLayout& layout() const { return network_.layout(); }
  Transport& transport(ShardId local) { return network_.at(local); }
  RankNetwork& network() { return network_; }

  // For the message about a rank that dies: 212, "launch step", "f.task:31". Costs nothing where nobody would read it.
  bool notes_calls() const { return notes_ != nullptr; }
  void note_call(ShardId local, std::uint64_t number, std::string_view what, std::string_view place);

  // All ranks come to this when their shards are done. MPI itself ends with the process.
  void close();

 private:
  RankGroup(const RankLayout& layout, MpiLine* line, CallNotes* notes);
  RankNetwork network_;
  CallNotes* const notes_;
};

// True for the first one of all ranks that asks: it tells the world what ended the run, and the others say nothing.
bool claim_last_word();

// First of all in main, before anything is written: a rank that run_under_mpirun started takes standard input, output
// and error of the process that was started by hand, so that nothing differs from a run in one process.
void join_starter();

// Starts this program with these arguments (without its own name) as so many ranks, and gives the exit status of the
// whole. What ended it without a word of its own is told: E6002, E6004.
int run_under_mpirun(std::size_t ranks, const std::vector<std::string>& arguments,
                     const std::function<void(const Diags&)>& tell = {});

}  // namespace taskspec
