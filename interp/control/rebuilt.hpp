// The one walk over what a value is made of, for all who make another one of it: handles become contents, inputs of a
// node, or nothing.
//
//   rebuilt(value, [&](const Value& leaf) { return target.is_tensor(leaf) ? Value() : leaf; })
#pragma once
#include "interp/control/objects.hpp"

namespace taskspec {

// Lists and tuples made anew, with `leaf` of everything else in them.
template <class Leaf>
Value rebuilt_items(const Value& value, Leaf&& leaf) {
  auto all = [&](const List& items) {
    List made;
    made.reserve(items.size());
    for (const Value& item : items) made.push_back(rebuilt_items(item, leaf));
    return made;
  };
  if (value.is_list()) return value.with(all(value.list()));
  if (value.is_tuple()) return Value(Tuple{all(value.tuple().items)});
  return leaf(value);
}

// And what holds values without being a container of the language: invocations, function values, composites. An agent
// is a leaf: it is one thing, whose slots change.
template <class Leaf>
Value rebuilt(const Value& value, Leaf&& leaf) {
  auto inner = [&](const Value& part) { return rebuilt(part, leaf); };
  auto all = [&](List& parts) {
    for (Value& part : parts) part = inner(part);
  };
  auto object = [](auto copy) { return Value(std::static_pointer_cast<Object>(std::move(copy))); };
  return rebuilt_items(value, [&](const Value& item) {
    if (auto* invocation = item.as<Invocation>()) {
      auto copy = std::make_shared<Invocation>(*invocation);
      copy->label = invocation->name();  // which its first output may have known
      all(copy->outputs);
      return object(std::move(copy));
    }
    if (auto* callable = item.as<Callable>()) {
      auto copy = std::make_shared<Callable>(*callable);
      all(copy->captures);
      copy->agent = inner(copy->agent);
      return object(std::move(copy));
    }
    if (auto* composed = item.as<ComposedTask>()) {
      auto copy = std::make_shared<ComposedTask>(*composed);
      copy->first = inner(copy->first);
      copy->second = inner(copy->second);
      return object(std::move(copy));
    }
    return leaf(item);
  });
}

}  // namespace taskspec
