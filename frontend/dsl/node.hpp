// What C++ calls leave behind: values, statements and declarations, each with the line that made it. The syntax tree
// of a text is made from them (make_ast.hpp), so whatever is true of a text is true of a recording.
//
//   Tensor y = k * x;      ->      let: Node{binary "*", in: [name k, name x], at: scale.cpp:4}
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <source_location>
#include <string>
#include <vector>

#include "ir/types/array.hpp"
#include "taskspec/body.hpp"
#include "taskspec/fields.hpp"
#include "taskspec/host_fn.hpp"
#include "taskspec/native.hpp"

namespace taskspec::dsl {
struct Report;  // taskspec/host.hpp
}

namespace taskspec::dsl::detail {

struct Function;
struct AgentClass;

// Who owns a value: a function, the kind of agent whose parameter it is, or the host program. `nobody`: it is a
// literal, which can be used anywhere.
using Owner = std::uint64_t;
inline constexpr Owner nobody = 0, host_program = 1;
Owner new_owner();

class Entered;

struct Item {  // of an index
  Index::Kind kind;
  NodePtr low, high;
};

struct Node {
  enum class Kind : std::uint8_t {
    // literals
    integer,
    real,
    boolean,
    string,
    type,
    // names of the function: parameters, variables, outputs, loop variables
    name,
    // what holds others and is no value by itself
    list,
    tuple,
    callable,  // task `text` of agent in[0], or `function`
    // calls
    unary,
    binary,
    method,   // in[0].text(in[1], ...)
    library,  // text(in...)
    member,   // in[0].text
    index,
    cast,
    given,   // a tensor that C++ hands in
    run,     // in[0], a call, on the backend `text`
    agent,   // a new agent of `agent`
    invoke,  // in[0](in[1], ...)
    range,   // in[0]..in[1]
    region,  // region of type.table with the extents `in`, called `text`
    lambda,  // points => in[0]
    launch,  // in[0], a call, for points in in[1], by in[2] if there is one
  };
  Kind kind = Kind::name;
  std::string text;
  std::int64_t integer = 0;
  double real = 0;
  Type type;
  std::vector<NodePtr> in;
  std::vector<std::string> names;      // of arguments, by position in `in`; may be shorter
  std::vector<Item> items;             // index
  std::vector<NodePtr> points;         // lambda, launch: the names that a call of it binds
  std::shared_ptr<Function> function;  // callable
  std::shared_ptr<AgentClass> agent;   // agent; callable: whose task it is
  At at = At::current();
  Owner owner = nobody;
  std::shared_ptr<Entered> entered;      // of the host program: what the session knows it as
  std::shared_ptr<const Array> data;     // given
  std::shared_ptr<const Report> report;  // of the run that gave this value
  const struct Block* block = nullptr;   // outside of which it cannot be seen; null: all of its function
  bool bound = false;                    // a statement of its own gives it a name; else it stands where it is used
  bool gone = false;                     // became part of an expression: nobody can name it any more
  bool part = false;                     // never a statement: stands in whatever takes it, as often as it is taken
  bool reads = false;                    // reads a place
  bool writes = false;                   // changes one
  bool of_agent = false;                 // a parameter of an agent
};

// A value in the session of the host program; its name is free again when nobody holds it any more.
class Entered {
 public:
  virtual ~Entered() = default;
  std::string name;  // of its let
};

struct Statement;
struct Block {
  std::vector<Statement> statements;
};

struct Statement {
  enum class Kind : std::uint8_t { let, var, assign, if_, while_, for_, trace, return_, call } kind;
  At at;
  NodePtr value;   // also: condition, low end
  NodePtr target;  // assign; for: the loop variable; var: the name
  NodePtr high;    // for; null: over the points of `value`
  std::string op;  // assign
  std::unique_ptr<Block> body, otherwise;
  std::vector<NodePtr> targets = {};  // for, instead of `target`: the coordinates of a point
};

// What `fields` declares.
struct FieldTable {
  Name name;
  std::vector<Field> fields;
  Owner owner = new_owner();
};

struct Parameter {
  std::string privilege;  // "in", "inout"; of a view also "out", and the operator of a reduction: "+", "min"
  Name name;
  Type type;
  NodePtr standard;
};

struct Output {
  Name name;  // empty: the unnamed one
  Type type;
};

enum class Kind;  // declare.hpp

struct Function {
  Function(Kind k, Name n, const std::shared_ptr<AgentClass>& a) : kind(k), name(std::move(n)), agent(a) {}
  Kind kind;
  Name name;
  std::vector<Parameter> parameters;
  std::vector<Output> outputs;
  Block body;
  std::optional<Native> native;      // task
  std::optional<Native> backward;    // of such a task
  std::string symbol;                // task: somebody else says what stands behind it
  std::string block_lines;           // task: the lines of an `ir` declaration
  std::optional<HostFunction> host;  // fn
  bool acts = false;                 // fn: does something besides giving its result
  bool of_host = false;              // a piece of the host program: its values may be used inside
  std::weak_ptr<AgentClass> agent;   // of a member
  Owner owner = new_owner();
  bool recorded = false;
  bool typed = true;  // false: the first call of the host program gives parameters and outputs their types
  std::shared_ptr<const void> checked;  // the runtime's, made once
};

struct Slot {
  std::string kind;
  Name name;
  Type type;
  NodePtr initial;
};

struct AgentClass {
  explicit AgentClass(Name n) : name(std::move(n)) {}
  Name name;
  std::vector<Parameter> parameters;
  std::vector<Slot> slots;
  std::vector<std::shared_ptr<Function>> members;
  Owner owner = new_owner();
};

}  // namespace taskspec::dsl::detail
