#include "frontend/check/declare.hpp"

#include <fmt/format.h>

#include "frontend/check/blocks.hpp"
#include "frontend/check/expressions.hpp"
#include "frontend/check/messages.hpp"
#include "frontend/check/regions.hpp"
#include "frontend/parse.hpp"

namespace taskspec::checking {

namespace {

class Declarations {
 public:
  Declarations(World& world, ModuleId module) : world_(world), module_(module), file_(world.file(module)) {}

  void operator()(const ast::AgentDecl& decl) {
    AgentId id(world_.program.agents.size());
    AgentDef agent;
    agent.name = decl.name.text;
    agent.module = module_;
    agent.span = decl.name.span;
    world_.program.agents.push_back(std::move(agent));
    AgentInfo& info = world_.agents.emplace_back();
    info.decl = &decl;
    file_.pending_agents.push_back(id);
    Binding binding{.kind = Binding::Kind::agent, .what = "agent"};
    binding.agent = id;
    enter(file_.names, decl.name, binding);
    for (const ast::AgentMember& member : decl.members)
      std::visit([&](const auto& node) { add_member(id, node); }, member.node);
  }

  void operator()(const ast::TaskDecl& decl) { enter(file_.names, decl.name, function(add(decl, {}), "task")); }
  void operator()(const ast::FnDecl& decl) {
    enter(file_.names, decl.name, function(add(decl, {}), decl.is_graph ? "graph" : "fn"));
  }

  void operator()(const ast::FieldsDecl& decl) {
    Binding binding{.kind = Binding::Kind::fields, .what = "table of fields"};
    binding.index = static_cast<std::uint32_t>(declare_fields(world_, module_, decl).index());
    enter(file_.names, decl.name, binding);
  }
  void operator()(const ast::IrDecl& decl) { declare_blocks(world_, module_, decl); }
  void operator()(const ast::ImportDecl&) {}  // modules.cpp
  void operator()(const ast::Stmt&) {}        // statements.cpp

 private:
  void enter(Names& names, const ast::Name& name, Binding binding) {
    binding.span = name.span;
    if (name.text == "_") return wildcard_as_name(world_.diags, name.span);
    auto [place, added] = names.emplace(name.text, binding);
    if (!added) defined_twice(world_.diags, name.text, place->second.span, name.span);
  }

  void enter(UndoMap<Names>& names, const ast::Name& name, Binding binding) {
    binding.span = name.span;
    if (name.text == "_") return wildcard_as_name(world_.diags, name.span);
    const bool again = world_.options.at_prompt && world_.entered.insert(name.text).second;
    auto [place, added] = names.add(name.text, binding);
    if (added) return;
    if (!again)
      defined_twice(world_.diags, name.text, place->second.span, name.span);
    else
      names.put(name.text, binding);
  }

  static Binding function(FunctionId id, std::string_view what) {
    Binding binding{.kind = Binding::Kind::function, .what = what};
    binding.function = id;
    return binding;
  }

  void add_member(AgentId agent, const ast::Slot& slot) {
    AgentInfo& info = world_.info(agent);
    Binding binding{.kind = Binding::Kind::slot, .what = "slot"};
    binding.index = static_cast<std::uint32_t>(info.slots.size());
    info.slots.push_back(&slot);
    enter(info.names, slot.name, binding);
  }

  void add_member(AgentId agent, const ast::TaskDecl& decl) { add_function_member(agent, decl, "task"); }
  void add_member(AgentId agent, const ast::FnDecl& decl) {
    add_function_member(agent, decl, decl.is_graph ? "graph" : "fn");
  }

  template <class Decl>
  void add_function_member(AgentId agent, const Decl& decl, std::string_view what) {
    FunctionId id = add(decl, agent);
    world_.program.agents[agent.index()].members.push_back(id);
    Binding binding = function(id, what);
    binding.agent = agent;
    enter(world_.info(agent).names, decl.name, binding);
  }

  FunctionId add(const ast::TaskDecl& decl, AgentId agent) {
    FunctionId id = add(FunctionKind::task, decl.name, agent);
    world_.info(id).task = &decl;
    return id;
  }

  FunctionId add(const ast::FnDecl& decl, AgentId agent) {
    FunctionId id = add(decl.is_graph ? FunctionKind::graph : FunctionKind::fn, decl.name, agent);
    world_.info(id).fn = &decl;
    return id;
  }

  FunctionId add(FunctionKind kind, const ast::Name& name, AgentId agent) {
    Function function;
    function.kind = kind;
    function.name = name.text;
    function.agent = agent;
    function.module = module_;
    function.span = name.span;
    FunctionId id = world_.add_function(std::move(function));
    file_.pending.push_back(id);
    return id;
  }

  World& world_;
  ModuleId module_;
  FileScope& file_;
};

}  // namespace

void declare_item(World& world, ModuleId module, const ast::Item& item) {
  std::visit(Declarations(world, module), item.node);
}

void declare_items(World& world, ModuleId module, const Ast& ast) {
  for (const ast::Item& item : ast.items) declare_item(world, module, item);
}

// ---- -D -------------------------------------------------------------------------------------------

const std::string* define_for(const World& world, ModuleId module, std::string_view name) {
  if (world.program.modules[module.index()].source != world.main) return nullptr;
  const std::string* found = nullptr;
  for (const auto& [key, text] : world.options.defines)
    if (key == name) found = &text;
  return found;
}

Term defined_value(Body& body, const std::string& name, const std::string& text, const ast::Expr* standard,
                   const Type* wanted) {
  World& world = body.world;
  bool string = wanted && wanted->is(Type::Kind::string);
  if (!wanted && standard)
    string = dry_run(body, [&] { return body.type(expression(body, *standard)).is(Type::Kind::string); });
  SourceId source = world.sources.add("-D " + name, text);
  Span span{source, 0, static_cast<std::uint32_t>(text.size())};
  if (string) return body.constant(Value(text), Type::Kind::string, span);
  Result<ast::Expr> parsed = parse_expression(world.sources, source);
  world.diags.append(parsed.diags());
  if (!parsed) return body.error(span);
  const ast::Expr& expr = world.values.emplace_back(std::move(*parsed));
  return expression(body, expr, wanted);
}

}  // namespace taskspec::checking
