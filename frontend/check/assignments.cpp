// Assignments: to variables and outputs, and to elements of lists.
#include <fmt/format.h>

#include <algorithm>

#include "frontend/check/convert.hpp"
#include "frontend/check/declare.hpp"
#include "frontend/check/expressions.hpp"
#include "frontend/check/messages.hpp"
#include "frontend/check/places.hpp"
#include "frontend/check/record_call.hpp"
#include "frontend/check/slots.hpp"
#include "frontend/check/statements.hpp"
#include "frontend/check/views.hpp"

namespace taskspec::checking {

using Kind = Type::Kind;

namespace {

// += is + of what is there.
std::string_view op_of(std::string_view sign) { return sign.substr(0, sign.size() - 1); }

class Assignment {
 public:
  Assignment(Body& body, const ast::Assign& assign, Span span)
      : body_(body), diags_(body.world.diags), assign_(assign), span_(span) {}

  void run() {
    if (auto* name = std::get_if<ast::NameExpr>(&assign_.target->node)) return to_name(name->name);
    if (std::holds_alternative<ast::Index>(assign_.target->node)) return to_element();
    if (assign_to_view(body_, assign_, span_)) return;
    Term target = expression(body_, *assign_.target);
    expression(body_, *assign_.value);
    const std::string text = body_.text(assign_.target->span);
    if (body_.type(target).is(Kind::region_field))
      diags_.error("E1007", assign_.target->span, fmt::format("'{}' cannot be assigned", text))
          .help(fmt::format("write it all at once, fill({}, x), or point by point in a task", text));
    else if (!body_.is_error(target))
      diags_.error("E1007", assign_.target->span, fmt::format("'{}' cannot be assigned", text))
          .help("a target is a variable, an output or an element of a list");
  }

 private:
  bool plain() const { return assign_.op.text == "="; }

  // ---- x = ... ----

  void to_name(const ast::Name& name) {
    std::optional<Binding> binding = body_.find(name.text);
    if (!binding) return unknown(name);
    VariableId variable = target_variable(*binding, name);
    if (!variable.valid()) {
      expression(body_, *assign_.value);
      return;
    }
    const Type type = body_.function().variables[variable.index()].type;
    Term value = plain() ? expression(body_, *assign_.value, &type) : combined(*binding, name, type);
    Expected expected{fmt::format("'{}'", name.text), binding->span};
    value = is_number_of_task(value, type) ? number_of_task(value, type, name.text, *binding)
                                           : convert(body_, value, type, expected);
    body_.write_variable(variable, value, span_);
    mark_set(variable);
  }

  // var s = 0; s += v[i].n: a task has no receives.
  bool is_number_of_task(const Term& value, const Type& type) {
    const bool number = type.is(Kind::integer) || type.is(Kind::real);
    return number && body_.function().kind == FunctionKind::task && body_.type(value).is_tensor();
  }

  Term number_of_task(const Term& value, const Type& type, const std::string& name, const Binding& binding) {
    const Type given = body_.type(value);
    wrong_type(diags_, value.span, fmt::format("'{}' is {}, this is {}", name, type.text(), given.text()))
        .label(binding.span, "declared here")
        .help(fmt::format("begin with a tensor: var {} = {} as {}", name, type.is(Kind::integer) ? "0" : "0.0",
                          info(given.precision).name));
    return body_.error(value.span);
  }

  Term combined(const Binding& binding, const ast::Name& name, const Type& type) {
    Term now = read_binding(body_, binding, name);
    Term value = output_of(body_, expression(body_, *assign_.value, &type));
    join_extents(body_, now, value);
    return operator_call(body_, op_of(assign_.op.text), {now, value}, span_, assign_.op.span);
  }

  void mark_set(VariableId variable) {
    const std::vector<Output>& outputs = body_.function().outputs;
    for (std::size_t i = 0; i < outputs.size() && i < body_.is_set.size(); ++i)
      if (outputs[i].variable == variable) body_.is_set[i] = true;
  }

  void unknown(const ast::Name& name) {
    if (name.text == "_")
      wildcard_as_name(diags_, name.span);
    else
      unknown_name(diags_, name, {}).help(fmt::format("define it: {} {} = ...", plain() ? "let" : "var", name.text));
    expression(body_, *assign_.value);
    body_.scopes.back().names.emplace(name.text, Binding{.span = name.span});
  }

  // The variable behind a name that may be changed here; else invalid, and that is reported.
  VariableId target_variable(const Binding& binding, const ast::Name& name) {
    bool own_global = binding.kind == Binding::Kind::global && body_.at_top_level() && binding.module == body_.module;
    if (binding.kind == Binding::Kind::error) return {};
    if (binding.kind == Binding::Kind::slot) {
      if (!write_slot(body_, binding, name)) return {};
      return slot_variable(body_, binding.index);
    }
    if (binding.kind == Binding::Kind::variable || (own_global && binding.is_mutable)) {
      if (binding.what == "parameter") body_.info().effects.writes = true;
      return binding.variable;
    }
    if (binding.kind == Binding::Kind::global && binding.is_mutable)
      top_level_var(diags_, name, binding.span);
    else
      refuse(binding, name);
    return {};
  }

  void refuse(const Binding& binding, const ast::Name& name) {
    bool input = binding.what == "parameter" && body_.in_graph();
    if (!input) {
      final_name(diags_, name.span, name.text, binding.what, binding.span);
      return;
    }
    Diag& diag = read_only(diags_, name.span, name.text, body_.world.described(body_.id), binding.span);
    if (body_.type(binding.call).is_tensor()) diag.help("declare it inout if the caller shall see the change");
  }

  // ---- l[i][k] = ... ----

  void to_element() {
    const ast::Expr* root = assign_.target.get();
    std::vector<const ast::Index*> path;
    while (auto* index = std::get_if<ast::Index>(&root->node)) {
      path.push_back(index);
      root = index->base.get();
    }
    std::reverse(path.begin(), path.end());
    auto* name = std::get_if<ast::NameExpr>(&root->node);
    std::optional<Binding> binding = name ? body_.find(name->name.text) : std::nullopt;
    if (!binding) {
      Term value = expression(body_, *root);
      if (!body_.is_error(value)) not_assignable(Type(body_.type(value)), root->span);
      expression(body_, *assign_.value);
      return;
    }
    std::vector<Term> indices;
    std::optional<Type> element = walk(type_of(*binding), path, root->span, indices);
    VariableId variable = element ? target_variable(*binding, name->name) : VariableId();
    if (!variable.valid()) {
      expression(body_, *assign_.value);
      return;
    }
    store(variable, name->name.span, indices, *element);
  }

  void not_assignable(const Type& type, Span span) {
    const std::string text = body_.text(span);
    if (type.is_tensor() || type.is(Kind::invocation))
      diags_
          .error("E1402", assign_.target->span, fmt::format("'{}' is a tensor; its elements cannot be assigned", text))
          .help("build a new tensor with ops such as where, concat or pad");
    else
      diags_.error("E1007", assign_.target->span,
                   fmt::format("'{}' is {}; its elements cannot be assigned", text, type.text()));
  }

  // Without reading it: a list that nobody else holds is changed in place.
  Type type_of(const Binding& binding) {
    if (binding.kind == Binding::Kind::variable) return body_.function().variables[binding.variable.index()].type;
    if (binding.kind == Binding::Kind::value) return body_.type(binding.call);
    if (binding.kind == Binding::Kind::slot) return slot_type(body_, binding.index);
    if (binding.kind != Binding::Kind::global) return Kind::error;
    FunctionId top_level = body_.world.program.modules[binding.module.index()].top_level;
    return body_.world.program[top_level].variables[binding.variable.index()].type;
  }

  // Reads the indices; the type of the element they lead to.
  std::optional<Type> walk(Type type, const std::vector<const ast::Index*>& path, Span root,
                           std::vector<Term>& indices) {
    for (const ast::Index* index : path) {
      if (!type.is(Kind::list)) {
        if (!type.is(Kind::error)) not_assignable(type, join(root, index->base->span));
        return std::nullopt;
      }
      if (index->items.size() != 1 || index->items[0].is_slice) {
        diags_.error("E1007", index->brackets, "one element is assigned at a time");
        return std::nullopt;
      }
      Term at = convert(body_, expression(body_, *index->items[0].at), Kind::integer, {"an index", {}});
      if (body_.is_error(at)) return std::nullopt;
      if (const std::optional<Value> known = body_.known(at.id); known && known->is_integer() && known->integer() < 0) {
        diags_.error("E2004", at.span, fmt::format("index {} is outside a list", known->integer()))
            .help("indices count from 0; from the end: len(l) - 1");
        return std::nullopt;
      }
      indices.push_back(at);
      type = Type(type.parts[0]);
    }
    return type;
  }

  void store(VariableId variable, Span root, const std::vector<Term>& indices, const Type& type) {
    Term value;
    if (plain()) {
      value = expression(body_, *assign_.value, &type);
    } else {
      Term now = body_.read_variable(variable, root);
      for (const Term& index : indices) now = item_of(body_, now, index, assign_.target->span);
      Term by = output_of(body_, expression(body_, *assign_.value, &type));
      value = operator_call(body_, op_of(assign_.op.text), {now, by}, span_, assign_.op.span);
    }
    value = convert(body_, value, type, {fmt::format("'{}'", body_.text(assign_.target->span)), {}});
    std::vector<Term> in{value};
    in.insert(in.end(), indices.begin(), indices.end());
    Term made = body_.make(Form::store, Kind::none, span_, in);
    body_[made.id].variable = variable;
  }

  Body& body_;
  Diags& diags_;
  const ast::Assign& assign_;
  Span span_;
};

}  // namespace

void check_statement(Body& body, const ast::Assign& assign, Span span) { Assignment(body, assign, span).run(); }

}  // namespace taskspec::checking
