#include "interp/embed/block_wing.hpp"

#include "interp/exact/blocks_op.hpp"
#include "interp/exact/gradients_op.hpp"
#include "interp/exact/tensor_blocks_op.hpp"
#include "stdlib/blocks.hpp"

namespace taskspec {

BlockWing block_wing() {
  static const OpDef* const ops[] = {&op_block_gradients, &op_blocks, &op_tensor_blocks};
  return {ops, standard_blocks()};
}

}  // namespace taskspec
