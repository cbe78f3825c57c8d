#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "ir/base/text.hpp"
#include "ir/blocks/value.hpp"
#include "ir/graph/embedded_task.hpp"
#include "ir/graph/op_list.hpp"
#include "ir/json/blocks.hpp"
#include "ir/json/body.hpp"
#include "ir/json/recorded.hpp"
#include "ir/verify/verify.hpp"

namespace taskspec {

namespace {

constexpr std::array<std::string_view, 4> pass_names{"", "forward", "backward", "update"};

// Nothing in such a graph is open.
const TypeNames no_symbols{[](std::string_view) { return std::nullopt; }, [](std::size_t) { return std::nullopt; }};

Type tensor_type(const Item& item) {
  std::optional<Type> type = parse_type(item.text(), no_symbols);
  if (type && type->is(Type::Kind::boolean)) type = Type::tensor(Precision::boolean, {});
  const bool fits = type && type->is_tensor() && std::ranges::all_of(type->dims, [](const Dim& dim) {
                      return dim.constant() && *dim.constant() >= 0;
                    });
  if (!fits) item.expected("the type of a tensor");
  return *type;
}

const OpDef* op_of(const OpTable& ops, const Item& name) {
  if (const OpDef* op = ops.find(name.text())) return op;
  std::vector<std::string> known;
  for (const OpDef* op : ops.all()) known.emplace_back(op->name);
  name.unknown_word(known);
}

// ---- op lists -------------------------------------------------------------------------------------

class ListReader {
 public:
  ListReader(const ImportContext& context, const Item& def) : ops_(context.ops), blocks_(context.blocks), def_(def) {}

  OpList read() {
    list_.name = def_["name"].text();
    inputs();
    constants();
    lines();
    outputs();
    if (std::string wrong = verify_op_list(list_); !wrong.empty()) def_.fail(wrong);
    return std::move(list_);
  }

 private:
  void inputs() {
    const Item params = def_["params"];
    for (std::size_t i = 0; i < params.size(); ++i) {
      OpList::Input& input = list_.inputs.emplace_back();
      input.name = params[i]["name"].text();
      input.privilege = static_cast<Privilege>(params[i]["priv"].one_of(privilege_names));
      if (auto slot = params[i].find("slot")) input.slot = static_cast<SlotKind>(slot->one_of(slot_kind_words));
      list_.types.push_back(tensor_type(params[i]["type"]));
    }
  }

  void constants() {
    const Item constants = def_["constants"];
    for (std::size_t i = 0; i < constants.size(); ++i) {
      list_.types.push_back(tensor_type(constants[i]["type"]));
      auto number = constants[i].find("value");
      list_.constants.push_back(number ? given(*number) : Value(read_array(constants[i], constants[i]["type"])));
    }
  }

  // A value, or a number that is made of inputs.
  Value given(const Item& item) const {
    if (item.is_object() && item.has("blocks")) {
      auto graph = std::make_shared<BlockGraphValue>(read_block_graph(item["blocks"], blocks_));
      return Value(std::static_pointer_cast<Object>(std::move(graph)));
    }
    const bool number = item.is_object() && (item.has("input") || item.has("of"));
    if (!number) return read_value(item, Type(), no_symbols);
    auto made = std::make_shared<GraphScalar>();
    const std::optional<Type> type = parse_type(item["type"].text(), no_symbols);
    if (!type) item["type"].expected("the type of a host value");
    made->type = *type;
    if (auto input = item.find("input")) {
      made->input = static_cast<std::uint32_t>(input->id(list_.inputs.size(), "input"));
      made->written = item["name"].text();
    } else {
      compose(*made, item);
    }
    return Value(std::static_pointer_cast<Object>(std::move(made)));
  }

  void compose(GraphScalar& made, const Item& item) const {
    if (auto op = item.find("op")) made.op = op_of(ops_, *op);
    made.ops = 1;
    const Item operands = item["of"];
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      made.operands.push_back(given(operands[i]));
      if (auto* part = made.operands.back().as<GraphScalar>()) made.ops += part->ops;
      texts.push_back(print(made.operands.back()));
    }
    made.written = fmt::format("{}({})", made.op ? made.op->name : "float", joined(texts, ", "));
  }

  ValueId value(const Item& item) const { return ValueId(item.id(list_.types.size(), "value")); }
  std::vector<ValueId> values(const Item& items) const {
    std::vector<ValueId> found;
    for (std::size_t i = 0; i < items.size(); ++i) found.push_back(value(items[i]));
    return found;
  }

  void lines() {
    const Item ops = def_["ops"];
    for (std::size_t i = 0; i < ops.size(); ++i) {
      OpList::Line& line = list_.lines.emplace_back();
      line.op = op_of(ops_, ops[i]["op"]);
      line.in = values(ops[i]["in"]);
      const Item attributes = ops[i]["attrs"], types = ops[i]["types"], out = ops[i]["out"];
      for (std::size_t k = 0; k < attributes.size(); ++k) line.attributes.push_back(given(attributes[k]));
      if (types.size() != out.size()) types.fail(fmt::format("{} for {}", types.size(), out.size()));
      for (std::size_t k = 0; k < types.size(); ++k) list_.types.push_back(tensor_type(types[k]));
      line.out = values(out);
    }
  }

  void outputs() {
    const Item outputs = def_["outputs"], results = def_["results"];
    if (results.size() != outputs.size()) results.fail(fmt::format("{} for {}", results.size(), outputs.size()));
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      auto version = outputs[i].find("version");
      list_.outputs.push_back({outputs[i]["name"].text(), value(results[i]), version && version->boolean()});
    }
  }

  const OpTable& ops_;
  const BlockTable& blocks_;
  const Item& def_;
  OpList list_;
};

// ---- the graph ------------------------------------------------------------------------------------

class RecordedReader {
 public:
  RecordedReader(const ImportContext& context, const Item& root, const GraphSpans& spans)
      : context_(context), root_(root), defs_(root["defs"]), graph_(std::make_shared<TaskGraph>()), spans_(spans) {}

  std::shared_ptr<const TaskGraph> read() {
    check_graph_part(root_);  // what it reads is there
    graph_->name = root_["name"].text();
    if (root_["scopes"].size() != 1) root_["scopes"].fail("a graph without a definition is one scope");
    inputs();
    constants();
    definitions_.resize(defs_.size());
    const Item nodes = root_["nodes"];
    for (std::size_t i = 0; i < nodes.size(); ++i) node(nodes[i], i);
    results();
    if (std::string wrong = verify_graph(*graph_); !wrong.empty()) root_["nodes"].fail(wrong);
    return graph_;
  }

 private:
  void inputs() {
    const Item inputs = root_["inputs"];
    for (std::size_t i = 0; i < inputs.size(); ++i)
      graph_->add_input({inputs[i]["name"].text(), tensor_type(inputs[i]["type"]),
                         static_cast<Privilege>(inputs[i]["priv"].one_of(privilege_names))});
  }

  // What a weight holds is no part of the file: only its type is.
  void constants() {
    const Item consts = root_["consts"];
    for (std::size_t i = 0; i < consts.size(); ++i) {
      auto value = consts[i].find("value");
      const Item type = consts[i]["type"];
      graph_->add_constant(tensor_type(type),
                           value ? read_value(*value, Type(), no_symbols) : Value(read_array(consts[i], type)));
    }
  }

  void results() {
    const Item results = root_["results"];
    for (std::size_t i = 0; i < results.size(); ++i)
      graph_->add_result({results[i]["name"].text(), tensor_type(results[i]["type"]), ref(results[i]["ref"])});
  }

  // ---- definitions ----

  DefinitionId definition(const Item& item) {
    const std::size_t id = item.id(defs_.size(), "definition");
    if (definitions_[id].valid()) return definitions_[id];
    const Item def = defs_[id];
    Definition made;
    made.name = def["name"].text();
    if (auto suffix = def.find("suffix")) {
      made.suffix = suffix->text();
      if (!made.name.ends_with(made.suffix)) suffix->fail("no end of the name");
      made.name.resize(made.name.size() - made.suffix.size());
    }
    if (auto pass = def.find("pass")) made.pass = static_cast<TrainingPass>(pass->one_of(pass_names));
    if (def.has("ops"))
      listed(made, def, id);
    else if (def.has("embedded"))
      embedded(made, def);
    else
      item.fail("a graph without a definition is made of op lists and tasks of another graph");
    return definitions_[id] = graph_->define(std::move(made));
  }

  void listed(Definition& made, const Item& def, std::size_t id) const {
    OpList list = ListReader(context_, def).read();
    const std::vector<Span> spans = id < spans_.lines.size() ? spans_.lines[id] : std::vector<Span>();
    if (spans.size() != list.lines.size())
      def.fail(fmt::format("{} for {}", plural(spans.size(), "place"), plural(list.lines.size(), "op")));
    for (std::size_t i = 0; i < spans.size(); ++i) list.lines[i].span = spans[i];
    made.kind = Definition::Kind::listed;
    for (const OpList::Input& input : list.inputs) made.inputs.push_back(input.name);
    for (const OpList::Output& output : list.outputs) made.outputs.push_back(output.name);
    made.list = std::make_shared<const OpList>(std::move(list));
  }

  void embedded(Definition& made, const Item& def) const {
    auto task = std::make_shared<EmbeddedTask>();
    const Item params = def["params"], outputs = def["outputs"];
    for (std::size_t i = 0; i < params.size(); ++i) task->inputs.push_back(params[i]["name"].text());
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      task->outputs.push_back(outputs[i]["name"].text());
      task->types.push_back(tensor_type(outputs[i]["type"]));
    }
    auto reverse = def["embedded"].find("backward");
    task->reverse = reverse && reverse->boolean();
    task->graph = graph_of(def["embedded"]);
    task->node = NodeId(0);
    made.kind = Definition::Kind::embedded;
    made.inputs = task->inputs;
    made.outputs = task->outputs;
    made.embedded = std::move(task);
  }

  // The task by itself: which graph it stood in does not matter to who looks at it.
  std::shared_ptr<const TaskGraph> graph_of(const Item& item) const {
    Definition inner;
    inner.function = context_.ids.function(item["def"]);
    const Function& function = context_.program[inner.function];
    inner.name = context_.program.display_name(inner.function);
    inner.kind = function.kind == FunctionKind::task ? Definition::Kind::task : Definition::Kind::call;
    if (auto call = item.find("call")) {
      inner.call = CallId(call->id(function.calls.size(), "call"));
      const Call& control = function[inner.call];
      if (!control.form->is_control()) call->fail("no if or loop");
      inner.kind = control.form->chooses() ? Definition::Kind::branch : Definition::Kind::loop;
      inner.name = control.form->word;
    }
    auto graph = std::make_shared<TaskGraph>();
    graph->add(graph->define(std::move(inner)), {});
    return graph;
  }

  // ---- nodes ----

  void node(const Item& node, std::size_t id) {
    const DefinitionId definition_id = definition(node["def"]);
    const Definition& def = graph_->definitions()[definition_id.index()];
    if (node["scope"].integer() != 0) node["scope"].expected("scope 0");
    const Item in = node["in"];
    if (in.size() != def.inputs.size())
      in.fail(fmt::format("{} for {}", plural(in.size(), "entry", "entries"), plural(def.inputs.size(), "input")));
    std::vector<Ref> refs;
    std::vector<Requirement> requirements;
    for (std::size_t slot = 0; slot < in.size(); ++slot) {
      refs.push_back(ref(in[slot]["ref"]));
      read_place(in[slot]["ref"], refs[slot], slot, requirements);
      write_place(def, refs[slot], slot, requirements);
    }
    const std::vector<TypeId> out = types_of(def);
    const NodeId made = graph_->add(
        definition_id, {.in = refs, .out = out, .span = spans_.nodes[id], .ordinal = ordinal(node["name"], def)},
        requirements);
    for (const Requirement& requirement : requirements)
      if (requirement.writes()) places_[{made.value, requirement.slot_out}] = requirement.place;
  }

  Ref ref(const Item& item) const {
    if (auto id = item.find("const")) return Ref::constant(id->id(graph_->constant_count(), "constant"));
    if (auto id = item.find("input")) return Ref::input(id->id(graph_->inputs().size(), "input"));
    const NodeId node(item["node"].id(graph_->size(), "node"));
    const std::vector<std::string>& outputs = graph_->definition(node).outputs;
    return Ref::future(node, item["slot"].one_of(outputs));
  }

  // A version of a place is read as one while it is the newest.
  void read_place(const Item& item, const Ref& ref, std::size_t slot, std::vector<Requirement>& requirements) const {
    if (!item.has("place")) return;
    auto known = places_.find({ref.id, ref.slot});
    if (!ref.is_future() || known == places_.end()) item.fail("no version of a place");
    if (graph_->current(known->second) != ref) item.fail("an old version of a place");
    requirements.push_back({known->second, Privilege::in, static_cast<std::uint16_t>(slot)});
  }

  // An input whose next version is an output.
  void write_place(const Definition& def, const Ref& ref, std::size_t slot, std::vector<Requirement>& requirements) {
    if (!def.list || def.list->inputs[slot].privilege != Privilege::inout) return;
    const auto& outputs = def.list->outputs;
    auto version = std::ranges::find_if(outputs, [&](const OpList::Output& output) {
      return output.version && output.name == def.list->inputs[slot].name;
    });
    if (version == outputs.end()) return;
    PlaceId place;
    if (!requirements.empty() && requirements.back().slot_in == slot) {
      place = requirements.back().place;
      requirements.pop_back();
    } else {
      place = graph_->add_place(def.list->inputs[slot].name, ref);
    }
    requirements.push_back({place, Privilege::inout, static_cast<std::uint16_t>(slot),
                            static_cast<std::uint16_t>(version - outputs.begin())});
  }

  std::vector<TypeId> types_of(const Definition& def) {
    std::vector<TypeId> types;
    if (def.list)
      for (const OpList::Output& output : def.list->outputs)
        types.push_back(graph_->intern(def.list->type(output.value)));
    else
      for (const Type& type : def.embedded->types) types.push_back(graph_->intern(type));
    return types;
  }

  // k of "name#k.suffix".
  static std::uint32_t ordinal(const Item& name, const Definition& def) {
    const std::string& text = name.text();
    const std::string before = def.name + "#";
    std::uint32_t number = 0;
    if (text.starts_with(before) && text.ends_with(def.suffix) && text.size() > before.size() + def.suffix.size()) {
      const char *begin = text.data() + before.size(), *end = text.data() + text.size() - def.suffix.size();
      if (auto [stop, error] = std::from_chars(begin, end, number); error == std::errc() && stop == end) return number;
    }
    name.expected(fmt::format("'{}0{}', with its number", before, def.suffix));
  }

  const ImportContext& context_;
  const Item& root_;
  const Item defs_;
  const std::shared_ptr<TaskGraph> graph_;
  const GraphSpans& spans_;
  std::vector<DefinitionId> definitions_;                              // by def, once a node needs it
  std::map<std::pair<std::uint32_t, std::uint16_t>, PlaceId> places_;  // by the output that is a version of it
};

}  // namespace

bool is_recorded(const Item& root) {
  const Item scopes = root["scopes"];
  return scopes.size() > 0 && scopes[0]["def"].is_null();
}

std::shared_ptr<const TaskGraph> read_recorded(const ImportContext& context, const Item& root,
                                               const GraphSpans& spans) {
  return RecordedReader(context, root, spans).read();
}

}  // namespace taskspec
