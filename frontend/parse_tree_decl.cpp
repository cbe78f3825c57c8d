#include "frontend/parse_tree.hpp"

namespace taskspec::parsing {
namespace {

std::size_t type_of_leaf(antlr4::tree::ParseTree* child) {
  auto* leaf = dynamic_cast<antlr4::tree::TerminalNode*>(child);
  return leaf ? leaf->getSymbol()->getType() : antlr4::Token::INVALID_TYPE;
}

}  // namespace

// ---- statements ----

ast::Block TreeBuilder::block(TaskParser::BlockContext* tree) {
  ast::Block result{span(tree), {}};
  for (TaskParser::StmtContext* part : tree->stmt()) result.stmts.push_back(stmt(part));
  return result;
}

ast::Stmt TreeBuilder::stmt(TaskParser::StmtContext* tree) {
  Span place = span(tree);
  if (tree->ifStmt()) return {place, if_stmt(tree->ifStmt())};
  std::string_view first = text(dynamic_cast<Leaf*>(tree->children[0]));
  if (first == "let" || first == "var")
    return {place, ast::Let{first == "var", pattern(tree->pattern()), tree->type() ? boxed(tree->type()) : nullptr,
                            boxed(tree->expr(0))}};
  if (first == "for") return {place, ast::For{pattern(tree->pattern()), boxed(tree->expr(0)), block(tree->block())}};
  if (first == "while") return {place, ast::While{boxed(tree->expr(0)), block(tree->block())}};
  if (first == "trace") return {place, ast::Trace{block(tree->block())}};
  if (first == "return") return {place, ast::Return{tree->expr().empty() ? nullptr : boxed(tree->expr(0))}};
  if (first == "break") return {place, ast::Break{}};
  if (first == "continue") return {place, ast::Continue{}};
  if (tree->children.size() == 1) return {place, ast::ExprStmt{boxed(tree->expr(0))}};
  return {place, ast::Assign{boxed(tree->expr(0)), name(dynamic_cast<Leaf*>(tree->children[1])), boxed(tree->expr(1))}};
}

// `else if` nests in the grammar and follows on in the syntax tree.
ast::If TreeBuilder::if_stmt(TaskParser::IfStmtContext* tree) {
  ast::If result;
  for (; tree; tree = tree->ifStmt()) {
    ast::Block body = block(tree->block(0));
    Span place{source_, static_cast<std::uint32_t>(tree->start->getStartIndex()), body.span.end};
    result.arms.push_back({place, boxed(tree->expr()), std::move(body)});
    if (tree->block().size() > 1) result.otherwise = block(tree->block(1));
  }
  return result;
}

// ---- declarations ----

ast::Item TreeBuilder::item(TaskParser::ItemContext* tree) {
  Span place = span(tree);
  if (tree->importDecl()) return {place, import_decl(tree->importDecl())};
  if (tree->fieldsDecl()) return {place, fields_decl(tree->fieldsDecl())};
  if (tree->agentDecl()) return {place, agent_decl(tree->agentDecl())};
  if (tree->taskDecl()) return {place, task_decl(tree->taskDecl())};
  if (tree->fnDecl()) return {place, fn_decl(tree->fnDecl())};
  if (tree->irDecl()) return {place, ir_decl(tree->irDecl())};
  return {place, stmt(tree->stmt())};
}

ast::ImportDecl TreeBuilder::import_decl(TaskParser::ImportDeclContext* tree) {
  ast::ImportDecl result{names(tree->ID()), std::nullopt, std::nullopt};
  if (tree->STRING()) result.file = string(tree->STRING());
  std::size_t count = tree->children.size();
  if (count > 2 && text(dynamic_cast<Leaf*>(tree->children[count - 2])) == "as") {
    result.alias = std::move(result.path.back());
    result.path.pop_back();
  }
  return result;
}

ast::FieldsDecl TreeBuilder::fields_decl(TaskParser::FieldsDeclContext* tree) {
  ast::FieldsDecl result{name(tree->ID()), {}};
  for (TaskParser::FieldContext* part : tree->field()) result.fields.push_back(field(part));
  return result;
}

ast::Field TreeBuilder::field(TaskParser::FieldContext* tree) {
  return {span(tree), name(tree->ID()), type(tree->type())};
}

ast::AgentDecl TreeBuilder::agent_decl(TaskParser::AgentDeclContext* tree) {
  ast::AgentDecl result{name(tree->ID()), params(tree->params()), {}};
  for (TaskParser::MemberContext* part : tree->member()) {
    Span place = span(part);
    if (part->slot())
      result.members.push_back({place, slot(part->slot())});
    else if (part->taskDecl())
      result.members.push_back({place, task_decl(part->taskDecl())});
    else
      result.members.push_back({place, fn_decl(part->fnDecl())});
  }
  return result;
}

ast::Slot TreeBuilder::slot(TaskParser::SlotContext* tree) {
  ast::Slot result{name(tree->ID(0)), name(tree->ID(1)), std::nullopt, nullptr};
  if (tree->type()) result.type = type(tree->type());
  if (tree->expr()) result.init = boxed(tree->expr());
  return result;
}

ast::TaskDecl TreeBuilder::task_decl(TaskParser::TaskDeclContext* tree) {
  ast::TaskDecl result{name(tree->ID()), params(tree->params()), results(tree->results()), std::nullopt, std::nullopt};
  if (tree->block())
    result.body = block(tree->block());
  else
    result.external = string(tree->STRING());
  return result;
}

ast::FnDecl TreeBuilder::fn_decl(TaskParser::FnDeclContext* tree) {
  bool is_graph = text(dynamic_cast<Leaf*>(tree->children[0])) == "graph";
  return {is_graph, name(tree->ID()), params(tree->params()), results(tree->results()), block(tree->block())};
}

std::vector<ast::Param> TreeBuilder::params(TaskParser::ParamsContext* tree) {
  std::vector<ast::Param> result;
  if (!tree) return result;
  for (TaskParser::ParamContext* part : tree->param()) result.push_back(param(part));
  return result;
}

ast::Param TreeBuilder::param(TaskParser::ParamContext* tree) {
  ast::Param result{span(tree), std::nullopt, name(tree->ID()), type(tree->type()),
                    tree->expr() ? boxed(tree->expr()) : nullptr};
  if (TaskParser::PrivContext* priv = tree->priv()) {
    auto leaf = [&](std::size_t i) { return dynamic_cast<Leaf*>(priv->children[i]); };
    result.privilege = ast::Privilege{span(priv), name(leaf(0)), std::nullopt};
    if (priv->children.size() > 1) result.privilege->reduce_op = name(leaf(2));
  }
  return result;
}

ast::Results TreeBuilder::results(TaskParser::ResultsContext* tree) {
  if (!tree) return {};
  ast::Results result{span(tree), tree->type() ? boxed(tree->type()) : nullptr, {}};
  for (TaskParser::FieldContext* part : tree->field()) result.named.push_back(field(part));
  return result;
}

// ---- ir ----

ast::IrDecl TreeBuilder::ir_decl(TaskParser::IrDeclContext* tree) {
  ast::IrDecl result{name(tree->ID()), {}};
  for (TaskParser::IrLineContext* line : tree->irLine()) {
    if (line->irBlock())
      result.lines.push_back({span(line), ir_block(line->irBlock())});
    else
      result.lines.push_back({span(line), ir_edge(line->irEdge())});
  }
  return result;
}

ast::IrBlock TreeBuilder::ir_block(TaskParser::IrBlockContext* tree) {
  return {name(tree->ID(0)),   name(tree->ID(1)),   name(tree->ID(2)),
          args(tree->args(0)), args(tree->args(1)), tree->expr() ? boxed(tree->expr()) : nullptr};
}

ast::IrPort TreeBuilder::ir_port(TaskParser::PortContext* tree) {
  ast::IrPort result{span(tree), name(tree->ID(0)), std::nullopt, indices(tree->index())};
  if (tree->ID().size() > 1) result.member = name(tree->ID(1));
  return result;
}

ast::IrEdge TreeBuilder::ir_edge(TaskParser::IrEdgeContext* tree) {
  ast::IrEdge result{ir_port(tree->port(0)), ir_port(tree->port(1)), {}};
  for (antlr4::tree::ParseTree* child : tree->children) {
    if (type_of_leaf(child) == TaskLexer::ID) {
      auto* leaf = dynamic_cast<Leaf*>(child);
      result.moves.push_back({span(leaf), name(leaf), {}});
    } else if (auto* list = dynamic_cast<TaskParser::ArgsContext*>(child)) {
      result.moves.back().args = args(list);
    } else if (auto* leaf = dynamic_cast<Leaf*>(child); leaf && !result.moves.empty() && text(leaf) == ")") {
      result.moves.back().span.end = span(leaf).end;
    }
  }
  return result;
}

// ---- entry ----

ast::Item build_item(TaskParser::ItemContext* tree, SourceId source, std::string_view text, Diags& diags) {
  return TreeBuilder(source, text, diags).item(tree);
}

}  // namespace taskspec::parsing
