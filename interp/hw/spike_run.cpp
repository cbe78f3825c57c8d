#include "interp/hw/spike_run.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hwsim/map/refusals.hpp"
#include "hwsim/spikes/crossbar.hpp"
#include "hwsim/spikes/of_chip.hpp"
#include "hwsim/spikes/overruns.hpp"
#include "hwsim/spikes/splitters.hpp"
#include "interp/hw/frames.hpp"

namespace taskspec {

namespace {

constexpr std::size_t most_stages = 30'000;  // that pictures keep

// By element of the tensor: its place in the block.
std::vector<std::int32_t> places_in_block(const LoweredPort& port) {
  Array numbers = Array::make({Precision::f64, port.tensor.extents});
  for (std::int64_t i = 0; i < numbers.elements(); ++i) numbers.set_number(i, static_cast<double>(i));
  const std::vector<double> element = in_block_order(port, numbers);
  std::vector<std::int32_t> places(element.size());
  for (std::size_t place = 0; place < element.size(); ++place)
    places[static_cast<std::size_t>(element[place])] = static_cast<std::int32_t>(place);
  return places;
}

// Packets of a tick, on the network of the chip.
SpikeNetwork network_of(const HwOptions& options) {
  if (options.noc == NocModel::ideal) return {};
  return [figures = noc_figures(*options.chip, chips_of(options)),
          model = options.noc](std::span<const SpikePacket> packets) {
    std::vector<NocFlow> flows;
    flows.reserve(packets.size());
    for (const SpikePacket& packet : packets)
      flows.push_back({.source = packet.from,
                       .target = packet.to,
                       .begin = std::max<std::int64_t>(0, packet.start - 1),
                       .span = 1});
    return solve_noc(figures, flows, model).end;
  };
}

Diags check_chips(const HwOptions& options) {
  Diags diags = room_refusals(*options.chip, chips_of(options), options.cores);
  if (!options.chip->runs_snn)
    diags.error("E4045", Span{}, fmt::format("{} runs no spiking networks", options.chip->name));
  return diags;
}

Diags no_potentials(const TaskBlock& storage) {
  Diags diags;
  diags
      .error("E4041", storage.span,
             fmt::format("'{}' changes from step to step, and is not by itself the potentials of one population: "
                         "its neurons keep nothing else where a program sees it",
                         storage.name))
      .help("give each population a storage of its own for its state; or take a chip of kind primitive, tianjicx say");
  return diags;
}

}  // namespace

// ---- loading --------------------------------------------------------------------------------------

Result<std::unique_ptr<ChipRun>> SpikeRun::make(ChipGraph source, const HwOptions& options) {
  std::unique_ptr<SpikeRun> made(new SpikeRun(std::move(source.lowered)));
  made->chip_ = options.chip;
  if (!source.real && made->lowered_.outputs.empty() && made->lowered_.states.empty())
    return std::unique_ptr<ChipRun>(std::move(made));  // the host has computed it
  if (Diags diags = check_chips(options); diags.has_errors()) return diags;
  Result<ChipNeurons> neurons = source.real ? made->from_real(*source.real, *source.blocks) : made->from_blocks();
  if (!neurons) return neurons.diags();
  if (Diags diags = made->load(*std::move(neurons), options); diags.has_errors()) return diags;
  return std::unique_ptr<ChipRun>(std::move(made));
}

Result<ChipNeurons> SpikeRun::from_blocks() {
  Result<SpikingBlocks> blocks = spiking_net_of(lowered_.graph, chip_->runs_ann);
  if (!blocks) return blocks.diags();
  Result<ChipNeurons> neurons = on_chip_neurons(blocks->net, *chip_);
  if (!neurons) return neurons;
  for (const LoweredPort& port : lowered_.inputs) inputs_.push_back({blocks->population[port.block.index()], {}});
  for (const LoweredPort& port : lowered_.outputs) {
    const std::vector<SpikePlace>& by_place = blocks->outputs[port.block.index()];
    std::vector<SpikePlace> places;
    for (const std::int32_t place : places_in_block(port)) places.push_back(by_place[static_cast<std::size_t>(place)]);
    outputs_.push_back(std::move(places));
  }
  for (const LoweredState& state : lowered_.states) {
    const PopulationId population = state.storage.valid() ? blocks->potentials[state.storage.index()] : PopulationId();
    if (state.storage.valid() && !population.valid()) return no_potentials(lowered_.graph[state.storage]);
    states_.push_back({population, false,
                       state.storage.valid() ? places_in_block(state.port) : std::vector<std::int32_t>(),
                       population.valid() ? neurons->potentials[population.index()] : PotentialScale()});
  }
  return neurons;
}

Result<ChipNeurons> SpikeRun::from_real(const RealBorders& real, const BlockTable& blocks) {
  Result<ChipNeurons> neurons = in_integers(real.net, *chip_, blocks.find("CLIF"));
  if (!neurons) return neurons;
  notes_.insert(notes_.end(), real.notes.begin(), real.notes.end());
  for (const RealBorders::Input& input : real.inputs) {
    inputs_.push_back({input.population, real.neuron[input.population.index()]});
    neurons->net.populations[input.population.index()].graded = chip_->runs_ann;
  }
  for (const RealBorders::Output& output : real.outputs) outputs_.push_back(output.places);
  for (const RealBorders::State& state : real.states) {
    if (!state.population.valid()) {
      states_.emplace_back();
      continue;
    }
    const std::size_t p = state.population.index();
    states_.push_back({state.population, state.is_current, real.neuron[p],
                       state.is_current ? neurons->currents[p] : neurons->potentials[p]});
  }
  for (std::size_t p = real.net.populations.size(); p < neurons->net.populations.size(); ++p)
    if (neurons->net.populations[p].is_outside()) always_ = PopulationId(p);
  return neurons;
}

Diags SpikeRun::load(ChipNeurons neurons, const HwOptions& options) {
  const Chip& chip = *options.chip;
  chips_ = chips_of(options);
  noc_ = options.noc;
  const SpikeLimits limits = spike_limits(chip, chips_, options.cores);
  cores_there_ = limits.cores;
  notes_.insert(notes_.end(), neurons.notes.begin(), neurons.notes.end());
  auto net = std::make_shared<SpikingNet>(std::move(neurons.net));
  if (Diags wrong = check_spiking(*net); wrong.has_errors()) return wrong;
  if (chip.neuron == NeuronModel::truenorth) {
    Result<SplitNet> split = with_splitters(*net, limits);
    if (!split) return split.diags();
    if (split->splitters > 0)
      notes_.push_back(fmt::format("{} splitters, each of them for one more destination", split->splitters));
    *net = std::move(split->net);
  }
  if (options.keeps_pictures)
    for (SpikePopulation& population : net->populations) population.recorded = !population.is_outside();
  Result<SpikePlacement> placed = place_spikes(*net, limits);
  if (!placed) return placed.diags();
  if (chip.limits.axon_types) {
    const Result<std::vector<CrossbarCore>> types =
        assign_axon_types(*net, *placed, static_cast<std::int32_t>(*chip.limits.axon_types));
    if (!types) return types.diags();
  }
  std::int64_t tiles = 0;
  for (const SpikeSlice& slice : placed->slices) tiles += slice.tiles;
  if (tiles > 0) notes_.push_back(fmt::format("{} cores add up a part of the inputs of others", tiles));
  SpikeOptions run{.threads = options.threads,
                   .streamed = true,
                   .accounted = true,
                   .keeps_times = options.keeps_pictures || chip.sync.mode == SyncMode::fixed};
  run.delivery.next_tick = true;
  run.delivery.allow_delay = options.allow_delay;
  run.costs = spike_costs(chip);
  run.grid = spike_grid(chip, chips_);
  run.network = network_of(options);
  Result<SpikeMachine> machine = SpikeMachine::load(net, *std::move(placed), run);
  if (!machine) return machine.diags();
  machine_.emplace(*std::move(machine));
  net_ = std::move(net);
  counts_.resize(machine_->placement().slices.size());
  for (const SpikePopulation& population : net_->populations) {
    if (!options.keeps_pictures) break;
    const SpikeShape& shape = population.shape;
    recorders_.emplace_back();
    if (!population.is_outside())
      recorders_.back().emplace(population.name,
                                shape.y * shape.x == 1 ? Extents{shape.f} : Extents{shape.y, shape.x, shape.f}, true);
    spikes_.emplace_back(static_cast<std::size_t>(population.neurons()));
  }
  const std::vector<std::string>& delays = machine_->schedule().notes;
  notes_.insert(notes_.end(), delays.begin(), delays.end());
  if (const std::int32_t deepest = machine_->schedule().deepest(); deepest > 0)
    notes_.push_back(fmt::format("the last population makes its steps {} tick{} later than the first", deepest,
                                 deepest == 1 ? "" : "s"));
  return {};
}

// ---- a step ---------------------------------------------------------------------------------------

SpikeTrain SpikeRun::train_of(std::size_t number, const Array& tensor) const {
  const Input& input = inputs_[number];
  const Array given = input.neuron.empty() ? to_block(lowered_.inputs[number], tensor) : tensor;
  std::vector<std::pair<std::uint32_t, std::int32_t>> spikes;
  for (std::int64_t e = 0; e < given.elements(); ++e) {
    const bool is_real = is_float(given.precision());
    const double value = is_real ? given.number(e) : static_cast<double>(given.integer(e));
    if (value == 0) continue;
    const std::int64_t neuron = input.neuron.empty() ? e : input.neuron[static_cast<std::size_t>(e)];
    const bool is_byte =
        value == static_cast<double>(static_cast<std::int64_t>(value)) && value >= -128 && value <= 127;
    if (value != 1 && !(chip_->runs_ann && is_byte))
      throw failure("E4055", {},
                    fmt::format("element {} of '{}' is {} in step {}, and {} takes spikes, 0 or 1{}", e,
                                (*net_)[input.population].name, value, version_, chip_->name,
                                chip_->runs_ann ? ", or bytes" : ""));
    spikes.emplace_back(static_cast<std::uint32_t>(neuron), static_cast<std::int32_t>(value));
  }
  std::ranges::sort(spikes);
  SpikeTrain train{input.population, {0, static_cast<std::uint32_t>(spikes.size())}, {}};
  const bool is_graded = std::ranges::any_of(spikes, [](const auto& spike) { return spike.second != 1; });
  for (const auto& [neuron, value] : spikes) {
    train.neurons.push_back(neuron);
    if (is_graded) train.values.push_back(value);
  }
  return train;
}

std::vector<Array> SpikeRun::step(std::span<const Array> tensors) {
  if (!machine_) return {};
  return frame_by_frame(lowered_, tensors, [&](std::span<const Array> one) { return frame(one); });
}

std::vector<Array> SpikeRun::frame(std::span<const Array> tensors) {
  SpikeStimulus stimulus;
  std::vector<std::vector<std::int32_t>> given(net_->populations.size());  // by neuron: 1 of a spike
  for (std::size_t k = 0; k < tensors.size(); ++k) {
    const SpikeTrain& train = stimulus.trains.emplace_back(train_of(k, tensors[k]));
    auto& values = given[train.population.index()];
    values.resize(static_cast<std::size_t>((*net_)[train.population].neurons()));
    for (std::size_t i = 0; i < train.neurons.size(); ++i)
      values[train.neurons[i]] = train.values.empty() ? 1 : train.values[i];
  }
  if (always_.valid()) stimulus.trains.push_back({always_, {0, 1}, {0}});
  Result<SpikeReport> ran = machine_->run(1, stimulus);
  if (!ran) throw Error(ran.diags());
  if (version_ == 0)
    for (const std::string& note : ran->notes)
      if (std::ranges::find(notes_, note) == notes_.end()) notes_.push_back(note);
  for (std::size_t i = 0; i < counts_.size(); ++i) counts_[i] += ran->slices[i];
  if (!recorders_.empty()) look(*ran);
  open_ticks_.reset();
  if (chip_->sync.mode == SyncMode::fixed) check_phases(*ran);
  if (version_ <= machine_->schedule().deepest()) latency_ += ran->time;
  if (version_ >= machine_->schedule().deepest()) steady_time_ += ran->time, ++steady_ticks_;
  time_ += ran->time;
  hash_ = Hasher().add(hash_).add(ran->hash).digest().low;
  ++version_;
  for (std::size_t p = 0; p < given.size(); ++p)
    for (const SpikeAt& spike : ran->recorded[p]) {
      given[p].resize(static_cast<std::size_t>(net_->populations[p].neurons()));
      given[p][spike.neuron] = spike.value;
    }
  std::vector<Array> outputs;
  for (std::size_t k = 0; k < outputs_.size(); ++k) {
    Array output = Array::make(lowered_.outputs[k].tensor);
    for (std::size_t e = 0; e < outputs_[k].size(); ++e) {
      const SpikePlace& place = outputs_[k][e];
      if (!place.population.valid() || given[place.population.index()].empty()) continue;
      const std::int32_t value = given[place.population.index()][static_cast<std::size_t>(place.neuron)];
      if (is_float(output.precision()))
        output.set_number(static_cast<std::int64_t>(e), value / lowered_.outputs[k].scale);
      else
        output.set_integer(static_cast<std::int64_t>(e), value);
    }
    outputs.push_back(std::move(output));
  }
  return outputs;
}

// Ticks that later steps share count as soon as they are too long: there may be no later step.
void SpikeRun::check_phases(SpikeReport& ran) const {
  const std::int64_t phase = chip_->sync.phase_clk;
  std::vector<SpikeTick> too_long;
  if (ran.ticks[0] > phase) too_long.push_back({version_, ran.ticks[0], std::move(ran.cores)});
  const std::vector<std::int64_t>& open = open_ticks();
  for (std::size_t i = 0; i < open.size(); ++i)
    if (open[i] > phase)
      too_long.push_back({version_ + 1 + static_cast<std::int64_t>(i), open[i], machine_->open_cores(i)});
  if (too_long.empty()) return;
  Diags diags;
  diags.add(overrun_refusal(*chip_, *net_, *machine_, too_long));
  throw Error(diags);
}

const std::vector<std::int64_t>& SpikeRun::open_ticks() const {
  if (!open_ticks_) open_ticks_ = machine_->open_ticks();
  return *open_ticks_;
}

std::int64_t SpikeRun::cycles() const {
  if (!machine_) return 0;
  std::int64_t sum = time_;
  for (const std::int64_t tick : open_ticks()) sum += tick;
  return sum;
}

SpikeClock SpikeRun::clock() const {
  SpikeClock clock{.steps = version_, .cycles = cycles(), .latency = latency_};
  // The first step is through when its last population has made it.
  const std::int64_t deepest = machine_->schedule().deepest(), missing = deepest + 1 - version_;
  for (std::int64_t i = 0; i < missing && i < static_cast<std::int64_t>(open_ticks().size()); ++i)
    clock.latency += open_ticks()[static_cast<std::size_t>(i)];
  // Steps follow one another a tick apart. Without a tick in which all populations work, those that there were.
  clock.interval =
      steady_ticks_ > 0 ? steady_time_ / steady_ticks_ : clock.cycles / std::max<std::int64_t>(1, version_ + deepest);
  return clock;
}

void SpikeRun::look(const SpikeReport& ran) {
  if (stages_.size() < most_stages) add_stages(ran.cores, version_, time_, ran.ticks[0], stages_);
  for (std::size_t p = 0; p < recorders_.size(); ++p) {
    if (!recorders_[p]) continue;
    std::vector<std::uint32_t> neurons;
    for (const SpikeAt& spike : ran.recorded[p]) {
      neurons.push_back(spike.neuron);
      ++spikes_[p][spike.neuron];
    }
    std::vector<std::int32_t> potentials;
    if (recorders_[p]->wants_potentials()) potentials = machine_->potentials(PopulationId(p));
    recorders_[p]->step(neurons, [&](std::int64_t n) { return potentials[static_cast<std::size_t>(n)]; });
  }
}

std::optional<ChipPicture> SpikeRun::picture() const {
  if (!machine_) return std::nullopt;
  ChipPicture picture = spike_picture({chip_, chips_, *net_, *machine_, counts_, spikes_}, clock());
  picture.title = title_;
  picture.noc = name_of(noc_);
  picture.cores_there = cores_there_;
  picture.notes.insert(picture.notes.end(), notes_.begin(), notes_.end());
  picture.values = Hasher().add(hash_).digest();
  picture.stages = stages_;
  for (const std::optional<PopulationRecorder>& recorder : recorders_)
    if (recorder) picture.populations.push_back(recorder->population());
  return picture;
}

// ---- states ---------------------------------------------------------------------------------------

Array SpikeRun::state(std::size_t number) const {
  const State& state = states_[number];
  Array made = Array::make(lowered_.states[number].port.tensor);
  const std::vector<std::int32_t> values =
      state.is_current ? machine_->currents(state.population) : machine_->potentials(state.population);
  for (std::size_t e = 0; e < state.neuron.size(); ++e) {
    const auto neuron = static_cast<std::size_t>(state.neuron[e]);
    const double value = state.scale.number(values[neuron], neuron);
    if (is_float(made.precision()))
      made.set_number(static_cast<std::int64_t>(e), value);
    else
      made.set_integer(static_cast<std::int64_t>(e), static_cast<std::int64_t>(value));
  }
  return made;
}

void SpikeRun::set_state(std::size_t number, const Array& tensor) {
  const State& state = states_[number];
  std::vector<std::int32_t> values(state.neuron.size());
  for (std::size_t e = 0; e < state.neuron.size(); ++e) {
    const auto neuron = static_cast<std::size_t>(state.neuron[e]);
    const auto element = static_cast<std::int64_t>(e);
    const double value =
        is_float(tensor.precision()) ? tensor.number(element) : static_cast<double>(tensor.integer(element));
    values[neuron] = state.scale.integer(value, neuron);
  }
  if (state.is_current)
    machine_->set_currents(state.population, values);
  else
    machine_->set_potentials(state.population, values);
}

void SpikeRun::begin_state(std::size_t number) {
  const State& state = states_[number];
  if (!state.population.valid()) return;
  const SpikePopulation& population = (*net_)[state.population];
  if (state.is_current) {
    const auto* clif = std::get_if<ClifNeurons>(&population.model);
    const std::vector<std::int32_t> first(state.neuron.size(), clif ? clif->first_current : 0);
    return machine_->set_currents(state.population, first);
  }
  std::vector<std::int32_t> first = population.potentials;
  first.resize(state.neuron.size());
  machine_->set_potentials(state.population, first);
}

}  // namespace taskspec
