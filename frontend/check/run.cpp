// run e on B: a nested session for one call. Its value is an invocation: the outputs of `e` and `report`.
#include <fmt/format.h>

#include "frontend/check/expressions.hpp"
#include "frontend/check/later.hpp"
#include "frontend/check/messages.hpp"
#include "frontend/check/record_call.hpp"
#include "ir/records/backend_record.hpp"

namespace taskspec::checking {

using Kind = Type::Kind;

namespace {

// With the fields that this backend adds.
Type report_type(const World& world, const Type& backend) {
  Type type(Kind::record);
  auto add = [&](std::span<const ReportField> fields) {
    for (const ReportField& field : fields) {
      type.names.emplace_back(field.name);
      type.parts.emplace_back(field.kind);
    }
  };
  add(common_report());
  const Builtin* chosen = backend.names.empty() ? nullptr : world.options.builtins.find(backend.names[0]);
  if (chosen && chosen->backend) add(chosen->backend->report);
  return type;
}

// `host` is `host()`.
Term backend(Body& body, const ast::Expr& expr) {
  auto* name = std::get_if<ast::NameExpr>(&expr.node);
  Record record = name && !body.find(name->name.text) ? find_builtin(body.world, name->name.text) : Record{};
  Term value = record ? call_record(body, record, std::nullopt, {}, expr.span) : expression(body, expr);
  if (body.is_error(value) || body.type(value).is(Kind::backend)) return value;
  wrong_type(body.world.diags, expr.span,
             fmt::format("'on' wants a backend such as host, this is {}", body.type(value).text()));
  return body.error(expr.span);
}

// The default is the only one so far.
bool refuse_time_steps(Body& body, const ast::Expr& expr) {
  auto* call = std::get_if<ast::Call>(&expr.node);
  if (!call) return false;
  for (const ast::Arg& arg : call->args) {
    auto* literal = std::get_if<ast::IntLit>(&arg.value->node);
    if (!arg.name || arg.name->text != "time_steps" || (literal && literal->value == 1)) continue;
    not_built(body.world.diags, arg.span, "'time_steps'", "networks that run in steps");
    return true;
  }
  return false;
}

Type session_type(const Type& value, Type report) {
  Type type = value;
  if (!value.is(Kind::invocation)) {
    type = Type(Kind::invocation);
    if (!value.is(Kind::none)) {
      type.parts.push_back(value);
      type.names.push_back("value");
    }
  }
  type.parts.push_back(std::move(report));
  type.names.push_back("report");
  return type;
}

}  // namespace

Term run_expression(Body& body, const ast::Run& run, Span span) {
  bool refused = refuse_time_steps(body, *run.backend);
  Term on = refused ? body.error(run.backend->span) : backend(body, *run.backend);
  body.open_block();
  Term value = expression(body, *run.call);
  Block block = body.close_block();
  block.result = value.id;
  body.info().effects.host.push_back({"run", span});
  if (body.is_error(on) || body.is_error(value)) return body.error(span);
  if (!std::holds_alternative<ast::Call>(run.call->node)) {
    wrong_type(body.world.diags, run.call->span, "'run' takes a call: run f(x) on host");
    return body.error(span);
  }
  Type report = report_type(body.world, body.type(on));
  Term made = body.make(Form::run, session_type(Type(body.type(value)), std::move(report)), span, {on});
  body[made.id].blocks.push_back(std::move(block));
  return made;
}

}  // namespace taskspec::checking
