// Populations of spiking neurons on a chip of kind synaptic or crossbar: placed, loaded and run step by step. Spikes
// come a tick after they were fired, so a population that is n populations behind the input makes its steps n ticks
// late: values are those of the graph, and reports tell the latency.
#pragma once
#include "hwsim/report/spike_picture.hpp"
#include "interp/hw/chip_kinds.hpp"
#include "interp/hw/hw_picture.hpp"

namespace taskspec {

class SpikeRun final : public ChipRun {
 public:
  // Errors E4041 to E4043, E4052.
  static Result<std::unique_ptr<ChipRun>> make(ChipGraph source, const HwOptions& options);

  std::vector<Array> step(std::span<const Array> tensors) override;
  Array state(std::size_t number) const override;
  void set_state(std::size_t number, const Array& tensor) override;
  void begin_state(std::size_t number) override;
  bool is_mapped() const override { return machine_.has_value(); }
  std::int64_t cycles() const override;  // until the last population is done

  std::optional<ChipPicture> picture() const override;
  void note(const std::string& text) override { notes_.push_back(text); }

 private:
  // A tensor at the border: by its element the neuron; none: as it lies in its block.
  struct Input {
    PopulationId population;
    std::vector<std::int32_t> neuron;
  };
  struct State {
    PopulationId population;  // none: nothing that could be read
    bool is_current = false;
    std::vector<std::int32_t> neuron;
    PotentialScale scale;
  };
  explicit SpikeRun(LoweredGraph lowered) : ChipRun(std::move(lowered)) {}
  Result<ChipNeurons> from_blocks();
  Result<ChipNeurons> from_real(const RealBorders& real, const BlockTable& blocks);
  Diags load(ChipNeurons neurons, const HwOptions& options);
  std::vector<Array> frame(std::span<const Array> tensors);
  SpikeTrain train_of(std::size_t input, const Array& tensor) const;

  void check_phases(SpikeReport& ran) const;  // E5012
  const std::vector<std::int64_t>& open_ticks() const;
  SpikeClock clock() const;
  void look(const SpikeReport& ran);  // for pictures

  std::shared_ptr<const Chip> chip_;
  ChipExtent chips_;
  NocModel noc_ = NocModel::contended;
  std::shared_ptr<const SpikingNet> net_;
  std::optional<SpikeMachine> machine_;
  std::vector<Input> inputs_;                     // as lowered().inputs
  std::vector<std::vector<SpikePlace>> outputs_;  // as lowered().outputs, by element
  std::vector<State> states_;                     // as lowered().states
  PopulationId always_;                           // from outside, a spike in each step
  std::vector<std::string> notes_;
  std::vector<SpikeCounts> counts_;
  std::int64_t time_ = 0, latency_ = 0, cores_there_ = 0;
  std::int64_t steady_time_ = 0, steady_ticks_ = 0;              // of ticks in which all populations made a step
  mutable std::optional<std::vector<std::int64_t>> open_ticks_;  // of the last step; none: nobody asked yet
  std::uint64_t hash_ = 0;                                       // of spikes, potentials, times and counts of all steps
  // With pictures:
  std::vector<std::optional<PopulationRecorder>> recorders_;  // by population; none from outside
  std::vector<std::vector<std::int64_t>> spikes_;             // by population and neuron
  std::vector<StageTime> stages_;                             // of the first ticks
};

}  // namespace taskspec
