// A walk along the nodes of a graph, in program order, that finds what each of them is in a network of NIR. Internal to
// this folder: neurons.cpp knows the tasks of the prelude, layers.cpp the ops, walk.cpp what holds them together.
//
// A value is *known* (weights, constants), or a *signal*: the sum of what some nodes of the network give, seen in some
// shape, perhaps with a border around it that the window behind it will take.
#pragma once
#include <map>
#include <optional>
#include <set>

#include "interp/control/nir/net.hpp"

namespace taskspec::nir_walk {

// What is wrong with one node of the graph.
struct Problem {
  std::string text;
};

// A node of the network; or, of an earlier step, the position of an edge backwards.
struct Source {
  std::size_t at = 0;
  bool back = false;
  friend bool operator==(const Source&, const Source&) = default;
};

struct Signal {
  std::vector<Source> sources;
  Extents whole, shape;                     // as its sources give it; as it is seen here
  std::vector<std::int64_t> before, after;  // zeros around it, by axis of `whole`; none: no border
  std::vector<std::int64_t> windows;        // rows and columns of windows that stand as axes of their own
};

struct Known {
  Array array, written;  // as it is here; as its slot has it, before it was reshaped
};

struct Factor {  // dt/tau
  Array tau;
};
struct State {};    // of a neuron, after the step
struct Refused {};  // of which the reason was told
using Seen = std::variant<Refused, Known, Signal, Factor, State>;

class Walk {
 public:
  Walk(const Program& program, const GraphView& view);
  NirNet run();

  // ---- for the readers of nodes ----
  struct Here {  // the node that is read
    NodeId id;
    const Definition& definition;
    const std::vector<Value>& arguments;
  };
  const Seen& in(const Here& here, std::size_t slot) const { return seen(view_.graph.in(here.id)[slot]); }
  std::size_t inputs(const Here& here) const { return view_.graph.in(here.id).size(); }
  const Signal& signal(const Here& here, std::size_t slot) const;
  const Known& known(const Here& here, std::size_t slot) const;
  bool is_known(const Here& here, std::size_t slot) const { return std::holds_alternative<Known>(in(here, slot)); }
  Extents extents(const Here& here, std::size_t output = 0) const;  // of what it gives
  std::size_t uses(const Here& here, std::size_t output = 0) const;
  std::optional<std::string> let_of(const Here& here) const;  // the let whose value begins there
  // The only node that a signal comes from, if nobody else reads it.
  NirNode* only_source(const Signal& from, const Here& here, std::size_t slot);

  // A node of the network; what it gives.
  Signal add(std::string type, Signal from, Extents gives,
             std::vector<std::pair<std::string, std::variant<Array, std::string>>> parameters);
  double dt() const { return dt_; }
  void say_choice(const std::string& name, const std::string& value) { choices_[name].insert(value); }
  std::optional<std::size_t> back_of(Ref place) const;  // the edge backwards that reads what lies in this slot

 private:
  struct Back {
    Ref initial;  // of the slot that carries it
    Ref value;    // what is kept
  };
  const Seen& seen(Ref ref) const;
  bool is_same(Ref a, Ref b) const;
  void note_uses();
  void note_backward_edges();
  void note_time_step();
  void add_inputs();
  void read(NodeId id);
  Seen read_place(Ref ref, const Type& type) const;
  std::vector<Seen> read_node(const Here& here);
  std::optional<std::vector<Seen>> computed(const Here& here) const;
  void name_after(const Here& here, const std::vector<Seen>& made);
  void add_results();
  void add_edges();
  void name_the_rest();
  void refuse(Span span, const std::string& what, const std::string& why);

  const Program& program_;
  const GraphView& view_;
  NirNet net_;
  std::vector<Extents> gives_;             // by node of the network
  std::vector<std::vector<Source>> from_;  // likewise
  std::vector<Seen> constants_, inputs_;
  std::vector<std::vector<Seen>> made_;  // by node of the graph, and output
  std::vector<std::vector<std::size_t>> uses_;
  std::vector<Back> back_;
  std::map<std::string, std::set<std::string>> choices_;  // that the format leaves open
  double dt_ = 1e-4;
  Diags diags_;
};

// Reads a node; none: it is not one of these.
std::optional<std::vector<Seen>> read_layer(Walk& walk, const Walk::Here& here);
std::optional<std::vector<Seen>> read_neuron(Walk& walk, const Walk::Here& here, const Function& task);
// Of these only: the slot that carries a value to the next step.
bool is_keeper(std::string_view task);

std::int64_t volume(const Extents& shape);
std::string shape_text(const Extents& shape);
Array reshaped(const Array& array, const Extents& shape);

}  // namespace taskspec::nir_walk
