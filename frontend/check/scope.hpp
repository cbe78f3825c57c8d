// What names mean. A Scope is a file, a body or a block; a Binding says what one name in it stands for.
//
//   let n = 4          n -> Binding{value, call %0, "let"}
//   var l = [n]        l -> Binding{variable, l, "var"}
#pragma once
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontend/ast.hpp"
#include "ir/program/program.hpp"

namespace taskspec::checking {

struct Binding {
  enum class Kind : std::uint8_t {
    value,      // call: a let, a loop variable, an `in` parameter
    variable,   // variable: a var, an output, an inout parameter
    dimension,  // symbol: a dimension variable as int
    slot,       // index: a slot of the agent
    global,     // variable of the top level of `module`; call: the value of a let
    function,   // task, graph or fn; with `agent` one of its members
    agent,
    fields,  // index: a table of fields
    blocks,  // an `ir` declaration: function, agent; variable and call of its instance, once that is made
    module,
    unset,  // of an enclosing body, which must not read it yet
    error,  // reported already, or not built yet: nothing more is said about it
  };
  Kind kind = Kind::error;
  std::string_view what = "name";  // for messages: "let", "var", "parameter", "loop variable", "output", ...
  Span span = {};                  // where it is defined
  CallId call = {};
  VariableId variable = {};
  Symbol symbol = {};
  FunctionId function = {};
  AgentId agent = {};
  ModuleId module = {};
  std::uint32_t index = 0;
  bool is_mutable = false;  // global: a var
  bool is_place = false;    // variable: may be passed as inout
};

using Names = std::unordered_map<std::string_view, Binding>;  // the texts belong to syntax trees

struct Scope {
  Names names;
  // The statements that are checked in this scope, to tell "not yet set" from "unknown".
  std::vector<const ast::Stmt*> statements;
  std::size_t position = 0;                                               // of the statement being checked
  std::optional<std::unordered_map<std::string_view, std::size_t>> sets;  // name -> first statement that sets it
  std::vector<bool> in_cycle;  // by statement: part of a cycle that was reported

  const std::unordered_map<std::string_view, std::size_t>& setters();
};

// The names that a statement sets: those of a let, or the variable of `x = ...`.
std::vector<std::string_view> names_set_by(const ast::Stmt& statement);

}  // namespace taskspec::checking
