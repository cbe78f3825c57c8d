// One function while it is checked: its scopes and the calls it is made of. Everything that reads syntax works
// on a Body; this class only keeps the books.
//
//   Term two = body.constant(Value(2.0), Type::Kind::real, span);
//   Term twice = body.make(Form::tuple, pair, span, {two, two});
//
// Calls go to the innermost open block. `prologue` holds the parameters and what their types need; it runs first.
#pragma once
#include "frontend/check/term.hpp"
#include "frontend/check/world.hpp"

namespace taskspec::checking {

class Body {
 public:
  // `outer` is the body in which a closure is written.
  Body(World& world, FunctionId id, Body* outer = nullptr);

  World& world;
  const FunctionId id;
  const ModuleId module;
  const AgentId agent;
  Body* const outer;

  Function& function() { return world.program[id]; }
  FunctionInfo& info() { return world.info(id); }
  // To be read at once: the next call that is made may move it. A type is a copy, which stays.
  Call& operator[](CallId call) { return function()[call]; }
  Type type(CallId call) { return (*this)[call].type; }
  Type type(const Term& operand) { return type(operand.id); }
  bool is_error(const Term& operand) { return (*this)[operand.id].type.is(Type::Kind::error); }
  bool in_graph() { return function().kind == FunctionKind::graph || function().kind == FunctionKind::task; }
  // In the top level of a file, also in closures written there: its names mean values, not globals.
  bool at_top_level() const { return outer ? outer->at_top_level() : top_level_; }
  std::string text(Span span) const { return std::string(world.sources.text(span)); }

  // ---- calls ----
  CallId emit(Call call);
  CallId emit_in_prologue(Call call);
  Term make(Form form, Type type, Span span, const std::vector<Term>& in);
  Term constant(Value value, Type type, Span span);
  Term error(Span span);
  // Takes a fresh constant back when nothing was emitted after it: its value went into another one.
  void take_back(const Term& operand);
  // What a call is known to be before the program runs, if it is.
  std::optional<Value> known(CallId call);
  CallId add_parameter(Parameter parameter, Span span);  // and its call in the prologue; not for inout
  VariableId add_variable(std::string name, Type type, bool is_mutable, Span span);
  Term read_variable(VariableId variable, Span span);
  void write_variable(VariableId variable, const Term& value, Span span);
  void open_block();
  Block close_block();
  // Forgets the calls from this position on, when none of them went to the prologue.
  void drop_calls(std::size_t first);
  void splice(const Block& block);  // its calls go on in the open block
  const std::vector<CallId>& open_calls() const { return blocks_.back().calls; }
  void move_to_end(CallId call);  // of the open block, in which it stands
  // Where a statement began, to go back to when it could not be finished.
  struct Mark {
    std::size_t scopes, blocks;
    std::uint32_t loops;
  };
  Mark mark() const { return {scopes.size(), blocks_.size(), loops}; }
  void back_to(const Mark& mark);
  // The finished function: prologue, statements, captures and used slots among the parameters. A top level may
  // go on after it, and be finished again: that takes time for what is new.
  void finish();
  // The books of a top level between two entries of a prompt, to go back to when the next one is wrong.
  struct Books {
    std::size_t calls, variables, listed, prologue;
    std::size_t extents, imported, globals;  // marks
    EffectNotes::Mark effects;
    EffectFlags found;
    Effects inferred;
  };
  void begin_entry();  // what it notes from here on can be undone; what was noted before stays
  Books books();
  void back_to(const Books& books);

  // ---- names ----
  std::vector<Scope> scopes;
  // In the innermost scope, or in the file's at its top level; E1005 when the name is there already.
  void define(const ast::Name& name, Binding binding);
  std::optional<Binding> find(std::string_view name);
  bool may_read(const Binding& binding) const;
  bool is_file_scope() const { return top_level_ && scopes.size() == 1; }
  Term self(Span span);

  // ---- closures: values of the enclosing body become parameters, given when the closure is made ----
  CallId capture(CallId outer_call, const std::string& name);
  Type import_type(const Type& type);
  Type export_type(const Type& type);
  std::vector<CallId> captured;  // calls of the enclosing body

  // ---- extents: see extents.hpp ----
  UndoMap<std::map<std::uint32_t, Dim>> extents;               // by call
  UndoMap<std::unordered_map<std::uint32_t, Dim>> imported;    // by symbol of another function
  UndoMap<std::unordered_map<std::uint64_t, CallId>> globals;  // by module and variable: its call in the prologue

  // ---- while statements are checked ----
  // Of the call that a `run` repeats: what is given for each of its time steps.
  struct TimeSteps {
    const ast::Arg* arguments;
    Dim count;
  };
  const TimeSteps* time_steps = nullptr;
  std::vector<bool> is_set;                // by output
  std::vector<std::vector<Label>> missed;  // by output: where a path goes by without setting it
  std::uint32_t loops = 0;
  std::uint32_t parameter_limit = UINT32_MAX;               // in a default: parameters from here on are not set yet
  std::vector<std::pair<std::uint32_t, VariableId>> slots;  // used ones
  // While a default of another file's agent is read: only the innermost scope and that file are visible.
  std::optional<ModuleId> isolated;

 private:
  void define_in_file(const ast::Name& name, const Binding& binding);
  std::optional<Binding> find_in_agent(std::string_view name);
  Binding captured_binding(const Binding& binding, std::string_view name);
  std::optional<Dim> import_symbol(const Symbol& symbol);
  void place_parameters();
  Type type_now(VariableId variable);

  bool top_level_;
  std::vector<Block> blocks_;
  std::vector<CallId> prologue_;
  std::size_t finished_prologue_ = 0, finished_listed_ = 0;  // of the two, in the body when it was finished last
  std::vector<CallId> parameter_calls_;  // of function().parameters, by their position there for now
  std::vector<Parameter> capture_parameters_;
  std::vector<CallId> capture_calls_;
  std::unordered_map<std::uint32_t, CallId> captures_;  // by call of the enclosing body
  std::unordered_map<std::uint32_t, Dim> exported_;     // by symbol of this closure
  CallId self_;
  // Of vars with extents that may be any: what they have now, as far as the open block tells.
  std::unordered_map<std::uint32_t, Type> types_now_;
};

}  // namespace taskspec::checking
