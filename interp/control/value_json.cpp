#include "interp/control/value_json.hpp"

#include "interp/control/objects.hpp"
#include "ir/json/text.hpp"

namespace taskspec {

namespace {

void write(JsonText& out, const Value& value);

void write_all(JsonText& out, const List& items) {
  out.open('[');
  for (const Value& item : items) {
    if (item.as<Record>()) out.line();  // a table reads row by row
    write(out, item);
  }
  out.close(']');
}

void write(JsonText& out, const Value& value) {
  if (auto* record = value.as<Record>()) {
    out.open('{');
    for (const auto& [name, field] : record->fields) write(out.key(name), field);
    out.close('}');
  } else if (value.is_list()) {
    write_all(out, value.list());
  } else if (value.is_tuple()) {
    write_all(out, value.tuple().items);
  } else if (value.is_bool()) {
    out.boolean(value.boolean());
  } else if (value.is_integer()) {
    out.number(value.integer());
  } else if (value.is_real()) {
    out.real(value.real());
  } else if (value.is_none()) {
    out.null();
  } else {
    out.string(print(value));
  }
}

}  // namespace

std::string value_json(const Value& value) {
  JsonText out;
  write(out, value);
  return out.take();
}

}  // namespace taskspec
