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
  if (auto* blocks = std::get_if<ast::IrDecl>(&item.node)) return &blocks->name;
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

Growth::Growth(const CheckOptions& options) : options_(for_prompt(options)), world_(options_) {
  begin_program(world_, world_.sources.add("", ""));
  top_level().finish();
  file().names.remember();
  file().lets.remember();
  file().values.remember();
  file().local.remember();
  world_.loaded.remember();
  world_.stale.remember();
  declared_.remember();
}

void Growth::settle() {
  file().names.settle();
  file().lets.settle();
  file().values.settle();
  file().local.settle();
  world_.loaded.settle();
  world_.stale.settle();
  declared_.settle();
  top_level().begin_entry();
}

Growth::Mark Growth::mark() {
  return {world_.program.functions.size(),
          world_.program.agents.size(),
          world_.program.modules.size(),
          world_.trees.size(),
          world_.values.size(),
          file().names.mark(),
          file().lets.mark(),
          file().values.mark(),
          world_.loaded.mark(),
          world_.stale.mark(),
          top_level().books(),
          file().local.mark()};
}

void Growth::back_to(const Mark& mark) {
  top_level().info().givers.cut(top_level().function(), mark.books.calls);
  top_level().back_to(mark.books);
  cut(world_.program.functions, mark.functions);
  cut(world_.infos, mark.functions);
  cut(world_.program.agents, mark.agents);
  cut(world_.agents, mark.agents);
  cut(world_.program.modules, mark.modules);
  cut(world_.files, mark.modules);
  for (FileScope& file : world_.files)
    if (file.library) file.library->forget();
  file().names.back_to(mark.names);
  file().lets.back_to(mark.lets);
  file().values.back_to(mark.let_values);
  file().local.back_to(mark.local);
  file().pending.clear();
  file().pending_agents.clear();
  world_.loaded.back_to(mark.loaded);
  world_.stale.back_to(mark.stale);
  world_.dropped.clear();
  cut(world_.trees, mark.trees);  // last: names belong to them
  cut(world_.values, mark.values);
}

NewPart Growth::since(const Mark& mark) { return {mark.functions, mark.books.calls, mark.books.effects.callees}; }

Diags Growth::take_diags() {
  Diags sorted;
  for (Diag& diag : world_.diags.sorted()) sorted.add(std::move(diag));
  world_.diags = Diags();
  return sorted;
}

Diags Growth::checked(const Ast& tree, Span span, const Mark& before) {
  try {
    check_entry(world_, tree);
    infer_effects(world_, since(before));
  } catch (const Error& error) {
    world_.report(error, span);
  }
  return take_diags();
}

Result<Checker::Entry> Growth::add(Ast tree) {
  settle();
  const Ast& kept = world_.trees.emplace_back(std::move(tree));
  const Mark before = mark();
  const std::vector<std::string> own = names_defined_by(kept);
  Checker::Entry entry;
  Diags diags;
  for (;;) {  // once more whenever declarations turn out to be broken by it
    entry.again = begin_entry(own, entry.broken);
    diags = checked(kept, {kept.source, 0, 0}, before);
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
  looked_at_ = functions_of(world_, since(before)).size();
  keep(kept, own, entry);
  return {std::move(entry), std::move(diags)};
}

// Which declarations are to be checked along with an entry that defines these names, and which names are gone for it.
std::vector<std::string> Growth::begin_entry(const std::vector<std::string>& own,
                                             const std::vector<Checker::Broken>& broken) {
  world_.entry_value = VariableId();
  std::vector<std::string> changed, except = own;
  for (const std::string& name : own) {
    auto known = file().names.find(name);
    const bool usable =
        known != file().names.end() && (known->second.kind != Binding::Kind::global || !known->second.is_mutable);
    if (usable || world_.stale.contains(name)) changed.push_back(name);
  }
  for (const Checker::Broken& gone : broken) {
    file().names.remove(std::string_view(gone.name));
    world_.stale.put(gone.name, gone.why);
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
  for (const std::string& name : own) declared_.remove(name);
  for (const ast::Item& item : tree.items) {
    const ast::Name* name = name_of(item);
    if (!name) continue;
    declared_.put(name->text, Declared{&item, order_++});
    words_.add(item, world_.sources.text(item.span));
  }
  for (const std::string& name : own) world_.stale.remove(name);
  for (const std::string& name : entry.again) world_.stale.remove(name);
  count_names(1);
}

Result<Type> Growth::type_of(Ast tree) {
  const Mark before = mark();
  world_.entry_value = VariableId();
  const Ast& kept = world_.trees.emplace_back(std::move(tree));
  const Span all{kept.source, 0, static_cast<std::uint32_t>(world_.sources[kept.source].text().size())};
  Diags diags = checked(kept, all, before);
  Type type;
  if (world_.entry_value.valid())
    type = top_level().function().variables[world_.entry_value.index()].type;
  else if (!diags.has_errors())
    diags.error("E1004", all, "this gives no value, so it has no type");
  back_to(before);
  if (diags.has_errors()) return diags;
  return type;
}

// Declarations that use one of these names, or one that does, in order of their text.
std::vector<std::string> Growth::users_of(std::vector<std::string> changed, const std::vector<std::string>& except) {
  std::unordered_set<std::string> left_out(except.begin(), except.end());
  std::vector<std::string> users;
  auto is_current = [&](const ast::Item& item) {
    auto known = declared_.find(name_of(item)->text);
    return known != declared_.end() && known->second.item == &item;
  };
  while (!changed.empty()) {
    const std::string next = std::move(changed.back());
    changed.pop_back();
    for (const ast::Item* item : words_.with(next, is_current)) {
      const std::string& name = name_of(*item)->text;
      if (!left_out.insert(name).second) continue;
      users.push_back(name);
      changed.push_back(name);
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
    const std::string_view text = world_.sources.text(declared_.find(name)->second.item->span);
    auto mentioned = std::find_if(changed.begin(), changed.end(), [&](const auto& n) { return has_word(text, n); });
    std::string why =
        mentioned == changed.end() ? "what it uses is defined again" : fmt::format("'{}' is defined again", *mentioned);
    entry.broken.push_back({name, std::move(why), std::move(own)});
    wrong.push_back(name);
  }
  for (const std::string& name : users_of(wrong, wrong))
    if (contains(users, name)) entry.broken.push_back({name, fmt::format("it uses '{}'", wrong.front()), {}});
}

Checker::Work Growth::work() {
  const Body::Books books = top_level().books();
  return {looked_at_, file().names.mark() + file().lets.mark() + file().values.mark() + world_.loaded.mark() +
                          world_.stale.mark() + declared_.mark() + file().local.mark().calls +
                          file().local.mark().variables + books.extents + books.imported + books.globals};
}

void Growth::take_back() {
  count_names(-1);
  std::vector<std::string> declared;
  for (const auto& change : declared_.changes()) declared.push_back(change.key);
  file().names.back_to(0);
  world_.stale.back_to(0);
  world_.loaded.back_to(0);
  declared_.back_to(0);
  for (const std::string& name : declared)
    if (auto known = declared_.find(name); known != declared_.end())
      words_.add(*known->second.item, world_.sources.text(known->second.item->span));
}

template <class F>
void Growth::each_change(F&& visit) const {
  std::unordered_set<std::string_view> seen;
  for (const auto& change : world_.files[world_.program.main_module.index()].names.changes())
    if (seen.insert(change.key).second) visit(change.key, change.before);
}

// What the last entry changed: its names come, or go again.
void Growth::count_names(int by) {
  auto count = [&](const Binding& binding, int more) {
    if (is_let(binding) && binding.call.valid()) named_[binding.call.value] += static_cast<std::uint32_t>(more);
  };
  each_change([&](std::string_view name, const std::optional<Binding>& before) {
    if (before) count(*before, -by);
    if (auto now = file().names.find(name); now != file().names.end()) count(now->second, by);
  });
}

std::vector<std::pair<VariableId, CallId>> Growth::forgotten() {
  std::vector<std::pair<VariableId, CallId>> gone;
  const auto& now = world_.files[world_.program.main_module.index()].names;
  each_change([&](std::string_view name, const std::optional<Binding>& before) {
    if (!before || !is_let(*before)) return;
    auto found = now.find(name);
    if (found == now.end() || !same_meaning(*before, found->second)) gone.emplace_back(before->variable, before->call);
  });
  if (gone.empty()) return gone;
  for (; read_by_ < world_.program.functions.size(); ++read_by_)  // they keep what they were made of
    for (const Call& call : world_.program.functions[read_by_].calls)
      if (call.form == Form::global && call.module == world_.program.main_module) read_.insert(call.variable.value);
  std::erase_if(gone, [&](const auto& let) { return read_.contains(let.first.value); });
  for (auto& [variable, call] : gone)  // `a` alone made `_` another name of what `a` still names
    if (auto names = named_.find(call.value); names != named_.end() && names->second > 0) call = CallId();
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
