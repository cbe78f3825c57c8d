#include "interp/hw/neurons/neuron_reading.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "interp/hw/neurons/linear_signal.hpp"
#include "ir/lowering/evaluate.hpp"

namespace taskspec {

namespace {

using TaskRole = NeuronTask::Role;
using NeuronKind = RealNeurons::Kind;

// Inputs of a neuron's task that are what it keeps.
bool is_kept(const NeuronTask& task, std::size_t input) {
  const std::string_view name = task.inputs[input];
  return name == "v" || name == "i" || name == "line" || name == "kept";
}

bool is_same(Ref a, Ref b) { return a.kind == b.kind && a.id == b.id && a.slot == b.slot; }

OpInstance op_instance(const TaskGraph& graph, NodeId node) {
  OpInstance call{graph.definition(node).op, {}, graph.arguments(node), {}};
  for (const Ref ref : graph.in(node)) call.in.push_back(concrete(graph.type(ref)));
  for (const TypeId type : graph.out(node)) call.out.push_back(concrete(graph.type(type)));
  return call;
}

}  // namespace

// ---- what is what ---------------------------------------------------------------------------------

std::optional<NeuronGraph> NeuronGraph::find(std::shared_ptr<const TaskGraph> graph, std::vector<StepPick> picks,
                                             ListOf list_of) {
  NeuronGraph found;
  found.graph_ = std::move(graph);
  found.picks_ = std::move(picks);
  const TaskGraph& g = *found.graph_;
  bool any = false;
  for (std::size_t k = 0; k < g.size(); ++k) {
    const NodeId node(k);
    const NeuronTask* task = neuron_task(g.definition(node));
    found.tasks_.push_back(task);
    if (!task) continue;
    if (task->role == TaskRole::neuron) any = true;
    if (task->role != TaskRole::neuron && task->role != TaskRole::factor) continue;
    Result<OpList> list = list_of(node);
    if (!list) continue;
    if (!computes_neuron(*task, *list, found.reset_of(node)))
      found.wrong_[node.value] = fmt::format("it does not compute what '{}' of the prelude does", task->name);
    if (task->role == TaskRole::factor) found.lists_.emplace(node.value, *std::move(list));
  }
  if (!any) return std::nullopt;
  found.find_memories();
  found.find_known();
  return found;
}

std::string NeuronGraph::reset_of(NodeId node) const {
  const NeuronTask* task = tasks_[node.index()];
  const std::vector<Value>& arguments = graph_->arguments(node);
  if (!task || task->reset == 0 || task->reset >= arguments.size() || !arguments[task->reset].is_string()) return "";
  return arguments[task->reset].string();
}

std::optional<std::size_t> NeuronGraph::pick(NodeId node) const {
  const std::optional<std::size_t> pick = pick_of(*graph_, node, picks_);
  return pick ? std::optional(graph_->inputs().size() + *pick) : std::nullopt;
}

bool NeuronGraph::is_memory(Ref ref) const {
  return std::ranges::any_of(memories_, [&](Ref memory) { return is_same(memory, ref); });
}

// In a run they are inputs; in a graph that is looked at, what their slots begin with.
void NeuronGraph::find_memories() {
  const TaskGraph& g = *graph_;
  for (std::size_t k = 0; k < g.size(); ++k) {
    const std::span<const Ref> in = g.in(NodeId(k));
    for (std::size_t i = 0; tasks_[k] && i < in.size() && i < tasks_[k]->inputs.size(); ++i)
      if (is_kept(*tasks_[k], i) && (!in[i].is_future() || g[in[i].node()].first_value)) memories_.push_back(in[i]);
  }
}

// Forward: what depends on spikes. Backward: what must be known, because it stands beside something that does. Where
// only inputs meet, the vector is the signal of a product with a matrix, and the first operand that of anything else.
void NeuronGraph::find_known() {
  const TaskGraph& g = *graph_;
  known_.assign(g.inputs().size() + picks_.size(), false);
  std::vector<bool> is_signal(g.size()), is_wanted(g.size());
  auto carries = [&](Ref ref) { return is_memory(ref) || (ref.is_future() && is_signal[ref.id]); };
  for (std::size_t k = 0; k < g.size(); ++k) {
    const NodeId node(k);
    is_signal[k] = (tasks_[k] && tasks_[k]->role != TaskRole::factor) || pick(node).has_value() ||
                   std::ranges::any_of(g.in(node), carries);
  }
  auto want = [&](Ref ref) {
    if (ref.is_future()) is_wanted[ref.id] = true;
    if (ref.kind == Ref::Kind::input && !is_memory(ref)) known_[ref.id] = true;
  };
  for (std::size_t k = g.size(); k-- > 0;) {
    const NodeId node(k);
    if (pick(node)) continue;
    const std::span<const Ref> in = g.in(node);
    const OpDef* op = g.definition(node).op;
    const bool is_product = op && op->symbol == "@";
    const bool has_signal = std::ranges::any_of(in, carries);
    for (std::size_t i = 0; i < in.size(); ++i) {
      if (tasks_[k] && tasks_[k]->role != TaskRole::factor) {
        if (i > 0 && i < tasks_[k]->inputs.size() && !is_kept(*tasks_[k], i)) want(in[i]);
        continue;
      }
      const bool is_open = has_signal ? carries(in[i]) : i == (is_product ? 1U : 0U);
      if ((is_wanted[k] && !is_signal[k]) || !is_open) want(in[i]);
    }
  }
}

// Places are called after nodes of the file: "Net.lif1_v".
std::string NeuronGraph::name_of(NodeId node) const {
  for (std::uint32_t p = 0; graph_->contains(PlaceId(p)); ++p) {
    const Ref now = graph_->current(PlaceId(p));
    if (!now.is_future() || now.node() != node) continue;
    std::string name = graph_->place_name(PlaceId(p));
    name = name.substr(name.rfind('.') + 1);
    for (const std::string_view end : {"_v", "_i"})
      if (name.ends_with(end)) return name.substr(0, name.size() - end.size());
  }
  return graph_->label(node);
}

// ---- reading --------------------------------------------------------------------------------------

class NeuronGraph::Reading {
 public:
  Reading(const NeuronGraph& of, const std::vector<std::optional<Array>>& contents)
      : of_(of), g_(*of.graph_), contents_(contents), population_(g_.size()), input_(of.known_.size()) {}

  Result<RealBorders> run() {
    made_.net.name =
        g_.size() > 0 ? g_.path(NodeId(g_.size() - 1)).substr(0, g_.path(NodeId(g_.size() - 1)).find('#')) : "";
    for (std::size_t k = 0; k < g_.size(); ++k) guarded(NodeId(k), [&] { add_neurons(NodeId(k)); });
    for (std::size_t k = 0; k < g_.results().size(); ++k) guarded(g_.results()[k].ref.node(), [&] { add_result(k); });
    std::vector<std::pair<PopulationId, LinearSignal>> inputs;
    for (std::size_t k = 0; k < g_.size(); ++k)
      if (population_[k].valid()) guarded(NodeId(k), [&] { inputs.emplace_back(population_[k], input_of(NodeId(k))); });
    if (!notes_.empty()) return refusal();
    set_shapes(inputs);
    for (auto& [population, signal] : inputs) connect(population, signal);
    if (!notes_.empty()) return refusal();
    return std::move(made_);
  }

 private:
  struct Refused {
    std::string text;
  };
  struct Missing {};  // a node in front was refused

  template <class F>
  void guarded(NodeId node, F&& f) {
    try {
      f();
    } catch (const Refused& refused) {
      note(of_.task(node) ? of_.name_of(node) : g_.label(node), refused.text);
    } catch (const Missing&) {
    }
  }
  void note(const std::string& name, const std::string& text) {
    const std::string all = fmt::format("'{}': {}", name, text);
    if (std::ranges::find(notes_, all) == notes_.end()) notes_.push_back(all);
  }
  Diags refusal() const {
    Diags diags;
    Diag& diag = diags.error("E4052", Span{},
                             fmt::format("{} node{} of '{}' cannot be neurons or synapses of a chip", notes_.size(),
                                         notes_.size() == 1 ? "" : "s", made_.net.name));
    for (const std::string& text : notes_) diag.note(text);
    return diags;
  }

  // ---- parameters

  Array value(Ref ref) {
    if (ref.kind == Ref::Kind::constant) return g_.constant(ref.id).array();
    if (ref.kind == Ref::Kind::input) {
      if (!contents_[ref.id]) throw Refused{"one of its parameters is not known before the run"};
      return *contents_[ref.id];
    }
    std::vector<Array> in;
    for (const Ref one : g_.in(ref.node())) in.push_back(value(one));
    if (g_.definition(ref.node()).kind == Definition::Kind::op)
      return evaluate(op_instance(g_, ref.node()), in)[ref.slot];
    const auto list = of_.lists_.find(ref.id);
    if (list == of_.lists_.end()) throw Refused{"one of its parameters is not known before the run"};
    const std::vector<Array> made = run_alone(list->second, std::move(in));
    if (made.empty()) throw Refused{"one of its parameters is another one in each run"};
    return made[ref.slot];
  }

  std::vector<double> parameter(NodeId node, std::string_view name) {
    const std::optional<std::size_t> at = of_.task(node)->input(name);
    std::vector<double> numbers;
    if (!at) return numbers;
    const Array array = value(g_.in(node)[*at]);
    for (std::int64_t i = 0; i < array.elements(); ++i) numbers.push_back(array.number(i));
    return numbers;
  }

  // ---- populations

  PopulationId add_population(RealNeurons neurons, std::int64_t count) {
    neurons.shape = {.f = static_cast<std::int32_t>(count)};
    made_.net.populations.push_back(std::move(neurons));
    std::vector<std::int32_t> order(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::int32_t>(i);
    made_.neuron.push_back(std::move(order));
    planes_.emplace_back();
    return PopulationId(made_.net.populations.size() - 1);
  }

  void add_neurons(NodeId node) {
    const NeuronTask* task = of_.task(node);
    if (!task || task->role != TaskRole::neuron) return;
    if (!task->why_not.empty()) throw Refused{std::string(task->why_not)};
    if (const auto wrong = of_.wrong_.find(node.value); wrong != of_.wrong_.end()) throw Refused{wrong->second};
    RealNeurons neurons{.name = of_.name_of(node), .shape = {}, .kind = task->kind};
    const std::string reset = of_.reset_of(node);
    neurons.subtracts = reset == "subtract";
    neurons.k_mem = parameter(node, task->input("k") ? "k" : "k_mem");
    neurons.k_syn = parameter(node, "k_syn");
    neurons.r = parameter(node, "r");
    neurons.w_in = parameter(node, "w_in");
    neurons.leak = parameter(node, "v_leak");
    neurons.threshold = parameter(node, task->input("threshold") ? "threshold" : "v_threshold");
    if (reset == "file") neurons.reset = parameter(node, "v_reset");
    if (task->is_direct)
      for (const double k : neurons.k_mem) neurons.r.push_back(k == 0 ? 0 : 1 / k);
    const auto count = static_cast<std::int64_t>(neurons.threshold.size());
    population_[node.index()] = add_population(std::move(neurons), count);
  }

  PopulationId open_input(std::size_t input, const Extents& extents) {
    if (input_[input].valid()) return input_[input];
    std::int64_t count = 1;
    for (const std::int64_t extent : extents) count *= extent;
    const std::size_t number = made_.inputs.size();
    const PopulationId made =
        add_population({.name = number == 0 ? "input" : fmt::format("input {}", number + 1), .shape = {}}, count);
    made_.inputs.push_back({input, made});
    return input_[input] = made;
  }

  // ---- signals

  const LinearSignal& signal(Ref ref) {
    const std::tuple key(static_cast<int>(ref.kind), ref.id, ref.slot);
    if (const auto known = signals_.find(key); known != signals_.end()) return known->second;
    if (!open_.insert(key).second) throw Refused{"it stands in a loop without neurons"};
    LinearSignal made = made_signal(ref);
    open_.erase(key);
    return signals_.emplace(key, std::move(made)).first->second;
  }

  LinearSignal made_signal(Ref ref) {
    const Extents extents = concrete(g_.type(ref)).extents;
    if (ref.kind == Ref::Kind::input && contents_[ref.id]) return constant_signal(*contents_[ref.id]);
    if (of_.is_memory(ref))
      if (std::optional<LinearSignal> kept = memory(ref)) return with_extents(*std::move(kept), extents);
    if (ref.kind == Ref::Kind::constant) return constant_signal(value(ref));
    if (ref.kind == Ref::Kind::input) return spikes_of(open_input(ref.id, extents).value, extents);
    const NodeId node = ref.node();
    if (const std::optional<std::size_t> picked = of_.pick(node))
      return spikes_of(open_input(*picked, extents).value, extents);
    if (const NeuronTask* task = of_.task(node)) return of_task(*task, node, ref.slot, extents);
    if (g_.definition(node).kind != Definition::Kind::op) throw Refused{"it is a task, and no neuron of the prelude"};
    return of_op(node);
  }

  static LinearSignal with_extents(LinearSignal signal, const Extents& extents) {
    signal.extents = extents;
    return signal;
  }

  LinearSignal of_task(const NeuronTask& task, NodeId node, std::size_t slot, const Extents& extents) {
    if (task.role == TaskRole::factor) return constant_signal(value(Ref::future(node, slot)));
    if (task.role == TaskRole::neuron) {
      if (slot != 0) throw Refused{"what it keeps is read in the same step"};
      if (!population_[node.index()].valid()) throw Missing{};
      return spikes_of(population_[node.index()].value, extents);
    }
    const LinearSignal x = signal(g_.in(node)[0]);
    if (task.role == TaskRole::keep) return with_extents(x, extents);
    const std::int64_t steps = concrete(g_.type(g_.in(node)[1])).extents[0];
    if (slot != 0) return line_of(x, steps, 0, extents);
    if (task.role == TaskRole::delay) return with_extents(late(x, steps_of(steps)), extents);
    const Array at = value(g_.in(node)[2]);
    std::vector<std::int32_t> late_by;
    for (std::int64_t e = 0; e < at.elements(); ++e) late_by.push_back(steps_of(at.integer(e) / x.elements()));
    return with_extents(late(x, late_by), extents);
  }

  static std::int32_t steps_of(std::int64_t steps) {
    if (steps > longest_delay) throw Refused{fmt::format("a delay of {} steps, and at most 255 are possible", steps)};
    return static_cast<std::int32_t>(steps);
  }

  static LinearSignal line_of(const LinearSignal& x, std::int64_t rows, std::int64_t first, const Extents& extents) {
    std::vector<LinearSignal> all;
    for (std::int64_t r = 0; r < rows; ++r) all.push_back(late(x, steps_of(r + first)));
    return with_extents(stacked(all), extents);
  }

  // What a place of delays held before the step.
  std::optional<LinearSignal> memory(Ref before) {
    for (std::size_t k = 0; k < g_.size(); ++k) {
      const NeuronTask* task = of_.task(NodeId(k));
      if (!task || task->role == TaskRole::neuron || task->role == TaskRole::factor) continue;
      const Ref kept = g_.in(NodeId(k))[1];
      if (!is_same(kept, before)) continue;
      const LinearSignal x = signal(g_.in(NodeId(k))[0]);
      if (task->role == TaskRole::keep) return late(x, 1);
      const Extents extents = concrete(g_.type(kept)).extents;
      return line_of(x, extents[0], 1, extents);
    }
    return std::nullopt;
  }

  LinearSignal of_op(NodeId node) {
    const OpInstance call = op_instance(g_, node);
    std::vector<LinearSignal> in;
    std::vector<Array> contents;
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < call.in.size(); ++i) {
      in.push_back(signal(g_.in(node)[i]));
      Array array = Array::make(call.in[i]);
      for (std::int64_t e = 0; e < array.elements(); ++e)
        array.set_number(e, in[i].constants[static_cast<std::size_t>(e)]);
      contents.push_back(std::move(array));
      if (!in[i].is_constant()) open.push_back(i);
    }
    if (open.empty() && call.out.size() == 1) return constant_signal(evaluate(call, contents)[0]);
    if (open.size() == 1)
      if (std::optional<LinearSignal> made = applied(call, open[0], in[open[0]], contents)) return *std::move(made);
    if (open.size() == 2 && in.size() == 2)
      if (std::optional<LinearSignal> made = joined(call, in[0], in[1])) return *std::move(made);
    throw Refused{fmt::format("'{}' is no sum of weighted spikes", call.op->name)};
  }

  // ---- synapses

  LinearSignal input_of(NodeId node) {
    const LinearSignal& x = signal(g_.in(node)[0]);
    if (x.elements() != made_.net.populations[population_[node.index()].index()].shape.size())
      throw Refused{"it is given another number of elements than it has neurons"};
    return x;
  }

  // Convolutions lie in planes, channels last; both ends of one must agree.
  void set_shapes(std::vector<std::pair<PopulationId, LinearSignal>>& inputs) {
    for (auto& [population, signal] : inputs) {
      if (!signal.kernel) continue;
      const Extents from = planes_[signal.kernel->source], to = planes_[population.index()];
      const bool fits = (from.empty() || from == signal.kernel->in) && (to.empty() || to == signal.kernel->out);
      if (!fits) {
        signal.kernel = nullptr;
        continue;
      }
      planes_[signal.kernel->source] = signal.kernel->in;
      planes_[population.index()] = signal.kernel->out;
    }
    for (std::size_t p = 0; p < planes_.size(); ++p) {
      if (planes_[p].empty()) continue;
      const std::int64_t c = planes_[p][0], y = planes_[p][1], x = planes_[p][2];
      made_.net.populations[p].shape = {static_cast<std::int32_t>(y), static_cast<std::int32_t>(x),
                                        static_cast<std::int32_t>(c)};
      for (std::int64_t i = 0; i < c * y * x; ++i)
        made_.neuron[p][static_cast<std::size_t>(i)] = static_cast<std::int32_t>(i % (y * x) * c + i / (y * x));
      RealNeurons& neurons = made_.net.populations[p];
      for (auto* values : {&neurons.k_mem, &neurons.k_syn, &neurons.r, &neurons.w_in, &neurons.leak, &neurons.threshold,
                           &neurons.reset}) {
        const std::vector<double> flat = *values;
        for (std::size_t i = 0; i < flat.size(); ++i) (*values)[static_cast<std::size_t>(made_.neuron[p][i])] = flat[i];
      }
    }
  }

  void connect(PopulationId to, const LinearSignal& signal) {
    RealNeurons& neurons = made_.net.populations[to.index()];
    const std::vector<std::int32_t>& place = made_.neuron[to.index()];
    neurons.bias.resize(place.size());
    for (std::size_t e = 0; e < place.size(); ++e)
      neurons.bias[static_cast<std::size_t>(place[e])] = signal.constants[e];
    if (signal.kernel) return connect(to, *signal.kernel);
    struct Synapse {
      std::uint32_t source, target;
      std::int32_t delay;
      double weight;
    };
    std::map<std::uint32_t, std::vector<Synapse>> by_source;
    for (std::size_t e = 0; e < place.size(); ++e)
      for (const SignalTerm& term : signal.of(static_cast<std::int64_t>(e)))
        if (term.weight != 0)
          by_source[term.source].push_back(
              {static_cast<std::uint32_t>(made_.neuron[term.source][static_cast<std::size_t>(term.element)]),
               static_cast<std::uint32_t>(place[e]), term.delay, term.weight});
    for (auto& [source, synapses] : by_source) {
      std::ranges::stable_sort(synapses, [](const Synapse& a, const Synapse& b) {
        return std::tuple(a.source, a.target, a.delay) < std::tuple(b.source, b.target, b.delay);
      });
      const auto [least, most] = std::ranges::minmax(synapses, {}, &Synapse::delay);
      if (most.delay > longest_delay) {
        note(neurons.name, fmt::format("spikes reach it {} steps late, and at most 255 are possible", most.delay));
        return;
      }
      const auto sources = static_cast<std::size_t>(made_.neuron[source].size());
      RealConnection made{connection(PopulationId(source), to, least.delay), {}};
      if (least.delay == most.delay && synapses.size() == sources * place.size()) {
        made.synapses.synapses = DenseSynapses{};
        for (const Synapse& synapse : synapses) made.weights.push_back(synapse.weight);
      } else {
        SparseSynapses rows;
        rows.offsets.assign(sources + 1, 0);
        for (const Synapse& synapse : synapses) {
          ++rows.offsets[synapse.source + 1];
          rows.targets.push_back(synapse.target);
          if (least.delay != most.delay) rows.delays.push_back(static_cast<std::uint8_t>(synapse.delay - least.delay));
          made.weights.push_back(synapse.weight);
        }
        for (std::size_t s = 1; s < rows.offsets.size(); ++s) rows.offsets[s] += rows.offsets[s - 1];
        made.synapses.synapses = std::move(rows);
      }
      made_.net.connections.push_back(std::move(made));
    }
  }

  // [f, c, ky, kx] as [c, ky, kx, f].
  void connect(PopulationId to, const SignalKernel& kernel) {
    RealConnection made{connection(PopulationId(kernel.source), to, kernel.delay), {}};
    made.synapses.synapses = kernel.windows;
    const auto inner = static_cast<std::size_t>(kernel.weights_of[1] * kernel.weights_of[2] * kernel.weights_of[3]);
    const auto outputs = static_cast<std::size_t>(kernel.weights_of[0]);
    made.weights.resize(kernel.weights.size());
    for (std::size_t i = 0; i < kernel.weights.size(); ++i)
      made.weights[i % inner * outputs + i / inner] = kernel.weights[i];
    made_.net.connections.push_back(std::move(made));
  }

  SpikeConnection connection(PopulationId from, PopulationId to, std::int32_t delay) const {
    const auto& all = made_.net.populations;
    return {fmt::format("{} to {}", all[from.index()].name, all[to.index()].name), from, to, {}, delay};
  }

  // ---- results

  void add_result(std::size_t k) {
    const Ref ref = g_.results()[k].ref;
    if (const NeuronTask* task = of_.task(ref.node()); task && task->role != TaskRole::factor) {
      const std::string& slot = g_.definition(ref.node()).outputs[ref.slot];
      for (std::size_t i = 0; i < task->inputs.size(); ++i) {
        if (!is_kept(*task, i) || task->inputs[i] != slot) continue;
        const Ref before = g_.in(ref.node())[i];
        if (before.kind != Ref::Kind::input) throw Refused{"what it keeps is changed twice in a step"};
        made_.states.push_back(
            {before.id, k, task->role == TaskRole::neuron ? population_[ref.id] : PopulationId(), slot == "i"});
        return;
      }
    }
    const LinearSignal& given = signal(ref);
    RealBorders::Output output{k, {}};
    for (std::int64_t e = 0; e < given.elements(); ++e) {
      const std::optional<SignalTerm> spike = plain_spike(given, e);
      if (!spike || spike->delay > 0)
        throw Refused{spike ? "what the graph gives of it comes late: a chip gives spikes as they are fired"
                            : "what the graph gives of it is a sum: a chip gives spikes"};
      made_.net.populations[spike->source].recorded = true;
      output.places.push_back({PopulationId(spike->source), spike->element});
    }
    made_.outputs.push_back(std::move(output));
  }

  const NeuronGraph& of_;
  const TaskGraph& g_;
  const std::vector<std::optional<Array>>& contents_;
  std::vector<PopulationId> population_;  // by node
  std::vector<PopulationId> input_;       // by input of the list
  std::vector<Extents> planes_;           // by population: [c, y, x], where convolutions need them
  std::map<std::tuple<int, std::uint32_t, std::uint16_t>, LinearSignal> signals_;
  std::set<std::tuple<int, std::uint32_t, std::uint16_t>> open_;
  std::vector<std::string> notes_;
  RealBorders made_;
};

Result<RealBorders> NeuronGraph::read(const std::vector<std::optional<Array>>& contents) const {
  Result<RealBorders> read = Reading(*this, contents).run();
  if (!read) return read;
  for (RealBorders::Output& output : read->outputs)  // elements to neurons, whose order is known by now
    for (SpikePlace& place : output.places)
      place.neuron = read->neuron[place.population.index()][static_cast<std::size_t>(place.neuron)];
  return read;
}

}  // namespace taskspec
