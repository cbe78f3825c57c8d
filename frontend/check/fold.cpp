#include "frontend/check/fold.hpp"

namespace taskspec::checking {

namespace {

// Lists are left to the run, and so are long strings: folding `l = l + [x]` again and again would copy the list
// into each of its versions.
bool is_worth_keeping(const Value& value) {
  constexpr std::size_t longest = 256;
  bool scalar = value.is_number() || value.is_bool() || value.is_range();
  return scalar || (value.is_string() && value.string().size() <= longest);
}

bool may_fold(Body& body, const Record& record, const std::vector<RuleOperand>& operands, const Type& type) {
  bool host = type.is_number() || type.is(Type::Kind::boolean) || type.is(Type::Kind::string);
  if (!record.op || !record.op->scalar || !host) return false;
  for (const RuleOperand& given : operands) {
    if (!given.term.valid()) continue;
    Form form = body[given.term.id].form;
    bool constant = (form == Form::constant || form == Form::type) && body.known(given.term.id);
    if (!constant) return false;
  }
  return true;
}

}  // namespace

std::optional<Term> fold(Body& body, const Record& record, const std::vector<RuleOperand>& operands, const Type& type,
                         Span span) {
  if (!may_fold(body, record, operands, type)) return std::nullopt;
  List values;
  for (const RuleOperand& given : operands) values.push_back(given.term.valid() ? *body.known(given.term.id) : Value());
  Value result;
  try {
    result = record.op->scalar(values);
    if (type.is(Type::Kind::real) && result.is_integer()) result = Value(result.real());  // sum of no floats
  } catch (const Error& error) {
    body.world.report(error, span);
    return body.error(span);
  }
  if (!is_worth_keeping(result)) return std::nullopt;
  for (auto given = operands.rbegin(); given != operands.rend(); ++given)
    if (given->term.valid()) body.take_back(given->term);
  return body.constant(std::move(result), type, span);
}

std::optional<List> constant_parts(Body& body, const std::vector<Term>& parts) {
  List values;
  for (const Term& part : parts) {
    if (body[part.id].form != Form::constant || body.is_error(part)) return std::nullopt;
    values.push_back(body[part.id].value);
  }
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) body.take_back(*part);
  return values;
}

}  // namespace taskspec::checking
