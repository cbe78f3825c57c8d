#include "frontend/check/views.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/check/convert.hpp"
#include "frontend/check/expressions.hpp"
#include "frontend/check/messages.hpp"
#include "frontend/check/record_call.hpp"
#include "frontend/check/regions.hpp"
#include "ir/base/text.hpp"
#include "ir/records/scalar.hpp"

namespace taskspec::checking {

using Kind = Type::Kind;

namespace {

// Views are parameters, and nothing else.
const Parameter& parameter_of(Body& body, const Term& view) { return body.function().parameters[body[view.id].index]; }

// The view that stands there by its name; a function inside of a body has none.
std::optional<Term> view_named(Body& body, const ast::Expr& expr) {
  auto* name = std::get_if<ast::NameExpr>(&expr.node);
  const std::optional<Binding> found = name ? body.find(name->name.text) : std::nullopt;
  if (!found || found->kind != Binding::Kind::value || body.function().kind != FunctionKind::task) return std::nullopt;
  if (!body.type(found->call).is(Kind::view)) return std::nullopt;
  return Term{found->call, expr.span};
}

// The position of a field that this view lists.
std::optional<std::uint32_t> own_field(Body& body, const Term& view, const ast::Name& name) {
  const Type type = body.type(view);
  for (std::size_t i = 1; i < type.names.size(); ++i)
    if (type.names[i] == name.text) return type.places[i - 1];
  const std::vector<FieldsTable::Field>& fields = body.world.program[type.fields].fields;
  const bool known = std::ranges::any_of(fields, [&](const auto& field) { return field.name == name.text; });
  Diag& diag = no_member(body.world.diags, name, fmt::format("view '{}'", body.text(view.span)), "field",
                         {type.names.begin() + 1, type.names.end()});
  if (known)
    diag.help(fmt::format("the signature says which fields a view has: {}{}.{{..., {}}}", type.names[0],
                          shape_text(type.dims), name.text));
  return std::nullopt;
}

Diag& misuse(Body& body, Span span, const Term& view, std::string_view what) {
  const Parameter& parameter = parameter_of(body, view);
  body.info().broken = true;  // that the view is not written either would follow from it
  return body.world.diags
      .error("E1405", span, fmt::format("'{}' of {} {}", parameter.name, body.world.described(body.id), what))
      .label(parameter.span, "declared here");
}

std::string reduction(const Parameter& parameter) {
  return fmt::format("reduce({})", reduce_words[static_cast<std::size_t>(parameter.reduce)]);
}

// How the one access under reduce(op) is written.
std::string folding(const Parameter& parameter, const std::string& element) {
  switch (parameter.reduce) {
    case ReduceOp::sum:
      return element + " += ...";
    case ReduceOp::prod:
      return element + " *= ...";
    case ReduceOp::min:
      return fmt::format("{} = minimum({}, ...)", element, element);
    case ReduceOp::max:
      return fmt::format("{} = maximum({}, ...)", element, element);
  }
  return element;
}

bool may_be_read(Body& body, const Term& view, Span span, const std::string& element) {
  const Parameter& parameter = parameter_of(body, view);
  if (parameter.privilege == Privilege::in || parameter.privilege == Privilege::inout) return true;
  if (parameter.privilege == Privilege::out)
    misuse(body, span, view, "is out: what it held before is not read").help("declare it inout to read it");
  else
    misuse(body, span, view, fmt::format("is {}: it is not read", reduction(parameter)))
        .help("the one access is " + folding(parameter, element));
  return false;
}

// The indices of `v[i, j]`, as many as the view has axes.
std::optional<std::vector<Term>> indices_of(Body& body, const Term& view, const std::vector<const ast::Expr*>& items,
                                            Span brackets) {
  const std::size_t rank = body.type(view).dims.size();
  std::vector<Term> indices;
  for (const ast::Expr* item : items) {
    const Term at = typed(body, output_of(body, expression(body, *item)));
    const Type type = body.type(at);
    if (type.is(Kind::error)) return std::nullopt;
    const std::size_t parts = type.is(Kind::tuple) && items.size() == 1 ? type.parts.size() : 0;
    for (std::size_t i = 0; i < parts; ++i) indices.push_back(element_of(body, at, i, item->span));
    if (parts > 0) continue;
    if (!type.is(Kind::integer) && !(type.is_tensor() && type.rank() == 0 && is_integer(type.precision))) {
      wrong_type(body.world.diags, item->span,
                 fmt::format("an index of a view is an int or an element that is one, this is {}", type.text()));
      return std::nullopt;
    }
    indices.push_back(at);
  }
  if (indices.size() == rank) return indices;
  wrong_type(
      body.world.diags, brackets,
      fmt::format("'{}' goes by {}, here {}", body.text(view.span), plural(rank, "index", "indices"), indices.size()))
      .label(parameter_of(body, view).span, "declared here");
  return std::nullopt;
}

std::optional<std::vector<Term>> indices_of(Body& body, const Term& view, const ast::Index& index) {
  std::vector<const ast::Expr*> items;
  for (const ast::IndexItem& item : index.items) {
    if (item.is_slice) {
      wrong_type(body.world.diags, item.span, "one element of a view is taken at a time")
          .help("a whole field is a tensor: v.f");
      return std::nullopt;
    }
    items.push_back(item.at.get());
  }
  return indices_of(body, view, items, index.brackets);
}

std::vector<Term> with(const Term& view, std::vector<Term> indices, std::optional<Term> last = std::nullopt) {
  indices.insert(indices.begin(), view);
  if (last) indices.push_back(*last);
  return indices;
}

Term field_call(Body& body, Form form, Type type, const std::string& field, std::vector<Term> in, Span span) {
  Term made = body.make(form, std::move(type), span, in);
  body[made.id].name = field;
  return made;
}

// A host number, or a tensor of one element, as one element of a field.
Term as_element(Body& body, const Term& given, Precision precision, const std::string& what) {
  Term value = output_of(body, given);
  const Type type = body.type(value);
  const bool one = type.is_tensor() && type.rank() > 0 && same(type.elements(), Dim(1)) == Same::yes;
  if (one && type.precision == precision) value = served_call(body, Serves::reshapes, {value}, value.span);
  return convert(body, value, Type::tensor(precision, {}), {what, {}});
}

Term element(Body& body, const Term& view, const ast::Index& index, const ast::Name& field, Span span) {
  const std::optional<std::uint32_t> at = own_field(body, view, field);
  if (!at) return body.error(span);
  const auto indices = indices_of(body, view, index);
  if (!indices || !may_be_read(body, view, span, body.text(span))) return body.error(span);
  const Precision precision = field_precision(body, body.type(view), *at);
  return field_call(body, Form::view_element, Type::tensor(precision, {}), field.text, with(view, *indices), span);
}

// ---- at(v, i, d).f ----

Term element_or(Body& body, const Term& view, const ast::Call& call, const ast::Name& field, Span span) {
  const std::optional<std::uint32_t> which = own_field(body, view, field);
  std::vector<const ast::Expr*> items;
  for (const ast::Arg& arg : call.args) items.push_back(arg.value.get());
  if (items.size() < 3) {
    body.world.diags.error("E1003", call.brackets, "'at' takes a view, an index and what stands where there is none");
    return body.error(span);
  }
  const bool tuple = items.size() == 3;
  const auto indices = indices_of(
      body, view, tuple ? std::vector{items[1]} : std::vector<const ast::Expr*>(items.begin() + 1, items.end() - 1),
      call.brackets);
  if (!which || !indices || !may_be_read(body, view, span, body.text(span))) return body.error(span);
  const Precision precision = field_precision(body, body.type(view), *which);
  const Term otherwise = as_element(body, expression(body, *items.back()), precision, "what stands instead");
  if (body.is_error(otherwise)) return otherwise;
  return field_call(body, Form::view_at, Type::tensor(precision, {}), field.text, with(view, *indices, otherwise),
                    span);
}

}  // namespace

std::optional<Term> view_member(Body& body, const ast::Member& member, Span span) {
  if (auto* index = std::get_if<ast::Index>(&member.base->node))
    if (const std::optional<Term> view = view_named(body, *index->base))
      return element(body, *view, *index, member.name, span);
  auto* call = std::get_if<ast::Call>(&member.base->node);
  auto* callee = call ? std::get_if<ast::NameExpr>(&call->callee->node) : nullptr;
  if (!callee || call->args.empty() || callee->name.text != element_or_default || body.find(callee->name.text))
    return std::nullopt;
  const std::optional<Term> view = view_named(body, *call->args[0].value);
  return view ? std::optional(element_or(body, *view, *call, member.name, span)) : std::nullopt;
}

Term field_of_view(Body& body, const Term& view, const ast::Name& name, Span span) {
  const std::optional<std::uint32_t> field = own_field(body, view, name);
  const Type data = body.type(view);
  if (!field || !may_be_read(body, view, span, body.text(view.span) + "[i]." + name.text)) return body.error(span);
  Type type = Type::tensor(field_precision(body, data, *field), data.dims);
  return field_call(body, Form::view_field, std::move(type), name.text, {view}, span);
}

Type point_of(const Type& view) {
  if (view.dims.size() == 1) return Kind::integer;
  return Type::tuple(std::vector<Type>(view.dims.size(), Kind::integer));
}

// ---- assignments ----------------------------------------------------------------------------------

namespace {

class ViewAssignment {
 public:
  ViewAssignment(Body& body, const ast::Assign& assign, const ast::Member& target, const Term& view, Span span)
      : body_(body),
        assign_(assign),
        target_(target),
        index_(std::get_if<ast::Index>(&target.base->node)),
        view_(view),
        span_(span) {}

  void run() {
    const std::optional<std::uint32_t> field = own_field(body_, view_, target_.name);
    const auto indices = index_ ? indices_of(body_, view_, *index_) : std::vector<Term>{};
    if (!field || !indices || !may_be_written()) {
      expression(body_, *assign_.value);
      return;
    }
    precision_ = field_precision(body_, body_.type(view_), *field);
    body_.info().effects.writes = true;
    if (parameter_of(body_, view_).privilege == Privilege::reduce) return fold(*indices);
    index_ ? store(*indices) : store_all();
  }

 private:
  bool plain() const { return assign_.op.text == "="; }
  std::string_view sign() const { return std::string_view(assign_.op.text).substr(0, assign_.op.text.size() - 1); }
  std::string element() const { return body_.text(assign_.target->span); }

  bool may_be_written() {
    const Parameter& parameter = parameter_of(body_, view_);
    if (parameter.privilege != Privilege::in)
      return plain() || parameter.privilege == Privilege::reduce ||
             may_be_read(body_, view_, assign_.target->span, element());
    read_only(body_.world.diags, view_.span, parameter.name, body_.world.described(body_.id), parameter.span)
        .help("declare it inout, out or reduce(+) to change it");
    return false;
  }

  void make(Form form, std::vector<Term> in) {
    Term made = body_.make(form, Kind::none, span_, in);
    body_[made.id].name = target_.name.text;
  }

  // Of `v[i].f += e` the element is read, added to and stored: its indices are worked out once.
  void store(const std::vector<Term>& indices) {
    Term value = expression(body_, *assign_.value);
    if (!plain() && !body_.is_error(value)) {
      const Term now = field_call(body_, Form::view_element, Type::tensor(precision_, {}), target_.name.text,
                                  with(view_, indices), assign_.target->span);
      value = operator_call(body_, sign(), {now, output_of(body_, value)}, span_, assign_.op.span);
    }
    value = as_element(body_, value, precision_, fmt::format("'{}'", element()));
    if (!body_.is_error(value)) make(Form::view_store, with(view_, indices, value));
  }

  void store_all() {
    const Type type = Type::tensor(precision_, body_.type(view_).dims);
    Term value = output_of(body_, expression(body_, *assign_.value, &type));
    if (!plain() && !body_.is_error(value)) {
      const Term now = field_call(body_, Form::view_field, type, target_.name.text, {view_}, assign_.target->span);
      value = operator_call(body_, sign(), {now, value}, span_, assign_.op.span);
    }
    if (body_.is_error(value)) return;
    if (!body_.type(value).is_tensor()) {
      wrong_type(body_.world.diags, value.span, fmt::format("'{}'", element()), type, body_.type(value))
          .help("one number for all points: for i in v { v[i].f = ... }");
      return;
    }
    value = convert(body_, value, type, {fmt::format("'{}'", element()), {}});
    if (!body_.is_error(value)) make(Form::store_view_field, {view_, value});
  }

  void fold(const std::vector<Term>& indices) {
    const ast::Expr* by = index_ ? contribution() : nullptr;
    if (!by) {
      misuse(body_, assign_.target->span, view_, fmt::format("is {}", reduction(parameter_of(body_, view_))))
          .help("the one access is " + folding(parameter_of(body_, view_), index_ ? element() : "v[i].f"));
      return;  // what the value reads of the view would be said twice
    }
    const Term value = as_element(body_, expression(body_, *by), precision_, fmt::format("'{}'", element()));
    if (body_.is_error(value)) return;
    make(Form::view_fold, with(view_, indices, value));
    const std::vector<CallId>& calls = body_.open_calls();
    body_[calls.back()].index = static_cast<std::uint32_t>(parameter_of(body_, view_).reduce);
  }

  // The other operand of the one access that the privilege has.
  const ast::Expr* contribution() {
    const ReduceOp op = parameter_of(body_, view_).reduce;
    if (op == ReduceOp::sum || op == ReduceOp::prod)
      return assign_.op.text == (op == ReduceOp::sum ? "+=" : "*=") ? assign_.value.get() : nullptr;
    auto* call = std::get_if<ast::Call>(&assign_.value->node);
    auto* name = call ? std::get_if<ast::NameExpr>(&call->callee->node) : nullptr;
    if (!plain() || !name || call->args.size() != 2 || body_.find(name->name.text)) return nullptr;
    const Record chooses = find_op(body_.world, name->name.text);
    Value (*wanted)(scalar::Operands) = op == ReduceOp::min ? &scalar::minimum : &scalar::maximum;
    const bool first = body_.text(call->args[0].span) == element();
    return chooses && chooses.op->scalar == wanted && first ? call->args[1].value.get() : nullptr;
  }

  Body& body_;
  const ast::Assign& assign_;
  const ast::Member& target_;
  const ast::Index* index_;
  Term view_;
  Span span_;
  Precision precision_ = Precision::f64;
};

}  // namespace

bool assign_to_view(Body& body, const ast::Assign& assign, Span span) {
  auto* member = std::get_if<ast::Member>(&assign.target->node);
  if (!member) return false;
  auto* index = std::get_if<ast::Index>(&member->base->node);
  const std::optional<Term> view = view_named(body, index ? *index->base : *member->base);
  if (!view) return false;
  ViewAssignment(body, assign, *member, *view, span).run();
  return true;
}

// ---- out ------------------------------------------------------------------------------------------

namespace {

// `v[i].f` for the variable i of a loop over v.
bool stores_turn(const Function& function, const Call& store, CallId turn) {
  const bool tuple = function[turn].type.is(Kind::tuple);
  for (std::size_t i = 1; i + 1 < store.in.size(); ++i) {
    const Call& index = function[store.in[i]];
    const bool part = index.form == Form::element && index.in[0] == turn && index.index == i - 1;
    if (tuple ? !part : store.in[i] != turn) return false;
  }
  return true;
}

// Whether the turn, or more, may end here before its end. What leaves a loop inside of the turn does not.
bool may_end_turn(const Function& function, const Call& call, bool in_inner_loop) {
  using Leaves = FormRecord::Leaves;
  if (call.form->leaves == Leaves::function || (call.form->leaves != Leaves::nothing && !in_inner_loop)) return true;
  for (const Block& block : call.blocks)
    for (CallId inner : block.calls)
      if (may_end_turn(function, function[inner], in_inner_loop || call.form->repeats())) return true;
  return false;
}

// The view stands in the calls of its parameter, whichever of them was read.
class FieldWritten {
 public:
  FieldWritten(const Function& function, std::uint32_t parameter, const std::string& field)
      : function_(function), parameter_(parameter), field_(field) {}

  bool by(const Call& call) const {
    if (call.form == Form::store_view_field) return is_view(call.in[0]) && call.name == field_;
    if (!call.form->repeats() || call.in.empty() || !is_view(call.in[0])) return false;
    const std::vector<CallId>& turn = call.blocks[0].calls;
    return !turn.empty() && function_[turn[0]].form == Form::loop && in_turn(turn, turn[0]);
  }

 private:
  bool is_view(CallId in) const { return function_[in].form == Form::parameter && function_[in].index == parameter_; }
  // In every turn that comes to the end of this block: here, or on both ways of an `if`.
  bool in_turn(const std::vector<CallId>& block, CallId turn) const {
    for (CallId id : block) {
      const Call& call = function_[id];
      if (call.form == Form::view_store && is_view(call.in[0]) && call.name == field_ &&
          stores_turn(function_, call, turn))
        return true;
      const bool chooses = call.form->is_control() && !call.form->repeats() && call.blocks.size() == 2;
      if (chooses && std::ranges::all_of(call.blocks, [&](const Block& way) { return in_turn(way.calls, turn); }))
        return true;
      if (may_end_turn(function_, call, false)) return false;
    }
    return false;
  }

  const Function& function_;
  const std::uint32_t parameter_;
  const std::string& field_;
};

}  // namespace

void require_views_written(Body& body) {
  const Function& function = body.function();
  if (body.info().broken) return;
  for (std::uint32_t k = 0; k < function.parameters.size(); ++k) {
    const Parameter& parameter = function.parameters[k];
    if (!parameter.type.is(Kind::view) || parameter.privilege != Privilege::out) continue;
    for (std::size_t i = 1; i < parameter.type.names.size(); ++i) {
      const std::string& field = parameter.type.names[i];
      const FieldWritten written(function, k, field);
      if (std::ranges::any_of(body.open_calls(), [&](CallId call) { return written.by(function[call]); })) continue;
      body.world.diags
          .error("E1006", parameter.span,
                 fmt::format("'{}.{}' of {} is out, and not written at every point", parameter.name, field,
                             body.world.described(body.id)))
          .help(fmt::format("write all of it, for {} in {} {{ {}[{}].{} = ... }}, or declare it inout",
                            parameter.type.dims.size() == 1 ? "i" : "(i, j)", parameter.name, parameter.name,
                            parameter.type.dims.size() == 1 ? "i" : "i, j", field));
    }
  }
}

}  // namespace taskspec::checking
