// Inside of the parser: parse tree -> syntax tree, one function per rule of the grammar. The tree comes from a parse
// without errors, so every part that the grammar demands is there.
#pragma once
#include "frontend/parse_antlr.hpp"

namespace taskspec::parsing {

class TreeBuilder {
 public:
  TreeBuilder(SourceId source, std::string_view text, Diags& diags) : source_(source), text_(text), diags_(diags) {}

  ast::Expr expr(TaskParser::ExprContext* tree);
  ast::Item item(TaskParser::ItemContext* tree);

 private:
  using Node = antlr4::ParserRuleContext;
  using Leaf = antlr4::tree::TerminalNode;

  // places and words
  Span span(Node* tree) const;
  Span span(Leaf* leaf) const;
  std::string_view text(Leaf* leaf) const;
  ast::Name name(Leaf* leaf) const;
  ast::Name string(Leaf* leaf) const;
  std::vector<ast::Name> names(const std::vector<Leaf*>& leaves, std::size_t first = 0) const;

  // expressions
  ast::ExprPtr boxed(TaskParser::ExprContext* tree);
  ast::ExprPtr boxed(TaskParser::OpContext* tree);
  ast::Expr op(TaskParser::OpContext* tree);
  ast::Expr binary(TaskParser::OpContext* tree);
  ast::Expr postfix(TaskParser::PostfixContext* tree);
  ast::Expr primary(TaskParser::PrimaryContext* tree);
  ast::Expr literal(Leaf* leaf);
  ast::IndexItem index(TaskParser::IndexContext* tree);
  std::vector<ast::IndexItem> indices(const std::vector<TaskParser::IndexContext*>& trees);
  std::vector<ast::Arg> args(TaskParser::ArgsContext* tree);  // null: none
  ast::Pattern pattern(TaskParser::PatternContext* tree);
  void refuse_chain(TaskParser::OpContext* tree);
  ast::TypeExpr type(TaskParser::TypeContext* tree);
  ast::TypePtr boxed(TaskParser::TypeContext* tree);

  // statements
  ast::Block block(TaskParser::BlockContext* tree);
  ast::Stmt stmt(TaskParser::StmtContext* tree);
  ast::If if_stmt(TaskParser::IfStmtContext* tree);

  // declarations
  ast::ImportDecl import_decl(TaskParser::ImportDeclContext* tree);
  ast::FieldsDecl fields_decl(TaskParser::FieldsDeclContext* tree);
  ast::AgentDecl agent_decl(TaskParser::AgentDeclContext* tree);
  ast::TaskDecl task_decl(TaskParser::TaskDeclContext* tree);
  ast::FnDecl fn_decl(TaskParser::FnDeclContext* tree);
  ast::Slot slot(TaskParser::SlotContext* tree);
  std::vector<ast::Param> params(TaskParser::ParamsContext* tree);  // null: none
  ast::Param param(TaskParser::ParamContext* tree);
  ast::Results results(TaskParser::ResultsContext* tree);  // null: none
  ast::Field field(TaskParser::FieldContext* tree);
  ast::IrDecl ir_decl(TaskParser::IrDeclContext* tree);
  ast::IrBlock ir_block(TaskParser::IrBlockContext* tree);
  ast::IrEdge ir_edge(TaskParser::IrEdgeContext* tree);
  ast::IrPort ir_port(TaskParser::PortContext* tree);

  SourceId source_;
  std::string_view text_;
  Diags& diags_;
};

}  // namespace taskspec::parsing
