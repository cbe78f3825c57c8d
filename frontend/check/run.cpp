// run e on B: a nested session for one call. Its value is an invocation: the outputs of `e` and `report`; with time
// steps `steps`, too, which are those of all steps.
#include <fmt/format.h>

#include <utility>

#include "frontend/check/expressions.hpp"
#include "frontend/check/messages.hpp"
#include "frontend/check/record_call.hpp"
#include "frontend/check/time_steps.hpp"
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
      type.parts.push_back(field.type ? field.type() : Type(field.kind));
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

// What is repeated; other calls that stand in the expression are not.
const ast::Arg* arguments_of(const ast::Expr& expr) {
  auto* call = std::get_if<ast::Call>(&expr.node);
  return call && !call->args.empty() ? call->args.data() : nullptr;
}

Term repeated(Body& body, const ast::Expr& call, const std::optional<Dim>& steps) {
  const Body::TimeSteps here{arguments_of(call), steps.value_or(Dim(1))};
  const Body::TimeSteps* before = std::exchange(body.time_steps, steps ? &here : nullptr);
  Term value = expression(body, call);
  body.time_steps = before;
  return value;
}

bool may_repeat(Body& body, const ast::Expr& call, const Term& value) {
  const Type type = body.type(value);
  if (type.is(Kind::invocation)) return true;
  wrong_type(body.world.diags, call.span,
             fmt::format("'{}' repeats a graph, a task or an agent's member; this call gives {}", time_steps_option,
                         type.is(Kind::none) ? "nothing" : type.text()))
      .help("a fn may run one: run g(x) on host(time_steps: ...)");
  return false;
}

Type session_type(const Type& value, const std::optional<Dim>& steps, Type report) {
  Type type = value;
  if (!value.is(Kind::invocation)) {
    type = Type(Kind::invocation);
    if (!value.is(Kind::none)) {
      type.parts.push_back(value);
      type.names.push_back("value");
    }
  }
  if (steps) {
    type.parts.push_back(stacked(value, *steps));
    type.names.push_back("steps");
  }
  type.parts.push_back(std::move(report));
  type.names.push_back("report");
  return type;
}

}  // namespace

Term run_expression(Body& body, const ast::Run& run, Span span) {
  Term on = backend(body, *run.backend);
  const std::optional<Dim> steps = time_steps_of(body.type(on));
  body.open_block();
  Term value = repeated(body, *run.call, steps);
  Block block = body.close_block();
  block.result = value.id;
  body.info().effects.host.push_back({"run", span});
  if (body.is_error(on) || body.is_error(value)) return body.error(span);
  if (!std::holds_alternative<ast::Call>(run.call->node)) {
    wrong_type(body.world.diags, run.call->span, "'run' takes a call: run f(x) on host");
    return body.error(span);
  }
  if (steps && !may_repeat(body, *run.call, value)) return body.error(span);
  Type report = report_type(body.world, body.type(on));
  Term made = body.make(Form::run, session_type(Type(body.type(value)), steps, std::move(report)), span, {on});
  body[made.id].blocks.push_back(std::move(block));
  return made;
}

}  // namespace taskspec::checking
