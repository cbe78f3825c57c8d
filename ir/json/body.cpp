#include "ir/json/body.hpp"

#include <array>

#include "ir/graph/op_list.hpp"
#include "ir/json/blocks.hpp"
#include "ir/json/recorded.hpp"

namespace taskspec {

namespace {

constexpr std::array<std::string_view, 4> function_kind_names{"fn", "task", "graph", "module"};
constexpr std::array<std::string_view, 12> operand_kind_names{"tensor", "[tensor]", "int",   "float", "bool", "string",
                                                              "axes",   "pair",     "value", "type",  "fn"};

template <class Names, class Enum>
std::string_view name_in(const Names& names, Enum value) {
  return names[static_cast<std::size_t>(value)];
}

class FunctionWriter {
 public:
  FunctionWriter(JsonText& out, const Program& program, const Defs& defs, FunctionId id)
      : out_(out), program_(program), defs_(defs), function_(program[id]), id_(id), numbers_(defs.numbers(id)) {}

  void put() {
    bool module = function_.kind == FunctionKind::module;
    out_.member("kind", function_kind_name(function_.kind));
    out_.member("name", module ? program_.modules[function_.module.index()].name : program_.display_name(id_));
    if (function_.agent.valid()) out_.member("agent", static_cast<std::int64_t>(defs_.of(function_.agent)));
    parameters();
    outputs();
    if (function_.kind == FunctionKind::fn) out_.member("result", text(function_.result));
    if (!defs_.canonical()) effects();  // they follow from the rest, once the whole program is checked
    symbols();
    variables();
    if (!function_.extern_symbol.empty()) out_.member("extern", function_.extern_symbol);
    if (function_.extern_local) out_.key("local").boolean(true);
    out_.key("body");
    calls(function_.body);
  }

 private:
  std::string text(const Type& type) const { return defs_.text(type, id_); }
  void put_id(const char* key, std::size_t id) { out_.member(key, static_cast<std::int64_t>(id)); }

  void put_call(CallId id) {
    std::uint32_t number = id.index() < numbers_.calls.size() ? numbers_.calls[id.index()] : UINT32_MAX;
    if (number == UINT32_MAX)
      out_.null();
    else
      out_.number(number);
  }

  // ---- signature ----

  void parameters() {
    out_.key("params").open('[');
    for (const Parameter& parameter : function_.parameters) {
      out_.open('{').member("name", parameter.name).member("type", text(parameter.type));
      out_.member("priv", privilege_name(parameter.privilege));
      if (parameter.privilege == Privilege::reduce)
        out_.member("reduce", reduce_words[static_cast<std::size_t>(parameter.reduce)]);
      if (parameter.role != Role::declared) out_.member("role", role_name(parameter.role));
      if (parameter.variable.valid()) put_id("variable", numbers_.variables[parameter.variable.index()]);
      if (parameter.default_value.valid()) {
        out_.key("default").open('{').key("body");
        calls(parameter.default_block);
        out_.key("result");
        put_call(parameter.default_value);
        out_.close('}');
      }
      out_.close('}');
    }
    out_.close(']');
  }

  void outputs() {
    out_.key("outputs").open('[');
    for (const Output& output : function_.outputs) {
      out_.open('{').member("name", output.name).member("type", text(output.type));
      put_id("variable", numbers_.variables[output.variable.index()]);
      out_.close('}');
    }
    out_.close(']');
  }

  void effects() {
    out_.key("effects").open('[');
    if (function_.effects.host) out_.string("host");
    if (function_.effects.graph) out_.string("graph");
    out_.close(']');
  }

  void symbols() {
    out_.key("symbols").open('[');
    for (const auto& [id, symbol] : numbers_.symbols.symbols()) {
      const std::string& written = numbers_.symbols.written(id);
      out_.open('{').member("name", symbol->name);
      if (written != symbol->name) out_.member("as", written);
      put_id("rank", defs_.rank(id));
      if (symbol->host) {
        out_.key("call");
        put_call(CallId(symbol->call));
      }
      out_.close('}');
    }
    out_.close(']');
    if (function_.dimensions.empty()) return;
    out_.key("dimensions").open('[');
    for (const Symbol& symbol : function_.dimensions) out_.string(numbers_.symbols.written(symbol->id));
    out_.close(']');
  }

  void variables() {
    out_.key("variables").open('[');
    for (VariableId id : numbers_.variable_order) {
      const Variable& variable = function_.variables[id.index()];
      out_.open('{').member("name", variable.name).member("type", text(variable.type));
      if (variable.is_mutable) out_.key("mutable").boolean(true);
      out_.close('}');
    }
    out_.close(']');
  }

  // ---- calls ----

  void calls(const Block& block) {
    out_.open('[');
    for (CallId id : block.calls) call(id);
    out_.close(']');
  }

  void call(CallId id) {
    const Call& call = function_[id];
    out_.open('{').key("id");
    put_call(id);
    out_.member("op", call.op ? call.op->name : call.form->word).key("in").open('[');
    for (CallId in : call.in) put_call(in);
    out_.close(']').key("attrs").open('{');
    attributes(call);
    out_.close('}').member("type", text(call.type));
    if (!call.blocks.empty()) blocks(call);
    out_.close('}');
  }

  void blocks(const Call& call) {
    out_.key("blocks").open('[');
    for (const Block& block : call.blocks) {
      out_.open('{').key("body");
      calls(block);
      if (block.result.valid()) {
        out_.key("result");
        put_call(block.result);
      }
      out_.close('}');
    }
    out_.close(']');
  }

  void attributes(const Call& call) {
    payload(call);
    if (call.folded) out_.key("folded").boolean(true);
    guards(call);
    places(call);
  }

  void payload(const Call& call) {
    switch (call.form->payload) {
      case Payload::value:
        out_.key("value");
        return put_value(out_, call.value, call.type, [this](const Type& type) { return text(type); });
      case Payload::symbol:
        return static_cast<void>(out_.member("symbol", numbers_.symbols.written(call.symbol->id)));
      case Payload::global:
        return global(call);
      case Payload::variable:
        return put_id("variable", numbers_.variables[call.variable.index()]);
      case Payload::builtin:
        return static_cast<void>(out_.member("builtin", call.builtin->name));
      case Payload::callee:
        return put_id("def", defs_.of(call.callee));
      case Payload::agent:
        return put_id("def", defs_.of(call.agent));
      case Payload::parameter:
      case Payload::part:
      case Payload::receive:
      case Payload::output:
        return put_id("index", call.index);
      case Payload::field:
        out_.member("name", call.name);
        return index(call);
      case Payload::none:
        return index(call);
      case Payload::type:
        if (!call.name.empty()) out_.member("name", call.name);
        return;
      case Payload::op:       // is what the call is named by
      case Payload::channel:  // of parts, which are not written
        return;
    }
  }

  // The reduction of a contribution, the axes of a launch.
  void index(const Call& call) {
    if (call.index != 0) put_id("index", call.index);
  }

  void global(const Call& call) {
    FunctionId top = program_.modules[call.module.index()].top_level;
    put_id("module", defs_.of(top));
    if (defs_.of_library())  // whose module may be another file
      out_.member("variable", program_[top].variables[call.variable.index()].name);
    else
      put_id("variable", defs_.numbers(top).variables[call.variable.index()]);
  }

  void guards(const Call& call) {
    if (call.guards.empty()) return;
    out_.key("guards").open('[');
    for (const Guard& guard : call.guards)
      out_.open('{')
          .member("left", defs_.text(guard.left, id_))
          .member("right", defs_.text(guard.right, id_))
          .member("what", guard.what)
          .close('}');
    out_.close(']');
  }

  void places(const Call& call) {
    if (call.places.empty()) return;
    out_.key("places").open('[');
    for (const Place& place : call.places) {
      out_.open('{');
      put_id("operand", place.operand);
      put_id("variable", numbers_.variables[place.variable.index()]);
      out_.close('}');
    }
    out_.close(']');
  }

  JsonText& out_;
  const Program& program_;
  const Defs& defs_;
  const Function& function_;
  FunctionId id_;
  const FunctionNumbers& numbers_;
};

void put_op(JsonText& out, const OpDef& op) {
  out.member("kind", "op").member("name", op.name).key("params").open('[');
  for (const Operand& operand : op.operands)
    out.open('{')
        .member("name", operand.name)
        .member("type", name_in(operand_kind_names, operand.kind))
        .member("priv", privilege_name(operand.privilege))
        .close('}');
  out.close(']').key("outputs").open('[');
  constexpr std::string_view one[] = {"value"};
  for (std::string_view name : op.outputs.empty() ? std::span(one) : op.outputs)
    out.open('{').member("name", name).member("type", "tensor").close('}');
  out.close(']');
}

void put_native(JsonText& out, const Defs& defs, const Definition& definition) {
  if (definition.list || definition.embedded) return put_recorded(out, defs, definition);
  out.member("kind", "task").member("name", definition.title()).key("params").open('[');
  for (const std::string& name : definition.inputs)
    out.open('{').member("name", name).member("type", "tensor").member("priv", "in").close('}');
  out.close(']').key("outputs").open('[');
  for (const std::string& name : definition.outputs)
    out.open('{').member("name", name).member("type", "tensor").close('}');
  out.close(']');
  out.member("extern", definition.name);
}

void put_agent(JsonText& out, const Program& program, const Defs& defs, AgentId id) {
  const AgentDef& agent = program[id];
  SymbolNames none;
  auto agent_number = [&](AgentId other) { return defs.of(other); };
  auto fields_number = [&](FieldsId fields) { return defs.of(fields); };
  out.member("kind", "agent").member("name", agent.name).key("params").open('[');
  for (const Parameter& parameter : agent.parameters)
    out.open('{')
        .member("name", parameter.name)
        .member("type", type_text(parameter.type, none, {agent_number, fields_number}))
        .member("priv", "in")
        .close('}');
  out.close(']').key("slots").open('[');
  for (const Slot& slot : agent.slots) {
    out.open('{').member("name", slot.name).member("kind", slot_kind_name(slot.kind));
    out.member("type", slot.initial.valid() ? defs.text(slot.type, slot.initial) : slot.type.text());
    if (slot.initial.valid()) out.member("initial", static_cast<std::int64_t>(defs.of(slot.initial)));
    out.close('}');
  }
  out.close(']');
}

void put_fields(JsonText& out, const FieldsTable& table) {
  out.member("kind", "fields").member("name", table.name).key("fields").open('[');
  for (const FieldsTable::Field& field : table.fields)
    out.open('{').member("name", field.name).member("type", info(field.precision).name).close('}');
  out.close(']');
}

}  // namespace

std::string_view privilege_name(Privilege privilege) { return name_in(privilege_names, privilege); }
std::string_view role_name(Role role) { return name_in(role_names, role); }
std::string_view slot_kind_name(SlotKind kind) { return name_in(slot_kind_words, kind); }
std::string_view function_kind_name(FunctionKind kind) { return name_in(function_kind_names, kind); }

void put_def(JsonText& out, const Program& program, const TaskGraph& graph, const Defs& defs, std::size_t id) {
  out.line().open('{').member("id", static_cast<std::int64_t>(id));
  put_def_members(out, program, graph, defs, id);
  out.close('}');
}

void put_def_members(JsonText& out, const Program& program, const TaskGraph& graph, const Defs& defs, std::size_t id) {
  const Def& def = defs.all()[id];
  switch (def.kind) {
    case Def::Kind::op:
      put_op(out, *def.op);
      break;
    case Def::Kind::native:
      put_native(out, defs, graph.definitions()[def.native.index()]);
      break;
    case Def::Kind::function:
      FunctionWriter(out, program, defs, def.function).put();
      break;
    case Def::Kind::agent:
      put_agent(out, program, defs, def.agent);
      break;
    case Def::Kind::fields:
      put_fields(out, program[def.fields]);
      break;
  }
}

// ---- values ---------------------------------------------------------------------------------------

void put_data(JsonText& out, const Array& array) {
  bool has_wide = false;  // numbers that are none of JSON as it is read here
  for (std::int64_t i = 0; array.precision() == Precision::u64 && i < array.elements(); ++i)
    has_wide = has_wide || array.integer(i) < 0;
  if (array.elements() > longest_list || has_wide) {
    out.member("base64", base64({reinterpret_cast<const char*>(array.raw()), array.bytes()}));
    return;
  }
  out.key("data").open('[');
  for (std::int64_t i = 0; i < array.elements(); ++i) {
    if (array.precision() == Precision::boolean)
      out.boolean(array.integer(i) != 0);
    else if (is_float(array.precision()))
      out.real(array.number(i));
    else
      out.number(array.integer(i));
  }
  out.close(']');
}

void put_value(JsonText& out, const Value& value, const Type& type, FunctionRef<std::string(const Type&)> text) {
  bool is_real = type.is(Type::Kind::real);
  if (value.is_none()) {
    out.null();
  } else if (value.is_bool()) {
    out.boolean(value.boolean());
  } else if (value.is_integer()) {
    if (is_real)
      out.open('{').member("int", value.integer()).close('}');
    else
      out.number(value.integer());
  } else if (value.is_real()) {
    if (is_real)
      out.real(value.real());
    else
      out.open('{').key("float").real(value.real()).close('}');
  } else if (value.is_string()) {
    if (value.is_name())
      out.open('{').member("name", value.string()).close('}');
    else
      out.string(value.string());
  } else if (value.is_list()) {
    Type element = type.is(Type::Kind::list) ? type.parts[0] : Type();
    out.open('[');
    for (const Value& item : value.list()) put_value(out, item, element, text);
    out.close(']');
  } else if (value.is_tuple()) {
    const List& items = value.tuple().items;
    bool typed = type.is(Type::Kind::tuple) && type.parts.size() == items.size();
    out.open('{').key("tuple").open('[');
    for (std::size_t i = 0; i < items.size(); ++i) put_value(out, items[i], typed ? type.parts[i] : Type(), text);
    out.close(']').close('}');
  } else if (value.is_range()) {
    out.open('{').key("range").open('[').number(value.range().begin).number(value.range().end).close(']').close('}');
  } else if (value.is_type()) {
    out.open('{').member("type", text(value.type())).close('}');
  } else if (value.is_array()) {
    out.open('{').member("array", value.array().type().text());
    put_data(out, value.array());
    out.close('}');
  } else if (auto* blocks = value.as<BlockGraphValue>()) {
    out.open('{').key("blocks");
    put_block_graph(out, *blocks->graph);
    out.close('}');
  } else {
    out.open('{').member("text", print(value)).close('}');
  }
}

}  // namespace taskspec
