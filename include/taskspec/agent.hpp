// Agents: a struct that declares parameters, slots and tasks as its members. Its constructor makes one with slots of
// its own; its tasks are called as members.
//
//   struct Scale : Agent {
//     using Agent::Agent;
//     Tensor k = param("k", real);
//     Task apply = task("apply").in("x", f32["N"]).out("y", f32["N"]).body([this](Tensor x) { return k * x; });
//   };
//   Tensor y = Scale(2.0).apply(x)["y"];
//
// It may hold other agents, which its graphs call:
//
//   struct Net : Agent {
//     using Agent::Agent;
//     Scale first = layer("first", Scale(2.0));
//     Graph forward = graph("forward").in("x", f32["N"]).out("y", f32["N"])
//                         .body([this](Tensor x) { return first.apply(x)["y"]; });
//   };
#pragma once
#include <typeinfo>
#include <vector>

#include "taskspec/declare.hpp"

namespace taskspec::dsl {

namespace detail {
struct AgentClass;  // parameters, slots and tasks of one kind of agent
}

class Agent {
 public:
  explicit Agent(Operand a = {}, Operand b = {}, Operand c = {}, Operand d = {}, Operand e = {}, Operand f = {});
  virtual ~Agent() = default;
  std::string text(detail::At at = detail::At::current()) const;  // "Scale(k: 2)"
  const detail::NodePtr& node() const { return instance_; }

 protected:
  Agent(const Agent&) = default;
  Agent& operator=(const Agent&) = default;

  Tensor param(Name name, const Type& type, Operand standard = {});
  // Slots keep their value from call to call. The initial value is a maker without its type: zero(), constant(2.0), ...
  Var weight(Name name, const Type& type, Operand initial) { return slot("weight", name, type, std::move(initial)); }
  Var state(Name name, const Type& type, Operand initial) { return slot("state", name, type, std::move(initial)); }
  Var table(Name name, const Type& type, Operand initial) { return slot("table", name, type, std::move(initial)); }
  TaskBuilder task(Name name);
  GraphBuilder graph(Name name);

  // An agent that belongs to this one, made with literals or parameters of this one. Its slots are slots of this one,
  // named by path: Net.first.w. Only graphs call its tasks.
  template <class A>
  A layer(Name name, A inner) {
    hold(name, {&inner}, false);
    return inner;
  }
  // Several of one kind: Net.blocks[0].w.
  template <class A>
  std::vector<A> layers(Name name, std::vector<A> inner) {
    hold(name, {inner.begin(), inner.end()}, true);
    return inner;
  }

 private:
  // The agents of one layer; each stands for its name in this one from here on.
  struct Held : std::vector<Agent*> {
    using std::vector<Agent*>::vector;
    template <class Iterator>
    Held(Iterator begin, Iterator end) {
      for (; begin != end; ++begin) push_back(&*begin);
    }
  };
  void hold(const Name& name, const Held& inner, bool is_list);
  detail::NodePtr member(const Name& name, const detail::FunctionPtr& function);
  Var slot(const char* kind, const Name& name, const Type& type, Operand initial);
  detail::AgentClass& declared();  // its name is that of the derived struct
  std::shared_ptr<detail::AgentClass> class_;
  detail::NodePtr instance_;
};

// `name(arguments)` as the initial value of a slot, or any other function of the library by its name.
Operand library(Name name, std::vector<Operand> arguments);
inline Operand zero(detail::At at = detail::At::current()) { return library(Name("zero", at), {}); }
inline Operand constant(Operand value) {
  detail::At at = value.at();
  std::vector<Operand> arguments;
  arguments.push_back(std::move(value));
  return library(Name("constant", at), std::move(arguments));
}

}  // namespace taskspec::dsl
