// A program that grows: each entry of a prompt is checked as what stands next in one file, all or nothing. When a name
// is defined again, the declarations that use it are checked again; those that are wrong now lose their names.
//
//   agent Scale(k: float) { ... }     graph g(x: f32[4]) -> (y: f32[4]) { y = Scale(2.0).apply(x).y }
//   agent Scale(k: float, n: int) { ... }      // g is checked again: 'n' of agent 'Scale' is missing; g is broken
#pragma once
#include "frontend/check/body.hpp"
#include "frontend/check/effects.hpp"
#include "frontend/check/word_index.hpp"

namespace taskspec::checking {

class Growth {
 public:
  explicit Growth(const CheckOptions& options);

  World& world() { return world_; }
  Result<Checker::Entry> add(Ast tree);
  Result<Type> type_of(Ast tree);
  void take_back();
  Checker::Work work();
  std::vector<std::pair<VariableId, CallId>> forgotten();
  std::vector<Checker::Known> names(ModuleId module) const;

 private:
  // Everything that an entry may change, to go back to: sizes of what only grows, marks of what notes its changes.
  struct Mark {
    std::size_t functions, agents, modules, trees, values;
    std::size_t names, lets, let_values, loaded, stale;
    Body::Books books;
    LocalBooks::Mark local;
  };
  struct Declared {
    const ast::Item* item;
    std::size_t order;
  };
  void settle();  // what was entered so far stays: marks begin anew
  Mark mark();
  void back_to(const Mark& mark);
  static NewPart since(const Mark& mark);
  Body& top_level() { return *file().top_level; }
  FileScope& file() { return world_.file(world_.program.main_module); }
  Diags take_diags();
  // Checks what stands next; what it throws is reported at `span`.
  Diags checked(const Ast& tree, Span span, const Mark& before);
  std::vector<std::string> begin_entry(const std::vector<std::string>& own, const std::vector<Checker::Broken>& broken);
  bool is_about(const Diag& diag, const std::string& name) const;
  Diags without_users(const Diags& diags, const std::vector<std::string>& users) const;
  void keep(const Ast& tree, const std::vector<std::string>& own, const Checker::Entry& entry);
  std::vector<std::string> users_of(std::vector<std::string> changed, const std::vector<std::string>& except);
  void break_users(const std::vector<std::string>& users, const std::vector<std::string>& changed, const Diags& diags,
                   Checker::Entry& entry);

  // visit(name, what it stood for before the last entry) for what that changed; none: for nothing.
  template <class F>
  void each_change(F&& visit) const;
  void count_names(int by);
  bool is_let(const Binding& binding) const {
    return binding.kind == Binding::Kind::global && binding.module == world_.program.main_module;
  }

  CheckOptions options_;
  World world_;
  UndoMap<std::map<std::string, Declared, std::less<>>> declared_;  // of the main file, also broken ones
  WordIndex words_;                                                 // of those
  std::size_t order_ = 0;
  std::size_t looked_at_ = 0;                               // functions, in the last entry
  std::unordered_map<std::uint32_t, std::uint32_t> named_;  // by call: how many names of the main file mean its value
  std::unordered_set<std::uint32_t> read_;                  // variables of its top level that functions read,
  std::size_t read_by_ = 0;                                 // of those before this one
};

}  // namespace taskspec::checking
