#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "ir/json/blocks.hpp"
#include "ir/json/body.hpp"
#include "ir/json/read.hpp"

namespace taskspec {

using Kind = Type::Kind;

namespace {

// `local` stands in files of earlier versions; it belongs to values.
constexpr std::array<std::string_view, 3> effect_names{"host", "graph", "local"};

class FunctionReader {
 public:
  FunctionReader(ImportContext& context, const Item& def, FunctionId id)
      : context_(context), def_(def), id_(id), function_(context.program[id]) {
    names_.symbol = [this](std::string_view written) -> std::optional<Symbol> {
      auto found = symbols_.find(written);
      return found == symbols_.end() ? std::nullopt : std::optional(found->second);
    };
    names_.agent = [this](std::size_t def) -> std::optional<AgentId> {
      const std::vector<AgentId>& agents = context_.ids.agents;
      return def < agents.size() && agents[def].valid() ? std::optional(agents[def]) : std::nullopt;
    };
    names_.fields = [this](std::size_t def) -> std::optional<TypeNames::Table> {
      const std::vector<FieldsId>& tables = context_.ids.fields;
      if (def >= tables.size() || !tables[def].valid()) return std::nullopt;
      return TypeNames::Table{tables[def], &context_.program[tables[def]]};
    };
  }

  void read() {
    name();
    symbols();
    variables();
    parameters();
    outputs();
    if (auto result = def_.find("result")) function_.result = type(*result);
    effects();
    if (auto symbol = def_.find("extern")) function_.extern_symbol = symbol->text();
    if (auto local = def_.find("local")) function_.extern_local = local->boolean();
    function_.body = calls(def_["body"]);
    for (const Item& item : unmade_) item.id(function_.calls.size(), "call");
    for (const Item& item : extents_)
      if (!function_.calls[item.id(function_.calls.size(), "call")].type.is(Kind::integer))
        item.fail("an extent is an int");
  }

  const TypeNames& names() const { return names_; }

 private:
  Type type(const Item& item) const {
    if (std::optional<Type> type = parse_type(item.text(), names_)) return *type;
    item.fail(fmt::format("'{}' is no type", item.text().substr(0, 60)));
  }
  Dim dim(const Item& item) const {
    if (std::optional<Dim> dim = parse_dim(item.text(), names_)) return *dim;
    item.fail(fmt::format("'{}' is no extent", item.text().substr(0, 60)));
  }
  VariableId variable(const Item& item) const { return VariableId(item.id(function_.variables.size(), "variable")); }

  // ---- signature ----

  void name() {
    function_.name = function_.kind == FunctionKind::module ? "<module>" : def_["name"].text();
    auto agent = def_.find("agent");
    if (!agent) return;
    function_.agent = context_.ids.agent(*agent);
    std::string prefix = context_.program[function_.agent].name;
    if (function_.name == prefix) return function_.name.clear();  // the task of an `ir` declaration
    prefix += ".";
    if (!function_.name.starts_with(prefix))
      def_["name"].fail(fmt::format("a member of this agent begins with '{}'", prefix));
    function_.name.erase(0, prefix.size());
  }

  void symbols() {
    Item list = def_["symbols"];
    for (std::size_t i = 0; i < list.size(); ++i) {
      Item item = list[i];
      auto as = item.find("as");
      auto call = item.find("call");
      auto rank = static_cast<std::uint32_t>(item["rank"].id(context_.symbols, "symbol"));
      SymbolInfo info{item["name"].text(), context_.first_symbol + rank, false, UINT32_MAX};
      info.host = call.has_value();
      if (call && !call->is_null()) {
        info.call = static_cast<std::uint32_t>(call->id(INT32_MAX, "call"));
        extents_.push_back(*call);
      }
      context_.program.symbols = std::max(context_.program.symbols, info.id + 1);
      std::string written = as ? as->text() : info.name;
      symbols_[written] = std::make_shared<const SymbolInfo>(std::move(info));
    }
    if (auto dimensions = def_.find("dimensions"))
      for (std::size_t i = 0; i < dimensions->size(); ++i) function_.dimensions.push_back(symbol((*dimensions)[i]));
    // The rest, which no call and no argument says, is nobody's: the `_` of a list of tensors of any extent.
    for (const auto& [written, symbol] : symbols_)
      if (symbol->host || std::ranges::find(function_.dimensions, symbol) != function_.dimensions.end())
        context_.owners.emplace_back(symbol->id, id_);
  }

  Symbol symbol(const Item& item) const {
    if (std::optional<Symbol> found = names_.symbol(item.text())) return *found;
    item.fail("no such symbol");
  }

  void variables() {
    Item list = def_["variables"];
    for (std::size_t i = 0; i < list.size(); ++i) {
      auto is_mutable = list[i].find("mutable");
      function_.variables.push_back(
          {list[i]["name"].text(), type(list[i]["type"]), is_mutable && is_mutable->boolean(), {}});
    }
  }

  void parameters() {
    Item list = def_["params"];
    for (std::size_t i = 0; i < list.size(); ++i) {
      Item item = list[i];
      Parameter parameter;
      parameter.name = item["name"].text();
      parameter.type = type(item["type"]);
      parameter.privilege = static_cast<Privilege>(item["priv"].one_of(privilege_names));
      if (parameter.privilege == Privilege::reduce)
        parameter.reduce = static_cast<ReduceOp>(item["reduce"].one_of(reduce_words));
      if (auto role = item.find("role")) parameter.role = static_cast<Role>(role->one_of(role_names));
      if (auto place = item.find("variable")) parameter.variable = variable(*place);
      if (auto standard = item.find("default")) {
        parameter.default_block = calls((*standard)["body"]);
        parameter.default_value = CallId((*standard)["result"].id(function_.calls.size(), "call"));
      }
      function_.parameters.push_back(std::move(parameter));
    }
  }

  void outputs() {
    Item list = def_["outputs"];
    for (std::size_t i = 0; i < list.size(); ++i)
      function_.outputs.push_back({list[i]["name"].text(), type(list[i]["type"]), variable(list[i]["variable"]), {}});
  }

  void effects() {
    Item list = def_["effects"];
    for (std::size_t i = 0; i < list.size(); ++i) {
      std::size_t effect = list[i].one_of(effect_names);
      if (effect < 2) (effect == 0 ? function_.effects.host : function_.effects.graph) = true;
    }
  }

  // ---- calls ----

  Block calls(const Item& list) {
    Block block;
    for (std::size_t i = 0; i < list.size(); ++i) block.calls.push_back(call(list[i]));
    return block;
  }

  // Ids count the calls of a function in the order of the text.
  CallId call(const Item& item) {
    if (++depth_ > deepest) item.fail("nested too deeply");
    CallId id(function_.calls.size());
    if (item["id"].integer() != static_cast<std::int64_t>(id.value))
      item["id"].fail(fmt::format("expected {}", id.value));
    function_.calls.emplace_back();
    Call call;
    call.type = type(item["type"]);
    form(call, item["op"]);
    Item in = item["in"];
    for (std::size_t i = 0; i < in.size(); ++i) call.in.push_back(in[i].is_null() ? CallId() : operand(in[i]));
    attributes(call, item["attrs"]);
    if (auto blocks = item.find("blocks"))
      for (std::size_t i = 0; i < blocks->size(); ++i) {
        Block& block = call.blocks.emplace_back(calls((*blocks)[i]["body"]));
        if (auto result = (*blocks)[i].find("result"))
          block.result = CallId(result->id(function_.calls.size(), "call"));
      }
    function_[id] = std::move(call);
    --depth_;
    return id;
  }

  // Whether it is made before its reader is asked later of the whole function; here, whether it is made at all.
  CallId operand(const Item& item) {
    CallId id(item.id(INT32_MAX, "call"));
    if (id.index() >= function_.calls.size()) unmade_.push_back(item);
    return id;
  }

  // The name of a form, or of an op.
  void form(Call& call, const Item& item) {
    for (Form form : context_.forms)
      if (form != Form::op && !form->talks && form->word == item.text()) {
        call.form = form;
        return;
      }
    call.form = Form::op;
    call.op = context_.ops.find(item.text());
    if (call.op) return;
    std::vector<std::string> known;
    for (const OpDef* op : context_.ops.all()) known.emplace_back(op->name);
    item.unknown_word(known);
  }

  void attributes(Call& call, const Item& attrs) {
    payload(call, attrs);
    if (auto guards = attrs.find("guards"))
      for (std::size_t i = 0; i < guards->size(); ++i)
        call.guards.push_back({dim((*guards)[i]["left"]), dim((*guards)[i]["right"]), (*guards)[i]["what"].text()});
    if (auto places = attrs.find("places"))
      for (std::size_t i = 0; i < places->size(); ++i)
        call.places.push_back({static_cast<std::uint32_t>((*places)[i]["operand"].id(call.in.size(), "operand")),
                               variable((*places)[i]["variable"])});
  }

  Value value(const Item& item, const Type& type) const {
    if (!type.is(Type::Kind::blocks)) return read_value(item, type, names_);
    auto graph = std::make_shared<BlockGraphValue>(read_block_graph(item["blocks"], context_.blocks));
    return Value(std::static_pointer_cast<Object>(std::move(graph)));
  }

  void payload(Call& call, const Item& attrs) const {
    switch (call.form->payload) {
      case Payload::value:
        call.value = value(attrs["value"], call.type);
        return;
      case Payload::symbol:
        call.symbol = symbol(attrs["symbol"]);
        return;
      case Payload::global:
        call.module = context_.ids.module(attrs["module"]);
        call.variable = global(call.module, attrs["variable"]);
        return;
      case Payload::variable:
        call.variable = variable(attrs["variable"]);
        return;
      case Payload::builtin:
        call.builtin = builtin(attrs["builtin"], call.in);
        return;
      case Payload::callee:
        call.callee = context_.ids.function(attrs["def"]);
        return;
      case Payload::agent:
        call.agent = context_.ids.agent(attrs["def"]);
        return;
      case Payload::parameter:
      case Payload::part:
      case Payload::receive:
      case Payload::output:
        call.index = static_cast<std::uint32_t>(attrs["index"].id(INT32_MAX, "position"));
        return;
      case Payload::field:
        call.name = attrs["name"].text();
        if (auto index = attrs.find("index")) call.index = static_cast<std::uint32_t>(index->id(most_small, "number"));
        return;
      case Payload::none:
        if (auto index = attrs.find("index")) call.index = static_cast<std::uint32_t>(index->id(most_small, "number"));
        return;
      case Payload::type:
        if (auto name = attrs.find("name")) call.name = name->text();
        return;
      case Payload::op:
      case Payload::channel:
        return;
    }
  }

  // By position; in a library by name, as the module may be another file.
  VariableId global(ModuleId module, const Item& item) const {
    if (!item.is_text()) return VariableId(item.id(INT32_MAX, "variable"));
    const Program& program = context_.program;
    const std::vector<Variable>& variables = program[program.modules[module.index()].top_level].variables;
    for (std::size_t i = 0; i < variables.size(); ++i)
      if (variables[i].name == item.text()) return VariableId(i);
    item.fail(fmt::format("module '{}' has no '{}'", program.modules[module.index()].name, item.text().substr(0, 60)));
  }

  const Builtin* builtin(const Item& item, std::span<const CallId> in) const {
    const bool made = !in.empty() && in[0].valid() && in[0].index() < function_.calls.size();
    const Type first = made ? function_[in[0]].type : Type();
    if (const Builtin* found = context_.builtins.find(item.text(), first)) return found;
    std::vector<std::string> known;
    for (const Builtin* one : context_.builtins.all()) known.emplace_back(one->name);
    item.unknown_word(known);
  }

  static constexpr std::size_t most_small = 64;  // of axes and reductions
  static constexpr int deepest = 1200;           // an else if nests in the one before
  int depth_ = 0;
  ImportContext& context_;
  const Item& def_;
  FunctionId id_;
  Function& function_;
  std::map<std::string, Symbol, std::less<>> symbols_;  // as written
  std::vector<Item> unmade_;                            // operands that no call so far is
  std::vector<Item> extents_;                           // calls whose ints are extents
  TypeNames names_;
};

}  // namespace

void read_function(ImportContext& context, const Item& def, FunctionId id) { FunctionReader(context, def, id).read(); }

FieldsTable read_fields(const Item& def) {
  FieldsTable table;
  table.name = def["name"].text();
  Item list = def["fields"];
  if (list.size() == 0 || list.size() > FieldsTable::most)
    list.fail(fmt::format("a table has one to {} fields", FieldsTable::most));
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string& name = list[i]["name"].text();
    const std::optional<Precision> precision = precision_of(list[i]["type"].text());
    if (!precision) list[i]["type"].expected("a precision");
    for (const FieldsTable::Field& other : table.fields)
      if (other.name == name) list[i]["name"].fail("there are two of this name");
    table.fields.push_back({name, *precision});
  }
  return table;
}

void read_agent(ImportContext& context, const Item& def, AgentId id) {
  AgentDef& agent = context.program.agents[id.index()];
  Item params = def["params"];
  for (std::size_t i = 0; i < params.size(); ++i) {
    auto agent_of = [&](std::size_t def) -> std::optional<AgentId> {
      const std::vector<AgentId>& agents = context.ids.agents;
      return def < agents.size() && agents[def].valid() ? std::optional(agents[def]) : std::nullopt;
    };
    std::optional<Type> type =
        parse_type(params[i]["type"].text(), {[](std::string_view) { return std::nullopt; }, agent_of});
    if (!type) params[i]["type"].expected("the type of a host value");
    Parameter& parameter = agent.parameters.emplace_back();
    parameter.name = params[i]["name"].text();
    parameter.type = *type;
    parameter.role = Role::agent_parameter;
  }
  Item slots = def["slots"];
  for (std::size_t i = 0; i < slots.size(); ++i) {
    FunctionId initial = context.ids.function(slots[i]["initial"]);
    Slot slot{
        static_cast<SlotKind>(slots[i]["kind"].one_of(slot_kind_words)), slots[i]["name"].text(), {}, initial, {}};
    slot.type = context.program[initial].result;  // its text is for viewers
    agent.slots.push_back(std::move(slot));
  }
}

}  // namespace taskspec
