#include "interp/control/build_graph.hpp"

#include <map>
#include <set>

#include "interp/control/capture.hpp"
#include "interp/control/immediate.hpp"
#include "interp/control/record.hpp"
#include "interp/control/region_values.hpp"
#include "interp/control/rules.hpp"

namespace taskspec {

namespace {

// Looking at a graph changes nothing: its versions must not stay in agents.
class KeptSlots {
 public:
  void keep(const Value& value) {
    each_agent(value, [this](Agent& agent) {
      if (!agent.slots.empty()) kept_.try_emplace(&agent, agent.slots);
    });
  }
  // Those of the agents that a graph names are as they were when the agents were made.
  void begin_again(const Interpreter& outer, const Value& graph) {
    ImmediateTarget target;
    Interpreter interpreter = outer.nested(target);
    std::set<Agent*> named;
    auto note = [&](const Value& value) { each_agent(value, [&](Agent& inside) { named.insert(&inside); }); };
    note(graph);
    outer.each_agent_global({}, {&graph, 1}, [&](GlobalUse, const Value& value) { note(value); });
    for (auto& [changed, slots] : kept_)
      if (named.contains(changed)) changed->slots = interpreter.first_values(*changed);
  }
  KeptSlots() = default;
  KeptSlots(const KeptSlots&) = delete;
  KeptSlots& operator=(const KeptSlots&) = delete;
  ~KeptSlots() {
    for (auto& [agent, slots] : kept_) agent->slots = std::move(slots);
  }

 private:
  std::map<Agent*, std::vector<Value>> kept_;
};

// A view in the making.
class Looking {
 public:
  Looking(const Interpreter& outer, ViewContents contents)
      : program_(outer.program()),
        view_(std::make_unique<GraphView>(contents)),
        target_(program_, *view_),
        interpreter_(outer.nested(target_)) {
    interpreter_.leave_host_but_for_slots();
  }

  std::unique_ptr<GraphView> at(const Callable& graph) {
    const Function& function = program_[graph.function];
    view_->function = graph.function;
    view_->graph.name = program_.display_name(graph.function);
    std::vector<Value> arguments = graph.captures;
    const bool data = interpreter_.facts().uses_data(graph.function);
    for (const Parameter& parameter : function.parameters)
      if (parameter.role == Role::declared)  // the agent has the others
        arguments.push_back(data ? data_input(parameter) : input(parameter));
    std::vector<Value> outputs;
    try {
      outputs = interpreter_.outputs_of(graph.function, graph.agent, std::move(arguments));
    } catch (const std::bad_variant_access&) {  // a list or string that is only known when the graph runs
      throw failure("E1009", function.span, "looking at a graph whose form depends on a host input is not built yet");
    }
    for (std::size_t i = 0; i < outputs.size(); ++i)
      result(function.outputs[i].name, std::move(outputs[i]), function.outputs[i].span);
    return std::move(view_);
  }

  std::unique_ptr<GraphView> at(const ComposedTask& composed) {
    const Type& type = composed.type;
    view_->graph.name = name_of(composed);
    std::vector<Value> arguments;
    for (std::size_t i = 0; i < type.inputs; ++i)
      arguments.push_back(input(type.names[i], type.parts[i], type.is_place(i)));
    const Value whole(std::static_pointer_cast<Object>(std::make_shared<ComposedTask>(composed)));
    const CallResult called = interpreter_.apply(whole, std::move(arguments), {});
    const auto& outputs = called.value.as<Invocation>()->outputs;
    for (std::size_t i = 0; i < outputs.size(); ++i) result(type.names[type.inputs + i], outputs[i], {});
    return std::move(view_);
  }

  std::unique_ptr<GraphView> at_call(const Value& callable, const std::vector<GraphInput>& inputs, Span span) {
    target_.unroll();
    view_->graph.name = name_of(callable);
    std::vector<Value> arguments;
    for (const GraphInput& given : inputs) arguments.push_back(input(given.name, given.type, false));
    const CallResult called = interpreter_.apply(callable, std::move(arguments), {span});
    auto* invocation = called.value.as<Invocation>();
    if (!invocation) throw failure("E1004", span, "'" + view_->graph.name + "' gives no tensors");
    for (std::size_t i = 0; i < invocation->outputs.size(); ++i)
      result(invocation->names[i], invocation->outputs[i], span);
    return std::move(view_);
  }

 private:
  // Which pieces a partition has is asked while the graph is made: numbers are what their defaults say.
  Value data_input(const Parameter& parameter) {
    if (parameter.type.is_tensor()) return input(parameter);
    if (parameter.default_value.valid()) return {};
    if (parameter.type.is(Type::Kind::region)) return region_input(parameter);
    if (!parameter.type.is_number()) return input(parameter);
    throw failure("E1009", parameter.span,
                  "looking at a graph over regions needs to know '" + parameter.name +
                      "'; give it a default: " + parameter.name + ": " + parameter.type.text() + " = 4");
  }

  Value region_input(const Parameter& parameter) {
    const FieldsTable& table = program_[parameter.type.fields];
    Region region{table.name, parameter.name, {}, {}};
    for (const FieldsTable::Field& field : table.fields) region.fields.push_back({field.name, field.precision});
    std::vector<std::int64_t> extents;
    for (const Dim& dim : parameter.type.dims) {
      if (!dim.is_constant())
        throw failure("E1009", parameter.span,
                      "looking at a graph over regions needs to know how many points '" + parameter.name +
                          "' has; write its extents: " + table.name + "[64]");
      extents.push_back(*dim.constant());
    }
    region.extents = Rect::of(extents);
    std::shared_ptr<RegionHandle> handle = target_.make_region(std::move(region), parameter.span);
    const Space all{handle->region};
    return space_value(std::move(handle), all);
  }

  Value input(const Parameter& parameter) {
    return input(parameter.name, parameter.type, parameter.privilege == Privilege::inout);
  }

  Value input(const std::string& name, const Type& type, bool is_place) {
    const std::size_t position = view_->graph.add_input({name, type, is_place ? Privilege::inout : Privilege::in});
    if (!type.is_tensor()) {
      const std::uint32_t symbol = program_.symbols + 3 * static_cast<std::uint32_t>(position);
      return unknown_scalar(name, type, symbol, static_cast<std::uint32_t>(position));
    }
    const Value tensor = view_->handle(Ref::input(position), type);
    return is_place ? target_.place(name, tensor) : tensor;
  }

  void result(const std::string& name, Value value, Span span) {
    if (value.is_array()) value = target_.constant(value.array());
    auto* tensor = value.as<Tensor>();
    if (!tensor) throw failure("E1004", span, "output '" + name + "' is not a tensor");
    view_->graph.add_result({name, tensor->type, tensor->ref});
  }

  std::string name_of(const Value& part) const {
    auto* composed = part.as<ComposedTask>();
    return composed ? name_of(*composed) : program_.display_name(part.as<Callable>()->function);
  }
  std::string name_of(const ComposedTask& composed) const {
    return name_of(composed.first) + " >> " + name_of(composed.second);
  }

  const Program& program_;
  std::unique_ptr<GraphView> view_;
  RecordTarget target_;
  Interpreter interpreter_;
};

}  // namespace

Array GraphView::receive(const Tensor&, Span place) {
  Diag diag{"E1009", Severity::error, place,
            "a tensor decides here what is done to regions: looking at such a graph, without running it, is not built "
            "yet"};
  diag.help_text =
      "make the launches without asking the tensor, and let their tasks take it as an argument; what such a graph did "
      "in a run is in its report: run FILE --report out.html";
  throw Error(std::move(diag));
}

Value GraphView::from_elsewhere(const Tensor& tensor, Span place) {
  const bool known = tensor.ref.kind == Ref::Kind::constant;
  return known || contents_ == ViewContents::all ? Value(tensor.recorder().look(tensor, place)) : Value();
}

std::unique_ptr<GraphView> build_graph(const Interpreter& outer, const Value& graph, ViewContents contents) {
  KeptSlots slots;
  slots.keep(graph);
  outer.each_global([&](const Value& value) { slots.keep(value); });
  if (contents == ViewContents::all) slots.begin_again(outer, graph);
  Looking looking(outer, contents);
  if (auto* composed = graph.as<ComposedTask>()) return looking.at(*composed);
  return looking.at(*graph.as<Callable>());
}

std::unique_ptr<GraphView> build_graph(const Interpreter& outer, FunctionId id, const Value& agent,
                                       ViewContents contents) {
  auto graph = std::make_shared<Callable>(outer.program(), id);
  graph->agent = agent;
  return build_graph(outer, Value(std::static_pointer_cast<Object>(graph)), contents);
}

std::unique_ptr<GraphView> graph_of_call(const Interpreter& outer, const Value& callable,
                                         const std::vector<GraphInput>& inputs, Span span) {
  KeptSlots slots;
  slots.keep(callable);
  outer.each_global([&](const Value& value) { slots.keep(value); });
  return Looking(outer, ViewContents::all).at_call(callable, inputs, span);
}

}  // namespace taskspec
