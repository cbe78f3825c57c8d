#include "frontend/ast_print.hpp"

#include <fmt/format.h>

#include "ir/types/value.hpp"

namespace taskspec {
namespace {

// Keeps the difference between 2 and 2.0.
std::string real_text(double value) {
  std::string text = fmt::format("{}", value);
  return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

// Parts as they come: the text of an expression or a type.
class Words : public ast::Parts {
 public:
  std::string text;

 protected:
  void word(std::string_view word) override { text += word; }
  void mention(const ast::Name& name) override { text += name.text; }
  void bind(const ast::Pattern& pattern, ast::KnownIn) override {
    if (pattern.names.size() == 1) return word(pattern.names[0].text);
    *this << "(" << ast::List{pattern.names, " "} << ")";
  }
  void value(const ast::Expr& expr) override { expr.describe(*this); }
  void target(const ast::Expr& expr) override { expr.describe(*this); }
  void type(const ast::TypeExpr& type) override { type.describe(*this); }
  void integer(std::int64_t literal) override { text += fmt::format("{}", literal); }
  void real(double literal) override { text += real_text(literal); }
  void string(const std::string& literal) override { text += in_quotes(literal); }
  void array(const Array& literal) override { text += literal.type().text(); }
};

// One line for each declaration and statement, what is in its blocks below it, indented.
class Printer final : private Words {
 public:
  explicit Printer(const Sources* sources) : sources_(sources) {}
  std::string lines;

  void item(const ast::Item& item) {
    line(item.span);
    std::visit([&](const auto& node) { print(node); }, item.node);
    end_line();
  }

 private:
  void line(Span place) override {
    end_line();
    place_ = place;
  }

  void end_line() {
    if (text.empty()) return;
    if (sources_) {
      Position at = (*sources_)[place_.source].position(place_.begin);
      lines += fmt::format("{}:{} ", at.line, at.column);
    }
    lines += fmt::format("{:{}}{}\n", "", indent_, text);
    text.clear();
  }

  template <class Rows>
  void below(const Rows& rows) {
    end_line();
    indent_ += 2;
    for (const auto& row : rows) {
      line(row.span);
      print(row);
      end_line();
    }
    indent_ -= 2;
  }
  void block(const ast::Block& block) override { below(block.stmts); }

  void print(const ast::Stmt& statement) { statement.describe(*this); }
  void print(const ast::AgentMember& member) {
    std::visit([&](const auto& node) { print(node); }, member.node);
  }
  void print(const ast::IrLine& line) {
    std::visit([&](const auto& node) { print(node); }, line.node);
  }

  // ---- declarations ----

  void print(const ast::ImportDecl& d) {
    *this << "import ";
    d.file ? *this << ast::Quoted{d.file->text} : *this << ast::List{d.path, "."};
    if (d.alias) *this << " as " << *d.alias;
  }
  void print(const ast::FieldsDecl& d) {
    *this << "fields " << d.name << " {";
    fields(d.fields);
    *this << "}";
  }
  void print(const ast::AgentDecl& d) {
    *this << "agent " << d.name;
    signature(d.params, {});
    below(d.members);
  }
  void print(const ast::TaskDecl& d) {
    *this << "task " << d.name;
    signature(d.params, d.results);
    external(d.external);
    if (d.body) *this << *d.body;
  }
  void print(const ast::FnDecl& d) {
    *this << (d.is_graph ? "graph " : "fn ") << d.name;
    signature(d.params, d.results);
    if (d.local) *this << " local";
    external(d.external);
    *this << d.body;
  }
  void print(const ast::Slot& d) {
    *this << d.kind << " " << d.name;
    if (d.type) *this << ": " << *d.type;
    if (d.init) *this << " = " << *d.init;
  }

  void signature(const std::vector<ast::Param>& params, const ast::Results& results) {
    *this << "(";
    for (const ast::Param& param : params) {
      if (&param != &params.front()) *this << ", ";
      if (param.privilege) privilege(*param.privilege);
      *this << param.name << ": " << param.type;
      if (param.default_value) *this << " = " << param.default_value;
    }
    *this << ")";
    if (results.unnamed) *this << " -> " << results.unnamed;
    if (results.named.empty()) return;
    *this << " -> (";
    fields(results.named);
    *this << ")";
  }
  void privilege(const ast::Privilege& privilege) {
    *this << privilege.word;
    if (privilege.reduce_op) *this << "(" << *privilege.reduce_op << ")";
    *this << " ";
  }
  void fields(const std::vector<ast::Field>& fields) {
    for (const ast::Field& field : fields)
      *this << (&field == &fields.front() ? "" : ", ") << field.name << ": " << field.type;
  }
  void external(const std::optional<ast::Name>& symbol) {
    if (symbol) *this << " extern " << ast::Quoted{symbol->text};
  }

  // ---- ir ----

  void print(const ast::IrDecl& d) {
    *this << "ir " << d.name;
    below(d.lines);
  }
  void print(const ast::IrBlock& d) {
    *this << d.name << ": " << d.kind << " " << d.precision << " [" << ast::List{d.dims, ", "} << "] ("
          << ast::List{d.attributes, ", "} << ")";
    if (d.init) *this << " = " << *d.init;
  }
  void print(const ast::IrEdge& d) {
    port(d.from);
    *this << " -> ";
    port(d.to);
    for (const ast::IrMove& move : d.moves) *this << " | " << move.name << "(" << ast::List{move.args, ", "} << ")";
  }
  void port(const ast::IrPort& port) {
    *this << port.block;
    if (port.member) *this << "." << *port.member;
    if (!port.index.empty()) *this << "[" << ast::List{port.index, ", "} << "]";
  }

  const Sources* sources_;
  Span place_;
  int indent_ = 0;
};

}  // namespace

std::string print_ast(const Ast& ast, const Sources* sources) {
  Printer printer(sources);
  for (const ast::Item& item : ast.items) printer.item(item);
  return std::move(printer.lines);
}

std::string print_expr(const ast::Expr& expr) {
  Words words;
  expr.describe(words);
  return std::move(words.text);
}

}  // namespace taskspec
