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
#include "interp/control/record.hpp"
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
  Recompute recompute = Recompute::none;
  std::int64_t parts = 1;  // of each batch
};

// Where in the program a part of a step is asked for.
struct StepSite {
  ScopeId scope = ScopeId(0);
  Span span;
};

class Training final : public Object, public TrainedAgent, public HasGraph, public HasCheckpoint {
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
  Value weight(const std::string& path, Span span) const;  // by its path, "c1.w"
  Value gradient(Interpreter& interpreter, const std::string& path, Span span) const;

  // Where it is in its data: updates so far, and epochs of `fit`, which go by this number.
  std::int64_t steps() const { return steps_; }
  std::int64_t epochs() const { return epochs_; }
  void end_epoch() { ++epochs_; }

  // Forward, backward and update as in the last step; E5007 where there was none.
  std::unique_ptr<GraphView> graph(const Interpreter& outer, ViewContents contents, Span span) override;
  // Slots of the agent, moments of the optimizer, metrics and where it is: what is loaded goes on as if it had never
  // stopped. E5007 between backward and update.
  std::vector<NamedArray> contents(Target& target, Span span) override;
  void load(Target& target, const std::string& path) override;
  // Steps as the last one on made-up data of its shapes, in a trial (trial_steps.cpp): nothing here changes by them.
  // `after` hears of each one that ran. E5007 where there was no step.
  StepMemory try_steps(Interpreter& outer, Trial& trial, std::int64_t steps, FunctionRef<void()> after, Span span);
  Value& known_cost();  // of a step of the shapes of the last one; none: not asked for yet

 private:
  // What the values of a step are: those that are given, those that its tasks made so far.
  struct Made {
    const TrainingStep* step = nullptr;
    const std::map<std::uint32_t, Value>* constants = nullptr;
    std::vector<std::vector<Value>> inputs, upstream;  // each: the whole, or then its parts
    std::vector<std::vector<Value>> tasks;
    std::vector<std::uint32_t> ordinals;  // of forward ones
    Value operator[](const StepRef& ref) const;
    std::vector<Value> inputs_of(const StepTask& task) const;
    std::vector<Value> all(const std::vector<StepRef>& refs) const;
  };
  struct Forward {  // the last one, until backward
    ForwardPlan* plan = nullptr;
    Made made;
    Value prediction;
    ScopeId scope = ScopeId(0);
  };
  struct Weight {
    TensorSlot slot;
    Value gradient = {};              // none: nothing since the last update
    std::vector<Value> moments = {};  // of the optimizer, once it was updated
  };
  ForwardPlan& plan_for(Interpreter& interpreter, const std::vector<Value>& arguments, Span span);
  void note_lost_weights(const ForwardPlan& plan) const;
  const LossPlan& loss_for(Interpreter& interpreter, const Type& wanted, Span span);
  std::vector<Value> backward_of_loss(RecordTarget& target, const LossPlan& loss, const Value& goal,
                                      const StepSite& site);
  static void add_reverses(RecordTarget& target, Made& made, bool same_scope, const StepSite& site);
  void add_gradients(Interpreter& interpreter, const StepSite& site);

  Weight& weight_of(const TensorSlot& slot);
  const Weight& weight_at(const std::string& path, Span span) const;

  const Function& rule() const;  // of the optimizer
  std::vector<std::string> moment_names() const;
  void make_moments(Target& target, Weight& weight) const;
  Value rate(Interpreter& interpreter, const StepSite& site) const;
  StepMemory step_memory(const ForwardPlan& plan) const;
  Value clip_factor(Interpreter& interpreter, const StepSite& site);
  void update_weight(Interpreter& interpreter, Weight& weight, const Value& rate, const StepSite& site);
  std::shared_ptr<const OpList> list_of(Interpreter& interpreter, const Value& function,
                                        const std::vector<GenericArgument>& arguments);
  // One task by a function of the module, of the types of what it is given.
  Value run(Interpreter& interpreter, const std::string& function, std::vector<Value> tensors,
            const std::vector<Value>& numbers, const StepSite& site);

  struct Saved {  // of its state, a tensor
    std::string name;
    Value* value = nullptr;
    std::string place;  // that it is a version of; empty: of none
  };
  std::vector<Saved> state(Target& target);
  void forget_contents(GraphView& view, RecordTarget& target);

  const Program& program_;
  const OpTable& ops_;
  const TrainOptions options_;
  std::map<std::string, ForwardPlan> plans_;  // by types of arguments
  std::map<std::string, LossPlan> losses_;
  std::map<std::string, std::shared_ptr<const OpList>> lists_;  // of functions of the module, by what they are given
  Forward forward_;
  std::vector<std::variant<Type, Value>> last_arguments_;  // of forward: a tensor by its type
  std::optional<Type> last_target_;                        // of backward
  std::vector<Weight> weights_;                            // all slots
  bool stepped_ = false;                                   // backward since the last update
  Value loss_;
  std::vector<Value> totals_;  // of metrics
  double rows_ = 0;            // that they count
  std::int64_t steps_ = 0, epochs_ = 0;
  std::map<std::string, Value> costs_;  // by the types of a step
};

}  // namespace taskspec
