#include "ir/gradient/part_lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ir/records/scalar.hpp"

namespace taskspec {

namespace {

constexpr std::int64_t longest_repeated = 4096;  // elements of what is made of constants wherever it is read

}  // namespace

// One list in the making.
class PartLists::Draft {
 public:
  Draft(const PartLists& lists, std::int64_t rows) : lists_(lists), parted_(*lists.parted_), rows_(rows) {}

  void add(std::size_t node) {
    const PartedList::Node& made = parted_.nodes[node];
    switch (made.kind) {
      case PartedList::Kind::line:
        return add_line(made);
      case PartedList::Kind::cut:
        cuts_[made.out[0]] = lists_.cut(list_, read(made.in[0]), parted_[made.out[0]], made.origin);
        return;
      case PartedList::Kind::join:
        here_[made.out[0]] = lists_.join(list_, parts(made.in[0]), parted_[made.in[0]], made.origin);
        return;
      case PartedList::Kind::sum:
        here_[made.out[0]] = lists_.batch_.sum(parts(made.in[0]), [&](ValueId a, ValueId b) {
          const std::array<OpListBuilder::Operand, 2> both{a, b};
          return list_.emit(lists_.add_, both, made.origin)[0];
        });
        return;
    }
  }

  void give(FlowId flow) {
    const auto is_cut = cuts_.find(flow);
    if (is_cut == cuts_.end()) return give(flow, here_.at(flow), lists_.name_of(flow));
    for (std::size_t k = 0; k < is_cut->second.size(); ++k)
      give(flow, is_cut->second[k], fmt::format("{}_{}", lists_.name_of(flow), k));
  }

  ValueId read(FlowId flow) {
    if (const auto known = here_.find(flow); known != here_.end()) return known->second;
    const PartedList::Flow& from = parted_[flow];
    const bool is_constant = from.node == PartedList::outside && from.input == PartedList::outside;
    if (is_constant) return here_[flow] = constant(from);
    if (from.node != PartedList::outside && lists_.repeated_[from.node]) {
      add(from.node);
      return here_.at(flow);
    }
    return here_[flow] = input({flow, 0, 0}, rows_ ? lists_.part_type(from.type, from.axis, rows_).type() : from.type);
  }

  Made finish() && {
    if (outputs_.empty()) return {};
    auto list = std::make_shared<OpList>(std::move(list_).finish({}, lists_.names_->name, names_));
    return {std::move(list), std::move(inputs_), std::move(outputs_)};
  }

 private:
  void add_line(const PartedList::Node& made) {
    const bool in_part = made.in_parts();
    const OpInstance call = in_part ? block_of(made.call, made.split, 0, rows_, lists_.batch_.rows) : made.call;
    std::vector<ValueId> in;
    for (std::size_t i = 0; i < made.in.size(); ++i) {
      const int at = static_cast<int>(i);
      if (in_part && made.split.once == at)
        in.push_back(zeros(made.call.in[i], made.origin));
      else if (in_part && made.split.numbered == at)
        in.push_back(first(made, made.in[i]));
      else
        in.push_back(read(made.in[i]));
    }
    const std::vector<ValueId> out = list_.append(call, in, made.origin);
    for (std::size_t k = 0; k < out.size(); ++k) here_[made.out[k]] = out[k];
  }

  ValueId constant(const PartedList::Flow& from) {
    const Value value = list_.number(from.constant, [&](std::uint32_t i) { return read(FlowId(i)); });
    return list_.constant(value, from.type);
  }
  ValueId zeros(const ArrayType& type, const OpListBuilder::Origin& origin) {
    const std::array<OpListBuilder::Operand, 2> operands{Value(Type::of(type.type())), Value(0.0)};
    return list_.emit(lists_.fill_, operands, origin)[0];
  }

  // The number of the first element of the part, counted on from that of the whole.
  ValueId first(const PartedList::Node& made, FlowId flow) {
    if (made.split.out[0] != 0) bug("elements of a block of other axes than the first are not one after another");
    const std::int64_t per_row = made.call.out[0].elements() / lists_.batch_.rows;
    auto [known, fresh] = firsts_.try_emplace(per_row);
    if (fresh) known->second = input({FlowId(), 0, per_row}, Type::tensor(Precision::i64, {}));
    const PartedList::Flow& from = parted_[flow];
    const bool from_zero = from.constant.is_array() && from.constant.array().integer(0) == 0;
    if (from_zero) return known->second;
    const std::array<OpListBuilder::Operand, 2> both{read(flow), known->second};
    return list_.emit(lists_.add_, both, made.origin)[0];
  }

  ValueId input(Input from, const Type& type) {
    const std::string name = from.flow.valid() ? lists_.name_of(from.flow) : "first";
    inputs_.push_back(from);
    return list_.input({name, Privilege::in, {}}, type);
  }
  // All parts of a flow, of a sum each like the sum.
  std::vector<ValueId> parts(FlowId flow) {
    const PartedList::Flow& from = parted_[flow];
    std::vector<ValueId> all;
    for (std::size_t k = 0; k < lists_.batch_.parts.size(); ++k)
      all.push_back(input({flow, k, 0}, lists_.part_type(from.type, from.axis, lists_.batch_.parts[k].rows()).type()));
    return all;
  }

  void give(FlowId flow, ValueId value, std::string name) {
    auto is_free = [&](const std::string& s) {
      return std::ranges::find(names_, s, &OpListBuilder::Output::name) == names_.end();
    };
    std::string free = name;
    for (int k = 1; !is_free(free); ++k) free = fmt::format("{}_{}", name, k);
    names_.push_back({free, value, false});
    outputs_.push_back({flow});
  }

  const PartLists& lists_;
  const PartedList& parted_;
  const std::int64_t rows_;  // of the part; 0: the whole
  OpListBuilder list_;
  std::map<FlowId, ValueId> here_;
  std::map<FlowId, std::vector<ValueId>> cuts_;
  std::map<std::int64_t, ValueId> firsts_;
  std::vector<Input> inputs_;
  std::vector<Output> outputs_;
  std::vector<OpListBuilder::Output> names_;
};

PartLists::PartLists(const BatchParts& batch, const OpTable& ops)
    : batch_(batch),
      add_(*ops.find_operator("+", 2)),
      fill_(*ops.serving(Serves::fills)),
      cut_(*ops.serving(Serves::cuts)),
      join_(*ops.serving(Serves::joins)) {}

// ---- what runs together ---------------------------------------------------------------------------

void PartLists::begin(const PartedList& parted, const OpList& names) {
  parted_ = &parted;
  names_ = &names;
  find_needed();
  find_repeated();
  find_groups();
  find_leaving();
}

void PartLists::find_needed() {
  needed_.assign(parted_->nodes.size(), false);
  auto need = [&](FlowId flow) {
    if ((*parted_)[flow].node != PartedList::outside) needed_[(*parted_)[flow].node] = true;
  };
  for (FlowId flow : parted_->outputs) need(flow);
  for (std::size_t i = parted_->nodes.size(); i-- > 0;)
    if (needed_[i])
      for (FlowId flow : parted_->nodes[i].in) need(flow);
}

void PartLists::find_repeated() {
  repeated_.assign(parted_->nodes.size(), false);
  for (std::size_t i = 0; i < repeated_.size(); ++i) {
    const PartedList::Node& node = parted_->nodes[i];
    auto is_known = [&](FlowId flow) {
      const PartedList::Flow& from = (*parted_)[flow];
      return from.node == PartedList::outside ? from.constant.is_array() : repeated_[from.node];
    };
    auto is_short = [](const ArrayType& type) { return type.elements() <= longest_repeated; };
    repeated_[i] = node.kind == PartedList::Kind::line && !node.in_parts() && std::ranges::all_of(node.in, is_known) &&
                   std::ranges::all_of(node.call.out, is_short);
  }
}

// Nodes on the whole that read from one another in the same stage are one group; a stage in parts is one.
void PartLists::find_groups() {
  group_.resize(parted_->nodes.size());
  std::iota(group_.begin(), group_.end(), std::size_t{0});
  auto root = [&](std::size_t i) {
    while (group_[i] != i) i = group_[i] = group_[group_[i]];
    return i;
  };
  std::map<int, std::size_t> stages;
  for (std::size_t i = 0; i < group_.size(); ++i) {
    const PartedList::Node& node = parted_->nodes[i];
    if (node.in_parts()) group_[i] = root(stages.try_emplace(node.stage, i).first->second);
    if (node.in_parts() || repeated_[i]) continue;
    for (FlowId flow : node.in) {
      const std::size_t from = (*parted_)[flow].node;
      if (from != PartedList::outside && !repeated_[from] && parted_->nodes[from].stage == node.stage)
        group_[root(from)] = root(i);
    }
  }
  for (std::size_t i = 0; i < group_.size(); ++i) group_[i] = root(i);
}

void PartLists::find_leaving() {
  leaves_.assign(parted_->flows.size(), false);
  for (FlowId flow : parted_->outputs) leaves_[flow.index()] = true;
  for (std::size_t i = 0; i < parted_->nodes.size(); ++i) {
    if (!needed_[i]) continue;
    for (FlowId flow : parted_->nodes[i].in) {
      const std::size_t from = (*parted_)[flow].node;
      if (from != PartedList::outside && !repeated_[from] && group_[from] != group_[i]) leaves_[flow.index()] = true;
    }
  }
}

std::vector<std::vector<std::size_t>> PartLists::groups(int stage) const {
  std::map<std::size_t, std::vector<std::size_t>> by_group;
  for (std::size_t i = 0; i < group_.size(); ++i)
    if (needed_[i] && parted_->nodes[i].stage == stage) by_group[group_[i]].push_back(i);
  std::vector<std::vector<std::size_t>> all;
  for (auto& [group, nodes] : by_group) all.push_back(std::move(nodes));
  std::ranges::sort(all);
  return all;
}

// ---- their lists ----------------------------------------------------------------------------------

PartLists::Made PartLists::of_part(int stage, std::int64_t rows) const {
  std::vector<std::size_t> nodes;
  for (std::size_t i = 0; i < group_.size(); ++i)
    if (needed_[i] && parted_->nodes[i].stage == stage) nodes.push_back(i);
  return made_of(nodes, rows);
}
PartLists::Made PartLists::once(const std::vector<std::size_t>& nodes) const { return made_of(nodes, 0); }

PartLists::Made PartLists::made_of(const std::vector<std::size_t>& nodes, std::int64_t rows) const {
  Draft draft(*this, rows);
  for (std::size_t node : nodes) draft.add(node);
  for (std::size_t node : nodes)
    for (FlowId flow : parted_->nodes[node].out)
      if (leaves_[flow.index()]) draft.give(flow);
  return std::move(draft).finish();
}

PartLists::Made PartLists::constant(FlowId flow) const {
  Draft draft(*this, 0);
  draft.read(flow);
  draft.give(flow);
  return std::move(draft).finish();
}

PartLists::Made PartLists::cutting(const Type& type, int axis) const {
  OpListBuilder list;
  const ValueId x = list.input({"batch", Privilege::in, {}}, type);
  std::vector<OpListBuilder::Output> outputs;
  for (ValueId part : cut(list, x, {.type = type, .axis = axis}, {}))
    outputs.push_back({fmt::format("part_{}", outputs.size()), part, false});
  return {std::make_shared<OpList>(std::move(list).finish({}, "parts", outputs)), {}, {}};
}

PartLists::Made PartLists::joining(const Type& type, int axis) const {
  OpListBuilder list;
  std::vector<ValueId> parts;
  for (const BatchParts::Part& part : batch_.parts)
    parts.push_back(list.input({fmt::format("part_{}", parts.size()), Privilege::in, {}},
                               part_type(type, axis, part.rows()).type()));
  const ValueId y = join(list, parts, {.type = type, .axis = axis}, {});
  return {std::make_shared<OpList>(std::move(list).finish({}, "parts", {{"batch", y, false}})), {}, {}};
}

std::vector<ValueId> PartLists::cut(OpListBuilder& list, ValueId x, const PartedList::Flow& to,
                                    const OpListBuilder::Origin& origin) const {
  OpInstance call{&cut_, {concrete(to.type)}, {Value(), Value(), Value(std::int64_t{to.axis})}, {}};
  List extents;
  for (const BatchParts::Part& part : batch_.parts) {
    call.out.push_back(part_type(to.type, to.axis, part.rows()));
    extents.emplace_back(call.out.back().extents[static_cast<std::size_t>(to.axis)]);
  }
  call.attributes[1] = Value(std::move(extents));
  const std::array<ValueId, 1> in{x};
  return list.append(call, in, origin);
}

ValueId PartLists::join(OpListBuilder& list, const std::vector<ValueId>& parts, const PartedList::Flow& from,
                        const OpListBuilder::Origin& origin) const {
  OpInstance call{&join_, {}, {Value(), Value(std::int64_t{from.axis})}, {concrete(from.type)}};
  for (ValueId part : parts) call.in.push_back(concrete(list.type(part)));
  return list.append(call, parts, origin)[0];
}

ArrayType PartLists::part_type(const Type& type, int axis, std::int64_t rows) const {
  ArrayType part = concrete(type);
  if (axis == PartedList::whole) return part;
  std::int64_t& extent = part.extents[static_cast<std::size_t>(axis)];
  extent = extent / batch_.rows * rows;
  return part;
}

// A place of the list by its name there, else one of its own.
std::string PartLists::name_of(FlowId flow) const {
  const PartedList::Flow& from = (*parted_)[flow];
  if (from.input != PartedList::outside) return names_->inputs[from.input].name;
  const auto output = std::ranges::find(parted_->outputs, flow);
  if (output != parted_->outputs.end())
    return names_->outputs[static_cast<std::size_t>(output - parted_->outputs.begin())].name;
  return fmt::format("v{}", flow.value);
}

}  // namespace taskspec
