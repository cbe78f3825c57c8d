#include "ir/gradient/step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include "ir/graph/op_list_builder.hpp"

namespace taskspec {

namespace {

constexpr std::int64_t longest_constant = 4096;  // elements that a list holds itself

struct RefOrder {
  bool operator()(Ref a, Ref b) const { return std::tuple(a.kind, a.id, a.slot) < std::tuple(b.kind, b.id, b.slot); }
};

class StepMaker {
 public:
  StepMaker(const TaskGraph& graph, const StepOptions& options, ListOf list_of, const OpTable& ops)
      : graph_(graph), options_(options), list_of_(list_of), ops_(ops), chains_(aggregate(graph)) {}

  Result<TrainingStep> run() {
    find_live();
    for (std::size_t c = 0; c < chains_.size(); ++c)
      if (Diags diags = forward(ChainId(c)); diags.has_errors()) return diags;
    for (const GraphResult& result : graph_.results()) step_.results.push_back(place_of(result.ref));
    for (std::uint32_t r = 0; r < options_.upstream.size(); ++r)
      if (options_.upstream[r]) parts_[plain(graph_.results()[r].ref)].push_back({StepRef::Kind::upstream, r, 0});
    for (std::size_t c = chains_.size(); c-- > 0;) backward(c);
    for (std::size_t i = 0; i < graph_.inputs().size(); ++i) step_.gradients.push_back(parts_[Ref::input(i)]);
    find_ends();
    for (std::size_t c = 0; c < lists_.size(); ++c)
      step_.tasks[c].list = std::make_shared<OpList>(std::move(lists_[c]));
    return std::move(step_);
  }

 private:
  static Ref plain(Ref ref) {
    ref.through_place = false;
    return ref;
  }
  StepRef place_of(Ref ref) const {
    if (ref.kind == Ref::Kind::input) return {StepRef::Kind::input, ref.id, 0};
    if (ref.kind == Ref::Kind::constant) return {StepRef::Kind::constant, ref.id, 0};
    return places_.at(plain(ref));
  }

  // ---- forward: each chain as one list ----

  // Outputs that somebody reads outside of their chain.
  void find_live() {
    for (const GraphResult& result : graph_.results()) live_.insert(plain(result.ref));
    for (std::size_t i = 0; i < graph_.size(); ++i)
      for (Ref ref : graph_.in(NodeId(i)))
        if (ref.is_future() && chains_.chain_of(ref.node()) != chains_.chain_of(NodeId(i))) live_.insert(plain(ref));
  }

  struct Composing {
    OpListBuilder list;
    std::map<Ref, ValueId, RefOrder> values;
    std::vector<Ref> inputs;
  };

  ValueId value_of(Composing& made, Ref ref) {
    auto [known, fresh] = made.values.try_emplace(plain(ref));
    if (!fresh) return known->second;
    const Type& type = graph_.type(ref);
    const Value* constant = ref.kind == Ref::Kind::constant ? &graph_.constant(ref.id) : nullptr;
    if (constant && constant->is_array() && constant->array().elements() <= longest_constant)
      return known->second = made.list.constant(*constant, type);
    const std::string name =
        ref.kind == Ref::Kind::input ? graph_.inputs()[ref.id].name : fmt::format("x{}", made.inputs.size());
    made.inputs.push_back(plain(ref));
    return known->second = made.list.input({name, Privilege::in, {}}, type);
  }

  // The task by the path of its agent: two layers of one kind are told apart.
  std::string title(NodeId node) const {
    const std::string own = graph_.definition(node).title();
    const InstanceId agent = graph_[node].agent;
    if (!agent.valid()) return own;
    return graph_.agents()[agent.index()].path + own.substr(std::min(own.find('.'), own.size()));
  }

  Diags append(Composing& made, NodeId node) {
    std::vector<ValueId> in, out;
    for (Ref ref : graph_.in(node)) in.push_back(value_of(made, ref));
    const Definition& definition = graph_.definition(node);
    const auto task = std::make_shared<const std::string>(title(node));
    if (definition.op) {
      OpInstance call{definition.op, {}, graph_.arguments(node), {}};
      for (TypeId type : graph_.out(node)) call.out.push_back(concrete(graph_.type(type)));
      out = made.list.append(call, in, {{}, {}, graph_[node].span, {}, task});
    } else {
      Result<OpList> list = list_of_(node);
      if (!list) return list.diags();
      if (options_.step && list->inputs.size() == in.size() + 1)
        in.push_back(value_of(made, Ref::input(*options_.step)));
      out = made.list.append(*list, in, task);
    }
    for (std::size_t slot = 0; slot < out.size(); ++slot) made.values[Ref::future(node, slot)] = out[slot];
    return {};
  }

  Diags forward(ChainId chain) {
    Composing made;
    const std::span<const NodeId> members = chains_.members(chain);
    for (NodeId node : members)
      if (Diags diags = append(made, node); diags.has_errors()) return diags;
    std::vector<OpListBuilder::Output> outputs;
    std::vector<Ref>& outs = outs_.emplace_back();
    for (NodeId node : members)
      for (std::size_t slot = 0; slot < graph_.out(node).size(); ++slot) {
        const Ref ref = Ref::future(node, slot);
        if (!live_.contains(ref)) continue;
        places_[ref] = output_of(chain.index(), outputs.size());
        outputs.push_back({unused(outputs, graph_.slot_out(node, slot)), made.values.at(ref), false});
        outs.push_back(ref);
      }
    StepTask& task = step_.tasks.emplace_back();
    task.name = graph_.definition(members[0]).name;
    task.members.assign(members.begin(), members.end());
    for (Ref ref : made.inputs) task.in.push_back(place_of(ref));
    ins_.push_back(std::move(made.inputs));
    lists_.push_back(std::move(made.list).finish({}, task.name, outputs));
    return {};
  }

  static StepRef output_of(std::size_t task, std::size_t slot) {
    return {StepRef::Kind::task, static_cast<std::uint32_t>(task), static_cast<std::uint16_t>(slot)};
  }
  static std::string unused(const std::vector<OpListBuilder::Output>& outputs, const std::string& name) {
    const auto same = std::ranges::count_if(outputs, [&](const auto& output) { return output.name.starts_with(name); });
    return same == 0 ? name : fmt::format("{}_{}", name, same);
  }

  // ---- backward: chains from the last one to the first ----

  // A float that depends on an input that is wanted.
  bool is_wanted(Ref ref) const {
    if (!taskspec::is_float(graph_.type(ref).precision)) return false;
    if (ref.kind == Ref::Kind::input) return options_.wanted[ref.id];
    return ref.is_future() && is_active(chains_.chain_of(ref.node()).index());
  }
  bool is_active(std::size_t chain) const {
    if (active_.size() <= chain) active_.resize(chain + 1);
    std::optional<bool>& known = active_[chain];
    if (!known) known = std::ranges::any_of(ins_[chain], [this](Ref ref) { return is_wanted(ref); });
    return *known;
  }

  void backward(std::size_t chain) {
    ReverseOptions options;
    for (Ref ref : outs_[chain]) options.upstream.push_back(!parts_[ref].empty());
    for (Ref ref : ins_[chain]) options.wanted.push_back(is_wanted(ref));
    if (std::ranges::none_of(options.upstream, std::identity()) ||
        std::ranges::none_of(options.wanted, std::identity()))
      return;
    const Reverse made = reverse(lists_[chain], options, ops_);
    for (const Reverse::End& end : made.ends) {
      const OpList::Line& line = lists_[chain].lines[end.line];
      ends_.push_back({ins_[chain][end.input], line.op, line.span});
    }
    if (!made.inputs.empty()) add_reverse(chain, made);
  }

  void add_reverse(std::size_t chain, const Reverse& made) {
    OpListBuilder list;
    StepTask task;
    std::vector<ValueId> given;
    for (std::size_t output : made.upstream)
      given.push_back(sum(list, task, parts_[outs_[chain][output]], made, given.size()));
    for (std::size_t k = 0; k < made.reads.size(); ++k) {
      const std::size_t input = made.upstream.size() + k;
      given.push_back(list.input(made.list.inputs[input], made.list.types[input]));
      task.in.push_back(kept(chain, made.reads[k]));
    }
    const std::vector<ValueId> results = list.append(made.list, given);
    std::vector<OpListBuilder::Output> outputs;
    const std::size_t id = chains_.size() + step_.reverses.size();
    for (std::size_t k = 0; k < results.size(); ++k) {
      outputs.push_back({made.list.outputs[k].name, results[k], false});
      std::vector<StepRef>& parts = parts_[ins_[chain][made.inputs[k]]];
      parts.insert(parts.begin(), output_of(id, k));  // of earlier readers first
    }
    task.name = step_.tasks[chain].name;
    task.members = step_.tasks[chain].members;
    task.list = std::make_shared<OpList>(std::move(list).finish({}, made.list.name, outputs));
    step_.reverses.push_back(std::move(task));
    step_.reversed.push_back(chain);
  }

  // What readers of a value contribute to its gradient, as inputs of the reverse, added up.
  ValueId sum(OpListBuilder& list, StepTask& task, const std::vector<StepRef>& parts, const Reverse& made,
              std::size_t input) const {
    ValueId total;
    for (const StepRef& part : parts) {
      const ValueId value = list.input(made.list.inputs[input], made.list.types[input]);
      task.in.push_back(part);
      const std::array<OpListBuilder::Operand, 2> both{total, value};
      total = total.valid() ? list.emit(add_, both, {})[0] : value;
    }
    return total;
  }

  // A value of a forward chain that its reverse reads: an input of the chain, or an output, which it may become by
  // this.
  StepRef kept(std::size_t chain, ValueId value) {
    OpList& list = lists_[chain];
    if (value.index() < list.inputs.size()) return place_of(ins_[chain][value.index()]);
    auto known = std::ranges::find(list.outputs, value, &OpList::Output::value);
    const auto slot = static_cast<std::size_t>(known - list.outputs.begin());
    if (known == list.outputs.end()) list.outputs.push_back({fmt::format("v{}", value.value), value, false});
    return output_of(chain, slot);
  }

  // ---- inputs without a gradient ----

  // By chain: it depends on this input.
  std::vector<bool> depending_on(std::uint32_t input) const {
    std::vector<bool> depends(chains_.size());
    for (std::size_t c = 0; c < depends.size(); ++c)
      depends[c] = std::ranges::any_of(ins_[c], [&](Ref ref) { return reaches(input, ref, depends); });
    return depends;
  }
  bool reaches(std::uint32_t input, Ref ref, const std::vector<bool>& depends) const {
    if (ref.kind == Ref::Kind::input) return ref.id == input;
    return ref.is_future() && depends[chains_.chain_of(ref.node()).index()];
  }

  void find_ends() {
    for (std::uint32_t i = 0; i < step_.gradients.size(); ++i) {
      if (!options_.wanted[i] || !step_.gradients[i].empty()) continue;
      const std::vector<bool> depends = depending_on(i);
      for (const auto& [at, op, span] : ends_)
        if (reaches(i, at, depends)) step_.ends.push_back({i, op, span});
    }
  }

  const TaskGraph& graph_;
  const StepOptions& options_;
  const ListOf list_of_;
  const OpTable& ops_;
  const OpDef& add_ = *ops_.find_operator("+", 2);
  const Chains chains_;
  std::set<Ref, RefOrder> live_;
  std::map<Ref, StepRef, RefOrder> places_;   // of outputs
  std::vector<std::vector<Ref>> ins_, outs_;  // by chain
  std::vector<OpList> lists_;                 // by chain: outputs may still be added
  mutable std::vector<std::optional<bool>> active_;
  std::map<Ref, std::vector<StepRef>, RefOrder> parts_;  // of gradients
  struct End {
    Ref at;  // an input of a chain
    const OpDef* op;
    Span span;
  };
  std::vector<End> ends_;
  TrainingStep step_;
};

}  // namespace

Result<TrainingStep> training_step(const TaskGraph& graph, const StepOptions& options, ListOf list_of,
                                   const OpTable& ops) {
  return StepMaker(graph, options, list_of, ops).run();
}

}  // namespace taskspec
