#include "hwsim/map/rows.hpp"

#include <algorithm>
#include <set>

#include "hwsim/map/row_phases.hpp"

namespace taskspec {

std::int64_t rows_of_values(const TaskBlock& block) {
  const Extents extents = value_type(block).extents;
  return extents.size() == 3 ? extents[0] : 1;
}

namespace {

const TaskBlock& block_at(const ChipNet& net, std::size_t work) { return (*net.graph)[net.works[work].block]; }

BlockWindow rows_window(const TaskBlock& block, std::size_t cluster) {
  if (block.in_cluster(cluster).windowed) return window_of(block, BlockAxis::y);
  return {.in = block.shape.y, .out = block.shape.y};
}

// Which rows of a cluster come from which rows of one of its sources.
struct SourceRows {
  bool is_same = false;  // row y from row y
  std::vector<std::int64_t>
      ready;  // by row of the cluster: rows of the source that must be there for it and all before
  std::vector<std::int64_t> low, high;  // by row of the source: where its values go; low > high: nowhere

  std::int64_t rows_with(std::int64_t source_rows, std::int64_t rows) const {
    if (is_same) return std::min(source_rows, rows);
    return std::ranges::upper_bound(ready, source_rows) - ready.begin();
  }
};

// By source.
std::vector<SourceRows> source_rows(const BlockGraph& graph, const NetCluster& cluster) {
  std::vector<SourceRows> made(cluster.sources.size());
  const Extents& extents = cluster.type.extents;
  if (cluster.is_array(graph) && extents.size() == 3) {
    made[0].is_same = true;
    return made;
  }
  const std::int64_t rows = extents.size() == 3 ? extents[0] : 1, per_row = cluster.type.elements() / rows;
  std::vector<std::int64_t> per_source_row;
  for (std::size_t s = 0; s < made.size(); ++s) {
    const TaskBlock& source = graph[cluster.sources[s].block];
    const std::int64_t there = rows_of_values(source);
    per_source_row.push_back(value_type(source).elements() / there);
    made[s].ready.assign(static_cast<std::size_t>(rows), 0);
    made[s].low.assign(static_cast<std::size_t>(there), rows);
    made[s].high.assign(static_cast<std::size_t>(there), -1);
  }
  for (std::size_t i = 0; i < cluster.places.size(); ++i) {
    const NetPlace place = cluster.places[i];
    if (place.source < 0) continue;
    SourceRows& source = made[static_cast<std::size_t>(place.source)];
    const auto row = static_cast<std::int64_t>(i) / per_row;
    const std::int64_t from = place.place / per_source_row[static_cast<std::size_t>(place.source)];
    std::int64_t& ready = source.ready[static_cast<std::size_t>(row)];
    ready = std::max(ready, from + 1);
    std::int64_t &low = source.low[static_cast<std::size_t>(from)], &high = source.high[static_cast<std::size_t>(from)];
    low = std::min(low, row);
    high = std::max(high, row);
  }
  for (SourceRows& source : made)
    for (std::size_t r = 1; r < source.ready.size(); ++r)
      source.ready[r] = std::max(source.ready[r], source.ready[r - 1]);
  return made;
}

class RowScheduler {
 public:
  RowScheduler(const ChipNet& net, const ChipPlan& plan) : net_(net), plan_(plan), graph_(*net.graph) {
    made_.units.resize(plan.units.size());
    sent_.resize(graph_.blocks.size());
    for (BlockId id : net.inputs) sent_[id.index()].is_host = true;
    for (const UnitPlan& unit : plan.units) sent_[net.works[unit.unit.last()].block.index()].is_planned = true;
    for (const UnitPlan& unit : plan.units) prepare(unit);
  }

  RowSchedule schedule() {
    auto is_open = [](const State& state) { return !state.is_done; };
    for (std::int64_t tick = 0; tick < plan_.slabs || std::ranges::any_of(states_, is_open); ++tick) {
      bool goes_on = tick <= plan_.slabs;
      now_ = tick;
      send_from_host();
      for (std::size_t u = 0; u < states_.size(); ++u) goes_on |= compute(u);
      for (std::size_t u = 0; u < states_.size(); ++u) receive(u);
      if (!goes_on) bug("rows of a plan wait for one another");
    }
    std::vector<UnitTicks> units;
    for (std::size_t u = 0; u < states_.size(); ++u) {
      join_sources(made_.units[u], states_[u].ticks);
      units.push_back({.ticks = std::move(states_[u].ticks), .computed = std::max<std::int64_t>(0, states_[u].ended)});
    }
    tell_row_phases(plan_, std::move(units), made_);
    return std::move(made_);
  }

 private:
  // Rows of a block that were sent, and those of this tick.
  struct Sent {
    bool is_host = false, is_planned = false;
    std::int64_t rows = 0, before = 0, tick = -1;
  };
  struct Input {
    UnitInput name;
    const NetCluster* cluster = nullptr;
    std::int64_t rows = 0;
    BlockWindow window;
    std::vector<SourceRows> sources;
    std::vector<std::int64_t> moved;    // by source: its rows that are in the ring
    std::vector<std::int64_t> highest;  // by source: row behind those that something came for
    // Behind the last row of the ring, counted from the first one of this step on.
    std::int64_t top() const {
      std::int64_t most = 0;
      for (std::size_t s = 0; s < highest.size(); ++s)
        most = std::max(most, cluster->sources[s].delay * rows + highest[s]);
      return most;
    }
  };
  struct State {
    std::int64_t rows = 1, sums = 0, done = 0;
    std::optional<BlockWindow> soma;  // behind an axon
    std::vector<Input> inputs;        // of streams
    std::set<std::size_t> reads;      // blocks that a whole unit waits for
    std::vector<UnitTick> ticks;
    std::int64_t ended = -1;  // tick
    bool is_done = false;
  };

  bool is_stream(std::int32_t u) const { return plan_.units[static_cast<std::size_t>(u)].form == UnitForm::stream; }

  void prepare(const UnitPlan& plan) {
    State state;
    const bool is_stream = plan.form == UnitForm::stream;
    const TaskBlock& last = block_at(net_, plan.unit.last());
    state.rows = rows_of_values(last);
    if (plan.unit.axon != no_work && plan.unit.soma != no_work) {
      state.soma = window_of(last, BlockAxis::y);
      state.sums = rows_of_values(block_at(net_, plan.unit.axon));
    }
    for (const bool of_soma : {false, true}) {
      const std::size_t work = of_soma ? plan.unit.soma : plan.unit.axon;
      if (work == no_work) continue;
      for (std::size_t c = 0; c < net_.works[work].in.size(); ++c) {
        const NetCluster& cluster = net_.works[work].in[c];
        const bool is_sum = of_soma && state.soma && c == 0;
        if (!cluster.is_there() || is_sum) continue;
        for (const NetSource& source : cluster.sources)
          if (source.delay == 0 && (sent_[source.block.index()].is_host || sent_[source.block.index()].is_planned))
            state.reads.insert(source.block.index());
        if (!is_stream || cluster.is_state || cluster.is_data) continue;
        const TaskBlock& block = block_at(net_, work);
        Input input{.name = {of_soma, c},
                    .cluster = &cluster,
                    .rows = cluster.type.extents[0],
                    .window = rows_window(block, c),
                    .sources = {},
                    .moved = {},
                    .highest = {}};
        input.sources = source_rows(graph_, cluster);
        input.moved.resize(cluster.sources.size());
        input.highest.resize(cluster.sources.size());
        for (const NetSource& source : cluster.sources)
          if (source.delay > 0) made_.units[states_.size()].kept_rows[input.name] = input.top();
        state.inputs.push_back(std::move(input));
      }
    }
    states_.push_back(std::move(state));
  }

  void send_from_host() {
    if (now_ >= plan_.slabs) return;
    for (BlockId id : net_.inputs) {
      const std::int64_t rows = rows_of_values(graph_[id]);
      send(id, (now_ + 1) * rows / plan_.slabs);
    }
  }

  void send(BlockId id, std::int64_t rows) {
    Sent& sent = sent_[id.index()];
    sent.before = sent.rows;
    sent.rows = rows;
    sent.tick = now_;
  }

  // Rows of the input that must be there for the first `rows` of the output; and the first one that others need.
  std::int64_t needed(const State& state, const Input& input, std::int64_t rows) const {
    if (rows == 0) return 0;
    if (!input.name.of_soma && state.soma) rows = sums_of_rows(*state.soma, 0, rows, state.sums).end;
    return rows == 0 ? 0 : sums_of_rows(input.window, 0, rows, input.rows).end;
  }
  std::int64_t first_needed(const State& state, const Input& input) const {
    if (state.done == state.rows) return input.rows;
    std::int64_t row = state.done;
    if (!input.name.of_soma && state.soma) row = sums_of_rows(*state.soma, row, state.rows, state.sums).begin;
    return sums_of_rows(input.window, row, input.window.out, input.rows).begin;
  }

  std::int64_t rows_possible(const State& state) const {
    std::int64_t possible = state.rows;
    for (const Input& input : state.inputs) {
      std::int64_t there = input.rows;
      for (std::size_t s = 0; s < input.sources.size(); ++s)
        if (input.cluster->sources[s].delay == 0)  // else it came in a step before
          there = std::min(there, input.sources[s].rows_with(input.moved[s], input.rows));
      while (possible > state.done && needed(state, input, possible) > there) --possible;
    }
    return possible;
  }

  bool compute(std::size_t u) {
    State& state = states_[u];
    if (state.is_done) return false;
    const auto number = static_cast<std::int32_t>(u);
    const UnitPlan& plan = plan_.units[u];
    std::int64_t to = state.rows;
    if (is_stream(number)) {
      to = rows_possible(state);
      // No more than the net makes in each tick: what is left over at the end of a plane does not pile up.
      const std::int64_t most = plan.slab_rows > 0 ? plan.slab_rows : (state.rows + plan_.slabs - 1) / plan_.slabs;
      to = std::min(to, state.done + most);
      if (to == state.done) return false;
      state.ticks.push_back({.tick = now_, .begin = state.done, .end = to, .batches = {}});
    } else {
      for (std::size_t block : state.reads) {
        const Sent& sent = sent_[block];
        if (sent.is_host ? now_ == 0
                         : sent.tick < 0 || sent.tick == now_ || sent.rows < rows_of_values(graph_.blocks[block]))
          return false;
      }
      for (std::size_t other = 0; other < states_.size(); ++other)
        if (plan_.units[other].group == plan.group && plan_.units[other].phase < plan.phase &&
            !is_stream(static_cast<std::int32_t>(other)) && (!states_[other].is_done || states_[other].ended == now_))
          return false;
    }
    state.done = to;
    state.is_done = to == state.rows;
    state.ended = now_;
    send(net_.works[plan.unit.last()].block, to);
    return true;
  }

  void receive(std::size_t u) {
    State& state = states_[u];
    std::vector<RowBatch> batches;
    for (Input& input : state.inputs)
      for (std::size_t s = 0; s < input.sources.size(); ++s) {
        const NetSource& from = input.cluster->sources[s];
        const Sent& sent = sent_[from.block.index()];
        if (sent.tick != now_ || sent.rows == sent.before) continue;
        RowBatch batch{.input = input.name,
                       .sources = {static_cast<std::int32_t>(s)},
                       .begin = sent.before,
                       .end = sent.rows,
                       .source_begin = sent.before,
                       .source_end = sent.rows,
                       .tick = static_cast<std::int32_t>(now_),
                       .delay = from.delay};
        const SourceRows& rows = input.sources[s];
        if (!rows.is_same) {
          batch.begin = input.rows;
          batch.end = 0;
          for (std::int64_t row = sent.before; row < sent.rows; ++row) {
            batch.begin = std::min(batch.begin, rows.low[static_cast<std::size_t>(row)]);
            batch.end = std::max(batch.end, rows.high[static_cast<std::size_t>(row)] + 1);
          }
        }
        input.moved[s] = sent.rows;
        if (batch.begin >= batch.end) continue;  // nobody reads these rows
        input.highest[s] = std::max(input.highest[s], batch.end);
        std::int64_t& kept = made_.units[u].kept_rows[input.name];
        const std::int64_t low = std::min(from.delay * input.rows + batch.begin, first_needed(state, input));
        kept = std::max(kept, input.top() - low);
        batches.push_back(batch);
      }
    if (batches.empty()) return;
    if (state.ticks.empty() || state.ticks.back().tick != now_) state.ticks.push_back({.tick = now_, .batches = {}});
    state.ticks.back().batches = std::move(batches);
  }

  // Sources of a cluster that come in the same ticks with the same rows share batches.
  static void join_sources(UnitRows& rows, std::vector<UnitTick>& ticks) {
    std::map<std::pair<UnitInput, std::int32_t>, std::vector<const RowBatch*>> by_source;
    for (const UnitTick& tick : ticks)
      for (const RowBatch& batch : tick.batches) by_source[{batch.input, batch.sources[0]}].push_back(&batch);
    std::map<std::pair<UnitInput, std::int32_t>, std::int32_t> first;  // of those that come together
    for (const auto& [key, batches] : by_source) {
      first[key] = key.second;
      for (const auto& [other, others] : by_source) {
        if (other.first != key.first || other.second >= key.second || others.size() != batches.size()) continue;
        if (!std::ranges::equal(batches, others,
                                [](const RowBatch* a, const RowBatch* b) { return a->comes_with(*b); }))
          continue;
        first[key] = other.second;
        break;
      }
    }
    for (UnitTick& tick : ticks) {
      std::vector<RowBatch> joined;
      for (RowBatch& batch : tick.batches) {
        const std::int32_t with = first.at({batch.input, batch.sources[0]});
        const auto found = std::ranges::find_if(
            joined, [&](const RowBatch& b) { return b.input == batch.input && b.sources[0] == with; });
        if (found != joined.end())
          found->sources.push_back(batch.sources[0]);
        else
          joined.push_back(std::move(batch));
      }
      tick.batches = std::move(joined);
      for (const RowBatch& batch : tick.batches) {
        std::int64_t& most = rows.batch_rows[{batch.input, batch.sources[0]}];
        most = std::max(most, batch.end - batch.begin);
      }
    }
  }

  const ChipNet& net_;
  const ChipPlan& plan_;
  const BlockGraph& graph_;
  RowSchedule made_;
  std::vector<State> states_;  // by unit
  std::vector<Sent> sent_;     // by block
  std::int64_t now_ = 0;
};

}  // namespace

RowSchedule row_schedule(const ChipNet& net, const ChipPlan& plan) { return RowScheduler(net, plan).schedule(); }

}  // namespace taskspec
