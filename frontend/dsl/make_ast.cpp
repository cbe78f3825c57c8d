#include "frontend/dsl/make_ast.hpp"

#include <algorithm>
#include <set>
#include <unordered_map>

#include "frontend/ast_print.hpp"
#include "frontend/dsl/make_expr.hpp"
#include "frontend/dsl/record.hpp"
#include "frontend/parse.hpp"
#include "taskspec/declare.hpp"

namespace taskspec::dsl::detail {

namespace {

// ---- statements -----------------------------------------------------------------------------------

class Statements {
 public:
  // `is_free`: the statements stand by themselves, and outputs are lets.
  explicit Statements(ExprMaker& make, bool is_free = false) : make_(make), is_free_(is_free) {}

  ast::Block block(const Block& block, At at) {
    ast::Block made{make_.span(at), {}};
    for (const Statement& statement : block.statements) made.stmts.push_back(stmt(statement));
    return made;
  }

 private:
  ast::Stmt stmt(const Statement& s) {
    ast::Stmt made{make_.span(s.at), {}};
    make_.use_at(s.at);
    switch (s.kind) {
      case Statement::Kind::let:
        made.node = ast::Let{false, pattern(*s.value), nullptr, make_.content(*s.value)};
        break;
      case Statement::Kind::var:
        made.node = ast::Let{true, pattern(*s.target), nullptr, make_(*s.value)};
        break;
      case Statement::Kind::assign:
        if (is_free_ && s.op == "=") {
          made.node = ast::Let{false, pattern(*s.target), nullptr, make_(*s.value)};
          break;
        }
        made.node = ast::Assign{make_(*s.target), {s.op, made.span}, make_(*s.value)};
        break;
      case Statement::Kind::if_:
        made.node = if_(s);
        break;
      case Statement::Kind::while_:
        made.node = ast::While{make_(*s.value), block(*s.body, s.at)};
        break;
      case Statement::Kind::for_:
        made.node = for_(s, made.span);
        break;
      case Statement::Kind::trace:
        made.node = ast::Trace{block(*s.body, s.at)};
        break;
      case Statement::Kind::call:
        made.node = ast::ExprStmt{make_.content(*s.value)};
        break;
      case Statement::Kind::return_:
        made.node = ast::Return{make_(*s.value)};
        break;
    }
    return made;
  }

  ast::If if_(const Statement& s) {
    ast::If made;
    made.arms.push_back({make_.span(s.at), make_(*s.value), block(*s.body, s.at)});
    if (s.otherwise) made.otherwise = block(*s.otherwise, s.at);
    return made;
  }

  ast::For for_(const Statement& s, Span span) {
    if (!s.high) {  // over points
      ast::ExprPtr points = make_(*s.value);
      ast::Pattern turn = make_.pattern(s.targets, s.at);
      return {std::move(turn), std::move(points), block(*s.body, s.at)};
    }
    auto range = std::make_unique<ast::Expr>();
    range->span = span;
    ast::ExprPtr low = make_(*s.value), high = make_(*s.high);
    range->node = ast::RangeExpr{std::move(low), std::move(high), span};
    ast::Pattern turn = pattern(*s.target);
    return {std::move(turn), std::move(range), block(*s.body, s.at)};
  }

  ast::Pattern pattern(const Node& node) {
    Span span = make_.span(node.at);
    return {span, {{make_.name_of(node), span}}};
  }

  ExprMaker& make_;
  bool is_free_;
};

// ---- declarations ---------------------------------------------------------------------------------

class Declarations {
 public:
  Declarations(Places& places, const DeclaredNames& names) : places_(places), names_(names) {}

  ast::Item item(const Function& function) {
    ast::Item made{places_.line(function.name.at), {}};
    if (!function.block_lines.empty())
      made.node = blocks(function);
    else if (function.kind == Kind::task)
      made.node = task(function);
    else
      made.node = fn(function);
    return made;
  }

  ast::Item item(const FieldTable& table) {
    ast::FieldsDecl decl{name(table.name), {}};
    for (const Field& field : table.fields) {
      Span span = places_.line(field.name.at);
      ast::TypeExpr type{span, ast::NamedType{{field.precision, span}, {}, {}}};
      decl.fields.push_back({span, name(field.name), std::move(type)});
    }
    return {places_.line(table.name.at), std::move(decl)};
  }

  ast::Item item(const AgentClass& agent) {
    ExprMaker make(places_, names_);
    ast::AgentDecl decl{name(agent.name), params(agent.parameters, make), {}};
    for (const Slot& slot : agent.slots) {
      Span span = places_.line(slot.name.at);
      ast::Slot made{{slot.kind, span}, name(slot.name), std::nullopt, nullptr};
      if (slot.kind != "layer") made.type = make.type(slot.type, slot.name.at);
      if (slot.initial) made.init = make(*slot.initial);
      decl.members.push_back({span, std::move(made)});
    }
    for (const auto& member : agent.members) {
      ast::AgentMember& made = decl.members.emplace_back(ast::AgentMember{places_.line(member->name.at), {}});
      if (member->kind == Kind::task)
        made.node = task(*member);
      else
        made.node = fn(*member);
    }
    return {places_.line(agent.name.at), std::move(decl)};
  }

 private:
  // Its lines are a text of their own: what is wrong in them is shown there.
  ast::IrDecl blocks(const Function& function) {
    Sources& sources = places_.sources();
    const std::string place = sources.place(places_.line(function.name.at));
    const std::string text = "ir " + function.name.text + " {\n" + function.block_lines + "\n}\n";
    Result<Ast> parsed = parse(sources, sources.add("blocks of " + place, text));
    if (!parsed) throw error_of(sources, parsed.diags());
    auto* declaration = parsed->items.size() == 1 ? std::get_if<ast::IrDecl>(&parsed->items[0].node) : nullptr;
    if (!declaration)
      fail("E0001", function.name.at, "these are not the lines of one 'ir' declaration",
           "leave out 'ir' and its braces");
    return std::move(*declaration);
  }

  ast::TaskDecl task(const Function& function) {
    ExprMaker make(places_, names_);
    ast::TaskDecl decl{name(function.name), params(function.parameters, make), results(function, make), {}, {}};
    if (!function.symbol.empty())
      decl.external = ast::Name{function.symbol, places_.line(function.name.at)};
    else if (function.native)
      decl.external = ast::Name{full_name(function), places_.line(function.name.at)};
    else
      decl.body = Statements(make).block(function.body, function.name.at);
    return decl;
  }

  ast::FnDecl fn(const Function& function) {
    ExprMaker make(places_, names_);
    ast::FnDecl decl{function.kind == Kind::graph,
                     name(function.name),
                     params(function.parameters, make),
                     results(function, make),
                     {}};
    if (function.host) {
      decl.external = ast::Name{function.name.text, places_.line(function.name.at)};
      decl.local = function.host->local;
    }
    decl.body = Statements(make).block(function.body, function.name.at);
    return decl;
  }

  std::vector<ast::Param> params(const std::vector<Parameter>& parameters, ExprMaker& make) {
    std::vector<ast::Param> made;
    for (const Parameter& p : parameters) {
      Span span = places_.line(p.name.at);
      ast::Param param{span, {}, name(p.name), make.type(p.type, p.name.at), nullptr};
      const bool is_word = p.privilege == "in" || p.privilege == "out" || p.privilege == "inout";
      if (is_word)
        param.privilege = ast::Privilege{span, {p.privilege, span}, {}};
      else if (!p.privilege.empty())
        param.privilege = ast::Privilege{span, {"reduce", span}, ast::Name{p.privilege, span}};
      if (p.standard) param.default_value = make(*p.standard);
      made.push_back(std::move(param));
    }
    return made;
  }

  ast::Results results(const Function& function, ExprMaker& make) {
    ast::Results made;
    for (const Output& output : function.outputs) {
      made.span = places_.line(output.name.at);
      ast::TypeExpr type = make.type(output.type, output.name.at);
      if (output.name.text.empty())
        made.unnamed = std::make_unique<ast::TypeExpr>(std::move(type));
      else
        made.named.push_back({made.span, name(output.name), std::move(type)});
    }
    return made;
  }

  ast::Name name(const Name& n) { return {n.text, places_.line(n.at)}; }

  Places& places_;
  const DeclaredNames& names_;
};

// ---- what is needed -------------------------------------------------------------------------------

// Walks from what is wanted to what it calls, callees first.
class Needed {
 public:
  Needed(Places& places, Declared& declared, bool may_rename)
      : places_(places), declared_(declared), may_rename_(may_rename), declarations_(places, declared.names) {}

  void reach(const std::shared_ptr<Function>& function) {
    if (auto agent = function->agent.lock()) return reach(*agent);
    if (is_declared(function->owner)) return;
    reach_types(*function);
    walk(function->body);
    for (const Parameter& p : function->parameters) walk(p.standard);
    if (!function->typed)
      fail("E1004", function->name.at, "the types of " + described(*function) + " are not known yet",
           "call it once outside of bodies, or declare them: .in(\"x\", f32[\"N\"]).out(\"y\", f32[\"N\"])");
    const bool is_cpp = function->native || function->host;
    if (!function->recorded && !is_cpp && function->symbol.empty() && function->block_lines.empty())
      fail("E1006", function->name.at, described(*function) + " has no body");
    // Two C++ functions look alike.
    const std::string called = add(function->owner, function->name, declarations_.item(*function),
                                   is_cpp ? std::to_string(function->owner) : "");
    if (is_cpp && !called.empty()) declared_.natives.emplace_back(called, function);
  }

  void walk(const NodePtr& node) {
    if (!node || !seen_.insert(node.get()).second) return;
    for (const NodePtr& part : node->in) walk(part);
    for (const Item& item : node->items) {
      walk(item.low);
      walk(item.high);
    }
    if (node->agent) reach(*node->agent);
    if (node->function) reach(node->function);
    reach(node->type);
  }

  void walk(const Block& block) {
    for (const Statement& s : block.statements) {
      for (const NodePtr& node : {s.value, s.target, s.high}) walk(node);
      for (const std::unique_ptr<Block>* inner : {&s.body, &s.otherwise})
        if (*inner) walk(**inner);
    }
  }

  std::vector<ast::Item> items;

 private:
  bool is_declared(Owner owner) const { return declared_.names.count(owner) > 0; }

  void reach(const Type& type) {
    for (const Type& part : type.parts) reach(part);
    if (type.table && !is_declared(type.table->owner))
      add(type.table->owner, type.table->name, declarations_.item(*type.table), "");
  }

  void reach_types(const Function& function) {
    for (const Parameter& p : function.parameters) reach(p.type);
    for (const Output& output : function.outputs) reach(output.type);
  }

  void reach(const AgentClass& agent) {
    if (is_declared(agent.owner) || !reached_.insert(agent.owner).second) return;
    for (const auto& member : agent.members) reach_types(*member);
    for (const Slot& slot : agent.slots) walk(slot.initial);
    for (const auto& member : agent.members) walk(member->body);
    std::string bodies;
    for (const auto& member : agent.members)
      if (member->native) bodies += identity(*member);
    const std::string called = add(agent.owner, agent.name, declarations_.item(agent), bodies);
    for (const auto& member : agent.members)
      if (member->native && !called.empty()) declared_.natives.emplace_back(called + "." + member->name.text, member);
  }

  // Of two agents of one struct the C++ bodies are the same unless they have captures: each goes with its own agent.
  static std::string identity(const Function& member) {
    const bool plain = !member.native->identity.empty() && !(member.backward && member.backward->identity.empty());
    if (!plain) return std::to_string(member.owner);
    return member.native->identity + (member.backward ? " " + member.backward->identity : "");
  }

  // A struct of an agent, or a helper that declares a task, may have been made several times: the same is said twice.
  // `bodies`: which C++ functions are part of it. Gives what it is called, empty if that was said before.
  std::string add(Owner owner, const Name& name, ast::Item item, const std::string& bodies) {
    Ast alone;
    alone.items.push_back(std::move(item));
    std::string text = print_ast(alone) + bodies;
    std::string called = name.text;
    declared_.new_names.push_back(owner);
    for (int variant = 2;; ++variant) {
      auto [known, fresh] = declared_.texts.emplace(called, Declared::Text{text, name.at});
      declared_.names[owner] = called;
      if (fresh) declared_.new_texts.push_back(called);
      if (fresh) break;
      if (known->second.text == text) return "";
      if (!may_rename_) two_of_one_name(name, known->second.at);
      called = name.text + "'" + std::to_string(variant);
    }
    rename(alone.items[0], called, !bodies.empty());
    items.push_back(std::move(alone.items[0]));
    return called;
  }

  // Bodies that are here go by the new name as well.
  static void rename(ast::Item& item, const std::string& called, bool with_bodies) {
    if (auto* task = std::get_if<ast::TaskDecl>(&item.node)) {
      task->name.text = called;
      if (task->external && with_bodies) task->external->text = called;
    } else if (auto* fn = std::get_if<ast::FnDecl>(&item.node)) {
      fn->name.text = called;
      if (fn->external) fn->external->text = called;
    } else if (auto* blocks = std::get_if<ast::IrDecl>(&item.node)) {
      blocks->name.text = called;
    } else if (auto* fields = std::get_if<ast::FieldsDecl>(&item.node)) {
      fields->name.text = called;
    } else if (auto* agent = std::get_if<ast::AgentDecl>(&item.node)) {
      const std::string before = agent->name.text + ".";
      agent->name.text = called;
      for (ast::AgentMember& member : agent->members) {
        auto* own = std::get_if<ast::TaskDecl>(&member.node);
        if (own && own->external && own->external->text == before + own->name.text)
          own->external->text = called + "." + own->name.text;
      }
    }
  }

  [[noreturn]] void two_of_one_name(const Name& name, At other) {
    Diags diags;
    diags.error("E1005", places_.line(name.at), "'" + name.text + "' is declared twice, and not alike")
        .label(places_.line(other), "the other one")
        .help("give one of them another name");
    throw error_of(places_.sources(), diags);
  }

  Places& places_;
  Declared& declared_;
  bool may_rename_;
  Declarations declarations_;
  std::set<const void*> seen_;
  std::set<Owner> reached_;  // agents
};

}  // namespace

void Declared::keep_new() {
  new_texts.clear();
  new_names.clear();
  natives.clear();
}

void Declared::forget_new() {
  for (const std::string& name : new_texts) texts.erase(name);
  for (Owner owner : new_names) names.erase(owner);
  keep_new();
}

Ast make_ast(const std::vector<std::shared_ptr<Function>>& wanted, Places& places) {
  Declared declared;
  Needed needed(places, declared, false);
  for (const auto& function : wanted) needed.reach(function);
  return Ast(places.line(wanted.back()->name.at).source, std::move(needed.items));
}

namespace {

// A host number, or a tensor of zeros.
ast::Expr sample_of(const Type& type, ExprMaker& make, At at) {
  Span place = make.span(at);
  if (type.name == "int") return {place, ast::IntLit{0}};
  if (type.name == "float") return {place, ast::FloatLit{0}};
  if (type.name == "string") return {place, ast::StringLit{""}};
  if (type.name == "bool" && type.dims.empty()) return {place, ast::BoolLit{false}};
  Node zeros;
  zeros.kind = Node::Kind::library;
  zeros.text = "fill";
  zeros.at = at;
  zeros.in = {Operand(type, at).take(), Operand(type.name == "bool" ? Operand(false, at) : Operand(0, at)).take()};
  return std::move(*make.content(zeros));
}

ast::Stmt let(const std::string& name, ast::Expr value, Span place) {
  return {place, ast::Let{false, {place, {{name, place}}}, nullptr, std::make_unique<ast::Expr>(std::move(value))}};
}

}  // namespace

Ast output_probe(const Function& function, Places& places) {
  Declared declared;
  Needed needed(places, declared, true);
  needed.walk(function.body);
  Ast probe(places.line(function.name.at).source, std::move(needed.items));
  ExprMaker make(places, declared.names);
  for (const Parameter& p : function.parameters) {
    Span place = places.line(p.name.at);
    probe.items.push_back({place, let(p.name.text, sample_of(p.type, make, p.name.at), place)});
  }
  for (ast::Stmt& stmt : Statements(make, true).block(function.body, function.name.at).stmts) {
    Span place = stmt.span;
    probe.items.push_back({place, std::move(stmt)});
  }
  Span place = places.line(function.name.at);
  std::vector<ast::Expr> outputs;
  for (const Output& output : function.outputs) {
    const std::string name = output.name.text.empty() ? "value" : output.name.text;
    outputs.push_back({place, ast::NameExpr{{name, place}}});
  }
  ast::Expr all = outputs.size() == 1 ? std::move(outputs[0]) : ast::Expr{place, ast::TupleExpr{std::move(outputs)}};
  probe.items.push_back({place, ast::Stmt{place, ast::ExprStmt{std::make_unique<ast::Expr>(std::move(all))}}});
  return probe;
}

std::vector<ast::Item> needed_by(const Node& node, Places& places, Declared& declared) {
  Needed needed(places, declared, true);
  for (const NodePtr& part : node.in) needed.walk(part);
  if (node.agent || node.function || node.type.table) {
    auto itself = std::make_shared<Node>();
    itself->agent = node.agent;
    itself->function = node.function;
    itself->type = node.type;
    needed.walk(itself);
  }
  return std::move(needed.items);
}

}  // namespace taskspec::dsl::detail
