#include "frontend/check/growth.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/check/declare.hpp"
#include "frontend/check/effects.hpp"
#include "frontend/check/library.hpp"
#include "frontend/check/modules.hpp"
#include "ir/base/ascii.hpp"

namespace taskspec::checking {

namespace {

CheckOptions for_prompt(CheckOptions options) {
  options.at_prompt = true;
  return options;
}

// The name that a declaration gives; null for statements and imports.
const ast::Name* name_of(const ast::Item& item) {
  if (auto* agent = std::get_if<ast::AgentDecl>(&item.node)) return &agent->name;
  if (auto* task = std::get_if<ast::TaskDecl>(&item.node)) return &task->name;
  if (auto* fn = std::get_if<ast::FnDecl>(&item.node)) return &fn->name;
  return nullptr;
}

std::vector<std::string> names_defined_by(const Ast& tree) {
  std::vector<std::string> names;
  for (const ast::Item& item : tree.items) {
    if (const ast::Name* name = name_of(item)) names.push_back(name->text);
    if (auto* import = std::get_if<ast::ImportDecl>(&item.node)) {
      if (import->alias)
        names.push_back(import->alias->text);
      else if (!import->path.empty())
        names.push_back(import->path.back().text);
    }
    auto* stmt = std::get_if<ast::Stmt>(&item.node);
    auto* let = stmt ? std::get_if<ast::Let>(&stmt->node) : nullptr;
    if (let)
      for (const ast::Name& name : let->pattern.names) names.push_back(name.text);
  }
  return names;
}

bool contains(const std::vector<std::string>& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

bool same_meaning(const Binding& a, const Binding& b) {
  return a.kind == b.kind && a.call == b.call && a.variable == b.variable && a.function == b.function &&
         a.agent == b.agent && a.module == b.module;
}

template <class List>
void cut(List& list, std::size_t size) {
  while (list.size() > size) list.pop_back();
}

}  // namespace

Growth::Growth(Sources& sources, const CheckOptions& options)
    : options_(for_prompt(options)), world_(sources, options_) {
  begin_program(world_, sources.add("", ""));
  top_level().finish();
  last_ = mark();
}

Growth::Mark Growth::mark() {
  return {world_.program.functions.size(),
          world_.program.agents.size(),
          world_.program.modules.size(),
          world_.trees.size(),
          world_.values.size(),
          file().names,
          file().lets,
          file().values,
          top_level().books(),
          top_level().info().effects,
          world_.loaded,
          world_.stale};
}

void Growth::back_to(const Mark& mark) {
  top_level().back_to(mark.books);
  top_level().info().effects = mark.effects;
  top_level().info().broken = false;
  cut(world_.program.functions, mark.functions);
  cut(world_.infos, mark.functions);
  cut(world_.program.agents, mark.agents);
  cut(world_.agents, mark.agents);
  cut(world_.program.modules, mark.modules);
  cut(world_.files, mark.modules);
  for (FileScope& file : world_.files)
    if (file.library) file.library->forget();
  file().names = mark.names;
  file().lets = mark.lets;
  file().values = mark.let_values;
  file().pending.clear();
  world_.loaded = mark.loaded;
  world_.stale = mark.stale;
  world_.dropped.clear();
  cut(world_.trees, mark.trees);  // last: names belong to them
  cut(world_.values, mark.values);
}

Diags Growth::take_diags() {
  Diags sorted;
  for (Diag& diag : world_.diags.sorted()) sorted.add(std::move(diag));
  world_.diags = Diags();
  return sorted;
}

template <class F>
Diags Growth::checked(Span span, F&& part) {
  try {
    part();
    infer_effects(world_);
  } catch (const Error& error) {
    world_.report(error, span);
  }
  return take_diags();
}

Result<Checker::Entry> Growth::add(Ast tree) {
  const Ast& kept = world_.trees.emplace_back(std::move(tree));
  Mark before = mark();
  const std::vector<std::string> own = names_defined_by(kept);
  Checker::Entry entry;
  Diags diags;
  for (;;) {  // once more whenever declarations turn out to be broken by it
    entry.again = begin_entry(own, before, entry.broken);
    diags = checked({kept.source, 0, 0}, [&] { check_entry(world_, kept); });
    world_.again.clear();
    if (!diags.has_errors()) break;
    Diags mine = without_users(diags, entry.again);
    back_to(before);
    if (mine.has_errors()) {
      world_.trees.pop_back();
      return mine;
    }
    break_users(entry.again, own, diags, entry);
  }
  entry.value = world_.entry_value;
  last_declared_ = declared_;
  last_ = std::move(before);
  keep(kept, own, entry);
  world_.program.sources = world_.sources;
  return {std::move(entry), std::move(diags)};
}

// Which declarations are to be checked along with an entry that defines these names, and which names are gone for it.
std::vector<std::string> Growth::begin_entry(const std::vector<std::string>& own, const Mark& before,
                                             const std::vector<Checker::Broken>& broken) {
  world_.entry_value = VariableId();
  std::vector<std::string> changed, except = own;
  for (const std::string& name : own) {
    auto known = before.names.find(name);
    const bool usable =
        known != before.names.end() && (known->second.kind != Binding::Kind::global || !known->second.is_mutable);
    if (usable || before.stale.contains(name)) changed.push_back(name);
  }
  for (const Checker::Broken& gone : broken) {
    file().names.erase(gone.name);
    world_.stale.insert_or_assign(gone.name, gone.why);
    except.push_back(gone.name);
  }
  std::vector<std::string> users = changed.empty() ? std::vector<std::string>() : users_of(changed, except);
  for (const std::string& name : users) world_.again.push_back(declared_.find(name)->second.item);
  return users;
}

bool Growth::is_about(const Diag& diag, const std::string& name) const {
  const Span &at = diag.primary.span, &all = declared_.find(name)->second.item->span;
  return at.source == all.source && at.begin >= all.begin && at.end <= all.end;
}

Diags Growth::without_users(const Diags& diags, const std::vector<std::string>& users) const {
  Diags mine;
  for (const Diag& diag : diags.items())
    if (std::none_of(users.begin(), users.end(), [&](const std::string& name) { return is_about(diag, name); }))
      mine.add(diag);
  return mine;
}

// The entry stands: what it declares is known from now on.
void Growth::keep(const Ast& tree, const std::vector<std::string>& own, const Checker::Entry& entry) {
  for (const std::string& name : own) declared_.erase(name);
  for (const ast::Item& item : tree.items)
    if (const ast::Name* name = name_of(item)) declared_.insert_or_assign(name->text, Declared{&item, order_++});
  for (const std::string& name : own) world_.stale.erase(name);
  for (const std::string& name : entry.again) world_.stale.erase(name);
}

Result<Type> Growth::type_of(Ast tree) {
  Mark before = mark();
  world_.entry_value = VariableId();
  const Ast& kept = world_.trees.emplace_back(std::move(tree));
  const Span all{kept.source, 0, static_cast<std::uint32_t>(world_.sources[kept.source].text().size())};
  Diags diags = checked(all, [&] { check_entry(world_, kept); });
  Type type;
  if (world_.entry_value.valid())
    type = top_level().function().variables[world_.entry_value.index()].type;
  else if (!diags.has_errors())
    diags.error("E1004", all, "this gives no value, so it has no type");
  back_to(before);
  if (diags.has_errors()) return diags;
  return type;
}

// By its words: one too many costs a check, no more.
bool Growth::mentions(const ast::Item& item, const std::vector<std::string>& names) const {
  std::string_view text = world_.sources.text(item.span);
  for (std::size_t at = 0; at < text.size();) {
    std::size_t end = at;
    while (end < text.size() && is_word(text[end])) ++end;
    if (end > at && contains(names, text.substr(at, end - at))) return true;
    at = end + 1;
  }
  return false;
}

// Declarations that use one of these names, or one that does, in order of their text.
std::vector<std::string> Growth::users_of(const std::vector<std::string>& changed,
                                          const std::vector<std::string>& except) const {
  std::vector<std::string> reached = changed, users;
  for (bool more = true; more;) {
    more = false;
    for (const auto& [name, declared] : declared_) {
      if (contains(users, name) || contains(except, name) || !mentions(*declared.item, reached)) continue;
      users.push_back(name);
      reached.push_back(name);
      more = true;
    }
  }
  std::sort(users.begin(), users.end(), [&](const std::string& a, const std::string& b) {
    return declared_.find(a)->second.order < declared_.find(b)->second.order;
  });
  return users;
}

// Which of the users the errors are about; and what uses those.
void Growth::break_users(const std::vector<std::string>& users, const std::vector<std::string>& changed,
                         const Diags& diags, Checker::Entry& entry) {
  std::vector<std::string> wrong;
  for (const std::string& name : users) {
    Diags own;
    for (const Diag& diag : diags.items())
      if (is_about(diag, name)) own.add(diag);
    if (!own.has_errors()) continue;
    const ast::Item& item = *declared_.find(name)->second.item;
    auto mentioned = std::find_if(changed.begin(), changed.end(), [&](const auto& n) { return mentions(item, {n}); });
    std::string why =
        mentioned == changed.end() ? "what it uses is defined again" : fmt::format("'{}' is defined again", *mentioned);
    entry.broken.push_back({name, std::move(why), std::move(own)});
    wrong.push_back(name);
  }
  for (const std::string& name : users_of(wrong, wrong))
    if (contains(users, name)) entry.broken.push_back({name, fmt::format("it uses '{}'", wrong.front()), {}});
}

void Growth::take_back() {
  file().names = last_.names;
  world_.stale = last_.stale;
  world_.loaded = last_.loaded;
  declared_ = last_declared_;
}

std::vector<std::pair<VariableId, CallId>> Growth::forgotten() const {
  std::vector<std::pair<VariableId, CallId>> gone;
  const Names& now = world_.files[world_.program.main_module.index()].names;
  for (const auto& [name, binding] : last_.names) {
    if (binding.kind != Binding::Kind::global || binding.module != world_.program.main_module) continue;
    auto found = now.find(name);
    if (found == now.end() || !same_meaning(binding, found->second)) gone.emplace_back(binding.variable, binding.call);
  }
  if (gone.empty()) return gone;
  std::vector<VariableId> read;  // by functions, which keep what they were made of
  for (const Function& function : world_.program.functions)
    for (const Call& call : function.calls)
      if (call.form == Form::global) read.push_back(call.variable);
  std::erase_if(gone, [&](const auto& let) { return std::find(read.begin(), read.end(), let.first) != read.end(); });
  for (auto& [variable, call] : gone)  // `a` alone made `_` another name of what `a` still names
    for (const auto& [name, binding] : now)
      if (binding.kind == Binding::Kind::global && binding.call == call) call = CallId();
  return gone;
}

std::vector<Checker::Known> Growth::names(ModuleId module) const {
  std::vector<Checker::Known> list;
  if (const LinkedLibrary* library = world_.files[module.index()].library.get())
    for (const std::string& name : library->names())
      if (!world_.files[module.index()].names.contains(name)) list.push_back({name, "name", {}, {}, {}, {}, {}});
  for (const auto& [name, binding] : world_.files[module.index()].names)
    if (binding.kind != Binding::Kind::error && name != "_")
      list.push_back({std::string(name), std::string(binding.what), binding.function, binding.agent, binding.module,
                      binding.variable, binding.span});
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return list;
}

}  // namespace taskspec::checking
