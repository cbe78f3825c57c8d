#include "ir/gradient/training_step.hpp"

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
  StepMaker(const std::shared_ptr<const TaskGraph>& graph, const StepOptions& options, ListOf list_of,
            const OpTable& ops)
      : shared_(graph), graph_(*graph), options_(options), list_of_(list_of), ops_(ops) {}

  Result<TrainingStep> run() {
    if (Diags diags = find_groups(); diags.has_errors()) return diags;
    find_live();
    for (const std::vector<NodeId>& group : groups_) forward(group);
    for (const GraphResult& result : graph_.results()) step_.results.push_back(place_of(result.ref));
    for (std::uint32_t r = 0; r < options_.upstream.size(); ++r)
      if (options_.upstream[r]) parts_[plain(graph_.results()[r].ref)].push_back({StepRef::Kind::upstream, r, 0});
    for (std::size_t g = groups_.size(); g-- > 0;) backward(g);
    for (std::size_t i = 0; i < graph_.inputs().size(); ++i) step_.gradients.push_back(parts_[Ref::input(i)]);
    find_ends();
    for (std::size_t g = 0; g < lists_.size(); ++g)
      if (!step_.tasks[g].embedded) step_.tasks[g].list = std::make_shared<OpList>(std::move(lists_[g]));
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

  // ---- forward: each chain as one list, a task without one by itself ----

  Diags find_groups() {
    const Chains chains = aggregate(graph_);
    group_of_.resize(graph_.size());
    for (std::size_t c = 0; c < chains.size(); ++c) {
      bool open = false;  // the last group takes in another task
      for (NodeId node : chains.members(ChainId(c))) {
        if (Diags diags = find_list(node); diags.has_errors()) return diags;
        if (!open || is_embedded(node)) groups_.emplace_back();
        open = !is_embedded(node);
        groups_.back().push_back(node);
        group_of_[node.index()] = groups_.size() - 1;
      }
    }
    return {};
  }
  Diags find_list(NodeId node) {
    if (graph_.definition(node).op) return {};
    Result<OpList> list = list_of_(node);
    if (list)
      lists_of_.emplace(node.value, *std::move(list));
    else if (list.diags().items().front().code != Code("E3005"))
      return list.diags();
    return {};
  }
  bool is_embedded(NodeId node) const { return !graph_.definition(node).op && !lists_of_.contains(node.value); }

  // Outputs that somebody reads outside of their chain.
  void find_live() {
    for (const GraphResult& result : graph_.results()) live_.insert(plain(result.ref));
    for (std::size_t i = 0; i < graph_.size(); ++i)
      for (Ref ref : graph_.in(NodeId(i)))
        if (ref.is_future() && group_of(ref) != group_of_[i]) live_.insert(plain(ref));
  }

  std::size_t group_of(Ref ref) const { return group_of_[ref.id]; }

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

  void append(Composing& made, NodeId node) {
    std::vector<ValueId> in, out;
    for (Ref ref : graph_.in(node)) in.push_back(value_of(made, ref));
    const Definition& definition = graph_.definition(node);
    const auto task = std::make_shared<const std::string>(title(node));
    if (definition.op) {
      OpInstance call{definition.op, {}, graph_.arguments(node), {}};
      for (TypeId type : graph_.out(node)) call.out.push_back(concrete(graph_.type(type)));
      out = made.list.append(call, in, {{}, {}, graph_[node].span, {}, task});
    } else {
      const OpList& list = lists_of_.at(node.value);
      if (options_.step && list.inputs.size() == in.size() + 1)
        in.push_back(value_of(made, Ref::input(*options_.step)));
      out = made.list.append(list, in, task);
    }
    for (std::size_t slot = 0; slot < out.size(); ++slot) made.values[Ref::future(node, slot)] = out[slot];
  }

  void forward(const std::vector<NodeId>& members) {
    if (is_embedded(members[0])) return embed(members[0]);
    Composing made;
    for (NodeId node : members) append(made, node);
    std::vector<OpListBuilder::Output> outputs;
    std::vector<Ref>& outs = outs_.emplace_back();
    for (NodeId node : members)
      for (std::size_t slot = 0; slot < graph_.out(node).size(); ++slot) {
        const Ref ref = Ref::future(node, slot);
        if (!live_.contains(ref)) continue;
        places_[ref] = output_of(step_.tasks.size(), outputs.size());
        outputs.push_back({unused(outputs, graph_.slot_out(node, slot)), made.values.at(ref), false});
        outs.push_back(ref);
      }
    StepTask& task = step_.tasks.emplace_back();
    task.name = graph_.definition(members[0]).name;
    task.members = members;
    for (Ref ref : made.inputs) task.in.push_back(place_of(ref));
    ins_.push_back(std::move(made.inputs));
    lists_.push_back(std::move(made.list).finish({}, task.name, outputs));
  }

  void embed(NodeId node) {
    EmbeddedTask embedded;
    embedded.graph = shared_;
    embedded.node = node;
    embedded.in_step = options_.step.has_value();
    embedded.ops = &ops_;
    std::vector<Ref>&ins = ins_.emplace_back(), &outs = outs_.emplace_back();
    for (Ref ref : graph_.in(node)) {
      embedded.inputs.push_back(graph_.slot_in(node, ins.size()));
      ins.push_back(plain(ref));
    }
    if (options_.step) {
      embedded.inputs.emplace_back("step");
      ins.push_back(Ref::input(*options_.step));
    }
    for (TypeId type : graph_.out(node)) {
      places_[Ref::future(node, outs.size())] = output_of(step_.tasks.size(), outs.size());
      embedded.outputs.push_back(graph_.slot_out(node, outs.size()));
      embedded.types.push_back(graph_.type(type));
      outs.push_back(Ref::future(node, outs.size()));
    }
    StepTask& task = step_.tasks.emplace_back();
    task.name = graph_.definition(node).name;
    task.members = {node};
    for (Ref ref : ins) task.in.push_back(place_of(ref));
    task.embedded = std::make_shared<EmbeddedTask>(std::move(embedded));
    lists_.emplace_back();
  }

  static StepRef output_of(std::size_t task, std::size_t slot) {
    return {StepRef::Kind::task, static_cast<std::uint32_t>(task), static_cast<std::uint16_t>(slot)};
  }
  static std::string unused(const std::vector<OpListBuilder::Output>& outputs, const std::string& name) {
    auto is_free = [&](const std::string& s) {
      return std::ranges::find(outputs, s, &OpListBuilder::Output::name) == outputs.end();
    };
    std::string free = name;
    for (int k = 1; !is_free(free); ++k) free = fmt::format("{}_{}", name, k);
    return free;
  }

  // ---- backward: from the last one to the first ----

  // A float that depends on an input that is wanted.
  bool is_wanted(Ref ref) const {
    if (!taskspec::is_float(graph_.type(ref).precision)) return false;
    if (ref.kind == Ref::Kind::input) return options_.wanted[ref.id];
    return ref.is_future() && is_active(group_of(ref));
  }
  bool is_active(std::size_t group) const {
    if (active_.size() <= group) active_.resize(group + 1);
    std::optional<bool>& known = active_[group];
    if (!known) known = std::ranges::any_of(ins_[group], [this](Ref ref) { return is_wanted(ref); });
    return *known;
  }

  void backward(std::size_t group) {
    ReverseOptions options{.upstream = {}, .wanted = {}, .recompute = options_.recompute};
    for (Ref ref : outs_[group]) options.upstream.push_back(!parts_[ref].empty());
    for (Ref ref : ins_[group]) options.wanted.push_back(is_wanted(ref));
    if (std::ranges::none_of(options.upstream, std::identity()) ||
        std::ranges::none_of(options.wanted, std::identity()))
      return;
    if (step_.tasks[group].embedded) return embed_reverse(group, std::move(options.wanted));
    const Reverse made = reverse(lists_[group], options, ops_);
    for (const Reverse::End& end : made.ends) {
      const OpList::Line& line = lists_[group].lines[end.line];
      ends_.push_back({ins_[group][end.input], line.op, line.span});
    }
    if (!made.inputs.empty()) add_reverse(group, made);
  }

  // Output `slot` of the reverse that is made next is a part of the gradient of what the group reads as `input`.
  void add_part(std::size_t group, std::size_t input, std::size_t slot) {
    std::vector<StepRef>& parts = parts_[ins_[group][input]];
    parts.insert(parts.begin(), output_of(groups_.size() + step_.reverses.size(), slot));  // of earlier readers first
  }

  void embed_reverse(std::size_t group, std::vector<bool> wanted) {
    StepTask task;
    EmbeddedTask embedded = *step_.tasks[group].embedded;
    embedded.reverse = true;
    std::vector<std::string> inputs;
    for (std::size_t slot = 0; slot < outs_[group].size(); ++slot) {
      const std::vector<StepRef>& parts = parts_[outs_[group][slot]];
      embedded.upstream.push_back(parts.size());
      task.in.insert(task.in.end(), parts.begin(), parts.end());
      inputs.insert(inputs.end(), parts.size(), "d_" + embedded.outputs[slot]);
    }
    task.in.insert(task.in.end(), step_.tasks[group].in.begin(), step_.tasks[group].in.end());
    embedded.outputs.clear();
    embedded.types.clear();
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      if (!wanted[i]) continue;
      add_part(group, i, embedded.types.size());
      embedded.outputs.push_back("d_" + embedded.inputs[i]);
      embedded.types.push_back(graph_.type(ins_[group][i]));
    }
    embedded.inputs.insert(embedded.inputs.begin(), inputs.begin(), inputs.end());
    embedded.wanted = std::move(wanted);
    task.embedded = std::make_shared<EmbeddedTask>(std::move(embedded));
    add_reverse(group, std::move(task));
  }

  void add_reverse(std::size_t group, StepTask task) {
    task.name = step_.tasks[group].name;
    task.members = step_.tasks[group].members;
    step_.reverses.push_back(std::move(task));
    step_.reversed.push_back(group);
  }

  void add_reverse(std::size_t group, const Reverse& made) {
    OpListBuilder list;
    StepTask task;
    std::vector<ValueId> given;
    for (std::size_t output : made.upstream)
      given.push_back(sum(list, task, parts_[outs_[group][output]], made, given.size()));
    for (std::size_t k = 0; k < made.reads.size(); ++k) {
      const std::size_t input = made.upstream.size() + k;
      given.push_back(list.input(made.list.inputs[input], made.list.types[input]));
      task.in.push_back(kept(group, made.reads[k]));
    }
    const std::vector<ValueId> results = list.append(made.list, given);
    std::vector<OpListBuilder::Output> outputs;
    for (std::size_t k = 0; k < results.size(); ++k) {
      outputs.push_back({made.list.outputs[k].name, results[k], false});
      add_part(group, made.inputs[k], k);
    }
    task.list = std::make_shared<OpList>(std::move(list).finish({}, made.list.name, outputs));
    add_reverse(group, std::move(task));
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

  // A value of a forward list that its reverse reads: an input, or an output, which it may become by this.
  StepRef kept(std::size_t group, ValueId value) {
    OpList& list = lists_[group];
    if (value.index() < list.inputs.size()) return place_of(ins_[group][value.index()]);
    auto known = std::ranges::find(list.outputs, value, &OpList::Output::value);
    const auto slot = static_cast<std::size_t>(known - list.outputs.begin());
    if (known == list.outputs.end()) list.outputs.push_back({fmt::format("v{}", value.value), value, false});
    return output_of(group, slot);
  }

  // ---- inputs without a gradient ----

  // By group: it depends on this input.
  std::vector<bool> depending_on(std::uint32_t input) const {
    std::vector<bool> depends(groups_.size());
    for (std::size_t g = 0; g < depends.size(); ++g)
      depends[g] = std::ranges::any_of(ins_[g], [&](Ref ref) { return reaches(input, ref, depends); });
    return depends;
  }
  bool reaches(std::uint32_t input, Ref ref, const std::vector<bool>& depends) const {
    if (ref.kind == Ref::Kind::input) return ref.id == input;
    return ref.is_future() && depends[group_of(ref)];
  }

  void find_ends() {
    for (std::uint32_t i = 0; i < step_.gradients.size(); ++i) {
      if (!options_.wanted[i] || !step_.gradients[i].empty()) continue;
      const std::vector<bool> depends = depending_on(i);
      for (const auto& [at, op, span] : ends_)
        if (reaches(i, at, depends)) step_.ends.push_back({i, op, span});
    }
  }

  const std::shared_ptr<const TaskGraph>& shared_;
  const TaskGraph& graph_;
  const StepOptions& options_;
  const ListOf list_of_;
  const OpTable& ops_;
  const OpDef& add_ = *ops_.find_operator("+", 2);
  std::map<std::uint32_t, OpList> lists_of_;  // by node
  std::vector<std::vector<NodeId>> groups_;   // chains without their embedded tasks, and those
  std::vector<std::size_t> group_of_;         // by node
  std::set<Ref, RefOrder> live_;
  std::map<Ref, StepRef, RefOrder> places_;   // of outputs
  std::vector<std::vector<Ref>> ins_, outs_;  // by group
  std::vector<OpList> lists_;                 // by group: outputs may still be added
  mutable std::vector<std::optional<bool>> active_;
  std::map<Ref, std::vector<StepRef>, RefOrder> parts_;  // of gradients
  struct End {
    Ref at;  // an input of a group
    const OpDef* op;
    Span span;
  };
  std::vector<End> ends_;
  TrainingStep step_;
};

}  // namespace

Result<TrainingStep> training_step(const std::shared_ptr<const TaskGraph>& graph, const StepOptions& options,
                                   ListOf list_of, const OpTable& ops) {
  return StepMaker(graph, options, list_of, ops).run();
}

}  // namespace taskspec
