// A batch of samples is as many frames on a chip, one behind the other: graphs of blocks are for one.
#pragma once
#include <functional>
#include <span>

#include "ir/lowering/lower.hpp"

namespace taskspec {

using MakeFrame = std::function<std::vector<Array>(std::span<const Array>)>;
std::vector<Array> frame_by_frame(const LoweredGraph& lowered, std::span<const Array> tensors, const MakeFrame& make);

}  // namespace taskspec
