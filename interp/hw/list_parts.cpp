#include "interp/hw/list_parts.hpp"

#include <algorithm>
#include <map>

#include "ir/lowering/evaluate.hpp"

namespace taskspec {

namespace {

class ListCutter {
 public:
  ListCutter(const OpList& list, const std::vector<std::optional<Array>>& known, const ListStates& states)
      : list_(list), states_(states) {
    made_.values.resize(list.types.size());
    maker_.assign(list.types.size(), no_line);
    is_host_.assign(list.lines.size(), false);
    for (std::size_t k = 0; k < known.size(); ++k) made_.values[k] = known[k];
    for (const auto& [before, after] : states_) {
      first_[before] = made_.values[before.index()];
      made_.values[before.index()].reset();
    }
    for (std::size_t k = 0; k < list.constants.size(); ++k)
      if (list.constants[k].is_array()) made_.values[list.inputs.size() + k] = list.constants[k].array();
    for (std::size_t i = 0; i < list.lines.size(); ++i) {
      for (const ValueId value : list.lines[i].out) maker_[value.index()] = i;
      work_out(list.lines[i]);
      is_host_[i] = !is_known(list.lines[i]) && !list.lines[i].op->lower.build;
    }
  }

  // Numbers that are others in each run have no place in a part.
  bool can_be_cut() const {
    return std::ranges::all_of(list_.constants, [](const Value& constant) { return constant.is_array(); });
  }

  ListParts parts() {
    number_parts();
    std::size_t most = 0;
    for (const std::size_t part : part_of_) most = part == no_line ? most : std::max(most, part + 1);
    made_.parts.clear();
    for (std::size_t part = 0; part < most; ++part) add_part(part);
    std::erase_if(made_.parts, [](const ListPart& part) { return part.list.lines.empty(); });
    return made_;
  }

  // The lines of a part that a fault is about; all of it, where it is about none.
  void move_to_host(const ListPart& part, const Diags& faults) {
    bool moved = false;
    for (std::size_t i = 0; i < list_.lines.size(); ++i)
      for (const Diag& fault : faults.items())
        if (is_in(part, i) && fault.primary.span == list_.lines[i].span && !is_host_[i]) is_host_[i] = moved = true;
    for (std::size_t i = 0; i < list_.lines.size() && !moved; ++i)
      if (is_in(part, i)) is_host_[i] = true;
  }

 private:
  static constexpr std::size_t no_line = SIZE_MAX;

  bool is_known(const OpList::Line& line) const {
    return std::ranges::all_of(line.in, [&](ValueId in) { return made_.values[in.index()].has_value(); });
  }

  void work_out(const OpList::Line& line) {
    if (!is_known(line)) return;
    std::vector<Array> in;
    for (const ValueId value : line.in) in.push_back(*made_.values[value.index()]);
    std::vector<Array> made = evaluate(instance(list_, line), in);
    for (std::size_t slot = 0; slot < made.size(); ++slot) made_.values[line.out[slot].index()] = std::move(made[slot]);
  }

  // Even numbers for the chip: as few changes from one to the other as what lines read allows.
  void number_parts() {
    part_of_.assign(list_.lines.size(), no_line);
    for (std::size_t i = 0; i < list_.lines.size(); ++i) {
      if (is_known(list_.lines[i])) continue;
      std::size_t part = is_host_[i] ? 1 : 0;
      for (const ValueId value : list_.lines[i].in) {
        const std::size_t line = maker_[value.index()];
        if (line == no_line || part_of_[line] == no_line) continue;
        part = std::max(part, part_of_[line] + (is_host_[line] == is_host_[i] ? 0 : 1));
      }
      part_of_[i] = part;
    }
  }

  bool is_in(const ListPart& part, std::size_t line) const {
    return std::ranges::any_of(part.lines, [&](std::size_t own) { return own == line; });
  }

  bool is_read_outside(ValueId value, std::size_t part) const {
    for (std::size_t i = 0; i < list_.lines.size(); ++i)
      if (part_of_[i] != no_line && part_of_[i] != part &&
          std::ranges::find(list_.lines[i].in, value) != list_.lines[i].in.end())
        return true;
    return false;
  }
  bool is_wanted(ValueId value, std::size_t part) const {
    return is_read_outside(value, part) ||
           std::ranges::any_of(list_.outputs, [&](const OpList::Output& output) { return output.value == value; });
  }

  // One part for the chip makes it anew, and nobody else reads it, before or after.
  bool stays_in(std::size_t part, ValueId before, ValueId after) const {
    const std::size_t maker = maker_[after.index()];
    const bool is_result = std::ranges::count(list_.outputs, after, &OpList::Output::value) > 1;
    return part % 2 == 0 && maker != no_line && part_of_[maker] == part && first_.at(before) && !is_result &&
           !is_read_outside(before, part) && !is_read_outside(after, part);
  }

  void add_part(std::size_t number) {
    ListPart part;
    part.is_host = number % 2 != 0;
    part.list.task = list_.task;
    part.list.name = list_.name;
    for (const auto& [before, after] : states_)
      if (stays_in(number, before, after)) part.states.emplace_back(before, after);
    const auto is_state = [&](ValueId value, bool of_input) {
      return std::ranges::any_of(part.states,
                                 [&](const auto& state) { return (of_input ? state.first : state.second) == value; });
    };
    std::vector<ValueId> own(list_.types.size());  // by value of the whole list
    std::vector<ValueId> made;
    for (std::size_t i = 0; i < list_.lines.size(); ++i) {
      if (part_of_[i] != number) continue;
      part.lines.push_back(i);
      for (const ValueId value : list_.lines[i].in) {
        const std::size_t line = maker_[value.index()];
        const bool is_own = line != no_line && part_of_[line] == number;
        if (is_own || std::ranges::find(part.inputs, value) != part.inputs.end()) continue;
        part.inputs.push_back(value);
      }
      made.insert(made.end(), list_.lines[i].out.begin(), list_.lines[i].out.end());
    }
    for (const ValueId value : part.inputs) {
      own[value.index()] = ValueId(part.list.types.size());
      part.list.types.push_back(list_.type(value));
      OpList::Input input;
      if (value.index() < list_.inputs.size()) input = list_.inputs[value.index()];
      if (input.name.empty()) input.name = "v" + std::to_string(value.index());
      if (first_.contains(value) && !is_state(value, true)) input.privilege = Privilege::in, input.slot.reset();
      part.list.inputs.push_back(std::move(input));
      part.known.push_back(is_state(value, true) ? first_.at(value) : made_.values[value.index()]);
    }
    for (const ValueId value : made) {
      own[value.index()] = ValueId(part.list.types.size());
      part.list.types.push_back(list_.type(value));
      if (!is_wanted(value, number) || is_state(value, false)) continue;
      part.outputs.push_back(value);
      part.list.outputs.push_back({.name = "v" + std::to_string(value.index()), .value = own[value.index()]});
    }
    for (const auto& [before, after] : part.states) {
      const std::string& name = list_.inputs[before.index()].name;
      part.list.outputs.push_back({.name = name, .value = own[after.index()]});
    }
    for (const std::size_t i : part.lines) {
      OpList::Line line = list_.lines[i];
      for (ValueId& value : line.in) value = own[value.index()];
      for (ValueId& value : line.out) value = own[value.index()];
      if (part.is_host && std::ranges::find(made_.host_ops, line.op->name) == made_.host_ops.end())
        made_.host_ops.emplace_back(line.op->name);
      part.list.lines.push_back(std::move(line));
    }
    made_.parts.push_back(std::move(part));
  }

  const OpList& list_;
  const ListStates& states_;
  std::map<ValueId, std::optional<Array>> first_;  // of states: what they begin with
  ListParts made_;
  std::vector<std::size_t> maker_, part_of_;  // by value: its line; by line
  std::vector<bool> is_host_;                 // by line
};

}  // namespace

Result<ListParts> cut_list(const OpList& list, const std::vector<std::optional<Array>>& known, const ListStates& states,
                           FunctionRef<Diags(const OpList&, const std::vector<std::optional<Array>>&)> faults_of) {
  ListCutter cutter(list, known, states);
  if (!cutter.can_be_cut()) return faults_of(list, known);
  for (;;) {
    ListParts made = cutter.parts();
    bool is_left = false, has_changed = false;
    for (const ListPart& part : made.parts) {
      if (part.is_host) continue;
      const Diags faults = faults_of(part.list, part.known);
      is_left |= !faults.has_errors();
      if (!faults.has_errors()) continue;
      cutter.move_to_host(part, faults);
      has_changed = true;
    }
    if (has_changed) continue;
    if (!is_left) return faults_of(list, known);
    return made;
  }
}

std::vector<Array> run_on_host(const ListPart& part, std::span<const Array> inputs) {
  std::vector<Array> values(part.list.types.size());
  for (std::size_t k = 0; k < inputs.size(); ++k) values[k] = inputs[k];
  for (const OpList::Line& line : part.list.lines) {
    std::vector<Array> in;
    for (const ValueId value : line.in) in.push_back(values[value.index()]);
    std::vector<Array> made = evaluate(instance(part.list, line), in);
    for (std::size_t slot = 0; slot < made.size(); ++slot) values[line.out[slot].index()] = std::move(made[slot]);
  }
  std::vector<Array> outputs;
  for (const OpList::Output& output : part.list.outputs) outputs.push_back(values[output.value.index()]);
  return outputs;
}

}  // namespace taskspec
