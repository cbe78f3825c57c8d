// Which kind of call is it? By what stands in front of the brackets.
#include "frontend/check/calls.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/check/blocks.hpp"
#include "frontend/check/closures.hpp"
#include "frontend/check/convert.hpp"
#include "frontend/check/declare.hpp"
#include "frontend/check/expressions.hpp"
#include "frontend/check/foreign.hpp"
#include "frontend/check/later.hpp"
#include "frontend/check/members.hpp"
#include "frontend/check/messages.hpp"
#include "frontend/check/modules.hpp"
#include "frontend/check/record_call.hpp"
#include "frontend/check/training.hpp"
#include "frontend/check/types.hpp"
#include "frontend/check/views.hpp"
#include "ir/base/text.hpp"
#include "ir/types/mapping_type.hpp"

namespace taskspec::checking {

using Kind = Type::Kind;

void check_arguments(Body& body, std::span<const ast::Arg> args) {
  for (const ast::Arg& arg : args)
    if (!is_untyped_function(body, *arg.value) && !type_as_argument(body, *arg.value, Blank::open))
      expression(body, *arg.value);
}

namespace {

constexpr std::string_view launch_word = "launch.";  // builtins that work on what a launch gave
constexpr std::string_view field_word = "field.";    // and on a field of a region

class Calls {
 public:
  Calls(Body& body, const ast::Call& call, Span span) : body_(body), call_(call), span_(span) {}

  Term run() {
    if (auto* name = std::get_if<ast::NameExpr>(&call_.callee->node)) {
      if (std::optional<Binding> found = body_.find(name->name.text)) return bound(*found, name->name);
      return library(name->name);
    }
    if (auto* member = std::get_if<ast::Member>(&call_.callee->node)) return method(*member);
    return call_value(body_, expression(body_, *call_.callee), call_, span_);
  }

 private:
  Term bound(const Binding& binding, const ast::Name& name) {
    if (binding.kind == Binding::Kind::function) {
      bool member = body_.world.program[binding.function].agent.valid();
      std::optional<Term> self = member ? std::optional(body_.self(name.span)) : std::nullopt;
      return call_function(body_, binding.function, self, call_.args, span_);
    }
    if (binding.kind == Binding::Kind::blocks) {
      const std::optional<Term> instance = blocks_instance(body_, binding, name);
      return instance ? call_function(body_, binding.function, instance, call_.args, span_) : failed();
    }
    if (binding.kind == Binding::Kind::agent) return make_agent(body_, binding.agent, call_, span_);
    if (binding.kind == Binding::Kind::module && is_model(body_.world, binding.module))
      return net_of_model(binding, name);
    return call_value(body_, read_binding(body_, binding, name), call_, span_);
  }

  // ---- models ----

  // `m(dt: 1e-3, precision: "f64")` is the net of an imported model. What is no parameter of the net is an option of
  // the import, which is made once more with it.
  Term net_of_model(const Binding& model, const ast::Name& name) {
    std::optional<AgentId> net = net_in(model.module);
    if (!net) return call_value(body_, read_binding(body_, model, name), call_, span_);
    std::vector<std::string> names;
    ModelOptions options;
    for (const ast::Arg& argument : call_.args) {
      if (!argument.name || is_parameter(*net, argument.name->text)) continue;
      const std::optional<std::string> text = option_text(argument);
      if (!text) return body_.error(span_);
      names.push_back(argument.name->text);
      options.emplace_back(argument.name->text, *text);
    }
    if (!options.empty()) {
      const ModuleId again = model_with(body_.world, model.module, options, name.span);
      net = again.valid() ? net_in(again) : std::nullopt;
    }
    return net ? make_agent(body_, *net, call_, span_, names) : body_.error(span_);
  }

  // The only agent of the module.
  std::optional<AgentId> net_in(ModuleId module) {
    std::optional<AgentId> found;
    for (const std::string& name : body_.world.names(module))
      if (const std::optional<Binding> binding = body_.world.find(module, name);
          binding && binding->kind == Binding::Kind::agent) {
        if (found) return std::nullopt;
        found = binding->agent;
      }
    return found;
  }

  bool is_parameter(AgentId net, const std::string& name) const {
    return std::ranges::any_of(body_.world.info(net).decl->params,
                               [&](const ast::Param& param) { return param.name.text == name; });
  }

  // As a command line would have it.
  std::optional<std::string> option_text(const ast::Arg& argument) {
    const Term given = expression(body_, *argument.value);
    const std::optional<Value> value = body_.is_error(given) ? std::nullopt : body_.known(given.id);
    if (!value) {
      if (!body_.is_error(given))
        body_.world.diags.error(
            "E1003", argument.span,
            fmt::format("'{}' is an option of the import, and not known before the program runs", argument.name->text));
      return std::nullopt;
    }
    return value->is_string() ? value->string() : print(*value);
  }

  // ---- names of the library ----

  Term library(const ast::Name& name) {
    Record op = find_op(body_.world, name.text), builtin = find_builtin(body_.world, name.text);
    if (!op && !builtin && name.text == element_or_default) return bare_element(name);
    if (!op && !builtin) return call_value(body_, missing_name(body_, name), call_, span_);  // a constant, or an error
    if (op && builtin) return by_first_argument(op, builtin);
    if (op && of_launches(op)) return by_first_argument(op, op);
    if (builtins().named(name.text).size() > 1) return by_kind(name.text);
    return call_record(body_, op ? op : builtin, std::nullopt, call_.args, span_);
  }

  // at(v, i, d) by itself; the checker of members reads the whole.
  Term bare_element(const ast::Name& name) {
    wrong_type(body_.world.diags, name.span, "'at' takes an element of a view in a task body, and a field of that")
        .help("at(v, i, d).f: where the view has no point i it is d");
    return body_.error(span_);
  }

  const BuiltinTable& builtins() const { return body_.world.options.builtins; }

  // So do several builtins of one name.
  Term by_kind(const std::string& name) {
    if (call_.args.empty() || call_.args[0].name)
      return call_record(body_, {nullptr, by_names(name)}, std::nullopt, call_.args, span_);
    const ast::Expr& first = *call_.args[0].value;
    if (type_as_argument(body_, first, Blank::open))
      return call_record(body_, {nullptr, builtins().find(name, Kind::type)}, std::nullopt, call_.args, span_);
    if (is_untyped_function(body_, first))
      return call_record(body_, find_builtin(body_.world, name), std::nullopt, call_.args, span_);
    Term receiver = expression(body_, first);
    const Record record{nullptr, builtins().find(name, body_.type(receiver))};
    return call_record(body_, record, receiver, std::span(call_.args).subspan(1), span_);
  }

  // The one that has operands of all names which arguments go by.
  const Builtin* by_names(const std::string& name) const {
    for (const Builtin* builtin : builtins().named(name))
      if (std::ranges::all_of(call_.args, [&](const ast::Arg& argument) {
            return !argument.name || std::ranges::any_of(builtin->operands, [&](const taskspec::Operand& operand) {
              return operand.name == argument.name->text;
            });
          }))
        return builtin;
    return builtins().find(name);
  }

  // An op and a builtin of one name go by the kind of the first argument.
  Term by_first_argument(const Record& op, const Record& builtin) {
    bool positional = !call_.args.empty() && !call_.args[0].name;
    if (!positional) return call_record(body_, op, std::nullopt, call_.args, span_);
    const ast::Expr& first = *call_.args[0].value;
    bool type = type_as_argument(body_, first, Blank::open).has_value();
    if (type || is_untyped_function(body_, first)) {
      bool op_takes = !op.operands().empty() && op.operands()[0].kind == OperandKind::type;
      return call_record(body_, type == op_takes ? op : builtin, std::nullopt, call_.args, span_);
    }
    Term receiver = output_of_launch(expression(body_, first));
    const std::span<const ast::Arg> rest = std::span(call_.args).subspan(1);
    if (body_.type(receiver).is(Kind::launch_map))
      if (const Record own = of_launches(op)) return call_record(body_, own, receiver, rest, span_);
    if (const Record own = of_fields(op.name(), receiver, rest)) return call_record(body_, own, receiver, rest, span_);
    if (takes(op, receiver)) return call_record(body_, op, receiver, rest, span_);
    if (builtin.builtin && builtin.builtin->takes && !builtin.builtin->takes(body_.type(receiver)))
      return call_record(body_, op, std::nullopt, call_.args, span_);  // which says what is missing
    return call_record(body_, builtin, receiver, rest, span_);
  }

  // What goes by the name of this op where it is asked for of an output of a launch.
  Record of_launches(const Record& op) const {
    return find_builtin(body_.world, std::string(launch_word) + std::string(op.name()));
  }

  // What goes by that name for all elements of a field together; along some of its axes a tensor is made of it.
  Record of_fields(std::string_view name, const Term& receiver, std::span<const ast::Arg> args) const {
    const Type& type = body_.type(receiver);
    if (!type.is(Kind::region_field) || type.parts[0].precision == Precision::boolean) return {};
    if (!args.empty() && (args.size() > 1 || !names_all_axes(*args[0].value, type.parts[0].rank()))) return {};
    return find_builtin(body_.world, std::string(field_word) + std::string(name));
  }

  static bool names_all_axes(const ast::Expr& axes, std::size_t rank) {
    const auto* several = std::get_if<ast::TupleExpr>(&axes.node);
    const std::span<const ast::Expr> named = several ? std::span(several->parts) : std::span(&axes, 1);
    std::vector<bool> found(rank);
    for (const ast::Expr& axis : named)
      if (const auto* number = std::get_if<ast::IntLit>(&axis.node))
        if (number->value >= 0 && static_cast<std::size_t>(number->value) < rank)
          found[static_cast<std::size_t>(number->value)] = true;
    return named.size() == rank && std::ranges::all_of(found, std::identity());
  }

  // Of a launch with one output that.
  Term output_of_launch(const Term& given) {
    const Type type = body_.type(given);
    const std::optional<std::uint32_t> only = type.is(Kind::invocation) ? single_output(type) : std::nullopt;
    return only && type.parts[*only].is(Kind::launch_map) ? output_of(body_, given) : given;
  }

  bool takes(const Record& op, const Term& first) {
    Type type = body_.type(first);
    if (std::optional<std::uint32_t> only = type.is(Kind::invocation) ? single_output(type) : std::nullopt)
      type = Type(type.parts[*only]);
    // A field of a region is read where a tensor is wanted, and written where its name is.
    if (type.is(Kind::region_field)) return !op.operands().empty() && op.operands()[0].kind != OperandKind::type;
    bool number = type.is_number() || type.is(Kind::boolean);
    return type.is_tensor() || type.is(Kind::error) || (number && op.op->scalar);
  }

  // ---- methods ----

  Term method(const ast::Member& member) {
    if (std::optional<Binding> base = binding_of(body_, *member.base); base && base->kind == Binding::Kind::module) {
      std::optional<Binding> found = member_of_module(body_, *base, member.name);
      Span span = join(member.base->span, member.name.span);
      return found ? bound(*found, {member.name.text, span}) : failed();
    }
    Term base = expression(body_, *member.base);
    const Type type = body_.type(base);
    if (type.is(Kind::error)) return failed();
    if (type.is(Kind::agent)) return member_call(base, member);
    if (type.is(Kind::invocation)) return method_of_invocation(base, member);
    if (type.is(Kind::training)) return training_method(body_, base, member, call_, span_);
    if (is_mapping(type)) return method_of_own(base, member, std::string(mapping_word) + ".");
    if (type.is(Kind::launch_map)) return method_of_own(base, member, launch_word);
    return library_method(base, member);
  }

  // m.split(...), m.load(...): records whose names begin with its type come before ops and builtins of that name.
  Term method_of_own(const Term& mapping, const ast::Member& member, std::string_view prefix_word) {
    const std::string prefix(prefix_word);
    if (const Record own = find_builtin(body_.world, prefix + member.name.text))
      return call_record(body_, own, mapping, call_.args, span_);
    std::vector<std::string> names;
    for (const Builtin* builtin : builtins().all())
      if (builtin->name.starts_with(prefix)) names.emplace_back(builtin->name.substr(prefix.size()));
    no_member(body_.world.diags, member.name, body_.type(mapping).text(), "method", names);
    return failed();
  }

  Term member_call(const Term& agent, const ast::Member& member) {
    std::optional<Binding> found = member_of_agent(body_, agent, member.name);
    if (!found || found->kind != Binding::Kind::function) return failed();
    return call_function(body_, found->function, agent, call_.args, span_);
  }

  Term method_of_invocation(const Term& invocation, const ast::Member& member) {
    if (std::optional<Term> output = output_named(body_, invocation, member.name.text, member.name.span))
      return call_value(body_, *output, call_, span_);
    bool known = find_op(body_.world, member.name.text) || find_builtin(body_.world, member.name.text);
    if (known && single_output(body_.type(invocation))) return library_method(output_of(body_, invocation), member);
    Diag& diag = no_member(body_.world.diags, member.name, described_invocation(body_, invocation), "output",
                           body_.type(invocation).names);
    if (const auto known = foreign_member(body_.type(invocation), member.name.text); !known.empty())
      diag.help(std::string(known));
    return failed();
  }

  Term library_method(const Term& base, const ast::Member& member) {
    if (body_.type(base).is(Kind::launch_map)) return method_of_own(base, member, launch_word);
    if (const Record own = of_fields(member.name.text, base, call_.args))
      return call_record(body_, own, base, call_.args, span_);
    Record op = find_op(body_.world, member.name.text);
    Record builtin{nullptr, builtins().find(member.name.text, body_.type(base))};
    if (builtin && !builtin.builtin->method) builtin = {};
    if (op && builtin) return call_record(body_, takes(op, base) ? op : builtin, base, call_.args, span_);
    if (op || builtin) return call_record(body_, op ? op : builtin, base, call_.args, span_);
    if (is_value_member(member.name.text) && body_.type(base).is_tensor())
      return call_value(body_, member_value(body_, base, member.name, join(base.span, member.name.span)), call_, span_);
    const bool foreign = !foreign_member(body_.type(base), member.name.text).empty();
    if (std::string_view part = part_of_name(member.name.text); !part.empty() && !foreign) {
      not_built(body_.world.diags, member.name.span, fmt::format("'{}'", member.name.text), part);
      return failed();
    }
    unknown_method(base, member.name);
    return failed();
  }

  static bool is_value_member(std::string_view name) {
    return name == "shape" || name == "rank" || name == "precision" || name == "scalar" || name == "array" ||
           name == "iter" || name == "handle";
  }

  void unknown_method(const Term& base, const ast::Name& name) {
    std::vector<std::string> candidates;
    for (const OpDef* op : body_.world.options.ops.all()) candidates.emplace_back(op->name);
    for (const Builtin* builtin : body_.world.options.builtins.all())
      if (builtin->method) candidates.emplace_back(builtin->name);
    Diag& diag = no_member(body_.world.diags, name, body_.type(base).text(), "method", {});
    diag.help(std::string(foreign_member(body_.type(base), name.text)));
    if (std::optional<std::string> best = nearest(name.text, candidates); best && diag.help_text.empty())
      diag.help(fmt::format("did you mean '{}'?", *best));
  }

  Term failed() {
    check_arguments(body_, call_.args);
    return body_.error(span_);
  }

  Body& body_;
  const ast::Call& call_;
  Span span_;
};

}  // namespace

Term call_expression(Body& body, const ast::Call& call, Span span) { return Calls(body, call, span).run(); }

}  // namespace taskspec::checking
