#include "frontend/ast_print.hpp"

#include <fmt/format.h>

#include "ir/types/value.hpp"

namespace taskspec {
namespace {

using namespace ast;

// Keeps the difference between 2 and 2.0.
std::string real(double value) {
  std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

template <class Parts, class Text>
std::string joined(const Parts& parts, std::string_view between, Text text) {
  std::string result;
  for (const auto& part : parts) result += (result.empty() ? "" : std::string(between)) + text(part);
  return result;
}

std::string expr(const Expr& expr);
std::string type(const TypeExpr& type);

std::string arg(const Arg& arg) { return (arg.name ? arg.name->text + ": " : "") + expr(*arg.value); }
std::string args(const std::vector<Arg>& list) { return joined(list, ", ", arg); }
std::string name(const Name& name) { return name.text; }

std::string pattern(const Pattern& pattern) {
  std::string list = joined(pattern.names, " ", name);
  return pattern.names.size() == 1 ? list : "(" + list + ")";
}

std::string index(const IndexItem& item) {
  if (!item.is_slice) return expr(*item.at);
  return (item.low ? expr(*item.low) : "") + ".." + (item.high ? expr(*item.high) : "");
}

struct ExprText {
  std::string operator()(const NameExpr& e) const { return e.name.text; }
  std::string operator()(const IntLit& e) const { return fmt::format("{}", e.value); }
  std::string operator()(const FloatLit& e) const { return real(e.value); }
  std::string operator()(const StringLit& e) const { return in_quotes(e.value); }
  std::string operator()(const BoolLit& e) const { return e.value ? "true" : "false"; }
  std::string operator()(const TupleExpr& e) const { return "(tuple " + joined(e.parts, " ", expr) + ")"; }
  std::string operator()(const ListExpr& e) const { return "[" + joined(e.parts, " ", expr) + "]"; }
  std::string operator()(const Member& e) const { return "(. " + expr(*e.base) + " " + e.name.text + ")"; }
  std::string operator()(const Call& e) const {
    return "(call " + expr(*e.callee) + (e.args.empty() ? "" : " ") + joined(e.args, " ", arg) + ")";
  }
  std::string operator()(const Index& e) const {
    return "(index " + expr(*e.base) + " " + joined(e.items, " ", index) + ")";
  }
  std::string operator()(const Unary& e) const { return "(" + e.op.text + " " + expr(*e.operand) + ")"; }
  std::string operator()(const Binary& e) const {
    return "(" + e.op.text + " " + expr(*e.left) + " " + expr(*e.right) + ")";
  }
  std::string operator()(const RangeExpr& e) const { return "(.. " + expr(*e.low) + " " + expr(*e.high) + ")"; }
  std::string operator()(const Cast& e) const { return "(as " + expr(*e.value) + " " + type(*e.type) + ")"; }
  std::string operator()(const Lambda& e) const { return "(=> " + pattern(e.params) + " " + expr(*e.body) + ")"; }
  std::string operator()(const Launch& e) const {
    return "(launch " + expr(*e.call) + " for " + pattern(e.point) + " in " + expr(*e.domain) +
           (e.sharding ? " by " + expr(*e.sharding) : "") + ")";
  }
  std::string operator()(const Run& e) const { return "(run " + expr(*e.call) + " on " + expr(*e.backend) + ")"; }
  std::string operator()(const Given& e) const { return "(given " + e.array.type().text() + ")"; }
  std::string operator()(const RegionExpr& e) const { return "(region " + type(*e.type) + ")"; }
};

struct TypeText {
  std::string operator()(const NamedType& t) const {
    return t.name.text + (t.dims.empty() ? "" : "[" + joined(t.dims, ", ", expr) + "]") +
           (t.fields.empty() ? "" : ".{" + joined(t.fields, ", ", name) + "}");
  }
  std::string operator()(const ListType& t) const { return "[" + type(*t.element) + "]"; }
  std::string operator()(const TupleType& t) const { return "(" + joined(t.parts, ", ", type) + ")"; }
  std::string operator()(const FnType& t) const {
    return "fn(" + joined(t.params, ", ", type) + ")" + (t.result ? " -> " + type(*t.result) : "");
  }
};

std::string expr(const Expr& expr) { return std::visit(ExprText(), expr.node); }
std::string type(const TypeExpr& type) { return std::visit(TypeText(), type.node); }

std::string param(const Param& param) {
  std::string text;
  if (param.privilege) {
    text = param.privilege->word.text;
    if (param.privilege->reduce_op) text += "(" + param.privilege->reduce_op->text + ")";
    text += " ";
  }
  text += param.name.text + ": " + type(param.type);
  return text + (param.default_value ? " = " + expr(*param.default_value) : "");
}

std::string field(const Field& field) { return field.name.text + ": " + type(field.type); }

std::string signature(const std::vector<Param>& params, const Results& results) {
  std::string text = "(" + joined(params, ", ", param) + ")";
  if (results.unnamed) text += " -> " + type(*results.unnamed);
  if (!results.named.empty()) text += " -> (" + joined(results.named, ", ", field) + ")";
  return text;
}

std::string port(const IrPort& port) {
  return port.block.text + (port.member ? "." + port.member->text : "") +
         (port.index.empty() ? "" : "[" + joined(port.index, ", ", index) + "]");
}

std::string move(const IrMove& move) { return " | " + move.name.text + "(" + args(move.args) + ")"; }

// Writes one line per node and the parts of a node below it, indented.
class Printer {
 public:
  explicit Printer(const Sources* sources) : sources_(sources) {}
  std::string text;

  void item(const Item& item) {
    place_ = item.span;
    std::visit([&](const auto& node) { print(node); }, item.node);
  }

 private:
  void line(std::string_view content) {
    if (sources_) {
      Position at = (*sources_)[place_.source].position(place_.begin);
      text += fmt::format("{}:{} ", at.line, at.column);
    }
    text += fmt::format("{:{}}{}\n", "", indent_, content);
  }

  template <class Parts>
  void below(const Parts& parts) {
    indent_ += 2;
    for (const auto& part : parts) {
      place_ = part.span;
      std::visit([&](const auto& node) { print(node); }, part.node);
    }
    indent_ -= 2;
  }
  void below(const Block& block) { below(block.stmts); }

  // declarations
  void print(const ImportDecl& d) {
    line("import " + (d.file ? in_quotes(d.file->text) : joined(d.path, ".", name)) +
         (d.alias ? " as " + d.alias->text : ""));
  }
  void print(const FieldsDecl& d) { line("fields " + d.name.text + " {" + joined(d.fields, ", ", field) + "}"); }
  void print(const AgentDecl& d) {
    line("agent " + d.name.text + signature(d.params, {}));
    below(d.members);
  }
  void print(const TaskDecl& d) {
    line("task " + d.name.text + signature(d.params, d.results) +
         (d.external ? " extern " + in_quotes(d.external->text) : ""));
    if (d.body) below(*d.body);
  }
  void print(const FnDecl& d) {
    line((d.is_graph ? "graph " : "fn ") + d.name.text + signature(d.params, d.results) +
         (d.external ? " extern " + in_quotes(d.external->text) : ""));
    below(d.body);
  }
  void print(const Slot& d) {
    line(d.kind.text + " " + d.name.text + (d.type ? ": " + type(*d.type) : "") +
         (d.init ? " = " + expr(*d.init) : ""));
  }
  void print(const IrDecl& d) {
    line("ir " + d.name.text);
    below(d.lines);
  }
  void print(const IrBlock& d) {
    line(d.name.text + ": " + d.kind.text + " " + d.precision.text + " [" + args(d.dims) + "] (" + args(d.attributes) +
         ")" + (d.init ? " = " + expr(*d.init) : ""));
  }
  void print(const IrEdge& d) { line(port(d.from) + " -> " + port(d.to) + joined(d.moves, "", move)); }

  // statements
  void print(const Stmt& s) {
    std::visit([&](const auto& node) { print(node); }, s.node);
  }
  void print(const Let& s) {
    line((s.is_var ? "var " : "let ") + pattern(s.pattern) + (s.type ? ": " + type(*s.type) : "") + " = " +
         expr(*s.value));
  }
  void print(const If& s) {
    bool first = true;
    for (const IfArm& arm : s.arms) {
      if (!first) place_ = arm.span;
      line((first ? "if " : "else if ") + expr(*arm.condition));
      below(arm.body);
      first = false;
    }
    if (!s.otherwise) return;
    place_ = s.otherwise->span;
    line("else");
    below(*s.otherwise);
  }
  void print(const For& s) {
    line("for " + pattern(s.pattern) + " in " + expr(*s.domain));
    below(s.body);
  }
  void print(const While& s) {
    line("while " + expr(*s.condition));
    below(s.body);
  }
  void print(const Trace& s) {
    line("trace");
    below(s.body);
  }
  void print(const Return& s) { line(s.value ? "return " + expr(*s.value) : "return"); }
  void print(const Break&) { line("break"); }
  void print(const Continue&) { line("continue"); }
  void print(const Assign& s) { line(s.op.text + " " + expr(*s.target) + " " + expr(*s.value)); }
  void print(const ExprStmt& s) { line(expr(*s.value)); }

  const Sources* sources_;
  Span place_;
  int indent_ = 0;
};

}  // namespace

std::string print_ast(const Ast& ast, const Sources* sources) {
  Printer printer(sources);
  for (const Item& item : ast.items) printer.item(item);
  return std::move(printer.text);
}

std::string print_expr(const ast::Expr& value) { return expr(value); }

}  // namespace taskspec
