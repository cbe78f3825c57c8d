// Which rows each unit makes in which phase, and which arrive there: what follows from a plan in which rows stream.
//
// Found by going through a step in ticks. In a tick the host sends one batch of rows; each unit that streams makes all
// rows whose inputs are in its memory, and sends them; then everything that was sent in the tick is moved from receive
// areas into rings. So a receive area holds one batch, nobody ever waits for room, and what comes early down a short
// branch waits in the ring of its reader: the ring is as long as it ever got. A whole unit runs once, when everything
// is there.
//
// What is read with a delay is moved when it comes, too, into the rows of a later step: such a ring goes on from step
// to step, and is as much longer as there are steps between. Units of one group of cores have their ticks one behind
// the other: in each tick a phase for each of them, by the phases of the plan, and the moves of the tick in the last
// one.
#pragma once
#include <map>

#include "hwsim/map/plan.hpp"

namespace taskspec {

// One cluster of one work of a unit.
struct UnitInput {
  bool of_soma = false;
  std::size_t cluster = 0;
  friend auto operator<=>(const UnitInput&, const UnitInput&) = default;
};

// What sources of a cluster bring in one tick. Those that always come together share a receive buffer.
struct RowBatch {
  UnitInput input;
  std::vector<std::int32_t> sources;              // of NetCluster::sources
  std::int64_t begin = 0, end = 0;                // rows of the cluster in which something comes
  std::int64_t source_begin = 0, source_end = 0;  // the rows of the source that are sent
  std::int32_t tick = 0;
  std::int32_t delay = 0;  // it is read so many steps behind the one in which it comes
  bool comes_with(const RowBatch& other) const {
    return input == other.input && begin == other.begin && end == other.end && tick == other.tick &&
           delay == other.delay && source_begin == other.source_begin && source_end == other.source_end;
  }
};

struct UnitPhase {
  std::int64_t begin = 0, end = 0;  // rows that it makes; none where equal
  std::vector<RowBatch> batches;    // that arrive and are moved
  std::int64_t tick = 0;            // of what it makes
};

struct UnitRows {
  std::vector<UnitPhase> phases;  // stream: of its group
  std::int32_t phase = 0;         // whole: in which it computes, of its group
  std::int64_t tick = 0;          // whole: in which it computes
  std::int64_t most_rows = 0;     // that it makes in a phase
  std::map<UnitInput, std::int64_t> kept_rows;
  std::map<std::pair<UnitInput, std::int32_t>, std::int64_t> batch_rows;  // at most, by first source
};

struct RowSchedule {
  std::vector<UnitRows> units;             // as in the plan
  std::vector<std::int32_t> group_phases;  // how many
  struct Turn {
    enum class Who : std::uint8_t { host, unit, group };  // the host sends its next batch; cores of a unit or a group
    Who who = Who::host;
    std::int32_t number = 0, phase = 0;  // of the unit or group; of the host: which batch
    bool moves = false;                  // else it computes and sends
  };
  std::vector<Turn> order;
};

// Do two streams compute, and receive, in the same ticks, so that their cores can be one group?
bool works_with(const UnitRows& a, const UnitRows& b);

// Why its rows cannot be made one after the other, each as soon as its inputs are there: which block, and what about
// it. None: they can.
std::optional<std::string> stream_fault(const ChipNet& net, const ChipUnit& unit);
inline bool can_stream(const ChipNet& net, const ChipUnit& unit) { return !stream_fault(net, unit); }

// Rows of what a block makes; what has no rows counts as one.
std::int64_t rows_of_values(const TaskBlock& block);
// Rows of the input that has most.
std::int64_t input_rows(const ChipNet& net);
// Into so many batches inputs cannot be cut; none: they can.
std::optional<std::string> slabs_fault(std::int64_t slabs, std::int64_t input_rows);

// Of all units of a plan; pieces do not matter. What units make that the plan has not is there from the beginning.
RowSchedule row_schedule(const ChipNet& net, const ChipPlan& plan);

}  // namespace taskspec
