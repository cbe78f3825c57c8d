// The two ends of the channels between host and graph program: how values leave the one and arrive at the other.
//
//   host.set_partner(host_end);  graph.set_partner(graph_end);
//
// Nothing that one side may still change is shared: lists are copied, tensors become contents, names or nothing.
#pragma once
#include <functional>

#include "interp/control/control_log.hpp"
#include "interp/control/exchange.hpp"
#include "interp/control/interpreter.hpp"

namespace taskspec {

// A receive whose task failed: the host raises it where it uses the value.
class FailedReceive final : public Object {
 public:
  explicit FailedReceive(Diags d) : diags(std::move(d)) {}
  Diags diags;
  std::string text() const override { return "<failed>"; }
};

// Thrown where one program waits for the other one, which has ended.
struct PartnerEnded {};

class ChannelEnd : public Partner {
 public:
  // `pause` is called before each message, and what is done before it is waited for; for tests.
  ChannelEnd(const CutProgram& cut, Exchange& exchange, Part side, std::function<void(Part)> pause = {});
  FunctionId part(FunctionId whole) const override;
  FunctionId whole(FunctionId part) const override { return whole_of_[part.index()]; }
  void set_log(ControlLog* log) { log_ = log; }  // of this side; none: nobody asks

 protected:
  void put(const Frame& frame, const Call& call, Values values);
  Value take(const Frame& frame, const Call& call);

  const CutProgram& cut_;
  Exchange& exchange_;
  const std::function<void(Part)> pause_;

 private:
  const Part side_;
  ControlLog* log_ = nullptr;
  std::vector<FunctionId> whole_of_;  // by part
};

class HostChannelEnd final : public ChannelEnd {
 public:
  HostChannelEnd(const CutProgram& cut, Exchange& exchange, std::function<void(Part)> pause = {})
      : ChannelEnd(cut, exchange, Part::host, std::move(pause)) {}
  void enqueue(Interpreter& interpreter, Frame& frame, const Call& call) override;
  Value dequeue(Interpreter& interpreter, Frame& frame, const Call& call) override;
  bool heard_failure() const { return heard_failure_; }  // by a receive, with which the program ends

 private:
  bool heard_failure_ = false;
};

class GraphChannelEnd final : public ChannelEnd {
 public:
  GraphChannelEnd(const CutProgram& cut, Exchange& exchange, std::function<void(Part)> pause = {})
      : ChannelEnd(cut, exchange, Part::graph, std::move(pause)) {}
  void enqueue(Interpreter& interpreter, Frame& frame, const Call& call) override;
  Value dequeue(Interpreter& interpreter, Frame& frame, const Call& call) override;

 private:
  static Value outgoing(Target& target, Carries what, const Value& value, Span span);
};

}  // namespace taskspec
