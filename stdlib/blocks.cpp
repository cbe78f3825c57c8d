#include "stdlib/blocks.hpp"

#include "stdlib/blocks/attributes.hpp"

namespace taskspec {

// A line without a record does not link.
#define BLOCK(name) extern const BlockDef block_##name;
#include "stdlib/blocks.def"
#undef BLOCK

namespace {
constexpr const BlockDef* listed_blocks[] = {
#define BLOCK(name) &block_##name,
#include "stdlib/blocks.def"
#undef BLOCK
};
}  // namespace

BlockTable standard_blocks() { return BlockTable(listed_blocks, attribute::all); }

}  // namespace taskspec
