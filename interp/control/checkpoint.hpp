// The slots of an agent as named arrays: what its checkpoint holds.
//
//   save_checkpoint("net.npz", slot_contents(target, tensor_slots(agent), span));
//                                                   // w, c1.w, blocks[2].w: by path, without the agent's own name
//   load_slots(target, agent, "net.npz", span);     // all of them, or none and a diagnostic with every difference
#pragma once
#include "interp/control/target.hpp"
#include "ir/files/checkpoint.hpp"

namespace taskspec {

// A slot that holds a tensor, of the agent itself or of one of its layers.
struct TensorSlot {
  std::string path;                                     // from the agent on that was asked: "c1.w"
  Agent* agent;                                         // that has it
  std::size_t index;                                    // among its slots
  Value& value() const { return agent->slots[index]; }  // the newest version
  SlotKind kind() const;
  std::string place() const;  // what the graph calls it: "Net.c1.w"
};

// What a checkpoint of a training has besides the slots of its agent begins with this.
inline constexpr std::string_view training_state = "training/";

// In the order of their declarations, those of a layer where it stands.
std::vector<TensorSlot> tensor_slots(Agent& agent);

// Their contents now: runs what is pending and leads to them.
std::vector<NamedArray> slot_contents(Target& target, std::span<const TensorSlot> slots, Span span);
// What a file must have for them.
std::vector<WantedArray> wanted_arrays(Target& target, std::span<const TensorSlot> slots);
// Each slot gets a new version with these contents. What was recorded before keeps the one that it read.
void set_slots(Target& target, std::span<const TensorSlot> slots, std::vector<Array> contents);

// Into an agent; a file of a training has its slots as well.
void load_slots(Target& target, Agent& agent, const std::string& path);

}  // namespace taskspec
