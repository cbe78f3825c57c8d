// A module as a library: a head of one line with the hash of all the rest, then JSON with one definition a line.
#include <filesystem>
#include <set>

#include "ir/json/body.hpp"
#include "ir/library/library.hpp"
#include "ir/show/program_text.hpp"

namespace taskspec {

namespace {

class LibraryWriter {
 public:
  LibraryWriter(const Program& program, ModuleId module, const LibraryOptions& options)
      : program_(program),
        module_(program.modules[module.index()]),
        id_(module),
        options_(options),
        hashes_(program, program.sources),
        defs_(program, roots(program, module), [this](const Def& def) { return module_of(def) != id_; }) {}

  LibraryFile run() {
    imports();
    entries();
    definitions();
    text_.line().member("text", program_.sources[module_.source].text());
    std::string body = text_.line().close('}').take() + "\n";
    // The body was written as an object of its own; its opening bracket belongs to the head.
    body.erase(0, 1);
    JsonText head;
    head.open('{').member("format", "taskspec-library").member("version", library_version);
    head.member("name", module_.name).member("hash", hash128(body).text());
    file_.text = head.take() + "," + body;
    return std::move(file_);
  }

 private:
  static std::vector<Def> roots(const Program& program, ModuleId module) {
    std::vector<Def> roots;
    auto function = [&](FunctionId id) { roots.push_back({.kind = Def::Kind::function, .function = id}); };
    FunctionId top = program.modules[module.index()].top_level;
    if (!program[top].body.calls.empty()) function(top);
    for (std::size_t i = 0; i < program.functions.size(); ++i) {
      const Function& f = program.functions[i];
      if (f.module == module && f.kind != FunctionKind::module && f.part == Part::whole) function(FunctionId(i));
    }
    for (std::size_t i = 0; i < program.agents.size(); ++i)
      if (program.agents[i].module == module) roots.push_back({.kind = Def::Kind::agent, .agent = AgentId(i)});
    return roots;
  }

  ModuleId module_of(const Def& def) const {
    if (def.kind == Def::Kind::fields) return program_[def.fields].module;
    return def.kind == Def::Kind::agent ? program_[def.agent].module : program_[def.function].module;
  }
  void put_id(const char* key, std::size_t id) { text_.member(key, static_cast<std::int64_t>(id)); }

  template <class Element>
  void list(const char* key, std::size_t count, const Element& element) {
    text_.line().key(key).open('[');
    for (std::size_t i = 0; i < count; ++i) element(i);
    if (count > 0) text_.line();
    text_.close(']');
  }

  static Declared declared(const Def& def) {
    return def.kind == Def::Kind::agent ? Declared{.agent = def.agent} : Declared{.function = def.function};
  }

  void imports() {
    text_.open('{').line().member("source", std::filesystem::path(module_.path).filename().string());
    std::set<std::string> names;
    std::size_t symbols = 0;
    for (const Def& def : defs_.all()) {
      if (defs_.foreign(def)) names.insert(options_.import_name(module_of(def)));
      if (def.kind != Def::Kind::function || defs_.foreign(def)) continue;
      for (const auto& [symbol, info] : defs_.numbers(def.function).symbols.symbols())
        symbols = std::max(symbols, defs_.rank(symbol) + 1);
    }
    text_.line().key("imports").open('[');
    for (const std::string& name : names) text_.string(name);
    text_.close(']');
    text_.line();
    put_id("symbols", symbols);
  }

  // ---- what can be named from outside ----

  // Closures and first values of slots belong to the declaration that they are written in.
  bool is_entry(const Def& def) const {
    if (defs_.foreign(def) || def.kind == Def::Kind::fields) return false;
    if (def.kind == Def::Kind::agent) return true;
    const Function& function = program_[def.function];
    if (function.kind == FunctionKind::module || function.name == "<closure>") return false;
    if (!function.agent.valid()) return true;
    for (const Slot& slot : program_[function.agent].slots)
      if (slot.initial == def.function) return false;
    return true;
  }

  void entries() {
    std::vector<std::size_t> ids;
    for (std::size_t i = 0; i < defs_.all().size(); ++i)
      if (is_entry(defs_.all()[i])) ids.push_back(i);
    list("entries", ids.size(), [&](std::size_t i) { entry(ids[i]); });
  }

  void entry(std::size_t id) {
    const Def& def = defs_.all()[id];
    const Declared what = declared(def);
    const bool agent = def.kind == Def::Kind::agent;
    LibraryFile::Entry made;
    made.name = agent ? program_[def.agent].name : program_.display_name(def.function);
    made.kind = agent ? "agent" : function_kind_name(program_[def.function].kind);
    made.hash = hashes_.of(what).text();
    for (Declared used : hashes_.used(what)) made.uses.push_back(used_name(used));
    text_.line().open('{').member("name", made.name).member("kind", made.kind).member("hash", made.hash);
    put_id("def", id);
    names("uses", made.uses);
    if (!agent) function(def.function);
    text_.close('}');
    file_.entries.push_back(std::move(made));
  }

  void function(FunctionId id) {
    std::string whole = function_text(program_, id);
    text_.line().member("signature", whole.substr(0, whole.find('\n')));
    PartTexts parts = options_.parts ? options_.parts(id) : PartTexts{};
    part("host", parts.host, parts.host_uses);
    part("graph", parts.graph, parts.graph_uses);
  }

  void part(const char* side, const std::string& text, const std::vector<Declared>& uses) {
    if (text.empty()) return;
    text_.line().key(side).open('{').member("text", text);
    std::vector<std::string> list;
    for (Declared used : uses) list.push_back(used_name(used));
    names("uses", list);
    text_.close('}');
  }

  void names(const char* key, const std::vector<std::string>& list) {
    text_.key(key).open('[');
    for (const std::string& name : list) text_.string(name);
    text_.close(']');
  }

  // As a reader of this module would write it.
  std::string used_name(Declared what) const {
    std::string name = hashes_.name(what);
    ModuleId module = what.agent.valid() ? program_[what.agent].module : program_[what.function].module;
    if (module != id_) return name;
    return name.size() > module_.name.size() ? name.substr(module_.name.size() + 1) : "its lets";
  }

  // ---- definitions ----

  void definitions() {
    list("defs", defs_.all().size(), [&](std::size_t i) {
      const Def& def = defs_.all()[i];
      text_.line().open('{');
      put_id("id", i);
      if (def.kind == Def::Kind::fields) {
        // Those of another module, too: what types say of them is known without it.
        if (defs_.foreign(def)) text_.member("module", options_.import_name(module_of(def)));
        put_def_members(text_, program_, TaskGraph(), defs_, i);
      } else if (defs_.foreign(def)) {
        foreign(def);
      } else {
        static const TaskGraph none;
        put_def_members(text_, program_, none, defs_, i);
        numbers("refs", defs_.refs(i));
        places(def);
      }
      text_.close('}');
    });
  }

  void foreign(const Def& def) {
    const Declared what = declared(def);
    const bool agent = def.kind == Def::Kind::agent;
    const bool top = !agent && program_[def.function].kind == FunctionKind::module;
    text_.member("kind", "foreign").member("module", options_.import_name(module_of(def)));
    text_.member("name", top ? "" : agent ? program_[def.agent].name : program_.display_name(def.function));
    text_.member("hash", hashes_.of(what).text());
  }

  void numbers(const char* key, const std::vector<std::size_t>& list) {
    text_.key(key).open('[');
    for (std::size_t number : list) text_.number(static_cast<std::int64_t>(number));
    text_.close(']');
  }

  // Where it stands in the text: begin and end of itself, its parameters, outputs (or slots), variables and calls.
  void places(const Def& def) {
    text_.key("at").open('[');
    if (def.kind == Def::Kind::agent) {
      const AgentDef& agent = program_[def.agent];
      place(agent.span);
      for (const Parameter& parameter : agent.parameters) place(parameter.span);
      for (const Slot& slot : agent.slots) place(slot.span);
    } else {
      const Function& function = program_[def.function];
      const FunctionNumbers& order = defs_.numbers(def.function);
      place(function.span);
      for (const Parameter& parameter : function.parameters) place(parameter.span);
      for (const Output& output : function.outputs) place(output.span);
      for (VariableId id : order.variable_order) place(function.variables[id.index()].span);
      for (CallId id : order.call_order) place(function[id].span);
    }
    text_.close(']');
  }

  void place(Span span) {
    const bool here = span.valid() && span.source == module_.source;
    text_.number(here ? span.begin : 0).number(here ? span.end : 0);
  }

  const Program& program_;
  const Module& module_;
  ModuleId id_;
  const LibraryOptions& options_;
  ContentHashes hashes_;
  Defs defs_;
  JsonText text_;
  LibraryFile file_;
};

}  // namespace

LibraryFile write_library(const Program& program, ModuleId module, const LibraryOptions& options) {
  return LibraryWriter(program, module, options).run();
}

}  // namespace taskspec
