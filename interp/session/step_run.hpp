// What `time_steps` repeats, as a session runs it: the pending tasks are cut in two, those that depend on the step or
// on a state and those that do not. The latter run once; the former are one batch with one plan, executed in each step
// on the versions of the states that the step before has left, in their own bytes.
#pragma once
#include <map>
#include <set>

#include "interp/session/session.hpp"

namespace taskspec {

class StepRun {
 public:
  StepRun(Session& session, const TimeSteps& steps, Span place);
  ~StepRun();  // of a run that failed: what is left of it
  StepRun(const StepRun&) = delete;
  std::vector<Array> run();

 private:
  // Where one of the outputs is found: among the results of the batch, among its inputs (what a state was before the
  // step), or elsewhere, the same in all steps.
  struct Output {
    enum class From : std::uint8_t { result, state, outside } from = From::outside;
    std::size_t position = 0;
    Array all;
  };
  struct State {
    Ref first;  // what it is before the first step
    std::size_t input = 0, result = 0;
  };
  using Key = std::pair<std::uint32_t, std::uint32_t>;
  static Key key(Ref ref) { return {ref.id, ref.is_future() ? ref.slot + 1u : 0u}; }
  static Ref ref_of(const Value& tensor) { return tensor.as<Tensor>()->ref; }

  bool varies(NodeId node) const;
  std::set<NodeId> in_front() const;
  std::vector<NodeId> take_varying();
  void prepare(std::vector<NodeId> nodes);
  void bind_states();
  void bind_outputs();
  void stack_outside();
  void step(std::int64_t k);
  void copy_row(Output& output, std::int64_t k, Location from) const;
  void check(const Outcome& outcome);
  void pass_on(Outcome& outcome, bool last);
  void give_up(std::uint32_t cause);
  void commit(const Outcome& outcome);
  [[noreturn]] void raise_poison(Ref ref);

  Session& session_;
  const TimeSteps& steps_;
  const Span place_;
  std::map<Key, bool> varying_;  // references that differ from step to step
  Batch batch_;
  const Plans::Made* plan_ = nullptr;
  std::vector<Location> inputs_;
  std::size_t number_ = SIZE_MAX;  // input that is the number of the step
  std::vector<State> states_;
  std::vector<bool> owned_;  // by input: the location of a state, which is this run's own
  std::vector<Output> outputs_;
};

}  // namespace taskspec
