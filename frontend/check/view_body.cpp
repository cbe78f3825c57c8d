#include "frontend/check/view_body.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "frontend/check/launch.hpp"
#include "ir/view_code/make_view_code.hpp"

namespace taskspec::checking {

using Kind = Type::Kind;

namespace {

std::optional<Precision> precision_of_value(const Type& type) {
  if (type.is_tensor()) return type.precision;
  if (type.is(Kind::integer)) return Precision::i64;
  if (type.is(Kind::real)) return Precision::f64;
  return type.is(Kind::boolean) ? std::optional(Precision::boolean) : std::nullopt;
}

ArrayType with_extents(const Type& type, Precision precision, std::int64_t open) {
  ArrayType made{precision, {}};
  for (const Dim& dim : type.dims) made.extents.push_back(dim.constant().value_or(open));
  return made;
}

// Some value of the type: bodies are made anew of those that are there when they run.
Value some_value(const Type& type, std::int64_t open) {
  if (type.is(Kind::integer)) return Value(std::int64_t{1});
  if (type.is(Kind::real)) return Value(1.0);
  if (type.is(Kind::boolean)) return Value(true);
  if (type.is_tensor()) return Value(Array::make(with_extents(type, type.precision, open)));
  return Value(std::string());
}

// Why it cannot be made where all extents that nobody knows yet are `open`.
std::optional<Diag> refusal(const World& world, FunctionId task, std::int64_t open) {
  const Program& program = world.program;
  ViewCodeRequest request{program, task, world.options.ops, {}, {}};
  for (const Parameter& parameter : program[task].parameters)
    if (!parameter.type.is(Kind::view))
      request.inputs.push_back(with_extents(parameter.type, *precision_of_value(parameter.type), open));
  request.global = [&](ModuleId module, VariableId variable) {
    return some_value(program[program.modules[module.index()].top_level].variables[variable.index()].type, open);
  };
  const Result<ViewCode> made = make_view_code(request);
  if (made) return std::nullopt;
  const Diag& why = made.diags().items().front();
  return why.code == Code("E1009") ? std::optional(why) : std::nullopt;
}

bool takes_what_it_can(World& world, FunctionId task) {
  for (const Parameter& parameter : world.program[task].parameters) {
    if (parameter.type.is(Kind::view) || precision_of_value(parameter.type)) continue;
    world.diags
        .error("E1009", parameter.span,
               fmt::format("'{}' of {} is {}, which is not built yet beside views", parameter.name,
                           world.described(task), parameter.type.text()))
        .help("tensors, ints, floats and bools are");
    return false;
  }
  return true;
}

}  // namespace

void check_view_body(World& world, FunctionId task) {
  const Function& function = world.program[task];
  const bool is_one = function.kind == FunctionKind::task && takes_views(function) && !function.agent.valid();
  if (!is_one || !function.extern_symbol.empty() || world.diags.has_errors()) return;
  if (!takes_what_it_can(world, task)) return;
  // A tensor of one element and one with an element for each point are two things.
  if (!refusal(world, task, 1)) return;
  if (std::optional<Diag> why = refusal(world, task, 2)) world.diags.add(*std::move(why));
}

}  // namespace taskspec::checking
