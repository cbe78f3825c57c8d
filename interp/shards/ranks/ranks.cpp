#include "interp/shards/ranks/ranks.hpp"

#include <atomic>
#include <cstdlib>

#include "interp/shards/ranks/call_notes.hpp"
#include "interp/shards/ranks/rank_process.hpp"
#include "ir/base/text.hpp"

namespace taskspec {
namespace {

constexpr std::size_t shards_of_a_process = 4;  // unless somebody says how many

Diags misfit(std::string what, std::string help) {
  Diags diags;
  diags.error("E6002", {}, std::move(what)).help(std::move(help));
  return diags;
}

}  // namespace

namespace {

std::atomic<bool> takes_part{false};

}  // namespace

void take_part_as_rank() { takes_part = started_by_mpirun(); }

bool started_by_mpirun() { return std::getenv(ranks_variable) != nullptr; }

Diags misfit_of_ranks(std::size_t asked, std::size_t started) {
  return misfit(plural(asked, "rank") + " asked for, but mpirun started " + std::to_string(started),
                "leave --ranks out under mpirun");
}

bool is_first_rank() { return number_in_environment(rank_variable).value_or(0) == 0; }

Result<std::unique_ptr<RankGroup>> RankGroup::open(std::size_t shards, std::optional<std::size_t> ranks_asked) {
  RankLayout layout;
  MpiLine* line = nullptr;
  if (takes_part) {
    const std::size_t started = number_in_environment(ranks_variable).value_or(0);
    if (ranks_asked && *ranks_asked != started) return misfit_of_ranks(*ranks_asked, started);
    if (shards != 0 && shards < started)
      return misfit(plural(shards, "shard") + " on " + plural(started, "rank") + ": a rank would have none",
                    "ask for at least " + std::to_string(started) + " shards");
    Result<MpiLine*> opened = mpi_line();
    if (!opened) return opened.diags();
    line = *opened;
    const MpiPort::Facts facts = line->port->facts();
    layout.ranks = static_cast<std::size_t>(facts.ranks);
    layout.rank = static_cast<std::size_t>(facts.rank);
    layout.shards = shards != 0 ? shards : layout.ranks;
  } else {
    layout.shards = shards != 0 ? shards : shards_of_a_process;
  }
  if (starter_notes()) starter_notes()->rank(layout.rank).state = static_cast<std::uint32_t>(CallNotes::State::grouped);
  return std::unique_ptr<RankGroup>(new RankGroup(layout, line, line ? starter_notes() : nullptr));
}

RankGroup::RankGroup(const RankLayout& layout, MpiLine* line, CallNotes* notes)
    : network_(layout, line), notes_(notes) {}

RankGroup::~RankGroup() = default;

void RankGroup::note_call(ShardId, std::uint64_t number, std::string_view what, std::string_view place) {
  if (notes_) notes_->rank(layout().rank).note(number, what, place);
}

void RankGroup::close() {
  network_.finish();
  if (notes_) notes_->rank(layout().rank).state = static_cast<std::uint32_t>(CallNotes::State::begun);
}

bool claim_last_word() { return !starter_notes() || starter_notes()->claim_last_word(); }

}  // namespace taskspec
