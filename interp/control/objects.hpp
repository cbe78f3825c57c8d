// Values of the host program that belong to the runtime: handles of tensors, invocations, callables,
// agents and reports. What each prints is a part of the language.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ir/graph/task_graph.hpp"
#include "ir/program/program.hpp"
#include "ir/program/wiring.hpp"

namespace taskspec {

class Interpreter;
class Recorder;  // recorder.hpp

// A future: names an entry of another task's lookup table, holds no contents. While it lives, the session
// keeps that entry.
class Tensor final : public Object {
 public:
  Tensor(Recorder& recorder, Ref ref, std::shared_ptr<const Type> type);
  Tensor(const Tensor&) = delete;
  ~Tensor() override;

  Recorder& recorder() const;  // whose graph `ref` is of
  bool is_of(const Recorder& one) const { return recorder_ == &one; }
  const Ref ref;
  const std::shared_ptr<const Type> shared_type;  // with all handles of values of this type
  const Type& type = *shared_type;
  PlaceId place;  // when it was read from, or made as a version of, a place
  struct Alias {
    ScopeId scope;
    std::string output;
  };
  std::optional<Alias> alias;  // pipeline#0 and e: the output of a graph or fn call through which it came
  bool structured = false;     // came out of a fn call: counts as one step
  std::string call() const;    // whose output it is: "pipeline#0"
  std::string text() const override;

 private:
  friend class Recorder;
  Recorder* recorder_;                          // null: it is gone, and nothing but the type is left of the value
  Tensor *older_ = nullptr, *newer_ = nullptr;  // in the recorder's list of handles
};

// "pipeline#0/energy#0"; empty for the outermost.
std::string scope_path(const TaskGraph& graph, ScopeId scope);

// The result of calling a task or graph: its outputs, in order of their names.
class Invocation final : public Object {
 public:
  std::string label;  // "Moments.apply#0"; empty: its first output knows
  std::vector<std::string> names;
  std::vector<Value> outputs;
  std::string name() const;
  std::string text() const override;
};

// A fn, task or graph as a value; with what it closes over and the agent it is bound to.
class Callable final : public Object {
 public:
  Callable(const Program& program, FunctionId function) : program(program), function(function) {}
  const Program& program;
  FunctionId function;
  std::vector<Value> captures;
  Value agent;  // none, or an Agent
  std::string text() const override;
};

// `first >> second`.
class ComposedTask final : public Object {
 public:
  Value first, second;  // Callable or ComposedTask
  Type type;            // Kind::task
  std::uint32_t inputs_of_first = 0;
  Wiring wiring;
  std::string text() const override;
};

// What takes the place of the trained member of an agent in a step of training.
class TrainedAgent {
 public:
  virtual ~TrainedAgent() = default;
  virtual struct CallResult call(Interpreter& interpreter, std::vector<Value> arguments, ScopeId scope, Span span) = 0;
};

// What `save` and `load` take besides tensors and agents.
class HasCheckpoint {
 public:
  virtual ~HasCheckpoint() = default;
  // Its contents now, as a file has them: runs what is pending and leads to them.
  virtual std::vector<struct NamedArray> contents(class Target& target, Span span) = 0;
  // All of it, or none and E7003 with every difference.
  virtual void load(Target& target, const std::string& path) = 0;
};

// An agent: parameters and slots of its own. A slot's value is its newest version, of a layer the agents that it holds.
class Agent final : public Object {
 public:
  Agent(const Program& program, AgentId definition) : program(program), definition(definition) {}
  const Program& program;
  AgentId definition;
  std::string path;    // what its slots are named by: "Net", or "Net.c1" where another agent holds it
  std::string stream;  // what their random numbers are: "Net#1", "Net#1.c1"
  std::vector<Value> arguments;
  std::vector<Value> slots;
  std::shared_ptr<TrainedAgent> training;  // its trained member is called by this
  Value* slot(std::string_view name);
  InstanceId instance;               // in the graph of the target that made it
  std::shared_ptr<const void> home;  // stands for that target, also when that is gone
  std::string text() const override;
};

// Named values in fixed order: reports, check(g).
class Record final : public Object {
 public:
  std::vector<std::pair<std::string, Value>> fields;
  std::string table;  // how it prints; empty: field by field
  const Value* find(std::string_view name) const;
  std::string text() const override;
};

// host(threads: 2), null: which session `run e on` opens.
class BackendChoice final : public Object {
 public:
  // A builtin with a backend record, and a value for each of its operands.
  BackendChoice(const Builtin& backend, std::span<const Value> options)
      : backend(&backend), options(options.begin(), options.end()) {}
  // As its name without brackets.
  explicit BackendChoice(const Builtin& backend);
  const Builtin* backend;
  std::vector<Value> options;
  Value* option(std::string_view name);  // null: it has none of that name
  std::string text() const override { return "<backend " + std::string(backend->name) + ">"; }
};

}  // namespace taskspec
