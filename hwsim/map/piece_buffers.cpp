#include "hwsim/map/piece_buffers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace taskspec {

namespace {

bool is_constant(const BlockGraph& graph, const NetSource& source) {
  const TaskBlock& block = graph[source.block];
  return source.delay == 0 && !block.def->computes() && block.data && !graph.is_state(source.block);
}

// By source.
std::vector<bool> constants(const BlockGraph& graph, const NetCluster& cluster) {
  std::vector<bool> are;
  for (const NetSource& source : cluster.sources) are.push_back(is_constant(graph, source));
  return are;
}

}  // namespace

Array constant_part(const BlockGraph& graph, const NetCluster& cluster, const Box& box) {
  Array part = Array::make({cluster.type.precision, box.size});
  const std::vector<bool> are_constant = constants(graph, cluster);
  const std::vector<std::int32_t> places = places_in(cluster.type.extents, box);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const NetPlace place = cluster.places[static_cast<std::size_t>(places[i])];
    if (place.source < 0) continue;
    const NetSource& source = cluster.sources[static_cast<std::size_t>(place.source)];
    if (!are_constant[static_cast<std::size_t>(place.source)] && !cluster.is_state) continue;
    if (const auto& data = graph[source.block].data)
      part.set_integer(static_cast<std::int64_t>(i), data->integer(place.place));
  }
  return part;
}

namespace {

class PieceBuilder {
 public:
  PieceBuilder(const ChipNet& net, std::int32_t phase, std::int32_t phases)
      : net_(net), graph_(*net.graph), phase_(phase), phases_(phases) {}

  PieceBuffers made;

  void build(const ChipUnit& unit, const UnitPiece& piece) {
    if (piece.axon) made.axon = call(net_.works[unit.axon], *piece.axon, no_buffer, piece.soma.has_value());
    if (piece.soma)
      made.soma = call(net_.works[unit.soma], *piece.soma, made.axon ? made.axon->result : no_buffer, false);
  }

 private:
  ChipCall call(const NetWork& work, const BlockPart& part, std::int32_t sum, bool is_sum) {
    const TaskBlock& block = graph_[work.block];
    ChipCall call{.block = part.block, .whole = work.block, .out = part.out, .in = {}, .use = {}};
    for (std::size_t c = 0; c < work.in.size(); ++c) {
      const NetCluster& cluster = work.in[c];
      const bool is_from_axon = c == 0 && sum != no_buffer;
      std::int32_t buffer = no_buffer;
      if (is_from_axon)
        buffer = sum;
      else if (cluster.is_there())
        buffer = operand(block, c, cluster, part.in[c]);
      call.in.push_back(buffer);
      if (buffer == no_buffer) continue;
      const Precision precision = made.buffers[static_cast<std::size_t>(buffer)].layout.type.precision;
      if (c == 0) call.use.in = precision;
      if (block.in_cluster(c).name == "weight") call.use.weight = precision;
    }
    ChipBuffer result{.use = is_sum ? BufferUse::sum : BufferUse::result,
                      .name = block.name,
                      .block = work.block,
                      .layout = result_layout(part.block),
                      .data = {},
                      .early = {}};
    result.box = part.out;
    call.result = add(std::move(result), phase_, phase_);
    const std::int64_t bytes = block.def->memory ? block.def->memory(part.block) : 0;
    if (bytes > 0) {
      ChipBuffer memory{.use = BufferUse::memory,
                        .name = block.name + ".memory",
                        .block = work.block,
                        .layout = {.type = {Precision::u8, {bytes}}, .bits = 8, .strides = {8}, .bytes = bytes},
                        .data = {},
                        .early = {}};
      call.memory = keep(std::move(memory));
    }
    return call;
  }

  std::int32_t operand(const TaskBlock& block, std::size_t position, const NetCluster& cluster, const Box& box) {
    const TaskBlock& holder = graph_[cluster.holder];
    ChipBuffer buffer{.name = block.name + "." + block.in_cluster_name(position),
                      .block = cluster.holder,
                      .layout = layout_of(*holder.def, {cluster.type.precision, box.size}),
                      .data = {},
                      .early = {}};
    buffer.box = box;
    if (cluster.is_state || cluster.is_data(graph_)) {
      buffer.use = cluster.is_state ? BufferUse::state : BufferUse::fixed;
      buffer.data = constant_part(graph_, cluster, box);
      return keep(std::move(buffer));
    }
    return input(std::move(buffer), cluster, box);
  }

  std::int32_t input(ChipBuffer buffer, const NetCluster& cluster, const Box& box) {
    buffer.use = BufferUse::input;
    bool has_rest = false;
    const std::vector<bool> are_constant = constants(graph_, cluster);
    std::map<std::int32_t, std::vector<std::int64_t>> by_delay;  // elements of the box
    const std::vector<std::int32_t> places = places_in(cluster.type.extents, box);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const NetPlace place = cluster.places[static_cast<std::size_t>(places[i])];
      if (place.source < 0 || are_constant[static_cast<std::size_t>(place.source)])
        has_rest = true;
      else
        by_delay[cluster.sources[static_cast<std::size_t>(place.source)].delay].push_back(static_cast<std::int64_t>(i));
    }
    if (has_rest) buffer.data = constant_part(graph_, cluster, box);
    const ChipLayout layout = buffer.layout;
    const std::string name = buffer.name;
    const BlockId holder = buffer.block;
    const std::int32_t before = (phase_ + phases_ - 1) % phases_;
    const std::int32_t to = has_rest ? keep(std::move(buffer)) : add(std::move(buffer), before, phase_);
    for (const auto& [delay, elements] : by_delay) {
      ChipBuffer receive{.use = BufferUse::receive,
                         .name = name,
                         .block = holder,
                         .layout = layout,
                         .slots = delay + 1,
                         .data = {},
                         .early = early(cluster, box, delay)};
      receive.box = box;
      const std::int32_t from = keep(std::move(receive));
      made.inputs.push_back({&cluster, box, delay, from});
      ChipMove move{.from = from, .to = to, .delay = delay, .runs = {}};
      move.runs = runs_of(layout, elements);
      made.moves.push_back(std::move(move));
    }
    return to;
  }

  // What a delayed cluster holds before the first values come.
  std::vector<Array> early(const NetCluster& cluster, const Box& box, std::int32_t delay) const {
    std::vector<Array> slots;
    const std::vector<std::int32_t> places = places_in(cluster.type.extents, box);
    for (std::int32_t slot = 0; slot < delay; ++slot) {
      Array values = Array::make({cluster.type.precision, box.size});
      for (std::size_t i = 0; i < places.size(); ++i) {
        const NetPlace place = cluster.places[static_cast<std::size_t>(places[i])];
        if (place.source < 0) continue;
        const NetSource& source = cluster.sources[static_cast<std::size_t>(place.source)];
        if (source.delay == delay && source.initial)
          values.set_integer(static_cast<std::int64_t>(i), source.initial->integer(place.place));
      }
      slots.push_back(std::move(values));
    }
    return slots;
  }

  static std::vector<ChipMove::Run> runs_of(const ChipLayout& layout, const std::vector<std::int64_t>& elements) {
    std::vector<std::pair<std::int64_t, std::int64_t>> bits;  // begin, end
    for (std::int64_t element : elements) {
      const std::int64_t bit = layout.bit_of(element);
      bits.emplace_back(bit, bit + layout.bits);
    }
    std::ranges::sort(bits);
    std::vector<ChipMove::Run> runs;
    for (auto [begin, end] : bits) {
      const std::int64_t byte = begin / 8, behind = (end + 7) / 8;
      if (!runs.empty() && byte <= runs.back().byte + runs.back().bytes)
        runs.back().bytes = std::max(runs.back().bytes, behind - runs.back().byte);
      else
        runs.push_back({byte, behind - byte});
    }
    return runs;
  }

  std::int32_t add(ChipBuffer buffer, std::int32_t first, std::int32_t last) {
    buffer.first_phase = first;
    buffer.last_phase = last;
    buffer.bytes = buffer.slot_bytes() * buffer.slots;
    made.buffers.push_back(std::move(buffer));
    return static_cast<std::int32_t>(made.buffers.size() - 1);
  }
  std::int32_t keep(ChipBuffer buffer) {
    buffer.is_persistent = true;
    return add(std::move(buffer), 0, phases_ - 1);
  }

  const ChipNet& net_;
  const BlockGraph& graph_;
  std::int32_t phase_, phases_;
};

}  // namespace

PieceBuffers buffers_of(const ChipNet& net, const ChipUnit& unit, const UnitPiece& piece, std::int32_t phase,
                        std::int32_t phases) {
  PieceBuilder builder(net, phase, phases);
  builder.build(unit, piece);
  return std::move(builder.made);
}

}  // namespace taskspec
