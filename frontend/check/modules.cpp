#include "frontend/check/modules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "frontend/check/blocks.hpp"
#include "frontend/check/declare.hpp"
#include "frontend/check/foreign.hpp"
#include "frontend/check/later.hpp"
#include "frontend/check/library.hpp"
#include "frontend/check/messages.hpp"
#include "frontend/check/statements.hpp"
#include "frontend/parse.hpp"
#include "ir/base/ascii.hpp"
#include "ir/base/text.hpp"

namespace taskspec::checking {

namespace {

namespace fs = std::filesystem;

class Files {
 public:
  explicit Files(World& world) : world_(world) {}

  // The module, checked; invalid when it could not be parsed (reported).
  ModuleId check(SourceId source, const std::string& name) {
    Result<Ast> ast = parse(world_.sources, source);
    world_.diags.append(ast.diags());
    return ast ? check(std::move(*ast), name) : ModuleId();
  }

  ModuleId check(Ast ast, const std::string& name) {
    const Ast& tree = world_.trees.emplace_back(std::move(ast));
    SourceId source = tree.source;
    Imports imports;
    for (const ast::Item& item : tree.items)
      if (auto* import = std::get_if<ast::ImportDecl>(&item.node)) imports.push_back(bring(*import, item.span, source));
    ModuleId id = add_module(tree.source, name);
    append(id, tree, imports);
    return id;
  }

  // What is written next in a main file that grows.
  void check_entry(const Ast& tree) {
    Imports imports;
    for (const ast::Item& item : tree.items)
      if (auto* import = std::get_if<ast::ImportDecl>(&item.node))
        imports.push_back(bring(*import, item.span, tree.source));
    world_.entered.clear();
    append(world_.program.main_module, tree, imports);
  }

 private:
  using Imports = std::vector<std::pair<const ast::Name*, ModuleId>>;

  // ---- imports ----

  struct Loading {
    std::string key, name;
  };

  // The bound name and what it stands for; an invalid module when something is wrong with it.
  std::pair<const ast::Name*, ModuleId> bring(const ast::ImportDecl& import, Span span, SourceId from) {
    if (import.file) return bring_model(import, from);
    const ast::Name* bound = import.alias ? &*import.alias : &import.path.back();
    Wanted wanted{{}, join(import.path.front().span, import.path.back().span), span};
    for (const ast::Name& name : import.path) wanted.path.push_back(name.text);
    return {bound, load(wanted, fs::path(world_.sources[from].path()).parent_path())};
  }

  // ---- model files ----

  std::pair<const ast::Name*, ModuleId> bring_model(const ast::ImportDecl& import, SourceId from) {
    const ast::Name& file = *import.file;
    fs::path unended = fs::path(file.text).filename().replace_extension();
    if (unended.extension() == ".task") unended.replace_extension();  // net.task.txt
    const std::string stem = unended.string();
    const ast::Name* bound = import.alias ? &*import.alias : &world_.bound.emplace_back(ast::Name{stem, file.span});
    if (!world_.options.import_model) {
      not_built(world_.diags, file.span, "the import of a model file", "importers");
    } else if (!import.alias && !is_name(stem)) {
      world_.diags.error("E0001", file.span, fmt::format("'{}' is no name that the module could go by", stem))
          .help(fmt::format("import \"{}\" as net", file.text));
      bound = nullptr;
    } else {
      return {bound, load_model(file, stem, fs::path(world_.sources[from].path()).parent_path())};
    }
    return {bound, ModuleId()};
  }

  static bool is_name(const std::string& text) {
    return !text.empty() && !is_digit(text[0]) && std::ranges::all_of(text, is_word);
  }

  // Beside the importing file, then in the folders that are searched for modules.
  ModuleId load_model(const ast::Name& file, const std::string& name, const fs::path& own) {
    std::vector<std::string> folders{own.string()};
    folders.insert(folders.end(), world_.options.search_path.begin(), world_.options.search_path.end());
    std::error_code none;
    for (const std::string& folder : folders)
      if (const fs::path path = fs::path(folder) / file.text; fs::exists(path, none))
        return load_model(path, name, file);
    Diag& diag = world_.diags.error("E7001", file.span, fmt::format("model file '{}' is not found", file.text));
    for (const std::string& folder : folders)
      diag.note(fmt::format("no file {}", (fs::path(folder) / file.text).string()));
    return {};
  }

  ModuleId load_model(const fs::path& path, const std::string& name, const ast::Name& file,
                      const ModelOptions& options = {}) {
    std::error_code error;
    std::string key = fs::weakly_canonical(path, error).string();
    for (const auto& [option, value] : options) key += "\n" + option + "=" + value;
    if (auto known = world_.loaded.find(key); known != world_.loaded.end()) return known->second;
    ModuleId module;
    try {
      ImportedModel model = world_.options.import_model(path.string(), name, options);
      const SourceId source = world_.sources.add(path.string(), std::move(model.text));
      world_.beside.emplace(source, std::move(model.folder));
      module = check(source, name);
    } catch (const Error& failed) {
      world_.report(failed, file.span);
    }
    world_.loaded.add(key, module);
    return module;
  }

  // A module as an import names it, or a library that was built with it.
  struct Wanted {
    std::vector<std::string> path;
    Span path_span, span;  // of its name, and of the whole import
    std::string name() const { return joined(path, "."); }
  };

  std::vector<std::string> folders(const fs::path& own) const {
    std::vector<std::string> folders{own.string()};
    folders.insert(folders.end(), world_.options.search_path.begin(), world_.options.search_path.end());
    const std::vector<std::string>& prelude = world_.options.prelude;
    folders.insert(folders.end(), prelude.begin(), prelude.end());
    return folders;
  }

  // In each folder the text, else the library: a library never hides the text that it was built from.
  ModuleId load(const Wanted& wanted, const fs::path& own) { return load(wanted, folders(own)); }

  ModuleId load(const Wanted& wanted, const std::vector<std::string>& all) {
    fs::path relative;
    for (const std::string& name : wanted.path) relative /= name;
    for (const std::string& folder : all) {
      const std::string path = (fs::path(folder) / relative).string();
      try {
        if (std::optional<std::string> text = read(path + ".task")) return load(path + ".task", *text, wanted);
        if (std::optional<std::string> text = read(path + ".tasklib")) return load(path + ".tasklib", *text, wanted);
      } catch (const Error& error) {
        world_.report(error, wanted.path_span);
        return {};
      }
    }
    Diag& diag = world_.diags.error("E7001", wanted.path_span, fmt::format("module '{}' is not found", wanted.name()));
    for (const std::string& folder : all)
      diag.note(fmt::format("no file {}.task or .tasklib", (fs::path(folder) / relative).string()));
    diag.help(std::string(foreign_module(wanted.name())));
    return {};
  }

  // Nothing where there is no such file. One that cannot be read is an error: another folder may hold another file.
  std::optional<std::string> read(const std::string& path) const {
    if (!world_.options.read) return std::nullopt;
    try {
      return world_.options.read(path);
    } catch (const Error& error) {
      if (error.diags().items().front().code == Code("E7001")) return std::nullopt;
      throw;
    }
  }

  ModuleId load(const fs::path& path, const std::string& text, const Wanted& wanted) {
    std::error_code error;
    std::string key = fs::weakly_canonical(path, error).string();
    if (auto known = world_.loaded.find(key); known != world_.loaded.end()) return known->second;
    if (is_open(key)) {
      std::string way;
      bool inside = false;
      for (const Loading& loading : open_)
        if (inside = inside || loading.key == key; inside) way += loading.name + " -> ";
      world_.diags.error("E7002", wanted.span, fmt::format("import cycle: {}{}", way, wanted.name()));
      return {};
    }
    open_.push_back({key, wanted.name()});
    struct Close {
      std::vector<Loading>& open;
      ~Close() { open.pop_back(); }
    } close{open_};
    ModuleId module = path.extension() == ".task" ? check(world_.sources.add(path.string(), text), wanted.path.back())
                                                  : open_library(path, text, wanted);
    world_.loaded.add(key, module);
    return module;
  }

  // "a.b" as names, which a file from outside may not take for a way to other folders.
  static std::vector<std::string> parts_of(const std::string& import, const Library& library) {
    std::vector<std::string> parts(1);
    for (char c : import) {
      const bool letter = c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
      const bool digit = c >= '0' && c <= '9' && !parts.back().empty();
      if (letter || digit)
        parts.back() += c;
      else if (c == '.' && !parts.back().empty())
        parts.emplace_back();
      else
        throw failure("E7003", {}, fmt::format("'{}' imports '{}', which is no name", library.path(), import));
    }
    if (parts.back().empty())
      throw failure("E7003", {}, fmt::format("'{}' imports '{}', which is no name", library.path(), import));
    return parts;
  }

  // How a library is made anew: in the folder in which its name was looked for.
  std::string cure_of(const fs::path& library, const Wanted& wanted) const {
    fs::path folder = library;
    for (std::size_t i = 0; i < wanted.path.size(); ++i) folder = folder.parent_path();
    const std::vector<std::string>& prelude = world_.options.prelude;
    if (std::find(prelude.begin(), prelude.end(), folder.string()) != prelude.end())
      return "it came with taskspec: install that again";
    const bool here = folder.empty() || folder == ".";
    return fmt::format("build it again{}: taskspec build --lib {}",
                       here ? "" : fmt::format(" in the folder '{}'", folder.string()), wanted.name());
  }

  // What it was built with first, as for a text.
  ModuleId open_library(const fs::path& path, const std::string& text, const Wanted& wanted) {
    auto library = std::make_unique<Library>(path.string(), text);
    if (library->name() != wanted.path.back())
      throw failure(
          "E7003", {},
          fmt::format("'{}' holds library '{}'; the file must go by its name", path.string(), library->name()));
    std::map<std::string, ModuleId> modules;
    for (const std::string& name : library->imports()) {
      ModuleId module = load({parts_of(name, *library), wanted.path_span, wanted.span}, path.parent_path());
      if (!module.valid()) return {};
      modules.emplace(name, module);
    }
    fs::path source = path.parent_path() / fs::path(library->source_name()).filename();
    ModuleId id = add_module(world_.sources.add(source.string(), library->source()), wanted.path.back());
    world_.file(id).library = std::make_unique<LinkedLibrary>(world_, std::move(library), id, std::move(modules),
                                                              wanted.path_span, cure_of(path, wanted));
    return id;
  }

  bool is_open(const std::string& key) const {
    for (const Loading& loading : open_)
      if (loading.key == key) return true;
    return false;
  }

 public:
  ModuleId model_with(ModuleId model, const ModelOptions& options, Span span) {
    const Module module = world_.program.modules[model.index()];
    return load_model(fs::path(module.path), module.name, ast::Name{module.path, span}, options);
  }

  ModuleId served(std::string_view name, Span span) {
    return load(Wanted{{std::string(name)}, span, span}, world_.options.prelude);
  }

  void open_main(SourceId main, const std::string& name) {
    std::error_code error;
    open_.push_back({fs::weakly_canonical(world_.sources[main].path(), error).string(), name});
  }

  // ---- one file ----

  ModuleId add_module(SourceId source, const std::string& name) {
    ModuleId id(world_.program.modules.size());
    Function top_level;
    top_level.kind = FunctionKind::module;
    top_level.name = "<module>";
    top_level.module = id;
    top_level.span = {source, 0, 0};
    FunctionId function = world_.add_function(std::move(top_level));
    world_.program.modules.push_back({name, world_.sources[source].path(), source, function});
    if (source == world_.main) world_.program.main_module = id;
    FileScope& file = world_.files.emplace_back();
    file.top_level = std::make_unique<Body>(world_, function);
    return id;
  }

 private:
  void append(ModuleId id, const Ast& tree, const Imports& imports) {
    Body& body = *world_.file(id).top_level;
    const bool imported = id != world_.program.main_module;
    for (const auto& [bound, module] : imports) {
      if (!bound) continue;
      Binding binding{.kind = module.valid() ? Binding::Kind::module : Binding::Kind::error, .what = "module"};
      binding.module = module;
      body.define(*bound, binding);
    }
    declare_items(world_, id, tree);
    if (!imported)
      for (const ast::Item* item : world_.again) declare_item(world_, id, *item);
    Scope& scope = body.scopes.front();
    scope = Scope();
    for (const ast::Item& item : tree.items)
      if (auto* stmt = std::get_if<ast::Stmt>(&item.node)) scope.statements.push_back(stmt);
    for (const ast::Item& item : tree.items) {
      if (auto* blocks = std::get_if<ast::IrDecl>(&item.node)) define_blocks(body, *blocks);
      auto* stmt = std::get_if<ast::Stmt>(&item.node);
      if (!stmt) continue;
      if (imported) require_let(*stmt);
      statement(body, *stmt);
      ++body.scopes.front().position;
    }
    if (!imported)
      for (const ast::Item* item : world_.again)
        if (auto* blocks = std::get_if<ast::IrDecl>(&item->node)) define_blocks(body, *blocks);
    check_pending(world_, id);
    body.finish();
  }

  void require_let(const ast::Stmt& stmt) {
    auto* let = std::get_if<ast::Let>(&stmt.node);
    if (let && !let->is_var) return;
    world_.diags.error("E7005", stmt.span, "an imported file holds declarations and pure lets only");
  }

  World& world_;
  std::vector<Loading> open_;  // files that are being read, to find import cycles
};

}  // namespace

void begin_program(World& world, SourceId main) {
  world.main = main;
  Files(world).add_module(main, "session");
}

void serve_module(World& world, std::string_view name, Span span) {
  auto& served = world.program.served;
  if (std::ranges::find(served, name, &std::pair<std::string, ModuleId>::first) != served.end()) return;
  const ModuleId module = Files(world).served(name, span);
  if (!module.valid()) return;
  served.emplace_back(name, module);
  for (const std::string& function : world.names(module)) world.find(module, function);  // links it
}

bool is_model(const World& world, ModuleId module) {
  return world.beside.contains(world.program.modules[module.index()].source);
}

ModuleId model_with(World& world, ModuleId model, const ModelOptions& options, Span span) {
  return Files(world).model_with(model, options, span);
}

void check_entry(World& world, const Ast& tree) { Files(world).check_entry(tree); }

void check_program(World& world, SourceId main, std::optional<Ast> tree) {
  world.main = main;
  std::string name = fs::path(world.sources[main].path()).stem().string();
  Files files(world);
  files.open_main(main, name);
  if (tree)
    files.check(std::move(*tree), name);
  else
    files.check(main, name);
}

}  // namespace taskspec::checking
