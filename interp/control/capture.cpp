#include "interp/control/capture.hpp"

#include <algorithm>

namespace taskspec {

Value replace_tensors(const Value& value, const std::function<bool(const Value&)>& is_tensor,
                      const std::function<Value(const Value&)>& replace, Span span) {
  auto inner = [&](const Value& v) { return replace_tensors(v, is_tensor, replace, span); };
  if (is_tensor(value)) return replace(value);
  if (value.is_list()) {
    List items;
    for (const Value& item : value.list()) items.push_back(inner(item));
    return Value(std::move(items));
  }
  if (value.is_tuple()) {
    Tuple items;
    for (const Value& item : value.tuple().items) items.items.push_back(inner(item));
    return Value(std::move(items));
  }
  if (auto* invocation = value.as<Invocation>()) {
    auto copy = std::make_shared<Invocation>(*invocation);
    for (Value& output : copy->outputs) output = inner(output);
    return Value(std::static_pointer_cast<Object>(copy));
  }
  if (auto* agent = value.as<Agent>(); agent && !agent->slots.empty())
    throw failure("E1009", span, "an agent with slots inside a loop, branch or fn of a graph is not built yet");
  return value;
}

std::vector<Value> capture_frame(const Frame& frame, const FreeUse& use, const std::function<Value(const Value&)>& capture) {
  std::vector<Value> arguments;
  for (CallId id : use.values) arguments.push_back(capture(frame.values[id.index()]));
  for (VariableId id : use.read) arguments.push_back(capture(frame.variables[id.index()]));
  for (std::uint32_t k : use.parameters) arguments.push_back(capture(frame.arguments[k]));
  std::vector<std::pair<std::uint32_t, Dim>> known(frame.dimensions.begin(), frame.dimensions.end());
  std::sort(known.begin(), known.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  List extents;
  for (const auto& [symbol, dim] : known)
    if (dim.is_constant())
      extents.push_back(Value(Tuple{{Value(static_cast<std::int64_t>(symbol)), Value(*dim.constant())}}));
  arguments.push_back(Value(std::move(extents)));
  arguments.push_back(capture(frame.self));
  return arguments;
}

void restore_frame(Frame& frame, const FreeUse& use, const std::vector<Value>& arguments,
                   const std::function<Value(const Value&)>& restore) {
  std::size_t next = 0;
  for (CallId id : use.values) frame[id] = restore(arguments[next++]);
  for (VariableId id : use.read) frame[id] = restore(arguments[next++]);
  frame.arguments.resize(frame.function.parameters.size());
  for (std::uint32_t k : use.parameters) frame.arguments[k] = restore(arguments[next++]);
  for (const Value& entry : arguments[next++].list())
    frame.dimensions.emplace(static_cast<std::uint32_t>(entry.tuple().items[0].integer()),
                             Dim(entry.tuple().items[1].integer()));
  frame.self = restore(arguments[next]);
  frame.in_graph = true;
}

}  // namespace taskspec
