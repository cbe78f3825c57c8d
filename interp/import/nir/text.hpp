// The program that a network becomes, in the making: an agent whose slots are the parameters and states, with
// `graph forward` for one time step.
//
//   text.table(node, "tau", array)       // table lif1_tau: f64[38] = constant(0.001)      ->  "lif1_tau"
//   text.state(node, "v", {38})          // state lif1_v: f64[38] = zero()                 ->  "lif1_v"
#pragma once
#include <map>
#include <set>

#include "interp/import/names.hpp"
#include "interp/import/nir/network.hpp"
#include "interp/import/nir/options.hpp"

namespace taskspec::nir {

class ProgramText {
 public:
  ProgramText(const Network& net, const Choices& choices, std::string name);
  // Throws Error E7003: what cannot be written as somebody chose.
  ModelText write(const std::string& path);

  // ---- for the records of nodes ----
  const Choices& choices;
  std::string type(const Shape& shape) const;     // "f64[2, 3]"
  std::string call(std::string_view task) const;  // "nir.lif", in the precision of the program
  std::string ident(const Population& node) const { return idents_.at(&node); }
  // Slots: their names. `suffix` is behind that of the node.
  std::string weight(const Population& node, std::string_view suffix, const Array& array);
  // Of a population: an element for each of its neurons, all alike where the file has one.
  std::string table(const Population& node, std::string_view suffix, const Array& array);
  std::string constant_table(const Population& node, std::string_view suffix, double value);
  std::string state(const Population& node, std::string_view suffix, const Shape& shape);
  // Values of the program that go with each call of a neuron.
  static std::string dt() { return "dt"; }
  static std::string integrator() { return "integrator"; }
  static std::string reset() { return "reset"; }
  void fix_dt() { fixed_dt_ = true; }  // something was counted in steps
  void note(std::string text) { notes_.push_back(std::move(text)); }

  static std::string tight(const std::string& x);  // (a + b), f(a + b): may stand beside anything
  static std::string reshaped(const std::string& x, const Shape& from, const Shape& to);

 private:
  void name_nodes();
  std::string slot(const Population& node, std::string_view suffix);
  std::string input_of(const Population& node);
  std::string value_of(std::size_t from, const Shape& wanted);
  std::string value_of_before(std::size_t from, const Shape& wanted);
  void step(std::size_t node);
  void late(const Population& node, const std::string& value);
  void watch(const Population& node);
  void leave_values();
  std::string parameters() const;
  std::string signature() const;
  std::string agent_name() const;
  std::string graph_of_one_call() const;
  std::string written() const;
  static std::string real(double value);   // a literal
  std::string number(double value) const;  // in the precision of the program
  void add_slot(std::string_view kind, const std::string& name, const Shape& shape, const std::string& first);

  const Network& net_;
  const std::string name_;
  Names names_;
  std::map<const Population*, std::string> idents_, voltages_;
  std::vector<std::string> slots_, lines_, ends_, inputs_, outputs_, watched_, notes_;
  std::map<std::size_t, std::string> before_;  // by node: the slot with its value of an earlier step
  std::vector<NamedArray> arrays_;
  bool fixed_dt_ = false;
};

}  // namespace taskspec::nir
