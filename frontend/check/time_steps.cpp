#include "frontend/check/time_steps.hpp"

#include <fmt/format.h>

#include "frontend/check/convert.hpp"
#include "frontend/check/record_call.hpp"

namespace taskspec::checking {

using Kind = Type::Kind;

namespace {

Type with_steps(const Type& type, const Dim& steps) {
  Type all = type;
  all.dims.insert(all.dims.begin(), steps);
  return all;
}

// The value's first axis has an extent for each step; what is known only by then is a guard.
bool goes_along_steps(Body& body, Match& match, const Term& value, const Type& wanted, const Expected& expected) {
  const Dim& steps = body.time_steps->count;
  const Type given = body.type(value);
  const Same is_same = same(steps, given.dims[0]);
  if (is_same == Same::yes) return true;
  if (is_same == Same::open && match.guard(steps, given.dims[0], value, 0)) return true;
  const std::string all = with_steps(wanted, steps).text();
  Diag& diag =
      is_same == Same::no
          ? body.world.diags.error(
                "E2001", value.span,
                fmt::format("shapes differ: {} is {} in each of {} time steps, {} in all, this is {}; dimension 0 is "
                            "{} against {}",
                            expected.what, wanted.text(), steps.text(), all, given.text(), steps.text(),
                            given.dims[0].text()))
          : body.world.diags.error(
                "E1004", value.span,
                fmt::format("{} is {} in all time steps, this is {}, and whether they agree is not known before the "
                            "run",
                            expected.what, all, given.text()));
  if (is_same == Same::open) diag.help(fmt::format("fix its shape first: x as {}", all));
  diag.at(given.text());
  if (expected.declared.valid()) diag.label(expected.declared, "declared here");
  return false;
}

}  // namespace

Term slice_of_step(Body& body, Match& match, std::span<const ast::Arg> args, const Term& value, const Type& wanted,
                   const Expected& expected) {
  if (!body.time_steps || args.empty() || body.time_steps->arguments != args.data() || !wanted.is_tensor())
    return value;
  const Term tensor = output_of(body, value);
  const Type given = body.type(tensor);
  if (!given.is_tensor() || given.rank() != wanted.rank() + 1) return value;
  if (!goes_along_steps(body, match, tensor, wanted, expected)) return body.error(value.span);
  const Term step = body.make(Form::time_step, Type::tensor(Precision::i64, {}), value.span, {});
  const Term axis = body.constant(Value(std::int64_t{0}), Kind::integer, value.span);
  return served_call(body, Serves::picks, {tensor, step, axis}, value.span);
}

Type stacked(const Type& outputs, const Dim& steps) {
  Type all(Kind::invocation);
  all.names = outputs.names;
  for (const Type& output : outputs.parts) all.parts.push_back(with_steps(output, steps));
  return all;
}

}  // namespace taskspec::checking
