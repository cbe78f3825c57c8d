#include "hwsim/spikes/from_blocks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <set>

#include "hwsim/spikes/window_max.hpp"
#include "ir/blocks/windows.hpp"

namespace taskspec {

namespace {

// By element of what is wanted: the element of a source that it is, -1: none.
using SourcePlaces = std::vector<std::int32_t>;

SourcePlaces all_places(std::int64_t count) {
  SourcePlaces places(static_cast<std::size_t>(count));
  std::iota(places.begin(), places.end(), 0);
  return places;
}

// From a whole array to a box of it.
IndexMap part_map(const Extents& extents, const Box& box) {
  Extents strides(extents.size());
  std::int64_t stride = 1, offset = 0;
  for (std::size_t i = extents.size(); i-- > 0;) {
    strides[i] = stride;
    offset += box.position[i] * stride;
    stride *= extents[i];
  }
  return IndexMap::affine(extents, box.size, offset, strides);
}

bool is_neuron(const TaskBlock& block) { return block.def->name == "CLIF"; }
bool is_product(const TaskBlock& block) {
  return block.def->kind == BlockKind::axon && block.def->in.size() >= 2 && block.def->in[0].name == "input" &&
         block.def->in[1].name == "weight";
}
bool is_sum(const TaskBlock& block) { return block.def->name == "CADD"; }
// One place of its input each, times a number that is known.
bool is_scaling(const TaskBlock& block) { return block.def->name == "CAX" || block.def->name == "CVS"; }
bool is_window_sum(const TaskBlock& block) { return block.def->name == "CAVG"; }
bool is_soma(const TaskBlock& block) { return block.def->name == "CCMPB" || block.def->name == "CLUT"; }

class BlockReading {
 public:
  BlockReading(const BlockGraph& graph, bool graded) : graph_(graph), graded_(graded) {
    made_.population.resize(graph.blocks.size());
    made_.potentials.resize(graph.blocks.size());
    made_.outputs.resize(graph.blocks.size());
  }

  Result<SpikingBlocks> run() {
    made_.net.name = graph_.name;
    const std::vector<BlockId> inputs = graph_.inputs();
    for (std::size_t i = 0; i < graph_.blocks.size(); ++i) {
      const TaskBlock& block = graph_.blocks[i];
      const bool is_input = std::find(inputs.begin(), inputs.end(), BlockId(i)) != inputs.end();
      const bool is_soma_here = graded_ && is_soma(block);
      if (is_soma_here && takes_windows(block))
        made_.population[i] = add_windows(BlockId(i));
      else if (is_input || is_neuron(block) || is_soma_here)
        made_.population[i] = made_.net.add(population_of(BlockId(i), is_input));
    }
    for (std::size_t i = 0; i < graph_.blocks.size(); ++i)
      if (is_neuron(graph_.blocks[i]) || (graded_ && is_soma(graph_.blocks[i]))) {
        const auto read = read_by_windows_.find(i);
        target_ = read == read_by_windows_.end() ? made_.population[i] : read->second;
        if (is_neuron(graph_.blocks[i])) note_potentials(BlockId(i));
        sum(BlockId(i), 0, all_places(made_.net[target_].neurons()), 0);
      }
    for (const BlockId output : graph_.outputs()) record(output);
    for (const BlockEdge& edge : graph_.edges)
      if (edge.trigger)
        diags_.error("E4045", edge.span, "an edge triggers a group, and cores of a chip run all groups in each step");
    refuse_others();
    if (diags_.has_errors()) return std::move(diags_);
    return std::move(made_);
  }

 private:
  using Leaf = std::function<void(BlockId, const SourcePlaces&, std::int32_t)>;

  const std::string& name(BlockId id) const { return graph_[id].name; }
  std::string target_name() const { return made_.net[target_].name; }
  Diag& refuse(Span span, std::string message) { return diags_.error("E4041", span, std::move(message)); }

  // ---- populations ----

  SpikePopulation shaped_as(const TaskBlock& block) const {
    const Extents extents = value_type(block).extents;
    const auto of = [&](std::size_t axis) {
      return static_cast<std::int32_t>(axis < extents.size() ? extents[extents.size() - 1 - axis] : 1);
    };
    return {.name = block.name, .shape = {of(2), of(1), of(0)}};
  }

  SpikePopulation population_of(BlockId id, bool is_input) {
    const TaskBlock& block = graph_[id];
    SpikePopulation population = shaped_as(block);
    if (is_input) {
      if (info(value_type(block).precision).bytes > 1)
        refuse(block.span, fmt::format("input '{}' holds {}, and spikes are bytes", block.name,
                                       info(value_type(block).precision).name));
      population.graded = graded_;
      return population;
    }
    if (is_soma(block)) {
      population.model = graded_sums(id);
      return population;
    }
    ClifNeurons clif{.block = block};
    const std::int64_t fires = block.attribute("fire_type");
    if (fires != 4 && fires != 5)
      refuse(block.span, fmt::format("'{}' makes no spikes: its fire_type is {}; 4 and 5 do", block.name, fires));
    population.potentials = contents_of(id, 1);
    const std::vector<std::int32_t> counts = contents_of(id, 2);
    if (std::any_of(counts.begin(), counts.end(), [](std::int32_t c) { return c != 0; }))
      refuse(block.span, fmt::format("neurons of '{}' begin in the middle of a rest", block.name));
    clif.thresholds = contents_of(id, 3);
    clif.masks = contents_of(id, 4);
    population.model = std::move(clif);
    return population;
  }

  GradedSums graded_sums(BlockId id) {
    const TaskBlock& block = graph_[id];
    GradedSums sums{.block = block};
    if (block.def->name == "CLUT") {
      const Extents entries = cluster_extents(block, block.in_cluster(1));
      Array table = Array::make({block.precision, entries});
      const std::vector<std::int32_t> contents = contents_of(id, 1);
      for (std::size_t i = 0; i < contents.size(); ++i) table.set_integer(static_cast<std::int64_t>(i), contents[i]);
      sums.table = std::make_shared<const Array>(std::move(table));
    } else {
      const std::int64_t cmp = block.attribute("cmp");
      if (cmp < -128 || cmp > 127) other(id, "its channels have constants of their own");
      if (takes_windows(block) && block.precision != Precision::i8)
        other(id, "it takes the largest of a window and gives no i8, and what is compared are bytes");
    }
    if (block.precision == Precision::u8) other(id, "it gives u8, and what cores send is i8, tern or i32");
    // A byte is looked up, and compared, as it is.
    bool takes_bytes = false;
    for_each_feed(id, 0, [&](const BlockEdge& edge, const SourcePlaces&) {
      takes_bytes = takes_bytes || info(value_type(graph_[edge.from.block]).precision).bytes == 1;
    });
    if (takes_bytes) sums.block->set(*block.def->find_attribute("shift"), 0);
    return sums;
  }

  static bool takes_windows(const TaskBlock& block) {
    if (block.def->name != "CCMPB") return false;
    const BlockWindow y = window_of(block, BlockAxis::y), x = window_of(block, BlockAxis::x);
    return y.kernel * x.kernel != 1 || y.in != y.out || x.in != x.out;
  }

  // The largest of windows: of bytes, as cuts and larger numbers come in any order; along x, then along y.
  PopulationId add_windows(BlockId id) {
    const TaskBlock& block = graph_[id];
    const BlockWindow y = window_of(block, BlockAxis::y), x = window_of(block, BlockAxis::x);
    const std::int64_t f = std::max<std::int64_t>(1, block.shape.f);
    GradedSums bytes = graded_sums(id);
    TaskBlock& cut = *bytes.block;
    for (const char* kernel : {"kernel_y", "kernel_x", "stride_y", "stride_x"})
      cut.set(*block.def->find_attribute(kernel), 1);
    for (const char* pad : {"pad_up", "pad_down", "pad_left", "pad_right"}) cut.set(*block.def->find_attribute(pad), 0);
    const auto shape = [&](std::int64_t rows, std::int64_t columns) {
      return SpikeShape{static_cast<std::int32_t>(rows), static_cast<std::int32_t>(columns),
                        static_cast<std::int32_t>(f)};
    };
    WindowMax max{.cut = cut, .windows = {}, .result = {.name = block.name, .shape = shape(y.in, x.out)}};
    max.least = static_cast<std::int32_t>(std::clamp<std::int64_t>(block.attribute("cmp"), -128, 127));
    max.cut.set(*block.def->find_attribute("shift"), 0);
    WindowMax along_y = max;
    for (std::int64_t i = 0; i < y.in * x.out * f; ++i)
      max.windows.push_back(places_of_window(x, i / f % x.out, f, i / f / x.out * x.in * f + i % f));
    for (std::int64_t i = 0; i < y.out * x.out * f; ++i)
      along_y.windows.push_back(places_of_window(y, i / f / x.out, x.out * f, i % (x.out * f)));
    along_y.result.shape = shape(y.out, x.out);
    const PopulationId read =
        made_.net.add({.name = block.name + " bytes", .shape = shape(y.in, x.in), .model = std::move(bytes)});
    read_by_windows_[id.index()] = read;
    const bool is_along_x = x.kernel > 1 || x.in != x.out, is_along_y = y.kernel > 1 || y.in != y.out;
    const PopulationId rows = is_along_x ? add_window_max(made_.net, read, std::move(max)) : read;
    return is_along_y ? add_window_max(made_.net, rows, std::move(along_y)) : rows;
  }

  // Of one output along an axis whose places lie `step` apart.
  static std::vector<std::int32_t> places_of_window(const BlockWindow& w, std::int64_t output, std::int64_t step,
                                                    std::int64_t first) {
    std::vector<std::int32_t> places;
    for (std::int64_t tap = 0; tap < w.kernel; ++tap) {
      const std::int64_t at = output * w.stride - w.before + tap * w.dilation;
      places.push_back(at < 0 || at >= w.in ? WindowMax::zero : static_cast<std::int32_t>(first + at * step));
    }
    return places;
  }

  void note_potentials(BlockId id) {
    for_each_feed(id, 1, [&](const BlockEdge& edge, const SourcePlaces& places) {
      PopulationId& known = made_.potentials[edge.from.block.index()];
      if (known.valid())
        refuse(graph_[id].span,
               fmt::format("'{}' and '{}' share the potentials in '{}', and each keeps its own in its cores",
                           made_.net[known].name, target_name(), name(edge.from.block)));
      else if (places == all_places(places_of(value_type(graph_[edge.from.block]).extents)))
        known = target_;
    });
  }

  // Of a cluster that static storage fills; empty when nothing does, or zeros.
  std::vector<std::int32_t> contents_of(BlockId id, std::size_t cluster) {
    const TaskBlock& block = graph_[id];
    if (graph_.into(id, cluster).empty()) return {};
    const std::int64_t count = places_of(cluster_extents(block, block.in_cluster(cluster)));
    std::vector<std::int32_t> values(static_cast<std::size_t>(count));
    walk(id, cluster, all_places(count), 0, [&](BlockId from, const SourcePlaces& places, std::int32_t late) {
      const TaskBlock& storage = graph_[from];
      if (!storage.def->holds() || late > 0 || (!storage.data && !graph_.is_state(from)))
        refuse(block.span, fmt::format("'{}.{}' is no data: it comes from '{}'", block.name,
                                       block.in_cluster_name(cluster), storage.name));
      else if (storage.data)
        for (std::size_t i = 0; i < places.size(); ++i)
          if (places[i] >= 0) values[i] = static_cast<std::int32_t>(storage.data->integer(places[i]));
    });
    return values;
  }

  // ---- edges ----

  // f(edge, by element of the cluster: the element of the edge's source).
  template <class F>
  void for_each_feed(BlockId id, std::size_t cluster, F&& f) {
    const TaskBlock& block = graph_[id];
    const Extents whole_cluster = cluster_extents(block, block.in_cluster(cluster));
    for (const BlockEdgeId edge_id : graph_.into(id, cluster)) {
      const BlockEdge& edge = graph_.edges[edge_id.index()];
      const Extents extents = value_type(graph_[edge.from.block]).extents;
      const Box from = edge.from.box.size.empty() ? whole(extents) : edge.from.box;
      const Box to = edge.to.box.size.empty() ? whole(whole_cluster) : edge.to.box;
      const Result<IndexMap> moves = compose(edge.moves, from.size, to.size, edge.span);
      if (!moves) {
        diags_.append(moves.diags());
        continue;
      }
      if (edge.initial)
        for (std::int64_t i = 0; i < edge.initial->elements(); ++i)
          if (edge.initial->integer(i) != 0) {
            refuse(edge.span, fmt::format("an edge from '{}' to '{}' begins with values other than 0",
                                          name(edge.from.block), name(id)));
            break;
          }
      const IndexMap source = part_map(extents, from).then(*moves), target = part_map(whole_cluster, to);
      SourcePlaces places(static_cast<std::size_t>(places_of(whole_cluster)), -1);
      for (std::int64_t i = 0; i < places_of(to.size); ++i)
        places[static_cast<std::size_t>(target.place(i))] = static_cast<std::int32_t>(source.place(i));
      f(edge, places);
    }
  }

  // Back through storage to what computes or comes from outside, once for each that elements of the cluster come from.
  void walk(BlockId id, std::size_t cluster, const SourcePlaces& wanted, std::int32_t delay, const Leaf& leaf) {
    for_each_feed(id, cluster, [&](const BlockEdge& edge, const SourcePlaces& places) {
      SourcePlaces behind(wanted.size(), -1);
      bool any = false;
      for (std::size_t i = 0; i < wanted.size(); ++i)
        if (wanted[i] >= 0) any = (behind[i] = places[static_cast<std::size_t>(wanted[i])]) >= 0 || any;
      if (!any) return;
      const BlockId from = edge.from.block;
      const bool passes_on = graph_[from].def->kind == BlockKind::storage && !graph_.into(from, 0).empty();
      if (passes_on && !graph_.is_state(from))
        walk(from, 0, behind, delay + edge.delay, leaf);
      else
        leaf(from, behind, delay + edge.delay);
    });
  }

  // ---- sums ----

  // What is added up in a cluster, for each neuron of the target the element that it wants.
  void sum(BlockId id, std::size_t cluster, const SourcePlaces& wanted, std::int32_t delay) {
    walk(id, cluster, wanted, delay, [&](BlockId from, const SourcePlaces& places, std::int32_t late) {
      if (graded_ && graph_[from].data && !graph_.is_state(from)) return add_constants(from, places, late);
      if (!made_.population[from.index()].valid()) return add_terms(from, places, late);
      std::vector<Term> terms;  // a spike counts one
      for (std::size_t t = 0; t < places.size(); ++t)
        if (places[t] >= 0) terms.push_back({places[t], static_cast<std::uint32_t>(t), 1});
      connect(from, fmt::format("{} to {}", graph_[from].name, target_name()), rows_of(from, std::move(terms)), late);
    });
  }

  // What a block that sums up brings, of its outputs for each neuron of the target the one that it wants.
  void add_terms(BlockId from, const SourcePlaces& places, std::int32_t late) {
    const TaskBlock& block = graph_[from];
    if (named_.insert(target_.index()).second && std::holds_alternative<GradedSums>(made_.net[target_].model))
      made_.net.populations[target_.index()].name = block.name;  // as units are: by the axon
    if (is_product(block)) {
      add_bias(from, block.def->in.size() - 1, places, late);
      product(from, places, late);
    } else if (is_sum(block)) {
      add_bias(from, block.branches, places, late);
      for (std::size_t branch = 0; branch < block.branches; ++branch) sum(from, branch, places, late);
    } else if (graded_ && (is_scaling(block) || is_window_sum(block))) {
      add_bias(from, block.def->in.size() - 1, places, late);
      weigh_places(from, places, late);
    } else if (graded_) {
      other(from, "it is no sum of products with weights that are known before the run");
    } else {
      refuse(block.span, fmt::format("'{}', a {}, lies in front of the neurons '{}', and is no synapse", block.name,
                                     block.def->name, target_name()))
          .note("synapses are sums of products (CC, CC2D, CVM) of spikes, and sums of those (CADD)");
    }
  }

  // Data in the place of numbers that are computed, around the input of a pool say: sums begin there.
  void add_constants(BlockId id, const SourcePlaces& places, std::int32_t late) {
    if (late > 0)
      return other(id, fmt::format("it reaches '{}' {} steps late, and what sums begin at is always there",
                                   target_name(), late));
    std::vector<std::int32_t>& bias = made_.net.populations[target_.index()].bias;
    bias.resize(places.size());
    for (std::size_t t = 0; t < places.size(); ++t)
      if (places[t] >= 0) begin_sum(bias[t], graph_[id].data->integer(places[t]), graph_[id]);
  }

  // What is added where a sum begins. Sums are cut where they are made, so what would not fit is no such number.
  void begin_sum(std::int32_t& bias, std::int64_t value, const TaskBlock& of) {
    if (__builtin_add_overflow(bias, value, &bias) && too_large_.insert(target_.index()).second)
      refuse(of.span, fmt::format("the biases of '{}' add up to more than 32 bits hold", target_name()));
  }

  void add_bias(BlockId id, std::size_t cluster, const SourcePlaces& outputs, std::int32_t late) {
    const TaskBlock& block = graph_[id];
    std::vector<std::int32_t> values;
    if (block.bias == BiasKind::vector) values = contents_of(id, cluster);
    if (block.bias == BiasKind::constant && block.def->find_attribute("constant_b"))
      values = {static_cast<std::int32_t>(block.attribute("constant_b"))};
    if (std::all_of(values.begin(), values.end(), [](std::int32_t v) { return v == 0; })) return;
    if (late > 0) {
      refuse(block.span,
             fmt::format("the bias of '{}' reaches the neurons '{}' {} steps late", block.name, target_name(), late));
      return;
    }
    std::vector<std::int32_t>& bias = made_.net.populations[target_.index()].bias;
    bias.resize(outputs.size());
    for (std::size_t t = 0; t < outputs.size(); ++t)
      if (outputs[t] >= 0) begin_sum(bias[t], values[static_cast<std::size_t>(outputs[t]) % values.size()], block);
  }

  struct Term {
    std::int32_t source = 0;
    std::uint32_t target = 0;
    std::int32_t weight = 0;
  };

  SparseSynapses rows_of(BlockId from, std::vector<Term> terms) const {
    std::stable_sort(terms.begin(), terms.end(), [](const Term& a, const Term& b) { return a.source < b.source; });
    SparseSynapses rows;
    rows.offsets.assign(static_cast<std::size_t>(made_.net[made_.population[from.index()]].neurons()) + 1, 0);
    for (const Term& term : terms) {
      ++rows.offsets[static_cast<std::size_t>(term.source) + 1];
      rows.targets.push_back(term.target);
      rows.weights.push_back(term.weight);
    }
    std::partial_sum(rows.offsets.begin(), rows.offsets.end(), rows.offsets.begin());
    return rows;
  }

  template <class Synapses>
  void connect(BlockId from, std::string text, Synapses synapses, std::int32_t delay) {
    made_.net.connect({.name = std::move(text),
                       .from = made_.population[from.index()],
                       .to = target_,
                       .synapses = std::move(synapses),
                       .delay = delay});
  }

  struct Windows {
    BlockWindow y, x;
    std::int64_t channels = 1, outputs = 1;  // r, f
  };

  Windows windows_of(const TaskBlock& block) const {
    return {window_of(block, BlockAxis::y), window_of(block, BlockAxis::x), std::max<std::int64_t>(1, block.shape.r),
            std::max<std::int64_t>(1, block.shape.f)};
  }

  // Windows whose places all have one weight, channel by channel.
  void weigh_places(BlockId id, const SourcePlaces& outputs, std::int32_t late) {
    const TaskBlock& block = graph_[id];
    const std::int64_t f = std::max<std::int64_t>(1, block.shape.f);
    std::vector<std::int32_t> weights{1};
    if (block.def->name == "CVS") weights = {static_cast<std::int32_t>(block.attribute("constant_a"))};
    if (block.def->name == "CAX") weights = contents_of(id, 1);
    if (weights.empty()) return;  // zeros
    BlockWindow y = window_of(block, BlockAxis::y), x = window_of(block, BlockAxis::x);
    walk(id, 0, all_places(y.in * x.in * f), 0, [&](BlockId from, const SourcePlaces& places, std::int32_t delay) {
      if (!made_.population[from.index()].valid()) return no_byte(from, block);
      std::vector<Term> terms;
      for (std::size_t t = 0; t < outputs.size(); ++t) {
        if (outputs[t] < 0) continue;
        const std::int64_t channel = outputs[t] % f, ox = outputs[t] / f % x.out, oy = outputs[t] / f / x.out;
        for (std::int64_t ky = 0; ky < y.kernel; ++ky)
          for (std::int64_t kx = 0; kx < x.kernel; ++kx) {
            const std::int64_t row = oy * y.stride - y.before + ky, column = ox * x.stride - x.before + kx;
            if (row < 0 || row >= y.in || column < 0 || column >= x.in) continue;
            const std::int32_t source = places[static_cast<std::size_t>((row * x.in + column) * f + channel)];
            const std::int32_t weight = weights[static_cast<std::size_t>(channel) % weights.size()];
            if (source >= 0 && weight != 0) terms.push_back({source, static_cast<std::uint32_t>(t), weight});
          }
      }
      connect(from, block.name, rows_of(from, std::move(terms)), late + delay);
    });
  }

  void no_byte(BlockId from, const TaskBlock& reader) {
    const TaskBlock& block = graph_[from];
    if (graded_)
      other(from, fmt::format("what it makes goes to '{}' as it is, and cores send bytes: cut it", reader.name));
    else
      refuse(block.span,
             fmt::format("'{}', a {}, feeds '{}' with what is no spike", block.name, block.def->name, reader.name));
  }

  // Spikes of each source through the weights of the block to those of its outputs that neurons want.
  void product(BlockId id, const SourcePlaces& outputs, std::int32_t late) {
    const TaskBlock& block = graph_[id];
    const std::vector<std::int32_t> weights = contents_of(id, 1);  // [f][r][ky][kx]
    const Windows w = windows_of(block);
    const std::int64_t inputs = w.y.in * w.x.in * w.channels;
    walk(id, 0, all_places(inputs), 0, [&](BlockId from, const SourcePlaces& places, std::int32_t delay) {
      if (!made_.population[from.index()].valid()) return no_byte(from, block);
      const SpikeShape source = made_.net[made_.population[from.index()]].shape, to = made_.net[target_].shape;
      const SpikeShape reads{static_cast<std::int32_t>(w.y.in), static_cast<std::int32_t>(w.x.in),
                             static_cast<std::int32_t>(w.channels)};
      const SpikeShape gives{static_cast<std::int32_t>(w.y.out), static_cast<std::int32_t>(w.x.out),
                             static_cast<std::int32_t>(w.outputs)};
      const bool as_it_is = places == all_places(source.size()) && outputs == all_places(gives.size());
      const bool is_matrix = reads.y * reads.x * gives.y * gives.x * w.y.kernel * w.x.kernel == 1;
      const std::string text = block.name;
      if (as_it_is && is_matrix)
        connect(from, text, DenseSynapses{turned(weights, w)}, late + delay);
      else if (as_it_is && source == reads && to == gives)
        connect(from, text, convolution(weights, w), late + delay);
      else
        connect(from, text, rows_of(from, terms_of(weights, w, outputs, places)), late + delay);
    });
  }

  // [f][r][ky][kx] as [r][ky][kx][f].
  static std::vector<std::int32_t> turned(const std::vector<std::int32_t>& weights, const Windows& w) {
    const auto inner = weights.size() / static_cast<std::size_t>(w.outputs);
    std::vector<std::int32_t> made(weights.size());
    for (std::size_t i = 0; i < weights.size(); ++i)
      made[i % inner * static_cast<std::size_t>(w.outputs) + i / inner] = weights[i];
    return made;
  }

  static ConvolutionSynapses convolution(const std::vector<std::int32_t>& weights, const Windows& w) {
    const auto narrow = [](std::int64_t x) { return static_cast<std::int32_t>(x); };
    return {narrow(w.y.kernel), narrow(w.x.kernel),   narrow(w.y.stride),   narrow(w.x.stride), narrow(w.y.before),
            narrow(w.x.before), narrow(w.y.dilation), narrow(w.x.dilation), turned(weights, w)};
  }

  static std::vector<Term> terms_of(const std::vector<std::int32_t>& weights, const Windows& w,
                                    const SourcePlaces& outputs, const SourcePlaces& places) {
    std::vector<Term> terms;
    for (std::size_t t = 0; t < outputs.size(); ++t) {
      if (outputs[t] < 0) continue;
      const std::int64_t f = outputs[t] % w.outputs, x = outputs[t] / w.outputs % w.x.out,
                         y = outputs[t] / w.outputs / w.x.out;
      for (std::int64_t r = 0; r < w.channels; ++r)
        for (std::int64_t ky = 0; ky < w.y.kernel; ++ky)
          for (std::int64_t kx = 0; kx < w.x.kernel; ++kx) {
            const std::int64_t row = y * w.y.stride - w.y.before + ky * w.y.dilation;
            const std::int64_t column = x * w.x.stride - w.x.before + kx * w.x.dilation;
            if (row < 0 || row >= w.y.in || column < 0 || column >= w.x.in) continue;
            const std::int32_t source = places[static_cast<std::size_t>((row * w.x.in + column) * w.channels + r)];
            const auto at = static_cast<std::size_t>(((f * w.channels + r) * w.y.kernel + ky) * w.x.kernel + kx);
            if (source >= 0 && weights[at] != 0) terms.push_back({source, static_cast<std::uint32_t>(t), weights[at]});
          }
    }
    return terms;
  }

  void record(BlockId output) {
    const std::int64_t count = places_of(value_type(graph_[output]).extents);
    std::vector<SpikePlace>& places = made_.outputs[output.index()];
    places.resize(static_cast<std::size_t>(count));
    walk(output, 0, all_places(count), 0, [&](BlockId from, const SourcePlaces& sources, std::int32_t late) {
      const PopulationId population = given_by(from);
      for (std::size_t i = 0; i < sources.size(); ++i)
        if (sources[i] >= 0) places[i] = {population, sources[i]};
      if (late > 0)
        refuse(graph_[output].span, fmt::format("output '{}' is given {} steps late", name(output), late))
            .help("give it as it is made, and shift the steps behind the run");
      if (!population.valid())
        refuse(graph_[from].span, fmt::format("output '{}' is what '{}', a {}, makes: no spikes", name(output),
                                              name(from), graph_[from].def->name))
            .help(
                "give the spikes, and leave what follows to the host; or take a chip of kind primitive, tianjicx say");
      else
        made_.net.populations[population.index()].recorded = true;
    });
  }

  // A population, or the sums of a block as they are.
  PopulationId given_by(BlockId id) {
    const TaskBlock& block = graph_[id];
    const bool sums = is_product(block) || is_sum(block) || is_scaling(block) || is_window_sum(block);
    if (made_.population[id.index()].valid() || !graded_ || !sums) return made_.population[id.index()];
    PopulationId& given = sums_[id.index()];
    if (given.valid()) return given;
    SpikePopulation population = shaped_as(block);
    population.model = GradedSums();
    target_ = given = made_.net.add(std::move(population));
    add_terms(id, all_places(made_.net[given].neurons()), 0);
    return given;
  }

  void other(BlockId id, std::string why) {
    const TaskBlock& block = graph_[id];
    std::string text = fmt::format("'{}', a {}: {}", block.name, block.def->name, why);
    if (std::ranges::find(others_, text) != others_.end()) return;
    if (others_.empty()) others_span_ = block.span;
    others_.push_back(std::move(text));
  }

  // What is no sum on a crossbar, all at once.
  void refuse_others() {
    if (others_.empty()) return;
    Diag& diag = diags_.error("E4051", others_span_,
                              fmt::format("{} block{} of '{}' cannot be computed by crossbars", others_.size(),
                                          others_.size() == 1 ? "" : "s", made_.net.name));
    for (std::string& text : others_) diag.note(std::move(text));
    diag.help("a chip of kind primitive, tianjicx say, computes all blocks; or leave what is told here to the host");
  }

  const BlockGraph& graph_;
  const bool graded_;
  SpikingBlocks made_;
  std::map<std::size_t, PopulationId> sums_;             // by block: sums that an output gives
  std::map<std::size_t, PopulationId> read_by_windows_;  // by block that takes windows: what they are taken of
  std::set<std::size_t> named_, too_large_;              // populations
  std::vector<std::string> others_;
  Span others_span_;
  PopulationId target_;  // the one whose sums are at hand
  Diags diags_;
};

}  // namespace

Result<SpikingBlocks> spiking_net_of(const BlockGraph& graph, bool graded) { return BlockReading(graph, graded).run(); }

}  // namespace taskspec
