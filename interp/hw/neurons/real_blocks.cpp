#include "interp/hw/neurons/real_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ir/base/ascii.hpp"
#include "ir/blocks/rearrange_rules.hpp"
#include "ir/lowering/gather.hpp"

namespace taskspec {

namespace {

constexpr std::int64_t most_weights = std::int64_t{1} << 24;  // of a matrix that synapses are written out to

class BlockMaking {
 public:
  BlockMaking(const RealBorders& real, LoweredGraph borders, const Chip& chip, const BlockTable& blocks)
      : real_(real), chip_(chip), blocks_(blocks), made_(std::move(borders)) {}

  Result<LoweredGraph> run() {
    Result<ChipNeurons> neurons = in_integers(real_.net, chip_, blocks_.find("CLIF"));
    if (!neurons) return neurons.diags();
    net_ = &neurons->net;
    neurons_ = &*neurons;
    for (auto* blocks : {&block_, &sums_into_, &state_, &current_}) blocks->resize(net_->populations.size());
    for (std::size_t k = 0; k < real_.inputs.size(); ++k) add_input(k);
    for (std::size_t p = 0; p < net_->populations.size(); ++p)
      if (!net_->populations[p].is_outside()) add_neurons(p);
    for (std::size_t p = 0; p < net_->populations.size(); ++p)
      if (!net_->populations[p].is_outside()) add_synapses(p);
    for (std::size_t k = 0; k < real_.outputs.size(); ++k) add_output(k);
    for (std::size_t k = 0; k < real_.states.size(); ++k) add_state(k);
    if (refused_.any()) return refused_.diags(net_->name, chip_);
    made_.notes.insert(made_.notes.end(), neurons->notes.begin(), neurons->notes.end());
    return std::move(made_);
  }

 private:
  // ---- blocks

  BlockId add(std::string_view type, std::string_view name, Precision precision, const BlockShape& shape) {
    TaskBlock block;
    block.def = blocks_.find(type);
    block.name = made_name(name);
    block.precision = precision;
    block.shape = shape;
    made_.graph.blocks.push_back(std::move(block));
    return BlockId(made_.graph.blocks.size() - 1);
  }
  TaskBlock& at(BlockId id) { return made_.graph.blocks[id.index()]; }

  std::string made_name(std::string_view name) {
    std::string made;
    for (const char c : name) made += is_word(c) ? c : '_';
    const int number = ++names_[made];
    return number == 1 ? made : fmt::format("{}_{}", made, number);
  }

  BlockId data(std::string_view type, std::string_view name, const BlockShape& shape, Precision precision,
               const std::vector<std::int32_t>& contents) {
    const BlockId id = add(type, name, precision, shape);
    Array array = Array::make(value_type(at(id)));
    for (std::size_t k = 0; k < contents.size(); ++k) array.set_integer(static_cast<std::int64_t>(k), contents[k]);
    at(id).data = std::move(array);
    return id;
  }

  void connect(BlockId from, BlockId to, std::string_view cluster, std::int32_t delay = 0) {
    const std::size_t position = *at(to).in_cluster_named(cluster);
    BlockEdge edge;
    edge.from = {from, 0, whole(value_type(at(from)).extents)};
    edge.to = {to, static_cast<std::uint16_t>(position), whole(cluster_extents(at(to), at(to).in_cluster(position)))};
    if (edge.from.box.size != edge.to.box.size) edge.moves.push_back({&rearrange_reshape, {}});
    edge.delay = delay;
    made_.graph.edges.push_back(std::move(edge));
  }

  bool fill(BlockId to, const BlockGather& gather) {
    const std::optional<std::vector<BlockLink>> links = links_of(gather);
    if (!links) return false;
    for (const BlockLink& link : *links) {
      if (!link.from) return false;
      BlockEdge edge;
      edge.from = {*link.from, 0, link.source};
      edge.to = {to, 0, link.target};
      edge.moves = link.moves;
      made_.graph.edges.push_back(std::move(edge));
    }
    return true;
  }

  void set(BlockId id, std::string_view attribute, std::int64_t value) {
    const BlockAttributeDef* def = blocks_.attribute(attribute);
    if (value != def->standard) at(id).set(*def, value);
  }

  static BlockShape shape_of(const SpikeShape& shape) {
    if (shape.y == 1 && shape.x == 1) return {.f = shape.f};
    return {.y = shape.y, .x = shape.x, .f = shape.f};
  }

  // ---- borders

  // How a tensor lies in a block: as it is, or of three axes the first one last.
  static void set_layout(LoweredPort& port) {
    const Extents& tensor = port.tensor.extents;
    port.precision = Precision::i8;
    if (tensor.size() == 3) {
      port.extents = {tensor[1], tensor[2], tensor[0]};
      port.axes = {2, 0, 1};
    } else if (tensor.size() == 2) {
      port.extents = {1, tensor[0], tensor[1]};
      port.axes = {1, 2};
    } else {
      port.extents = {port.tensor.elements()};
      port.axes.assign(tensor.size(), 0);
    }
  }

  static BlockShape shape_of(const Extents& extents) {
    if (extents.size() == 1) return {.f = extents[0]};
    return {.y = extents[0], .x = extents[1], .f = extents[2]};
  }

  // By element of the tensor: its place in the block.
  static std::vector<std::int64_t> places_of_port(const LoweredPort& port) {
    Array numbers = Array::make({Precision::f64, port.tensor.extents});
    for (std::int64_t i = 0; i < numbers.elements(); ++i) numbers.set_number(i, static_cast<double>(i));
    const std::vector<double> element = in_block_order(port, numbers);
    std::vector<std::int64_t> places(element.size());
    for (std::size_t place = 0; place < element.size(); ++place)
      places[static_cast<std::size_t>(element[place])] = static_cast<std::int64_t>(place);
    return places;
  }

  // A storage of its spikes in the order of neurons.
  void add_input(std::size_t k) {
    LoweredPort& port = made_.inputs[k];
    const std::size_t p = real_.inputs[k].population.index();
    set_layout(port);
    const BlockId input = add("INPUT", net_->populations[p].name, Precision::i8, shape_of(port.extents));
    port.name = at(input).name;
    port.block = input;
    const std::vector<std::int64_t> place = places_of_port(port);
    std::vector<BlockGather::Place> places(place.size());
    for (std::size_t e = 0; e < place.size(); ++e) places[static_cast<std::size_t>(real_.neuron[p][e])] = {0, place[e]};
    block_[p] = add("SI", net_->populations[p].name + "_spikes", Precision::i8, shape_of(net_->populations[p].shape));
    const Extents extents = value_type(at(block_[p])).extents;
    if (!fill(block_[p], BlockGather::of(input, port.extents).picked(extents, places)))
      refused_.add(net_->populations[p].name, "its elements lie too far apart");
  }

  void add_output(std::size_t k) {
    LoweredPort& port = made_.outputs[k];
    set_layout(port);
    const std::vector<SpikePlace>& elements = real_.outputs[k].places;
    std::vector<PopulationId> from;
    std::vector<BlockGather> parts;
    for (const SpikePlace& place : elements)
      if (std::ranges::find(from, place.population) == from.end()) {
        from.push_back(place.population);
        const BlockId block = block_[place.population.index()];
        parts.push_back(BlockGather::of(block, value_type(at(block)).extents));
      }
    std::vector<std::int64_t> first{0};
    for (const PopulationId population : from) first.push_back(first.back() + (*net_)[population].neurons());
    std::vector<BlockGather::Place> places(elements.size());
    const std::vector<std::int64_t> place = places_of_port(port);
    for (std::size_t e = 0; e < elements.size(); ++e) {
      const auto part = static_cast<std::size_t>(std::ranges::find(from, elements[e].population) - from.begin());
      const std::int64_t at_part = first[part] + elements[e].neuron;
      places[static_cast<std::size_t>(place[e])] = {0, at_part};
    }
    // Places of a gather of several blocks are counted in what it joins.
    const BlockGather all = parts.size() == 1 ? parts[0] : BlockGather::joined(parts);
    const BlockId output = add("OUTPUT", "out", Precision::i8, shape_of(port.extents));
    port.name = at(output).name;
    port.block = output;
    if (!fill(output, all.picked(port.extents, places))) refused_.add("out", "its elements lie too far apart");
  }

  void add_state(std::size_t k) {
    LoweredState& state = made_.states[k];
    if (!state.storage.valid()) return;
    const std::size_t p = real_.states[k].population.index();
    const SpikeShape& shape = net_->populations[p].shape;
    const bool is_current = real_.states[k].is_current;
    const BlockId storage = is_current ? current_[p] : state_[p];
    state.storage = storage;
    LoweredPort& port = state.port;
    port.name = at(storage).name;
    port.block = storage;
    port.precision = Precision::i28;
    port.scale = 1 / (is_current ? neurons_->currents[p] : neurons_->potentials[p]).unit;
    port.extents = value_type(at(storage)).extents;
    port.axes = {0};
    if (shape.y * shape.x > 1) {  // [c, y, x], of as many bytes as the tensor
      port.tensor.extents = {shape.f, shape.y, shape.x};
      port.axes = {2, 0, 1};
    }
  }

  // ---- neurons

  void add_neurons(std::size_t p) {
    const SpikePopulation& population = net_->populations[p];
    const auto& model = std::get<ClifNeurons>(population.model);
    const BlockId id = add("CLIF", population.name, Precision::i8, shape_of(population.shape));
    const std::string name = at(id).name;
    const BlockShape shape = at(id).shape;
    at(id) = model.block;
    at(id).name = name;
    at(id).shape = shape;
    block_[p] = sums_into_[p] = id;
    state_[p] = data("SI", population.name + "_v", shape, Precision::i28, population.potentials);
    connect(state_[p], id, "state");
    if (model.synapse) add_synapse(p, model, shape);
  }

  // What keeps the current, in front of the neurons.
  void add_synapse(std::size_t p, const ClifNeurons& model, const BlockShape& shape) {
    const std::string& population = net_->populations[p].name;
    const auto count = static_cast<std::size_t>(net_->populations[p].neurons());
    const BlockId id = add("CLIF", population + "_synapse", Precision::i32, shape);
    const std::string name = at(id).name;
    at(id) = *model.synapse;
    at(id).name = name;
    at(id).shape = shape;
    sums_into_[p] = id;
    current_[p] =
        data("SI", population + "_i", shape, Precision::i28, std::vector<std::int32_t>(count, model.first_current));
    connect(current_[p], id, "state");
    const BlockId given = add("SI", population + "_given", Precision::i32, shape);
    connect_to(id, given, 0);
    connect_to(given, block_[p], 0);
  }

  void add_synapses(std::size_t p) {
    const SpikePopulation& population = net_->populations[p];
    std::vector<BlockId> sums;
    for (const SpikeConnection& connection : net_->connections)
      if (connection.to == PopulationId(p))
        if (const std::optional<BlockId> sum = product(connection)) sums.push_back(*sum);
    if (refused_.any()) return;
    const BlockShape shape = shape_of(population.shape);
    if (sums.empty() && population.bias.empty()) return refused_.add(population.name, "nothing leads to it");
    BlockId current;
    const bool has_bias = std::ranges::any_of(population.bias, [](std::int32_t b) { return b != 0; });
    if (has_bias) sums.push_back(data("SI", population.name + "_bias", shape, Precision::i32, population.bias));
    if (sums.size() > 1) {
      const BlockId add_up = add("CADD", population.name + "_sum", Precision::i32, shape);
      at(add_up).branches = sums.size();
      for (std::size_t k = 0; k < sums.size(); ++k) {
        BlockId from = sums[k];
        if (at(from).def->computes()) {
          from = add("SI", population.name + "_part", Precision::i32, shape);
          connect_to(sums[k], from, 0);
        }
        connect_to(from, add_up, k);
      }
      sums = {add_up};
    }
    current = add("SI", population.name + "_current", Precision::i32, shape);
    connect_to(sums[0], current, 0);
    connect_to(current, sums_into_[p], 0);
  }

  void connect_to(BlockId from, BlockId to, std::size_t cluster) {
    BlockEdge edge;
    edge.from = {from, 0, whole(value_type(at(from)).extents)};
    edge.to = {to, static_cast<std::uint16_t>(cluster), whole(cluster_extents(at(to), at(to).in_cluster(cluster)))};
    if (edge.from.box.size != edge.to.box.size) edge.moves.push_back({&rearrange_reshape, {}});
    made_.graph.edges.push_back(std::move(edge));
  }

  std::optional<BlockId> product(const SpikeConnection& connection) {
    if (const auto* conv = std::get_if<ConvolutionSynapses>(&connection.synapses))
      return convolution(connection, *conv);
    const SpikePopulation &from = (*net_)[connection.from], &to = (*net_)[connection.to];
    const std::int64_t sources = from.neurons(), targets = to.neurons();
    const auto* rows = std::get_if<SparseSynapses>(&connection.synapses);
    if (rows && (!rows->delays.empty() || sources * targets > most_weights)) {
      refused_.add(to.name, rows->delays.empty() ? "its synapses are no convolution, and too many for a matrix"
                                                 : "each of its synapses is late by itself");
      return std::nullopt;
    }
    std::vector<std::int32_t> weights(static_cast<std::size_t>(sources * targets));  // [target][source]
    if (rows) {
      for (std::size_t s = 0; s + 1 < rows->offsets.size(); ++s)
        for (std::uint32_t i = rows->offsets[s]; i < rows->offsets[s + 1]; ++i)
          weights[rows->targets[i] * static_cast<std::size_t>(sources) + s] += rows->weights[i];
    } else {
      const auto& dense = std::get<DenseSynapses>(connection.synapses).weights;
      for (std::size_t i = 0; i < dense.size(); ++i)
        weights[i % static_cast<std::size_t>(targets) * static_cast<std::size_t>(sources) +
                i / static_cast<std::size_t>(targets)] = dense[i];
    }
    const BlockId spikes = add("SIFC", from.name + "_to_" + to.name, Precision::i8, {.r = sources});
    connect(block_[connection.from.index()], spikes, at(spikes).in_cluster_name(0), connection.delay);
    const BlockId matrix = data("SWFC", to.name + "_w", {.f = targets, .r = sources}, Precision::i8, weights);
    const BlockId id = add("CVM", to.name + "_in", Precision::i32, {.f = targets, .r = sources});
    connect(spikes, id, "input");
    connect(matrix, id, "weight");
    return id;
  }

  std::optional<BlockId> convolution(const SpikeConnection& connection, const ConvolutionSynapses& conv) {
    const SpikePopulation &from = (*net_)[connection.from], &to = (*net_)[connection.to];
    const SpikeShape in = from.shape, out = to.shape;
    const BlockId spikes = add("SIC", from.name + "_to_" + to.name, Precision::i8, {.y = in.y, .x = in.x, .r = in.f});
    connect(block_[connection.from.index()], spikes, at(spikes).in_cluster_name(0), connection.delay);
    const auto inner = static_cast<std::size_t>(in.f) * static_cast<std::size_t>(conv.ky * conv.kx);
    std::vector<std::int32_t> weights(conv.weights.size());  // [f][c][ky][kx]
    for (std::size_t i = 0; i < weights.size(); ++i)
      weights[i % static_cast<std::size_t>(out.f) * inner + i / static_cast<std::size_t>(out.f)] = conv.weights[i];
    const BlockId kernel =
        data("SW", to.name + "_w", {.f = out.f, .r = in.f, .ky = conv.ky, .kx = conv.kx}, Precision::i8, weights);
    const BlockId id =
        add("CC", to.name + "_in", Precision::i32,
            {.y = out.y, .x = out.x, .f = out.f, .r = in.f, .ky = conv.ky, .kx = conv.kx, .iy = in.y, .ix = in.x});
    auto behind = [](std::int32_t outputs, std::int32_t stride, std::int32_t kernel, std::int32_t dilation,
                     std::int32_t before, std::int32_t inputs) {
      return std::max(0, (outputs - 1) * stride + (kernel - 1) * dilation + 1 - before - inputs);
    };
    set(id, "stride_y", conv.stride_y), set(id, "stride_x", conv.stride_x);
    set(id, "dilation_y", conv.dilation_y), set(id, "dilation_x", conv.dilation_x);
    set(id, "pad_up", conv.pad_y), set(id, "pad_left", conv.pad_x);
    set(id, "pad_down", behind(out.y, conv.stride_y, conv.ky, conv.dilation_y, conv.pad_y, in.y));
    set(id, "pad_right", behind(out.x, conv.stride_x, conv.kx, conv.dilation_x, conv.pad_x, in.x));
    connect(spikes, id, "input");
    connect(kernel, id, "weight");
    return id;
  }

  const RealBorders& real_;
  const Chip& chip_;
  const BlockTable& blocks_;
  LoweredGraph made_;
  const SpikingNet* net_ = nullptr;
  const ChipNeurons* neurons_ = nullptr;
  std::vector<BlockId> block_;            // by population: what holds or makes its spikes, in the order of neurons
  std::vector<BlockId> sums_into_;        // by population: the neurons, or their synapse
  std::vector<BlockId> state_, current_;  // by population
  std::map<std::string, int> names_;
  ChipRefusals refused_;
};

}  // namespace

Result<LoweredGraph> in_blocks(const RealBorders& real, LoweredGraph borders, const Chip& chip,
                               const BlockTable& blocks) {
  return BlockMaking(real, std::move(borders), chip, blocks).run();
}

}  // namespace taskspec
