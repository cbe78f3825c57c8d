// One function, call by call in the order of the text: what its values depend on, and what decides whether they are
// made. Internal to local_values.cpp.
#pragma once
#include <span>
#include <utility>

#include "frontend/check/local_values.hpp"

namespace taskspec::checking {

// A local value that decides about the graph, seen in the function where it is local whatever the parameters are.
struct Divergence {
  FunctionId function;
  CallId source;  // what is local by itself
  CallId value;   // what is made of it and decides, or is handed over,
  Span used;      // as it is written there
  bool decides = false;
  Span operation;
  Span inside;  // of a function that is called: where it decides there; invalid: it does so here
  Span given;   // it decides about a function that is given here
};

// What a walk asks of the rest of the program.
class LocalPeers {
 public:
  virtual const LocalSummary& summary(FunctionId fn) = 0;
  virtual LocalFacts global(ModuleId module, VariableId variable) = 0;
  virtual void found(const Divergence& divergence) = 0;

 protected:
  ~LocalPeers() = default;
};

class LocalWalk {
 public:
  LocalWalk(const Program& program, FunctionId id, LocalBooks& books, LocalPeers& peers)
      : program_(program), function_(program[id]), id_(id), books_(books), peers_(peers) {}

  LocalSummary run();                     // a fn
  void run(std::span<const CallId> top);  // of a top level: what its body has grown by

 private:
  // What decides over a stretch of code: on what it depends, and a value to show for it.
  struct Decision {
    Dependence by;
    CallId value;
    Span used;
    Decision& operator|=(const Decision& other);
  };

  void walk(const Block& block);
  void visit(CallId id);
  void walk_blocks(CallId id, const Call& call);
  void walk_branches(const Call& call);
  void walk_turns(CallId loop, const Call& call);
  void leave(const Call& call);
  void leave_places();
  Decision decided_by(const Call& call) const;
  Decision decision() const;  // over what stands here

  const LocalFacts& facts(CallId id) const;
  const LocalFacts& facts(VariableId id) const;
  void note(CallId id, const LocalFacts& facts);
  void assign(VariableId id, LocalFacts value, bool in_part = false);
  void write(CallId id, const Call& call, const LocalFacts& value);

  LocalFacts facts_of(CallId id, const Call& call);
  LocalFacts of_parameter(std::size_t k) const;
  LocalFacts of_operands(CallId id, const Call& call);
  LocalFacts of_function_value(CallId id, const Call& call);
  LocalFacts of_fn_call(CallId id, const Call& call);

  // By parameter of the callee: the operand that it gets.
  using Given = std::vector<std::size_t>;
  Given given(const Call& call) const;
  Dependence here(const Dependence& there, CallId site, const Call& call, const Given& given,
                  Dependence LocalFacts::*what) const;
  void demands_of(const LocalSummary& callee, const Call& call, CallId site, const Given& given);

  Dependence acts_of(CallId id, const Call& call) const;
  Dependence calls_back(const Call& call) const;
  void act(const Dependence& acts, CallId id);
  void hand_over(const Dependence& acts, CallId id);
  void demand(const Decision& by, const LocalSummary::Demand& at);
  void owe(std::uint32_t key, const LocalSummary::Demand& demand);
  Decision narrowed(Decision by, const Dependence& to) const;
  static Span span_of(const Call& call, std::size_t operand) {
    return operand < call.in_spans.size() ? call.in_spans[operand] : call.span;
  }
  Decision operand(const Call& call, std::size_t i, Dependence LocalFacts::*what) const;

  const Program& program_;
  const Function& function_;
  const FunctionId id_;
  LocalBooks& books_;
  LocalPeers& peers_;
  LocalSummary made_;
  Decision control_;       // of the blocks around
  Decision rest_;          // what may have kept control from coming here: exits in front
  Decision returned_;      // those of them that left the function
  CallId domain_;          // of the loop around
  std::size_t depth_ = 0;  // blocks around
  std::vector<CallId> loops_;
  std::map<std::uint32_t, Decision> left_;  // by loop: exits that may end it
  bool changed_ = false;                    // since the outermost loop began its turn
};

}  // namespace taskspec::checking
