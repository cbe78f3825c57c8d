#include "ir/lowering/graph_list.hpp"

#include <map>

#include "ir/graph/op_list_builder.hpp"

namespace taskspec {

namespace {

class GraphLister {
 public:
  GraphLister(const TaskGraph& graph, FunctionRef<Result<OpList>(NodeId)> list_of) : graph_(graph), list_of_(list_of) {}

  Result<OpList> run() {
    for (const GraphInput& input : graph_.inputs())
      inputs_.push_back(made_.input({input.name, input.privilege, {}}, input.type));
    for (std::size_t k = 0; k < graph_.size(); ++k)
      if (!add(NodeId(k))) return diags_;
    std::vector<OpListBuilder::Output> outputs;
    for (const GraphResult& result : graph_.results()) outputs.push_back({result.name, value_of(result.ref)});
    return std::move(made_).finish({}, graph_.name, outputs);
  }

 private:
  bool add(NodeId node) {
    if (graph_.definition(node).structured())
      return refuse(node, "tensors decide what it does, and blocks all run in each step");
    if (graph_.definition(node).kind == Definition::Kind::launch) return refuse(node, "blocks know no regions");
    std::vector<ValueId> in;
    for (Ref ref : graph_.in(node)) in.push_back(value_of(ref));
    if (graph_.definition(node).kind == Definition::Kind::op) return keep(node, append_op(node, in));
    Result<OpList> list = list_of_(node);
    if (!list) {
      diags_.append(list.diags());
      return false;
    }
    if (in.size() != list->inputs.size()) return refuse(node, "it reads a number that may be another one in each run");
    return keep(node, made_.append(*list, in));
  }

  bool keep(NodeId node, const std::vector<ValueId>& out) {
    for (std::size_t slot = 0; slot < out.size(); ++slot) made_of_[{node.value, slot}] = out[slot];
    return true;
  }

  std::vector<ValueId> append_op(NodeId node, const std::vector<ValueId>& in) {
    OpInstance call{graph_.definition(node).op, {}, graph_.arguments(node), {}};
    for (const TypeId type : graph_.out(node)) call.out.push_back(concrete(graph_.type(type)));
    return made_.append(call, in, {{}, {}, graph_[node].span});
  }

  bool refuse(NodeId node, const std::string& reason) {
    diags_.error("E4011", graph_[node].span, "'" + graph_.label(node) + "' cannot be made of blocks: " + reason)
        .help("give it to the host: lower the parts in front of it and behind it apart");
    return false;
  }

  ValueId value_of(Ref ref) {
    switch (ref.kind) {
      case Ref::Kind::input:
        return inputs_[ref.id];
      case Ref::Kind::future:
        return made_of_.at({ref.id, ref.slot});
      case Ref::Kind::field:
        bug("a field of a region in a list of ops");
      case Ref::Kind::constant:
        break;
    }
    auto [place, is_new] = constants_.try_emplace(ref.id);
    if (is_new) place->second = made_.constant(graph_.constant(ref.id), graph_.constant_type(ref.id));
    return place->second;
  }

  const TaskGraph& graph_;
  FunctionRef<Result<OpList>(NodeId)> list_of_;
  OpListBuilder made_;
  std::vector<ValueId> inputs_;
  std::map<std::pair<std::uint32_t, std::size_t>, ValueId> made_of_;
  std::map<std::uint32_t, ValueId> constants_;
  Diags diags_;
};

}  // namespace

Result<OpList> graph_list(const TaskGraph& graph, FunctionRef<Result<OpList>(NodeId)> list_of) {
  return GraphLister(graph, list_of).run();
}

}  // namespace taskspec
