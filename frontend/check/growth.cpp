#include "frontend/check/growth.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/check/declare.hpp"
#include "frontend/check/effects.hpp"
#include "frontend/check/modules.hpp"

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

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

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
  Mark before = mark();
  world_.entry_value = VariableId();
  const Ast& kept = world_.trees.emplace_back(std::move(tree));
  Diags diags = checked({kept.source, 0, 0}, [&] { check_entry(world_, kept); });
  if (diags.has_errors()) {
    back_to(before);
    return diags;
  }
  Checker::Entry entry;
  entry.value = world_.entry_value;
  for (const ast::Item& item : kept.items)
    if (const ast::Name* name = name_of(item)) {
      entry.defined.push_back(name->text);
      declared_.insert_or_assign(name->text, Declared{&item, order_++});
    }
  for (const auto& [name, binding] : file().names)
    if (binding.kind == Binding::Kind::global && binding.variable.index() >= before.books.variables && name != "_")
      entry.defined.emplace_back(name);
  for (const std::string& name : entry.defined) {
    world_.stale.erase(name);
    // A value now: what was declared by this name is not checked again.
    if (auto found = file().names.find(name); found->second.kind == Binding::Kind::global) declared_.erase(name);
  }
  std::vector<std::string> changed = replaced(before.names);
  for (const auto& [name, why] : before.stale)
    if (!world_.stale.contains(name)) changed.push_back(name);
  check_users(changed, entry);
  last_ = std::move(before);
  world_.program.sources = world_.sources;
  return {std::move(entry), std::move(diags)};
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

// Names that stood for something that declarations could use, and stand for something else now.
std::vector<std::string> Growth::replaced(const Names& before) const {
  std::vector<std::string> changed;
  const Names& now = world_.files[world_.program.main_module.index()].names;
  for (const auto& [name, binding] : before) {
    auto found = now.find(name);
    const bool usable = binding.kind != Binding::Kind::global || !binding.is_mutable;
    if (usable && name != "_" && (found == now.end() || !same_meaning(binding, found->second)))
      changed.emplace_back(name);
  }
  std::sort(changed.begin(), changed.end());
  return changed;
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

void Growth::check_users(const std::vector<std::string>& changed, Checker::Entry& entry) {
  if (changed.empty()) return;
  std::vector<std::string> except = entry.defined;
  for (std::vector<std::string> users = users_of(changed, except); !users.empty(); users = users_of(changed, except)) {
    Mark before = mark();
    Diags diags = checked({}, [&] {
      for (const std::string& name : users)
        declare_item(world_, world_.program.main_module, *declared_.find(name)->second.item);
      check_pending(world_, world_.program.main_module);
      top_level().finish();
    });
    if (!diags.has_errors()) {
      for (const std::string& name : users) world_.stale.erase(name);
      entry.again = std::move(users);
      return;
    }
    back_to(before);
    break_names(users, changed, diags, entry);
    for (const Checker::Broken& broken : entry.broken) except.push_back(broken.name);
  }
}

// Which of the users the errors are about; and what uses those.
void Growth::break_names(const std::vector<std::string>& users, const std::vector<std::string>& changed,
                         const Diags& diags, Checker::Entry& entry) {
  std::vector<std::string> wrong;
  for (const std::string& name : users) {
    const ast::Item& item = *declared_.find(name)->second.item;
    Diags own;
    for (const Diag& diag : diags.items()) {
      const Span& at = diag.primary.span;
      if (at.source == item.span.source && at.begin >= item.span.begin && at.end <= item.span.end) own.add(diag);
    }
    if (!own.has_errors()) continue;
    auto mentioned = std::find_if(changed.begin(), changed.end(), [&](const auto& n) { return mentions(item, {n}); });
    std::string cause = mentioned == changed.end() ? changed.front() : *mentioned;
    break_name(name, fmt::format("'{}' is defined again", cause), std::move(own), entry);
    wrong.push_back(name);
  }
  if (wrong.empty()) {  // an error that stands nowhere in them: none can stay
    for (const std::string& name : users) break_name(name, "what it uses is defined again", diags, entry);
    return;
  }
  for (const std::string& name : users_of(wrong, wrong))
    if (contains(users, name)) break_name(name, fmt::format("it uses '{}'", wrong.front()), {}, entry);
}

void Growth::break_name(const std::string& name, std::string why, Diags diags, Checker::Entry& entry) {
  file().names.erase(name);
  world_.stale.insert_or_assign(name, why);
  entry.broken.push_back({name, std::move(why), std::move(diags)});
}

void Growth::take_back(const std::function<bool(VariableId)>& is_set) {
  Names& names = file().names;
  for (auto at = names.begin(); at != names.end();) {
    const Binding& binding = at->second;
    const bool made = binding.kind == Binding::Kind::global && binding.module == world_.program.main_module &&
                      binding.variable.index() >= last_.books.variables && !is_set(binding.variable);
    auto before = last_.names.find(at->first);
    if (made && before != last_.names.end()) at->second = before->second;
    at = made && before == last_.names.end() ? names.erase(at) : std::next(at);
  }
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
  for (const auto& [name, binding] : world_.files[module.index()].names)
    if (binding.kind != Binding::Kind::error && name != "_")
      list.push_back({std::string(name), std::string(binding.what), binding.function, binding.agent, binding.module,
                      binding.variable, binding.span});
  std::sort(list.begin(), list.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return list;
}

}  // namespace taskspec::checking
