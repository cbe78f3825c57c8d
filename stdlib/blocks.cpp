#include "stdlib/blocks.hpp"

#include "stdlib/blocks/attributes.hpp"

namespace taskspec {

// A line without a record does not link.
#define BLOCK(name)               \
  namespace name##_block {        \
    extern const BlockDef record; \
  }
#include "stdlib/blocks.def"
#undef BLOCK

namespace {
constexpr const BlockDef* listed_blocks[] = {
#define BLOCK(name) &name##_block::record,
#include "stdlib/blocks.def"
#undef BLOCK
};
}  // namespace

BlockTable standard_blocks() { return BlockTable(listed_blocks, attribute::all); }

}  // namespace taskspec
