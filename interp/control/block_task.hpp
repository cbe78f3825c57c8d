// A graph of Task IR blocks as a value: what `quantize` and `lower` give. It is called like the net that it was made
// of, with tensors; each call is one node, with an op list: the blocks, then what is left to the host.
//
//   let q = quantize(net.forward, images)       q(x).y       export(q, "net.task.txt")       q.report
#pragma once
#include <map>
#include <mutex>

#include "interp/control/build_graph.hpp"
#include "ir/lowering/lower.hpp"

namespace taskspec {

class BlockTask final : public Object, public HasGraph {
 public:
  // `net`: what was lowered; `runs_blocks`: the op that runs what was made of it, with its first operands.
  BlockTask(OpList net, LoweredGraph lowered, const OpDef& runs_blocks, std::vector<Value> operands);
  std::string text() const override;  // "<blocks LeNet_forward: 30 blocks, 44 edges>"

  const LoweredGraph& lowered() const { return lowered_; }
  Value report;  // a Record; none: nothing was measured

  CallResult call(Interpreter& interpreter, std::vector<Value> arguments, const CallSite& site) const;
  // Of one call, with samples of the size that it was made for.
  std::unique_ptr<GraphView> graph(const Interpreter& outer, ViewContents contents, Span span) override;

 private:
  // For tensors of these types; E2001, E2002 where they are others than the net takes.
  std::shared_ptr<const OpList> list_for(const std::vector<Type>& types, Span span) const;
  OpList make_list(const std::vector<Type>& types, Span span) const;

  const OpList net_;
  const LoweredGraph lowered_;
  const OpDef& runs_blocks_;
  const std::vector<Value> operands_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, std::shared_ptr<const OpList>> lists_;  // by types
};

}  // namespace taskspec
