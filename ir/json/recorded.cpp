#include "ir/json/recorded.hpp"

#include <algorithm>

#include "ir/graph/embedded_task.hpp"
#include "ir/graph/op_list.hpp"
#include "ir/json/body.hpp"
#include "ir/json/json.hpp"

namespace taskspec {

namespace {

// Values of a list are numbers: inputs first, then constants, then what lines make.
void put_values(JsonText& out, const char* key, const std::vector<ValueId>& ids) {
  out.key(key).open('[');
  for (ValueId id : ids) out.number(id.value);
  out.close(']');
}

// What the host gives an op: a value, or a number that it makes of inputs when the task runs.
void put_given(JsonText& out, const Value& value) {
  auto* number = value.as<GraphScalar>();
  if (!number) return put_value(out, value, Type(), [](const Type& type) { return type.text(); });
  out.open('{');
  if (number->input != UINT32_MAX) {
    out.member("input", static_cast<std::int64_t>(number->input)).member("name", number->written);
  } else {
    if (number->op) out.member("op", number->op->name);
    out.key("of").open('[');
    for (const Value& operand : number->operands) put_given(out, operand);
    out.close(']');
  }
  out.member("type", number->type.text()).close('}');
}

void put_constants(JsonText& out, const OpList& list) {
  out.key("constants").open('[');
  for (std::size_t i = 0; i < list.constants.size(); ++i) {
    const Value& constant = list.constants[i];
    out.line().open('{').member("type", list.types[list.inputs.size() + i].text());
    if (constant.is_array())
      put_data(out, constant.array());
    else
      put_given(out.key("value"), constant);
    out.close('}');
  }
  out.close(']');
}

void put_lines(JsonText& out, const OpList& list) {
  out.key("ops").open('[');
  for (const OpList::Line& line : list.lines) {
    out.line().open('{').member("op", line.op->name);
    put_values(out, "in", line.in);
    put_values(out, "out", line.out);
    out.key("attrs").open('[');
    for (const Value& attribute : line.attributes) put_given(out, attribute);
    out.close(']').key("types").open('[');
    for (ValueId id : line.out) out.string(list.type(id).text());
    out.close(']').close('}');
  }
  out.close(']');
}

void put_list(JsonText& out, const OpList& list) {
  out.key("params").open('[');
  for (std::size_t i = 0; i < list.inputs.size(); ++i) {
    const OpList::Input& input = list.inputs[i];
    out.open('{').member("name", input.name).member("type", list.types[i].text());
    out.member("priv", privilege_name(input.privilege));
    if (input.slot) out.member("slot", slot_kind_name(*input.slot));
    out.close('}');
  }
  out.close(']').key("outputs").open('[');
  std::vector<ValueId> results;
  for (const OpList::Output& output : list.outputs) {
    out.open('{').member("name", output.name).member("type", list.type(output.value).text());
    if (output.version) out.key("version").boolean(true);
    out.close('}');
    results.push_back(output.value);
  }
  out.close(']');
  put_constants(out, list);
  put_lines(out, list);
  put_values(out, "results", results);
}

// What runs stands in the definition of the function; its reverse follows from that.
void put_embedded(JsonText& out, const Defs& defs, const EmbeddedTask& task) {
  const Definition& inner = task.graph->definition(task.node);
  out.key("params").open('[');
  for (const std::string& name : task.inputs)
    out.open('{').member("name", name).member("type", "tensor").member("priv", "in").close('}');
  out.close(']').key("outputs").open('[');
  for (std::size_t i = 0; i < task.outputs.size(); ++i)
    out.open('{').member("name", task.outputs[i]).member("type", task.types[i].text()).close('}');
  out.close(']').key("embedded").open('{').member("def", static_cast<std::int64_t>(defs.of(inner.function)));
  if (inner.call.valid())
    out.member("call", static_cast<std::int64_t>(defs.numbers(inner.function).calls[inner.call.index()]));
  if (task.reverse) out.key("backward").boolean(true);
  out.close('}');
}

}  // namespace

void put_recorded(JsonText& out, const Defs& defs, const Definition& definition) {
  out.member("kind", "task").member("name", definition.title());
  if (!definition.suffix.empty()) out.member("suffix", definition.suffix);
  if (definition.pass != TrainingPass::none) out.member("pass", text(definition.pass));
  if (definition.list)
    put_list(out, *definition.list);
  else
    put_embedded(out, defs, *definition.embedded);
}

std::vector<FunctionId> embedded_functions(const TaskGraph& graph) {
  std::vector<FunctionId> functions;
  for (const Definition& definition : graph.definitions())
    if (const EmbeddedTask* task = definition.embedded.get())
      functions.push_back(task->graph->definition(task->node).function);
  return functions;
}

std::vector<Span> line_spans(const Definition& definition) {
  std::vector<Span> spans;
  if (definition.list)
    for (const OpList::Line& line : definition.list->lines) spans.push_back(line.span);
  return spans;
}

bool is_self_contained(const TaskGraph& graph) {
  return graph.size() > 0 && std::ranges::all_of(graph.definitions(), [](const Definition& definition) {
           return definition.list || definition.embedded;
         });
}

}  // namespace taskspec
