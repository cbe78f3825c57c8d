#include "ir/gradient/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "ir/gradient/part_lists.hpp"
#include "ir/gradient/parted_list.hpp"

namespace taskspec {

namespace {

class StepInParts {
 public:
  StepInParts(const TrainingStep& step, const PartsOptions& options, const OpTable& ops)
      : step_(step), options_(options), batch_(options.batch), ops_(ops), lists_(options.batch, ops) {
    made_.numbers = step.numbers;
    made_.ends = step.ends;
  }

  TrainingStep run() && {
    into_ = &made_.tasks;
    for (old_ = 0; old_ < step_.tasks.size(); ++old_) add(step_.tasks[old_]);
    for (std::size_t r = 0; r < step_.results.size(); ++r) {
      const StepRef ref = step_.results[r];
      made_.results.push_back(whole_of(ref));
      made_.result_parts.push_back(by_rows(ref));
    }
    into_ = &made_.reverses;
    for (std::size_t r = 0; r < step_.reverses.size(); ++r, ++old_) add(step_.reverses[r]);
    for (std::size_t i = 0; i < step_.gradients.size(); ++i) add_gradient(i);
    return std::move(made_);
  }

 private:
  // How a value of the step is there.
  struct Form {
    std::optional<Type> type;
    std::optional<StepRef> whole_at = {};
    std::map<int, std::vector<StepRef>> parts_at = {};  // by axis
    int axis = PartedList::whole;                       // as which it is made
  };

  Form& form(const StepRef& ref) {
    auto [known, fresh] = forms_.try_emplace(ref);
    Form& made = known->second;
    if (!fresh) return made;
    auto given = [&](const std::vector<bool>& inputs) { return ref.id < inputs.size() && inputs[ref.id]; };
    const bool is_input = ref.kind == StepRef::Kind::input, is_upstream = ref.kind == StepRef::Kind::upstream;
    const bool comes_in_parts =
        (is_input && given(options_.given_in_parts)) || (is_upstream && given(options_.upstream_in_parts));
    if (comes_in_parts)
      for (std::size_t k = 0; k < batch_.parts.size(); ++k)
        made.parts_at[0].push_back({ref.kind, ref.id, static_cast<std::uint16_t>(k + 1)});
    if (comes_in_parts || (is_input && given(options_.cut))) made.axis = 0;
    if (is_upstream) made.type = forms_.at(step_.results[ref.id]).type;
    if (!(is_upstream && comes_in_parts)) made.whole_at = ref;
    return made;
  }

  // ---- tasks ----

  StepRef add_task(StepTask task, std::size_t after = TrainingStep::none) {
    const bool reverse = into_ == &made_.reverses;
    const std::size_t id = into_->size() + (reverse ? made_.tasks.size() : 0);
    into_->push_back(std::move(task));
    if (reverse) made_.reversed.push_back(called_.insert(after).second ? after : TrainingStep::none);
    return {StepRef::Kind::task, static_cast<std::uint32_t>(id), 0};
  }
  StepTask like(const StepTask& task, std::shared_ptr<const OpList> list, std::vector<StepRef> in) const {
    return {std::move(list), {}, task.name, task.members, std::move(in)};
  }
  static StepRef output(StepRef task, std::size_t slot) {
    task.slot = static_cast<std::uint16_t>(slot);
    return task;
  }
  const StepTask& at_hand() const {
    const bool is_forward = old_ < step_.tasks.size();
    if (is_forward) return step_.tasks[old_];
    const std::size_t r = old_ - step_.tasks.size();
    return r < step_.reverses.size() ? step_.reverses[r] : step_.tasks.back();
  }

  void add(const StepTask& task) {
    if (task.embedded) return add_whole(task, task.embedded->types);
    std::vector<int> axes;
    for (const StepRef& ref : task.in) axes.push_back(form(ref).axis);
    const PartedList parted = taskspec::parted(*task.list, axes, batch_.rows, ops_);
    if (std::ranges::none_of(parted.nodes, &PartedList::Node::in_parts)) {
      std::vector<Type> types;
      for (const OpList::Output& made : task.list->outputs) types.push_back(task.list->type(made.value));
      return add_whole(task, types);
    }
    add_parted(task, parted);
  }

  // As it is, on the whole.
  void add_whole(const StepTask& task, const std::vector<Type>& types) {
    StepTask copy = task;
    for (StepRef& ref : copy.in) ref = whole_of(ref);
    const StepRef made = add_task(std::move(copy), forward_of(0));
    if (old_ < step_.tasks.size()) forward_of_[{old_, 0}] = made.id;
    for (std::size_t slot = 0; slot < types.size(); ++slot)
      forms_[old_output(slot)] = {.type = types[slot], .whole_at = output(made, slot)};
  }
  StepRef old_output(std::size_t slot) const {
    return {StepRef::Kind::task, static_cast<std::uint32_t>(old_), static_cast<std::uint16_t>(slot)};
  }
  // The task after which a reverse of part k is called.
  std::size_t forward_of(std::size_t k) const {
    if (old_ < step_.tasks.size() || old_ - step_.tasks.size() >= step_.reversed.size()) return TrainingStep::none;
    const auto known = forward_of_.find({step_.reversed[old_ - step_.tasks.size()], k});
    return known == forward_of_.end() ? TrainingStep::none : known->second;
  }

  // ---- tasks in parts ----

  void add_parted(const StepTask& task, const PartedList& parted) {
    flows_.clear();
    lists_.begin(parted, *task.list);
    for (int stage = 0; stage < parted.stages; ++stage)
      if (stage % 2 != 0)
        add_stage(task, parted, stage);
      else
        for (const std::vector<std::size_t>& nodes : lists_.groups(stage)) add_once(task, parted, nodes);
    for (std::size_t slot = 0; slot < parted.outputs.size(); ++slot)
      forms_[old_output(slot)] = form_of(task, parted, parted.outputs[slot]);
  }

  void add_stage(const StepTask& task, const PartedList& parted, int stage) {
    std::map<std::int64_t, PartLists::Made> by_rows;  // parts of one size are one list
    for (std::size_t k = 0; k < batch_.parts.size(); ++k) {
      const std::int64_t rows = batch_.parts[k].rows();
      auto [known, fresh] = by_rows.try_emplace(rows);
      if (fresh) known->second = lists_.of_part(stage, rows);
      const PartLists::Made& made = known->second;
      if (made.outputs.empty()) return;
      std::vector<StepRef> in;
      for (const PartLists::Input& input : made.inputs) in.push_back(place_of(task, parted, input, k));
      const StepRef added = add_task(like(task, made.list, std::move(in)), forward_of(k));
      if (old_ < step_.tasks.size()) forward_of_.try_emplace({old_, k}, added.id);
      for (std::size_t slot = 0; slot < made.outputs.size(); ++slot)
        flows_[made.outputs[slot].flow].push_back(output(added, slot));
    }
  }

  void add_once(const StepTask& task, const PartedList& parted, const std::vector<std::size_t>& nodes) {
    const PartLists::Made made = lists_.once(nodes);
    if (made.outputs.empty()) return;
    std::vector<StepRef> in;
    for (const PartLists::Input& input : made.inputs) in.push_back(place_of(task, parted, input, input.part));
    const StepRef added = add_task(like(task, made.list, std::move(in)));
    for (std::size_t slot = 0; slot < made.outputs.size(); ++slot)
      flows_[made.outputs[slot].flow].push_back(output(added, slot));
  }

  // Of an input of a task for part k.
  StepRef place_of(const StepTask& task, const PartedList& parted, const PartLists::Input& input, std::size_t k) {
    if (!input.flow.valid()) return number(batch_.parts[k].begin * input.per_row);
    const PartedList::Flow& flow = parted[input.flow];
    if (flow.input != PartedList::outside) {
      const StepRef& ref = task.in[flow.input];
      return flow.axis == PartedList::whole ? whole_of(ref) : parts_of(ref, flow.axis, flow.type)[k];
    }
    const std::vector<StepRef>& refs = flows_.at(input.flow);
    return refs.size() == 1 ? refs[0] : refs[k];
  }
  StepRef number(std::int64_t number) {
    const auto known = std::ranges::find(made_.numbers, number);
    const auto id = static_cast<std::uint32_t>(known - made_.numbers.begin());
    if (known == made_.numbers.end()) made_.numbers.push_back(number);
    return {StepRef::Kind::number, id, 0};
  }

  Form form_of(const StepTask& task, const PartedList& parted, FlowId id) {
    const PartedList::Flow& flow = parted[id];
    if (flow.input != PartedList::outside) return form(task.in[flow.input]);
    if (flow.node == PartedList::outside) {
      const PartLists::Made made = lists_.constant(id);
      return {.type = flow.type, .whole_at = add_task(like(task, made.list, {}))};
    }
    if (flow.axis == PartedList::whole) return {.type = flow.type, .whole_at = flows_.at(id)[0]};
    return {.type = flow.type, .parts_at = {{flow.axis, flows_.at(id)}}, .axis = flow.axis};
  }

  // ---- values in another way ----

  StepRef whole_of(const StepRef& ref) {
    Form& known = form(ref);
    if (!known.whole_at) {
      const PartLists::Made made = lists_.joining(*known.type, known.axis);
      known.whole_at = add_task(like(at_hand(), made.list, known.parts_at.at(known.axis)));
    }
    return *known.whole_at;
  }
  const std::vector<StepRef>& parts_of(const StepRef& ref, int axis, const Type& type) {
    Form& known = form(ref);
    std::vector<StepRef>& parts = known.parts_at[axis];
    if (parts.empty()) {
      const PartLists::Made made = lists_.cutting(type, axis);
      const StepRef added = add_task(like(at_hand(), made.list, {whole_of(ref)}));
      for (std::size_t k = 0; k < batch_.parts.size(); ++k) parts.push_back(output(added, k));
    }
    return parts;
  }
  // Its rows, where it is made in parts of those.
  std::vector<StepRef> by_rows(const StepRef& ref) {
    const Form& known = form(ref);
    const bool has_rows = known.axis == 0 && known.type && concrete(*known.type).extents[0] == batch_.rows;
    return has_rows ? known.parts_at.at(0) : std::vector<StepRef>();
  }

  void add_gradient(std::size_t input) {
    std::vector<StepRef>&gradient = made_.gradients.emplace_back(), &parts = made_.gradient_parts.emplace_back();
    const std::vector<StepRef>& all = step_.gradients[input];
    if (input < options_.wanted_in_parts.size() && options_.wanted_in_parts[input] && all.size() == 1)
      parts = parts_of(all[0], 0, *form(all[0]).type);
    else
      for (const StepRef& ref : all) gradient.push_back(whole_of(ref));
  }

  const TrainingStep& step_;
  const PartsOptions& options_;
  const BatchParts& batch_;
  const OpTable& ops_;
  PartLists lists_;
  std::map<StepRef, Form> forms_;                                          // by its place in the step as it was
  std::map<FlowId, std::vector<StepRef>> flows_;                           // of the task at hand: one, or each part
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> forward_of_;  // task as it was, part -> task
  std::set<std::size_t> called_;  // forward tasks that a reverse is called after
  std::size_t old_ = 0;           // the task at hand, as it was: forward ones, then reverses
  std::vector<StepTask>* into_ = nullptr;
  TrainingStep made_;
};

}  // namespace

TrainingStep in_parts(const TrainingStep& step, const PartsOptions& options, const OpTable& ops) {
  return StepInParts(step, options, ops).run();
}

}  // namespace taskspec
