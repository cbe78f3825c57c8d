#include "hwsim/map/piece_buffers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>

#include "ir/blocks/numerics.hpp"
#include "ir/blocks/windows.hpp"

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
  if (cluster.places.is_identity() && graph[cluster.sources[0].block].data &&
      graph[cluster.sources[0].block].data->type().precision == part.type().precision) {
    const Array& data = *graph[cluster.sources[0].block].data;
    if (!are_constant[0] && !cluster.is_state) return part;
    const std::size_t element = info(part.type().precision).bytes;
    for (std::size_t i = 0; i < places.size(); ++i)
      std::memcpy(part.raw() + i * element, data.raw() + static_cast<std::size_t>(places[i]) * element, element);
    return part;
  }
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

// Bytes of elements that begin and end at these bits, one run for what lies side by side.
std::vector<ChipMove::Run> runs_of(std::vector<std::pair<std::int64_t, std::int64_t>> bits) {
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

std::vector<ChipMove::Run> runs_of_all(const ChipLayout& layout) {
  std::vector<std::pair<std::int64_t, std::int64_t>> bits;
  const Extents& extents = layout.type.extents;
  const bool side_by_side = !extents.empty() && layout.strides.back() == layout.bits && layout.grouped == SIZE_MAX;
  const std::int64_t length = side_by_side ? extents.back() : 1;
  for (std::int64_t i = 0; i < layout.type.elements(); i += length) {
    const std::int64_t bit = layout.bit_of(i);
    bits.emplace_back(bit, bit + length * layout.bits);
  }
  return runs_of(std::move(bits));
}

class PieceBuilder {
 public:
  PieceBuilder(const ChipNet& net, const PieceUse& use) : net_(net), graph_(*net.graph), use_(use) {
    made.phases.resize(static_cast<std::size_t>(use.rows ? use.rows->phases.size() : use.phases));
  }

  PieceBuffers made;
  Diags diags;

  void build(const ChipUnit& unit, const UnitPiece& piece) {
    unit_ = &unit;
    piece_ = &piece;
    if (!use_.rows) {
      compute(piece, use_.phase);
      return;
    }
    for (std::size_t k = 0; k < use_.rows->phases.size(); ++k) {
      const UnitPhase& phase = use_.rows->phases[k];
      made.like.push_back(k);
      if (phase.begin == phase.end) continue;
      if (use_.only_sizes) {
        const auto [first, is_new] = heights_.try_emplace({phase.end - phase.begin, phase.begin == 0}, k);
        made.like.back() = first->second;
        if (!is_new) continue;
      }
      const Result<UnitPiece> rows = rows_of(piece, phase.begin, phase.end);
      if (!rows) return diags.append(rows.diags());
      compute(*rows, static_cast<std::int32_t>(k));
    }
    for (std::size_t k = 0; k < use_.rows->phases.size(); ++k)
      for (const RowBatch& batch : use_.rows->phases[k].batches) bring(batch, static_cast<std::int32_t>(k));
  }

 private:
  using Key = std::pair<bool, std::size_t>;  // of the soma; cluster

  ChipPhase& phase(std::int32_t k) { return made.phases[static_cast<std::size_t>(k)]; }

  void compute(const UnitPiece& rows, std::int32_t k) {
    ChipPhase& now = phase(k);
    const bool is_pair = rows.axon && rows.soma;
    if (is_pair && use_.pipeline_rows > 0) tell_pipeline(rows, now);
    if (rows.axon) now.axon = call(false, *rows.axon, no_buffer, now.pipeline.has_value(), rows.soma.has_value());
    if (rows.soma) now.soma = call(true, *rows.soma, is_pair ? now.axon->result : no_buffer, false, false);
  }

  void tell_pipeline(const UnitPiece& rows, ChipPhase& now) const {
    const Extents& sums = rows.axon->out.size;
    if (sums.size() != 3) return;
    const BlockWindow window = window_of(rows.soma->block, BlockAxis::y);
    now.pipeline = {.first = std::min(sums[0], window.kernel), .axon = sums[0], .soma = rows.soma->out.size[0]};
  }

  // Rows of sums that are kept.
  std::int64_t kept_sums(std::int64_t rows) const {
    if (use_.pipeline_rows == 0) return rows;
    const BlockWindow window = window_of(piece_->soma->block, BlockAxis::y);
    return std::min(rows, std::max(use_.pipeline_rows, window.reach()));
  }

  ChipCall call(bool of_soma, const BlockPart& part, std::int32_t sum, bool is_pipelined, bool is_sum) {
    const NetWork& work = net_.works[of_soma ? unit_->soma : unit_->axon];
    const TaskBlock& block = graph_[work.block];
    const BlockPart& all = of_soma ? *piece_->soma : *piece_->axon;
    ChipCall call{.block = part.block, .whole = work.block, .out = part.out, .reads = part.in, .in = {}, .use = {}};
    for (std::size_t c = 0; c < work.in.size(); ++c) {
      const NetCluster& cluster = work.in[c];
      const bool is_from_axon = c == 0 && sum != no_buffer;
      std::int32_t buffer = no_buffer;
      if (is_from_axon)
        buffer = sum;
      else if (cluster.is_there())
        buffer = operand(of_soma, c, cluster, all.in[c]);
      call.in.push_back(buffer);
      if (buffer == no_buffer) continue;
      const Precision precision = made.buffers[static_cast<std::size_t>(buffer)].layout.type.precision;
      if (c == 0) call.use.in = precision;
      if (block.in_cluster(c).name == "weight") call.use.weight = precision;
    }
    call.result = result(of_soma, block, work.block, part, all, is_pipelined, is_sum);
    const std::int64_t bytes = block.def->memory ? block.def->memory(part.block) : 0;
    if (bytes > 0) {
      ChipBuffer memory{.use = BufferUse::memory,
                        .name = block.name + ".memory",
                        .block = work.block,
                        .layout = {.type = {Precision::u8, {bytes}}, .bits = 8, .strides = {8}, .bytes = bytes},
                        .data = {},
                        .early = {}};
      if (!use_.only_sizes) memory.data = first_memory(call, memory.layout.type);
      call.memory = keep(std::move(memory));
    }
    return call;
  }

  // What the block remembers before its first step: seeds and counters need not be 0.
  Array first_memory(const ChipCall& call, const ArrayType& type) const {
    std::vector<BlockOperand> operands(call.in.size());
    for (std::size_t c = 0; c < call.in.size(); ++c) {
      if (call.in[c] == no_buffer) continue;
      const Precision precision = made.buffers[static_cast<std::size_t>(call.in[c])].layout.type.precision;
      operands[c] = {
          .there = true, .type = {precision, call.reads[c].size}, .range = range_of(precision), .fixed = nullptr};
    }
    Array memory = Array::make(type);
    std::memset(memory.raw(), 0, memory.bytes());
    call.block.def->numerics->prepare(call.block, operands, BlockMode::chip)->save(memory.raw());
    return memory;
  }

  // Of a stream all phases write to the same place.
  std::int32_t result(bool of_soma, const TaskBlock& block, BlockId id, const BlockPart& part, const BlockPart& all,
                      bool is_pipelined, bool is_sum) {
    std::int32_t& known = results_.try_emplace(of_soma, no_buffer).first->second;
    const bool has_rows = part.out.size.size() == 3;
    std::int64_t rows = has_rows ? part.out.size[0] : 1;
    if (is_pipelined) rows = kept_sums(rows);
    if (known != no_buffer) {
      grow(made.buffers[static_cast<std::size_t>(known)], rows);
      return known;
    }
    TaskBlock kept = part.block;
    if (has_rows) kept.shape.y = rows;
    ChipBuffer buffer{.use = is_sum ? BufferUse::sum : BufferUse::result,
                      .name = block.name,
                      .block = id,
                      .layout = result_layout(kept),
                      .data = {},
                      .early = {}};
    buffer.box = all.out;
    if (has_rows && (is_pipelined || use_.rows)) buffer.kept_rows = rows;
    return known = use_.rows ? keep(std::move(buffer)) : add(std::move(buffer), use_.phase, use_.phase);
  }

  static void grow(ChipBuffer& buffer, std::int64_t rows) {
    if (rows <= buffer.kept_rows) return;
    buffer.layout.bytes = buffer.layout.bytes / buffer.kept_rows * rows;
    buffer.layout.type.extents[0] = buffer.kept_rows = rows;
    buffer.bytes = buffer.slot_bytes() * buffer.slots;
  }

  std::int32_t operand(bool of_soma, std::size_t position, const NetCluster& cluster, const Box& box) {
    const auto [known, is_new] = operands_.try_emplace({of_soma, position}, no_buffer);
    if (!is_new) return known->second;
    const TaskBlock& block = graph_[net_.works[of_soma ? unit_->soma : unit_->axon].block];
    const TaskBlock& holder = graph_[cluster.holder];
    ChipBuffer buffer{.name = block.name + "." + block.in_cluster_name(position),
                      .block = cluster.holder,
                      .layout = layout_of(*holder.def, {cluster.type.precision, box.size}),
                      .data = {},
                      .early = {}};
    buffer.box = box;
    if (cluster.is_state || cluster.is_data) {
      buffer.use = cluster.is_state ? BufferUse::state : BufferUse::fixed;
      if (!use_.only_sizes) buffer.data = constant_part(graph_, cluster, box);
      return known->second = keep(std::move(buffer));
    }
    if (!use_.rows) return known->second = input(std::move(buffer), cluster, box);
    buffer.use = BufferUse::input;
    buffer.kept_rows = use_.rows->kept_rows.at({of_soma, position});
    buffer.layout = rows_layout(cluster, box, buffer.kept_rows);
    std::int32_t delay = 0;
    for (const NetSource& source : cluster.sources) delay = std::max(delay, source.delay);
    if (delay > 0) buffer.step_rows = box.size[0];
    if (!use_.only_sizes) buffer.early = early_rows(cluster, box, delay);
    return known->second = keep(std::move(buffer));
  }

  ChipLayout rows_layout(const NetCluster& cluster, const Box& box, std::int64_t rows) const {
    Extents size = box.size;
    size[0] = rows;
    return by_rows(layout_of(*graph_[cluster.holder].def, {cluster.type.precision, size}));
  }

  // ---- streams ------------------------------------------------------------------------------------
  void bring(const RowBatch& batch, std::int32_t k) {
    const std::int32_t to = operands_.at({batch.input.of_soma, batch.input.cluster});
    const NetCluster& cluster = net_.works[batch.input.of_soma ? unit_->soma : unit_->axon].in[batch.input.cluster];
    const Box whole_box = made.buffers[static_cast<std::size_t>(to)].box;
    std::int32_t& from = receives_.try_emplace({batch.input, batch.sources[0]}, no_buffer).first->second;
    if (from == no_buffer) {
      ChipBuffer receive{.use = BufferUse::receive,
                         .name = made.buffers[static_cast<std::size_t>(to)].name,
                         .block = cluster.holder,
                         .layout = {},
                         .data = {},
                         .early = {}};
      receive.kept_rows = use_.rows->batch_rows.at({batch.input, batch.sources[0]});
      receive.layout = rows_layout(cluster, whole_box, receive.kept_rows);
      receive.box = whole_box;
      from = keep(std::move(receive));
    }
    Box box = whole_box;
    box.position[0] = std::max(batch.begin, whole_box.position[0]);
    box.size[0] = std::min(batch.end, whole_box.position[0] + whole_box.size[0]) - box.position[0];
    if (box.size[0] <= 0) return;
    if (use_.only_sizes) {
      phase(k).moves.push_back({.from = from, .to = to, .delay = batch.delay, .runs = {}, .box = {{}, {box.size[0]}}});
      return;
    }
    ChipMove move{.from = from, .to = to, .delay = batch.delay, .runs = {}, .box = box};
    PieceInput input{.cluster = &cluster,
                     .box = box,
                     .delay = batch.delay,
                     .buffer = from,
                     .phase = k,
                     .sources = batch.sources,
                     .source_begin = batch.source_begin,
                     .source_end = batch.source_end,
                     .tick = batch.tick};
    const ChipLayout layout = part_of(made.buffers[static_cast<std::size_t>(from)].layout, box.size);
    move.runs = cluster.is_array(graph_) ? runs_of_all(layout) : runs_of_batch(layout, cluster, batch, box);
    if (move.runs.empty()) return;  // other pieces read it
    made.inputs.push_back(std::move(input));
    phase(k).moves.push_back(std::move(move));
  }

  std::vector<ChipMove::Run> runs_of_batch(const ChipLayout& layout, const NetCluster& cluster, const RowBatch& batch,
                                           const Box& box) const {
    std::vector<std::int64_t> per_row(cluster.sources.size(), 0);  // of sources that bring something: elements of a row
    for (std::int32_t source : batch.sources) {
      const Extents from = value_type(graph_[cluster.sources[static_cast<std::size_t>(source)].block]).extents;
      per_row[static_cast<std::size_t>(source)] = from.size() == 3 ? from[1] * from[2] : INT32_MAX;
    }
    std::vector<std::pair<std::int64_t, std::int64_t>> bits;
    const std::vector<std::int32_t> places = places_in(cluster.type.extents, box);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const NetPlace place = cluster.places[static_cast<std::size_t>(places[i])];
      if (place.source < 0 || per_row[static_cast<std::size_t>(place.source)] == 0) continue;
      const std::int64_t row = place.place / per_row[static_cast<std::size_t>(place.source)];
      if (row < batch.source_begin || row >= batch.source_end) continue;
      const std::int64_t bit = layout.bit_of(static_cast<std::int64_t>(i));
      bits.emplace_back(bit, bit + layout.bits);
    }
    return runs_of(std::move(bits));
  }

  // ---- whole units --------------------------------------------------------------------------------
  struct Coming {
    bool has_rest = false;                                       // zeros, or what never changes
    std::map<std::int32_t, std::vector<std::int64_t>> by_delay;  // elements of the box; none: all of them
  };
  Coming coming(const NetCluster& cluster, const Box& box) const {
    Coming made;
    const std::vector<bool> are_constant = constants(graph_, cluster);
    const auto differs = [&](const NetSource& source) { return source.delay != cluster.sources[0].delay; };
    if (!cluster.has_holes && std::ranges::find(are_constant, true) == are_constant.end() &&
        std::ranges::none_of(cluster.sources, differs)) {
      made.by_delay[cluster.sources[0].delay];
      return made;
    }
    const std::vector<std::int32_t> places = places_in(cluster.type.extents, box);
    for (std::size_t i = 0; i < places.size(); ++i) {
      const NetPlace place = cluster.places[static_cast<std::size_t>(places[i])];
      if (place.source < 0 || are_constant[static_cast<std::size_t>(place.source)])
        made.has_rest = true;
      else
        made.by_delay[cluster.sources[static_cast<std::size_t>(place.source)].delay].push_back(
            static_cast<std::int64_t>(i));
    }
    return made;
  }

  std::int32_t input(ChipBuffer buffer, const NetCluster& cluster, const Box& box) {
    buffer.use = BufferUse::input;
    const Coming comes = coming(cluster, box);
    if (comes.has_rest && !use_.only_sizes) buffer.data = constant_part(graph_, cluster, box);
    const ChipLayout layout = buffer.layout;
    const std::string name = buffer.name;
    const BlockId holder = buffer.block;
    const std::int32_t before = (use_.phase + use_.phases - 1) % use_.phases;
    const std::int32_t to = comes.has_rest ? keep(std::move(buffer)) : add(std::move(buffer), before, use_.phase);
    for (const auto& [delay, elements] : comes.by_delay) {
      ChipBuffer receive{.use = BufferUse::receive,
                         .name = name,
                         .block = holder,
                         .layout = layout,
                         .slots = delay + 1,
                         .data = {},
                         .early = {}};
      if (!use_.only_sizes) receive.early = early(cluster, box, delay);
      receive.box = box;
      const std::int32_t from = keep(std::move(receive));
      made.inputs.push_back({.cluster = &cluster, .box = box, .delay = delay, .buffer = from, .phase = before});
      ChipMove move{.from = from, .to = to, .delay = delay, .runs = {}, .box = box};
      if (!use_.only_sizes) {
        std::vector<std::pair<std::int64_t, std::int64_t>> bits;
        for (std::int64_t element : elements) {
          const std::int64_t bit = layout.bit_of(element);
          bits.emplace_back(bit, bit + layout.bits);
        }
        move.runs = elements.empty() ? runs_of_all(layout) : runs_of(std::move(bits));
      }
      phase(before).moves.push_back(std::move(move));
    }
    return to;
  }

  // What the rows of the first steps hold, as far as nothing comes for them.
  std::vector<Array> early_rows(const NetCluster& cluster, const Box& box, std::int32_t steps) const {
    std::vector<Array> made;
    const std::vector<std::int32_t> places =
        steps > 0 ? places_in(cluster.type.extents, box) : std::vector<std::int32_t>();
    for (std::int32_t step = 0; step < steps; ++step) {
      Array values = Array::make({cluster.type.precision, box.size});
      for (std::size_t i = 0; i < places.size(); ++i) {
        const NetPlace place = cluster.places[static_cast<std::size_t>(places[i])];
        if (place.source < 0) continue;
        const NetSource& source = cluster.sources[static_cast<std::size_t>(place.source)];
        if (source.delay > step && source.initial)
          values.set_integer(static_cast<std::int64_t>(i), source.initial->integer(place.place));
      }
      made.push_back(std::move(values));
    }
    return made;
  }

  // What a delayed cluster holds before the first values come.
  std::vector<Array> early(const NetCluster& cluster, const Box& box, std::int32_t delay) const {
    std::vector<Array> slots;
    if (delay == 0) return slots;
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

  std::int32_t add(ChipBuffer buffer, std::int32_t first, std::int32_t last) {
    buffer.first_phase = first;
    buffer.last_phase = last;
    buffer.bytes = buffer.slot_bytes() * buffer.slots;
    made.buffers.push_back(std::move(buffer));
    return static_cast<std::int32_t>(made.buffers.size() - 1);
  }
  std::int32_t keep(ChipBuffer buffer) {
    buffer.is_persistent = true;
    return add(std::move(buffer), 0, static_cast<std::int32_t>(made.phases.size()) - 1);
  }

  const ChipNet& net_;
  const BlockGraph& graph_;
  const PieceUse& use_;
  const ChipUnit* unit_ = nullptr;
  const UnitPiece* piece_ = nullptr;
  std::map<std::pair<std::int64_t, bool>, std::size_t> heights_;         // of slabs: phase
  std::map<bool, std::int32_t> results_;                                 // of the soma
  std::map<Key, std::int32_t> operands_;                                 // by cluster
  std::map<std::pair<UnitInput, std::int32_t>, std::int32_t> receives_;  // by source
};

}  // namespace

Result<PieceBuffers> buffers_of(const ChipNet& net, const ChipUnit& unit, const UnitPiece& piece, const PieceUse& use) {
  PieceBuilder builder(net, use);
  builder.build(unit, piece);
  if (builder.diags.has_errors()) return builder.diags;
  return std::move(builder.made);
}

}  // namespace taskspec
