// Task IR files: block graphs as protobuf, text (*.task.txt) or bytes (*.task.pb, *.task). The `ir` declaration that
// says the same in our language is written by ir/show/blocks_text; README.md has the three forms side by side.
//
//   Result<TaskIrFile> file = read_task_ir(bytes, sources.add(path, text), "lenet", blocks);
//   write_task_ir(file->graph, TaskIrForm::binary)       // the canonical bytes of it
//   blocks_text(file->graph, "lenet.npz")                // ir lenet { ... }, and the arrays of lenet.npz
//
// What is read is hostile until proven: memory is bounded by the size of the file, and all faults are told at once,
// each with its line and column, or with block and field where bytes have no lines. No header of protobuf is seen from
// here.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "ir/base/result.hpp"
#include "ir/blocks/block_graph.hpp"

namespace taskspec {

enum class TaskIrForm : std::uint8_t { text, binary };

struct TaskIrFile {
  BlockGraph graph;  // blocks are called b<number>
  TaskIrForm form = TaskIrForm::text;
};

// The content decides which form it is. `source` is the text of the file, or anything that has its path where it is
// bytes. Warnings: fields that nobody knows. The graph may still be ill formed: check_blocks.
Result<TaskIrFile> read_task_ir(std::string_view bytes, SourceId source, const std::string& name,
                                const BlockTable& blocks);

// For importers, which have no Sources that outlive them: reads a file and checks it as rabbit mode does, in which the
// files of others are run. Throws Error E7001 or those of above, the place of each in its message ("x.task.txt:3:9:
// ...").
struct LoadedTaskIr {
  BlockGraph graph;
  TaskIrForm form = TaskIrForm::text;
  std::vector<std::string> notes;  // warnings
};
LoadedTaskIr load_task_ir(const std::string& path, const std::string& name, const BlockTable& blocks);

// One number per line, or packed; blocks and edges without a number get free ones. E4008: what such files cannot say.
Result<std::string> write_task_ir(const BlockGraph& graph, TaskIrForm form);

}  // namespace taskspec
