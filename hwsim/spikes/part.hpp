// The neurons of some cores, with all that one thread needs to run them; for machine.cpp alone.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "hwsim/spikes/machine.hpp"
#include "hwsim/spikes/neurons.hpp"
#include "hwsim/spikes/synapses.hpp"

namespace taskspec {

// What all parts read.
struct SpikeWorld {
  std::shared_ptr<const SpikingNet> net;
  SpikePlacement placement;
  std::vector<SpikeSlice> units;  // what parts are made of: slices of the placement, or, of values alone, smaller ones
  SpikeSchedule schedule;
  SpikeOptions options;
  std::optional<SpikeTraffic> traffic;  // accounted
  std::vector<std::size_t> first;       // by population: number of its first neuron, across populations
  std::vector<std::uint8_t> cuts;       // by population: no proof that its sums stay below 2^31
};

// Of one population in one part, of one tick: neurons that spike, ascending.
struct SpikeList {
  std::vector<std::uint32_t> room;   // as many as could
  std::vector<std::int32_t> values;  // of graded ones
  std::size_t count = 0;
};

// Those that spike, and what they give; no values: all 1.
struct SpikesGiven {
  std::span<const std::uint32_t> neurons;
  std::span<const std::int32_t> values = {};
};

class SpikePart {
 public:
  // Units first..last.
  SpikePart(const SpikeWorld& world, std::size_t first, std::size_t last);

  void find_bounds(std::vector<std::uint8_t>& cuts) const;  // marks populations without a proof
  void reset();
  void begin_run(std::int64_t steps);

  // All neurons of these populations make the step that is due in this tick; spikes go to list `turn`.
  void update(std::span<const PopulationId> level, std::int64_t tick, int turn, const SpikeStimulus& stimulus);
  // Spikes of a population, of some part or from outside, reach the neurons of this one.
  void deliver(PopulationId from, const SpikesGiven& given, std::int64_t tick);
  void finish_tick(std::int64_t tick);
  // Of a streamed run: of the ticks that the next run shares with this one, what their cores have done so far.
  std::vector<std::int64_t> open_ticks() const;
  void add_open_cores(std::size_t open_tick, std::vector<SpikeCoreTime>& to) const;

  SpikesGiven spikes(PopulationId population, int turn) const {
    const SpikeList& list = lists_[turn][population.index()];
    return {std::span(list.room).first(list.count), std::span(list.values).first(list.values.empty() ? 0 : list.count)};
  }
  const std::vector<SpikePacket>& packets(int turn) const { return packets_[turn]; }
  void add_to(SpikeReport& report, std::vector<std::int64_t>& tick_times) const;
  void copy_potentials(PopulationId population, std::vector<std::int32_t>& to) const;
  void copy_currents(PopulationId population, std::vector<std::int32_t>& to) const;
  void take_potentials(PopulationId population, std::span<const std::int32_t> from);
  void take_currents(PopulationId population, std::span<const std::int32_t> from);
  void add_potentials_to(std::uint64_t& hash) const;

  std::int64_t synapses() const;
  std::int64_t bytes() const;

 private:
  struct Piece : PartPiece {
    PopulationId population;
    std::optional<ClifStepper> clif;
    std::optional<SumStepper> sums;
    std::size_t first_unit = 0, last_unit = 0;
    std::vector<std::vector<LateAddition>> late;  // by slot, where sums may overflow
  };
  struct Into {
    std::size_t connection = 0;
    std::size_t piece = 0;
    PartSynapses synapses;
  };
  struct Arrived {                // at a slice, in the tick at hand
    std::uint32_t count[4] = {};  // by SynapseKind; messages
  };
  // A tick of the chip that may still get more to do: of a streamed run its populations make steps of several runs.
  struct OpenTick {
    std::vector<SpikeCoreTime> cores;  // ours
    std::int64_t last_packet = 0;      // when the last one arrives
  };

  void step(Piece& piece, std::int64_t tick, std::int64_t t, int turn, const SpikeStimulus& stimulus);
  void add_late(Piece& piece, std::int64_t slot);
  void add_current(const Piece& piece, std::int64_t t, const SpikeStimulus& stimulus, std::int32_t* sums) const;
  void account(const Piece& piece, std::int64_t tick, std::span<const std::uint32_t> spikes, int turn);
  void add_tile(std::size_t unit, OpenTick& open);
  void count_arrivals(PopulationId from, std::span<const std::uint32_t> sources);
  std::int64_t step_of(PopulationId population, std::int64_t tick) const;  // of this run; -1: none
  NeuronRow row(const Piece& piece, std::int64_t slot);
  OpenTick& open_tick(std::int64_t tick);  // of this run
  std::int64_t time_of(const OpenTick& tick) const;
  SpikeWheel wheel();

  const SpikeWorld& world_;
  std::size_t first_unit_, last_unit_;
  std::vector<Piece> pieces_;
  std::vector<std::vector<Into>> from_;               // by source population
  std::int64_t neurons_ = 0, begun_ = 0, steps_ = 0;  // steps before this run, and of it
  std::vector<std::int32_t> sums_, u_, v_, bias_;
  std::vector<std::uint8_t> arrived_, fires_, updated_;
  std::vector<SpikeList> lists_[2];
  std::vector<SpikePacket> packets_[2];
  // Of this run:
  std::uint64_t events_ = 0, spike_hash_ = 0, outside_messages_ = 0;
  std::vector<std::uint64_t> spikes_of_;
  std::vector<std::vector<SpikeAt>> recorded_;
  std::vector<Arrived> arrivals_;     // by unit of the part
  std::vector<SpikeCounts> counts_;   // by unit of the part
  std::vector<std::int32_t> cores_;   // of the placement that are ours
  std::vector<std::size_t> core_at_;  // by unit of the part: position in cores_
  std::vector<OpenTick> open_;        // by tick, in turn: as many as the deepest population is late, and one
  std::vector<std::int64_t> tick_times_;
  std::vector<SpikeCoreTime> core_times_;
};

}  // namespace taskspec
