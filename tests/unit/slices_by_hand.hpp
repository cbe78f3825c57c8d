// Programs cut in two in the plainest way, so that what is said of slices is tested without the phase that makes them:
// no pass at all, and only what these tests need: while, if and for with host conditions, calls, receives, tensor(v).
#pragma once
#include <string>

#include "ir/slices.hpp"
#include "tests/unit/checking.hpp"

namespace taskspec::testing {

class PlainCut {
 public:
  explicit PlainCut(const Program& program) {
    slices_.program = program;
    slices_.parts.resize(program.functions.size());
    const std::size_t count = program.functions.size();
    for (std::size_t i = 0; i < count; ++i)
      if (is_cut(program.functions[i])) cut(FunctionId(i));
  }
  Slices take() { return std::move(slices_); }

 private:
  static bool is_cut(const Function& f) { return f.kind == FunctionKind::fn || f.kind == FunctionKind::module; }

  static bool is_graph_type(const Type& type) { return type.is_tensor() || type.is(Type::Kind::invocation); }

  bool is_graph_value(const Function& f, CallId id) const { return is_graph_type(f[id].type); }

  void cut(FunctionId id) {
    whole_ = id;
    sites_ = 0;
    Function host = slices_.program[id], graph = host;
    host.part = Part::host;
    graph.part = Part::graph;
    host_ = &host;
    graph_ = &graph;
    auto [host_block, graph_block] = block(slices_.program[id].body, 0);
    host.body = host_block;
    graph.body = graph_block;
    if (!host_block.calls.empty()) slices_.parts[id.index()].host = add(std::move(host));
    if (!graph_block.calls.empty()) slices_.parts[id.index()].graph = add(std::move(graph));
  }

  FunctionId add(Function part) {
    slices_.program.functions.push_back(std::move(part));
    return FunctionId(slices_.program.functions.size() - 1);
  }

  CallId append(Function& part, Call call) {
    part.calls.push_back(std::move(call));
    return CallId(part.calls.size() - 1);
  }

  std::uint32_t channel(bool to_host, Carries what, CallId value, std::uint32_t loops) {
    const Call& call = slices_.program[whole_][value];
    slices_.channels.push_back({whole_, sites_++, to_host, loops, {{what, call.type, value, call.span}}});
    return static_cast<std::uint32_t>(slices_.channels.size() - 1);
  }

  static Call message(Form form, std::uint32_t channel, const Call& value) {
    Call call;
    call.form = form;
    call.index = channel;
    call.span = value.span;
    if (form == Form::dequeue) call.type = value.type;
    return call;
  }

  // A host value goes to the graph: the call of the graph part becomes a dequeue.
  void send(CallId value, Carries what, std::uint32_t loops, Block& host, Block& graph) {
    const Call& whole = slices_.program[whole_][value];
    const std::uint32_t id = channel(false, what, value, loops);
    Call put = message(Form::enqueue, id, whole);
    put.in = {value};
    host.calls.push_back(append(*host_, std::move(put)));
    (*graph_)[value] = message(Form::dequeue, id, whole);
    graph.calls.push_back(value);
  }

  void receive(CallId value, std::uint32_t loops, Block& host, Block& graph) {
    const Call& whole = slices_.program[whole_][value];
    const std::uint32_t id = channel(true, Carries::scalar, value, loops);
    graph.calls.push_back(value);
    Call put = message(Form::enqueue, id, whole);
    put.in = {value};
    graph.calls.push_back(append(*graph_, std::move(put)));
    (*host_)[value] = message(Form::dequeue, id, whole);
    host.calls.push_back(value);
  }

  std::pair<Block, Block> block(const Block& whole, std::uint32_t loops) {
    Block host, graph;
    for (CallId id : whole.calls) call(id, loops, host, graph);
    host.result = graph.result = whole.result;
    return {host, graph};
  }

  void call(CallId id, std::uint32_t loops, Block& host, Block& graph) {
    const Function& f = slices_.program[whole_];
    const Call& whole = f[id];
    if (!whole.blocks.empty()) return control(id, loops, host, graph);
    if (whole.form == Form::receive) return receive(id, loops, host, graph);
    bool works_on_tensors = is_graph_type(whole.type);
    for (CallId in : whole.in) works_on_tensors = works_on_tensors || is_graph_value(f, in);
    const bool both = whole.form == Form::call || whole.form == Form::constant || whole.form == Form::type;
    if (!works_on_tensors || (both && !is_graph_type(whole.type))) host.calls.push_back(id);
    if (whole.form == Form::constant || whole.form == Form::type) return graph.calls.push_back(id);
    if (!works_on_tensors) return;
    for (CallId in : whole.in) {
      const Form form = f[in].form;
      if (is_graph_value(f, in))
        (*host_)[id].in.clear();
      else if (form != Form::constant && form != Form::type && form != Form::parameter && form != Form::loop)
        send(in, Carries::value, loops, host, graph);
    }
    graph.calls.push_back(id);
  }

  void control(CallId id, std::uint32_t loops, Block& host, Block& graph) {
    const Call& whole = slices_.program[whole_][id];
    if (whole.form == Form::if_) send(whole.in[0], Carries::predicate, loops, host, graph);
    const std::uint32_t inside = loops + (whole.form == Form::if_ ? 0 : 1);
    for (std::size_t i = 0; i < whole.blocks.size(); ++i) {
      auto [host_block, graph_block] = block(whole.blocks[i], inside);
      if (whole.form == Form::while_ && i == 0) {
        graph_block = {};
        send(whole.blocks[0].result, Carries::predicate, inside, host_block, graph_block);
        graph_block.result = whole.blocks[0].result;
      }
      (*host_)[id].blocks[i] = host_block;
      (*graph_)[id].blocks[i] = graph_block;
    }
    host.calls.push_back(id);
    graph.calls.push_back(id);
  }

  Slices slices_;
  FunctionId whole_;
  std::uint32_t sites_ = 0;
  Function *host_ = nullptr, *graph_ = nullptr;
};

inline Slices cut_by_hand(const Program& program) { return PlainCut(program).take(); }

}  // namespace taskspec::testing
