#include "ir/json/read.hpp"

#include <fmt/format.h>

#include "ir/json/body.hpp"
#include "ir/json/format.hpp"
#include "ir/json/json.hpp"
#include "ir/json/recorded.hpp"
#include "ir/program/folded.hpp"
#include "ir/verify/verify.hpp"

namespace taskspec {

FunctionId ImportIds::function(const Item& item) const {
  FunctionId id = functions[item.id(functions.size(), "definition")];
  if (!id.valid()) item.fail(fmt::format("definition {} is no task, graph or fn", item.integer()));
  return id;
}

AgentId ImportIds::agent(const Item& item) const {
  AgentId id = agents[item.id(agents.size(), "definition")];
  if (!id.valid()) item.fail(fmt::format("definition {} is no agent", item.integer()));
  return id;
}

ModuleId ImportIds::module(const Item& item) const {
  ModuleId id = modules[item.id(modules.size(), "definition")];
  if (!id.valid()) item.fail(fmt::format("definition {} is no module", item.integer()));
  return id;
}

namespace {

constexpr std::array<std::string_view, 7> definition_kinds{"fn", "task", "graph", "module", "op", "agent", "fields"};

void check_header(const Item& root) {
  if (Item format = root["format"]; format.text() != graph_format)
    format.fail(fmt::format("expected \"{}\"", graph_format));
  Item version = root["version"];
  if (version.integer() > graph_version)
    version.fail(
        fmt::format("version {} is newer than this program, which reads up to {}", version.integer(), graph_version),
        "export the graph anew, or use a newer taskspec");
  if (version.integer() < 1) version.expected("a version from 1 on");
}

class Importer {
 public:
  Importer(const JsonFile& file, const OpTable& ops, const BuiltinTable& builtins, std::span<const Form> forms,
           BlockTable blocks)
      : root_(file.root()),
        path_(file.path()),
        context_{.program = imported_.program,
                 .ops = ops,
                 .builtins = builtins,
                 .ids = {},
                 .forms = forms,
                 .blocks = blocks} {}

  ImportedGraph run() {
    check_header(root_);
    imported_.program.proven = false;
    imported_.name = root_["name"].text();
    Item defs = root_["defs"];
    declare(defs);
    add_main();
    const ImportIds& ids = context_.ids;
    // Slots speak of the symbols of their initial functions, so those come first.
    for (std::size_t i = 0; i < defs.size(); ++i)
      if (ids.functions[i].valid()) read_function(context_, defs[i], ids.functions[i]);
    for (std::size_t i = 0; i < defs.size(); ++i)
      if (ids.agents[i].valid()) read_agent(context_, defs[i], ids.agents[i]);
    add_members();
    const bool recorded = is_recorded(root_);
    const GraphSpans spans = read_spans(imported_.program, root_, ids, recorded);
    if (std::vector<std::string> wrong = verify(imported_.program); !wrong.empty()) defs.fail(wrong[0]);
    mark_folded(imported_.program);
    for (std::size_t i = 0; i < defs.size(); ++i)
      if (ids.functions[i].valid()) check_types(imported_.program, ids.functions[i], defs[i]);
    if (recorded)
      imported_.recorded = read_recorded(context_, root_, spans);
    else
      find_graph();
    check_graph_part(root_);
    return std::move(imported_);
  }

 private:
  // Gives every def its place in the program, so that bodies may refer to any of them.
  void declare(const Item& defs) {
    Program& program = imported_.program;
    ImportIds& ids = context_.ids;
    ids.functions.resize(defs.size());
    ids.agents.resize(defs.size());
    ids.modules.resize(defs.size());
    ids.fields.resize(defs.size());
    for (std::size_t i = 0; i < defs.size(); ++i) {
      Item def = defs[i];
      if (def["id"].integer() != static_cast<std::int64_t>(i)) def["id"].fail(fmt::format("expected {}, its place", i));
      std::size_t kind = def["kind"].one_of(definition_kinds);
      if (definition_kinds[kind] == "agent") {
        ids.agents[i] = AgentId(program.agents.size());
        program.agents.emplace_back().name = def["name"].text();
      } else if (definition_kinds[kind] == "op") {
        find_op(def["name"]);
      } else if (definition_kinds[kind] == "fields") {
        ids.fields[i] = FieldsId(program.fields_tables.size());
        program.fields_tables.push_back(read_fields(def));
      } else if (def.has("body")) {
        ids.functions[i] = FunctionId(program.functions.size());
        program.functions.emplace_back().kind = static_cast<FunctionKind>(kind);
        if (definition_kinds[kind] == "module") add_module(def["name"].text(), ids.modules[i], ids.functions[i]);
      }
    }
  }

  void find_op(const Item& name) const {
    if (context_.ops.find(name.text())) return;
    std::vector<std::string> known;
    for (const OpDef* op : context_.ops.all()) known.emplace_back(op->name);
    name.unknown_word(known);
  }

  void add_module(const std::string& name, ModuleId& id, FunctionId top_level) {
    id = ModuleId(imported_.program.modules.size());
    imported_.program.modules.push_back({name, path_, SourceId(), top_level});
  }

  // All functions belong to the main module, which is the last one.
  void add_main() {
    Program& program = imported_.program;
    if (program.modules.empty()) {
      FunctionId top(program.functions.size());
      program.functions.emplace_back().kind = FunctionKind::module;
      program.functions.back().name = "<module>";
      ModuleId main;
      add_module(imported_.name, main, top);
    }
    ModuleId main(program.modules.size() - 1);
    program.main_module = main;
    for (Function& function : program.functions) function.module = main;
    for (AgentDef& agent : program.agents) agent.module = main;
    for (FieldsTable& table : program.fields_tables) table.module = main;
    for (std::size_t i = 0; i < program.modules.size(); ++i) program[program.modules[i].top_level].module = ModuleId(i);
  }

  void add_members() {
    Program& program = imported_.program;
    for (std::size_t i = 0; i < program.functions.size(); ++i)
      if (const Function& f = program.functions[i]; f.agent.valid() && f.kind != FunctionKind::fn)
        program.agents[f.agent.index()].members.push_back(FunctionId(i));
  }

  void find_graph() const {
    const Program& program = imported_.program;
    for (std::size_t i = 0; i < program.functions.size(); ++i)
      if (program.functions[i].kind == FunctionKind::graph && program.display_name(FunctionId(i)) == imported_.name)
        return;
    root_["name"].fail(fmt::format("no graph '{}' is defined", imported_.name));
  }

  Item root_;
  const std::string& path_;
  ImportedGraph imported_;
  ImportContext context_;
};

}  // namespace

Result<ImportedGraph> import_graph(std::string_view text, const std::string& path, const OpTable& ops,
                                   const BuiltinTable& builtins, std::span<const Form> forms, BlockTable blocks) {
  try {
    JsonFile file(path, text);
    return Importer(file, ops, builtins, forms, blocks).run();
  } catch (const Error& error) {
    return error.diags();
  }
}

}  // namespace taskspec
