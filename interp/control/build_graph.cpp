#include "interp/control/build_graph.hpp"

#include <map>

#include "interp/control/capture.hpp"
#include "interp/control/record.hpp"
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
  KeptSlots() = default;
  KeptSlots(const KeptSlots&) = delete;
  KeptSlots& operator=(const KeptSlots&) = delete;
  ~KeptSlots() {
    for (auto& [agent, slots] : kept_) agent->slots = std::move(slots);
  }

 private:
  std::map<Agent*, std::vector<Value>> kept_;
};

}  // namespace

Array GraphView::receive(const Tensor&, Span place) {
  throw failure("E1301", place, "a graph that is only looked at has no contents");
}

std::unique_ptr<GraphView> build_graph(const Interpreter& outer, FunctionId id, const Value& agent) {
  KeptSlots slots;
  slots.keep(agent);
  outer.each_global([&](const Value& value) { slots.keep(value); });
  auto view = std::make_unique<GraphView>();
  const Program& program = outer.program();
  const Function& function = program[id];
  RecordTarget target(program, *view);
  Interpreter interpreter = outer.nested(target);
  interpreter.leave_host();
  view->function = id;
  view->graph.name = program.display_name(id);
  std::vector<Value> arguments;
  for (std::size_t k = 0; k < function.parameters.size(); ++k) {
    const Parameter& parameter = function.parameters[k];
    if (parameter.role != Role::declared) continue;  // the agent has them
    std::size_t position = view->graph.inputs().size();
    view->graph.add_input({parameter.name, parameter.type, parameter.privilege});
    if (!parameter.type.is_tensor()) {
      const std::uint32_t symbol = program.symbols + 3 * static_cast<std::uint32_t>(k);
      arguments.push_back(unknown_scalar(parameter.name, parameter.type, symbol, static_cast<std::uint32_t>(position)));
      continue;
    }
    Value input = view->handle(Ref::input(position), parameter.type);
    bool is_place = parameter.privilege == Privilege::inout;
    arguments.push_back(is_place ? target.place(parameter.name, input) : input);
  }
  std::vector<Value> outputs;
  try {
    outputs = interpreter.outputs_of(id, agent, std::move(arguments));
  } catch (const std::bad_variant_access&) {  // a list or string that is only known when the graph runs
    throw failure("E1009", function.span, "looking at a graph whose form depends on a host input is not built yet");
  }
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].is_array()) outputs[i] = target.constant(outputs[i].array());
    auto* tensor = outputs[i].as<Tensor>();
    if (!tensor)
      throw failure("E1004", function.outputs[i].span, "output '" + function.outputs[i].name + "' is not a tensor");
    view->graph.add_result({function.outputs[i].name, tensor->type, tensor->ref});
  }
  return view;
}

}  // namespace taskspec
