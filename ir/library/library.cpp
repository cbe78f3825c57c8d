// Libraries read back: the head and the list of entries at once, a definition when something needs it.
#include "ir/library/library.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ir/base/function_ref.hpp"
#include "ir/json/body.hpp"
#include "ir/json/read.hpp"
#include "ir/program/folded.hpp"
#include "ir/verify/verify.hpp"

namespace taskspec {

namespace {

constexpr std::array<std::string_view, 4> entry_kinds{"fn", "task", "graph", "agent"};
constexpr std::array<std::string_view, 7> def_kinds{"fn", "task", "graph", "module", "agent", "foreign", "fields"};

// The value that the checker saw for a top-level let, when it is a constant.
Value known_let(const Program& program, const Call& global) {
  const Function& top = program[program.modules[global.module.index()].top_level];
  for (CallId id : top.body.calls) {
    const Call& write = top[id];
    if (write.form != Form::write || write.variable != global.variable) continue;
    const Call& value = top[write.in[0]];
    return value.form == Form::constant || value.form == Form::global ? value.value : Value();
  }
  return {};
}

}  // namespace

struct Library::Inside {
  Inside(std::string path, std::string_view text) : file(std::move(path), text, "library"), root(file.root()) {
    head(text);
    for (Item list = root["imports"]; imports.size() < list.size();) imports.push_back(list[imports.size()].text());
    read_entries();
    for (std::size_t i = 0; i < defs.size(); ++i) {
      if (defs[i]["id"].integer() != static_cast<std::int64_t>(i))
        defs[i]["id"].fail(fmt::format("expected {}, its place", i));
      if (def_kinds[defs[i]["kind"].one_of(def_kinds)] == "module") lets = i;
    }
    ids.functions.resize(defs.size());
    ids.agents.resize(defs.size());
    ids.modules.resize(defs.size());
    ids.fields.resize(defs.size());
  }

  void head(std::string_view text) {
    if (Item format = root["format"]; format.text() != "taskspec-library") format.fail("expected \"taskspec-library\"");
    Item version = root["version"];
    if (version.integer() > library_version)
      version.fail(fmt::format("version {} is newer than this program, which reads up to {}", version.integer(),
                               library_version),
                   "build the library again, or use a newer taskspec");
    if (version.integer() < 1) version.expected("a version from 1 on");
    name = root["name"].text();
    stored = root["hash"].text();
    actual = hash128(text.substr(std::min(text.find('\n'), text.size()))).text();
    source_name = root["source"].text();
    source = root["text"].text();
    symbols = static_cast<std::uint32_t>(root["symbols"].id(std::size_t{1} << 24, "symbol count"));
    defs = root["defs"];
    defs.size();
  }

  void read_entries() {
    Item list = root["entries"];
    entries.reserve(list.size());  // views of the names are handed out
    for (std::size_t i = 0; i < list.size(); ++i) {
      Entry entry;
      entry.name = list[i]["name"].text();
      entry.kind = entry_kinds[list[i]["kind"].one_of(entry_kinds)];
      entry.def = list[i]["def"].id(defs.size(), "definition");
      entry.hash = list[i]["hash"].text();
      Item def = defs[entry.def];
      if (def["kind"].text() != entry.kind || def["name"].text() != entry.name)
        list[i].fail(fmt::format("definition {} is something else", entry.def));
      if (!by_name.emplace(entry.name, i).second) list[i]["name"].fail("there are two of this name");
      by_def.emplace(entry.def, i);
      entries.push_back(std::move(entry));
    }
  }

  bool is_linked(std::size_t def) const { return ids.functions[def].valid() || ids.agents[def].valid(); }

  JsonFile file;
  Item root;
  Item defs = root;
  std::string name, stored, actual, source_name, source;
  std::vector<std::string> imports;
  std::vector<Entry> entries;
  std::map<std::string, std::size_t, std::less<>> by_name;
  std::map<std::size_t, std::size_t> by_def;
  std::uint32_t symbols = 0;
  std::size_t lets = SIZE_MAX;
  ImportIds ids;
};

// ---- linking --------------------------------------------------------------------------------------

namespace {

// One call of link: which definitions are new, and what becomes of them.
class Linker {
 public:
  Linker(const Item& defs, ImportIds& ids, const Library& library, const Library::Host& host)
      : defs_(defs),
        ids_(ids),
        host_(host),
        source_end_(library.source().size() + 1),
        context_{
            .program = host.program, .ops = host.ops, .builtins = host.builtins, .ids = {}, .blocks = host.blocks} {
    context_.first_symbol = host.first_symbol;
    context_.symbols = library.symbols();
  }

  // `is_member(i)`: definition i can be named as a member of its agent.
  Library::Linked run(std::size_t first, FunctionRef<bool(std::size_t)> is_member) {
    collect(first);
    for (std::size_t i : todo_) declare(i);
    context_.ids = ids_;
    // Bodies name lets by their names, and slots speak of the symbols of their first values.
    for (std::string_view kind : {"module", "function", "agent"})
      for (std::size_t i : todo_)
        if (kind_of(i) == kind) read(i);
    for (std::size_t i : todo_) finish(i, is_member(i));
    for (std::string_view kind : {"module", "function"})
      for (std::size_t i : todo_)
        if (kind_of(i) == kind) mark_folded(host_.program, ids_.functions[i]);
    linked_.symbols = std::move(context_.owners);
    return std::move(linked_);
  }

 private:
  void collect(std::size_t first) {
    std::vector<bool> seen(defs_.size(), false);
    seen[first] = true;
    todo_.push_back(first);
    for (std::size_t k = 0; k < todo_.size(); ++k) {
      Item def = defs_[todo_[k]];
      if (kind_of(todo_[k]) == "foreign" || kind_of(todo_[k]) == "fields") continue;
      Item refs = def["refs"];
      for (std::size_t r = 0; r < refs.size(); ++r) {
        std::size_t ref = refs[r].id(defs_.size(), "definition");
        if (seen[ref] || ids_.functions[ref].valid() || ids_.agents[ref].valid()) continue;
        seen[ref] = true;
        todo_.push_back(ref);
      }
    }
  }

  std::string_view kind_of(std::size_t i) const {
    std::string_view kind = def_kinds[defs_[i]["kind"].one_of(def_kinds)];
    return kind == "fn" || kind == "task" || kind == "graph" ? "function" : kind;
  }

  void declare(std::size_t i) {
    Item def = defs_[i];
    std::string_view kind = kind_of(i);
    if (kind == "foreign") return declare_foreign(i, def);
    if (kind == "fields") return declare_fields(i, def);
    if (kind == "agent") {
      AgentDef agent;
      agent.name = def["name"].text();
      agent.module = host_.module;
      ids_.agents[i] = host_.add_agent(std::move(agent));
    } else if (kind == "module") {
      ids_.modules[i] = host_.module;
      ids_.functions[i] = host_.program.modules[host_.module.index()].top_level;
    } else {
      Function function;
      function.kind = static_cast<FunctionKind>(def["kind"].one_of(def_kinds));
      function.module = host_.module;
      ids_.functions[i] = host_.add_function(std::move(function));
    }
    linked_.defs.emplace_back(Declared{ids_.functions[i], ids_.agents[i]}, i);
  }

  void declare_foreign(std::size_t i, const Item& def) {
    const std::string& module = def["module"].text();
    const std::string& name = def["name"].text();
    Declared what = host_.foreign(module, name);
    ids_.functions[i] = what.function;
    ids_.agents[i] = what.agent;
    if (what.function.valid() && name.empty()) ids_.modules[i] = host_.program[what.function].module;
    linked_.foreign.push_back({what, name.empty() ? module : module + "." + name, def["hash"].text()});
  }

  // The table of its module, which another definition may have brought along already; this time or before.
  void declare_fields(std::size_t i, const Item& def) {
    FieldsTable table = read_fields(def);
    table.module = host_.module;
    if (auto module = def.find("module")) {
      const Declared top = host_.foreign(module->text(), "");
      if (!top.function.valid()) module->fail("this module has no tables");
      table.module = host_.program[top.function].module;
    }
    std::deque<FieldsTable>& known = host_.program.fields_tables;
    for (std::size_t k = 0; k < known.size(); ++k) {
      if (known[k].module != table.module || known[k].name != table.name) continue;
      const bool same = std::ranges::equal(known[k].fields, table.fields, [](const auto& a, const auto& b) {
        return a.name == b.name && a.precision == b.precision;
      });
      if (!same) def["name"].fail("the fields of this table were others when the library was built");
      ids_.fields[i] = FieldsId(k);
      return;
    }
    ids_.fields[i] = FieldsId(known.size());
    known.push_back(std::move(table));
  }

  void read(std::size_t i) {
    Item def = defs_[i];
    if (ids_.agents[i].valid()) return read_agent(context_, def, ids_.agents[i]);
    read_function(context_, def, ids_.functions[i]);
    Function& function = host_.program[ids_.functions[i]];
    for (Call& call : function.calls)
      if (call.form == Form::global) call.value = known_let(host_.program, call);
  }

  void finish(std::size_t i, bool member) {
    if (kind_of(i) == "foreign" || kind_of(i) == "fields") return;
    places(i);
    FunctionId id = ids_.functions[i];
    if (!id.valid()) return;
    if (std::vector<std::string> wrong = verify(host_.program, id); !wrong.empty()) defs_[i].fail(wrong[0]);
    check_types(host_.program, id, defs_[i]);
    AgentId agent = host_.program[id].agent;
    if (member && agent.valid()) host_.program.agents[agent.index()].members.push_back(id);
  }

  void places(std::size_t i) const {
    Item at = defs_[i]["at"];
    std::size_t next = 0;
    auto place = [&](Span& span) {
      if (next + 2 > at.size()) at.expected("a place for each part");
      auto begin = static_cast<std::uint32_t>(at[next].id(source_end_, "place"));
      auto stop = static_cast<std::uint32_t>(at[next + 1].id(source_end_, "place"));
      next += 2;
      if (stop < begin) at.expected("places that end behind their begin");
      span = {host_.source, begin, stop};
    };
    if (ids_.agents[i].valid()) {
      AgentDef& agent = host_.program.agents[ids_.agents[i].index()];
      place(agent.span);
      for (Parameter& parameter : agent.parameters) place(parameter.span);
      for (Slot& slot : agent.slots) place(slot.span);
      return;
    }
    Function& function = host_.program[ids_.functions[i]];
    place(function.span);
    for (Parameter& parameter : function.parameters) place(parameter.span);
    for (Output& output : function.outputs) place(output.span);
    for (Variable& variable : function.variables) place(variable.span);
    for (Call& call : function.calls) place(call.span);
  }

  const Item& defs_;
  ImportIds& ids_;
  const Library::Host& host_;
  std::size_t source_end_;
  ImportContext context_;
  std::vector<std::size_t> todo_;
  Library::Linked linked_;
};

}  // namespace

Library::Library(std::string path, std::string_view text) : inside_(std::make_unique<Inside>(std::move(path), text)) {}
Library::~Library() = default;

const std::string& Library::path() const { return inside_->file.path(); }
const std::string& Library::name() const { return inside_->name; }
const std::string& Library::source_name() const { return inside_->source_name; }
const std::string& Library::source() const { return inside_->source; }
const std::vector<std::string>& Library::imports() const { return inside_->imports; }
const std::vector<Library::Entry>& Library::entries() const { return inside_->entries; }
bool Library::has_lets() const { return inside_->lets != SIZE_MAX; }
std::uint32_t Library::symbols() const { return inside_->symbols; }
const std::string& Library::stored_hash() const { return inside_->stored; }
const std::string& Library::actual_hash() const { return inside_->actual; }

const Library::Entry* Library::find(std::string_view name) const {
  auto found = inside_->by_name.find(name);
  return found == inside_->by_name.end() ? nullptr : &inside_->entries[found->second];
}

const Library::Entry* Library::entry_of(std::size_t def) const {
  auto found = inside_->by_def.find(def);
  return found == inside_->by_def.end() ? nullptr : &inside_->entries[found->second];
}

Declared Library::at(std::size_t def) const { return {inside_->ids.functions[def], inside_->ids.agents[def]}; }

Library::Linked Library::link(std::size_t def, const Host& host) {
  if (inside_->is_linked(def)) return {};
  auto is_member = [this](std::size_t i) { return entry_of(i) != nullptr; };
  return Linker(inside_->defs, inside_->ids, *this, host).run(def, is_member);
}

Library::Linked Library::link_lets(const Host& host) { return link(inside_->lets, host); }

void Library::forget(std::size_t functions, std::size_t agents) {
  for (FunctionId& id : inside_->ids.functions)
    if (id.valid() && id.index() >= functions) id = FunctionId();
  for (AgentId& id : inside_->ids.agents)
    if (id.valid() && id.index() >= agents) id = AgentId();
}

}  // namespace taskspec
