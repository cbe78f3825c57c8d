// Tasks, graphs and fns: a signature, then a body.
//
//   auto energy = task("energy").in("dev", f32["N"]).in("mean", f32[1]).out("e", f32[1])
//                     .body([](Tensor dev, Tensor mean) { return (dev * dev).sum(0) + mean * mean; });
//   auto twice = graph("twice").in("x", f32["N"]).out("y", f32["N"]).body([](Tensor x) { return x * 2.0; });
//
// A body is recorded when it is written, and checked at once: what is wrong throws Error with its line.
#pragma once
#include <optional>

#include "taskspec/body.hpp"
#include "taskspec/fields.hpp"
#include "taskspec/native.hpp"
#include "taskspec/view.hpp"

namespace taskspec::dsl {

// A task that can be called, or composed with another: T2 after T1 is `T1 >> T2`.
class Task {
 public:
  using At = detail::At;
  Task() = default;
  Task(detail::FunctionPtr function, detail::NodePtr value)
      : function_(std::move(function)), value_(std::move(value)) {}

  // The call: a value whose outputs go by name, `t["y"]`.
  Tensor operator()(Operand a = {}, Operand b = {}, Operand c = {}, Operand d = {}, Operand e = {}, Operand f = {},
                    Operand g = {}, Operand h = {}) const& {
    return Tensor(call(*this, false,
                       {std::move(a), std::move(b), std::move(c), std::move(d), std::move(e), std::move(f),
                        std::move(g), std::move(h)}));
  }
  Tensor operator()(Operand a = {}, Operand b = {}, Operand c = {}, Operand d = {}, Operand e = {}, Operand f = {},
                    Operand g = {}, Operand h = {}) && {
    return Tensor(call(*this, true,
                       {std::move(a), std::move(b), std::move(c), std::move(d), std::move(e), std::move(f),
                        std::move(g), std::move(h)}));
  }

  Tensor call(std::vector<Operand> operands, At at = At::current()) const;  // however many

  Slots inputs(At at = At::current()) const;
  Slots outputs(At at = At::current()) const;

  const detail::FunctionPtr& function() const { return function_; }  // null: composed
  const detail::NodePtr& value() const { return value_; }

 private:
  static detail::NodePtr call(const Task& task, bool temporary, std::initializer_list<Operand> operands);
  static detail::NodePtr call(const Task& task, bool temporary, At at, std::vector<Operand> operands);
  detail::FunctionPtr function_;
  detail::NodePtr value_;
};

Task operator>>(const Task& first, const Task& second);

namespace detail {

enum class Kind { task, graph, fn };

// What the builders below share. `agent`: of a member.
FunctionPtr declare(Kind kind, const Name& name, const std::shared_ptr<struct AgentClass>& agent);
void parameter(Function& function, const char* privilege, const Name& name, const Type& type, Operand standard);
void result(Function& function, const Name& name, const Type& type);
void view(Function& function, const char* privilege, const Name& name, const RegionType& type, Slots fields);
void record(const FunctionPtr& function, const std::pair<Recorded, std::size_t>& body, At at);
void attach(const FunctionPtr& function, Native native, std::optional<Native> backward, At at);
void attach(const FunctionPtr& function, const Name& symbol);
void define_extern(const Name& symbol, Native native, std::optional<Native> backward);

}  // namespace detail

// `Builder` is what each word gives back, so that words can follow.
template <class Builder>
class Signature {
 public:
  explicit Signature(detail::FunctionPtr function) : function_(std::move(function)) {}
  Builder& in(Name name, const Type& type, Operand standard = {}) {
    return detail::parameter(*function_, "in", name, type, std::move(standard)), self();
  }
  Builder& inout(Name name, const Type& type) {  // a place that the body changes; it is a `Var` in the body
    return detail::parameter(*function_, "inout", name, type, {}), self();
  }
  Builder& out(Name name, const Type& type) { return detail::result(*function_, name, type), self(); }
  // Views of regions, which are Views in the body: the fields that it sees, and what it does with them.
  Builder& in(Name name, const RegionType& type, Slots fields) { return view("in", name, type, std::move(fields)); }
  Builder& inout(Name name, const RegionType& type, Slots fields) {
    return view("inout", name, type, std::move(fields));
  }
  Builder& out(Name name, const RegionType& type, Slots fields) {  // writes them at all its points
    return view("out", name, type, std::move(fields));
  }
  Builder& reduce(const char* op, Name name, const RegionType& type, Slots fields) {  // "+", "*", "min", "max"
    return view(op, name, type, std::move(fields));
  }
  Builder& returns(const Type& type, detail::At at = detail::At::current()) {  // one output without a name
    return detail::result(*function_, Name("", at), type), self();
  }

 protected:
  detail::FunctionPtr function_;

 private:
  Builder& view(const char* privilege, const Name& name, const RegionType& type, Slots fields) {
    return detail::view(*function_, privilege, name, type, std::move(fields)), self();
  }
  Builder& self() { return static_cast<Builder&>(*this); }
};

// Ends by a body, which makes a `Made` of it. `value`: of a member, the task or graph of its agent.
template <class Builder, class Made>
class BodyBuilder : public Signature<Builder> {
 public:
  explicit BodyBuilder(detail::FunctionPtr function, detail::NodePtr value = nullptr)
      : Signature<Builder>(std::move(function)), value_(std::move(value)) {}
  template <class F>
  Made body(F recorded_body, detail::At at = detail::At::current()) {
    detail::record(this->function_, detail::recorded(std::move(recorded_body), at), at);
    return Made(this->function_, value_);
  }

 protected:
  detail::NodePtr value_;
};

class TaskBuilder : public BodyBuilder<TaskBuilder, Task> {
 public:
  using BodyBuilder::BodyBuilder;
  template <class F>
  Task native(F function, detail::At at = detail::At::current()) {
    detail::attach(function_, detail::native_of(std::move(function)), std::nullopt, at);
    return Task(function_, value_);
  }
  // With its reverse, so that a net which calls it can be trained: see native.hpp.
  template <class F, class B>
  requires(!std::same_as<B, detail::At>) Task native(F function, B backward, detail::At at = detail::At::current()) {
    detail::attach(function_, detail::native_of(std::move(function)), detail::native_of(std::move(backward)), at);
    return Task(function_, value_);
  }
  // What register_task (registry.hpp) or define_extern put there, as `extern "symbol"` in a text.
  Task external(Name symbol) {
    detail::attach(function_, symbol);
    return Task(function_, value_);
  }
};

inline TaskBuilder task(Name name) { return TaskBuilder(detail::declare(detail::Kind::task, name, nullptr)); }

// Blocks of Task IR: the lines of an `ir` declaration, as a text has them. Its parameters are the blocks that nothing
// fills, its outputs the SO blocks.
//
//   Task half = blocks("half", R"(
//     x : SI i32 [f: 4];  cut : CCMPB i8 [f: 4] (shift: 2, cmp: -128);  y : SO i8 [f: 4]
//     x -> cut;  cut -> y
//   )");
//   half(x)["y"]
Task blocks(Name name, std::string lines);

// A graph as a value: called in other graphs, run, looked at, exported (graph.hpp).
class Graph {
 public:
  Graph() = default;
  explicit Graph(detail::FunctionPtr function, detail::NodePtr value = nullptr)
      : task_(std::move(function), std::move(value)) {}
  Tensor operator()(Operand a = {}, Operand b = {}, Operand c = {}, Operand d = {}, Operand e = {}, Operand f = {},
                    Operand g = {}, Operand h = {}) const {
    return task_(std::move(a), std::move(b), std::move(c), std::move(d), std::move(e), std::move(f), std::move(g),
                 std::move(h));
  }
  const detail::FunctionPtr& function() const { return task_.function(); }
  const detail::NodePtr& value() const { return task_.value(); }  // of a member: the agent's graph
  operator const Task&() const { return task_; }                  // to be composed

 private:
  Task task_;
};

class GraphBuilder : public BodyBuilder<GraphBuilder, Graph> {
 public:
  using BodyBuilder::BodyBuilder;
};

namespace detail {
void record_untyped(const FunctionPtr& function, const std::pair<Recorded, std::size_t>& body, At at);
}

// Without a signature: the first call outside of bodies gives the parameters (`x`, or `x1`, `x2`, ...) and the outputs
// the types that they have there.
template <class F>
Graph graph(Name name, F body, detail::At at = detail::At::current()) {
  detail::FunctionPtr function = detail::declare(detail::Kind::graph, name, nullptr);
  detail::record_untyped(function, detail::recorded(std::move(body), at), at);
  return Graph(std::move(function));
}

inline GraphBuilder graph(Name name) { return GraphBuilder(detail::declare(detail::Kind::graph, name, nullptr)); }

// A function of the host, with control flow of the host. A pure one may be called in a graph, where its call is one
// node; one that receives, prints or calls a host_fn is cut in two when it runs (host.hpp).
class Fn {
 public:
  explicit Fn(detail::FunctionPtr function) : task_(std::move(function), nullptr) {}
  Tensor operator()(Operand a = {}, Operand b = {}, Operand c = {}, Operand d = {}, Operand e = {},
                    Operand f = {}) const {
    return task_(std::move(a), std::move(b), std::move(c), std::move(d), std::move(e), std::move(f));
  }
  const detail::FunctionPtr& function() const { return task_.function(); }

 private:
  Task task_;
};

class FnBuilder : public Signature<FnBuilder> {
 public:
  using Signature::Signature;
  template <class F>
  Fn body(F recorded_body, detail::At at = detail::At::current()) {
    detail::record(function_, detail::recorded(std::move(recorded_body), at), at);
    return Fn(function_);
  }
};

inline FnBuilder fn(Name name) { return FnBuilder(detail::declare(detail::Kind::fn, name, nullptr)); }

}  // namespace taskspec::dsl
