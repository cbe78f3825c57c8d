#include "interp/control/checkpoint.hpp"

namespace taskspec {

namespace {

class SlotWalk {
 public:
  std::vector<TensorSlot> found;

  void agent(Agent& agent, const std::string& before) {
    const std::vector<Slot>& slots = agent.program[agent.definition].slots;
    for (std::size_t i = 0; i < agent.slots.size(); ++i) {
      const std::string path = before + slots[i].name;
      if (slots[i].kind == SlotKind::layer)
        layer(agent.slots[i], path);
      else
        found.push_back({path, &agent, i});
    }
  }

 private:
  void layer(const Value& value, const std::string& path) {
    if (auto* inner = value.as<Agent>()) return agent(*inner, path + ".");
    for (std::size_t i = 0; i < value.list().size(); ++i) layer(value.list()[i], path + "[" + std::to_string(i) + "]");
  }
};

}  // namespace

SlotKind TensorSlot::kind() const { return agent->program[agent->definition].slots[index].kind; }

std::string TensorSlot::place() const {
  return agent->path + "." + agent->program[agent->definition].slots[index].name;
}

std::vector<TensorSlot> tensor_slots(Agent& agent) {
  SlotWalk walk;
  walk.agent(agent, "");
  return std::move(walk.found);
}

std::vector<NamedArray> slot_contents(Target& target, std::span<const TensorSlot> slots, Span span) {
  std::vector<NamedArray> arrays;
  for (const TensorSlot& slot : slots) arrays.push_back({slot.path, target.receive(slot.value(), span)});
  return arrays;
}

std::vector<WantedArray> wanted_arrays(Target& target, std::span<const TensorSlot> slots) {
  std::vector<WantedArray> wanted;
  for (const TensorSlot& slot : slots) wanted.push_back({slot.path, concrete(target.type_of(slot.value()))});
  return wanted;
}

void set_slots(Target& target, std::span<const TensorSlot> slots, std::vector<Array> contents) {
  List versions;  // all of them before the first slot changes, which memory may end
  for (std::size_t i = 0; i < slots.size(); ++i)
    versions.push_back(target.place(slots[i].place(), target.constant(std::move(contents[i]))));
  for (std::size_t i = 0; i < slots.size(); ++i) slots[i].value() = std::move(versions[i]);
}

void load_slots(Target& target, Agent& agent, const std::string& path) {
  const std::vector<TensorSlot> slots = tensor_slots(agent);
  Checkpoint found = load_checkpoint(path);
  std::erase_if(found.arrays, [](const NamedArray& array) { return array.name.starts_with(training_state); });
  set_slots(target, slots, fitting(path, agent.text(), wanted_arrays(target, slots), found.arrays));
}

}  // namespace taskspec
