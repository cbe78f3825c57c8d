#include "frontend/check/closures.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/check/convert.hpp"
#include "frontend/check/expressions.hpp"
#include "frontend/check/extents.hpp"
#include "frontend/check/messages.hpp"
#include "frontend/check/record_call.hpp"
#include "ir/base/text.hpp"

namespace taskspec::checking {

using Kind = Type::Kind;

namespace {

Record record_of(Body& body, const ast::Expr& expr) {
  auto* name = std::get_if<ast::NameExpr>(&expr.node);
  if (!name || body.find(name->name.text)) return {};
  Record op = find_op(body.world, name->name.text);
  return op ? op : find_builtin(body.world, name->name.text);
}

constexpr std::string_view of_sharding[] = {"point", "size", "shards"};

// A sharding's own operands stand behind those that all shardings have.
bool is_sharding(const Record& record) {
  const auto named = [](const Operand& operand, std::string_view name) { return operand.name == name; };
  return record && record.builtin && record.operands().size() >= std::size(of_sharding) &&
         std::ranges::equal(record.operands().first(std::size(of_sharding)), of_sharding, named);
}

// The record of a function by its name; or that of `owner(2)`, a sharding.
Record record_named(Body& body, const ast::Expr& expr) {
  auto* call = std::get_if<ast::Call>(&expr.node);
  if (!call) return record_of(body, expr);
  const Record record = record_of(body, *call->callee);
  return is_sharding(record) && record.operands().size() > std::size(of_sharding) ? record : Record{};
}

class Closure {
 public:
  Closure(Body& outer, Span span) : outer_(outer), span_(span), inner_(outer.world, add(), &outer) {}

  Term make(const ast::Expr& expr, const std::vector<Type>& parameters, const Type* result) {
    auto* lambda = std::get_if<ast::Lambda>(&expr.node);
    if (!lambda) return made_of(library_value(expr, parameters), parameters);
    if (!define(lambda->params, parameters)) return outer_.error(span_);
    return made_of(lambda_value(*lambda, result), parameters);
  }

  Term colour(const ast::Pattern& point, const Type& parameter, const std::vector<const ast::Expr*>& items,
              std::size_t rank) {
    if (!define(point, {parameter})) return outer_.error(span_);
    std::vector<Term> parts;
    for (const ast::Expr* item : items) {
      const Type wanted =
          rank > 1 && items.size() == 1 ? Type::tuple(std::vector<Type>(rank, Kind::integer)) : Type(Kind::integer);
      parts.push_back(convert(inner_, expression(inner_, *item), wanted, {"a colour", {}}));
      if (inner_.is_error(parts.back())) return made_of(parts.back(), {parameter});
    }
    if (parts.size() == 1) return made_of(parts[0], {parameter});
    const Type type = Type::tuple(std::vector<Type>(parts.size(), Kind::integer));
    return made_of(inner_.make(Form::tuple, type, span_, parts), {parameter});
  }

 private:
  Term made_of(const Term& value, const std::vector<Type>& parameters) {
    bool failed = inner_.is_error(value);
    Type type = Type::function(parameters, inner_.export_type(Type(inner_.type(value))));
    finish(value);
    if (failed) return outer_.error(span_);
    std::vector<Term> captured;
    for (CallId call : inner_.captured) captured.push_back({call, span_});
    Term made = outer_.make(Form::closure, std::move(type), span_, captured);
    outer_[made.id].callee = inner_.id;
    return made;
  }

  FunctionId add() {
    Function function;
    function.name = "<closure>";
    function.module = outer_.module;
    function.span = span_;
    FunctionId id = outer_.world.add_function(std::move(function));
    outer_.world.info(id).stage = FunctionInfo::Stage::checked;
    return id;
  }

  CallId add_parameter(const std::string& name, const Type& type, Span span) {
    Type own = item_type(inner_, inner_.import_type(type));
    return inner_.add_parameter({name, std::move(own), Privilege::in, Role::declared, {}, {}, {}, span}, span);
  }

  // `(a, b) => ...` names two parameters, or the parts of one tuple.
  bool define(const ast::Pattern& pattern, const std::vector<Type>& parameters) {
    const std::vector<ast::Name>& names = pattern.names;
    inner_.scopes.emplace_back();
    auto bind = [&](const ast::Name& name, CallId call) {
      Binding binding{.kind = Binding::Kind::value, .what = "parameter", .span = name.span};
      binding.call = call;
      inner_.define(name, binding);
    };
    if (names.size() == parameters.size()) {
      for (std::size_t i = 0; i < names.size(); ++i)
        bind(names[i], add_parameter(names[i].text, parameters[i], names[i].span));
      return true;
    }
    bool tuple = parameters.size() == 1 && parameters[0].is(Kind::tuple) && parameters[0].parts.size() == names.size();
    if (!tuple) {
      wrong_type(outer_.world.diags, pattern.span,
                 fmt::format("a function of {} is wanted here, this has {}", plural(parameters.size(), "parameter"),
                             names.size()));
      return false;
    }
    Term whole{add_parameter("parts", parameters[0], pattern.span), pattern.span};
    for (std::size_t i = 0; i < names.size(); ++i) bind(names[i], element_of(inner_, whole, i, names[i].span).id);
    return true;
  }

  Term lambda_value(const ast::Lambda& lambda, const Type* result) {
    Type wanted = result ? inner_.import_type(*result) : Type();
    Term value = expression(inner_, *lambda.body, result ? &wanted : nullptr);
    if (!result) return typed(inner_, value);
    if (wanted.is(Kind::none)) return value;
    return convert(inner_, value, wanted, {"the result of this function", {}});
  }

  Term library_value(const ast::Expr& expr, const std::vector<Type>& parameters) {
    std::vector<RuleOperand> operands;
    for (std::size_t i = 0; i < parameters.size(); ++i)
      operands.push_back({Term{add_parameter("p" + std::to_string(i), parameters[i], span_), span_}});
    Record record = record_named(outer_, expr);
    if (auto* call = std::get_if<ast::Call>(&expr.node))
      for (const ast::Arg& arg : call->args) operands.push_back({expression(inner_, *arg.value)});
    if (operands.size() > record.operands().size() && !record.operands().back().variadic) {
      wrong_type(outer_.world.diags, span_,
                 fmt::format("a function of {} is wanted here", plural(parameters.size(), "parameter")));
      return inner_.error(span_);
    }
    return call_with(inner_, record, std::move(operands), span_);
  }

  void finish(const Term& value) {
    const Type type = inner_.type(value);
    if (!type.is(Kind::none)) inner_.make(Form::return_, Kind::none, span_, {value});
    inner_.function().result = type;
    inner_.finish();
    outer_.info().effects.callees.push_back({inner_.id, span_});
  }

  Body& outer_;
  const Span span_;
  Body inner_;
};

}  // namespace

bool is_untyped_function(Body& body, const ast::Expr& expr) {
  return std::holds_alternative<ast::Lambda>(expr.node) || record_named(body, expr);
}

std::optional<Type> sharding_type(Body& body, const ast::Expr& expr) {
  const auto* call = std::get_if<ast::Call>(&expr.node);
  const Record record = record_named(body, expr);
  const std::size_t own = call ? call->args.size() : 0;
  if (!is_sharding(record) || record.operands().size() != std::size(of_sharding) + own) return std::nullopt;
  return Type::function({Kind::integer, Kind::integer, Kind::integer}, Kind::integer);
}

Term function_value(Body& body, const ast::Expr& expr, const std::vector<Type>& parameters, const Type* result) {
  return Closure(body, expr.span).make(expr, parameters, result);
}

Term function_of_point(Body& body, const ast::Pattern& point, const Type& parameter,
                       const std::vector<const ast::Expr*>& items, std::size_t rank, Span span) {
  return Closure(body, span).colour(point, parameter, items, rank);
}

Type result_when_called(Body& body, const Term& function, const std::vector<Type>& arguments) {
  Type type = body.type(function);
  bool task = type.is(Kind::task);
  std::size_t count = task ? type.inputs : type.is(Kind::function) ? type.parts.size() - 1 : 0;
  if (type.is(Kind::error)) return type;
  Match match(body, Match::foreign);
  bool fits = count == arguments.size();
  for (std::size_t i = 0; fits && i < count; ++i) match.bind(type.parts[i], arguments[i]);
  for (std::size_t i = 0; fits && i < count; ++i) fits = match.fits(type.parts[i], arguments[i]);
  if (!fits || !type.places.empty()) {
    std::string wanted = Type::function(arguments, Kind::none).text();
    wrong_type(body.world.diags, function.span,
               fmt::format("a function {} is wanted here, this is {}", wanted, type.text()));
    return Kind::error;
  }
  if (!task) return match.result(type.parts.back());
  Type invocation(Kind::invocation);
  invocation.parts.assign(type.parts.begin() + type.inputs, type.parts.end());
  invocation.names.assign(type.names.begin() + type.inputs, type.names.end());
  return match.result(invocation);
}

}  // namespace taskspec::checking
