#include "interp/control/value_key.hpp"

#include <cstring>

#include "interp/control/block_task.hpp"
#include "interp/control/capture.hpp"
#include "ir/graph/launch.hpp"
#include "ir/records/console.hpp"

namespace taskspec {

namespace {

template <class T>
void put_bits(std::string& key, T number) {
  char bits[sizeof number];
  std::memcpy(bits, &number, sizeof number);
  key.append(bits, sizeof number);
}

void put_list(std::string& key, const List& values) {
  put_number(key, values.size());
  for (const Value& value : values) put_value(key, value);
}

void put_object(std::string& key, const Value& value) {
  if (auto* launch = value.as<Launch>()) {
    key += 'l';
    put_text(key, launch->key());
  } else if (auto* slot = value.as<InputSlot>()) {
    key += 'i';
    put_number(key, slot->position);
  } else if (auto* callable = value.as<Callable>()) {
    key += 'c';
    put_number(key, callable->function.value);
    put_list(key, callable->captures);
    put_value(key, callable->agent);
  } else if (auto* composed = value.as<ComposedTask>()) {  // the two sides tell how they are wired
    key += '>';
    put_value(key, composed->first);
    put_value(key, composed->second);
  } else if (auto* agent = value.as<Agent>()) {
    key += 'a';
    put_number(key, agent->definition.value);
    put_list(key, agent->arguments);
    put_list(key, agent->slots);
  } else if (auto* invocation = value.as<Invocation>()) {
    key += 'v';
    put_list(key, invocation->outputs);
  } else if (auto* record = value.as<Record>()) {
    key += 'r';
    put_number(key, record->fields.size());
    for (const auto& [name, field] : record->fields) {
      put_value(key, Value(name));
      put_value(key, field);
    }
  } else if (auto* blocks = value.as<BlockTask>()) {  // what it is says its address: the node keeps it
    key += 'b';
    put_bits(key, blocks);
  } else if (value.as<Console>()) {  // a session has one
    key += 'o';
  } else {
    bug("an object of the host in the arguments of a node: " + print(value));
  }
}

}  // namespace

void put_value(std::string& key, const Value& value) {
  key += static_cast<char>('A' + static_cast<int>(value.kind()));
  if (value.is_none()) return;
  if (value.is_bool()) return put_number(key, value.boolean());
  if (value.is_integer()) return put_bits(key, value.integer());
  if (value.is_real()) return put_bits(key, value.real());
  if (value.is_list()) return put_list(key, value.list());
  if (value.is_tuple()) return put_list(key, value.tuple().items);
  if (value.is_object()) return put_object(key, value);
  if (value.is_array()) put_text(key, value.array().type().text());
  put_text(key, value.is_string() ? value.string() : print(value));
}

}  // namespace taskspec
