#include "interp/hw/hw_backend.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <map>

#include "interp/control/run_picture.hpp"
#include "interp/exact/tensor_blocks_op.hpp"
#include "interp/hw/chip_kinds.hpp"
#include "interp/hw/hw_report.hpp"
#include "interp/hw/neurons/neuron_reading.hpp"
#include "interp/hw/parts_run.hpp"
#include "ir/base/text.hpp"
#include "ir/blocks/value.hpp"
#include "ir/lowering/evaluate.hpp"
#include "ir/lowering/graph_list.hpp"

namespace taskspec {

namespace {

// What a batch became, for the contents of weights that it was seen with.
struct HwReady final : Executable {
  std::shared_ptr<const TaskGraph> graph;
  OpList list;  // with an input for each pick behind those of the graph
  std::vector<StepPick> picks;
  std::vector<bool> is_left;  // by input: nobody reads it
  ListStates states;
  std::optional<NeuronGraph> neurons;  // the graph is one of neurons of the prelude
  const BlockTable* blocks = nullptr;
  std::vector<bool> is_slot;      // inputs whose contents are there before any step: weights, tables, states
  std::vector<bool> is_constant;  // of the calls themselves: resident, too
  std::vector<bool> varies;       // of these, what was another one again and again
  std::vector<std::shared_ptr<ChipRun>> programs;
  std::size_t chains = 0;
};

bool same_contents(const Array& a, const Array& b) {
  return a.type() == b.type() && (a.raw() == b.raw() || std::memcmp(a.raw(), b.raw(), a.bytes()) == 0);
}

std::string words_of(const Diag& diag) {
  std::string text = diag.message;
  for (const std::string& note : diag.notes) text += "; " + note;
  if (!diag.help_text.empty()) text += "; " + diag.help_text;
  return text;
}

class HwBackend final : public Backend, public PicturedBackend {
 public:
  explicit HwBackend(const HwOptions& options) : options_(options) {}
  std::string name() const override { return "hw"; }

  // ---- memory -------------------------------------------------------------------------------------
  Location allocate(const ArrayType& type) override { return add(Array::make(type)); }
  void write(Location location, const Array& array) override {
    Entry& entry = at(location);
    entry.home.reset();
    entry.array = Array::make(array.type());
    std::memcpy(entry.array.raw(), array.raw(), array.bytes());
  }
  Array read(Location location) const override {
    const Entry& entry = at(location);
    if (!entry.home) return entry.array;
    const Array state = entry.home->state(entry.state);  // it may lie in planes, in the same order
    return state.type() == entry.array.type() ? state : Array::wrap(entry.array.type(), state.storage());
  }
  Location copy(Location location) override {
    const Array array = read(location);
    Array made = Array::make(array.type());
    std::memcpy(made.raw(), array.raw(), array.bytes());
    return add(std::move(made));
  }
  void free(Location location) override {
    Entry& entry = at(location);
    if (!entry.home) memory_.live_bytes -= entry.array.bytes();
    ++memory_.frees;
    entry = {};
    entry.is_free = true;
  }
  Memory memory() const override { return memory_; }
  double hz() const override { return static_cast<double>(options_.chip->hz); }
  void interrupt() override { interrupted_ = true; }
  bool keeps_steps_whole() const override { return true; }

  // ---- running ------------------------------------------------------------------------------------
  Prepared prepare(std::shared_ptr<const TaskGraph> graph, const Chains& chains, const PrepareOptions& options,
                   Bodies& bodies) override {
    auto ready = std::make_shared<HwReady>();
    ready->is_slot.assign(graph->inputs().size(), false);
    for (std::size_t k = 0; k < graph->inputs().size(); ++k)
      ready->is_slot[k] = graph->inputs()[k].privilege != Privilege::in;
    Versions before;
    auto list_of = [&](NodeId node) {
      Result<OpList> list = bodies.list(*graph, node);
      if (list) note_slots(*graph, node, *list, ready->is_slot);
      if (list) note_versions(*graph, node, *list, before);
      return list;
    };
    Result<OpList> list = graph_list(*graph, list_of);
    if (!list) return refusal(*graph, list.diags());
    PickedList picked = with_picks(*std::move(list));
    ready->list = std::move(picked.list), ready->picks = std::move(picked.picks);
    ready->is_left = std::move(picked.is_left);
    ready->is_slot.resize(ready->list.inputs.size());
    ready->is_constant.assign(options.constants.begin(), options.constants.end());
    ready->is_constant.resize(ready->list.inputs.size());
    ready->varies.resize(ready->list.inputs.size());
    ready->states = states_of(*graph, ready->list, before);
    ready->neurons = NeuronGraph::find(graph, ready->picks, [&](NodeId node) { return bodies.list(*graph, node); });
    ready->blocks = bodies.blocks();
    if (!ready->blocks || ready->blocks->all().empty()) bug("the chip needs the records of blocks");
    ready->chains = chains.size();
    ready->graph = std::move(graph);
    return ready;
  }

  Outcome execute(Executable& executable, std::span<const Location> inputs, const RunOptions& options) override {
    auto& ready = dynamic_cast<HwReady&>(executable);
    Outcome outcome;
    const Memory before = memory_;
    const std::int64_t begin = now();
    try {
      if (interrupted_.exchange(false)) throw failure("E5009", {}, "interrupted");
      const std::shared_ptr<ChipRun> program = program_for(ready, inputs);
      bring_states(*program, inputs);
      run(ready, program, inputs, outcome);
      outcome.tasks_run = ready.graph->size();
      outcome.dispatches = ready.chains;
    } catch (const Error& error) {
      const Diag& first = error.diags().items().front();
      for (const GraphResult& result : ready.graph->results()) {
        outcome.results.emplace_back(Poison{result.ref.node(), {first.code, words_of(first)}});
        outcome.failed.push_back({result.ref.node(), {first.code, words_of(first)}});
      }
    }
    if (options.record)
      for (std::size_t c = 0; c < ready.chains; ++c)
        outcome.records.push_back({ChainId(c), 0, begin, std::max(begin, now())});
    outcome.allocations = memory_.allocations - before.allocations;
    outcome.frees = memory_.frees - before.frees;
    outcome.peak_bytes = memory_.peak_bytes;
    return outcome;
  }

  std::vector<Value> report() const override { return hw_report_values(programs_, *options_.chip); }
  std::string report_text() const override { return hw_report_text(programs_, *options_.chip); }
  void keep_pictures() override { options_.keeps_pictures = true; }
  RunPictures pictures() const override { return hw_pictures(programs_); }

 private:
  struct Entry {
    Array array;
    std::shared_ptr<ChipRun> home;  // contents are the state of that number in it
    std::size_t state = 0;
    bool is_free = false;
  };

  Location add(Array array) {
    memory_.live_bytes += array.bytes();
    memory_.peak_bytes = std::max(memory_.peak_bytes, memory_.live_bytes);
    ++memory_.allocations;
    entries_.push_back({.array = std::move(array), .home = nullptr});
    return Location(entries_.size() - 1);
  }
  Entry& at(Location location) { return const_cast<Entry&>(std::as_const(*this).at(location)); }
  const Entry& at(Location location) const {
    if (!location.valid() || location.index() >= entries_.size() || entries_[location.index()].is_free)
      bug("a location that is not there");
    return entries_[location.index()];
  }

  std::int64_t now() const {
    std::int64_t cycles = 0;
    for (const std::shared_ptr<ChipRun>& program : programs_) cycles += program->cycles();
    return cycles;
  }

  static void note_slots(const TaskGraph& graph, NodeId node, const OpList& list, std::vector<bool>& is_slot) {
    const std::span<const Ref> in = graph.in(node);
    for (std::size_t i = 0; i < list.inputs.size() && i < in.size(); ++i)
      if ((list.inputs[i].slot || list.inputs[i].privilege != Privilege::in) && in[i].kind == Ref::Kind::input)
        is_slot[in[i].id] = true;
  }

  // Of what tasks make of places: what was there before.
  using Versions = std::map<std::pair<std::uint32_t, std::size_t>, Ref>;
  static void note_versions(const TaskGraph& graph, NodeId node, const OpList& list, Versions& before) {
    const std::span<const Ref> in = graph.in(node);
    for (std::size_t slot = 0; slot < list.outputs.size(); ++slot)
      for (std::size_t i = 0; list.outputs[slot].version && i < list.inputs.size() && i < in.size(); ++i)
        if (list.inputs[i].name == list.outputs[slot].name) before[{node.value, slot}] = in[i];
  }
  static ListStates states_of(const TaskGraph& graph, const OpList& list, const Versions& before) {
    ListStates states;
    for (std::size_t r = 0; r < graph.results().size(); ++r) {
      Ref ref = graph.results()[r].ref;
      bool is_version = false;
      while (ref.kind == Ref::Kind::future) {
        const auto found = before.find({ref.id, ref.slot});
        if (found == before.end()) break;
        ref = found->second;
        is_version = true;
      }
      if (is_version && ref.kind == Ref::Kind::input) states.emplace_back(ValueId(ref.id), list.outputs[r].value);
    }
    return states;
  }

  static NodeId node_at(const TaskGraph& graph, Span span) {
    for (std::size_t k = 0; k < graph.size(); ++k)
      if (span.valid() && graph[NodeId(k)].span == span) return NodeId(k);
    return NodeId(graph.size() - 1);
  }

  static std::vector<Poison> refusal(const TaskGraph& graph, const Diags& diags) {
    std::vector<Poison> refused;
    for (const Diag& diag : diags.items())
      if (diag.severity == Severity::error)
        refused.push_back({node_at(graph, diag.primary.span), {diag.code, words_of(diag)}});
    return refused;
  }

  std::vector<std::optional<Array>> contents(const HwReady& ready, std::span<const Location> inputs,
                                             const std::vector<bool>& is_known) const {
    std::vector<std::optional<Array>> known(ready.list.inputs.size());
    for (std::size_t k = 0; k < known.size(); ++k)
      if (is_known[k] || ready.is_left[k]) known[k] = input(ready, inputs, k);
    return known;
  }

  // Of the list: one of the graph, or what the host picks for the step.
  Array input(const HwReady& ready, std::span<const Location> inputs, std::size_t k) const {
    if (k < inputs.size()) return read(inputs[k]);
    const StepPick& pick = ready.picks[k - inputs.size()];
    return evaluate(pick.call, std::vector{read(inputs[pick.data]), read(inputs[pick.number])})[0];
  }

  static bool lacks_blocks(const Diag& diag) { return diag.code == Code("E4011") || diag.code == Code("E4012"); }

  // What became blocks before, with ops behind them that none could be made of, was told that the host runs those.
  bool leaves_to_host(const OpList& list) const {
    return options_.partial || std::ranges::find(list.lines, &op_tensor_blocks, &OpList::Line::op) != list.lines.end();
  }

  using MadeRun = Result<std::unique_ptr<ChipRun>>;
  MadeRun made_run(const HwReady& ready, std::vector<std::optional<Array>> known) const {
    ChipGraph source{{}, {}, ready.blocks};
    if (ready.neurons) {
      Result<RealBorders> real = ready.neurons->read(known);
      if (!real) return real.diags();
      source.lowered = borders_of(ready.list, *real);
      source.real = *std::move(real);
    } else {
      LowerOptions how{.blocks = *ready.blocks, .known = known, .gives_known = true, .leaves_last = false};
      if (ready.list.name.empty()) how.name = title_of(*ready.graph);
      Result<LoweredGraph> lowered = lower(ready.list, how);
      if (!lowered && leaves_to_host(ready.list) && std::ranges::all_of(lowered.diags().items(), lacks_blocks)) {
        MadeRun parts = PartsRun::make(ready.list, ready.states, how, [&](LoweredGraph part) {
          return kind_.make({std::move(part), {}, ready.blocks}, options_);
        });
        if (!parts) return parts;
        for (const auto& state : ready.states)  // that come and go as tensors
          if (!(*parts)->is_state(state.first.index())) known[state.first.index()].reset();
        (*parts)->set_known(std::move(known));
        return parts;
      }
      if (!lowered) return lowered.diags();
      source.lowered = *std::move(lowered);
    }
    MadeRun made = kind_.make(std::move(source), options_);
    if (!made) return made;
    (*made)->set_known(std::move(known));
    if (const std::string lost = lost_at_end((*made)->lowered()); !lost.empty())
      (*made)->note(fmt::format("what {} hold when a run ends is not kept: another run begins with nothing of it; "
                                "time_steps: T makes one run of several",
                                lost));
    return made;
  }

  // What stays in a chip, and no program can read: in words; empty: nothing.
  static std::string lost_at_end(const LoweredGraph& lowered) {
    if (std::ranges::all_of(lowered.states, [](const LoweredState& s) { return s.storage.valid(); })) return "";
    const BlockMemory memory = memory_of(lowered.graph);
    std::vector<std::string> lost;
    if (memory.bytes == 0 || !memory.delays.empty()) lost.emplace_back("delayed edges");
    if (!memory.blocks.empty()) lost.emplace_back("neurons (rests, thresholds, windows, random numbers)");
    if (!memory.held.empty()) lost.emplace_back("blocks that do not run in each step");
    return joined(lost, " and ");
  }

  // The outermost call that the batch belongs to.
  static std::string title_of(const TaskGraph& graph) {
    if (graph.size() == 0) return "";
    const std::string path = graph.path(NodeId(graph.size() - 1));
    return path.find('/') == std::string::npos ? "graph" : path.substr(0, path.find('#'));
  }

  static bool has_no_blocks(const MadeRun& made) {
    // Or the mapping is of a net in which more is known, or crossbars want weights that are.
    const auto is_it = [](const Diag& diag) {
      for (const Code code : {Code("E4011"), Code("E4041"), Code("E4050"), Code("E4051"), Code("E7003")})
        if (diag.code == code) return true;
      return false;
    };
    return !made && std::ranges::any_of(made.diags().items(), is_it);
  }

  // How far it is from running all of the graph on the chip: ops on the host, else refusals, the worst of them those of
  // ops that no blocks could be made of: what a chip says of blocks says more.
  static std::size_t distance(const MadeRun& made) {
    constexpr std::size_t refused = 1'000'000, no_blocks = 1'000;
    if (made) return (*made)->host_ops().size();
    if (!has_no_blocks(made)) return refused;
    const auto all = made.diags().items();
    const auto ops = std::ranges::count_if(all, [](const Diag& diag) { return diag.code == Code("E4011"); });
    return refused + no_blocks * static_cast<std::size_t>(ops) + all.size();
  }

  // What a mapping of the graph by itself knows: all but its arguments.
  static std::vector<bool> known_by_itself(const HwReady& ready, const std::vector<bool>& but = {}) {
    std::vector<bool> is_known = ready.is_slot;
    for (std::size_t k = 0; k < is_known.size(); ++k)
      is_known[k] = is_known[k] || (ready.is_constant[k] && (but.empty() || !but[k]));
    return leaves_something(ready, is_known) ? is_known : ready.is_slot;
  }

  // With those inputs that ops of several tensors read as their first operand (0), or behind it (1).
  static std::vector<bool> known_operands(const HwReady& ready, std::vector<bool> is_known, std::size_t which) {
    for (const OpList::Line& line : ready.list.lines)
      for (std::size_t i = 0; i < line.in.size() && line.in.size() > 1; ++i)
        if (std::min<std::size_t>(i, 1) == which && line.in[i].index() < is_known.size())
          is_known[line.in[i].index()] = true;
    return is_known;
  }

  // With those inputs that meet, in an op of several tensors, what follows from an input that changes. Where inputs
  // meet alone, the `last` of them changes, or the first.
  static std::vector<bool> known_beside(const HwReady& ready, const std::vector<bool>& first, bool last) {
    enum class Kind : std::uint8_t { open, known, changes };
    std::vector<Kind> inputs(first.size(), Kind::open);
    for (std::size_t k = 0; k < inputs.size(); ++k)
      if (first[k]) inputs[k] = Kind::known;
    std::map<std::size_t, std::vector<std::size_t>> roots;  // by value: the inputs that it is made of
    auto roots_of = [&](ValueId value) {
      if (value.index() < inputs.size()) return std::vector{value.index()};
      const auto made = roots.find(value.index());
      return made == roots.end() ? std::vector<std::size_t>() : made->second;
    };
    auto is_any = [&](ValueId value, Kind kind) {
      return std::ranges::any_of(roots_of(value), [&](std::size_t root) { return inputs[root] == kind; });
    };
    auto settle = [&](ValueId value, Kind kind) {
      for (const std::size_t root : roots_of(value))
        if (inputs[root] == Kind::open) inputs[root] = kind;
    };
    for (const OpList::Line& line : ready.list.lines) {
      if (line.in.size() > 1) {
        if (std::ranges::none_of(line.in, [&](ValueId in) { return is_any(in, Kind::changes); })) {
          std::vector<ValueId> in(line.in.begin(), line.in.end());
          if (last) std::ranges::reverse(in);
          const auto one = std::ranges::find_if(in, [&](ValueId value) { return is_any(value, Kind::open); });
          if (one != in.end()) settle(*one, Kind::changes);
        }
        for (const ValueId in : line.in) settle(in, Kind::known);
      }
      std::vector<std::size_t> all;
      for (const ValueId in : line.in)
        for (const std::size_t root : roots_of(in))
          if (std::ranges::find(all, root) == all.end()) all.push_back(root);
      for (const ValueId out : line.out) roots[out.index()] = all;
    }
    std::vector<bool> is_known;
    for (const Kind kind : inputs) is_known.push_back(kind == Kind::known);
    return is_known;
  }

  // Where all that comes in is known, the host would compute the whole graph and the chip nothing.
  static bool leaves_something(const HwReady& ready, const std::vector<bool>& is_known) {
    bool has_inputs = false;
    for (std::size_t k = 0; k < is_known.size(); ++k) {
      if (ready.is_slot[k] || ready.is_left[k]) continue;
      if (!is_known[k]) return true;
      has_inputs = true;
    }
    return !has_inputs;
  }

  // A constant that is another one again and again, such as the number of a turn, is an argument like all others, if it
  // can be: a program for each of its contents would be mapped each time.
  void note_changes(HwReady& ready, std::span<const Location> inputs) const {
    constexpr std::size_t most_programs = 4;
    if (ready.programs.size() < most_programs) return;
    for (std::size_t k = 0; k < ready.varies.size(); ++k)
      if (ready.is_constant[k] && !ready.varies[k])
        ready.varies[k] = std::ranges::any_of(ready.programs, [&](const std::shared_ptr<ChipRun>& program) {
          const std::optional<Array>& known = program->known()[k];
          return known && !same_contents(*known, input(ready, inputs, k));
        });
  }

  std::shared_ptr<ChipRun> program_for(HwReady& ready, std::span<const Location> inputs) {
    for (const std::shared_ptr<ChipRun>& program : ready.programs) {
      bool fits = true;
      for (std::size_t k = 0; k < program->known().size() && fits; ++k)
        if (program->known()[k] && !program->is_state(k) && !ready.is_left[k])
          fits = same_contents(*program->known()[k], input(ready, inputs, k));
      if (fits) return program;
    }
    note_changes(ready, inputs);
    const std::vector<bool> first =
        ready.neurons ? ready.neurons->known_inputs() : known_by_itself(ready, ready.varies);
    MadeRun made = made_run(ready, contents(ready, inputs, first));
    if (!ready.neurons && distance(made) > 0 && (made || has_no_blocks(made))) {
      // What is multiplied by, added to, looked up in: it may be that only blocks with known contents do it.
      const std::array tries = {
          known_operands(ready, first, 1),  known_operands(ready, first, 0), known_beside(ready, first, false),
          known_beside(ready, first, true), known_by_itself(ready),          ready.is_slot};
      for (std::size_t i = 0; i < tries.size(); ++i) {
        const std::vector<bool>& is_known = tries[i];
        if (distance(made) == 0 || is_known == first || !leaves_something(ready, is_known)) continue;
        MadeRun again = made_run(ready, contents(ready, inputs, is_known));
        // Of one side all, if that is no worse; of both some, if it is better.
        if (distance(again) < distance(made) + (i < 2 ? 1 : 0)) made = std::move(again);
      }
    }
    if (!made) throw Error(made.diags());
    ready.programs.push_back(*std::move(made));
    if (ready.programs.back()->is_mapped()) programs_.push_back(ready.programs.back());
    for (const std::shared_ptr<ChipRun>& part : ready.programs.back()->parts())
      if (part->is_mapped()) programs_.push_back(part);
    for (const std::shared_ptr<ChipRun>& run : programs_)
      if (run->title().empty()) run->set_title(title_of(*ready.graph));
    return ready.programs.back();
  }

  // States that are in the cores stay there; others are loaded. What else is in the cores and will change is kept.
  void bring_states(ChipRun& program, std::span<const Location> inputs) {
    const std::vector<LoweredState>& states = program.lowered().states;
    auto is_there = [&](const Entry& entry, std::size_t s) { return entry.home.get() == &program && entry.state == s; };
    auto is_input = [&](std::size_t s) { return states[s].before.index() < inputs.size(); };
    std::vector<std::optional<Array>> loads(states.size());
    if (program.version() == 0) check_memories(program, inputs);
    for (std::size_t s = 0; s < states.size(); ++s)
      if (!is_input(s))
        program.begin_state(s);
      else if (states[s].storage.valid() && !is_there(at(inputs[states[s].before.index()]), s))
        loads[s] = read(inputs[states[s].before.index()]);
    for (std::size_t i = 0; i < entries_.size(); ++i) {
      Entry& entry = entries_[i];
      if (entry.home.get() != &program) continue;
      if (!program.lowered().states[entry.state].storage.valid()) continue;
      entry.array = program.state(entry.state);
      entry.home.reset();
      memory_.live_bytes += entry.array.bytes();
    }
    for (std::size_t s = 0; s < states.size(); ++s)
      if (loads[s]) program.set_state(s, *loads[s]);
  }

  // What delayed edges hold cannot be loaded from outside: a chip begins with nothing.
  void check_memories(const ChipRun& program, std::span<const Location> inputs) const {
    for (const LoweredState& state : program.lowered().states) {
      if (state.storage.valid() || state.before.index() >= inputs.size()) continue;
      const Array memory = read(inputs[state.before.index()]);
      for (std::int64_t i = 0; i < memory.elements(); ++i)
        if (memory.integer(i) != 0)
          throw failure("E1009", {},
                        "what delayed edges held on another backend cannot be loaded into a chip; begin anew there");
    }
  }

  void run(HwReady& ready, const std::shared_ptr<ChipRun>& program, std::span<const Location> inputs,
           Outcome& outcome) {
    const LoweredGraph& lowered = program->lowered();
    std::vector<Array> tensors;
    for (const LoweredPort& port : lowered.inputs) tensors.push_back(input(ready, inputs, port.value.index()));
    const std::vector<Array> made = program->step(tensors);
    for (const OpList::Output& output : ready.list.outputs) {
      const auto port = std::ranges::find(lowered.outputs, output.value, &LoweredPort::value);
      const auto state = std::ranges::find(lowered.states, output.value, &LoweredState::after);
      const auto known = std::ranges::find(lowered.known, output.value, &std::pair<ValueId, Array>::first);
      if (known != lowered.known.end()) {
        Array copied = Array::make(known->second.type());
        std::memcpy(copied.raw(), known->second.raw(), copied.bytes());
        outcome.results.emplace_back(add(std::move(copied)));
      } else if (port != lowered.outputs.end()) {
        outcome.results.emplace_back(add(made[static_cast<std::size_t>(port - lowered.outputs.begin())]));
      } else if (state != lowered.states.end()) {
        const Location location = add(Array::make(concrete(ready.list.type(output.value))));
        Entry& entry = at(location);
        entry.state = static_cast<std::size_t>(state - lowered.states.begin());
        if (state->storage.valid()) entry.home = program;
        outcome.results.emplace_back(location);
      } else {
        bug("an output of a graph on a chip is nowhere");
      }
    }
  }

  HwOptions options_;
  const ChipKindRecord& kind_ = chip_kind(options_.chip->kind);
  std::vector<Entry> entries_;  // by location
  Memory memory_;
  ChipRuns programs_;
  std::atomic<bool> interrupted_ = false;
};

}  // namespace

std::unique_ptr<Backend> make_hw_backend(const HwOptions& options) { return std::make_unique<HwBackend>(options); }

}  // namespace taskspec
