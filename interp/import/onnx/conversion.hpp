// A model becoming a program: the values that its names stand for, the slots and lines written so far.
//
//   Conversion conversion(model, "net", options);
//   ModelText text = conversion.run();
//
// Nodes are taken in their order, those alone that an output needs. What is known at import (weights' shapes, extents,
// constants) is worked out on the way and leaves no line.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include "interp/import/importer.hpp"
#include "interp/import/names.hpp"
#include "interp/import/onnx/model.hpp"
#include "interp/import/onnx/term.hpp"

namespace taskspec::onnx {

class Call;

inline constexpr std::size_t longest_list = 64;  // of numbers in the text; longer ones are slots

// Thrown where a model cannot be written unless these inputs are numbers that the program knows: int parameters.
struct NeedsParameters {
  std::vector<std::string> inputs;
  Diag diag;  // what to tell if that does not help either
};

class Conversion {
 public:
  // `parameters`: inputs, of rank 0 or 1, whose integers become int parameters of the agent.
  Conversion(const Model& model, std::string path, std::string name, const ImportOptions& options,
             const std::set<std::string>& parameters = {});
  ModelText run();

  // ---- for operators ----

  std::int64_t opset() const { return opset_; }
  const std::string& path() const { return path_; }
  // What a name of the model stands for; null: nothing known by it.
  const Term* find(const std::string& name) const;
  void define(const std::string& name, Term term) { values_.insert_or_assign(name, std::move(term)); }
  // The same with an expression: of a known value a slot or a list, made when it is first asked for.
  Term written(const std::string& name);
  Term written(Term term, const std::string& hint);
  // A line `let NAME = ...`; of what has a name already nothing.
  Term let(Term term, const std::string& hint);
  // `name` of the model stands for it from here on; the line sets an output of the graph if it goes by that name.
  void give(const std::string& name, Term term, const std::string& op);
  Term slot(const Array& array, const std::string& hint);
  // Lines of other kinds, such as those of a loop, and names in them.
  void line(std::string text);
  std::string variable(std::string_view hint) { return names_.make(hint); }
  // The nodes of a graph inside of a node, whose outputs come back.
  std::vector<Term> inside(const Graph& graph);
  bool needed(const std::string& name) const { return needed_.contains(name); }
  // Numbers that are worked out at import, which a few bytes may ask for by the billion: false when a file of this size
  // is not worth that many.
  bool spend(std::int64_t numbers);
  Error too_much() const;
  // A value has to be known and is not: throws NeedsParameters where it comes from inputs that could be such parameters
  // and are not yet, else what is said of it.
  [[noreturn]] void ask_for(const std::string& value, Diag diag) const;

 private:
  void check_operators() const;
  void find_needed(const Graph& graph);
  void declare_inputs();
  Term bound(const Declared& input, const std::string& value) const;
  bool may_be_parameters(const Declared& input) const;
  Term as_parameters(const Declared& input);
  void convert_nodes(const Graph& graph);
  void convert(Call& call);
  void finish_outputs();
  Dims dims_of(const Declared& declared);
  Dim extent(const std::string& name);
  Dim symbol(std::string name);
  void check_options() const;
  std::string text();

  const Model& model_;
  std::string path_, name_, graph_name_;
  std::map<std::string, std::string> set_;
  std::int64_t opset_;
  std::set<std::string> needed_;
  std::map<std::string, Term> values_;
  std::map<std::string, Dim> open_extents_;
  std::uint32_t symbols_ = 0;
  const std::set<std::string>& wanted_parameters_;  // names of the model
  std::vector<std::string> int_parameters_;         // and of the program
  std::set<std::string> bound_;                     // what of `set_` meant something
  Names names_;
  struct Parameter {
    std::string name, type;
  };
  std::vector<Parameter> inputs_, outputs_;
  std::map<std::string, std::string> output_names_;  // of the model -> of the program, until they are set
  std::vector<std::string> slots_, lines_;
  std::map<std::string, int> counts_;  // of lines by operator, for their names
  std::size_t converted_ = 0;          // nodes so far
  std::int64_t left_;                  // numbers that may still be worked out
  std::set<std::string> keys_;         // of made_.arrays
  ModelText made_;
};

// One node while it is written.
class Call {
 public:
  Call(Conversion& all, const Node& node) : all(all), node(node) {}

  Conversion& all;
  const Node& node;

  std::int64_t opset() const { return all.opset(); }
  std::size_t inputs() const { return node.inputs.size(); }
  bool has(std::size_t input) const { return input < node.inputs.size() && !node.inputs[input].empty(); }
  bool gives(std::size_t output) const;  // whether somebody needs it

  const Term& at(std::size_t input) const;                  // as it is known
  Term x(std::size_t input) const;                          // as an expression
  Term beside(std::size_t input, const Term& other) const;  // one number as a literal, which takes its precision

  std::int64_t integer(std::string_view name, std::int64_t standard) const;
  double real(std::string_view name, double standard) const;
  std::string text(std::string_view name, std::string_view standard) const;
  std::optional<Numbers> integers(std::string_view name) const;
  Numbers integers(std::string_view name, Numbers standard) const;

  // Known values of inputs; E7008 where they are not known.
  Numbers numbers(std::size_t input) const;
  Dims extents(std::size_t input) const;
  double number(std::size_t input) const;
  Array array(std::size_t input) const;
  std::optional<Numbers> if_known(std::size_t input) const;
  // The axes of an attribute, or of an input in later versions; from 0, ascending. Nothing where none are given.
  std::optional<Numbers> axes(std::size_t input, std::size_t rank) const;
  std::int64_t extent(const Term& x, std::size_t axis) const;  // E7008 where it is open
  std::vector<std::int64_t> shape(const Term& x) const;        // likewise
  // In front of work whose amount the file names (Conversion::spend); E7003.
  void spend(std::int64_t numbers) const {
    if (!all.spend(numbers)) fail("it unfolds into more numbers than a model of its size is worth");
  }

  void give(std::size_t output, Term term);
  Term let(Term term) const;
  Term slot(const Array& array, std::string_view what) const;                 // named after the node
  Term picked(const Term& x, const Numbers& index, std::int64_t axis) const;  // gathered by known numbers

  [[noreturn]] void fail(const std::string& why) const;                                 // E7003
  [[noreturn]] void open(const std::string& what, const std::string& name = "") const;  // E7008
};

struct Operator {
  std::string_view name;
  std::int64_t since, until;  // opsets
  void (*convert)(Call&);
};
inline constexpr std::int64_t newest = 17;  // that these forms were written for
inline constexpr std::int64_t any = INT64_MAX;

// Of this opset; null if there is none.
const Operator* find_operator(const std::string& name, std::int64_t opset);

// Works out what the node gives where all that it takes is known; false where that cannot be.
bool fold(Call& call);

// The families, a file each.
std::span<const Operator> control_operators();
std::span<const Operator> convolution_operators();
std::span<const Operator> elementwise_operators();
std::span<const Operator> movement_operators();
std::span<const Operator> normalising_operators();
std::span<const Operator> pooling_operators();
std::span<const Operator> product_operators();
std::span<const Operator> quantised_operators();
std::span<const Operator> recurrent_operators();
std::span<const Operator> reduction_operators();
std::span<const Operator> resizing_operators();
std::span<const Operator> shape_operators();

}  // namespace taskspec::onnx
