// What stands behind a dot and is not called: names of a module, outputs, members of agents, fields, receives.
#include "frontend/check/members.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "frontend/check/calls.hpp"
#include "frontend/check/convert.hpp"
#include "frontend/check/declare.hpp"
#include "frontend/check/expressions.hpp"
#include "frontend/check/extents.hpp"
#include "frontend/check/foreign.hpp"
#include "frontend/check/later.hpp"
#include "frontend/check/messages.hpp"
#include "frontend/check/record_call.hpp"
#include "frontend/check/regions.hpp"
#include "frontend/check/training.hpp"
#include "frontend/check/views.hpp"

namespace taskspec::checking {

using Kind = Type::Kind;

namespace {

Type scalar_type(Precision precision) {
  if (precision == Precision::boolean) return Kind::boolean;
  return is_float(precision) ? Kind::real : Kind::integer;
}

// Contents as nested lists, one per axis.
Type array_type(const Type& tensor, std::size_t axes) {
  Type type = scalar_type(tensor.precision);
  for (std::size_t i = 0; i < axes; ++i) type = Type::list(std::move(type));
  return type;
}

class TensorMember {
 public:
  TensorMember(Body& body, const Term& tensor, const ast::Name& name, Span span)
      : body_(body), tensor_(tensor), name_(name), span_(span) {}

  std::optional<Term> read() {
    const Type type = body_.type(tensor_);
    if (name_.text == "shape") return shape_of(body_, tensor_, span_);
    if (name_.text == "rank")
      return body_.constant(Value(static_cast<std::int64_t>(type.rank())), Kind::integer, span_);
    if (name_.text == "precision")
      return body_.constant(Value(std::string(info(type.precision).name)), Kind::string, span_);
    for (std::size_t i = 0; i < receive_words.size(); ++i)
      if (receive_words[i] == name_.text) return receive(type, static_cast<Receive>(i));
    return std::nullopt;
  }

 private:
  Term receive(const Type& type, Receive kind) {
    Type result = type;
    if (kind == Receive::scalar) {
      if (!has_one_element(type) || !is_received_there()) return body_.error(span_);
      result = scalar_type(type.precision);
    } else if (kind != Receive::handle) {
      if (kind == Receive::iter && type.rank() == 0) {
        wrong_type(body_.world.diags, name_.span, ".iter goes along axis 0, and this has rank 0")
            .label(tensor_.span, type.text());
        return body_.error(span_);
      }
      result = array_type(type, type.rank());
    }
    if (kind != Receive::handle) body_.info().effects.host.push_back({"." + name_.text, span_});
    Term made = body_.make(Form::receive, std::move(result), span_, {tensor_});
    body_[made.id].index = static_cast<std::uint32_t>(kind);
    return made;
  }

  // The body of a task over views computes with elements as they are, as if they were numbers of the host.
  bool is_received_there() {
    const Function& function = body_.function();
    const bool has_views =
        function.kind == FunctionKind::task &&
        std::ranges::any_of(function.parameters, [](const Parameter& p) { return p.type.is(Kind::view); });
    if (!has_views) return true;
    const std::string value = body_.text(tensor_.span);
    body_.world.diags
        .error("E1302", name_.span,
               fmt::format("'{}' is used without .scalar: in the body of a task over views one element is a number",
                           value))
        .help(fmt::format("write {}", value));
    return false;
  }

  bool has_one_element(const Type& type) {
    for (const Dim& dim : type.dims) {
      Same one = same(dim, Dim(1));
      if (one != Same::no || !dim.is_constant()) continue;
      body_.world.diags.error("E2001", name_.span, fmt::format(".scalar wants one element, this is {}", type.text()))
          .label(tensor_.span, type.text())
          .help(".array receives all of them");
      return false;
    }
    return true;
  }

  Body& body_;
  Term tensor_;
  const ast::Name& name_;
  Span span_;
};

bool is_method(Body& body, const std::string& name) {
  Record builtin = find_builtin(body.world, name);
  return find_op(body.world, name) || (builtin && builtin.builtin->method);
}

Term unknown_member(Body& body, const Term& base, const ast::Name& name, Span span) {
  World& world = body.world;
  const std::string type = body.type(base).text();
  if (is_method(body, name.text)) {
    wrong_type(world.diags, name.span, fmt::format("'{}' is a function of the library; call it", name.text))
        .help(fmt::format(".{}(...)", name.text));
  } else if (std::string_view known = foreign_member(body.type(base), name.text); !known.empty()) {
    no_member(world.diags, name, type, "member", {}).help(std::string(known));
  } else if (std::string_view part = part_of_name(name.text); !part.empty()) {
    not_built(world.diags, name.span, fmt::format("'{}'", name.text), part);
  } else {
    std::vector<std::string> members;
    if (body.type(base).is_tensor()) members = {"scalar", "array", "iter", "handle", "shape", "rank", "precision"};
    no_member(world.diags, name, type, "member", members);
  }
  return body.error(span);
}

Term field(Body& body, const Term& base, std::string_view name, Type type, Span span) {
  Term made = body.make(Form::field, std::move(type), span, {base});
  body[made.id].name = name;
  return made;
}

Term member_of_record(Body& body, const Term& base, const ast::Name& name, Span span) {
  const Type type = body.type(base);
  for (std::size_t i = 0; i < type.names.size(); ++i)
    if (type.names[i] == name.text) return field(body, base, name.text, type.parts[i], span);
  no_member(body.world.diags, name, "this record", "field", type.names);
  return body.error(span);
}

Term member_of_task(Body& body, const Term& base, const ast::Name& name, Span span) {
  const Type type = body.type(base);
  std::size_t count = name.text == "inputs" ? type.inputs : type.parts.size() - type.inputs;
  if (name.text == "inputs" || name.text == "outputs")
    return field(body, base, name.text, Type::tuple(std::vector<Type>(count, Type(Kind::string))), span);
  if (const Record asked = find_builtin(body.world, "task." + name.text))
    return call_record(body, asked, base, {}, span);
  no_member(body.world.diags, name, "a task", "member", {"inputs", "outputs", "report"})
      .help(std::string(foreign_member(type, name.text)));
  return body.error(span);
}

}  // namespace

std::string described_invocation(Body& body, const Term& invocation) {
  const Call& call = body[invocation.id];
  if (call.form == Form::op) return fmt::format("'{}'", call.op->name);
  return call.form == Form::invoke ? body.world.described(call.callee) : "this call";
}

std::optional<Term> output_named(Body& body, const Term& invocation, std::string_view name, Span span) {
  const Type type = body.type(invocation);
  for (std::uint32_t i = 0; i < type.names.size(); ++i)
    if (type.names[i] == name) return output_at(body, invocation, i, span);
  return std::nullopt;
}

std::optional<Binding> member_of_agent(Body& body, const Term& agent, const ast::Name& name) {
  World& world = body.world;
  AgentId id = body.type(agent).agent;
  std::optional<Binding> found = world.find(id, name.text);
  if (found && found->kind != Binding::Kind::slot) return found;
  Diag& diag =
      no_member(world.diags, name, fmt::format("agent '{}'", world.program[id].name), "member", world.members(id));
  if (found) diag.note("it is a slot; only members of the agent see it");
  if (const auto known = foreign_member(body.type(agent), name.text); !found && !known.empty())
    diag.help(std::string(known));
  return std::nullopt;
}

Term member_value(Body& body, const Term& base, const ast::Name& name, Span span) {
  const Type type = body.type(base);
  switch (type.kind) {
    case Kind::error:
      return body.error(span);
    case Kind::agent: {
      std::optional<Binding> member = member_of_agent(body, base, name);
      return member && member->kind == Binding::Kind::function ? bound_member(body, base, member->function, span)
                                                               : body.error(span);
    }
    case Kind::invocation:
      if (std::optional<Term> output = output_named(body, base, name.text, span)) return *output;
      if (std::optional<std::uint32_t> only = single_output(type)) {
        const Term output = output_at(body, base, *only, base.span);
        bool tensor = body.type(output).is_tensor();
        if (tensor)
          if (std::optional<Term> found = TensorMember(body, output, name, span).read()) return *found;
        if (is_method(body, name.text)) return unknown_member(body, output, name, span);
      }
      no_member(body.world.diags, name, described_invocation(body, base), "output", body.type(base).names);
      return body.error(span);
    case Kind::tensor:
      if (std::optional<Term> found = TensorMember(body, base, name, span).read()) return *found;
      return unknown_member(body, base, name, span);
    case Kind::region:
      return field_of_region(body, base, name, span);
    case Kind::view:
      return field_of_view(body, base, name, span);
    case Kind::region_field:
      return member_value(body, output_of(body, base), name, span);
    case Kind::record:
      return member_of_record(body, base, name, span);
    case Kind::training:
      return training_member(body, base, name, span);
    case Kind::task:
      return member_of_task(body, base, name, span);
    default:
      return unknown_member(body, base, name, span);
  }
}

std::optional<Binding> binding_of(Body& body, const ast::Expr& expr) {
  auto* name = std::get_if<ast::NameExpr>(&expr.node);
  return name ? body.find(name->name.text) : std::nullopt;
}

std::optional<Binding> member_of_module(Body& body, const Binding& module, const ast::Name& name) {
  World& world = body.world;
  const std::string& module_name = world.program.modules[module.module.index()].name;
  std::optional<Binding> found = world.find(module.module, name.text);
  bool exported = found && found->kind != Binding::Kind::module;
  if (exported && name.text[0] != '_') return found;
  if (exported) {
    world.diags.error("E1001", name.span, fmt::format("'{}' is private to module '{}'", name.text, module_name))
        .label(found->span, "defined here");
    return std::nullopt;
  }
  std::vector<std::string> candidates = world.names(module.module);
  std::erase_if(candidates, [](const std::string& candidate) { return candidate[0] == '_'; });
  unknown_name(world.diags, name, candidates).message = fmt::format("module '{}' has no '{}'", module_name, name.text);
  return std::nullopt;
}

Term member_expression(Body& body, const ast::Member& member, Span span) {
  if (std::optional<Binding> base = binding_of(body, *member.base); base && base->kind == Binding::Kind::module) {
    std::optional<Binding> found = member_of_module(body, *base, member.name);
    return found ? read_binding(body, *found, {member.name.text, span}) : body.error(span);
  }
  if (std::optional<Term> element = view_member(body, member, span)) return *element;
  if (auto* inner = std::get_if<ast::Member>(&member.base->node); inner && inner->name.text == "metrics") {
    const Term owner = expression(body, *inner->base);
    if (body.type(owner).is(Kind::training)) return training_metric(body, owner, member.name, span);
    return member_value(body, member_value(body, owner, inner->name, member.base->span), member.name, span);
  }
  return member_value(body, expression(body, *member.base), member.name, span);
}

}  // namespace taskspec::checking
