// A call that a run repeats, while it is recorded: which agents and places keep something from one step to the next.
//
//   StepRecording steps(outer, inner, frame, run, 16);    // what comes from outside gets places in the session
//   Value value = inner.value_of(frame, block);           // `made` hears of agents that the call makes
//   session.run_steps(steps.taken(value, between), span);
#pragma once
#include "interp/control/interpreter.hpp"
#include "interp/control/time_steps.hpp"

namespace taskspec {

class StepRecording {
 public:
  // `run`: the call in `frame`; `inner` records into the session that it opened.
  StepRecording(Interpreter& outer, Interpreter& inner, Frame& frame, CallId run, std::int64_t count);
  StepRecording(const StepRecording&) = delete;

  void made(const Value& agent);  // which has the first values of its slots
  const Value& number() const { return number_; }
  // What the session runs; `called` is the invocation that the call gave; `between`
  // is called before each step.
  TimeSteps taken(const Value& called, FunctionRef<void()> between) const;
  void undo();  // agents and variables are as they were: nothing of it happened

 private:
  struct Kept {
    Agent* agent;
    Value holder;               // of one that the call made
    std::vector<Value> first;   // of its slots, in the session
    std::vector<Value> before;  // as they were outside of it; none: it was made inside
  };
  struct Variable {
    VariableId variable;
    Value first, before;
  };
  void keep(Agent& agent);

  Interpreter& inner_;
  Frame& frame_;
  const std::int64_t count_;
  Value number_;
  std::vector<Kept> agents_;
  std::vector<Variable> variables_;
};

}  // namespace taskspec
