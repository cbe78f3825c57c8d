// A spiking network that runs: event driven, so that half the spikes take about half the time.
//
//   SpikeMachine machine = SpikeMachine::load(net, place_spikes(*net, limits).value_or_throw(), {.threads = 2})
//                              .value_or_throw();
//   SpikeReport report = machine.run(200, {});          // 200 steps; another run goes on from there
//   report.spikes, report.events, report.recorded[0]
//
// Neurons are dealt to parts, whole cores each; a part belongs to one thread, which alone writes its sums. Spikes of a
// tick are exchanged as lists, with one wait of all threads per level. Results do not depend on the number of threads.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "hwsim/spikes/account.hpp"
#include "hwsim/spikes/limits.hpp"
#include "hwsim/spikes/schedule.hpp"

namespace taskspec {

struct SpikeOptions {
  int threads = 1;
  SpikeDelivery delivery = {};
  bool streamed = false;     // a run goes on where the one before ended, without a pause: see SpikeMachine::run
  bool accounted = false;    // with what follows
  bool keeps_times = false;  // of each core in each tick, for timelines
  SpikeCosts costs = {};
  SpikeGrid grid = {};
  SpikeNetwork network = {};  // of the chip; null: the empty one
};

// Neurons of an outside population that spike, ascending in each step.
struct SpikeTrain {
  PopulationId population;
  std::vector<std::uint32_t> offsets;  // [steps + 1]
  std::vector<std::uint32_t> neurons;
  std::vector<std::int32_t> values = {};  // of bytes that are graded, by entry of neurons; none: all 1
};

// Added to the sums of a population after all spikes: [steps, neurons], or [1, neurons] in each step.
struct SpikeCurrent {
  PopulationId population;
  std::vector<std::int32_t> values;
};

struct SpikeStimulus {
  std::vector<SpikeTrain> trains = {};  // of outside populations; none: silent
  std::vector<SpikeCurrent> currents = {};
};

struct SpikeAt {
  std::uint32_t step = 0, neuron = 0;
  std::int32_t value = 1;  // of graded sums
  friend auto operator<=>(const SpikeAt&, const SpikeAt&) = default;
};

// What a core did in a tick, from its beginning on: it looks at its neurons, whose packets leave on the way, and then
// works off what arrived.
struct SpikeCoreTime {
  std::int64_t tick = 0;  // of the run
  std::int32_t core = 0;
  std::int64_t neurons = 0, synapses = 0;          // how long
  std::int64_t first_packet = 0, last_packet = 0;  // when they leave; both 0: none
};

struct SpikeReport {
  std::int64_t steps = 0;
  std::uint64_t spikes = 0, events = 0;        // of neurons, not from outside; synapses that were walked
  std::vector<std::uint64_t> spikes_of;        // by population, outside ones too
  std::vector<std::vector<SpikeAt>> recorded;  // by population: of those that are recorded, ascending
  std::vector<std::string> notes;              // delays that were added, sums that had to be cut
  // Accounted runs:
  std::vector<std::int64_t> ticks;     // how long each was, barrier included
  std::int64_t time = 0;               // their sum
  std::vector<SpikeCounts> slices;     // as placed
  std::vector<SpikeCoreTime> cores;    // by tick, then by core, where something was done; with keeps_times
  std::uint64_t outside_messages = 0;  // that came from outside
  std::uint64_t hash = 0;              // of all spikes, potentials, times and counts
  SpikeCounts total() const;
};

class SpikeMachine {
 public:
  // Errors of check_spiking and schedule_spikes.
  static Result<SpikeMachine> load(std::shared_ptr<const SpikingNet> net, SpikePlacement placement,
                                   const SpikeOptions& options);
  SpikeMachine(SpikeMachine&&) noexcept;
  SpikeMachine& operator=(SpikeMachine&&) noexcept;
  ~SpikeMachine();

  // Errors E4006: a stimulus that does not fit. Where spikes come a tick later, a run of n steps takes n ticks and
  // those that its deepest population is late. Streamed runs share these: a report has n ticks, open_ticks() the rest.
  Result<SpikeReport> run(std::int64_t steps, const SpikeStimulus& stimulus);
  std::vector<std::int64_t> open_ticks() const;
  std::vector<SpikeCoreTime> open_cores(std::size_t open_tick) const;  // by core, where something was done
  void reset();                                                        // as loaded

  const SpikeSchedule& schedule() const;
  const SpikePlacement& placement() const;
  const SpikeTraffic& traffic() const;  // accounted
  std::vector<std::int32_t> potentials(PopulationId population) const;
  std::vector<std::int32_t> currents(PopulationId population) const;  // `u` of loihi
  // Of as many elements as it has neurons.
  void set_potentials(PopulationId population, std::span<const std::int32_t> values);
  void set_currents(PopulationId population, std::span<const std::int32_t> values);
  std::int64_t synapses() const;  // implicit ones not counted
  std::int64_t bytes() const;     // of synapses, kernels and offsets
  bool is_proven() const;         // no sum can overflow

 private:
  struct State;
  explicit SpikeMachine(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace taskspec
