// Types of the language: host scalars, containers, tensors with symbolic extents, and the types that
// are printed but never written (task, invocation, agent).
//
//   Type t = Type::tensor(Precision::f32, {Dim(n), 3});    t.text() == "f32[N, 3]"
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ir/base/function_ref.hpp"
#include "ir/base/ids.hpp"
#include "ir/types/dim.hpp"
#include "ir/types/precision.hpp"

namespace taskspec {

struct FunctionTag;
struct AgentTag;
struct FieldsTag;
using FunctionId = Id<FunctionTag>;  // of a Program: task, graph, fn, closure or module body
using AgentId = Id<AgentTag>;        // of a Program: agent definition
using FieldsId = Id<FieldsTag>;      // of a Program: a `fields` table

class Type {
 public:
  enum class Kind : std::uint8_t {
    none,   // no value: the call of a fn without result
    error,  // already reported; agrees with everything, so that no error follows from an error
    integer,
    real,
    boolean,
    string,
    range,
    list,        // parts: {element}; an empty list literal has element `error` until its type is known
    tuple,       // parts
    function,    // parts: {parameters..., result}
    type,        // a written type as an argument: fill(f32[4], 0); parts: {that type}
    tensor,      // precision, dims: always a value of the graph, host code sees its future
    task,        // callable node: task, graph, bound member, composite; parts: inputs then outputs, names likewise
    invocation,  // parts: outputs, names: their names
    agent,       // agent
    record,      // parts and names: reports
    backend,     // host(...), null
    training,    // train(net, ...); agent: of the net
    optimizer,   // sgd(...), adam(...)
    blocks,      // a graph of Task IR blocks
    // Mutable data. `fields`: its table; names[0]: that table's name.
    region,        // all points of one, or some; dims: its extents
    view,          // what a task sees of one; places: fields that it may use, ascending, names[1...]: their names
    region_field,  // r.f outside of tasks; parts: {the tensor that it reads as}, places and names as of a view
    partition,     // dims: of what it cuts; inputs: rank of its colours
    launch_map,    // an output of all points of a launch; parts: {that of one point}, inputs: rank of the domain
  };

  Kind kind = Kind::none;
  Precision precision = Precision::f32;  // tensor
  std::vector<Dim> dims;                 // tensor, region, view, partition
  std::vector<Type> parts;
  std::vector<std::string> names;     // of parts, where they have names
  std::uint32_t inputs = 0;           // task: how many of the parts are inputs
  std::vector<std::uint32_t> places;  // task: which inputs are inout, ascending; view: fields
  AgentId agent;                      // agent, training
  FieldsId fields;                    // region, view, region_field, partition

  Type() = default;
  // Copies and destructors are made once, in the source: they are long, and every user of the header would make them.
  Type(const Type&);
  Type(Type&&) noexcept;
  Type& operator=(const Type&);
  Type& operator=(Type&&) noexcept;
  ~Type();
  Type(Kind k) : kind(k) {}
  static Type tensor(Precision precision, std::vector<Dim> dims);
  static Type list(Type element);
  static Type tuple(std::vector<Type> parts);
  static Type function(std::vector<Type> parameters, Type result);
  static Type of(Type written);  // Kind::type

  bool is(Kind k) const { return kind == k; }
  bool is_tensor() const { return kind == Kind::tensor; }
  bool is_place(std::size_t input) const;  // of a task: an inout input
  bool is_number() const { return kind == Kind::integer || kind == Kind::real; }
  bool is_host() const;  // a value of the host program: may be printed, compared, stored in lists
  std::size_t rank() const { return dims.size(); }
  bool has_symbols() const;  // anywhere inside
  Dim elements() const;      // product of dims

  std::string text() const;
  Type substitute(FunctionRef<std::optional<Dim>(const Symbol&)> find) const;
  friend bool operator==(const Type&, const Type&) = default;
};

std::string shape_text(const std::vector<Dim>& dims);  // "[4, N]"

}  // namespace taskspec
