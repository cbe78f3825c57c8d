#include "ir/gradient/parted_list.hpp"

#include <algorithm>
#include <tuple>

namespace taskspec {

namespace {

// What a record says that its call is made of, as a list.
class MadeOf final : public CallBuilder {
 public:
  MadeOf(OpInstance call, OpListBuilder::Origin origin) : call_(std::move(call)), origin_(std::move(origin)) {
    for (const ArrayType& type : call_.in) made_.input({"x", Privilege::in, {}}, type.type());
  }
  OpList list(std::vector<Var> (*made_of)(CallBuilder&)) && {
    std::vector<OpListBuilder::Output> outputs;
    for (Var var : made_of(*this)) outputs.push_back({"y", ValueId(var), false});
    return std::move(made_).finish({}, std::string(call_.op->name), outputs);
  }

  const OpInstance& call() const override { return call_; }
  Var input(std::size_t i) override { return static_cast<Var>(i); }
  Var emit(const OpDef& op, const std::vector<std::variant<Var, Value>>& operands) override {
    std::vector<OpListBuilder::Operand> given;
    for (const auto& operand : operands) {
      if (const Var* var = std::get_if<Var>(&operand))
        given.emplace_back(ValueId(*var));
      else
        given.emplace_back(std::get<Value>(operand));
    }
    return made_.emit(op, given, origin_)[0].value;
  }
  const ArrayType& type(Var v) override {
    auto [known, fresh] = types_.try_emplace(v);
    if (fresh) known->second = concrete(made_.type(ValueId(v)));
    return known->second;
  }

 private:
  const OpInstance call_;
  const OpListBuilder::Origin origin_;
  std::map<Var, ArrayType> types_;
  OpListBuilder made_;
};

class Parting {
 public:
  Parting(std::int64_t rows, const OpTable& ops) : rows_(rows), add_(*ops.find_operator("+", 2)) {}

  PartedList run(const OpList& list, const std::vector<int>& axes) && {
    std::vector<FlowId> inputs;
    for (std::size_t i = 0; i < list.inputs.size(); ++i)
      inputs.push_back(add({list.types[i], axes[i], false, PartedList::outside, {}, i}));
    made_.outputs = append(list, inputs);
    for (const PartedList::Node& node : made_.nodes) made_.stages = std::max(made_.stages, node.stage + 1);
    return std::move(made_);
  }

 private:
  FlowId add(PartedList::Flow flow) {
    made_.flows.push_back(std::move(flow));
    return FlowId(made_.flows.size() - 1);
  }
  const PartedList::Flow& at(FlowId flow) const { return made_.flows[flow.index()]; }
  bool is_parted(FlowId flow) const { return at(flow).axis != PartedList::whole; }

  std::vector<FlowId> append(const OpList& list, const std::vector<FlowId>& inputs) {
    std::vector<FlowId> here = inputs;
    for (const Value& constant : list.constants)
      here.push_back(add({list.types[here.size()], PartedList::whole, false, PartedList::outside, constant}));
    for (const OpList::Line& line : list.lines) {
      std::vector<FlowId> in;
      for (ValueId value : line.in) in.push_back(here[value.index()]);
      const std::vector<FlowId> out =
          call(instance(list, line), in, {line.function, line.call, line.span, line.site, line.task});
      here.insert(here.end(), out.begin(), out.end());
    }
    std::vector<FlowId> outputs;
    for (const OpList::Output& output : list.outputs) outputs.push_back(here[output.value.index()]);
    return outputs;
  }

  // ---- one call ----

  std::vector<FlowId> call(OpInstance op, std::vector<FlowId> in, const OpListBuilder::Origin& origin) {
    if (std::ranges::any_of(in, [&](FlowId flow) { return is_parted(flow); })) {
      const std::optional<Split> split = best_split(op, in);
      if (split && split->made_of) return append(MadeOf(op, origin).list(split->made_of), in);
      if (split) return in_parts(std::move(op), in, *split, origin);
    }
    for (FlowId& flow : in) flow = joined(flow, origin);
    return node(PartedList::Kind::line, std::move(op), {}, in, origin, {});
  }

  // The first that takes parts as they lie and cuts least of what is there as a whole; one that adds up comes after
  // others, one that is made of other calls last.
  std::optional<Split> best_split(const OpInstance& op, const std::vector<FlowId>& in) const {
    if (!op.op->sharding.splits) return std::nullopt;
    std::optional<Split> best;
    std::tuple<bool, bool, double> least;
    for (Split& split : op.op->sharding.splits(op)) {
      if (!fits(op, in, split)) continue;
      double cuts = 0;
      for (std::size_t i = 0; i < in.size(); ++i)
        if (split.in[i] != PartedList::whole && !is_parted(in[i])) cuts += static_cast<double>(op.in[i].bytes());
      const std::tuple cost(split.made_of != nullptr, split.sums, cuts);
      if (best && cost >= least) continue;
      least = cost;
      best = std::move(split);
    }
    return best;
  }
  bool fits(const OpInstance& op, const std::vector<FlowId>& in, const Split& split) const {
    for (std::size_t i = 0; i < in.size(); ++i)
      if (is_parted(in[i]) ? split.in[i] != at(in[i]).axis : !has_rows(op.in[i], split.in[i])) return false;
    for (std::size_t k = 0; k < op.out.size(); ++k)
      if (!has_rows(op.out[k], split.out[k])) return false;
    return true;
  }
  // As many elements along the axis for each row of the batch.
  bool has_rows(const ArrayType& type, int axis) const {
    return axis == PartedList::whole || type.extents[static_cast<std::size_t>(axis)] % rows_ == 0;
  }

  std::vector<FlowId> in_parts(OpInstance op, std::vector<FlowId> in, const Split& split,
                               const OpListBuilder::Origin& origin) {
    const std::optional<FlowId> once = split.once == Split::none ? std::nullopt : std::optional(in[split.once]);
    for (std::size_t i = 0; i < in.size(); ++i)
      if (split.in[i] != PartedList::whole) in[i] = cut(in[i], split.in[i], origin);
    std::vector<FlowId> out = node(PartedList::Kind::line, std::move(op), split, in, origin, split.out);
    if (!split.sums) return out;
    for (FlowId& flow : out) {
      made_.flows[flow.index()].sums = true;
      flow = node(PartedList::Kind::sum, {}, {}, {flow}, origin, {})[0];
      if (once) flow = node(PartedList::Kind::line, sum_of(*once, flow), {}, {*once, flow}, origin, {})[0];
    }
    return out;
  }
  OpInstance sum_of(FlowId a, FlowId b) const {
    const ArrayType type = concrete(at(a).type);
    return {&add_, {type, concrete(at(b).type)}, {Value(), Value()}, {type}};
  }

  FlowId joined(FlowId flow, const OpListBuilder::Origin& origin) {
    if (!is_parted(flow)) return flow;
    if (at(flow).input != PartedList::outside) return again(flow, PartedList::whole);
    return once(flow, PartedList::whole, [&] { return node(PartedList::Kind::join, {}, {}, {flow}, origin, {})[0]; });
  }
  FlowId cut(FlowId flow, int axis, const OpListBuilder::Origin& origin) {
    if (at(flow).axis == axis) return flow;
    if (at(flow).input != PartedList::outside) return again(flow, axis);
    return once(flow, axis, [&] { return node(PartedList::Kind::cut, {}, {}, {flow}, origin, {axis})[0]; });
  }
  // An input in another way: whoever makes the tasks has it in both.
  FlowId again(FlowId flow, int axis) {
    return once(flow, axis, [&] {
      PartedList::Flow other = at(flow);
      other.axis = axis;
      return add(std::move(other));
    });
  }
  template <class Make>
  FlowId once(FlowId flow, int axis, const Make& make) {
    const auto known = other_ways_.find({flow, axis});
    if (known != other_ways_.end()) return known->second;
    const FlowId made = make();
    other_ways_.emplace(std::pair(flow, axis), made);
    return made;
  }

  // ---- nodes ----

  // `axes` of what it makes, or none: all of it is whole. A node in parts has some, or gives parts of sums.
  std::vector<FlowId> node(PartedList::Kind kind, OpInstance op, Split split, const std::vector<FlowId>& in,
                           const OpListBuilder::Origin& origin, const std::vector<int>& axes) {
    const bool in_parts = kind == PartedList::Kind::line && !axes.empty();
    PartedList::Node made{kind, std::move(op), std::move(split), origin, in, {}, in_parts ? 1 : 0};
    for (FlowId flow : in) {
      if (at(flow).node == PartedList::outside) continue;
      const PartedList::Node& from = made_.nodes[at(flow).node];
      made.stage = std::max(made.stage, from.stage + (from.in_parts() != in_parts));
    }
    const bool keeps_type = kind != PartedList::Kind::line;
    for (std::size_t k = 0; k < (keeps_type ? 1 : made.call.out.size()); ++k) {
      const Type type = keeps_type ? at(in[0]).type : made.call.out[k].type();
      made.out.push_back(add({type, axes.empty() ? PartedList::whole : axes[k], false, made_.nodes.size()}));
    }
    made_.nodes.push_back(std::move(made));
    return made_.nodes.back().out;
  }

  const std::int64_t rows_;
  const OpDef& add_;
  std::map<std::pair<FlowId, int>, FlowId> other_ways_;
  PartedList made_;
};

}  // namespace

PartedList parted(const OpList& list, const std::vector<int>& axes, std::int64_t rows, const OpTable& ops) {
  return Parting(rows, ops).run(list, axes);
}

}  // namespace taskspec
