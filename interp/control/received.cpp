#include "interp/control/received.hpp"

namespace taskspec {

namespace {

Value lists_of(const Array& array, Span span) {
  try {
    return nested_lists(array);
  } catch (const Error& error) {  // more than the memory holds
    Diag diag = error.diags().items().front();
    diag.primary.span = span;
    throw Error(std::move(diag));
  }
}

}  // namespace

Value received(Target& target, const Value& value, Receive kind, Span span) {
  if (!target.is_tensor(value) || kind == Receive::handle) return value;
  Array array = target.receive(value, span);
  if (kind != Receive::scalar) return lists_of(array, span);
  if (array.elements() != 1) throw failure("E5004", span, ".scalar wants one element; this is " + array.type().text());
  if (array.precision() == Precision::boolean) return Value(array.integer(0) != 0);
  return is_float(array.precision()) ? Value(array.number(0)) : Value(array.host_integer(0));
}

}  // namespace taskspec
