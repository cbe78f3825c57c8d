#include "interp/hw/step_picks.hpp"

#include <algorithm>

namespace taskspec {

namespace {

bool is_pick(const OpList& list, const OpList::Line& line) {
  return line.op->serves == Serves::picks && line.in.size() == 2 && line.out.size() == 1 &&
         line.in[0].index() < list.inputs.size() && line.in[1].index() < list.inputs.size() &&
         list.type(line.in[1]).rank() == 0;
}

}  // namespace

PickedList with_picks(OpList list) {
  PickedList made;
  std::vector<ValueId> pick_values;  // as the list calls them
  for (const OpList::Line& line : list.lines) {
    if (!is_pick(list, line)) continue;
    made.picks.push_back({line.in[0].index(), line.in[1].index(), instance(list, line)});
    pick_values.push_back(line.out[0]);
  }
  const std::size_t inputs = list.inputs.size(), picks = pick_values.size();
  std::vector<ValueId> now(list.types.size());
  std::vector<Type> types;
  auto take = [&](ValueId value) {
    now[value.index()] = ValueId(types.size());
    types.push_back(list.type(value));
  };
  for (std::size_t k = 0; k < inputs; ++k) take(ValueId(k));
  for (const ValueId value : pick_values) take(value);
  for (std::size_t k = 0; k < list.constants.size(); ++k) take(ValueId(inputs + k));
  made.is_left.assign(inputs + picks, false);
  for (const StepPick& pick : made.picks) made.is_left[pick.data] = made.is_left[pick.number] = true;
  std::vector<OpList::Line> lines;
  for (OpList::Line& line : list.lines) {
    if (is_pick(list, line)) continue;
    for (const ValueId out : line.out) take(out);
    for (ValueId& in : line.in) {
      in = now[in.index()];
      if (in.index() < inputs) made.is_left[in.index()] = false;
    }
    for (ValueId& out : line.out) out = now[out.index()];
    lines.push_back(std::move(line));
  }
  for (OpList::Output& output : list.outputs) output.value = now[output.value.index()];
  for (std::size_t k = 0; k < picks; ++k) list.inputs.push_back({"step" + std::to_string(k), Privilege::in, {}});
  list.lines = std::move(lines);
  list.types = std::move(types);
  made.list = std::move(list);
  return made;
}

std::optional<std::size_t> pick_of(const TaskGraph& graph, NodeId node, const std::vector<StepPick>& picks) {
  const std::span<const Ref> in = graph.in(node);
  if (graph.definition(node).kind != Definition::Kind::op || in.size() != 2) return std::nullopt;
  if (graph.definition(node).op->serves != Serves::picks) return std::nullopt;
  if (in[0].kind != Ref::Kind::input || in[1].kind != Ref::Kind::input) return std::nullopt;
  for (std::size_t k = 0; k < picks.size(); ++k)
    if (in[0].id == picks[k].data && in[1].id == picks[k].number) return k;
  return std::nullopt;
}

}  // namespace taskspec
