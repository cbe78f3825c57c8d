#include "interp/workspace/definitions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "frontend/check/free_names.hpp"

namespace taskspec {

std::string edited(std::string_view text, std::vector<TextEdit> edits) {
  // From the end on, so that what stands before keeps its place.
  std::ranges::stable_sort(
      edits, [](const TextEdit& a, const TextEdit& b) { return a.at != b.at ? a.at > b.at : a.length > b.length; });
  std::string result(text);
  for (const TextEdit& edit : edits) result.replace(edit.at, edit.length, edit.text);
  return result;
}

namespace {

const ast::Name* declared_name(const ast::Item& item) {
  if (auto* agent = std::get_if<ast::AgentDecl>(&item.node)) return &agent->name;
  if (auto* task = std::get_if<ast::TaskDecl>(&item.node)) return &task->name;
  if (auto* fn = std::get_if<ast::FnDecl>(&item.node)) return &fn->name;
  return nullptr;
}

class Definitions {
 public:
  explicit Definitions(std::span<const EntryDefinitions> entries) : entries_(entries), read_(entries.size()) {}

  DefinedOnce run() {
    for (std::size_t i = 0; i < entries_.size(); ++i)
      if (entries_[i].tree) enter(i);
    keep_what_is_used();
    give_names();
    DefinedOnce result{std::move(read_), std::vector<std::string>(entries_.size())};
    for (const Version& version : versions_) write(version, result);
    for (const Use& use : uses_) rename(use, result.edits[use.entry]);
    return result;
  }

 private:
  using Names = std::map<std::string_view, std::size_t>;  // what stands for a name now: in versions_
  struct Use {
    std::size_t entry;
    Span span;
    std::size_t version;
  };
  struct Version {
    std::string_view name;
    Span at;                          // of the name; of an import without one what it follows
    std::size_t entry = 0;            // whose text it has
    const ast::Item* item = nullptr;  // of a declaration
    std::size_t again_in = none;      // the entry behind which it stands once more
    bool imported = false;            // and named by its file
    bool used = false;
    std::string called = {};
    std::vector<Use> uses = {};
  };
  static constexpr std::size_t none = SIZE_MAX;

  // ---- what each name means ----

  void enter(std::size_t entry) {
    const Names before = now_;
    std::set<std::string_view> changed;
    std::vector<std::size_t> declared, values;  // of this entry
    for (const ast::Item& item : entries_[entry].tree->items) define(entry, item, declared, values);
    Names then = now_;
    for (std::size_t id : declared) then[versions_[id].name] = id;
    for (std::size_t id : values) then[versions_[id].name] = id;
    for (auto [name, id] : then)
      if (auto known = before.find(name); known != before.end() && known->second != id) changed.insert(name);
    for (const std::string& name : entries_[entry].broken) then.erase(name);
    declare_again(entry, changed, then, declared);
    for (std::size_t id : declared) {
      now_[versions_[id].name] = id;
      checking::each_free_name(*versions_[id].item, [&](const ast::Name& name) {
        if (auto found = then.find(name.text); found != then.end())
          versions_[id].uses.push_back({versions_[id].entry, name.span, found->second});
      });
    }
    run_statements(entry, values);
    now_ = entries_[entry].stands ? std::move(then) : before;
  }

  void define(std::size_t entry, const ast::Item& item, std::vector<std::size_t>& declared,
              std::vector<std::size_t>& values) {
    if (const ast::Name* name = declared_name(item)) {
      declared.push_back(versions_.size());
      versions_.push_back({.name = name->text, .at = name->span, .entry = entry, .item = &item});
      return;
    }
    auto value = [&](const ast::Name& name, Span at, bool imported) {
      values.push_back(versions_.size());
      versions_.push_back({.name = name.text, .at = at, .entry = entry, .imported = imported});
    };
    if (auto* import = std::get_if<ast::ImportDecl>(&item.node)) {
      if (import->alias)
        value(*import->alias, import->alias->span, false);
      else if (!import->path.empty())
        value(import->path.back(), import->path.back().span, true);
    }
    auto* statement = std::get_if<ast::Stmt>(&item.node);
    if (auto* let = statement ? std::get_if<ast::Let>(&statement->node) : nullptr)
      for (const ast::Name& name : let->pattern.names) value(name, name.span, false);
  }

  // What uses a name that means something else now, or uses what does, does so too.
  void declare_again(std::size_t entry, std::set<std::string_view>& changed, Names& then,
                     std::vector<std::size_t>& declared) {
    for (bool more = !changed.empty(); std::exchange(more, false);)
      for (auto& [name, id] : then) {
        const Version& version = versions_[id];
        const bool older = version.entry != entry && version.again_in != entry;
        if (!version.item || !older) continue;
        bool touched = false;
        checking::each_free_name(*version.item,
                                 [&](const ast::Name& used) { touched = touched || changed.contains(used.text); });
        if (!touched) continue;
        Version again{.name = version.name, .at = version.at, .entry = version.entry, .item = version.item};
        again.again_in = entry;
        changed.insert(again.name);
        declared.push_back(id = versions_.size());
        versions_.push_back(std::move(again));
        more = true;
      }
  }

  void run_statements(std::size_t entry, const std::vector<std::size_t>& values) {
    auto next = values.begin();
    for (const ast::Item& item : entries_[entry].tree->items) {
      if (std::holds_alternative<ast::Stmt>(item.node))
        checking::each_free_name(item, [&](const ast::Name& name) {
          if (auto found = now_.find(name.text); found != now_.end())
            uses_.push_back({entry, name.span, found->second});
        });
      for (; next != values.end() && item.span.begin <= versions_[*next].at.begin &&
             versions_[*next].at.end <= item.span.end;
           ++next)
        now_[versions_[*next].name] = *next;
    }
  }

  // ---- what the file has of it ----

  void keep_what_is_used() {
    std::vector<std::size_t> todo;
    for (const Use& use : uses_) todo.push_back(use.version);
    for (auto [name, id] : now_) todo.push_back(id);
    for (std::size_t id = 0; id < versions_.size(); ++id)
      if (!versions_[id].item) todo.push_back(id);
    while (!todo.empty()) {
      Version& version = versions_[todo.back()];
      todo.pop_back();
      if (std::exchange(version.used, true)) continue;
      for (const Use& use : version.uses) todo.push_back(use.version);
    }
  }

  void give_names() {
    std::map<std::string_view, std::size_t> last = now_;
    for (std::size_t id = 0; id < versions_.size(); ++id)
      if (versions_[id].used && !now_.contains(versions_[id].name)) last[versions_[id].name] = id;
    std::map<std::string_view, std::size_t> count;
    for (std::size_t id = 0; id < versions_.size(); ++id) {
      Version& version = versions_[id];
      version.called = version.name;
      auto is_taken = [&](const EntryDefinitions& entry) { return entry.text.find(version.called) != entry.text.npos; };
      while (version.used && last.at(version.name) != id && std::ranges::any_of(entries_, is_taken))
        version.called = fmt::format("{}_{}", version.name, ++count[version.name]);
    }
  }

  void rename(const Use& use, std::vector<TextEdit>& edits) const {
    const Version& version = versions_[use.version];
    if (version.called != version.name)
      edits.push_back({use.span.begin, use.span.end - use.span.begin, version.called});
  }

  void write(const Version& version, DefinedOnce& result) const {
    const bool again = version.again_in != none;
    std::vector<TextEdit> edits;
    if (version.used) {
      for (const Use& use : version.uses) rename(use, edits);
      const std::uint32_t length = version.at.end - version.at.begin;
      if (version.called != version.name)
        edits.push_back(version.imported ? TextEdit{version.at.end, 0, " as " + version.called}
                                         : TextEdit{version.at.begin, length, version.called});
    } else if (!again) {
      edits.push_back({version.item->span.begin, version.item->span.end - version.item->span.begin, ""});
    }
    if (!again) {
      std::ranges::move(edits, std::back_inserter(result.edits[version.entry]));
    } else if (version.used) {
      const Span whole = version.item->span;
      for (TextEdit& edit : edits) edit.at -= whole.begin;
      result.behind[version.again_in] +=
          edited(entries_[version.entry].text.substr(whole.begin, whole.end - whole.begin), std::move(edits)) + "\n";
    }
  }

  std::span<const EntryDefinitions> entries_;
  std::vector<std::vector<TextEdit>> read_;
  std::vector<Version> versions_;
  std::vector<Use> uses_;  // in statements
  Names now_;
};

}  // namespace

DefinedOnce defined_once(std::span<const EntryDefinitions> entries) { return Definitions(entries).run(); }

}  // namespace taskspec
