#include "interp/quantize/float_run.hpp"

#include <algorithm>

#include "ir/records/op.hpp"

namespace taskspec {

FloatRun::FloatRun(const OpList& list, const std::vector<std::optional<Array>>& known)
    : list_(list), values_(list.types.size()) {
  for (std::size_t k = 0; k < list.inputs.size(); ++k) {
    if (k < known.size() && known[k])
      values_[k] = *known[k];
    else
      open_.push_back(k);
  }
  for (std::size_t k = 0; k < list.constants.size(); ++k)
    if (list.constants[k].is_array()) values_[list.inputs.size() + k] = list.constants[k].array();
  std::size_t room = 0;
  for (const OpList::Line& line : list.lines) {
    const OpInstance call = instance(list, line);
    kernels_.push_back(line.op->kernel(call));
    room = std::max(room, kernels_.back()->scratch_bytes());
    for (std::size_t slot = 0; slot < line.out.size(); ++slot)
      values_[line.out[slot].index()] = Array::make(call.out[slot]);
  }
  scratch_ = Array::make({Precision::u8, {static_cast<std::int64_t>(room)}});
}

void FloatRun::run(std::span<const Array> inputs) {
  for (std::size_t k = 0; k < open_.size(); ++k) values_[open_[k]] = inputs[k];
  Serial serial;
  for (std::size_t k = 0; k < kernels_.size(); ++k) {
    const OpList::Line& line = list_.lines[k];
    std::vector<const std::byte*> in;
    std::vector<std::byte*> out;
    for (ValueId value : line.in) in.push_back(values_[value.index()].raw());
    for (ValueId value : line.out) out.push_back(values_[value.index()].raw());
    if (auto fault = kernels_[k]->run({in, out, scratch_.raw(), serial}))
      throw failure(fault->code, line.span, fault->message);
  }
}

}  // namespace taskspec
