// A net in training: what `train(net, ...)` gives. Forward tasks, the loss, reverses and updates of weights are tasks
// of the graph of the session that the program records; nothing runs before somebody asks for it.
//
//   m.forward(x)     net.forward#0
//   m.backward(y)    mse_avg#0, mse_avg#0.backward, net.forward#0.backward
//   m.update()       sgd#0, sgd#1, ...
#pragma once
#include <map>
#include <optional>

#include "interp/control/build_graph.hpp"
#include "interp/control/op_lists.hpp"
#include "interp/train/forward_plan.hpp"
#include "interp/train/loss_plan.hpp"
#include "interp/train/optimizer.hpp"
#include "interp/train/step_memory.hpp"

namespace taskspec {

struct TrainOptions {
  std::shared_ptr<Agent> agent;
  FunctionId forward;  // its trained member
  std::shared_ptr<const Optimizer> optimizer;
  StepFunctions functions;
  std::map<std::string, Value> module;  // functions of the module `training`, by name
  double clip = 0;                      // the norm of all gradients; 0: any
};

// Where in the program a part of a step is asked for.
struct StepSite {
  ScopeId scope = ScopeId(0);
  Span span;
};

class Training final : public Object, public TrainedAgent, public HasGraph {
 public:
  Training(const Program& program, const OpTable& ops, TrainOptions options);
  std::string text() const override;
  const std::shared_ptr<Agent>& agent() const { return options_.agent; }

  CallResult call(Interpreter& interpreter, std::vector<Value> arguments, ScopeId scope, Span span) override;
  // E5007 where there was no forward before.
  void backward(Interpreter& interpreter, const Value& target, const StepSite& site);
  void update(Interpreter& interpreter, const StepSite& site);
  void reset_metrics();
  Value loss(Span span) const;  // of the last backward; E5007
  Value metric(Interpreter& interpreter, const std::string& name, const StepSite& site);
  Value gradient(Interpreter& interpreter, const std::string& path, Span span);
  std::int64_t steps() const { return steps_; }
  // Forward, backward and update as in the last step; E5007 where there was none.
  std::unique_ptr<GraphView> graph(const Interpreter& outer, ViewContents contents, Span span) override;
  // Steps as the last one on made-up data of its shapes, in a trial (trial_steps.cpp): nothing here changes by them.
  // `after` hears of each one that ran. E5007 where there was no step.
  StepMemory try_steps(Interpreter& outer, Trial& trial, std::int64_t steps, FunctionRef<void()> after, Span span);
  Value& known_cost();  // of a step of the shapes of the last one; none: not asked for yet

 private:
  struct Forward {  // the last one, until backward
    ForwardPlan* plan = nullptr;
    std::vector<Value> inputs;             // of the graph of the step
    std::vector<std::vector<Value>> made;  // by task
    std::vector<std::uint32_t> ordinals;
    Value prediction;
    ScopeId scope = ScopeId(0);
  };
  struct Weight {
    ForwardPlan::SlotInput slot;
    Value gradient;              // none: nothing since the last update
    std::vector<Value> moments;  // of the optimizer, once it was updated
  };
  Value value_of(const StepRef& ref, const Value& upstream) const;
  std::vector<Value> inputs_of(const StepTask& task, const Value& upstream = {}) const;
  ForwardPlan& plan_for(Interpreter& interpreter, const std::vector<Value>& arguments, Span span);
  StepMemory step_memory(const ForwardPlan& plan) const;
  Value sum(Interpreter& interpreter, const Value& a, const Value& b, const StepSite& site);
  void note_slots(ForwardPlan& plan);
  void update_weight(Interpreter& interpreter, Weight& weight, const Value& factor, const StepSite& site);
  Value clip_factor(Interpreter& interpreter, const StepSite& site);
  Value run_list(Interpreter& interpreter, const std::string& key, const std::string& function,
                 std::vector<Value> tensors, std::vector<GenericArgument> more, const StepSite& site);

  const Program& program_;
  const OpTable& ops_;
  const TrainOptions options_;
  std::map<std::string, ForwardPlan> plans_;  // by types of arguments
  std::map<std::string, LossPlan> losses_;
  std::map<std::string, std::shared_ptr<const OpList>> lists_;  // of functions of the module, by what they are given
  Forward forward_;
  std::vector<std::variant<Type, Value>> last_arguments_;  // of forward: a tensor by its type
  std::optional<Type> last_target_;                        // of backward
  std::vector<Weight> weights_;
  bool stepped_ = false;  // backward since the last update
  Value loss_;
  std::vector<Value> totals_;           // of metrics
  double rows_ = 0;                     // that they count
  std::int64_t steps_ = 0;              // updates so far
  std::map<std::string, Value> costs_;  // by the types of a step
};

}  // namespace taskspec
