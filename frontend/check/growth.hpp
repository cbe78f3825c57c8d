// A program that grows: each entry of a prompt is checked as what stands next in one file, all or nothing. When a name
// is defined again, the declarations that use it are checked again; those that are wrong now lose their names.
//
//   agent Scale(k: float) { ... }     graph g(x: f32[4]) -> (y: f32[4]) { y = Scale(2.0).apply(x).y }
//   agent Scale(k: float, n: int) { ... }      // g is checked again: 'n' of agent 'Scale' is missing; g is broken
#pragma once
#include "frontend/check/body.hpp"

namespace taskspec::checking {

class Growth {
 public:
  Growth(Sources& sources, const CheckOptions& options);

  World& world() { return world_; }
  Result<Checker::Entry> add(Ast tree);
  Result<Type> type_of(Ast tree);
  void take_back();
  std::vector<std::pair<VariableId, CallId>> forgotten() const;
  std::vector<Checker::Known> names(ModuleId module) const;

 private:
  // Everything that an entry may change, to go back to.
  struct Mark {
    std::size_t functions, agents, modules, trees, values;
    Names names;
    std::unordered_map<std::uint32_t, VariableId> lets;
    std::unordered_map<std::uint32_t, CallId> let_values;
    Body::Books books;
    EffectNotes effects;
    std::map<std::string, ModuleId> loaded;
    std::map<std::string, std::string, std::less<>> stale;
  };
  struct Declared {
    const ast::Item* item;
    std::size_t order;
  };
  Mark mark();
  void back_to(const Mark& mark);
  Body& top_level() { return *file().top_level; }
  FileScope& file() { return world_.file(world_.program.main_module); }
  Diags take_diags();
  // Runs a part of the check; what it throws is reported at `span`.
  template <class F>
  Diags checked(Span span, F&& part);
  std::vector<std::string> begin_entry(const std::vector<std::string>& own, const Mark& before,
                                       const std::vector<Checker::Broken>& broken);
  bool is_about(const Diag& diag, const std::string& name) const;
  Diags without_users(const Diags& diags, const std::vector<std::string>& users) const;
  void keep(const Ast& tree, const std::vector<std::string>& own, const Checker::Entry& entry);
  bool mentions(const ast::Item& item, const std::vector<std::string>& names) const;
  std::vector<std::string> users_of(const std::vector<std::string>& changed,
                                    const std::vector<std::string>& except) const;
  void break_users(const std::vector<std::string>& users, const std::vector<std::string>& changed, const Diags& diags,
                   Checker::Entry& entry);

  CheckOptions options_;
  World world_;
  std::map<std::string, Declared, std::less<>> declared_;       // of the main file, also broken ones
  std::map<std::string, Declared, std::less<>> last_declared_;  // before the last entry
  std::size_t order_ = 0;
  Mark last_;  // before the last entry
};

}  // namespace taskspec::checking
