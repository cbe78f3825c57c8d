// What the body of a task over views does, as plain steps on single elements: loops over points, elements that are read
// and written, arithmetic, control. Functions are inlined, `let`s are gone. It says nothing of how it is run.
//
//   task add_one(inout c: Cell[_].{state}) { for i in c { c[i].state += 1.0 } }
//
//   each point of c: %1
//     %2 = c[%1].state
//     %3 = add(%2, %0)            %0 = 1 : f64
//     c[%1].state = %3
//
// Host numbers and tensors of one element are values alike; only what is done to them differs (`number`, `op`).
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "ir/base/ids.hpp"
#include "ir/records/op.hpp"

namespace taskspec {

struct ViewValueTag;
using ViewValue = Id<ViewValueTag>;  // in ViewCode::values

struct ViewStep;
using ViewBlock = std::vector<ViewStep>;

// Of an op on whole tensors: what it is given for one of its operands.
struct ViewOperand {
  std::vector<ViewValue> values = {};    // one; of a list of tensors all of it; none: `constant`
  std::vector<std::uint8_t> ranks = {};  // by value: of what is one element here
  bool is_list = false;
  Value constant = {};
  Type type = {};  // of a constant that is a list
  std::vector<std::pair<std::uint32_t, ViewValue>> extents = {};  // by id of a symbol, in a constant that is a type
};

struct ViewStep {
  enum class Kind : std::uint8_t {
    number,      // out = op on host values, as in host code
    convert,     // out = the host value in[0] as it stands beside tensors of out's precision
    op,          // out = op on elements
    move,        // out = in[0]
    extent,      // out = how many points the view has, along axis `field` if it has several
    read,        // out = view[in...].field
    read_at,     // out = at(view, in..., d).field; d is the last of `in`
    store,       // view[in...].field = the last of `in`
    fold,        // view[in...].field = op of that and the last of `in`, in program order
    each_point,  // for (outs...) in view { blocks[0] }
    each_int,    // for outs[0] in in[0]..in[1] { blocks[0] }
    while_,      // while { blocks[0]; in[0] } { blocks[1] }
    if_,         // if in[0] { blocks[0] } else { blocks[1] }
    once,        // { blocks[0] }, which a `leave` may end
    leave,       // ends the loop or `once` that many `levels` around it; 0: the innermost
    next,        // ends the turn of that loop
    // Whole fields, as loops over the points of one view:
    read_number,  // out = view.field of its point with as many points before it as the point of the loop
    read_whole,   // out = that element of in[0], a tensor of so many elements
    store_whole,  // the other way round: of in[0], in[1]; in[0] is an output, or a tensor that was made before
    accumulate,   // out = in[0] of all points of the loop, by the tree of the root (interp/host/root_tree.hpp)
    // Tensors that the body makes:
    make_tensor,  // out = room for an element of each point of the view, which store_whole fills
    tensor_op,    // out = op of `operands`, as outside of a body
  };
  Kind kind = Kind::move;
  Span span = {};
  std::vector<ViewValue> in = {};
  std::vector<ViewValue> outs = {};
  const OpDef* op = nullptr;
  std::vector<Value> attributes = {};  // by operand of the op; none: one of `in`, in order
  std::uint32_t view = 0, field = 0;
  std::uint32_t levels = 0;
  std::vector<ViewBlock> blocks = {};
  std::vector<ViewOperand> operands = {};  // of a tensor_op; `in` has their values

  ViewValue out() const { return outs[0]; }
};

struct ViewCode {
  struct Field {
    std::string name;
    Precision precision;
  };
  struct View {
    std::string name;
    std::uint8_t rank = 1;
    std::vector<Field> fields;  // of the region, also those that the view does not have
  };
  struct Item {
    enum class Kind : std::uint8_t {
      element,  // a tensor of one element
      host,     // an int (i64), float (f64) or bool of the host
      whole,    // a tensor with an element for each point of a view: an input or output
      tensor,   // any other tensor: a constant, or made by the body
    } kind = Kind::element;
    Precision precision = Precision::f64;
    ArrayType type = {};    // of a whole that is an input
    bool variable = false;  // written by several steps
    std::string name = {};  // of a variable
  };

  std::string task;
  std::vector<View> views;
  std::vector<Item> values;  // the inputs, then all others
  std::uint32_t inputs = 0;
  std::vector<std::pair<ViewValue, Array>> constants;
  ViewBlock body;
  struct Output {
    ViewValue value;  // a whole is written where it lies, a tensor put there at the end
  };
  std::vector<Output> outputs;

  ViewValue add(Item item) {
    values.push_back(std::move(item));
    return ViewValue(values.size() - 1);
  }
  const Item& operator[](ViewValue value) const { return values[value.index()]; }
};

}  // namespace taskspec
