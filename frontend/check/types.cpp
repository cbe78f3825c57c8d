#include "frontend/check/types.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

#include "frontend/check/expressions.hpp"
#include "frontend/check/extents.hpp"
#include "frontend/check/messages.hpp"
#include "frontend/check/regions.hpp"

namespace taskspec::checking {

namespace {

constexpr const char* extent_of_agent = "write a number, or an int parameter of the agent";

class TypeReader {
 public:
  TypeReader(Body& body, Blank blank, std::string_view name) : body_(body), blank_(blank), name_(name) {}

  Type read(const ast::TypeExpr& type) {
    return std::visit([&](const auto& node) { return read(node, type.span); }, type.node);
  }

  Type tensor(Precision precision, const std::vector<const ast::Expr*>& dims) {
    Type type = Type::tensor(precision, {});
    bool fine = true;
    for (const ast::Expr* dim : dims) {
      std::optional<Dim> extent = checked_extent(*dim);
      fine = fine && extent;
      if (extent) type.dims.push_back(*extent);
    }
    return fine ? type : Type(Type::Kind::error);
  }

 private:
  Type read(const ast::NamedType& type, Span span) {
    const std::string& name = type.name.text;
    std::optional<Type> host = host_type(name);
    if (std::optional<Precision> precision = precision_of(name); precision && (!host || !type.dims.empty())) {
      if (!type.fields.empty()) return error("E1004", span, "a tensor has no fields");
      std::vector<const ast::Expr*> dims;
      for (const ast::Expr& dim : type.dims) dims.push_back(&dim);
      return tensor(*precision, dims);
    }
    if (!host && name == "partition" && !type.dims.empty()) return partition(type, span);
    if (!host) return unknown(type, span);
    if (!type.dims.empty()) return host_with_extents(name, span);
    return *host;
  }

  Type read(const ast::ListType& type, Span) {
    ++lists_;
    Type element = read(*type.element);
    --lists_;
    return element.is(Type::Kind::error) ? element : Type::list(std::move(element));
  }

  Type read(const ast::TupleType& type, Span) {
    std::vector<Type> parts;
    bool fine = true;
    for (const ast::TypeExpr& part : type.parts) {
      parts.push_back(read(part));
      fine = fine && !parts.back().is(Type::Kind::error);
    }
    return fine ? Type::tuple(std::move(parts)) : Type(Type::Kind::error);
  }

  Type read(const ast::FnType& type, Span) {
    const int lists = std::exchange(lists_, 0);  // `_` is an extent of the function's own
    std::vector<Type> parameters;
    bool fine = true;
    for (const ast::TypeExpr& parameter : type.params) {
      parameters.push_back(read(parameter));
      fine = fine && !parameters.back().is(Type::Kind::error);
    }
    Type result = type.result ? read(*type.result) : Type(Type::Kind::none);
    lists_ = lists;
    if (result.is(Type::Kind::error) || !fine) return Type::Kind::error;
    return Type::function(std::move(parameters), std::move(result));
  }

  static std::optional<Type> host_type(std::string_view name) {
    if (name == "int") return Type(Type::Kind::integer);
    if (name == "float") return Type(Type::Kind::real);
    if (name == "bool") return Type(Type::Kind::boolean);
    if (name == "string") return Type(Type::Kind::string);
    if (name == "range") return Type(Type::Kind::range);
    Type integer(Type::Kind::integer);
    if (name == "sharding") return Type::function({integer, integer, integer}, integer);
    return std::nullopt;
  }

  Type error(Code code, Span span, std::string message, std::string help = "") {
    body_.world.diags.error(code, span, std::move(message)).help(std::move(help));
    return Type::Kind::error;
  }

  Type host_with_extents(const std::string& name, Span span) {
    const char* tensor = name == "int" ? "i64" : name == "float" ? "f64" : nullptr;
    std::string help = tensor ? std::string("write ") + tensor + " for the elements of a tensor" : "";
    return error("E1004", span, "'" + name + "' is a type of the host and has no extents", help);
  }

  Type unknown(const ast::NamedType& type, Span span) {
    std::optional<Binding> found = body_.find(type.name.text);
    if (found && found->kind == Binding::Kind::error) return Type::Kind::error;
    if (found && found->kind == Binding::Kind::fields) return data(type, FieldsId(found->index), span);
    if (found)
      return error("E1004", span, "'" + type.name.text + "' is " + with_article(found->what) + ", not a type",
                   found->kind == Binding::Kind::agent ? "agents have no written type; make one where it is used" : "");
    unknown_type(body_.world.diags, type.name);
    return Type::Kind::error;
  }

  // `Cell[n]`, and with fields behind it a view.
  Type data(const ast::NamedType& type, FieldsId fields, Span span) {
    Type result(Type::Kind::region);
    result.fields = fields;
    result.names = {type.name.text};
    if (type.dims.empty() || type.dims.size() > 4)
      return error("E1004", span,
                   fmt::format("a region has one to four extents, '{}' has {}", type.name.text, type.dims.size()),
                   fmt::format("any points in one axis: {}[_]", type.name.text));
    for (const ast::Expr& dim : type.dims) {
      const std::optional<Dim> extent = checked_extent(dim);
      if (!extent) return Type::Kind::error;
      result.dims.push_back(*extent);
    }
    if (type.fields.empty()) return result;
    result.kind = Type::Kind::view;
    return with_fields(std::move(result), type.fields);
  }

  // `partition[Cell[n]]`, whose pieces go by one number; by two: `partition[Cell[n, m], 2]`.
  Type partition(const ast::NamedType& type, Span span) {
    auto* index = std::get_if<ast::Index>(&type.dims[0].node);
    auto* name = index ? std::get_if<ast::NameExpr>(&index->base->node) : nullptr;
    const std::optional<Binding> found = name ? body_.find(name->name.text) : std::nullopt;
    auto* rank = type.dims.size() == 2 ? std::get_if<ast::IntLit>(&type.dims[1].node) : nullptr;
    const bool ranked = type.dims.size() == 1 || (rank && rank->value >= 1 && rank->value <= 4);
    if (!found || found->kind != Binding::Kind::fields || !type.fields.empty() || !ranked)
      return error("E1004", span, "a partition is of a region, and its pieces go by one to four numbers",
                   "partition[Cell[_]], or partition[Cell[_, _], 2] where they are p[i, j]");
    Type result(Type::Kind::partition);
    result.fields = FieldsId(found->index);
    result.names = {name->name.text};
    result.inputs = rank ? static_cast<std::uint32_t>(rank->value) : 1;
    if (index->items.size() > 4) return error("E1004", span, "a region has one to four extents");
    for (const ast::IndexItem& item : index->items) {
      if (item.is_slice) return error("E1004", item.span, "an extent is one number, or '_' for any");
      const std::optional<Dim> extent = checked_extent(*item.at);
      if (!extent) return Type::Kind::error;
      result.dims.push_back(*extent);
    }
    return result;
  }

  Type with_fields(Type view, const std::vector<ast::Name>& names) {
    std::vector<std::pair<std::uint32_t, const ast::Name*>> fields;
    for (const ast::Name& name : names) {
      const std::optional<std::uint32_t> field = field_named(body_, view, name);
      if (!field) return Type::Kind::error;
      for (const auto& [other, first] : fields)
        if (other == *field)
          return defined_twice(body_.world.diags, name.text, first->span, name.span), Type::Kind::error;
      fields.emplace_back(*field, &name);
    }
    std::ranges::sort(fields);
    for (const auto& [field, name] : fields) {
      view.places.push_back(field);
      view.names.push_back(name->text);
    }
    return view;
  }

  std::optional<Dim> checked_extent(const ast::Expr& expr) {
    std::optional<Dim> dim;
    try {
      dim = extent(expr);
    } catch (const Error& failure) {
      body_.world.report(failure, expr.span);
    }
    if (!dim || dim->constant().value_or(0) >= 0) return dim;
    error("E2004", expr.span, "an extent cannot be negative: " + dim->text());
    return std::nullopt;
  }

  std::optional<Dim> extent(const ast::Expr& expr) {
    if (auto* literal = std::get_if<ast::IntLit>(&expr.node)) return Dim(literal->value);
    if (auto* name = std::get_if<ast::NameExpr>(&expr.node)) return named_extent(name->name);
    if (auto* unary = std::get_if<ast::Unary>(&expr.node); unary && unary->op.text == "-") {
      std::optional<Dim> operand = extent(*unary->operand);
      return operand ? std::optional(Dim(-1) * *operand) : std::nullopt;
    }
    if (auto* binary = std::get_if<ast::Binary>(&expr.node))
      if (const std::string& op = binary->op.text; op == "+" || op == "-" || op == "*") {
        std::optional<Dim> left = extent(*binary->left), right = extent(*binary->right);
        if (!left || !right) return std::nullopt;
        try {
          return op == "+" ? *left + *right : op == "-" ? *left - *right : *left * *right;
        } catch (const Error& error) {
          // In a body it fails where it is worked out, if it ever is.
          if (in_signature() || !(error.diags().items().front().code == Code("E5001"))) throw;
        }
      }
    if (auto* binary = std::get_if<ast::Binary>(&expr.node); binary && binary->op.text == "/" && in_signature())
      return quotient(*binary, expr.span);
    if (auto* member = std::get_if<ast::Member>(&expr.node); member && names_module(*member->base))
      return from_operand(expression(body_, expr), body_.text(expr.span));
    return computed_extent(expr);
  }

  // In a signature `H / 2` says that 2 divides H: each call looks whether it does.
  std::optional<Dim> quotient(const ast::Binary& binary, Span span) {
    const std::optional<Dim> left = extent(*binary.left), right = extent(*binary.right);
    if (!left || !right) return std::nullopt;
    if (!(*right == Dim(0))) return *left / *right;
    error("E5002", span, "an extent is divided by zero");
    return std::nullopt;
  }

  // `game` in `f32[game.size]`: a top-level let of another file is as good as one of this file.
  bool names_module(const ast::Expr& base) {
    auto* name = std::get_if<ast::NameExpr>(&base.node);
    std::optional<Binding> found = name ? body_.find(name->name.text) : std::nullopt;
    return found && found->kind == Binding::Kind::module;
  }

  std::optional<Dim> named_extent(const ast::Name& name) {
    if (name.text == "_") return wildcard(name.span);
    std::optional<Binding> found = body_.find(name.text);
    if (found && found->kind == Binding::Kind::dimension) return Dim(found->symbol);
    bool capital = name.text[0] >= 'A' && name.text[0] <= 'Z';
    if (!found && blank_ == Blank::parameter && capital) return dimension(name);
    if (!found && blank_ == Blank::refused && capital) {
      error("E1001", name.span, "unknown extent '" + name.text + "': no parameter has it",
            "a result has extents of parameters, or computed from them");
      return std::nullopt;
    }
    if (!found && blank_ == Blank::agent && capital) {
      error("E1001", name.span, "unknown extent '" + name.text + "' in the type of '" + std::string(name_) + "'",
            extent_of_agent);
      return std::nullopt;
    }
    const std::string help = in_signature() && blank_ != Blank::agent
                                 ? "a dimension begins with a capital letter: f32[N]; else make it an int parameter"
                                 : "";
    return from_operand(read_name(body_, name, help), name.text);
  }

  std::optional<Dim> wildcard(Span span) {
    if (lists_ > 0) return Dim(body_.world.symbol("_", false, CallId(), FunctionId()));  // tensors of any extent
    switch (blank_) {
      case Blank::refused:
        error("E1001", span, "'_' cannot stand in a result", "name the extent in a parameter and use it here");
        return std::nullopt;
      case Blank::agent:
        error("E1001", span, "'_' cannot stand in the type of '" + std::string(name_) + "'", extent_of_agent);
        return std::nullopt;
      case Blank::open:
        return unknown_extent(body_, "_");
      case Blank::maker:
        error("E1004", span, "'_' takes what a value or a file has, and this tensor is made here", "write the extent");
        return std::nullopt;
      case Blank::pattern:
        return Dim(body_.world.symbol("_", false, CallId(), FunctionId()));
      case Blank::parameter:
        break;
    }
    Symbol symbol = body_.world.symbol("_", false, CallId(), body_.id);
    body_.function().dimensions.push_back(symbol);
    return Dim(symbol);
  }

  Dim dimension(const ast::Name& name) {
    Binding binding{.kind = Binding::Kind::dimension, .what = "dimension", .span = name.span};
    binding.symbol = body_.world.symbol(name.text, false, CallId(), body_.id);
    body_.function().dimensions.push_back(binding.symbol);
    body_.scopes.back().names[name.text] = binding;
    return Dim(binding.symbol);
  }

  bool in_signature() const { return blank_ == Blank::parameter || blank_ == Blank::refused || blank_ == Blank::agent; }

  std::optional<Dim> computed_extent(const ast::Expr& expr) {
    if (in_signature()) {
      error("E1004", expr.span,
            "an extent in a signature is made of ints and dimensions by + - * and /, which must leave no rest",
            "an extent that is computed otherwise is an int parameter, or a dimension of its own: f32[M]");
      return std::nullopt;
    }
    return from_operand(expression(body_, expr), body_.text(expr.span));
  }

  std::optional<Dim> from_operand(const Term& operand, const std::string& text) {
    if (body_.is_error(operand)) return std::nullopt;
    if (body_.type(operand).is(Type::Kind::integer)) return extent_of(body_, operand.id, text);
    error("E1004", operand.span, "an extent is an int, this is " + body_.type(operand).text());
    return std::nullopt;
  }

  Body& body_;
  Blank blank_;
  std::string_view name_;
  int lists_ = 0;  // around what is read
};

}  // namespace

Type written_type(Body& body, const ast::TypeExpr& type, Blank blank, std::string_view name) {
  return TypeReader(body, blank, name).read(type);
}

Type written_tensor(Body& body, const ast::TypeExpr& type, Blank blank, std::string_view name) {
  Type written = written_type(body, type, blank, name);
  return written.is(Type::Kind::boolean) ? Type::tensor(Precision::boolean, {}) : written;
}

std::optional<Type> type_as_argument(Body& body, const ast::Expr& expr, Blank blank) {
  const ast::Expr* name = &expr;
  std::vector<const ast::Expr*> dims;
  if (auto* index = std::get_if<ast::Index>(&expr.node)) {
    name = index->base.get();
    for (const ast::IndexItem& item : index->items) {
      if (item.is_slice) return std::nullopt;
      dims.push_back(item.at.get());
    }
  }
  auto* written = std::get_if<ast::NameExpr>(&name->node);
  if (!written || body.find(written->name.text)) return std::nullopt;
  std::optional<Precision> precision = precision_of(written->name.text);
  if (!precision) return std::nullopt;
  return TypeReader(body, blank, {}).tensor(*precision, dims);
}

}  // namespace taskspec::checking
