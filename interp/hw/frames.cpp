#include "interp/hw/frames.hpp"

#include <cstring>

namespace taskspec {

namespace {

std::int64_t frames_of(const LoweredGraph& lowered, std::span<const Array> tensors) {
  if (tensors.empty() || tensors[0].elements() == lowered.inputs[0].tensor.elements()) return 1;
  return tensors[0].extents()[0];
}

Array sample(const Array& batch, const ArrayType& type, std::int64_t number) {
  Array one = Array::make(type);
  std::memcpy(one.raw(), batch.raw() + static_cast<std::size_t>(number) * one.bytes(), one.bytes());
  return one;
}

}  // namespace

std::vector<Array> frame_by_frame(const LoweredGraph& lowered, std::span<const Array> tensors, const MakeFrame& make) {
  const std::int64_t frames = frames_of(lowered, tensors);
  if (frames == 1) return make(tensors);
  std::vector<std::vector<Array>> made;
  for (std::int64_t f = 0; f < frames; ++f) {
    std::vector<Array> one;
    for (std::size_t k = 0; k < tensors.size(); ++k) one.push_back(sample(tensors[k], lowered.inputs[k].tensor, f));
    made.push_back(make(one));
  }
  std::vector<Array> outputs;
  for (std::size_t k = 0; k < lowered.outputs.size(); ++k) {
    ArrayType type = lowered.outputs[k].tensor;
    type.extents[0] = frames;
    Array all = Array::make(type);
    for (std::size_t f = 0; f < made.size(); ++f)
      std::memcpy(all.raw() + f * made[f][k].bytes(), made[f][k].raw(), made[f][k].bytes());
    outputs.push_back(std::move(all));
  }
  return outputs;
}

}  // namespace taskspec
