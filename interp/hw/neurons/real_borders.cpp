#include "interp/hw/neurons/real_borders.hpp"

namespace taskspec {

LoweredGraph borders_of(const OpList& list, const RealBorders& real) {
  LoweredGraph made;
  made.graph.name = real.net.name;
  auto port = [&](ValueId value) {
    LoweredPort port;
    port.tensor = concrete(list.type(value));
    port.value = value;
    return port;
  };
  for (const RealBorders::Input& input : real.inputs) made.inputs.push_back(port(ValueId(input.input)));
  for (const RealBorders::Output& output : real.outputs)
    made.outputs.push_back(port(list.outputs[output.output].value));
  for (const RealBorders::State& state : real.states) {
    const ValueId before(state.input);
    const BlockId storage = state.population.valid() ? BlockId(state.population.value) : BlockId();
    made.states.push_back({before, list.outputs[state.output].value, storage, port(before)});
  }
  return made;
}

}  // namespace taskspec
