#include "interp/control/block_contents.hpp"

#include <algorithm>

#include "interp/control/objects.hpp"
#include "interp/control/target.hpp"
#include "ir/program/block_calls.hpp"

namespace taskspec {

namespace {

bool is_zero(const Array& array) {
  return std::all_of(array.raw(), array.raw() + array.bytes(), [](std::byte byte) { return byte == std::byte{0}; });
}

}  // namespace

std::shared_ptr<const BlockGraph> with_contents(Interpreter& interpreter, FunctionId function, const Value& agent,
                                                Span span) {
  const Program& program = interpreter.program();
  auto graph = std::make_shared<BlockGraph>(*blocks_of(program, function));
  const BlockCall call = call_of(*graph);
  const std::vector<Slot>& slots = program[program[function].agent].slots;
  for (BlockId id : call.given) {
    TaskBlock& block = graph->blocks[id.index()];
    const auto slot = std::ranges::find(slots, block.name, &Slot::name);
    Array contents =
        interpreter.target().receive(agent.as<Agent>()->slots[static_cast<std::size_t>(slot - slots.begin())], span);
    const bool is_state = std::ranges::find(call.written, id) != call.written.end();
    if (is_state && is_zero(contents))
      block.data.reset();
    else
      block.data = std::move(contents);
  }
  return graph;
}

}  // namespace taskspec
