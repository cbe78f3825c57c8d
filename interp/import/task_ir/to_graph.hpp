// Messages of a Task IR file to a block graph: names, extents and boxes derived where the file leaves them out.
#pragma once
#include "interp/import/task_ir/task_ir.pb.h"
#include "interp/import/task_ir/text_reader.hpp"
#include "ir/base/result.hpp"
#include "ir/blocks/block_graph.hpp"

namespace taskspec::task_ir {

// `text` knows where messages stand; null: they were bytes.
Result<BlockGraph> to_graph(const tianjic_ir::TaskGraph& file, TextReader* text, SourceId source,
                            const std::string& name, const BlockTable& blocks);

}  // namespace taskspec::task_ir
